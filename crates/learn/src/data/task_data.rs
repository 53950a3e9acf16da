//! All data of a study by task: sources by stage, targets in folds.

mod collect;
mod views;

use std::sync::Arc;

use super::{Rows, Stage, Statistics};
use crate::error::{Error, Result};
use crate::task::{Task, TaskId};

/// Folds of a target's rows.
pub const TARGET_FOLD_COUNT: usize = 4;

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

/// Empty stores of rows, one for each fold.
fn no_rows() -> Vec<Rows> {
    vec![Rows::default(); TARGET_FOLD_COUNT]
}

/// Which rows of the targets a fit may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FoldSelection {
    /// All.
    All,
    /// None: sources only.
    None,
    /// All but one fold of every target.
    Without(usize),
}

impl FoldSelection {
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

/// All data of a study, as statistics, and as rows where a trainer needs them.
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
    pub fn target_statistics(&self, target: usize, rows: FoldSelection) -> Result<Statistics> {
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
