//! The options of `taskscout design`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use taskscout::design::Criterion;
use taskscout_lab::plan::{FeatureName, PlanOptions};

use crate::named::named;

const WHERE: &str = "Tasks";
const NEEDED: &str = "Targets and data so far";
const ALLOWED: &str = "Budget and limits";
const SOLVING: &str = "Solving";
const OUTPUT: &str = "Output";

/// Options of `taskscout design`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DesignOptions {
    /// The tasks to choose from: a CSV, TSV or Parquet file, one row per task
    ///
    /// Columns of numbers are the parameters of a task, except those that other options use. A column
    /// called name, task or id has the names of the tasks, even if they are numbers; other text is ignored.
    #[arg(long, value_name = "FILE", help_heading = WHERE, conflicts_with = "space")]
    candidates: Option<PathBuf>,
    /// A task space to search, as a TOML file (instead of --candidates)
    ///
    /// For instance `space = { kind = "box", low = [0, -1], high = [12, 1] }`, and if wanted
    /// `task_features = { … }` and `columns = ["speed", "yaw"]`. docs/reference/spaces.md lists all kinds.
    #[arg(long, value_name = "FILE.toml", help_heading = WHERE)]
    space: Option<PathBuf>,
    /// A saved study: the plan uses its model and its targets
    ///
    /// Its space is searched unless you give --candidates. Its targets are used unless you give --target.
    /// Its samples count as given data.
    #[arg(long, value_name = "FILE.json", help_heading = WHERE, conflicts_with_all = ["space", "map", "features"])]
    study: Option<PathBuf>,
    /// The parameter columns, separated by commas [default: all columns of numbers]
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = WHERE)]
    columns: Option<Vec<String>>,
    /// The column that names tasks [default: a column called name, task or id]
    #[arg(long, value_name = "COLUMN", help_heading = WHERE, requires = "candidates")]
    name: Option<String>,
    /// CSV tables: skip lines that begin with this character [default: every line is a row]
    #[arg(long, value_name = "CHAR", help_heading = WHERE, value_parser = taskscout_lab::options::comment)]
    comment: Option<char>,
    /// Task features: functions of the parameters in which the model is linear [default: identity]
    ///
    /// With identity features the tasks w and −w give the same information: head wind and tail wind
    /// count as the same. If they differ, use affine, which adds a constant.
    #[arg(long, value_name = "FEATURES", help_heading = WHERE, value_parser = named(FeatureName::ALL, FeatureName::name, FeatureName::about))]
    features: Option<FeatureName>,
    /// The task map B as a table, one column per feature [default: the features themselves]
    #[arg(long, value_name = "FILE", help_heading = WHERE)]
    map: Option<PathBuf>,

    /// The tasks that you care about: rows with the same parameter columns, in any order
    ///
    /// Several rows count equally unless you give --target-weight. Without a target, all features of the
    /// tasks count equally.
    #[arg(long, value_name = "FILE", help_heading = NEEDED)]
    target: Option<PathBuf>,
    /// The column of the target file with the weights of its rows
    #[arg(long, value_name = "COLUMN", help_heading = NEEDED, requires = "target")]
    target_weight: Option<String>,
    /// Data that you have already: rows with the same parameter columns, and the number of samples of each
    #[arg(long, value_name = "FILE", help_heading = NEEDED)]
    given: Option<PathBuf>,
    /// The column of the given file with the number of samples
    #[arg(long, value_name = "COLUMN", default_value = "n", help_heading = NEEDED)]
    given_count: String,
    /// What the plan minimises: the expected error, or the error in the worst direction
    #[arg(long, value_name = "CRITERION", default_value = "trace", help_heading = NEEDED)]
    criterion: CriterionName,

    /// The budget: a number of samples, or units of cost if samples or switches have costs
    #[arg(long, value_name = "N", default_value_t = 1000.0, help_heading = ALLOWED, allow_negative_numbers = true)]
    budget: f64,
    /// The column with the cost of a sample of each task
    #[arg(long, value_name = "COLUMN", help_heading = ALLOWED, requires = "candidates")]
    cost: Option<String>,
    /// The cost of each task in the plan, paid once before its first sample
    #[arg(long, value_name = "X", default_value_t = 0.0, help_heading = ALLOWED, allow_negative_numbers = true)]
    switch_cost: f64,
    /// The largest number of tasks in the plan
    #[arg(long, value_name = "N", help_heading = ALLOWED)]
    max_tasks: Option<usize>,
    /// The smallest number of samples of a task in the plan
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = ALLOWED)]
    min_samples: usize,
    /// The column with the samples that each task has left; an empty cell sets no limit
    #[arg(long, value_name = "COLUMN", help_heading = ALLOWED, requires = "candidates")]
    capacity: Option<String>,
    /// A task that must be used, by name or by row from 0 (may be repeated)
    ///
    /// row:7 is always row 7, counted from 0; use it if names are numbers or are not unique.
    #[arg(long, value_name = "TASK", help_heading = ALLOWED, requires = "candidates")]
    require: Vec<String>,
    /// A task that must not be used, by name or by row from 0 (may be repeated)
    ///
    /// row:7 is always row 7, counted from 0; use it if names are numbers or are not unique.
    #[arg(long, value_name = "TASK", help_heading = ALLOWED, requires = "candidates")]
    forbid: Vec<String>,

    /// The search stops at this relative distance from the best plan
    #[arg(long, value_name = "X", default_value_t = 1e-4, help_heading = SOLVING)]
    tolerance: f64,
    /// The seed of searches in a space
    #[arg(long, value_name = "S", default_value_t = 0, help_heading = SOLVING)]
    seed: u64,

    /// Print the plan as JSON on standard output, and nothing else there
    #[arg(long, help_heading = OUTPUT)]
    pub(super) json: bool,
    /// Write plan.csv and plan.json into this folder, or with this prefix if it ends in `-`, `_` or `.`
    #[arg(long, value_name = "DIR|PREFIX", help_heading = OUTPUT)]
    pub(super) out: Option<PathBuf>,
    /// Replace files that are there already
    #[arg(long, help_heading = OUTPUT, requires = "out")]
    pub(super) force: bool,
}

impl DesignOptions {
    /// What is asked of a plan.
    pub(super) fn plan(&self) -> PlanOptions {
        let options = self.clone();
        PlanOptions {
            candidates: options.candidates,
            space: options.space,
            study: options.study,
            columns: options.columns,
            name: options.name,
            comment: options.comment,
            features: options.features,
            map: options.map,
            target: options.target,
            target_weight: options.target_weight,
            given: options.given,
            given_count: options.given_count,
            criterion: options.criterion.into(),
            budget: options.budget,
            cost: options.cost,
            switch_cost: options.switch_cost,
            max_tasks: options.max_tasks,
            min_samples: options.min_samples,
            capacity: options.capacity,
            require: options.require,
            forbid: options.forbid,
            tolerance: options.tolerance,
            seed: options.seed,
            even_split: !options.json,
        }
    }
}

/// Criteria by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum CriterionName {
    /// The expected error over the targets
    Trace,
    /// The error in the worst direction
    MaxEigenvalue,
}

impl From<CriterionName> for Criterion {
    fn from(name: CriterionName) -> Self {
        match name {
            CriterionName::Trace => Self::Trace,
            CriterionName::MaxEigenvalue => Self::MaxEigenvalue,
        }
    }
}
