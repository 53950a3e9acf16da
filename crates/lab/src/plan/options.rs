//! What a plan is asked for: plain values, wherever they come from.
//!
//! Errors call them as the command line does, `--max-tasks` for [`PlanOptions::max_tasks`].

use std::path::PathBuf;

use taskscout::design::Criterion;
use taskscout::features::FeatureMap;

/// What a plan is asked for. One of `candidates`, `space` and `study` must be given.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanOptions {
    /// The tasks to choose from: a CSV, TSV or Parquet file, one row a task.
    pub candidates: Option<PathBuf>,
    /// A task space to search, as a TOML file; `candidates` go before it.
    pub space: Option<PathBuf>,
    /// A saved study: what it has learnt says how tasks relate and what its targets need.
    pub study: Option<PathBuf>,
    /// The parameter columns; if not given, all columns of numbers.
    pub columns: Option<Vec<String>>,
    /// The column that names tasks; if not given, a column called name, task or id.
    pub name: Option<String>,
    /// CSV tables: skip lines that begin with this character; if not given, every line is a row.
    pub comment: Option<char>,
    /// Features of the parameters in which what is learnt is linear; if not given, the parameters.
    pub features: Option<FeatureName>,
    /// The task map B as a table, one column a feature; if not given, the features themselves.
    pub map: Option<PathBuf>,
    /// The tasks that count: rows with the same parameter columns, in any order.
    pub target: Option<PathBuf>,
    /// The column of the target file that weighs its rows.
    pub target_weight: Option<String>,
    /// Data that is there already: rows with the same parameter columns and how many samples of each.
    pub given: Option<PathBuf>,
    /// The column of the given file that counts samples.
    pub given_count: String,
    /// What is made small.
    pub criterion: Criterion,
    /// What may be spent: samples, or units of cost where samples or switches cost.
    pub budget: f64,
    /// The column with the cost of a sample of each task.
    pub cost: Option<String>,
    /// What every task of the plan costs once, before its first sample.
    pub switch_cost: f64,
    /// Tasks at most.
    pub max_tasks: Option<usize>,
    /// Samples that a task gets at least, if it is used.
    pub min_samples: usize,
    /// The column with the samples that each task has left; an empty cell sets no limit.
    pub capacity: Option<String>,
    /// Tasks that must be used, by name or by row from 0.
    pub require: Vec<String>,
    /// Tasks that must not be used, by name or by row from 0.
    pub forbid: Vec<String>,
    /// How far from the best plan the search may stop, relatively.
    pub tolerance: f64,
    /// The seed of searches in a space.
    pub seed: u64,
    /// Also find what an even split of the budget would reach, for the words about a plan.
    pub even_split: bool,
}

/// One sample a unit of a budget of 1000, and no restrictions.
impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            candidates: None,
            space: None,
            study: None,
            columns: None,
            name: None,
            comment: None,
            features: None,
            map: None,
            target: None,
            target_weight: None,
            given: None,
            given_count: "n".into(),
            criterion: Criterion::Trace,
            budget: 1000.0,
            cost: None,
            switch_cost: 0.0,
            max_tasks: None,
            min_samples: 1,
            capacity: None,
            require: Vec::new(),
            forbid: Vec::new(),
            tolerance: 1e-4,
            seed: 0,
            even_split: true,
        }
    }
}

/// Features of task parameters by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureName {
    /// The parameters themselves.
    Identity,
    /// The parameters and the constant 1.
    Affine,
    /// All products of up to two parameters, and the constant 1.
    Quadratic,
    /// All products of up to three parameters, and the constant 1.
    Cubic,
}

impl FeatureName {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Identity, Self::Affine, Self::Quadratic, Self::Cubic];

    /// Its name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Affine => "affine",
            Self::Quadratic => "quadratic",
            Self::Cubic => "cubic",
        }
    }

    /// What they are, in a few words.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Identity => "The parameters themselves",
            Self::Affine => "The parameters and the constant 1",
            Self::Quadratic => "All products of up to two parameters, and the constant 1",
            Self::Cubic => "All products of up to three parameters, and the constant 1",
        }
    }

    /// The map on so many parameters.
    pub(super) fn build(self, parameters: usize) -> taskscout::Result<FeatureMap> {
        match self {
            Self::Identity => FeatureMap::identity(parameters),
            Self::Affine => FeatureMap::polynomial(parameters, 1, true),
            Self::Quadratic => FeatureMap::polynomial(parameters, 2, true),
            Self::Cubic => FeatureMap::polynomial(parameters, 3, true),
        }
    }
}
