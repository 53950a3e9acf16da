//! Data by task: rows come in, sufficient statistics stay.
//!
//! Per task `w` the crate keeps `G_w = Σ ψψᵀ`, `b_w = Σ ψ y`, `Σ y²` and `n_w` ([`Statistics`]),
//! tagged by the stage that asked for them; rows are kept only where an oracle needs them ([`Rows`]). The target's statistics stay in a few
//! folds of contiguous rows, so that cross-validation is adding and leaving out statistics.
//!
//! ```
//! use taskscout::data::{Samples, Stage, TaskData};
//! // Two features, one output, tasks with three features (two of the sources, one of the target).
//! let mut data = TaskData::new(2, 1, 3);
//! let target = data.add_target("new wind", vec![0.0, 0.0, 1.0])?;
//! let rows = Samples::new(vec![1.0, 0.0, 0.0, 1.0], 2, vec![0.5, -0.5], 1)?;
//! data.add(&[1.0, 0.0], &[1.0, 0.0, 0.0], Stage::WarmUp, 0, &rows)?;
//! data.add_target_rows(target, &rows)?;
//! assert_eq!(data.source_rows(), 2);
//! assert_eq!(data.target_rows(target), 2);
//! # Ok::<(), taskscout::Error>(())
//! ```

mod batch;
mod representation;
mod rows;
mod samples;
mod statistics;

use std::sync::Arc;

pub use batch::Batch;
pub use representation::Representation;
pub(crate) use representation::{row_major, statistics_of_rows};
pub use rows::Rows;
pub use samples::Samples;
use serde::{Deserialize, Serialize};
pub use statistics::Statistics;
pub use taskscout_design::columns::Columns;

use crate::error::{Error, Result};
use crate::task::{Task, TaskId};

/// Folds of a target's rows.
pub const TARGET_FOLDS: usize = 4;

/// Values whose squares can still be summed.
const LARGEST_VALUE: f64 = 1e140;
/// The same for rows that are kept in single precision.
const LARGEST_KEPT_VALUE: f64 = 1e18;

/// Which stage of the loop asked for data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Stage {
    /// Coarse exploration of every direction of the space.
    WarmUp,
    /// Target-agnostic exploration of the directions that matter to the representation.
    Explore,
    /// Target-aware collection from the tasks that the target needs.
    Exploit,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::WarmUp => "warm-up",
            Self::Explore => "explore",
            Self::Exploit => "exploit",
        })
    }
}

/// What has been collected from one source task in one stage.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceData {
    /// The task.
    pub task: Task,
    /// Its features `ψ_W(w)`, with a zero for every target that has a task feature of its own.
    pub features: Vec<f64>,
    /// The stage that asked for the rows.
    pub stage: Stage,
    /// The round that first asked for them.
    pub round: usize,
    /// The statistics of its rows.
    pub statistics: Arc<Statistics>,
    /// The rows themselves, where they are kept.
    pub rows: Rows,
}

/// What is known of one target.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetData {
    /// The target's name.
    pub name: String,
    /// Its task features: a unit vector on its own feature, or `ψ_W(w)` if `w` is known.
    pub features: Vec<f64>,
    /// The statistics of its rows, in folds.
    pub folds: Vec<Arc<Statistics>>,
    /// The rows of each fold, where they are kept.
    pub rows: Vec<Rows>,
}

fn no_rows() -> Vec<Rows> {
    vec![Rows::default(); TARGET_FOLDS]
}

/// Which rows of the targets a fit may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TargetRows {
    /// All.
    All,
    /// None: sources only.
    None,
    /// All but one fold of every target.
    Without(usize),
}

impl TargetRows {
    /// Whether a fit may see the rows of a fold.
    #[must_use]
    pub fn includes(self, fold: usize) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Without(held_out) => fold != held_out,
        }
    }
}

/// All data of a study, as statistics, and as rows where an oracle needs them.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskData {
    feature_dim: usize,
    outputs: usize,
    task_dim: usize,
    keeps_rows: bool,
    sources: Vec<SourceData>,
    targets: Vec<TargetData>,
    version: u64,
}

impl TaskData {
    /// Data for rows of `feature_dim` features and `outputs` outputs, and tasks of `task_dim`
    /// features (targets' own task features included).
    #[must_use]
    pub fn new(feature_dim: usize, outputs: usize, task_dim: usize) -> Self {
        Self {
            feature_dim,
            outputs,
            task_dim,
            keeps_rows: false,
            sources: Vec::new(),
            targets: Vec::new(),
            version: 0,
        }
    }

    /// Keeps the rows too, in single precision, from now on.
    #[must_use]
    pub fn keeping_rows(mut self) -> Self {
        self.keeps_rows = true;
        self
    }

    /// Whether rows are kept.
    #[must_use]
    pub fn keeps_rows(&self) -> bool {
        self.keeps_rows
    }

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

