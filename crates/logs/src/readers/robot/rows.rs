//! Inputs and outputs from the series of a log.

use taskscout_io::tables::{short, visible};

use super::kinds::Source;
use crate::error::{Error, Result};
use crate::expression::{Expression, ExpressionError};
use crate::join::{JoinOptions, Joined, join};
use crate::recording::{ColumnUnits, Logs, Recording, SkippedRow};
use crate::series::{Column, RawRecording, Selection, Series};

/// What is to be made of the series of a log.
pub(super) struct Rows<'a> {
    pub(super) inputs: &'a [Expression],
    pub(super) outputs: &'a [Expression],
    pub(super) times: Option<&'a str>,
    pub(super) join: JoinOptions,
    pub(super) skip_bad_rows: bool,
}

/// A recording with the names of its inputs.
pub(super) struct Made {
    pub(super) recording: Recording,
    pub(super) inputs: Vec<String>,
    pub(super) units: ColumnUnits,
    pub(super) warnings: Vec<String>,
}

impl Rows<'_> {
    /// The rows of all recordings of a log.
    pub(super) fn of(&self, source: &Source, selection: &Selection) -> Result<Vec<Made>> {
        let mut made = Vec::new();
        let mut missing = false;
        source.read(selection, &mut |raw| {
            missing |= self.places(&raw.series).is_err();
            if !missing {
                made.push(self.make(&raw)?);
            }
            Ok(())
        })?;
        if missing {
            // Only now is everything read that a message can suggest.
            made.clear();
            source.read(&Selection::all(), &mut |raw| {
                made.push(self.make(&raw)?);
                Ok(())
            })?;
        }
        Ok(made)
    }

    /// The rows of a recording.
    fn make(&self, raw: &RawRecording) -> Result<Made> {
        let place = raw.path.display().to_string();
        let refuse = |problem: String| Error::Log {
            path: raw.path.clone(),
            problem: format!("cannot be used: {problem}"),
        };
        let series = self.used(&raw.series).map_err(refuse)?;
        let joined = join(&series, 0, &self.join).map_err(refuse)?;
        drop(series);
        let evaluate =
            |expressions: &[Expression]| -> std::result::Result<Vec<Column>, ExpressionError> {
                let found = expressions.iter().map(|one| one.evaluate(&joined.series));
                Ok(found.collect::<std::result::Result<Vec<_>, _>>()?.concat())
            };
        let inputs = evaluate(self.inputs).map_err(|error| refuse(error.to_string()))?;
        let outputs = evaluate(self.outputs).map_err(|error| refuse(error.to_string()))?;
        refuse_repeated(&inputs, &outputs)?;
        let mut recording = Recording {
            name: raw.name.clone(),
            path: raw.path.clone(),
            metadata: raw.metadata.clone(),
            time: Some(Vec::new()),
            outputs: outputs.iter().map(|column| column.name.clone()).collect(),
            ..Recording::default()
        };
        self.fill(&mut recording, &joined, &inputs, &outputs)
            .map_err(refuse)?;
        let mut warnings = raw.warnings.clone();
        let remarks = joined.remarks.iter();
        warnings.extend(remarks.map(|remark| format!("{place}: {remark}")));
        if let Some(first) = recording.skipped.first() {
            let count = recording.skipped.len();
            let rows = if count == 1 { "row" } else { "rows" };
            warnings.push(format!(
                "{place}: {count} bad {rows} skipped; the first: {}",
                first.reason
            ));
        }
        let known = inputs.iter().chain(&outputs);
        let units = known.filter_map(|column| Some((column.name.clone(), column.unit.clone()?)));
        Ok(Made {
            units: units.collect(),
            inputs: inputs.into_iter().map(|column| column.name).collect(),
            recording,
            warnings,
        })
    }

    /// Which columns of each series are used, and the place of the series that gives the times.
    fn places(&self, all: &[Series]) -> std::result::Result<(Vec<Vec<usize>>, usize), String> {
        let mut columns: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
        let mut base = None;
        for expression in self.outputs.iter().chain(self.inputs) {
            for name in expression.names() {
                let places = name.resolve(all);
                let places = places.map_err(|problem| expression.error(problem).to_string())?;
                base = base.or(places.first().map(|(place, _)| *place));
                for (place, column) in places {
                    columns[place].push(column);
                }
            }
        }
        if let Some(times) = self.times {
            let place = all.iter().position(|one| one.name == times);
            base = Some(place.ok_or_else(|| unknown_series(times, all))?);
        }
        let base = base.ok_or("the inputs and outputs name no column: name at least one")?;
        Ok((columns, base))
    }

    /// The series that are used, the one that gives the times first.
    fn used(&self, all: &[Series]) -> std::result::Result<Vec<Series>, String> {
        let (places, base) = self.places(all)?;
        let mut used = Vec::new();
        for (place, (one, mut columns)) in all.iter().zip(places).enumerate() {
            if columns.is_empty() && place != base {
                continue;
            }
            columns.sort_unstable();
            columns.dedup();
            let columns = columns.iter().map(|&column| one.columns[column].clone());
            let series = Series::new(&one.name, one.time.clone(), columns.collect());
            used.insert(if place == base { 0 } else { used.len() }, series);
        }
        Ok(used)
    }

    /// Copies the rows that are good.
    fn fill(
        &self,
        recording: &mut Recording,
        joined: &Joined,
        inputs: &[Column],
        outputs: &[Column],
    ) -> std::result::Result<(), String> {
        let leader = &joined.series[0];
        let expressions = self.inputs.iter().chain(self.outputs);
        let ahead = expressions.map(Expression::lookahead).max().unwrap_or(0);
        let rows = leader.rows().saturating_sub(ahead);
        for row in 0..rows {
            let mut all = inputs.iter().chain(outputs);
            if let Some(bad) = all.find(|column| !column.values[row].is_finite()) {
                let reason = format!(
                    "row {} of `{}`, at {} s: `{}` is {}",
                    joined.rows[row],
                    visible(&leader.name),
                    short(leader.time[row]),
                    visible(&bad.name),
                    if bad.values[row].is_nan() {
                        "not a number"
                    } else {
                        "infinite"
                    }
                );
                if !self.skip_bad_rows {
                    return Err(format!("{reason}; skip bad rows, or name another column"));
                }
                recording.skipped.push(SkippedRow { line: None, reason });
                continue;
            }
            recording
                .x
                .extend(inputs.iter().map(|column| column.values[row]));
            recording
                .y
                .extend(outputs.iter().map(|column| column.values[row]));
            if let Some(time) = &mut recording.time {
                time.push(leader.time[row]);
            }
        }
        if recording.time.as_ref().is_none_or(Vec::is_empty) {
            return Err(match recording.skipped.first() {
                Some(first) => format!(
                    "no row is left, all {rows} are bad; the first: {}",
                    first.reason
                ),
                None => {
                    "no row is left: the series have no times in common, or too few rows".into()
                }
            });
        }
        Ok(())
    }
}

