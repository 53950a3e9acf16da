//! The rows of a fit, gathered from the tasks that it may see.

use std::ops::Range;

use faer::{Mat, MatRef};
use taskscout::data::{FoldSelection, Rows, Stage, TaskData};
use taskscout::{Error, Result};

/// Rows of one pass through a network: fixed, so that sums do not depend on the number of threads.
pub(crate) const CHUNK_ROWS: usize = 2048;

/// Rows in single precision, task after task.
pub(crate) struct Dataset {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) x: Vec<f32>,
    pub(crate) y: Vec<f32>,
    /// The task of each row.
    pub(crate) task: Vec<u32>,
    /// `ψ_W` of each task, one a row.
    pub(crate) features: Mat<f64>,
}

impl Dataset {
    /// The rows of the named stages (all, if none are named) and of the targets.
    pub(crate) fn new(
        data: &TaskData,
        stages: Option<&[Stage]>,
        targets: FoldSelection,
    ) -> Result<Self> {
        let wanted = |stage: &Stage| stages.is_none_or(|stages| stages.contains(stage));
        let mut groups: Vec<(&[f64], Vec<&Rows>)> = data
            .sources()
            .iter()
            .filter(|entry| wanted(&entry.stage))
            .map(|entry| (entry.features.as_slice(), vec![&entry.rows]))
            .collect();
        for target in data.targets() {
            groups.push((&target.features, seen(&target.rows, targets)));
        }
        Self::gather(data, &groups)
    }

    /// The rows of one target alone, a task without features but a constant.
    pub(crate) fn alone(data: &TaskData, target: usize, rows: FoldSelection) -> Result<Self> {
        let Some(entry) = data.targets().get(target) else {
            return Err(Error::State(format!("there is no target {target}")));
        };
        Self::gather(data, &[(&[1.0][..], seen(&entry.rows, rows))])
    }

    fn gather(data: &TaskData, groups: &[(&[f64], Vec<&Rows>)]) -> Result<Self> {
        if !data.keeps_rows() {
            return Err(Error::State(
                "a network learns from rows, but only statistics were kept: collect with a study whose oracle keeps rows"
                    .into(),
            ));
        }
        let count = |rows: &[&Rows]| rows.iter().map(|rows| rows.len()).sum::<usize>();
        let used: Vec<_> = groups.iter().filter(|(_, rows)| count(rows) > 0).collect();
        let Some((first, _)) = used.first() else {
            return Err(Error::State(
                "training needs data: tell the study some samples first".into(),
            ));
        };
        let features = Mat::from_fn(used.len(), first.len(), |i, j| used[i].0[j]);
        let (mut x, mut y, mut task) = (Vec::new(), Vec::new(), Vec::new());
        for (index, (_, parts)) in used.iter().enumerate() {
            for rows in parts {
                x.extend_from_slice(rows.inputs());
                y.extend_from_slice(rows.outputs());
                task.extend(std::iter::repeat_n(index as u32, rows.len()));
            }
        }
        Ok(Self {
            inputs: data.feature_dim(),
            outputs: data.outputs(),
            x,
            y,
            task,
            features,
        })
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.task.len()
    }

    /// The last of `parts` parts of each task's rows, and all others: neighbours on a trajectory
    /// are alike, so rows in a row stay together.
    pub(crate) fn split_blocks(&self, parts: usize) -> (Self, Self) {
        let mut last = vec![false; self.len()];
        let mut start = 0;
        while start < self.len() {
            let same = |row: &usize| self.task[*row] == self.task[start];
            let end = (start..self.len()).take_while(same).count() + start;
            let from = end - (end - start) / parts.max(2);
            last[from..end].fill(true);
            start = end;
        }
        let rows = 0..self.len();
        (
            self.select(rows.clone().filter(|&row| last[row])),
            self.select(rows.filter(|&row| !last[row])),
        )
    }

    fn select(&self, rows: impl Iterator<Item = usize>) -> Self {
        let (mut x, mut y, mut task) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            x.extend_from_slice(&self.x[row * self.inputs..(row + 1) * self.inputs]);
            y.extend_from_slice(&self.y[row * self.outputs..(row + 1) * self.outputs]);
            task.push(self.task[row]);
        }
        Self {
            inputs: self.inputs,
            outputs: self.outputs,
            x,
            y,
            task,
            features: self.features.clone(),
        }
    }

    /// Root mean square of each feature; one where a feature is always zero.
    pub(crate) fn scales(&self) -> Vec<f64> {
        let mut squares = vec![0.0; self.inputs];
        for row in self.x.chunks_exact(self.inputs) {
            for (square, &value) in squares.iter_mut().zip(row) {
                *square += f64::from(value) * f64::from(value);
            }
        }
        squares
            .into_iter()
            .map(|square| (square / self.len().max(1) as f64).sqrt())
            .map(|scale| if scale > 0.0 { scale } else { 1.0 })
            .collect()
    }

    /// `Σ y²`.
    pub(crate) fn squares(&self) -> f64 {
        self.y.iter().map(|&y| f64::from(y) * f64::from(y)).sum()
    }

    /// Cuts the rows into chunks that a network takes at a time.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = Range<usize>> {
        let end = self.len();
        (0..end)
            .step_by(CHUNK_ROWS)
            .map(move |start| start..(start + CHUNK_ROWS).min(end))
    }

    /// The features of some rows in a row.
    pub(crate) fn inputs_of(&self, rows: &Range<usize>) -> MatRef<'_, f32> {
        let values = &self.x[rows.start * self.inputs..rows.end * self.inputs];
        MatRef::from_row_major_slice(values, rows.len(), self.inputs)
    }
}

fn seen(folds: &[Rows], targets: FoldSelection) -> Vec<&Rows> {
    folds
        .iter()
        .enumerate()
        .filter(|(fold, _)| targets.includes(*fold))
        .map(|(_, rows)| rows)
        .collect()
}
