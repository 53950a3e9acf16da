//! The options of `taskscout data`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use taskscout_lab::LogOptions;
use taskscout_lab::options::comment;

/// What to do with logs.
#[derive(Debug, Subcommand)]
pub(crate) enum Data {
    /// Say what logs hold, and what in them would spoil learning
    #[command(long_about = INSPECT_ABOUT, after_long_help = INSPECT_EXAMPLES)]
    #[command(after_help = "See --help for examples.")]
    Inspect(InspectOptions),
}

/// What stands above the options in the long help.
const INSPECT_ABOUT: &str = "Say what logs hold, and what in them would spoil learning

Without --inputs and --outputs, the folder holds flight logs in the Neural-Fly CSV format, called
VEHICLE_TRAJECTORY_METHOD_CONDITION.csv; every axis of the force in every file is a task. With them, it
holds CSV, TSV or Parquet tables with these columns; a task is a value of the column --task, or a file.
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
    /// The folder, whose subfolders belong to it, or a single file
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
    /// Tables: the column that tells the task [default: every file is a task]
    #[arg(long, value_name = "COLUMN", requires = "inputs")]
    pub(crate) task: Option<String>,
    /// Tables: the column of times
    #[arg(long, value_name = "COLUMN", requires = "inputs")]
    pub(crate) time: Option<String>,
    /// Leave bad rows out, and say how many and why
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