fn unknown_series(name: &str, all: &[Series]) -> String {
    let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
    let meant = taskscout_io::tables::nearest_name(name, &names);
    let meant = meant.map_or_else(String::new, |meant| {
        format!(" (did you mean `{}`?)", visible(meant))
    });
    format!(
        "there is no series `{}` to take the times from{meant}",
        visible(name)
    )
}

fn refuse_repeated(inputs: &[Column], outputs: &[Column]) -> Result<()> {
    let names: Vec<&str> = inputs
        .iter()
        .chain(outputs)
        .map(|column| column.name.as_str())
        .collect();
    match (1..names.len()).find(|&index| names[..index].contains(&names[index])) {
        None => Ok(()),
        Some(index) => Err(Error::Columns(format!(
            "`{}` is named twice among inputs and outputs: name it once, or give one of them another name with `name = …`",
            visible(names[index])
        ))),
    }
}

/// What to say where an array has more elements in one log than in another.
pub(super) fn differ(logs: &Logs, recording: &Recording, inputs: &[String]) -> Error {
    let first = &logs.recordings[0];
    let (inputs, outputs) = (
        [&logs.inputs[..], inputs],
        [&first.outputs[..], &recording.outputs[..]],
    );
    let pair = if inputs[0] == inputs[1] {
        outputs
    } else {
        inputs
    };
    Error::Columns(format!(
        "{} gives {} and {} gives {}: name the same elements of arrays for all, as in q[0:4]",
        first.path.display(),
        pair[0].join(", "),
        recording.path.display(),
        pair[1].join(", ")
    ))
}
