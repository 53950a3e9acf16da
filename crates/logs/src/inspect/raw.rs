//! What logs of robots hold before anybody has said what are inputs and what outputs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::column::mean;
use crate::error::Result;
use crate::join::median_step;
use crate::readers::{RobotFormat, read_raw, robot_format};
use crate::series::{Column, RawRecording, Selection, Series};

/// What logs of robots hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RawInspection {
    /// Their format.
    pub format: RobotFormat,
    /// Each file or episode.
    pub recordings: Vec<RawSummary>,
}

/// What a file or an episode holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RawSummary {
    /// Its name.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// Seconds from the first row of any series to the last.
    pub span_s: f64,
    /// What the log says of itself.
    pub metadata: BTreeMap<String, String>,
    /// Its series.
    pub series: Vec<SeriesSummary>,
    /// What is odd about it.
    pub warnings: Vec<String>,
}

/// What a series holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeriesSummary {
    /// Its name.
    pub name: String,
    /// The number of rows.
    pub rows: usize,
    /// Rows a second, by the median step of time.
    pub rate_hz: Option<f64>,
    /// When the first row was recorded, in seconds.
    pub first_s: Option<f64>,
    /// When the last was.
    pub last_s: Option<f64>,
    /// Its columns.
    pub columns: Vec<ColumnSummary>,
    /// The fields that hold text.
    pub text: Vec<String>,
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnSummary {
    /// Its name.
    pub name: String,
    /// Its unit, where the log has it.
    pub unit: Option<String>,
    /// The mean of its finite values.
    pub mean: Option<f64>,
    /// The least of them.
    pub min: Option<f64>,
    /// The greatest.
    pub max: Option<f64>,
    /// How many are not finite.
    pub missing: usize,
}

impl RawInspection {
    /// What was found, in words and tables for people.
    #[must_use]
    pub fn text(&self) -> String {
        super::raw_text::page(self)
    }
}

/// Says what logs of robots hold; nothing where a file or folder has none.
///
/// Logs are read in parallel, and only what is said of them is kept.
///
/// # Errors
/// If a log cannot be read, or there are logs of several formats.
pub fn inspect_raw(path: &Path) -> Result<Option<RawInspection>> {
    let Some(format) = robot_format(path)? else {
        return Ok(None);
    };
    let recordings = read_raw(path, &Selection::all(), |raw| Ok(recording(raw)))?;
    Ok(Some(RawInspection { format, recordings }))
}

fn recording(raw: RawRecording) -> RawSummary {
    let series: Vec<SeriesSummary> = raw.series.iter().map(one_series).collect();
    let first = series
        .iter()
        .filter_map(|one| one.first_s)
        .fold(f64::INFINITY, f64::min);
    let last = series
        .iter()
        .filter_map(|one| one.last_s)
        .fold(f64::NEG_INFINITY, f64::max);
    RawSummary {
        name: raw.name,
        path: raw.path,
        span_s: if last >= first { last - first } else { 0.0 },
        metadata: raw.metadata,
        series,
        warnings: raw.warnings,
    }
}

fn one_series(series: &Series) -> SeriesSummary {
    SeriesSummary {
        name: series.name.clone(),
        rows: series.rows(),
        rate_hz: median_step(&series.time).map(|step| 1.0 / step),
        first_s: series.time.first().copied(),
        last_s: series.time.last().copied(),
        columns: series.columns.iter().map(column).collect(),
        text: series.text.clone(),
    }
}

fn column(column: &Column) -> ColumnSummary {
    let finite = || {
        column
            .values
            .iter()
            .copied()
            .filter(|value| value.is_finite())
    };
    let count = finite().count();
    let some = |value: f64| (count > 0).then_some(value);
    ColumnSummary {
        name: column.name.clone(),
        unit: column.unit.clone(),
        mean: some(mean(finite())),
        min: some(finite().fold(f64::INFINITY, f64::min)),
        max: some(finite().fold(f64::NEG_INFINITY, f64::max)),
        missing: column.values.len() - count,
    }
}
