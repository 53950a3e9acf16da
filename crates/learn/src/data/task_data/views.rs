//! The same rows seen otherwise: through a representation, or with other features of the tasks.

use std::sync::Arc;

use super::{SourceData, TargetData, TaskData, no_rows};
use crate::data::{Representation, Rows};
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
