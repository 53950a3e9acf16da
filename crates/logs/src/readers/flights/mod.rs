//! Flight logs in the Neural-Fly CSV format: vectors as list literals inside quoted cells.
//!
//! Only the cells that are needed are parsed, in place and straight into the rows of the recording;
//! the others are stepped over.

mod cell;
mod header;
mod row;

use std::path::Path;

use memchr::{memchr, memchr_iter};
use rayon::prelude::*;

use self::header::Layout;
use self::row::{Row, Trouble};
use super::files::{self, LogFile};
use crate::error::{Error, Result};
use crate::flight_name::FlightName;
use crate::recording::{Logs, Recording, SkippedRow};

/// The inputs: velocity, attitude as a quaternion, motor commands in thousands.
const INPUTS: [&str; 11] = [
    "v_x", "v_y", "v_z", "q_0", "q_1", "q_2", "q_3", "pwm_0", "pwm_1", "pwm_2", "pwm_3",
];
/// The outputs: the axes of the residual force in newtons.
const OUTPUTS: [&str; 3] = ["x", "y", "z"];

/// What is measured in what; attitudes are numbers, motor commands thousands of the log's.
const UNITS: [(&str, &str); 6] = [
    ("v_x", "m/s"),
    ("v_y", "m/s"),
    ("v_z", "m/s"),
    ("x", "N"),
    ("y", "N"),
    ("z", "N"),
];

const LOOKED_FOR: &str = "flight logs called VEHICLE_TRAJECTORY_METHOD_CONDITION.csv; name another folder, or for other tables their input and output columns";

/// How files of flights end.
pub(super) const ENDINGS: [&str; 1] = ["csv"];

/// Reads a flight, or all flights of a folder.
pub(super) fn read(path: &Path, skip_bad_rows: bool) -> Result<Logs> {
    let files = files::list(path, &ENDINGS, LOOKED_FOR)?;
    let named: Vec<(&LogFile, FlightName)> = files
        .iter()
        .map(|file| {
            let name = FlightName::parse(&file.stem);
            let refused = || Error::FileName {
                path: file.path.clone(),
            };
            Ok((file, name.ok_or_else(refused)?))
        })
        .collect::<Result<_>>()?;
    files::refuse_same_names(&files)?;
    let read: Vec<Result<(Recording, Vec<String>)>> = named
        .into_par_iter()
        .map(|(file, name)| flight(file, name, skip_bad_rows))
        .collect();
    let mut logs = Logs {
        inputs: INPUTS.map(String::from).to_vec(),
        recordings: Vec::with_capacity(files.len()),
        units: UNITS.map(|(name, unit)| (name.into(), unit.into())).into(),
        ..Logs::default()
    };
    // In the order of the files, so that the first fault is the one reported.
    for flight in read {
        let (recording, warnings) = flight?;
        logs.recordings.push(recording);
        logs.warnings.extend(warnings);
    }
    Ok(logs)
}

/// One file.
fn flight(file: &LogFile, name: FlightName, skip: bool) -> Result<(Recording, Vec<String>)> {
    let bytes = files::load(&file.path)?;
    let layout = Layout::read(&bytes, &file.path)?;
    let mut warnings = Vec::new();
    let mut warn = |problem: String| warnings.push(format!("{}: {problem}", file.path.display()));
    let wind = name.wind();
    if wind.is_none() {
        warn(format!(
            "the wind of condition `{}` is not known; name it like nowind, 35wind (up to 100) or 70p20sint to have it",
            name.condition
        ));
    }
    let mut rows = Rows::with_room(&bytes[layout.body..]);
    rows.read(&bytes, &layout, &file.path, skip)?;
    if rows.y.is_empty() {
        return Err(rows.nothing(&file.path));
    }
    let time = layout.has_time.then_some(rows.time);
    if time.is_none() {
        warn("there is no column `t`, so that gaps in time cannot be seen".into());
    }
    if let Some(line) = rows.backwards {
        warn(format!(
            "time runs backwards at line {line}; cut the file there if it holds two flights"
        ));
    }
    if let Some(first) = rows.skipped.first() {
        let count = rows.skipped.len();
        let rows = if count == 1 { "row" } else { "rows" };
        warn(format!(
            "{count} bad {rows} skipped; the first: {}",
            first.reason
        ));
    }
    let recording = Recording {
        name: file.stem.clone(),
        path: file.path.clone(),
        facts: name.facts(),
        flight: Some(name),
        wind,
        time,
        outputs: OUTPUTS.map(String::from).to_vec(),
        x: rows.x,
        y: rows.y,
        skipped: rows.skipped,
        ..Recording::default()
    };
    Ok((recording, warnings))
}

