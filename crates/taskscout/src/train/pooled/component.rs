//! Tasks that share task features, and what they have in common.
//!
//! Task `t` has the function `ψ(x)ᵀ θ_t` with `θ_t = M u_t + r_t`: what its features `u_t` say, and
//! what is its own. Entries of `M` and of `r` are normal with precisions that each group of features
//! has for each task feature and for the residuals; noise differs from task to task. `M` and all
//! `r_t` are found together: the residuals drop out task by task (a Schur complement), so the largest
//! system has one block for each task feature, not for each task. Precisions and noise come from the
//! marginal likelihood, by MacKay's fixed point.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::data::Statistics;
use crate::error::Result;
use crate::linalg;

/// Steps towards precisions and noise.
const STEPS: usize = 12;
/// Rows that the common noise level counts for in each task's own.
const NOISE_ROWS: f64 = 4.0;
/// Coefficients that a precision's last value counts for in its next.
const INERTIA: f64 = 1e-2;

/// The rows of a task, by what a joint fit needs of them.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    /// `u`: the features that the component's tasks share.
    pub(super) shared: Vec<f64>,
    gram: Mat<f64>,
    moment: Vec<f64>,
    square: f64,
    rows: f64,
}

impl Evidence {
    /// The statistics of a task's rows on an output. Rows count less the more there are of them:
    /// `n` are worth `n / (1 + n / worth)`.
    pub(super) fn new(
        shared: Vec<f64>,
        statistics: &Statistics,
        output: usize,
        worth: f64,
    ) -> Self {
        let scale = 1.0 / (1.0 + statistics.count() as f64 / worth);
        let mut gram = statistics.gram_matrix();
        gram *= faer::Scale(scale);
        Self {
            shared,
            gram,
            moment: statistics
                .moment(output)
                .iter()
                .map(|b| scale * b)
                .collect(),
            square: scale * statistics.square(output),
            rows: scale * statistics.count() as f64,
        }
    }

    /// Sum of squared residuals.
    fn residual(&self, coefficients: &[f64]) -> f64 {
        self.square - 2.0 * linalg::dot(coefficients, &self.moment)
            + linalg::quadratic(self.gram.as_ref(), coefficients)
    }
}

/// What is known of a function: its coefficients, and how well they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    /// The mean of the coefficients.
    pub mean: Vec<f64>,
    /// Their covariance.
    pub covariance: Mat<f64>,
}

/// What tasks that share task features have in common.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Component {
    /// `M`, features × shared task features.
    means: Mat<f64>,
    /// The covariance of `M`, ordered task feature, then feature.
    covariance: Mat<f64>,
    /// For each shared task feature, then for the residuals: a precision for each group.
    pub(super) precisions: Vec<Vec<f64>>,
    /// The group of each feature.
    pub(super) groups: Vec<usize>,
    /// The noise variance, as tasks have it in the geometric mean.
    pub(super) noise: f64,
    /// What is known of each task.
    pub(super) tasks: Vec<Posterior>,
    /// Mean square of each feature over all rows.
    pub(super) sizes: Vec<f64>,
}

impl Component {
    /// Fits the tasks of a component; `groups` has the group of each feature.
    pub(super) fn fit(tasks: &[Evidence], groups: &[usize]) -> Result<Self> {
        let mut fit = Fit::start(tasks, groups);
        for _ in 0..STEPS {
            fit.step()?;
        }
        Ok(fit.finish())
    }

    /// What is known of a task with such features before any of its rows: what its kin have in
    /// common.
    pub(super) fn common(&self, shared: &[f64]) -> Posterior {
        Posterior {
            mean: linalg::apply(self.means.as_ref(), shared),
            covariance: spread(self.covariance.as_ref(), shared, self.groups.len()),
        }
    }

    /// Variances of the coefficients that are a task's own.
    pub(super) fn own_variances(&self) -> Vec<f64> {
        let own = &self.precisions[self.precisions.len() - 1];
        self.groups.iter().map(|&group| 1.0 / own[group]).collect()
    }

    /// `M`.
    pub(super) fn means(&self) -> MatRef<'_, f64> {
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

/// A fit under way.
struct Fit<'a> {
    tasks: &'a [Evidence],
    groups: &'a [usize],
    precisions: Vec<Vec<f64>>,
    noises: Vec<f64>,
    means: Mat<f64>,
    covariance: Mat<f64>,
    posteriors: Vec<Posterior>,
}

