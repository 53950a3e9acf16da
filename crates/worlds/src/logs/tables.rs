//! Recordings from tables with named columns, of any robot.

use std::collections::HashMap;
use std::path::Path;

use rayon::prelude::*;
use taskscout_tables::Table;

use super::error::{Error, Result};
use super::files::{self, LogFile};
use super::{Logs, Recording, SkippedRow};

const ENDINGS: [&str; 3] = ["csv", "tsv", "parquet"];
const LOOKED_FOR: &str = "tables ending in .csv, .tsv or .parquet; name another folder";

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
pub(super) fn read(path: &Path, columns: &Columns<'_>, skip: bool) -> Result<Logs> {
    let files = files::list(path, &ENDINGS, LOOKED_FOR)?;
    if columns.task.is_none() {
        files::refuse_same_names(&files)?;
    }
    let read: Vec<Result<Vec<Recording>>> = files
        .par_iter()
        .map(|file| recordings(file, columns, skip))
        .collect();
    let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    let mut logs = Logs {
        inputs: owned(&columns.inputs),
        recordings: Vec::new(),
        warnings: Vec::new(),
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
                        recording.name,
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
fn recordings(file: &LogFile, columns: &Columns<'_>, skip: bool) -> Result<Vec<Recording>> {
    let (table, mut skipped) = load(&file.path, columns, skip)?;
    let x = table.matrix(&columns.inputs)?;
    let y = table.matrix(&columns.outputs)?;
    let time = columns.time.map(|time| table.numbers(time)).transpose()?;
    let empty = |name: String| Recording {
        name,
        path: file.path.clone(),
        flight: None,
        wind: None,
        time: time.map(|_| Vec::new()),
        outputs: columns.outputs.iter().map(ToString::to_string).collect(),
        x: Vec::new(),
        y: Vec::new(),
        skipped: Vec::new(),
    };
    let Some(column) = columns.task else {
        return Ok(vec![Recording {
            time: time.map(<[f64]>::to_vec),
            x,
            y,
            skipped,
            ..empty(file.stem.clone())
        }]);
    };
    let mut recordings: Vec<Recording> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (row, name) in table.text(column)?.into_iter().enumerate() {
        let name = name.trim();
        if name.is_empty() || name.eq_ignore_ascii_case("nan") {
            let error = Error::NoTask {
                place: table.place(row),
                column: column.to_owned(),
            };
            if !skip {
                return Err(error);
            }
            skipped.push(SkippedRow {
                line: table.line_of(row),
                reason: error.to_string(),
            });
            continue;
        }
        let place = *places.entry(name.to_owned()).or_insert_with(|| {
            recordings.push(empty(name.to_owned()));
            recordings.len() - 1
        });
        let recording = &mut recordings[place];
        let (d, k) = (columns.inputs.len(), columns.outputs.len());
        recording.x.extend_from_slice(&x[row * d..(row + 1) * d]);
        recording.y.extend_from_slice(&y[row * k..(row + 1) * k]);
        if let (Some(to), Some(from)) = (&mut recording.time, time) {
            to.push(from[row]);
        }
    }
    skipped.sort_by_key(|row| row.line);
    match recordings.first_mut() {
        // Which task a bad row belonged to is often not to be told.
        Some(first) => first.skipped = skipped,
        None => {
            return Err(Error::NoGoodRow {
                path: file.path.clone(),
                count: skipped.len(),
                first: skipped
                    .into_iter()
                    .next()
                    .map_or_else(String::new, |row| row.reason),
            });
        }
    }
    Ok(recordings)
}

fn load(path: &Path, columns: &Columns<'_>, skip: bool) -> Result<(Table, Vec<SkippedRow>)> {
    if !skip {
        return Ok((Table::read(path)?, Vec::new()));
    }
    let (table, bad) = Table::read_skipping(path, &columns.numbers())?;
    let skipped = bad.into_iter().map(|row| SkippedRow {
        line: row.line,
        reason: row.reason,
    });
    Ok((table, skipped.collect()))
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
    let place = format!("{}: task {}", recording.path.display(), recording.name);
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
            "{}: {count} bad {rows} skipped; the first: {}",
            recording.path.display(),
            first.reason
        ));
    }
    warnings
}
