//! Standardised inputs, and outputs near zero.
//!
//! Inputs of a vehicle are centred and scaled, outputs have a large offset taken off: a learner works
//! on squares, in which 10⁶ ± 1 would keep four digits of sixteen. Predictors are in these units;
//! what is said of them, and saved models, are in those of the logs.

use std::collections::BTreeMap;

use taskscout::data::ColumnMoments;

use super::tasks::RecordedTask;
use super::train_rows;
use crate::recording::{Logs, Recording};

/// Spreads that a task may lie from the others before sums of squares keep four digits of it.
const FARTHEST: f64 = 1e6;

/// Mean and scale of the inputs of a vehicle.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// What is subtracted.
    pub mean: Vec<f64>,
    /// What is then divided by.
    pub scale: Vec<f64>,
}

impl Scaling {
    pub(super) fn push(&self, row: &[f64], out: &mut Vec<f64>) {
        let standard = row.iter().zip(&self.mean).zip(&self.scale);
        out.extend(standard.map(|((x, mean), scale)| (x - mean) / scale));
    }
}

/// How values become those that a learner sees, and what precision cannot tell of them.
#[derive(Debug)]
pub(super) struct Scalings {
    /// By recording.
    pub(super) inputs: Vec<Scaling>,
    /// What is taken off the output of each task.
    pub(super) offsets: Vec<f64>,
    /// ColumnMoments that hardly vary beside their size.
    pub(super) warnings: Vec<String>,
}

fn vehicle(recording: &Recording) -> Option<&str> {
    recording
        .flight
        .as_ref()
        .map(|flight| flight.vehicle.as_str())
}

/// From what may be learnt from: inputs of each vehicle, outputs of each vehicle and axis.
pub(super) fn scalings(
    logs: &Logs,
    share: f64,
    tasks: &[RecordedTask],
    targets: &[usize],
) -> Scalings {
    let (mut vehicles, mut warnings) = (BTreeMap::new(), Vec::new());
    for recording in &logs.recordings {
        let own = vehicle(recording);
        vehicles
            .entry(own)
            .or_insert_with(|| inputs(logs, share, own, &mut warnings));
    }
    let of = |recording: &Recording| vehicles[&vehicle(recording)].clone();
    Scalings {
        inputs: logs.recordings.iter().map(of).collect(),
        offsets: offsets(logs, tasks, targets, &mut warnings),
        warnings,
    }
}

/// Mean and standard deviation of a vehicle's inputs.
fn inputs(logs: &Logs, share: f64, own: Option<&str>, warnings: &mut Vec<String>) -> Scaling {
    let p = logs.inputs.len();
    let columns = ColumnMoments::of(p, || {
        let recordings = logs.recordings.iter();
        let same = recordings.filter(|recording| vehicle(recording) == own);
        same.flat_map(|recording| {
            recording
                .x
                .chunks_exact(p)
                .take(train_rows(recording, share))
        })
    });
    for (column, name) in logs.inputs.iter().enumerate() {
        let whose = own.map_or_else(String::new, |own| format!(" of {own}"));
        warnings.extend(columns.warning(column, &format!("input `{name}`{whose}")));
    }
    Scaling {
        scale: (0..p).map(|column| columns.scale(column)).collect(),
        mean: columns.mean().to_vec(),
    }
}

/// What is taken off the output of each task: that of the tasks of its vehicle and axis. Targets count
/// only where there is nothing else to go by, because a learner has few of their rows.
fn offsets(
    logs: &Logs,
    tasks: &[RecordedTask],
    targets: &[usize],
    warnings: &mut Vec<String>,
) -> Vec<f64> {
    let mut found: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    let own = |task: &'_ RecordedTask| (task.vehicle.clone(), task.axis.clone());
    for task in tasks {
        let key = (task.vehicle.as_str(), task.axis.as_str());
        if found.contains_key(&key) {
            continue;
        }
        let all = || tasks.iter().enumerate();
        let axis: Vec<usize> = all()
            .filter(|(_, other)| other.axis == task.axis)
            .map(|(index, _)| index)
            .collect();
        let same = |index: &&usize| own(&tasks[**index]) == own(task);
        let source = |index: &&usize| !targets.contains(*index);
        let choices: [Vec<usize>; 3] = [
            axis.iter().filter(same).filter(source).copied().collect(),
            axis.iter().filter(source).copied().collect(),
            axis.clone(),
        ];
        let used = choices.iter().find(|some| !some.is_empty());
        let columns = output(logs, tasks, used.unwrap_or(&axis));
        let whose = match task.vehicle.as_str() {
            "" => String::new(),
            vehicle => format!(" of {vehicle}"),
        };
        let name = format!("output `{}`{whose}", task.axis);
        warnings.extend(columns.warning(0, &name));
        found.insert(key, columns.offset(0));
    }
    let of = |task: &RecordedTask| found[&(task.vehicle.as_str(), task.axis.as_str())];
    let offsets: Vec<f64> = tasks.iter().map(of).collect();
    warnings.extend(far_from_others(logs, tasks, &offsets));
    offsets
}

/// Says which task is so far from the others that precision is lost on it, if one is.
fn far_from_others(logs: &Logs, tasks: &[RecordedTask], offsets: &[f64]) -> Option<String> {
    tasks.iter().enumerate().find_map(|(index, task)| {
        let own = output(logs, tasks, &[index]);
        let (distance, spread) = (own.mean()[0] - offsets[index], own.deviation()[0]);
        let far = !own.is_constant(0) && distance.abs() > FARTHEST * spread;
        far.then(|| {
            format!(
                "output `{}` of {} lies {distance:.1e} from that of the other recordings and varies by only {spread:.1e}, so few digits of its variation are kept: subtract each recording's own offset first",
                task.axis, task.name
            )
        })
    })
}

/// The outputs of some tasks as one column.
fn output(logs: &Logs, tasks: &[RecordedTask], used: &[usize]) -> ColumnMoments {
    ColumnMoments::of(1, || {
        used.iter().flat_map(|&index| {
            let task = &tasks[index];
            let recording = &logs.recordings[task.recording];
            let rows = recording.y.chunks_exact(recording.outputs.len());
            rows.take(task.rows)
                .map(|row| std::slice::from_ref(&row[task.output]))
        })
    })
}
