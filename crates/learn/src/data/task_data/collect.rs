//! How rows come in: batches of source tasks, folds of targets.

use std::sync::Arc;

use super::{SourceData, TARGET_FOLD_COUNT, TargetData, TaskData, no_rows};
use crate::data::{Rows, RowsOrStatistics, Samples, Stage, Statistics};
use crate::error::{Error, Result};
use crate::task::Task;

/// Values whose squares can still be summed.
const LARGEST_VALUE: f64 = 1e140;
/// The same for rows that are kept in single precision.
const LARGEST_KEPT_VALUE: f64 = 1e18;

impl TaskData {
    /// Adds a target and gives its index.
    ///
    /// # Errors
    /// Task features of the wrong length.
    pub fn add_target(&mut self, name: &str, features: Vec<f64>) -> Result<usize> {
        Error::check_length("the target's task features", self.task_dim, features.len())?;
        let empty = Arc::new(Statistics::new(self.feature_dim, self.outputs));
        let folds = vec![empty; TARGET_FOLD_COUNT];
        self.targets.push(TargetData {
            name: name.to_owned(),
            features,
            folds,
            rows: no_rows(),
        });
        Ok(self.targets.len() - 1)
    }

    /// Gives all tasks one more feature, which is zero of all so far: that of a new target.
    pub fn add_task_feature(&mut self) {
        self.task_dim += 1;
        let sources = self.sources.iter_mut().map(|entry| &mut entry.features);
        let targets = self.targets.iter_mut().map(|entry| &mut entry.features);
        sources
            .chain(targets)
            .for_each(|features| features.push(0.0));
        self.version += 1;
    }

    /// Adds feature rows of a source task.
    ///
    /// # Errors
    /// Rows or task features of the wrong length.
    pub fn add_source_rows(
        &mut self,
        task: impl Into<Task>,
        features: &[f64],
        stage: Stage,
        round: usize,
        rows: &Samples,
    ) -> Result<()> {
        self.check_rows(rows)?;
        let batch = RowsOrStatistics::of(rows, self.keeps_rows);
        self.add_source_batch(&task.into(), features, (stage, round), &batch)
    }

    /// Adds a batch of a source task.
    ///
    /// # Errors
    /// Rows or task features of the wrong length.
    pub fn add_source_batch(
        &mut self,
        task: &Task,
        features: &[f64],
        when: (Stage, usize),
        batch: &RowsOrStatistics,
    ) -> Result<()> {
        self.insert_source_batch(task, features, when, batch, &|_| false)
    }

    /// The same; data of a task that is new come before the first that `follows` says to come later. So the order of
    /// the tasks, on which the last digits of a sum depend, can be that of a plan and not that of arrival.
    ///
    /// # Errors
    /// Rows or task features of the wrong length.
    pub fn insert_source_batch(
        &mut self,
        task: &Task,
        features: &[f64],
        (stage, round): (Stage, usize),
        batch: &RowsOrStatistics,
        follows: &dyn Fn(&SourceData) -> bool,
    ) -> Result<()> {
        Error::check_length("the task's features", self.task_dim, features.len())?;
        Error::check_finite(features, |i| format!("feature {i} of task `{}`", task.id))?;
        batch.check(self.feature_dim, self.outputs, self.keeps_rows)?;
        let known = self
            .sources
            .iter()
            .rposition(|entry| entry.stage == stage && entry.task.id == task.id);
        let index = known.unwrap_or_else(|| {
            let later = self.sources.iter().position(follows);
            let place = later.unwrap_or(self.sources.len());
            let new = SourceData {
                task: task.clone(),
                features: features.to_vec(),
                stage,
                round,
                statistics: Arc::new(Statistics::new(self.feature_dim, self.outputs)),
                rows: Rows::default(),
            };
            self.sources.insert(place, new);
            place
        });
        self.version += 1;
        let entry = &mut self.sources[index];
        batch.add_to(&mut entry.statistics, &mut entry.rows, self.keeps_rows)
    }

