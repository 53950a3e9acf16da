//! What logs hold, and what in them would spoil learning.
//!
//! ```
//! use taskscout_logs::inspect::{WarningKind, inspect};
//! use taskscout_logs::{Format, ReadOptions, read};
//!
//! let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("calm.csv");
//! std::fs::write(&path, "speed,level,force\n1,7,10\n2,7,21\n3,7,29\n").unwrap();
//! let format = Format::Table {
//!     inputs: vec!["speed".into(), "level".into()],
//!     outputs: vec!["force".into()],
//!     task: None,
//!     time: None,
//! };
//! let logs = read(&path, &ReadOptions { format, ..ReadOptions::default() })?;
//! let found = inspect(&logs);
//! assert_eq!((found.tasks[0].rows, found.tasks[0].mean), (3, 20.0));
//! let kinds: Vec<WarningKind> = found.warnings.iter().map(|warning| warning.kind).collect();
//! assert_eq!(kinds, [WarningKind::FewRows, WarningKind::Constant]);
//! # Ok::<(), taskscout_logs::Error>(())
//! ```

mod checks;
mod column;
mod pooled;
mod raw;
mod raw_text;
mod text;
mod time;
mod warning;
pub mod words;

use rayon::prelude::*;
use serde::Serialize;

use self::checks::Findings;
use self::column::Column;
pub use self::raw::{ColumnSummary, RawInspection, RawSummary, SeriesSummary, inspect_raw};
use self::time::Clock;
pub use self::warning::{Warning, WarningKind};
use super::{Logs, Recording, Wind};

/// What logs hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inspection {
    /// The number of recordings.
    pub recordings: usize,
    /// The rows of all recordings.
    pub rows: usize,
    /// The bad rows that were left out.
    pub skipped: usize,
    /// Each output of each recording.
    pub tasks: Vec<TaskSummary>,
    /// Each input, over all rows.
    pub inputs: Vec<InputSummary>,
    /// What would spoil learning.
    pub warnings: Vec<Warning>,
}

impl Inspection {
    /// What was found, in words and tables for people.
    #[must_use]
    pub fn text(&self) -> String {
        text::page(self)
    }
}

/// An output of a recording.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskSummary {
    /// The task's name.
    pub task: String,
    /// The rows of its recording.
    pub rows: usize,
    /// The bad rows of its recording that were left out.
    pub skipped: usize,
    /// From the first time to the last.
    pub time_span: Option<f64>,
    /// The median step of time; the mean where times are rounded so that most repeat.
    pub time_step: Option<f64>,
    /// The mean of the output.
    pub mean: f64,
    /// The standard deviation of the output.
    pub std: f64,
    /// The wind, where it is known.
    pub wind: Option<Wind>,
}

/// An input over all rows of all recordings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InputSummary {
    /// The input's name.
    pub input: String,
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation.
    pub std: f64,
    /// Its smallest value.
    pub min: f64,
    /// Its largest value.
    pub max: f64,
}

/// Everything about one recording.
struct Measured {
    inputs: Vec<Column>,
    outputs: Vec<Column>,
    clock: Option<Clock>,
}

impl Measured {
    fn new(recording: &Recording, inputs: usize) -> Self {
        let columns = |block: &[f64], width: usize| {
            (0..width)
                .map(|index| Column::new(block.iter().skip(index).step_by(width).copied()))
                .collect()
        };
        Self {
            inputs: columns(&recording.x, inputs),
            outputs: columns(&recording.y, recording.outputs.len()),
            clock: recording.time.as_deref().and_then(Clock::new),
        }
    }
}

/// Says what logs hold, and what in them would spoil learning.
#[must_use]
pub fn inspect(logs: &Logs) -> Inspection {
    let width = logs.inputs.len();
    let measured: Vec<Measured> = logs
        .recordings
        .par_iter()
        .map(|recording| Measured::new(recording, width))
        .collect();
    let pooled = pooled::Pooled::new(logs, &measured);
    let mut findings = Findings::default();
    for (recording, measured) in logs.recordings.iter().zip(&measured) {
        checks::recording(logs, recording, measured, &mut findings);
    }
    checks::units(logs, &measured, &mut findings);
    checks::copies(logs, &pooled, &mut findings);
    let mut warnings: Vec<Warning> = logs
        .warnings
        .iter()
        .map(|it| Warning::reading(it))
        .collect();
    let refused = logs.check_sizes().err();
    warnings.extend(refused.map(|error| Warning::reading(&error.to_string())));
    warnings.extend(findings.warnings());
    Inspection {
        recordings: logs.recordings.len(),
        rows: logs.recordings.iter().map(Recording::rows).sum(),
        skipped: logs.recordings.iter().map(|one| one.skipped.len()).sum(),
        tasks: tasks(logs, &measured),
        inputs: pooled.summaries(&logs.inputs),
        warnings,
    }
}

fn tasks(logs: &Logs, measured: &[Measured]) -> Vec<TaskSummary> {
    let task = |(index, output): (usize, usize)| {
        let (recording, measured) = (&logs.recordings[index], &measured[index]);
        let clock = measured.clock.as_ref();
        TaskSummary {
            task: recording.task_name(output),
            rows: recording.rows(),
            skipped: recording.skipped.len(),
            time_span: clock.map(|clock| clock.span),
            time_step: clock.map(|clock| clock.step),
            mean: measured.outputs[output].mean,
            std: measured.outputs[output].std,
            wind: recording.wind,
        }
    };
    logs.tasks().map(task).collect()
}
