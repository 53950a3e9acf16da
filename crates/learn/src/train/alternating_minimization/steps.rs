//! The steps of the alternation: where it starts, heads given `B_X`, and `B_X` given heads.

use faer::{Mat, MatRef};

use super::super::joint_ridge::{HalfStep, solve_representation};
use super::tasks::{FitTasks, RowPart};
use crate::error::{Error, Result};
use crate::linalg;
use crate::regression::{BilinearProblem, ProjectedStatistics, Roots, add_ridge};

/// Weight of a direction of the heads, relative to the largest, below which it counts as missing.
const LEAST_DIRECTION: f64 = 1e-9;

/// `ĉ_w` of every task and output, by least squares on `φ`-features.
pub(super) struct Heads {
    k: usize,
    outputs: usize,
    /// Task after task, output after output.
    coefficients: Vec<f64>,
    /// What they explain of `Σ y²`.
    pub(super) explained: f64,
}

impl Heads {
    /// Fits every head on its own.
    pub(super) fn fit(projected: &[ProjectedStatistics], k: usize, outputs: usize) -> Result<Self> {
        let mut coefficients = Vec::with_capacity(projected.len() * outputs * k);
        let mut explained = 0.0;
        for task in projected {
            let mut gram = linalg::packed::unpack(&task.gram, k);
            add_ridge(&mut gram, 0.0);
            let rhs = Mat::from_fn(k, outputs, |i, output| task.moments[output][i]);
            let heads =
                linalg::cholesky(gram.as_ref(), "the equations of a head")?.solve(rhs.as_ref());
            explained += linalg::inner(rhs.as_ref(), heads.as_ref());
            for output in 0..outputs {
                coefficients.extend((0..k).map(|i| heads[(i, output)]));
            }
        }
        Ok(Self {
            k,
            outputs,
            coefficients,
            explained,
        })
    }

    fn of(&self, task: usize, output: usize) -> &[f64] {
        let at = (task * self.outputs + output) * self.k;
        &self.coefficients[at..at + self.k]
    }

    /// `Σ ‖ĉ_w‖²`.
    pub(super) fn size(&self) -> f64 {
        linalg::dot(&self.coefficients, &self.coefficients)
    }

    /// Refuses heads that do not span all `k` directions: `B_X` is then not determined.
    pub(super) fn check_span(&self) -> Result<()> {
        let rows = self.coefficients.len() / self.k;
        let matrix = Mat::from_fn(rows, self.k, |w, i| self.coefficients[w * self.k + i]);
        let spectrum = linalg::svd(matrix.as_ref(), "the heads of the tasks")?.s;
        let largest = spectrum.first().copied().unwrap_or(0.0);
        let real = |&&s: &&f64| s > 0.0 && s > LEAST_DIRECTION * largest;
        let rank = spectrum.iter().filter(real).count();
        if rank < self.k {
            return Err(Error::RankDeficient {
                what: "the set of the tasks' heads".into(),
                rank,
                needed: self.k,
                remedy: "use a smaller k, or collect from tasks that differ more".into(),
            });
        }
        Ok(())
    }
}

/// `B_X` given heads, with orthonormal columns, and what its equations say.
pub(super) fn representation(
    problem: &BilinearProblem<'_>,
    heads: &Heads,
    lambda: f64,
) -> Result<(Mat<f64>, HalfStep)> {
    let (matrix, rhs) =
        problem.representation_equations_for(heads.k, |task, output| heads.of(task, output).into());
    let step = solve_representation(problem.feature_dim, matrix, &rhs, lambda)?;
    Ok((basis(step.factor.as_ref())?, step))
}

/// An orthonormal basis of the columns.
pub(super) fn basis(matrix: MatRef<'_, f64>) -> Result<Mat<f64>> {
    Ok(linalg::svd(matrix, "the representation")?.u)
}

/// `‖(I − BBᵀ) B'‖`, which bounds the sine of the largest angle between two bases.
pub(super) fn distance(from: MatRef<'_, f64>, to: MatRef<'_, f64>) -> f64 {
    let inside = linalg::product(from.transpose(), to);
    (to - linalg::product(from, inside.as_ref())).norm_l2()
}

/// The subspace that the moments of the tasks span.
///
/// In coordinates where inputs are white, `E[Σ ψ y]/n = β_w`; the products of the means of two
/// disjoint halves of a task's rows are therefore unbiased for `β_w β_wᵀ`, whatever the noise.
/// Without halves the same rows are used twice: the bias is a multiple of the identity if inputs
/// are normal, which moves no eigenvector.
pub(super) fn moments(tasks: &FitTasks<'_>, k: usize, halves: bool) -> Result<Mat<f64>> {
    let problem = tasks.problem();
    let (d, outputs) = (problem.feature_dim, problem.outputs);
    let counts: Vec<f64> = problem
        .observations
        .iter()
        .map(|o| o.statistics.count() as f64)
        .collect();
    let mut gram = vec![0.0; linalg::packed::len(d)];
    for observation in &problem.observations {
        let terms = gram.iter_mut().zip(observation.statistics.gram());
        terms.for_each(|(sum, term)| *sum += term);
    }
    let rows = counts.iter().sum::<f64>().max(1.0);
    gram.iter_mut().for_each(|value| *value /= rows);
    let inputs = Roots::new(linalg::packed::unpack(&gram, d).as_ref())?;
    let half = |index| {
        if halves {
            tasks.mean_moments(RowPart {
                index,
                of: 2,
                least: 1,
            })
        } else {
            let mean = |(w, n): (usize, &f64)| {
                let moments =
                    (0..outputs).flat_map(|o| problem.observations[w].statistics.cross_moment(o));
                moments.map(|value| value / n).collect()
            };
            counts.iter().enumerate().map(mean).collect()
        }
    };
    // A column for each task and output, whitened and weighted by the root of its rows.
    let whiten = |means: Vec<Vec<f64>>| {
        let columns = Mat::from_fn(d, means.len() * outputs, |i, column| {
            let (w, output) = (column / outputs, column % outputs);
            means[w][output * d + i] * counts[w].sqrt()
        });
        linalg::product(inputs.inverse_root.as_ref(), columns.as_ref())
    };
    let (first, second) = (whiten(half(0)), whiten(half(1)));
    let cross = linalg::product(first.as_ref(), second.transpose());
    let symmetric = Mat::from_fn(d, d, |i, j| 0.5 * (cross[(i, j)] + cross[(j, i)]));
    let (_, vectors) = linalg::eigen(symmetric.as_ref(), "the moments of the tasks")?;
    let top = vectors.as_ref().subcols(0, k);
    basis(linalg::product(inputs.inverse_root.as_ref(), top).as_ref())
}