    /// Adds feature rows of a target: each batch is cut into contiguous blocks, the longest block
    /// to the fold with the fewest rows so far.
    ///
    /// # Errors
    /// An unknown target, or rows of the wrong length.
    pub fn add_target_rows(&mut self, target: usize, rows: &Samples) -> Result<()> {
        self.check_rows(rows)?;
        self.add_target_blocks(target, &self.split_into_folds(rows))
    }

    /// Feature rows of a target as contiguous blocks, one for each fold.
    pub fn split_into_folds(&self, rows: &Samples) -> Vec<RowsOrStatistics> {
        let blocks = rows.blocks(TARGET_FOLD_COUNT).into_iter();
        blocks
            .map(|block| RowsOrStatistics::of(&rows.part(block), self.keeps_rows))
            .collect()
    }

    /// Adds blocks of a target's rows, the longest to the fold with the fewest rows so far.
    ///
    /// # Errors
    /// An unknown target, or rows of the wrong length.
    pub fn add_target_blocks(&mut self, target: usize, blocks: &[RowsOrStatistics]) -> Result<()> {
        for block in blocks {
            block.check(self.feature_dim, self.outputs, self.keeps_rows)?;
        }
        let count = self.targets.len();
        let Some(entry) = self.targets.get_mut(target) else {
            return Err(Error::State(format!(
                "there is no target {target}: this study has {count}"
            )));
        };
        let mut order: Vec<usize> = (0..entry.folds.len()).collect();
        order.sort_by_key(|&fold| (entry.folds[fold].count(), fold));
        let mut blocks: Vec<&RowsOrStatistics> = blocks.iter().collect();
        blocks.sort_by_key(|block| std::cmp::Reverse(block.len()));
        for (block, &fold) in blocks.into_iter().zip(&order) {
            block.add_to(
                &mut entry.folds[fold],
                &mut entry.rows[fold],
                self.keeps_rows,
            )?;
        }
        self.version += 1;
        Ok(())
    }

    /// Puts a batch back into a fold that it came from.
    ///
    /// # Errors
    /// An unknown target or fold, or rows of the wrong length.
    pub fn add_to_fold(
        &mut self,
        target: usize,
        fold: usize,
        batch: &RowsOrStatistics,
    ) -> Result<()> {
        batch.check(self.feature_dim, self.outputs, self.keeps_rows)?;
        let keeps_rows = self.keeps_rows;
        let entry = self.targets.get_mut(target);
        let Some(entry) = entry.filter(|entry| fold < entry.folds.len()) else {
            return Err(Error::State(format!(
                "there is no fold {fold} of target {target}"
            )));
        };
        batch.add_to(&mut entry.folds[fold], &mut entry.rows[fold], keeps_rows)
    }

    /// Counts on from a version that was reached before.
    pub fn set_version(&mut self, version: u64) {
        self.version = version;
    }

    /// Whether rows fit what is there.
    ///
    /// # Errors
    /// Rows of another length, or with other outputs.
    pub fn check_rows(&self, rows: &Samples) -> Result<()> {
        Error::check_length("a feature row", self.feature_dim, rows.input_dim())?;
        Error::check_length("an output row", self.outputs, rows.output_dim())?;
        let limit = if self.keeps_rows {
            LARGEST_KEPT_VALUE
        } else {
            LARGEST_VALUE
        };
        let sides = [
            ("feature", rows.inputs(), self.feature_dim),
            ("output", rows.outputs(), self.outputs),
        ];
        for (kind, values, width) in sides {
            if let Some(at) = values.iter().position(|value| value.abs() > limit) {
                return Err(Error::numerical(
                    format!(
                        "adding row {}, whose {kind} {} is {:.1e},",
                        at / width,
                        at % width,
                        values[at]
                    ),
                    "its square is too large to add up, so rescale that column of the data",
                ));
            }
        }
        Ok(())
    }
}
