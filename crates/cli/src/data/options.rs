//! The options of `taskscout data`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use taskscout_logs::{Format, ReadOptions};

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
docs/logs.md describes both.";

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
    pub(crate) logs: LogOptions,
    /// Print one JSON object on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
}

/// How logs are to be read.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct LogOptions {
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

/// A character that no row can begin with otherwise.
pub(crate) fn comment(text: &str) -> Result<char, String> {
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) if letter.is_ascii_punctuation() && !"\"',;-+.".contains(letter) => {
            Ok(letter)
        }
        _ => Err(
            "give one character that is neither letter, digit, sign nor separator, such as #"
                .into(),
        ),
    }
}

/// The same as a byte, which it is.
pub(crate) fn comment_byte(comment: Option<char>) -> Option<u8> {
    comment.and_then(|letter| u8::try_from(letter).ok())
}

impl LogOptions {
    /// The same for the library.
    pub(crate) fn read_options(&self) -> ReadOptions {
        let format = if self.inputs.is_empty() {
            Format::Flights
        } else {
            Format::Table {
                inputs: self.inputs.clone(),
                outputs: self.outputs.clone(),
                task: self.task.clone(),
                time: self.time.clone(),
            }
        };
        ReadOptions {
            skip_bad_rows: self.skip_bad_rows,
            format,
            comment: comment_byte(self.comment),
        }
    }
}
