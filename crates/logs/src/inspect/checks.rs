//! What is looked for in recordings.

use super::Measured;
use super::column::Column;
use super::pooled::Pooled;
use super::warning::{Warning, WarningKind};
use crate::recording::{Logs, Recording};

/// Fewer rows than this are few.
const FEW_ROWS: usize = 100;
/// This part of the rows is many.
const MANY: f64 = 0.05;
/// Inputs with a correlation above this are copies.
const COPIES: f64 = 0.9999;
/// An input that varies by more than this factor between recordings has two units.
const UNITS: f64 = 100.0;
/// How far from 1 the norm of a quaternion may be: logs round to three digits.
const UNIT_NORM: f64 = 0.01;

/// A thing that was found: its kind, its column, where, and a remark.
type Finding = (WarningKind, Option<String>, String, String);
/// All findings of one kind in one column, with place and remark.
type Group = (WarningKind, Option<String>, Vec<(String, String)>);

/// What was found, gathered by kind and column.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, kind: WarningKind, column: Option<String>, place: &str, remark: String) {
        self.0.push((kind, column, place.to_owned(), remark));
    }

    /// One warning for each kind and column, in the order of kinds.
    pub(super) fn warnings(mut self) -> Vec<Warning> {
        self.0.sort_by_key(|finding| finding.0);
        let mut groups: Vec<Group> = Vec::new();
        for (kind, column, place, remark) in self.0 {
            let known = groups
                .iter_mut()
                .find(|group| group.0 == kind && group.1 == column);
            match known {
                Some((_, _, places)) => places.push((place, remark)),
                None => groups.push((kind, column, vec![(place, remark)])),
            }
        }
        groups
            .into_iter()
            .map(|(kind, column, places)| Warning::about(kind, column, places))
            .collect()
    }
}

/// Looks at one recording.
pub(super) fn recording(
    logs: &Logs,
    recording: &Recording,
    measured: &Measured,
    findings: &mut Findings,
) {
    let (rows, name) = (recording.rows(), recording.name.as_str());
    if rows < FEW_ROWS {
        findings.add(WarningKind::FewRows, None, name, format!("{rows} rows"));
    }
    for (input, column) in logs.inputs.iter().zip(&measured.inputs) {
        one_column(column, &format!("input {input}"), name, findings);
    }
    for (index, column) in measured.outputs.iter().enumerate() {
        let output = format!("output {}", recording.outputs[index]);
        one_column(column, &output, &recording.task_name(index), findings);
    }
    if let Some(clock) = &measured.clock {
        if clock.gaps > 0 {
            let remark = format!("{}, the longest {:.3}", clock.gaps, clock.longest);
            findings.add(WarningKind::Gaps, None, name, remark);
        }
        if is_many(clock.repeats, rows) {
            let remark = percent(clock.repeats, rows) + " of rows";
            findings.add(WarningKind::RepeatedTimes, None, name, remark);
        }
    }
    let repeated = repeated_rows(recording, logs.inputs.len());
    if is_many(repeated, rows) {
        let remark = percent(repeated, rows);
        findings.add(WarningKind::RepeatedRows, None, name, remark);
    }
    let off = if recording.flight.is_some() {
        odd_quaternions(logs, recording)
    } else {
        0
    };
    if off > 0 {
        let remark = format!("{off} of {rows} rows");
        findings.add(WarningKind::Quaternions, None, name, remark);
    }
}

fn one_column(column: &Column, subject: &str, place: &str, findings: &mut Findings) {
    let mut add = |kind, remark| findings.add(kind, Some(subject.to_owned()), place, remark);
    if column.is_constant() {
        if column.count > 1 {
            add(WarningKind::Constant, format!("at {}", column.min));
        }
        return;
    }
    if column.far > 0 {
        let remark = format!("{} of {} rows", column.far, column.count);
        add(WarningKind::Outliers, remark);
    }
    for (count, limit) in [(column.at_min, column.min), (column.at_max, column.max)] {
        if count > 1 && is_many(count, column.count) {
            let remark = format!("{} at {limit}", percent(count, column.count));
            add(WarningKind::Saturation, remark);
        }
    }
}

/// Looks for inputs whose unit differs between recordings.
pub(super) fn units(logs: &Logs, measured: &[Measured], findings: &mut Findings) {
    for (index, input) in logs.inputs.iter().enumerate() {
        let moving = || {
            let spreads = measured.iter().map(move |one| &one.inputs[index]);
            let named = logs.recordings.iter().zip(spreads);
            named.filter(|(_, column)| !column.is_constant())
        };
        let least = moving().min_by(|(_, a), (_, b)| a.std.total_cmp(&b.std));
        let Some((calm, least)) = least else {
            continue;
        };
        for (recording, column) in moving() {
            if column.std > UNITS * least.std {
                let factor = column.std / least.std;
                let remark = format!("{factor:.0} times as much as in {}", calm.name);
                let subject = Some(format!("input {input}"));
                findings.add(WarningKind::Units, subject, &recording.name, remark);
            }
        }
    }
}

/// Looks for inputs that say the same over all rows.
pub(super) fn copies(logs: &Logs, pooled: &Pooled, findings: &mut Findings) {
    for (second, name) in logs.inputs.iter().enumerate() {
        for (first, other) in logs.inputs[..second].iter().enumerate() {
            let correlation = pooled.correlation(first, second);
            if correlation.abs() > COPIES {
                let remark = format!("as {other}, correlation {correlation:.6}");
                let subject = Some(format!("input {name}"));
                findings.add(WarningKind::Copies, subject, "all recordings", remark);
            }
        }
    }
}

fn is_many(count: usize, rows: usize) -> bool {
    count > 0 && count as f64 >= MANY * rows as f64
}

fn percent(count: usize, rows: usize) -> String {
    format!("{:.0} %", 100.0 * count as f64 / rows.max(1) as f64)
}

/// How many rows hold the same bits as the row before.
fn repeated_rows(recording: &Recording, inputs: usize) -> usize {
    let same = |block: &[f64], width: usize, row: usize| {
        let (before, after) = (
            &block[(row - 1) * width..row * width],
            &block[row * width..],
        );
        let mut pairs = before.iter().zip(after);
        pairs.all(|(a, b)| a.to_bits() == b.to_bits())
    };
    (1..recording.rows())
        .filter(|&row| {
            same(&recording.x, inputs, row) && same(&recording.y, recording.outputs.len(), row)
        })
        .count()
}

/// How many rows have an attitude that is no rotation.
fn odd_quaternions(logs: &Logs, recording: &Recording) -> usize {
    let Some(first) = logs.inputs.iter().position(|input| input == "q_0") else {
        return 0;
    };
    let rows = recording.x.chunks_exact(logs.inputs.len());
    let norms = rows.filter_map(|row| {
        let parts = row.get(first..first + 4)?;
        Some(parts.iter().map(|part| part * part).sum::<f64>().sqrt())
    });
    norms.filter(|norm| (norm - 1.0).abs() > UNIT_NORM).count()
}
