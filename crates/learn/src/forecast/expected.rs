//! What inputs look like: the Gram matrices that are expected of rows to come.
//!
//! Rows of a task that has given some look like these. Where inputs depend on the task, as on trajectories of a robot, rows of a
//! task that has given none look like those of the tasks that are most like it: a mean over all tasks would have them in places
//! where no single task goes, and would promise to show what no task shows.

use std::collections::HashMap;

use faer::Mat;

use super::PlannedRows;
use super::information::NO_INPUT;
use super::seen::Seen;
use crate::data::{FoldSelection, Statistics, TaskData};
use crate::error::{Error, Result};
use crate::linalg::{self, packed};
use crate::task::TaskId;

/// Rows for each feature that a task without rows borrows from the tasks most like it.
const BORROWED: usize = 10;

/// What inputs look like: Gram matrices of a row to come.
#[derive(Debug)]
pub(super) struct Expected {
    /// A row of any task or target.
    all: Vec<f64>,
    tasks: HashMap<TaskId, Statistics>,
    /// The tasks that have given rows, with their features.
    visited: Vec<(TaskId, Vec<f64>)>,
    /// How much each task feature varies among them.
    scales: Vec<f64>,
    targets: Vec<Statistics>,
    dim: usize,
    outputs: usize,
}

impl Expected {
    pub(super) fn of(data: &TaskData) -> Result<Self> {
        let (dim, outputs) = (data.feature_dim(), data.outputs());
        let mut total = Statistics::new(dim, outputs);
        let mut tasks: HashMap<TaskId, Statistics> = HashMap::new();
        let mut visited: Vec<(TaskId, Vec<f64>)> = Vec::new();
        for entry in data.sources() {
            total.merge(&entry.statistics)?;
            let known = tasks.entry(entry.task.id.clone());
            let known = known.or_insert_with(|| {
                visited.push((entry.task.id.clone(), entry.features.clone()));
                Statistics::new(dim, outputs)
            });
            known.merge(&entry.statistics)?;
        }
        let mut targets = Vec::new();
        for index in 0..data.targets().len() {
            let rows = data.target_statistics(index, FoldSelection::All)?;
            total.merge(&rows)?;
            targets.push(rows);
        }
        let n = total.count().max(1) as f64;
        let all = total.gram().iter().map(|value| value / n).collect();
        Ok(Self {
            scales: spreads(&visited),
            all,
            tasks,
            visited,
            targets,
            dim,
            outputs,
        })
    }

    /// The Gram matrix of `n` rows like some that came: theirs, with as many rows of all tasks as there are features.
    fn gram(&self, like: Option<&Statistics>, n: f64) -> Vec<f64> {
        let Some(like) = like else {
            return self.all.iter().map(|value| value * n).collect();
        };
        let prior = self.dim as f64;
        let scale = n / (like.count() as f64 + prior);
        let pairs = like.gram().iter().zip(&self.all);
        pairs
            .map(|(own, all)| scale * (own + prior * all))
            .collect()
    }

    /// Rows that those of a task are taken to look like: its own, or those of the tasks most like it.
    fn like(&self, id: &TaskId, features: &[f64]) -> Result<Statistics> {
        if let Some(own) = self.tasks.get(id) {
            return Ok(own.clone());
        }
        let mut near: Vec<(f64, &TaskId)> = self
            .visited
            .iter()
            .map(|(known, place)| (self.distance(features, place), known))
            .collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut borrowed = Statistics::new(self.dim, self.outputs);
        for (_, known) in near {
            if borrowed.count() >= BORROWED * self.dim {
                break;
            }
            if let Some(rows) = self.tasks.get(known) {
                borrowed.merge(rows)?;
            }
        }
        Ok(borrowed)
    }

    /// How many times as many rows of a target there would be with some more, of those that look like its own.
    pub(super) fn growth(&self, target: usize, further: &PlannedRows) -> f64 {
        let own = self.targets.get(target).map_or(0, Statistics::count) as f64;
        let more = further.targets.iter().filter(|(one, _)| *one == target);
        let more: usize = more.map(|(_, n)| n).sum();
        1.0 + more as f64 / (own + self.dim as f64)
    }

    /// How far apart two tasks are, each feature in units of how much it varies.
    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let pairs = a.iter().zip(b).zip(&self.scales);
        pairs.map(|((a, b), scale)| ((a - b) / scale).powi(2)).sum()
    }

    /// Rows to come as the statistics that are expected of them, with their task features.
    pub(super) fn rows(
        &self,
        seen: &Seen,
        further: &PlannedRows,
    ) -> Result<Vec<(Statistics, Vec<f64>)>> {
        let statistics = |like: Option<&Statistics>, n: usize| {
            Statistics::of_gram(self.dim, self.outputs, n, self.gram(like, n as f64))
        };
        let mut rows = Vec::new();
        for (id, features, n) in &further.sources {
            Error::check_length("the task's features", seen.task_dim(), features.len())?;
            let like = self.like(id, features)?;
            rows.push((statistics(Some(&like), *n), features.clone()));
        }
        for &(target, n) in &further.targets {
            let Some(known) = seen.data().targets().get(target) else {
                return Err(Error::State(format!(
                    "there is no target {target}: this study has {}",
                    seen.data().targets().len()
                )));
            };
            let features = known.features.clone();
            rows.push((statistics(self.targets.get(target), n), features));
        }
        rows.retain(|(statistics, _)| statistics.count() > 0);
        Ok(rows)
    }

    /// A root `R` of the second moment `S = R Rᵀ` of a target's inputs.
    pub(super) fn input_root(&self, target: usize) -> Result<Mat<f64>> {
        match self.targets.get(target) {
            Some(own) => self.root_like(target, own),
            None => self.root(&self.all),
        }
    }

    /// The same of inputs like some of the target's rows. With few rows for each feature inputs of all tasks count too, with
    /// many they do not: where the target never is, nobody asks for its function.
    pub(super) fn root_like(&self, target: usize, rows: &Statistics) -> Result<Mat<f64>> {
        let (own, dim) = (self.targets.get(target), self.dim as f64);
        let own = own.map_or(0, Statistics::count) as f64;
        let prior = dim * dim / (own + dim);
        let share = prior / (own + prior);
        let count = rows.count().max(1) as f64;
        let pairs = rows.gram().iter().zip(&self.all);
        let moment: Vec<f64> = pairs
            .map(|(one, all)| (1.0 - share) * one / count + share * all)
            .collect();
        self.root(&moment)
    }

    fn root(&self, moment: &[f64]) -> Result<Mat<f64>> {
        let moment = packed::unpack(moment, self.dim);
        let (values, vectors) = linalg::eigen(moment.as_ref(), "the second moment of inputs")?;
        let floor = NO_INPUT * values.first().copied().unwrap_or(0.0);
        let rank = values.iter().filter(|value| **value > floor).count();
        Ok(Mat::from_fn(self.dim, rank, |i, j| {
            vectors[(i, j)] * values[j].sqrt()
        }))
    }
}

/// The standard deviation of each task feature; one where it does not vary.
fn spreads(tasks: &[(TaskId, Vec<f64>)]) -> Vec<f64> {
    let width = tasks.first().map_or(0, |(_, features)| features.len());
    let count = tasks.len().max(1) as f64;
    let of_feature = |index: usize| {
        let values = || tasks.iter().map(|(_, features)| features[index]);
        let mean = values().sum::<f64>() / count;
        let square = values().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        Some(square.sqrt())
            .filter(|spread| *spread > 0.0)
            .unwrap_or(1.0)
    };
    (0..width).map(of_feature).collect()
}
