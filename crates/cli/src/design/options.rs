//! The options of `taskscout design`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use taskscout::design::Criterion;
use taskscout_lab::plan::{FeatureName, PlanOptions};

use crate::named::named;

const WHERE: &str = "Where tasks come from";
const NEEDED: &str = "What is needed";
const ALLOWED: &str = "What a campaign allows";
const SOLVING: &str = "Solving";
const OUTPUT: &str = "Output";

/// What stands above the options in the long help.
pub(crate) const ABOUT: &str = "Plan which tasks to collect data from, and how much of each

Reads a table of tasks that you could collect data from, one row a task, and a table of the tasks that
you care about. Prints which tasks to use, how many samples to take of each and why, and how far the
plan can be from the best there is.";

/// What stands below the options in the long help.
pub(crate) const EXAMPLES: &str = "Examples:
  The plan of 1000 samples over the wind conditions of winds.csv, for tomorrow's in target.csv. Both
  files have a header line and the same columns of numbers, for instance name,north,east,gust:

    taskscout design --candidates winds.csv --target target.csv --budget 1000

  The same with money: a sample costs what column minutes says, a change of wind 15 minutes, at most
  6 winds, and 480 minutes in all. Columns that are not named become parameters of the wind:

    taskscout design --candidates logs.csv --target target.csv --cost minutes --capacity left \\
      --switch-cost 15 --max-tasks 6 --budget 480

  Data that is there already counts (column n), and the plan goes to files and to another program:

    taskscout design --candidates winds.csv --target target.csv --given given.csv --out plans --json

What the plan says:
  share %, weight   of what is spent on samples (money, where they cost), before rounding
  n, cost           whole samples, and what they cost with the switch
  similarity        cosine between the task and the nearest target, relative to how the tasks
                    vary: the same in all units
  risk %            part of the remaining error that these samples govern
  objective         the criterion times the budget, of all information: what is given, and
                    n = weight * money / cost of each task; plan_objective is the same for whole n

  Try them in examples/wind-tunnel; docs/how-to/plan-a-campaign.md tells the whole story.";

/// Options of `taskscout design`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DesignOptions {
    /// The tasks to choose from: a CSV, TSV or Parquet file, one row a task
    ///
    /// Columns of numbers are the parameters of a task, except those that other options use. A column
    /// called name, task or id names the tasks, whatever its cells look like; other text is ignored.
    #[arg(long, value_name = "FILE", help_heading = WHERE, conflicts_with = "space")]
    candidates: Option<PathBuf>,
    /// A task space to search, as a TOML file (instead of --candidates)
    ///
    /// For instance `space = { kind = "box", low = [0, -1], high = [12, 1] }`, and if wanted
    /// `task_features = { … }` and `columns = ["speed", "yaw"]`. docs/reference/spaces.md lists all kinds.
    #[arg(long, value_name = "FILE.toml", help_heading = WHERE)]
    space: Option<PathBuf>,
    /// A saved study: what it has learnt says how tasks relate and what its targets need
    ///
    /// Its space is searched unless there are --candidates, its targets are planned for unless there is
    /// a --target, and its samples count as given.
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
    /// Features of the parameters in which what is learnt is linear [default: identity]
    ///
    /// With identity features a task and its opposite, w and −w, teach the same: head wind and tail
    /// wind are one. Give affine, which adds a constant, where they are not.
    #[arg(long, value_name = "FEATURES", help_heading = WHERE, value_parser = named(FeatureName::ALL, FeatureName::name, FeatureName::about))]
    features: Option<FeatureName>,
    /// The task map B as a table, one column a feature [default: the features themselves]
    #[arg(long, value_name = "FILE", help_heading = WHERE)]
    map: Option<PathBuf>,

    /// The tasks that you care about: rows with the same parameter columns, in any order
    ///
    /// Several rows count alike unless there is a --target-weight. Without a target everything that
    /// the tasks can teach counts alike.
    #[arg(long, value_name = "FILE", help_heading = NEEDED)]
    target: Option<PathBuf>,
    /// The column of the target file that weighs its rows
    #[arg(long, value_name = "COLUMN", help_heading = NEEDED, requires = "target")]
    target_weight: Option<String>,
    /// Data that is there already: rows with the same parameter columns and how many samples of each
    #[arg(long, value_name = "FILE", help_heading = NEEDED)]
    given: Option<PathBuf>,
    /// The column of the given file that counts samples
    #[arg(long, value_name = "COLUMN", default_value = "n", help_heading = NEEDED)]
    given_count: String,
    /// What is made small: the expected error, or the error in the worst direction
    #[arg(long, value_name = "CRITERION", default_value = "trace", help_heading = NEEDED)]
    criterion: CriterionName,

    /// What may be spent: samples, or units of cost where samples or switches cost
    #[arg(long, value_name = "N", default_value_t = 1000.0, help_heading = ALLOWED, allow_negative_numbers = true)]
    budget: f64,
    /// The column with the cost of a sample of each task
    #[arg(long, value_name = "COLUMN", help_heading = ALLOWED, requires = "candidates")]
    cost: Option<String>,
    /// What every task of the plan costs once, before its first sample
    #[arg(long, value_name = "X", default_value_t = 0.0, help_heading = ALLOWED, allow_negative_numbers = true)]
    switch_cost: f64,
    /// Tasks at most
    #[arg(long, value_name = "N", help_heading = ALLOWED)]
    max_tasks: Option<usize>,
    /// Samples that a task gets at least, if it is used
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = ALLOWED)]
    min_samples: usize,
    /// The column with the samples that each task has left; an empty cell sets no limit
    #[arg(long, value_name = "COLUMN", help_heading = ALLOWED, requires = "candidates")]
    capacity: Option<String>,
    /// A task that must be used, by name or by row from 0 (may be repeated)
    ///
    /// row:7 is the row 7 from 0, also where tasks have numbers for names or share one.
    #[arg(long, value_name = "TASK", help_heading = ALLOWED, requires = "candidates")]
    require: Vec<String>,
    /// A task that must not be used, by name or by row from 0 (may be repeated)
    ///
    /// row:7 is the row 7 from 0, also where tasks have numbers for names or share one.
    #[arg(long, value_name = "TASK", help_heading = ALLOWED, requires = "candidates")]
    forbid: Vec<String>,

    /// How far from the best plan the search may stop, relatively
    #[arg(long, value_name = "X", default_value_t = 1e-4, help_heading = SOLVING)]
    tolerance: f64,
    /// Memory to use at most, in gigabytes; a design that needs more is refused at once
    #[arg(long, value_name = "GB", default_value_t = 2.0, help_heading = SOLVING, allow_negative_numbers = true)]
    memory: f64,
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
            memory: options.memory,
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
