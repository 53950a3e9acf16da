//! Recordings from tables with named columns, of any robot.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use rayon::prelude::*;
use taskscout_io::tables::{self as tables, MemoryLimit, Table, visible};

use super::ReadOptions;
use super::files::{self, LogFile};
use crate::error::{Error, Result};
use crate::recording::{Logs, Recording, SkippedRow};

/// How files of tables end.
pub(super) const ENDINGS: [&str; 3] = ["csv", "tsv", "parquet"];
const LOOKED_FOR: &str = "tables ending in .csv, .tsv or .parquet; name another folder";

/// Bytes of a file beyond which files are read one after the other, so that not all are in memory.
const LARGE_FILE: u64 = 32 << 20;

/// The columns of all tables.
#[derive(Debug)]
pub(super) struct Columns<'a> {
    inputs: Vec<&'a str>,
    outputs: Vec<&'a str>,
    task: Option<&'a str>,
    time: Option<&'a str>,
}

impl<'a> Columns<'a> {
    pub(super) fn new(
        inputs: &'a [String],
        outputs: &'a [String],
        task: Option<&'a str>,
        time: Option<&'a str>,
    ) -> Result<Self> {
        let refuse = |problem: String| Err(Error::Columns(problem));
        for (what, columns) in [("input", inputs), ("output", outputs)] {
            if columns.is_empty() {
                return refuse(format!("no {what} column is named: name at least one"));
            }
        }
        let all: Vec<&str> = inputs.iter().chain(outputs).map(String::as_str).collect();
        if let Some(index) = (1..all.len()).find(|&index| all[..index].contains(&all[index])) {
            return refuse(format!(
                "column `{}` is named twice among inputs and outputs: name it once",
                all[index]
            ));
        }
        if let Some(column) = task.filter(|task| all.contains(task)) {
            return refuse(format!(
                "column `{column}` cannot tell the task and be an input or output too: leave out one of them"
            ));
        }
        if let Some(column) = time.filter(|time| all[inputs.len()..].contains(time)) {
            return refuse(format!(
                "column `{column}` cannot be the time and an output too: leave out one of them"
            ));
        }
        Ok(Self {
            inputs: all[..inputs.len()].to_vec(),
            outputs: all[inputs.len()..].to_vec(),
            task,
            time,
        })
    }

    /// Those that must hold numbers.
    fn numbers(&self) -> Vec<&'a str> {
        let mut columns = self.inputs.clone();
        columns.extend(&self.outputs);
        columns.extend(self.time);
        columns
    }
}

/// Reads a table, or all tables of a folder.
pub(super) fn read(path: &Path, columns: &Columns<'_>, how: &ReadOptions) -> Result<Logs> {
    let files = files::list(path, &ENDINGS, LOOKED_FOR)?;
    if columns.task.is_none() {
        files::refuse_same_names(&files)?;
    }
    let limit = MemoryLimit::default();
    let read_file = |file: &LogFile| recordings(file, columns, how, &limit);
    let is_large =
        |file: &LogFile| fs::metadata(&file.path).is_ok_and(|about| about.len() > LARGE_FILE);
    let read: Vec<Result<Vec<Recording>>> = if files.iter().any(is_large) {
        files.iter().map(read_file).collect()
    } else {
        files.par_iter().map(read_file).collect()
    };
    // Which file it was that went beyond the limit depends on the threads.
    let too_large =
        |file: &Result<_>| matches!(file, Err(Error::Table(tables::Error::TooLarge { .. })));
    if files.len() > 1 && read.iter().any(too_large) {
        return Err(Error::TooLarge {
            path: path.to_owned(),
            megabytes: limit.megabytes(),
        });
    }
    let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    let mut logs = Logs {
        inputs: owned(&columns.inputs),
        ..Logs::default()
    };
    let mut places: HashMap<String, usize> = HashMap::new();
    for file in read {
        for recording in file? {
            match places.get(&recording.name) {
                Some(&place) => {
                    let known = &mut logs.recordings[place];
                    logs.warnings.push(format!(
                        "{}: task {} has rows in {} too; they are put together",
                        recording.path.display(),
                        visible(&recording.name),
                        known.path.display()
                    ));
                    append(known, recording);
                }
                None => {
                    places.insert(recording.name.clone(), logs.recordings.len());
                    logs.recordings.push(recording);
                }
            }
        }
    }
    for recording in &logs.recordings {
        logs.warnings.extend(oddities(recording));
    }
    Ok(logs)
}

