//! What is known of recordings as tasks.

use serde::{Deserialize, Serialize};
use taskscout::error::{Error, Result};
use taskscout::features::FeatureMap;

use super::train_rows;
use crate::recording::Logs;

/// Metres a second that count as one in task features, to keep their powers near one.
const WIND_UNIT: f64 = 10.0;
/// Highest power of the wind.
const WIND_DEGREE: u32 = 2;

/// What is known of a task beside its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskKnowledge {
    /// Its vehicle, its axis and, up to a square, the wind: one-hot ⊗ polynomial of the wind.
    #[default]
    Wind,
    /// Nothing but which one it is: one-hot.
    OneHot,
}

/// A recording's output as a task.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedTask {
    /// Its name.
    pub name: String,
    /// Its vehicle; empty if unknown.
    pub vehicle: String,
    /// Its output.
    pub axis: String,
    /// The mean wind in metres a second, where it is known.
    pub wind: Option<f64>,
    /// Rows that may be learnt from.
    pub rows: usize,
    pub(super) recording: usize,
    pub(super) output: usize,
    /// Its parameters `w`.
    pub(super) vector: Vec<f64>,
}

impl RecordedTask {
    /// Its parameters `w`.
    #[must_use]
    pub fn vector(&self) -> &[f64] {
        &self.vector
    }
}

impl TaskKnowledge {
    /// Gives tasks their parameters, and returns their features.
    pub(super) fn describe(self, tasks: &mut [RecordedTask]) -> Result<FeatureMap> {
        match self {
            Self::OneHot => one_hot(tasks),
            Self::Wind => winds(tasks),
        }
    }
}

fn one_hot(tasks: &mut [RecordedTask]) -> Result<FeatureMap> {
    let count = tasks.len();
    for (index, task) in tasks.iter_mut().enumerate() {
        task.vector = (0..count)
            .map(|i| f64::from(u8::from(i == index)))
            .collect();
    }
    FeatureMap::identity(count)
}

/// The tasks of all recordings, without parameters yet.
pub(super) fn plain(logs: &Logs, share: f64) -> Result<Vec<RecordedTask>> {
    let mut tasks = Vec::new();
    for (index, recording) in logs.recordings.iter().enumerate() {
        let rows = train_rows(recording, share);
        if rows < 2 || recording.rows() - rows < 2 {
            return Err(Error::State(format!(
                "{} has {} rows, too few to keep some of them as test rows: remove this recording, or record more rows",
                recording.name,
                recording.rows()
            )));
        }
        for (output, axis) in recording.outputs.iter().enumerate() {
            let flight = recording.flight.as_ref();
            tasks.push(RecordedTask {
                name: recording.task_name(output),
                vehicle: flight.map(|name| name.vehicle.clone()).unwrap_or_default(),
                axis: axis.clone(),
                wind: recording.wind.map(|wind| wind.mean_m_s),
                rows,
                recording: index,
                output,
                vector: Vec::new(),
            });
        }
    }
    Ok(tasks)
}

/// Gives tasks their parameters, `(one-hot of vehicle and axis, wind)`, and returns their
/// features: for each vehicle and axis the powers of the wind, as far as its recordings tell them
/// apart.
fn winds(tasks: &mut [RecordedTask]) -> Result<FeatureMap> {
    let mut groups: Vec<(String, String)> = Vec::new();
    for task in tasks.iter() {
        let key = (task.vehicle.clone(), task.axis.clone());
        if !groups.contains(&key) {
            groups.push(key);
        }
    }
    let parameters = groups.len() + 1;
    let mut exponents = Vec::new();
    for (group, (vehicle, axis)) in groups.iter().enumerate() {
        let members = || {
            tasks
                .iter()
                .filter(|task| (&task.vehicle, &task.axis) == (vehicle, axis))
        };
        let mut speeds: Vec<f64> = members().filter_map(|task| task.wind).collect();
        let known = speeds.len() == members().count();
        speeds.sort_by(f64::total_cmp);
        speeds.dedup();
        let degree = if known {
            WIND_DEGREE.min(speeds.len().saturating_sub(1) as u32)
        } else {
            0
        };
        for power in 0..=degree {
            let mut row = vec![0; parameters];
            row[group] = 1;
            row[groups.len()] = power;
            exponents.push(row);
        }
    }
    for task in tasks.iter_mut() {
        let mut vector = vec![0.0; parameters];
        let own = |key: &(String, String)| (&key.0, &key.1) == (&task.vehicle, &task.axis);
        if let Some(group) = groups.iter().position(own) {
            vector[group] = 1.0;
        }
        vector[groups.len()] = task.wind.unwrap_or(0.0) / WIND_UNIT;
        task.vector = vector;
    }
    FeatureMap::monomials(parameters, exponents)
}
