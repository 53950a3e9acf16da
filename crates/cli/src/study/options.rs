//! The options of `taskscout study`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use taskscout_studies::Numbers;

use super::new::NewOptions;

/// `taskscout study`.
#[derive(Debug, Args)]
pub(crate) struct StudyArgs {
    #[command(subcommand)]
    pub(crate) command: StudyCommand,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// Where a study is, and who is at work.
#[derive(Debug, Args)]
#[command(next_help_heading = "Study")]
pub(crate) struct Place {
    /// The store: a path, sqlite:///PATH, or postgresql://USER@HOST/DATABASE
    #[arg(
        long,
        global = true,
        env = "TASKSCOUT_STORE",
        default_value = "studies.db",
        hide_env_values = true,
        value_name = "ADDRESS"
    )]
    pub(crate) store: String,
    /// The study; the only one in the store if not given
    #[arg(long, global = true, env = "TASKSCOUT_STUDY", value_name = "NAME")]
    pub(crate) study: Option<String>,
    /// Who writes, for the history; user and machine if not given
    #[arg(long, global = true, env = "TASKSCOUT_AUTHOR", value_name = "NAME")]
    pub(crate) author: Option<String>,
    /// Write JSON instead of tables
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do with a study.
#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    /// Begin a study: from a file, from options, or by answering questions
    New(Box<NewOptions>),
    /// Tell rows of a target, or name a new target with --add
    Target(TargetOptions),
    /// Ask what to measure next
    Ask(AskArgs),
    /// Say that you measure an item now, so that nobody else does
    Start {
        /// The item; the first that nobody measures if not given
        item: Option<u64>,
        /// How long it is yours: 90s, 30m, 2h
        #[arg(long = "for", value_name = "TIME", default_value = "2h", value_parser = taskscout_studies::time::duration)]
        lasting: std::time::Duration,
    },
    /// Tell what was measured: `tell ITEM FILE`, or `tell FILE` with a column `item`, or a filled-in checklist
    Tell {
        /// The item; or, alone, a table of several items
        #[arg(value_name = "ITEM|FILE")]
        what: String,
        /// The table of the item's rows
        file: Option<PathBuf>,
        /// The parameters that were really set, in the order of the study's columns
        #[arg(long = "achieved", value_name = "V,V", allow_hyphen_values = true)]
        set: Option<Numbers>,
    },
    /// Add rows of a task that no plan asked for
    Add {
        /// The table of rows
        file: PathBuf,
        /// The task, as the table of candidates names it, or a new name
        #[arg(long, value_name = "NAME")]
        task: Option<String>,
        /// Its parameters, in the order of the study's columns
        #[arg(long = "parameters", value_name = "V,V", allow_hyphen_values = true)]
        set: Option<Numbers>,
    },
    /// Give up an item, or give it back with --retry
    Fail {
        /// The item
        item: u64,
        /// Why
        #[arg(long = "reason", default_value = "no reason given")]
        why: String,
        /// Let it be tried again
        #[arg(long)]
        retry: bool,
    },
    /// Forget rows that turned out to be wrong
    Retract {
        /// The batch, as `batches` names it; the first letters are enough
        batch: Option<String>,
        /// All rows of an item instead
        #[arg(long, conflicts_with = "batch", required_unless_present = "batch")]
        item: Option<u64>,
    },
    /// Take the last change back
    Undo,
    /// Write something down
    Note {
        /// What
        text: String,
    },
    /// Show where the study stands, and what to do next
    Status,
    /// List what was told
    Batches,
    /// Show what happened, when and by whom
    History,
    /// Forecast what more budget would bring, and whether to stop
    Forecast {
        /// Further budgets to look ahead to
        #[arg(long, value_name = "N,N", value_delimiter = ',')]
        budget: Vec<usize>,
        /// Write the figure to this SVG file
        #[arg(long, value_name = "FILE")]
        figure: Option<PathBuf>,
    },
    /// Save the model of a target
    Model {
        /// The target; the only one if not given
        #[arg(long, value_name = "NAME")]
        target: Option<String>,
        /// The file
        #[arg(long, value_name = "FILE", default_value = "model.safetensors")]
        out: PathBuf,
    },
    /// Write a page with the plan, the forecast, the model and the history
    Report {
        /// The file
        #[arg(long, value_name = "FILE", default_value = "study.html")]
        out: PathBuf,
    },
    /// Write settings, plans, history and all rows into a folder
    Export {
        /// A new folder
        folder: PathBuf,
        /// Write rows as Parquet
        #[arg(long)]
        parquet: bool,
    },
    /// List the studies of a store
    List,
    /// Let a program measure items
    Work(WorkArgs),
    /// Copy what is intact of a damaged file into a new one
    Recover {
        /// The new file
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
    },
}

