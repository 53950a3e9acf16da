//! The options of `taskscout data`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use taskscout_lab::LogOptions;
use taskscout_lab::options::comment;

/// What to do with logs.
#[derive(Debug, Subcommand)]
pub(crate) enum Data {
    /// Show what logs contain, and warn of data that harm learning
    #[command(long_about = INSPECT_ABOUT, after_long_help = INSPECT_EXAMPLES)]
    #[command(after_help = "See --help for examples.")]
    Inspect(InspectOptions),
}

/// What stands above the options in the long help.
const INSPECT_ABOUT: &str = "Show what logs contain, and warn of data that harm learning

Without --inputs and --outputs, the folder has flight logs in the Neural-Fly CSV format, with names like
VEHICLE_TRAJECTORY_METHOD_CONDITION.csv. Each axis of the force in each file is a task. With --inputs and
--outputs, it has CSV, TSV or Parquet tables with these columns. A task is then a value of the column --task,
or a file.
docs/reference/logs.md describes both.";

/// What stands below the options in the long help.
const INSPECT_EXAMPLES: &str = "Examples:
  A folder of flights:

    taskscout data inspect flights

  Tables of any robot, with a task for every value of a column:

    taskscout data inspect logs --inputs speed,angle --outputs torque --task surface --time t";

/// Options of `taskscout data inspect`.
#[derive(Debug, Clone, Args)]
pub(crate) struct InspectOptions {
    /// A folder, with its subfolders, or a single file
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) logs: LogArgs,
    /// Print one JSON object on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
}

/// How logs are to be read.
#[derive(Debug, Clone, Args)]
pub(crate) struct LogArgs {
    /// Tables: the columns of inputs
    #[arg(long, value_name = "A,B", value_delimiter = ',', requires = "outputs")]
    pub(crate) inputs: Vec<String>,
    /// Tables: the columns of outputs
    #[arg(long, value_name = "Y,Z", value_delimiter = ',', requires = "inputs")]
    pub(crate) outputs: Vec<String>,
    /// Tables: the column that names the task [default: every file is a task]
    #[arg(long, value_name = "COLUMN", requires = "inputs")]
    pub(crate) task: Option<String>,
    /// Tables: the column of times
    #[arg(long, value_name = "COLUMN", requires = "inputs")]
    pub(crate) time: Option<String>,
    /// Skip bad rows, and say how many and why
    #[arg(long)]
    pub(crate) skip_bad_rows: bool,
    /// CSV tables: skip lines that begin with this character [default: every line is a row]
    #[arg(long, value_name = "CHAR", requires = "inputs", value_parser = comment)]
    pub(crate) comment: Option<char>,
}

impl LogArgs {
    /// The same for whoever reads them.
    pub(crate) fn options(&self) -> LogOptions {
        let args = self.clone();
        LogOptions {
            inputs: args.inputs,
            outputs: args.outputs,
            task: args.task,
            time: args.time,
            skip_bad_rows: args.skip_bad_rows,
            comment: args.comment,
        }
    }
}
