//! The options of `taskscout data`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use taskscout_lab::LogOptions;
use taskscout_lab::options::{comment, constant};
use taskscout_logs::inspect::words;
use taskscout_logs::join::Method;
use taskscout_logs::split_expressions;

/// What to do with logs.
#[derive(Debug, Subcommand)]
pub(crate) enum Data {
    /// Show what logs contain, and warn of data that harm learning
    #[command(long_about = words::ABOUT, after_long_help = words::EXAMPLES)]
    #[command(after_help = "See --help for examples.")]
    Inspect(InspectOptions),
}

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
    /// Tables: the columns of inputs. Logs of robots: expressions over their columns
    #[arg(long, value_name = "A,B", requires = "outputs")]
    pub(crate) inputs: Vec<String>,
    /// Tables: the columns of outputs. Logs of robots: expressions over their columns
    #[arg(long, value_name = "Y,Z", requires = "inputs")]
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
    /// Logs of robots: the series whose times the rows have [default: that of the first output]
    #[arg(long, value_name = "SERIES", requires = "inputs")]
    pub(crate) times: Option<String>,
    /// Logs of robots: interpolate series at these times [default: take the nearest row]
    #[arg(long, requires = "inputs")]
    pub(crate) interpolate: bool,
    /// Logs of robots: how far away in time a row may be [default: two steps of its series]
    #[arg(long, value_name = "SECONDS", requires = "inputs")]
    pub(crate) tolerance: Option<f64>,
    /// Logs of robots: a number that expressions name
    #[arg(long, value_name = "NAME=NUMBER", requires = "inputs", value_parser = constant)]
    pub(crate) constant: Vec<(String, f64)>,
}

impl LogArgs {
    /// The same for whoever reads them.
    pub(crate) fn options(&self) -> LogOptions {
        let args = self.clone();
        let split = |lists: Vec<String>| {
            lists
                .iter()
                .flat_map(|list| split_expressions(list))
                .collect()
        };
        LogOptions {
            inputs: split(args.inputs),
            outputs: split(args.outputs),
            task: args.task,
            time: args.time,
            skip_bad_rows: args.skip_bad_rows,
            comment: args.comment,
            times: args.times,
            join: if args.interpolate {
                Method::Linear
            } else {
                Method::Nearest
            },
            tolerance_s: args.tolerance,
            constants: args.constant.into_iter().collect(),
        }
    }
}
