//! What was recorded: rows of inputs and outputs, with what is known of them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use taskscout_io::tables::visible;

use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::flight_name::FlightName;
use crate::wind::Wind;

/// Recordings read from files, all with the same inputs.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Logs {
    /// The names of the inputs.
    pub inputs: Vec<String>,
    /// What inputs and outputs are measured in.
    pub units: ColumnUnits,
    /// The recordings, in the order of their files' names.
    pub recordings: Vec<Recording>,
    /// What is odd but no reason to refuse a file.
    pub warnings: Vec<String>,
}

/// Inputs may be so large: sums of more would overflow.
const LARGEST_INPUT: f64 = 1e300;
/// The same of outputs, whose squares are summed.
const LARGEST_OUTPUT: f64 = 1e130;

impl Logs {
    /// Refuses values that nothing can be learnt from, because sums over rows would overflow.
    ///
    /// # Errors
    /// The first such value, with recording, row and column.
    pub fn check_sizes(&self) -> Result<()> {
        for recording in &self.recordings {
            let sides = [
                ("input", &self.inputs, &recording.x, LARGEST_INPUT),
                ("output", &recording.outputs, &recording.y, LARGEST_OUTPUT),
            ];
            for (kind, names, values, most) in sides {
                let Some(at) = values.iter().position(|value| value.abs() > most) else {
                    continue;
                };
                let (row, column) = (at / names.len(), at % names.len());
                return Err(Error::Log {
                    path: recording.path.clone(),
                    problem: format!(
                        "has {kind} `{}` = {:e} in row {} of recording {}, and {kind}s may be {most:e} at most: correct it, leave the row out, or scale the column",
                        visible(&names[column]),
                        values[at],
                        row + 1,
                        visible(&recording.name)
                    ),
                });
            }
        }
        Ok(())
    }
}

/// What columns are measured in, by their names; nothing where nobody said.
pub type ColumnUnits = BTreeMap<String, String>;

/// A file of a log, or the rows of one task of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Recording {
    /// Flights: the file's name without its ending; tables: the task's value, or the same.
    pub name: String,
    /// The file; the first, where a task's rows come from several.
    pub path: PathBuf,
    /// Its labels and parameters.
    pub facts: Facts,
    /// What the log says of itself.
    pub metadata: BTreeMap<String, String>,
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