/// What a task contributes to the equations of `M`.
struct Reduced {
    /// Covariance of the task's residual, given `M`.
    open: Mat<f64>,
    /// The Schur complement of its Gram matrix.
    gram: Mat<f64>,
    moment: Vec<f64>,
}

/// What a step tells of a task.
struct Outcome {
    posterior: Posterior,
    own: Vec<f64>,
    own_variances: Vec<f64>,
    noise: f64,
}

impl<'a> Fit<'a> {
    fn start(tasks: &'a [Evidence], groups: &'a [usize]) -> Self {
        let (d, q) = (
            groups.len(),
            tasks.first().map_or(0, |task| task.shared.len()),
        );
        let rows: f64 = tasks.iter().map(|task| task.rows).sum();
        let square: f64 = tasks.iter().map(|task| task.square).sum();
        let level = (square / rows.max(f64::MIN_POSITIVE)).max(f64::MIN_POSITIVE);
        let count = groups.iter().max().map_or(0, |last| last + 1);
        // The first task feature is taken to say most, the residuals least.
        let first = |index: usize| match index {
            0 => 1.0,
            index if index < q => 4.0,
            _ => 10.0,
        };
        Self {
            tasks,
            groups,
            precisions: (0..=q).map(|j| vec![first(j) / level; count]).collect(),
            noises: vec![0.3 * level; tasks.len()],
            means: Mat::zeros(d, q),
            covariance: Mat::zeros(0, 0),
            posteriors: Vec::new(),
        }
    }

    /// Precisions of the features, for a shared task feature or the residuals.
    fn diagonal(&self, index: usize) -> Vec<f64> {
        self.groups
            .iter()
            .map(|&group| self.precisions[index][group])
            .collect()
    }

    fn step(&mut self) -> Result<()> {
        let (d, q) = (self.groups.len(), self.means.ncols());
        let own = self.diagonal(q);
        let reduced: Vec<Reduced> = self
            .tasks
            .par_iter()
            .zip(&self.noises)
            .map(|(task, &noise)| reduce(task, noise, &own))
            .collect::<Result<_>>()?;
        let (mut matrix, mut rhs) = (Mat::<f64>::zeros(q * d, q * d), Mat::zeros(q * d, 1));
        for (task, reduced) in self.tasks.iter().zip(&reduced) {
            for (j, v) in task.shared.iter().enumerate() {
                for (i, u) in task.shared.iter().enumerate() {
                    let mut block = matrix.as_mut().submatrix_mut(i * d, j * d, d, d);
                    block += faer::Scale(u * v) * &reduced.gram;
                }
                (0..d).for_each(|a| rhs[(j * d + a, 0)] += v * reduced.moment[a]);
            }
        }
        for j in 0..q {
            for (a, precision) in self.diagonal(j).into_iter().enumerate() {
                matrix[(j * d + a, j * d + a)] += precision;
            }
        }
        let factor = linalg::cholesky(matrix.as_ref(), "the equations of tasks that are kin")?;
        self.covariance = factor.solve(Mat::identity(q * d, q * d).as_ref());
        let flat = linalg::product(self.covariance.as_ref(), rhs.as_ref());
        self.means = Mat::from_fn(d, q, |a, j| flat[(j * d + a, 0)]);
        let usual = geometric_mean(&self.noises);
        let outcomes: Vec<Outcome> = (0..self.tasks.len())
            .into_par_iter()
            .map(|index| self.outcome(index, &reduced[index], &own, usual))
            .collect();
        self.update(&outcomes);
        self.posteriors = outcomes
            .into_iter()
            .map(|outcome| outcome.posterior)
            .collect();
        Ok(())
    }

