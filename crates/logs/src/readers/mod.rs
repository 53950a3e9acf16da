//! The kinds of files that are understood, and how they are read.

mod bag;
mod dataflash;
mod files;
mod flights;
mod lerobot;
mod mcap;
mod packed;
mod robot;
mod rosbag2;
mod stream;
mod tables;
mod ulog;

use std::path::{Path, PathBuf};

pub(crate) use self::files::SIDE_TABLES;
use crate::error::Result;
use crate::recording::Logs;

pub use self::robot::{RobotFormat, RobotOptions, read_raw, read_rows, robot_format};
pub use self::rosbag2::{is_bag, read_bag};

/// What to read, and how strictly.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadOptions {
    /// Leave bad rows out and report them, instead of refusing the file.
    pub skip_bad_rows: bool,
    /// The kind of files.
    pub format: Format,
    /// CSV tables: lines that begin with this character are skipped; none if not given.
    pub comment: Option<u8>,
}

/// The kinds of files.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Format {
    /// Flight logs in the Neural-Fly CSV format, `VEHICLE_TRAJECTORY_METHOD_CONDITION.csv`.
    #[default]
    Flights,
    /// CSV, TSV or Parquet tables with named columns.
    Table {
        /// The columns of inputs.
        inputs: Vec<String>,
        /// The columns of outputs.
        outputs: Vec<String>,
        /// The column that tells the task; without it every file is one.
        task: Option<String>,
        /// The column of times.
        time: Option<String>,
    },
    /// Logs of robots in the formats of their makers, with inputs and outputs computed from their columns.
    Robot(RobotOptions),
}

/// Reads a file of recordings, or all those in a folder and its subfolders.
///
/// Files are read in parallel; what comes out does not depend on the number of threads.
///
/// # Errors
/// If there is nothing to read, a file cannot be read or is there twice, a column is missing, or a
/// row is bad and bad rows are not to be skipped. The error names file, line and column.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Logs> {
    match &options.format {
        Format::Flights => flights::read(path, options.skip_bad_rows),
        Format::Table {
            inputs,
            outputs,
            task,
            time,
        } => {
            let columns = tables::Columns::new(inputs, outputs, task.as_deref(), time.as_deref())?;
            tables::read(path, &columns, options)
        }
        Format::Robot(wanted) => robot::read(path, wanted, options.skip_bad_rows),
    }
}

/// The files that [`read`] reads, in the order of their names: what a result was made from.
///
/// # Errors
/// If the file or folder cannot be looked at.
pub fn files(path: &Path, options: &ReadOptions) -> Result<Vec<PathBuf>> {
    let endings = match options.format {
        Format::Flights => &flights::ENDINGS[..],
        Format::Table { .. } => &tables::ENDINGS[..],
        Format::Robot(_) => return robot::paths(path),
    };
    files::paths(path, endings)
}
