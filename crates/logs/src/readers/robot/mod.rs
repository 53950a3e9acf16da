//! Logs of robots in the formats of their makers: which they are, and what is made of them.
//!
//! A log is read into series ([`RawRecording`]), of which only the columns that the expressions name are decoded; the
//! series are joined by time, and the expressions give inputs and outputs. One log at a time is in memory for each thread.

mod kinds;
mod rows;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

pub use self::kinds::RobotFormat;
use self::kinds::Source;
use self::rows::Rows;
use crate::error::{Error, Result};
use crate::expression::Expression;
use crate::join::{JoinOptions, Method};
use crate::recording::Logs;
use crate::series::{RawRecording, Selection};

/// What is to be made of logs of robots.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RobotOptions {
    /// The inputs, as [expressions](Expression).
    pub inputs: Vec<String>,
    /// The outputs, as expressions.
    pub outputs: Vec<String>,
    /// Names that stand for numbers in expressions.
    pub constants: BTreeMap<String, f64>,
    /// The series whose times the rows have; if not given, that of the first output.
    pub times: Option<String>,
    /// How other series are joined to it.
    pub method: Method,
    /// Seconds that a row of another series may be away; if not given, two of its median steps.
    pub tolerance_s: Option<f64>,
}

/// Which format a file or folder of logs of a robot has; none if it has no such logs.
///
/// # Errors
/// If it cannot be looked at, or has logs of several formats.
pub fn robot_format(path: &Path) -> Result<Option<RobotFormat>> {
    let sources = kinds::sources(path)?;
    Ok(sources.first().map(|source| source.format))
}

/// Reads what is selected of each log of a file or folder, and gives what `make` makes of each recording, in the order
/// of their names.
///
/// Logs are read in parallel, so that only a few are in memory at once.
///
/// # Errors
/// If there are none, two have the same name or the same bytes, or one cannot be read.
pub fn read_raw<T: Send>(
    path: &Path,
    selection: &Selection,
    make: impl Fn(RawRecording) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    each(path, |source| {
        let mut made = Vec::new();
        source.read(selection, &mut |raw| {
            made.push(make(raw)?);
            Ok(())
        })?;
        Ok(made)
    })
}

/// What is made of each log, in their order.
fn each<T: Send>(
    path: &Path,
    one: impl Fn(&Source) -> Result<Vec<T>> + Sync + Send,
) -> Result<Vec<T>> {
    let sources = kinds::listed(path)?;
    let read: Vec<Result<Vec<T>>> = sources.par_iter().map(one).collect();
    let mut all = Vec::new();
    // In the order of the files, so that the first fault is the one reported.
    for made in read {
        all.extend(made?);
    }
    Ok(all)
}

/// The files that logs consist of, by name.
pub(super) fn paths(path: &Path) -> Result<Vec<PathBuf>> {
    kinds::paths(&kinds::sources(path)?)
}

/// Reads recordings of inputs and outputs.
pub(super) fn read(path: &Path, options: &RobotOptions, skip_bad_rows: bool) -> Result<Logs> {
    if options.outputs.is_empty() {
        let problem = "no output is named: name at least one";
        return Err(Error::Columns(problem.into()));
    }
    read_rows(path, options, skip_bad_rows)
}

/// Reads recordings of inputs, and of outputs if some are named: a model predicts what a log need not have.
///
/// # Errors
/// As [`read`](crate::read).
pub fn read_rows(path: &Path, options: &RobotOptions, skip_bad_rows: bool) -> Result<Logs> {
    let parse = |texts: &[String]| {
        let parsed = texts
            .iter()
            .map(|text| Expression::with_constants(text, &options.constants));
        parsed.collect::<std::result::Result<Vec<_>, _>>()
    };
    let (inputs, outputs) = (parse(&options.inputs)?, parse(&options.outputs)?);
    if inputs.is_empty() {
        let problem = "no input is named: name at least one";
        return Err(Error::Columns(problem.into()));
    }
    let mut wanted: Vec<String> = inputs
        .iter()
        .chain(&outputs)
        .flat_map(Expression::columns)
        .collect();
    wanted.extend(options.times.clone());
    let how = Rows {
        inputs: &inputs,
        outputs: &outputs,
        times: options.times.as_deref(),
        join: JoinOptions {
            method: options.method,
            tolerance_s: options.tolerance_s,
            skip_jumps: skip_bad_rows,
        },
        skip_bad_rows,
    };
    let selection = Selection::of(wanted);
    let made = each(path, |source| how.of(source, &selection))?;
    let mut logs = Logs::default();
    let mut names = HashMap::new();
    for one in made {
        let (name, path) = (one.recording.name.clone(), one.recording.path.clone());
        if let Some(first) = names.insert(name.clone(), path.clone()) {
            let second = path;
            return Err(Error::SameName {
                name,
                first,
                second,
            });
        }
        if logs.recordings.is_empty() {
            logs.inputs = one.inputs;
            logs.units = one.units;
        } else if logs.inputs != one.inputs || logs.recordings[0].outputs != one.recording.outputs {
            return Err(rows::differ(&logs, &one.recording, &one.inputs));
        }
        logs.warnings.extend(one.warnings);
        logs.recordings.push(one.recording);
    }
    Ok(logs)
}