/// The rows of a file as they are gathered.
#[derive(Default)]
struct Rows {
    time: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
    skipped: Vec<SkippedRow>,
    /// The first line whose time is before that of the row above.
    backwards: Option<usize>,
}

impl Rows {
    /// Room for about as many rows as the text has, if they are as long as its first line.
    fn with_room(body: &[u8]) -> Self {
        let line = memchr(b'\n', body).unwrap_or(body.len()).max(40);
        let rows = body.len() / line + 1;
        Self {
            time: Vec::with_capacity(rows),
            x: Vec::with_capacity(rows * INPUTS.len()),
            y: Vec::with_capacity(rows * OUTPUTS.len()),
            ..Self::default()
        }
    }

    fn read(&mut self, bytes: &[u8], layout: &Layout, path: &Path, skip: bool) -> Result<()> {
        let mut lines = Lines::default();
        let mut at = layout.body;
        while at < bytes.len() {
            if let Some(next) = cell::after_blank_line(bytes, at) {
                at = next;
                continue;
            }
            let mut row = Row::default();
            let start = at;
            let trouble = match row.read(bytes, at, layout) {
                Ok(next) => {
                    self.push(&row, || lines.of(bytes, start));
                    at = next;
                    continue;
                }
                Err(trouble) => trouble,
            };
            at = trouble.resume();
            let line = lines.of(bytes, start);
            let error = located(trouble, line, path);
            if !skip {
                return Err(error);
            }
            self.skipped.push(SkippedRow {
                line: Some(line),
                reason: error.to_string(),
            });
        }
        Ok(())
    }

    fn push(&mut self, row: &Row, line: impl FnOnce() -> usize) {
        if self.backwards.is_none() && self.time.last().is_some_and(|&last| row.time < last) {
            self.backwards = Some(line());
        }
        self.time.push(row.time);
        self.x.extend_from_slice(&row.x);
        self.y.extend_from_slice(&row.y);
    }

    /// Why there is not a single row.
    fn nothing(self, path: &Path) -> Error {
        let path = path.to_owned();
        let count = self.skipped.len();
        match self.skipped.into_iter().next() {
            None => Error::Empty {
                path,
                problem: "has a header but no rows: remove it, or copy it again",
            },
            Some(first) => Error::NoGoodRow {
                what: path.display().to_string(),
                count,
                first: first.reason,
            },
        }
    }
}

fn located(trouble: Trouble, line: usize, path: &Path) -> Error {
    let path = path.to_owned();
    match trouble {
        Trouble::Row { problem, .. } => Error::Row {
            path,
            line,
            problem,
        },
        Trouble::Cell {
            column, problem, ..
        } => Error::Cell {
            path,
            line,
            column,
            problem,
        },
    }
}

/// Counts lines as far as it is asked, so that a good file costs nothing.
#[derive(Default)]
struct Lines {
    counted: usize,
    breaks: usize,
}

impl Lines {
    /// The line of a byte, counted from 1; bytes are asked for in order.
    fn of(&mut self, bytes: &[u8], at: usize) -> usize {
        self.breaks += memchr_iter(b'\n', &bytes[self.counted..at]).count();
        self.counted = at;
        1 + self.breaks
    }
}
