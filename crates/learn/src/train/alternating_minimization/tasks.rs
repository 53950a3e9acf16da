//! The rows of a fit by task, whole and in disjoint parts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use faer::MatRef;
use rayon::prelude::*;

use crate::data::row_major;
use crate::data::{FoldSelection, Rows, SourceData, Stage, Statistics, TaskData};
use crate::error::{Error, Result};
use crate::linalg;
use crate::regression::{BilinearProblem, Observation, ProjectedStatistics};
use crate::task::TaskId;

/// One task's data, over all stages that a fit may see.
struct FitTask<'a> {
    statistics: Cow<'a, Statistics>,
    rows: Vec<&'a Rows>,
    features: &'a [f64],
}

/// The tasks of a fit, each once.
pub(super) struct FitTasks<'a> {
    feature_dim: usize,
    task_dim: usize,
    outputs: usize,
    tasks: Vec<FitTask<'a>>,
}

/// One of several parts that every task's rows are cut into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowPart {
    pub(super) index: usize,
    pub(super) of: usize,
    /// A task whose parts would have fewer rows gives all its rows to each.
    pub(super) least: usize,
}

impl RowPart {
    /// The rows of the part, of a task that has `count`.
    fn range(self, count: usize) -> Range<usize> {
        if count / self.of < self.least {
            return 0..count;
        }
        self.index * count / self.of..(self.index + 1) * count / self.of
    }
}

impl<'a> FitTasks<'a> {
    /// The tasks of the named stages (all, if `None`), in an order that does not depend on that of
    /// their arrival, then the targets.
    pub(super) fn new(
        data: &'a TaskData,
        stages: Option<&[Stage]>,
        targets: FoldSelection,
    ) -> Result<Self> {
        let mut by_task: HashMap<&TaskId, Vec<&'a SourceData>> = HashMap::new();
        for entry in data.sources() {
            let wanted = stages.is_none_or(|stages| stages.contains(&entry.stage));
            if wanted && entry.statistics.count() > 0 {
                by_task.entry(&entry.task.id).or_default().push(entry);
            }
        }
        let mut by_task: Vec<Vec<&SourceData>> = by_task.into_values().collect();
        by_task.sort_by_cached_key(|entries| {
            let task = &entries[0].task;
            let bits: Vec<u64> = task.iter().map(|w| (w + 0.0).to_bits()).collect();
            (bits, task.id.clone())
        });
        let mut tasks = Vec::with_capacity(by_task.len() + data.targets().len());
        for entries in &mut by_task {
            entries.sort_by_key(|entry| entry.stage);
            let statistics = match entries.as_slice() {
                [entry] => Cow::Borrowed(&*entry.statistics),
                several => Cow::Owned(Statistics::sum(
                    data.feature_dim(),
                    data.outputs(),
                    several.iter().map(|entry| &*entry.statistics),
                )?),
            };
            tasks.push(FitTask {
                statistics,
                rows: entries.iter().map(|entry| &entry.rows).collect(),
                features: &entries[0].features,
            });
        }
        for (index, target) in data.targets().iter().enumerate() {
            let statistics = data.target_statistics(index, targets)?;
            if statistics.count() > 0 {
                let seen = target.rows.iter().enumerate();
                tasks.push(FitTask {
                    statistics: Cow::Owned(statistics),
                    rows: seen
                        .filter(|(fold, _)| targets.includes(*fold))
                        .map(|(_, rows)| rows)
                        .collect(),
                    features: &target.features,
                });
            }
        }
        Ok(Self {
            feature_dim: data.feature_dim(),
            task_dim: data.task_dim(),
            outputs: data.outputs(),
            tasks,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Leaves out tasks with fewer rows than a head has coefficients, which fit any representation
    /// and so say nothing of it. Returns how many there were.
    pub(super) fn leave_out_below(&mut self, least: usize) -> usize {
        let before = self.tasks.len();
        self.tasks.retain(|task| task.statistics.count() >= least);
        before - self.tasks.len()
    }

    /// All rows, as statistics.
    pub(super) fn problem(&self) -> BilinearProblem<'_> {
        BilinearProblem {
            feature_dim: self.feature_dim,
            task_dim: self.task_dim,
            outputs: self.outputs,
            observations: self
                .tasks
                .iter()
                .map(|task| Observation {
                    statistics: Cow::Borrowed(task.statistics.as_ref()),
                    features: task.features,
                })
                .collect(),
        }
    }

    /// Refuses data whose rows were not kept.
    pub(super) fn check_rows(&self) -> Result<()> {
        for task in &self.tasks {
            let kept: usize = task.rows.iter().map(|rows| rows.len()).sum();
            if kept != task.statistics.count() {
                return Err(Error::State(format!(
                    "splitting needs the {} rows of a task, but {kept} were kept: \
                     keep rows, or set `splits` to 1",
                    task.statistics.count()
                )));
            }
        }
        Ok(())
    }

    /// The statistics of a part of every task's rows.
    pub(super) fn part(&self, part: RowPart) -> BilinearProblem<'_> {
        let sum = |task: &FitTask<'_>| {
            let (inputs, labels) = self.rows(task, part);
            let mut sum = Statistics::new(self.feature_dim, self.outputs);
            sum.add_rows(&inputs, &labels);
            sum
        };
        let sums: Vec<Statistics> = self.tasks.par_iter().map(sum).collect();
        let mut problem = self.problem();
        for (observation, sum) in problem.observations.iter_mut().zip(sums) {
            observation.statistics = Cow::Owned(sum);
        }
        problem
    }

