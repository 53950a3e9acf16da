//! Equations of related tasks, and the way to their precisions and noise.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::{Component, Evidence, TaskCoefficientPosterior, spread};
use crate::error::Result;
use crate::hierarchy::level;
use crate::linalg;

/// Rows that the common noise level counts for in each task's own.
const NOISE_ROWS: f64 = 4.0;
/// Coefficients that a precision's last value counts for in its next.
const INERTIA: f64 = 1e-2;
/// Part of the labels' mean square that the noise variance is at least: labels without noise would
/// else leave equations that features which hang together make singular.
const LEAST_NOISE: f64 = 1e-10;

/// Coefficients that a residual scale of one counts for in each task's own.
const RESIDUAL_SCALE_INERTIA: f64 = 6.0;
/// Range of the residual scales.
const RESIDUAL_SCALE_RANGE: (f64, f64) = (0.05, 100.0);

/// A fit under way.
pub(super) struct ComponentFit<'a> {
    tasks: &'a [Evidence],
    groups: &'a [usize],
    /// For each shared task feature, then for the residuals: a precision for each group.
    pub(super) precisions: Vec<Vec<f64>>,
    /// Noise variances of the tasks.
    pub(super) noises: Vec<f64>,
    /// Residual scales: factors of the residuals' variances, task by task, so that one task that is not
    /// like the others does not widen the residuals of all.
    pub(super) residual_scales: Vec<f64>,
    /// Mean square of the labels.
    level: f64,
}

/// What precisions and noise make of the rows.
pub(super) struct ComponentSolution {
    /// `M`.
    means: Mat<f64>,
    /// Its covariance, ordered task feature, then feature.
    covariance: Mat<f64>,
    outcomes: Vec<Outcome>,
}

/// What a task contributes to the equations of `M`.
struct ReducedTask {
    /// Covariance of the task's residual, given `M`.
    open: Mat<f64>,
    /// The Schur complement of its Gram matrix.
    gram: Mat<f64>,
    moment: Vec<f64>,
}

/// What a solution says of a task: no matrix, of which many tasks would hold too many.
struct Outcome {
    /// The mean of its coefficients.
    mean: Vec<f64>,
    own: Vec<f64>,
    own_variances: Vec<f64>,
    /// Sum of squared residuals.
    squares: f64,
    /// Rows that no coefficient takes.
    free: f64,
}