/// The recordings of one file, by the first row of each task.
fn recordings(
    file: &LogFile,
    columns: &Columns<'_>,
    how: &ReadOptions,
    limit: &MemoryLimit,
) -> Result<Vec<Recording>> {
    let numbers = columns.numbers();
    let skip = how.skip_bad_rows;
    let options = tables::ReadOptions {
        wanted: Some(&|name| numbers.contains(&name) || columns.task == Some(name)),
        text: Some(&|name| columns.task == Some(name)),
        comment: how.comment,
        limit: Some(limit),
    };
    let (table, bad) = if skip {
        Table::read_skipping_with(&file.path, &numbers, columns.task, &options)?
    } else {
        (Table::read_with(&file.path, &options)?, Vec::new())
    };
    let rows = Rows {
        x: table.matrix(&columns.inputs)?,
        y: table.matrix(&columns.outputs)?,
        time: columns.time.map(|time| table.numbers(time)).transpose()?,
        file,
        columns,
    };
    let Some(column) = columns.task else {
        let mut recording = rows.recording(file.stem.clone());
        (0..table.rows()).for_each(|row| rows.copy(row, &mut recording));
        recording.skipped = bad
            .into_iter()
            .map(|row| skipped(row.line, row.reason))
            .collect();
        return Ok(vec![recording]);
    };
    let mut tasks = Tasks::default();
    let mut nobodys = Vec::new();
    for (row, name) in table.text(column)?.iter().enumerate() {
        if let Some(name) = task_name(name) {
            rows.copy(row, tasks.get(name, &rows));
            continue;
        }
        let error = Error::NoTask {
            place: table.place(row),
            column: column.to_owned(),
        };
        if !skip {
            return Err(error);
        }
        nobodys.push(skipped(table.line_of(row), error.to_string()));
    }
    for row in bad {
        let lost = skipped(row.line, row.reason);
        match row.label.as_deref().and_then(task_name) {
            Some(name) => tasks.get(name, &rows).skipped.push(lost),
            None => nobodys.push(lost),
        }
    }
    tasks.finish(nobodys, &file.path)
}

/// The columns of a table, and where they came from.
struct Rows<'a> {
    x: Vec<f64>,
    y: Vec<f64>,
    time: Option<&'a [f64]>,
    file: &'a LogFile,
    columns: &'a Columns<'a>,
}

impl Rows<'_> {
    /// A recording without rows.
    fn recording(&self, name: String) -> Recording {
        let outputs = self.columns.outputs.iter();
        Recording {
            name,
            path: self.file.path.clone(),
            time: self.time.map(|_| Vec::new()),
            outputs: outputs.map(ToString::to_string).collect(),
            ..Recording::default()
        }
    }

    fn copy(&self, row: usize, recording: &mut Recording) {
        let (d, k) = (self.columns.inputs.len(), self.columns.outputs.len());
        recording
            .x
            .extend_from_slice(&self.x[row * d..(row + 1) * d]);
        recording
            .y
            .extend_from_slice(&self.y[row * k..(row + 1) * k]);
        if let (Some(to), Some(from)) = (&mut recording.time, self.time) {
            to.push(from[row]);
        }
    }
}

/// The tasks of a file as they are met.
#[derive(Default)]
struct Tasks {
    recordings: Vec<Recording>,
    places: HashMap<String, usize>,
}

impl Tasks {
    fn get(&mut self, name: &str, rows: &Rows<'_>) -> &mut Recording {
        let next = self.recordings.len();
        let place = *self.places.entry(name.to_owned()).or_insert(next);
        if place == next {
            self.recordings.push(rows.recording(name.to_owned()));
        }
        &mut self.recordings[place]
    }

    /// All recordings, the first with the bad rows that name no task.
    fn finish(mut self, nobodys: Vec<SkippedRow>, path: &Path) -> Result<Vec<Recording>> {
        let lost = |what: String, skipped: &[SkippedRow]| Error::NoGoodRow {
            what,
            count: skipped.len(),
            first: skipped
                .first()
                .map_or_else(String::new, |row| row.reason.clone()),
        };
        let Some(first) = self.recordings.first_mut() else {
            return Err(lost(path.display().to_string(), &nobodys));
        };
        first.skipped.extend(nobodys);
        for recording in &mut self.recordings {
            recording.skipped.sort_by_key(|row| row.line);
            if recording.rows() == 0 {
                let what = format!("task {} of {}", visible(&recording.name), path.display());
                return Err(lost(what, &recording.skipped));
            }
        }
        Ok(self.recordings)
    }
}

/// The name of a task, unless the cell is empty.
fn task_name(cell: &str) -> Option<&str> {
    let name = cell.trim();
    (!name.is_empty() && !name.eq_ignore_ascii_case("nan")).then_some(name)
}

fn skipped(line: Option<usize>, reason: String) -> SkippedRow {
    SkippedRow { line, reason }
}

fn append(known: &mut Recording, more: Recording) {
    known.x.extend(more.x);
    known.y.extend(more.y);
    known.skipped.extend(more.skipped);
    if let (Some(time), Some(later)) = (&mut known.time, more.time) {
        time.extend(later);
    }
}

/// What is odd about a recording.
fn oddities(recording: &Recording) -> Vec<String> {
    let mut warnings = Vec::new();
    let place = format!(
        "{}: task {}",
        recording.path.display(),
        visible(&recording.name)
    );
    let time = recording.time.as_deref().unwrap_or_default();
    if let Some(row) = time.windows(2).position(|pair| pair[1] < pair[0]) {
        warnings.push(format!(
            "{place}: time runs backwards after its row {}; sort the rows, or give each run a task of its own",
            row + 1
        ));
    }
    if let Some(first) = recording.skipped.first() {
        let count = recording.skipped.len();
        let rows = if count == 1 { "row" } else { "rows" };
        warnings.push(format!(
            "{place}: {count} bad {rows} skipped; the first: {}",
            first.reason
        ));
    }
    warnings
}