    /// The statistics under `φ = B_X` of a part of every task's rows.
    pub(super) fn projected_part(
        &self,
        part: RowPart,
        representation: MatRef<'_, f64>,
    ) -> Vec<ProjectedStatistics> {
        let project = |task: &FitTask<'_>| {
            let (inputs, labels) = self.rows(task, part);
            let n = labels.len() / self.outputs.max(1);
            let rows = MatRef::from_row_major_slice(&inputs, n, self.feature_dim);
            let mut sum = Statistics::new(representation.ncols(), self.outputs);
            let image = linalg::product(rows, representation);
            sum.add_rows(&row_major(image.as_ref()), &labels);
            ProjectedStatistics::of(&sum)
        };
        self.tasks.par_iter().map(project).collect()
    }

    /// `Σ ψ y / n` of a part of every task's rows, output after output.
    pub(super) fn mean_moments(&self, part: RowPart) -> Vec<Vec<f64>> {
        let moment = |task: &FitTask<'_>| {
            let (inputs, labels) = self.rows(task, part);
            let (d, m) = (self.feature_dim, self.outputs);
            let mut sums = vec![0.0; d * m];
            for (x, y) in inputs.chunks_exact(d).zip(labels.chunks_exact(m)) {
                for (sum, y) in sums.chunks_exact_mut(d).zip(y) {
                    sum.iter_mut().zip(x).for_each(|(s, x)| *s += x * y);
                }
            }
            let n = (labels.len() / m.max(1)).max(1) as f64;
            sums.iter_mut().for_each(|sum| *sum /= n);
            sums
        };
        self.tasks.par_iter().map(moment).collect()
    }

    /// The rows of a part, in double precision: features and labels.
    fn rows(&self, task: &FitTask<'_>, part: RowPart) -> (Vec<f64>, Vec<f64>) {
        let mut wanted = part.range(task.statistics.count());
        let (d, m) = (self.feature_dim, self.outputs);
        let (mut inputs, mut labels) = (Vec::new(), Vec::new());
        let wide = |to: &mut Vec<f64>, from: &[f32]| {
            to.extend(from.iter().map(|&value| f64::from(value)));
        };
        for rows in &task.rows {
            let (from, to) = (wanted.start.min(rows.len()), wanted.end.min(rows.len()));
            wide(&mut inputs, &rows.inputs()[from * d..to * d]);
            wide(&mut labels, &rows.outputs()[from * m..to * m]);
            wanted = wanted.start.saturating_sub(rows.len())..wanted.end.saturating_sub(rows.len());
        }
        (inputs, labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Samples;

    /// Rows `first..last`, each with its number as its feature and its label.
    fn numbered(rows: Range<u32>) -> Samples {
        let values: Vec<f64> = rows.map(f64::from).collect();
        Samples::new(values.clone(), 1, values, 1).unwrap()
    }

    #[test]
    fn parts_are_disjoint_and_leave_no_row_out() {
        let mut data = TaskData::new(1, 1, 2).keeping_rows();
        let task = [1.0, 0.0];
        data.add_source_rows(&task, &task, Stage::Explore, 1, &numbered(5..23))
            .unwrap();
        data.add_source_rows(&task, &task, Stage::WarmUp, 0, &numbered(0..5))
            .unwrap();
        let target = data.add_target("t", vec![0.0, 1.0]).unwrap();
        data.add_target_rows(target, &numbered(0..23)).unwrap();
        let tasks = FitTasks::new(&data, None, FoldSelection::All).unwrap();
        assert_eq!(tasks.len(), 2);
        tasks.check_rows().unwrap();
        for of in 1..8 {
            for task in &tasks.tasks {
                let part = |index| RowPart {
                    index,
                    of,
                    least: 2,
                };
                let mut seen: Vec<f64> = (0..of)
                    .flat_map(|index| tasks.rows(task, part(index)).0)
                    .collect();
                seen.sort_by(f64::total_cmp);
                let all: Vec<f64> = (0..23).map(f64::from).collect();
                assert_eq!(seen, all, "{of} parts");
            }
        }
        // Too few rows for six parts of four: each part is all of them.
        let short = RowPart {
            index: 3,
            of: 6,
            least: 4,
        };
        assert_eq!(tasks.rows(&tasks.tasks[0], short).1.len(), 23);
    }

    #[test]
    fn stages_and_folds_choose_the_rows() {
        let mut data = TaskData::new(1, 1, 1).keeping_rows();
        for (stage, task) in [
            (Stage::WarmUp, 0.0),
            (Stage::Explore, -0.0),
            (Stage::Exploit, 2.0),
        ] {
            data.add_source_rows(&[task], &[task], stage, 0, &numbered(0..4))
                .unwrap();
        }
        let target = data.add_target("t", vec![1.0]).unwrap();
        data.add_target_rows(target, &numbered(0..8)).unwrap();
        let counts = |stages: Option<&[Stage]>, targets| -> Vec<usize> {
            let tasks = FitTasks::new(&data, stages, targets).unwrap();
            tasks.check_rows().unwrap();
            let problem = tasks.problem();
            problem
                .observations
                .iter()
                .map(|o| o.statistics.count())
                .collect()
        };
        assert_eq!(counts(None, FoldSelection::None), [8, 4]);
        assert_eq!(
            counts(Some(&[Stage::Explore]), FoldSelection::Without(1)),
            [4, 6]
        );
        assert_eq!(counts(Some(&[]), FoldSelection::All), [8]);
    }

    #[test]
    fn rows_that_were_not_kept_are_missed() {
        let mut data = TaskData::new(1, 1, 1);
        data.add_source_rows(&[1.0], &[1.0], Stage::WarmUp, 0, &numbered(0..4))
            .unwrap();
        let tasks = FitTasks::new(&data, None, FoldSelection::None).unwrap();
        let refused = tasks.check_rows().unwrap_err().to_string();
        assert!(refused.contains("`splits`"), "{refused}");
    }
}