    /// Adds a target and gives its index.
    ///
    /// # Errors
    /// Task features of the wrong length.
    pub fn add_target(&mut self, name: &str, features: Vec<f64>) -> Result<usize> {
        Error::check_length("the target's task features", self.task_dim, features.len())?;
        let empty = Arc::new(Statistics::new(self.feature_dim, self.outputs));
        let folds = vec![empty; TARGET_FOLDS];
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
    pub fn add(
        &mut self,
        task: impl Into<Task>,
        features: &[f64],
        stage: Stage,
        round: usize,
        rows: &Samples,
    ) -> Result<()> {
        self.check_rows(rows)?;
        let batch = Batch::of(rows, self.keeps_rows);
        self.add_batch(&task.into(), features, (stage, round), &batch)
    }

    /// Adds a batch of a source task.
    ///
    /// # Errors
    /// Rows or task features of the wrong length.
    pub fn add_batch(
        &mut self,
        task: &Task,
        features: &[f64],
        when: (Stage, usize),
        batch: &Batch,
    ) -> Result<()> {
        self.add_batch_before(task, features, when, batch, &|_| false)
    }

    /// The same; data of a task that is new come before the first that `follows` says to come later. So the order of
    /// the tasks, on which the last digits of a sum depend, can be that of a plan and not that of arrival.
    ///
    /// # Errors
    /// Rows or task features of the wrong length.
    pub fn add_batch_before(
        &mut self,
        task: &Task,
        features: &[f64],
        (stage, round): (Stage, usize),
        batch: &Batch,
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
    pub fn split_into_folds(&self, rows: &Samples) -> Vec<Batch> {
        let blocks = rows.blocks(TARGET_FOLDS).into_iter();
        blocks
            .map(|block| Batch::of(&rows.part(block), self.keeps_rows))
            .collect()
    }

    /// Adds blocks of a target's rows, the longest to the fold with the fewest rows so far.
    ///
    /// # Errors
    /// An unknown target, or rows of the wrong length.
    pub fn add_target_blocks(&mut self, target: usize, blocks: &[Batch]) -> Result<()> {
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
        let mut blocks: Vec<&Batch> = blocks.iter().collect();
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
    pub fn restore_fold(&mut self, target: usize, fold: usize, batch: &Batch) -> Result<()> {
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

    /// Number of features of a row.
    #[must_use]
    pub fn feature_dim(&self) -> usize {
        self.feature_dim
    }

    /// Number of outputs of a row.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Number of features of a task, targets' own task features included.
    #[must_use]
    pub fn task_dim(&self) -> usize {
        self.task_dim
    }

    /// What has been collected from source tasks, in order of arrival.
    #[must_use]
    pub fn sources(&self) -> &[SourceData] {
        &self.sources
    }

    /// What is known of the targets.
    #[must_use]
    pub fn targets(&self) -> &[TargetData] {
        &self.targets
    }

    /// Grows with every change: what was derived at a version holds while it stays.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Rows from source tasks.
    #[must_use]
    pub fn source_rows(&self) -> usize {
        self.sources
            .iter()
            .map(|entry| entry.statistics.count())
            .sum()
    }

    /// Rows from a target; zero if there is none of that index.
    #[must_use]
    pub fn target_rows(&self, target: usize) -> usize {
        self.targets
            .get(target)
            .map_or(0, |entry| entry.folds.iter().map(|fold| fold.count()).sum())
    }

    /// Distinct source tasks, and their rows over all stages.
    #[must_use]
    pub fn rows_by_task(&self) -> Vec<(&Task, usize)> {
        let mut totals: Vec<(&Task, usize)> = Vec::new();
        let mut index = std::collections::HashMap::new();
        for entry in &self.sources {
            let at = *index.entry(&entry.task.id).or_insert_with(|| {
                totals.push((&entry.task, 0));
                totals.len() - 1
            });
            totals[at].1 += entry.statistics.count();
        }
        totals
    }

    /// Rows of a source task over all stages.
    #[must_use]
    pub fn rows_of(&self, id: &TaskId) -> usize {
        let own = self.sources.iter().filter(|entry| entry.task.id == *id);
        own.map(|entry| entry.statistics.count()).sum()
    }

    /// A target's statistics over the rows that a fit may see.
    ///
    /// # Errors
    /// An unknown target.
    pub fn target_statistics(&self, target: usize, rows: TargetRows) -> Result<Statistics> {
        let Some(entry) = self.targets.get(target) else {
            return Err(Error::State(format!(
                "there is no target {target}: this study has {}",
                self.targets.len()
            )));
        };
        let seen = entry
            .folds
            .iter()
            .enumerate()
            .filter(|(fold, _)| rows.includes(*fold));
        Statistics::sum(
            self.feature_dim,
            self.outputs,
            seen.map(|(_, statistics)| statistics.as_ref()),
        )
    }
}