impl<'a> ComponentFit<'a> {
    pub(super) fn start(tasks: &'a [Evidence], groups: &'a [usize]) -> Self {
        let q = tasks.first().map_or(0, |task| task.shared.len());
        let rows: f64 = tasks.iter().map(|task| task.rows).sum();
        let square: f64 = tasks.iter().map(|task| task.square).sum();
        let level = level(square, rows);
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
            residual_scales: vec![1.0; tasks.len()],
            level,
        }
    }

    /// Number of shared task features.
    fn shared(&self) -> usize {
        self.precisions.len() - 1
    }

    /// Precisions of the features, for a shared task feature or the residuals.
    fn diagonal(&self, index: usize) -> Vec<f64> {
        self.groups
            .iter()
            .map(|&group| self.precisions[index][group])
            .collect()
    }

    /// Precisions of a task's residual.
    fn own(&self, task: usize) -> Vec<f64> {
        let usual = self.diagonal(self.shared()).into_iter();
        usual
            .map(|precision| precision / self.residual_scales[task])
            .collect()
    }

    /// `M` and all residuals, for the precisions and the noise as they are.
    pub(super) fn solve(&self) -> Result<ComponentSolution> {
        let (d, q) = (self.groups.len(), self.shared());
        let reduced: Vec<ReducedTask> = (0..self.tasks.len())
            .into_par_iter()
            .map(|index| reduce(&self.tasks[index], self.noises[index], &self.own(index)))
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
        let factor = linalg::cholesky(matrix.as_ref(), "the equations of related tasks")?;
        let covariance = factor.solve(Mat::identity(q * d, q * d).as_ref());
        let flat = linalg::product(covariance.as_ref(), rhs.as_ref());
        let means = Mat::from_fn(d, q, |a, j| flat[(j * d + a, 0)]);
        let outcomes = (0..self.tasks.len())
            .into_par_iter()
            .zip(reduced)
            .map(|(index, reduced)| self.outcome(index, reduced, (&means, &covariance)))
            .collect();
        Ok(ComponentSolution {
            means,
            covariance,
            outcomes,
        })
    }

    /// What is known of a task, given the equations' solution.
    fn outcome(
        &self,
        index: usize,
        reduced: ReducedTask,
        (means, covariance): (&Mat<f64>, &Mat<f64>),
    ) -> Outcome {
        let (task, noise, d) = (&self.tasks[index], self.noises[index], self.groups.len());
        let own = self.own(index);
        let common = linalg::apply(means.as_ref(), &task.shared);
        let fitted = linalg::apply(task.gram.as_ref(), &common);
        let left: Vec<f64> = task
            .moment
            .iter()
            .zip(&fitted)
            .map(|(b, f)| (b - f) / noise)
            .collect();
        let residual = linalg::apply(reduced.open.as_ref(), &left);
        let mean: Vec<f64> = common.iter().zip(&residual).map(|(m, r)| m + r).collect();
        let ReducedTask { open, gram, .. } = reduced;
        let shared = spread(covariance.as_ref(), &task.shared, d);
        let CommonPart { kept, half } = CommonPart::of(&open, &own, &shared);
        let own_variances = (0..d)
            .map(|a| {
                let inner: f64 = (0..d).map(|b| half[(a, b)] * kept[(a, b)]).sum();
                open[(a, a)] + (shared[(a, a)] - 2.0 * half[(a, a)] + inner).max(0.0)
            })
            .collect();
        // tr A (P + P L V L P), of which A P is 1 − L P and A P L the Schur complement.
        let closed: f64 = (0..d).map(|a| own[a] * open[(a, a)]).sum();
        let freedom = d as f64 - closed + linalg::inner(gram.as_ref(), half.as_ref());
        Outcome {
            squares: task.residual(&mean).max(0.0),
            free: (task.rows - freedom).max(0.0),
            mean,
            own: residual,
            own_variances,
        }
    }

    /// Moves precisions and noise: with `γ` effective coefficients of squared length `s`, the
    /// precision becomes `γ / s`.
    pub(super) fn update(&mut self, solution: &ComponentSolution) {
        let (d, q) = (self.groups.len(), self.shared());
        let count = self.precisions[q].len();
        let mut freedom = vec![vec![0.0; count]; q + 1];
        let mut squares = freedom.clone();
        for j in 0..q {
            for (a, &group) in self.groups.iter().enumerate() {
                let variance = solution.covariance[(j * d + a, j * d + a)];
                freedom[j][group] += 1.0 - self.precisions[j][group] * variance;
                squares[j][group] += solution.means[(a, j)].powi(2);
            }
        }
        let usual = self.diagonal(q);
        let mut residual_scales = Vec::with_capacity(self.tasks.len());
        for (outcome, scale) in solution.outcomes.iter().zip(&self.residual_scales) {
            let (mut effective, mut size) = (0.0, 0.0);
            for (a, &group) in self.groups.iter().enumerate() {
                let known = 1.0 - usual[a] / scale * outcome.own_variances[a];
                let square = outcome.own[a].powi(2);
                freedom[q][group] += known;
                squares[q][group] += square / scale;
                effective += known.max(0.0);
                size += usual[a] * square;
            }
            let wanted = (size + RESIDUAL_SCALE_INERTIA) / (effective + RESIDUAL_SCALE_INERTIA);
            residual_scales.push(wanted.clamp(RESIDUAL_SCALE_RANGE.0, RESIDUAL_SCALE_RANGE.1));
        }
        self.residual_scales = residual_scales;
        for (index, precisions) in self.precisions.iter_mut().enumerate() {
            for (group, precision) in precisions.iter_mut().enumerate() {
                let wanted = (freedom[index][group].max(0.0) + INERTIA)
                    / (squares[index][group] + INERTIA / *precision);
                *precision = wanted.clamp(1e-3 * *precision, 1e3 * *precision);
            }
        }
        let usual = geometric_mean(&self.noises);
        let noise = |(task, outcome): (&Evidence, &Outcome)| {
            let free = (outcome.free + NOISE_ROWS).max(0.05 * task.rows);
            let noise = (outcome.squares + NOISE_ROWS * usual) / free;
            noise.max(LEAST_NOISE * self.level)
        };
        self.noises = self
            .tasks
            .iter()
            .zip(&solution.outcomes)
            .map(noise)
            .collect();
    }

    /// The covariance of a task's coefficients.
    fn covariance(&self, index: usize, of_means: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let (task, own) = (&self.tasks[index], self.own(index));
        let ReducedTask { open, .. } = reduce(task, self.noises[index], &own)?;
        let shared = spread(of_means, &task.shared, own.len());
        let CommonPart { kept, half } = CommonPart::of(&open, &own, &shared);
        Ok(open + linalg::product(half.as_ref(), kept.transpose()))
    }

    pub(super) fn finish(self, solution: ComponentSolution) -> Result<Component> {
        let d = self.groups.len();
        let rows: f64 = self.tasks.iter().map(|task| task.rows).sum();
        let size = |a: usize| -> f64 {
            self.tasks.iter().map(|task| task.gram[(a, a)]).sum::<f64>() / rows
        };
        let ComponentSolution {
            means,
            covariance,
            outcomes,
        } = solution;
        let posterior = |(index, outcome): (usize, Outcome)| {
            Ok(TaskCoefficientPosterior {
                mean: outcome.mean,
                covariance: self.covariance(index, covariance.as_ref())?,
            })
        };
        let tasks = outcomes.into_par_iter().enumerate().map(posterior);
        Ok(Component {
            tasks: tasks.collect::<Result<_>>()?,
            sizes: (0..d).map(size).collect(),
            noise: geometric_mean(&self.noises),
            means,
            covariance,
            groups: self.groups.to_vec(),
            precisions: self.precisions,
        })
    }
}

/// How `M` enters a task's coefficients. With `P` the residual's covariance given `M` and `L` its precisions, `θ` is
/// `P L M u` plus what rows say, so the covariance of `M u` enters through `P L`, and the residual's through `1 − P L`.
struct CommonPart {
    /// `P L`.
    kept: Mat<f64>,
    /// The same times the covariance of `M u`.
    half: Mat<f64>,
}

impl CommonPart {
    fn of(open: &Mat<f64>, own: &[f64], shared: &Mat<f64>) -> Self {
        let d = own.len();
        let kept = Mat::from_fn(d, d, |a, b| open[(a, b)] * own[b]);
        let half = linalg::product(kept.as_ref(), shared.as_ref());
        Self { kept, half }
    }
}

/// Takes a task's residual out of its equations. With `A = G/σ²`, `L` the residual's precisions and
/// `P = (A + L)⁻¹`, the Schur complement `A − A P A` is `A P L`, which subtracts nothing.
fn reduce(task: &Evidence, noise: f64, own: &[f64]) -> Result<ReducedTask> {
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
    Ok(ReducedTask { open, gram, moment })
}

fn geometric_mean(values: &[f64]) -> f64 {
    let logs: f64 = values.iter().map(|value| value.max(1e-300).ln()).sum();
    (logs / values.len().max(1) as f64).exp()
}