/// `taskscout study target`.
#[derive(Debug, Args)]
pub(crate) struct TargetOptions {
    /// The table of its rows
    #[arg(required_unless_present = "add")]
    pub(crate) file: Option<PathBuf>,
    /// Which target; the only one if not given
    #[arg(long, value_name = "NAME", conflicts_with = "add")]
    pub(crate) target: Option<String>,
    /// Name a new target
    #[arg(long, value_name = "NAME")]
    pub(crate) add: Option<String>,
    /// Parameters of the new target, if they are known
    #[arg(long, value_name = "V,V", requires = "add", allow_hyphen_values = true)]
    pub(crate) parameters: Option<Numbers>,
}

/// `taskscout study ask`.
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// How much to spend: samples, or units of cost
    #[arg(long)]
    pub(crate) budget: usize,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// A name for this plan: asked again under the same name, the same plan comes back, and nothing is planned twice
    #[arg(long, value_name = "TEXT")]
    pub(crate) key: Option<String>,
    /// Write the plan as a table to fill in
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// Costs and limits.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Costs and limits")]
pub(crate) struct LimitArgs {
    /// Cost of a sample
    #[arg(long, value_name = "COST")]
    pub(crate) sample_cost: Option<f64>,
    /// Cost of every task of a plan, beside its samples
    #[arg(long, value_name = "COST")]
    pub(crate) switch_cost: Option<f64>,
    /// Least samples of a task in a plan
    #[arg(long, value_name = "N")]
    pub(crate) smallest_batch: Option<usize>,
    /// Most tasks of a plan
    #[arg(long, value_name = "N")]
    pub(crate) max_tasks: Option<usize>,
    /// Samples of an episode: a task gets whole ones
    #[arg(long, value_name = "N")]
    pub(crate) episode: Option<usize>,
    /// Tasks that must not be asked for
    #[arg(long, value_name = "TASK,TASK", value_delimiter = ',')]
    pub(crate) forbid: Vec<String>,
}

/// `taskscout study work`.
#[derive(Debug, Args)]
pub(crate) struct WorkArgs {
    /// The same without `--`: put it last, all that follows belongs to it
    #[arg(long, value_name = "PROGRAM ARGUMENTS", num_args = 1.., required_unless_present = "program", allow_hyphen_values = true)]
    pub(crate) command: Vec<String>,
    /// The program that measures, and its arguments (docs/how-to/use-your-own-simulator.md says what it reads and writes)
    #[arg(last = true, value_name = "PROGRAM", conflicts_with = "command")]
    pub(crate) program: Vec<String>,
    /// Time for an answer, after which the program is ended and the item is free again: 90s, 30m, 2h
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = taskscout_studies::time::duration)]
    pub(crate) timeout: std::time::Duration,
    /// Ask for a plan of this budget whenever nothing is open
    #[arg(long, value_name = "N", requires = "rounds")]
    pub(crate) budget: Option<usize>,
    /// Stop asking when the study has so many rounds
    #[arg(long, value_name = "N", requires = "budget")]
    pub(crate) rounds: Option<usize>,
    /// Measure at most so many items
    #[arg(long, value_name = "N")]
    pub(crate) items: Option<usize>,
    /// How often an item is tried again
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) retries: usize,
}
