//! Tasks that share task features, and what they have in common.
//!
//! Task `t` has the function `ψ(x)ᵀ θ_t` with `θ_t = M u_t + r_t`: what its features `u_t` say, and
//! what is its own. Entries of `M` and of `r` are normal with precisions that each group of features
//! has for each task feature and for the residuals; noise differs from task to task. `M` and all
//! `r_t` are found together: the residuals drop out task by task (a Schur complement), so the largest
//! system has one block for each task feature, not for each task. Precisions and noise come from the
//! marginal likelihood, by MacKay's fixed point.

mod fit;
#[cfg(test)]
mod tests;

use faer::{Mat, MatRef};

use self::fit::ComponentFit;
use super::row_weight;
use crate::data::Statistics;
use crate::error::Result;
use crate::linalg;
use serde::{Deserialize, Serialize};

/// Solutions on the way to precisions and noise.
const STEPS: usize = 12;

/// The rows of a task, by what a joint fit needs of them.
#[derive(Debug, Clone)]
pub(crate) struct Evidence {
    /// `u`: the features that the component's tasks share.
    pub(crate) shared: Vec<f64>,
    gram: Mat<f64>,
    moment: Vec<f64>,
    square: f64,
    rows: f64,
}

impl Evidence {
    /// The statistics of a task's rows on an output. Rows count less the more there are of them:
    /// `n` count as `n / (1 + n / effective_rows)`.
    pub(crate) fn new(
        shared: Vec<f64>,
        statistics: &Statistics,
        output: usize,
        effective_rows: f64,
    ) -> Self {
        let scale = row_weight(statistics.count(), effective_rows);
        let mut gram = statistics.gram_matrix();
        gram *= faer::Scale(scale);
        Self {
            shared,
            gram,
            moment: statistics
                .cross_moment(output)
                .iter()
                .map(|b| scale * b)
                .collect(),
            square: scale * statistics.sum_of_squares(output),
            rows: scale * statistics.count() as f64,
        }
    }

    /// Sum of squared residuals.
    fn residual(&self, coefficients: &[f64]) -> f64 {
        self.square - 2.0 * linalg::dot(coefficients, &self.moment)
            + linalg::quadratic(self.gram.as_ref(), coefficients)
    }
}

/// The posterior of a task's coefficients, given the rows of all related tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskCoefficientPosterior {
    /// The mean of the coefficients.
    pub mean: Vec<f64>,
    /// Their covariance.
    #[serde(with = "crate::linalg::serde_mat")]
    pub covariance: Mat<f64>,
}

/// What tasks that share task features have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Component {
    /// `M`, features × shared task features.
    #[serde(with = "crate::linalg::serde_mat")]
    means: Mat<f64>,
    /// The covariance of `M`, ordered task feature, then feature.
    #[serde(with = "crate::linalg::serde_mat")]
    covariance: Mat<f64>,
    /// For each shared task feature, then for the residuals: a precision for each group.
    pub(crate) precisions: Vec<Vec<f64>>,
    /// The group of each feature.
    pub(crate) groups: Vec<usize>,
    /// The noise variance, as tasks have it in the geometric mean.
    pub(crate) noise: f64,
    /// What is known of each task.
    pub(crate) tasks: Vec<TaskCoefficientPosterior>,
    /// Mean square of each feature over all rows.
    pub(crate) sizes: Vec<f64>,
}

impl Component {
    /// Fits the tasks of a component; `groups` has the group of each feature.
    pub(crate) fn fit(tasks: &[Evidence], groups: &[usize]) -> Result<Self> {
        let mut fit = ComponentFit::start(tasks, groups);
        let mut solution = fit.solve()?;
        for _ in 1..STEPS {
            fit.update(&solution);
            solution = fit.solve()?;
        }
        fit.finish(solution)
    }

    /// What is known of a task with such features before any of its rows: what its related tasks have
    /// in common.
    pub(crate) fn common(&self, shared: &[f64]) -> TaskCoefficientPosterior {
        TaskCoefficientPosterior {
            mean: linalg::apply(self.means.as_ref(), shared),
            covariance: spread(self.covariance.as_ref(), shared, self.groups.len()),
        }
    }

    /// Variances of the coefficients that are a task's own.
    pub(crate) fn own_variances(&self) -> Vec<f64> {
        let own = &self.precisions[self.precisions.len() - 1];
        self.groups.iter().map(|&group| 1.0 / own[group]).collect()
    }

    /// Variances of what a task feature does that no source task has: as much as the shared feature does that
    /// does most, a constant apart where there are others.
    pub(crate) fn feature_variances(&self) -> Vec<f64> {
        let shared = &self.precisions[..self.precisions.len() - 1];
        let varying = if shared.len() > 1 {
            &shared[1..]
        } else {
            shared
        };
        let variance = |group: usize| {
            let largest = varying.iter().map(|precisions| 1.0 / precisions[group]);
            largest.fold(0.0, f64::max)
        };
        self.groups.iter().map(|&group| variance(group)).collect()
    }

    /// Variances of coefficients that change labels by one in the mean square, each group of features by its
    /// equal share.
    pub(crate) fn free_variances(&self) -> Vec<f64> {
        let count = self.groups.iter().max().map_or(0, |last| last + 1);
        let mut members = vec![0.0; count];
        for (&group, &size) in self.groups.iter().zip(&self.sizes) {
            members[group] += f64::from(u8::from(size > 0.0));
        }
        let share = |(&group, &size): (&usize, &f64)| {
            if size > 0.0 {
                1.0 / (count as f64 * members[group] * size)
            } else {
                0.0
            }
        };
        self.groups.iter().zip(&self.sizes).map(share).collect()
    }

    /// `M`.
    pub(crate) fn means(&self) -> MatRef<'_, f64> {
        self.means.as_ref()
    }
}

/// `Σ_ij u_i u_j V_ij` over the blocks of a covariance.
fn spread(covariance: MatRef<'_, f64>, shared: &[f64], d: usize) -> Mat<f64> {
    let mut out = Mat::<f64>::zeros(d, d);
    for (j, v) in shared.iter().enumerate() {
        for (i, u) in shared.iter().enumerate() {
            out += faer::Scale(u * v) * covariance.submatrix(i * d, j * d, d, d);
        }
    }
    out
}
