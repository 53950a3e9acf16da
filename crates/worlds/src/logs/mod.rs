//! Logs of robots: folders of recordings, read fast and with errors that name file and line.
//!
//! Two kinds of files are understood ([`Format`]): flight logs in the Neural-Fly CSV format, whose
//! names tell vehicle and wind, and tables (CSV, TSV, Parquet) with named input and output columns.
//! Every recording gives a task an output: for flights, the force along an axis.
//!
//! ```
//! use taskscout_worlds::logs::{Format, ReadOptions, read};
//!
//! let folder = tempfile::tempdir().unwrap();
//! let flight = r#",t,v,q,fa,pwm
//! 0,0.00,"[0.1, 0, 0]","[1, 0, 0, 0]","[0.5, 0.1, -0.2]","[1500, 1510, 1490, 1500]"
//! 1,0.02,"[0.2, 0, 0]","[1, 0, 0, 0]","[0.6, 0.1, -0.3]","[1500, 1520, 1480, 1500]"
//! "#;
//! std::fs::write(folder.path().join("quad_hover_pid_20wind.csv"), flight).unwrap();
//!
//! let logs = read(folder.path(), &ReadOptions::default())?;
//! let (recording, output) = logs.find("quad_hover_pid_20wind_z")?;
//! let flight = &logs.recordings[recording];
//! assert_eq!((flight.rows(), flight.output(output)), (2, vec![-0.2, -0.3]));
//! assert_eq!(flight.wind.map(|wind| wind.mean_m_s), Some(2.5));
//! assert_eq!(logs.inputs[7..], ["pwm_0", "pwm_1", "pwm_2", "pwm_3"]);
//! assert_eq!(flight.x[7..11], [1.5, 1.51, 1.49, 1.5]);
//! # Ok::<(), taskscout_worlds::logs::Error>(())
//! ```
//!
//! [`inspect()`] says what would spoil learning.

mod error;
mod files;
mod find;
mod flight_name;
mod flights;
pub mod inspect;
mod tables;

use std::path::{Path, PathBuf};

use serde::Serialize;

pub use crate::wind::Wind;
pub use error::{Error, Result};
pub use flight_name::FlightName;
#[doc(inline)]
pub use inspect::inspect;

/// Recordings read from files, all with the same inputs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Logs {
    /// The names of the inputs.
    pub inputs: Vec<String>,
    /// The recordings, in the order of their files' names.
    pub recordings: Vec<Recording>,
    /// What is odd but no reason to refuse a file.
    pub warnings: Vec<String>,
}

/// A file of a log, or the rows of one task of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recording {
    /// Flights: the file's name without its ending; tables: the task's value, or the same.
    pub name: String,
    /// The file; the first, where a task's rows come from several.
    pub path: PathBuf,
    /// What a flight's name says.
    pub flight: Option<FlightName>,
    /// The wind that the flight's condition stands for.
    pub wind: Option<Wind>,
    /// When each row was recorded, in seconds for flights.
    pub time: Option<Vec<f64>>,
    /// The names of the outputs: `x`, `y` and `z` for flights.
    pub outputs: Vec<String>,
    /// The inputs, row-major.
    pub x: Vec<f64>,
    /// The outputs, row-major.
    pub y: Vec<f64>,
    /// The rows that were bad and left out.
    pub skipped: Vec<SkippedRow>,
}

/// A bad row that was left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SkippedRow {
    /// Its line in the file, counted from 1; none for Parquet.
    pub line: Option<usize>,
    /// What is wrong with it, with its place.
    pub reason: String,
}

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
    };
    files::paths(path, endings)
}

impl Recording {
    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.y.len() / self.outputs.len().max(1)
    }

    /// The values of an output.
    #[must_use]
    pub fn output(&self, output: usize) -> Vec<f64> {
        let values = self.y.iter().skip(output);
        values.step_by(self.outputs.len().max(1)).copied().collect()
    }

    /// The name of the task that an output is: `custom_figure8_NF_35wind_z`, or the recording's own
    /// name if it has a single output.
    #[must_use]
    pub fn task_name(&self, output: usize) -> String {
        match self.outputs.get(output) {
            Some(name) if self.outputs.len() > 1 => format!("{}_{name}", self.name),
            _ => self.name.clone(),
        }
    }
}