    /// What is known of a task, given the equations' solution.
    fn outcome(&self, index: usize, reduced: &Reduced, own: &[f64], usual: f64) -> Outcome {
        let (task, noise, d) = (&self.tasks[index], self.noises[index], self.groups.len());
        let common = linalg::apply(self.means.as_ref(), &task.shared);
        let fitted = linalg::apply(task.gram.as_ref(), &common);
        let left: Vec<f64> = task
            .moment
            .iter()
            .zip(&fitted)
            .map(|(b, f)| (b - f) / noise)
            .collect();
        let residual = linalg::apply(reduced.open.as_ref(), &left);
        let mean: Vec<f64> = common.iter().zip(&residual).map(|(m, r)| m + r).collect();
        // With P the residual's covariance given M and L its precisions, θ is P L M u plus what
        // rows say, so M's doubt enters through P L, and the residual's through 1 − P L.
        let shared = spread(self.covariance.as_ref(), &task.shared, d);
        let kept = Mat::from_fn(d, d, |a, b| reduced.open[(a, b)] * own[b]);
        let half = linalg::product(kept.as_ref(), shared.as_ref());
        let covariance = &reduced.open + linalg::product(half.as_ref(), kept.transpose());
        let lost = Mat::from_fn(d, d, |a, b| f64::from(u8::from(a == b)) - kept[(a, b)]);
        let half = linalg::product(lost.as_ref(), shared.as_ref());
        let own_variances = (0..d)
            .map(|a| {
                reduced.open[(a, a)] + (0..d).map(|b| half[(a, b)] * lost[(a, b)]).sum::<f64>()
            })
            .collect();
        let freedom = linalg::inner(task.gram.as_ref(), covariance.as_ref()) / noise;
        let free = (task.rows - freedom).max(0.0) + NOISE_ROWS;
        let squares = task.residual(&mean).max(0.0) + NOISE_ROWS * usual;
        Outcome {
            posterior: Posterior { mean, covariance },
            own: residual,
            own_variances,
            noise: (squares / free.max(0.05 * task.rows)).max(1e-12 * usual),
        }
    }

    /// Moves precisions and noise: with `γ` effective coefficients of squared length `s`, the
    /// precision becomes `γ / s`.
    fn update(&mut self, outcomes: &[Outcome]) {
        let (d, q) = (self.groups.len(), self.means.ncols());
        let count = self.precisions[0].len();
        let mut freedom = vec![vec![0.0; count]; q + 1];
        let mut squares = freedom.clone();
        for j in 0..q {
            for (a, &group) in self.groups.iter().enumerate() {
                let variance = self.covariance[(j * d + a, j * d + a)];
                freedom[j][group] += 1.0 - self.precisions[j][group] * variance;
                squares[j][group] += self.means[(a, j)].powi(2);
            }
        }
        for outcome in outcomes {
            for (a, &group) in self.groups.iter().enumerate() {
                let variance = outcome.own_variances[a];
                freedom[q][group] += 1.0 - self.precisions[q][group] * variance;
                squares[q][group] += outcome.own[a].powi(2);
            }
        }
        for (index, precisions) in self.precisions.iter_mut().enumerate() {
            for (group, precision) in precisions.iter_mut().enumerate() {
                let wanted = (freedom[index][group].max(0.0) + INERTIA)
                    / (squares[index][group] + INERTIA / *precision);
                *precision = wanted.clamp(1e-3 * *precision, 1e3 * *precision);
            }
        }
        self.noises = outcomes.iter().map(|outcome| outcome.noise).collect();
    }

    fn finish(self) -> Component {
        let d = self.groups.len();
        let rows: f64 = self.tasks.iter().map(|task| task.rows).sum();
        let size = |a: usize| -> f64 {
            self.tasks.iter().map(|task| task.gram[(a, a)]).sum::<f64>() / rows
        };
        Component {
            sizes: (0..d).map(size).collect(),
            noise: geometric_mean(&self.noises),
            means: self.means,
            covariance: self.covariance,
            precisions: self.precisions,
            groups: self.groups.to_vec(),
            tasks: self.posteriors,
        }
    }
}

/// Takes a task's residual out of its equations. With `A = G/σ²`, `L` the residual's precisions and
/// `P = (A + L)⁻¹`, the Schur complement `A − A P A` is `A P L`, which subtracts nothing.
fn reduce(task: &Evidence, noise: f64, own: &[f64]) -> Result<Reduced> {
    let d = own.len();
    let mut matrix = task.gram.clone();
    matrix *= faer::Scale(1.0 / noise);
    (0..d).for_each(|a| matrix[(a, a)] += own[a]);
    let factor = linalg::cholesky(matrix.as_ref(), "the equations of a task's own part")?;
    let open = factor.solve(Mat::identity(d, d).as_ref());
    let half = linalg::product(task.gram.as_ref(), open.as_ref());
    let entry = |a: usize, b: usize| half[(a, b)] * own[b] / noise;
    let gram = Mat::from_fn(d, d, |a, b| 0.5 * (entry(a, b) + entry(b, a)));
    let moment = linalg::apply(open.as_ref(), &task.moment)
        .iter()
        .zip(own)
        .map(|(b, precision)| precision * b / noise)
        .collect();
    Ok(Reduced { open, gram, moment })
}

fn geometric_mean(values: &[f64]) -> f64 {
    let logs: f64 = values.iter().map(|value| value.max(1e-300).ln()).sum();
    (logs / values.len().max(1) as f64).exp()
}
