//! The same rows seen otherwise: through a representation, or with other features of the tasks.

use std::sync::Arc;

use super::{SourceData, TargetData, TaskData, no_rows};
use crate::data::{Representation, Rows, Statistics};
use crate::error::{Error, Result};
use crate::task::Task;

impl TaskData {
    /// The same tasks and targets seen through a representation: statistics under `φ`, no rows.
    ///
    /// # Errors
    /// A representation of other features, or one that needs rows that were not kept.
    pub fn transformed_by(&self, phi: &dyn Representation) -> Result<Self> {
        Error::check_length("the representation", self.feature_dim, phi.input_dim())?;
        let mut seen = Self::new(phi.dim(), self.outputs, self.task_dim);
        seen.version = self.version;
        for entry in &self.sources {
            seen.sources.push(SourceData {
                task: entry.task.clone(),
                features: entry.features.clone(),
                stage: entry.stage,
                round: entry.round,
                statistics: Arc::new(phi.statistics(&entry.statistics, &entry.rows)?),
                rows: Rows::default(),
            });
        }
        for target in &self.targets {
            let folds = target.folds.iter().zip(&target.rows);
            seen.targets.push(TargetData {
                name: target.name.clone(),
                features: target.features.clone(),
                folds: folds
                    .map(|(statistics, rows)| phi.statistics(statistics, rows).map(Arc::new))
                    .collect::<Result<_>>()?,
                rows: no_rows(),
            });
        }
        Ok(seen)
    }

    /// Two halves of the rows: of every task and fold the first half and the second.
    ///
    /// # Errors
    /// Rows that are not kept.
    pub fn halves(&self) -> Result<[Self; 2]> {
        if !self.keeps_rows {
            return Err(Error::State(
                "halves of the data need their rows: keep them".into(),
            ));
        }
        Ok([self.half(0)?, self.half(1)?])
    }

    fn half(&self, which: usize) -> Result<Self> {
        let mut half = Self::new(self.feature_dim, self.outputs, self.task_dim).keeping_rows();
        half.version = self.version;
        // Of an odd number of rows one half gets the row in the middle, in turns.
        let mut turn = 0;
        for entry in &self.sources {
            let (statistics, rows) = self.cut(&entry.rows, which, &mut turn)?;
            if !rows.is_empty() {
                half.sources.push(SourceData {
                    task: entry.task.clone(),
                    features: entry.features.clone(),
                    stage: entry.stage,
                    round: entry.round,
                    statistics,
                    rows,
                });
            }
        }
        for target in &self.targets {
            let parts = target.rows.iter();
            let parts = parts.map(|rows| self.cut(rows, which, &mut turn));
            let (folds, rows) = parts.collect::<Result<Vec<_>>>()?.into_iter().unzip();
            half.targets.push(TargetData {
                name: target.name.clone(),
                features: target.features.clone(),
                folds,
                rows,
            });
        }
        Ok(half)
    }

    /// The first or the second half of some rows, with their statistics.
    fn cut(&self, rows: &Rows, which: usize, turn: &mut usize) -> Result<(Arc<Statistics>, Rows)> {
        let odd = rows.len() % 2;
        let middle = rows.len() / 2 + odd * (*turn % 2);
        *turn += odd;
        let range = match which {
            0 => 0..middle,
            _ => middle..rows.len(),
        };
        let part = rows.part(range, self.feature_dim, self.outputs);
        let mut sums = Statistics::new(self.feature_dim, self.outputs);
        sums.accumulate_f32(part.inputs(), part.outputs())?;
        Ok((Arc::new(sums), part))
    }

    /// The same rows of tasks with other features: those of each source task, and those of each target in order.
    ///
    /// # Errors
    /// Features of unequal lengths, or of another number of targets.
    pub fn with_task_features(
        &self,
        of_task: impl Fn(&Task) -> Vec<f64>,
        of_targets: Vec<Vec<f64>>,
    ) -> Result<Self> {
        let mut seen = self.clone();
        Error::check_length("the targets", self.targets.len(), of_targets.len())?;
        for (target, features) in seen.targets.iter_mut().zip(of_targets) {
            target.features = features;
        }
        for source in &mut seen.sources {
            source.features = of_task(&source.task);
        }
        let sources = seen.sources.iter().map(|source| &source.features);
        let all = || {
            sources
                .clone()
                .chain(seen.targets.iter().map(|target| &target.features))
        };
        seen.task_dim = all().next().map_or(self.task_dim, Vec::len);
        for features in all() {
            Error::check_length("the task's features", seen.task_dim, features.len())?;
        }
        Ok(seen)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::data::{FoldSelection, Samples, Stage};

    fn samples(n: usize, from: f64) -> Samples {
        let x: Vec<f64> = (0..n).map(|i| from + i as f64).collect();
        Samples::new(x.clone(), 1, x, 1).unwrap()
    }

    fn data(keeping: bool) -> TaskData {
        let data = TaskData::new(1, 1, 2);
        let mut data = if keeping { data.keeping_rows() } else { data };
        let target = data.add_target("new", vec![0.0, 1.0]).unwrap();
        for (task, n) in [(0.0, 7), (1.0, 4), (2.0, 1)] {
            let rows = samples(n, 100.0 * task);
            data.add_source_rows(&[task], &[1.0, 0.0], Stage::WarmUp, 0, &rows)
                .unwrap();
        }
        data.add_target_rows(target, &samples(21, 1000.0)).unwrap();
        data
    }

    #[test]
    fn halves_have_every_row_once() {
        let whole = data(true);
        let halves = whole.halves().unwrap();
        let rows: Vec<usize> = halves.iter().map(TaskData::source_rows).collect();
        assert_eq!(rows.iter().sum::<usize>(), 12);
        assert_eq!(rows, [6, 6]);
        let targets = halves.iter().map(|half| half.target_rows(0));
        assert_eq!(targets.sum::<usize>(), 21);
        let mut inputs: Vec<f32> = Vec::new();
        let mut squares = 0.0;
        for half in &halves {
            for entry in half.sources() {
                assert_eq!(entry.rows.len(), entry.statistics.count());
                assert!(!entry.rows.is_empty());
                inputs.extend(entry.rows.inputs());
                squares += entry.statistics.gram()[0];
            }
            let own = half.target_statistics(0, FoldSelection::All).unwrap();
            squares += own.gram()[0];
        }
        inputs.sort_by(f32::total_cmp);
        let whole: Vec<f32> = whole
            .sources()
            .iter()
            .flat_map(|entry| entry.rows.inputs().to_vec())
            .collect();
        assert_eq!(inputs, whole);
        let expected: f64 = whole.iter().map(|x| f64::from(x * x)).sum::<f64>()
            + (1000..1021).map(|x| f64::from(x * x)).sum::<f64>();
        assert!((squares - expected).abs() < 1e-6 * expected);
    }

    #[test]
    fn tasks_of_one_row_each_go_to_both_halves_in_turns() {
        let mut data = TaskData::new(1, 1, 2).keeping_rows();
        for task in 0..7 {
            let rows = samples(1, f64::from(task));
            data.add_source_rows(&[f64::from(task)], &[1.0, 0.0], Stage::WarmUp, 0, &rows)
                .unwrap();
        }
        let rows = data.halves().unwrap().map(|half| half.source_rows());
        assert_eq!(rows, [3, 4]);
    }

    #[test]
    fn halves_need_rows() {
        let refused = data(false).halves().unwrap_err().to_string();
        assert!(refused.contains("keep them"), "{refused}");
    }
}
