//! The interior point for L1 (Mehrotra 1992).

use faer::Mat;

use super::vertex::{PIVOTS, RESIDUAL};
use super::{Goal, Sources, add, max_abs, minus, sum_abs};
use crate::error::{Error, Result};
use crate::linalg::{self, Cholesky, dot};

/// Relative duality gap that ends the iterations, and the one that a stuck solver may end with.
const GAP: f64 = 1e-10;
const GAP_ACCEPTED: f64 = 1e-6;
const MAX_ITERATIONS: usize = 200;
/// Iterations without a smaller gap after which the solver counts as stuck.
const PATIENCE: usize = 12;
/// Part of the way to the boundary that a step may go.
const STEP: f64 = 0.995;

/// `ν⁺` or `ν⁻` of `ν = ν⁺ − ν⁻` with its dual slack, and the step of both.
struct Half {
    sign: f64,
    x: Vec<f64>,
    z: Vec<f64>,
    dx: Vec<f64>,
    dz: Vec<f64>,
}

impl Half {
    fn new(sign: f64, x: Vec<f64>) -> Self {
        let (z, dx, dz) = (vec![1.0; x.len()], vec![0.0; x.len()], vec![0.0; x.len()]);
        Self { sign, x, z, dx, dz }
    }

    /// `xᵀz` after steps of these lengths.
    fn complementarity(&self, primal: f64, dual: f64) -> f64 {
        let x = self.x.iter().zip(&self.dx).map(|(x, dx)| x + primal * dx);
        let z = self.z.iter().zip(&self.dz).map(|(z, dz)| z + dual * dz);
        x.zip(z).map(|(x, z)| x * z).sum()
    }
}

/// How far along its step a positive vector stays positive, one at most.
fn longest_step(values: &[f64], step: &[f64]) -> f64 {
    values
        .iter()
        .zip(step)
        .fold(1.0, |longest_step: f64, (value, step)| {
            if *step < 0.0 {
                longest_step.min(-value / step)
            } else {
                longest_step
            }
        })
}

/// An interior point: `ν` and the dual `y`.
pub(super) struct Interior {
    pub(super) nu: Vec<f64>,
    pub(super) y: Vec<f64>,
    iterations: usize,
}

/// What certifies a shortest `ν`.
pub(super) struct Certificate {
    /// What no `ν` can be below.
    pub(super) bound: f64,
    /// The dual point that proves it, in white coordinates.
    pub(super) dual: Vec<f64>,
    pub(super) iterations: usize,
}

impl Sources {
    /// What a dual point proves: scaled until it is feasible, its value.
    fn bound(&self, goal: &Goal, y: &[f64]) -> f64 {
        let most = max_abs(self.white.times(y).into_iter());
        if most > 0.0 {
            dot(&goal.white, y) / most
        } else {
            0.0
        }
    }

    /// `min ‖ν‖₁`: `ν`, and what certifies it.
    pub(super) fn shortest(&self, goal: &Goal) -> Result<(Vec<f64>, Certificate)> {
        let interior = self.interior_point(goal);
        let mut bound = self.bound(goal, &interior.y);
        let mut dual = interior.y.clone();
        let mut best = (f64::INFINITY, Vec::new());
        let gap = |norm: f64, bound: f64| {
            if norm.is_finite() {
                1.0 - bound / norm
            } else {
                1.0
            }
        };
        for pivot in PIVOTS {
            let (nu, y, residual) = self.vertex(goal, &interior, pivot)?;
            // The vertex's own dual is exact unless the vertex is degenerate.
            let proven = self.bound(goal, &y);
            if proven > bound {
                (bound, dual) = (proven, y);
            }
            let norm = sum_abs(&nu);
            if residual <= RESIDUAL && norm < best.0 {
                best = (norm, nu);
            }
            if gap(best.0, bound) <= 10.0 * GAP {
                break;
            }
        }
        let gap = gap(best.0, bound);
        if gap <= GAP_ACCEPTED {
            let certificate = Certificate {
                bound,
                dual,
                iterations: interior.iterations,
            };
            return Ok((best.1, certificate));
        }
        Err(Error::numerical(
            format!("the L1 relevance, which ended with a relative gap of {gap:.1e},"),
            "drop tasks whose embeddings are nearly equal, use a smaller k, or use L2",
        ))
    }

    /// Mehrotra's method on `min 1ᵀ(ν⁺ + ν⁻)`, `Σ_i (ν⁺_i − ν⁻_i) c_i = c_0`, `ν± ≥ 0`. It starts
    /// from the L2 solution and `y = 0`, which are feasible. Ends with the best point it has if it
    /// is stuck.
    fn interior_point(&self, goal: &Goal) -> Interior {
        let rows = &self.white;
        let start = rows.times(&goal.white);
        let shift = max_abs(start.iter().copied());
        let half = |sign: f64| {
            let x = start.iter().map(|nu| (sign * nu).max(0.0) + shift);
            Half::new(sign, x.collect())
        };
        let mut halves = [half(1.0), half(-1.0)];
        let mut y = vec![0.0; rows.width];
        let mut best = (
            f64::INFINITY,
            Interior {
                nu: start,
                y: y.clone(),
                iterations: 0,
            },
        );
        for iteration in 0..MAX_ITERATIONS {
            let [plus, less] = &halves;
            let nu = minus(&plus.x, &less.x);
            let residual = minus(&goal.white, &rows.combine(&nu));
            let gap = 1.0 - self.bound(goal, &y) / sum_abs(&nu) + linalg::norm(&residual);
            if gap < best.0 {
                best = (
                    gap,
                    Interior {
                        nu,
                        y: y.clone(),
                        iterations: iteration,
                    },
                );
            }
            if best.0 <= GAP || iteration > best.1.iterations + PATIENCE {
                break;
            }
            let barrier: Vec<f64> = (0..self.tasks())
                .map(|i| plus.x[i] / plus.z[i] + less.x[i] / less.z[i])
                .collect();
            let Some(factor) = factorise(rows.gram(&barrier)) else {
                break;
            };
            let dy = self.predict_and_correct(&factor, &mut halves, &residual);
            let (primal, dual) = lengths(&halves);
            let (primal, dual) = ((STEP * primal).min(1.0), (STEP * dual).min(1.0));
            if !dy.iter().all(|value| value.is_finite()) || primal.max(dual) < 1e-10 {
                break;
            }
            add(&mut y, dual, &dy);
            for half in &mut halves {
                add(&mut half.x, primal, &half.dx);
                add(&mut half.z, dual, &half.dz);
            }
        }
        best.1
    }

    /// Mehrotra's step: a predictor, and a corrector towards the centre that the predictor suggests.
    fn predict_and_correct(
        &self,
        factor: &Cholesky,
        halves: &mut [Half; 2],
        residual: &[f64],
    ) -> Vec<f64> {
        let mean = |halves: &[Half; 2], primal, dual| {
            let sum: f64 = halves
                .iter()
                .map(|half| half.complementarity(primal, dual))
                .sum();
            sum / (2 * self.tasks()) as f64
        };
        let now = mean(halves, 0.0, 0.0);
        self.newton(factor, halves, residual, None);
        let (primal, dual) = lengths(halves);
        let predicted = mean(halves, primal, dual);
        let centre = now * (predicted / now).powi(3);
        self.newton(factor, halves, residual, Some(centre))
    }

    /// One Newton step towards `x z = centre`, with the second-order term of the step before; without
    /// a centre, the predictor. Fills in the halves' steps and gives that of `y`.
    fn newton(
        &self,
        factor: &Cholesky,
        halves: &mut [Half; 2],
        residual: &[f64],
        centre: Option<f64>,
    ) -> Vec<f64> {
        let mut pull = vec![0.0; self.tasks()];
        for half in halves.iter_mut() {
            for (i, pull) in pull.iter_mut().enumerate() {
                let second = centre.map_or(0.0, |centre| centre - half.dx[i] * half.dz[i]);
                half.dx[i] = second / half.z[i] - half.x[i];
                *pull += half.sign * half.dx[i];
            }
        }
        let pulled = self.white.combine(&pull);
        let rhs = Mat::from_fn(residual.len(), 1, |i, _| residual[i] - pulled[i]);
        let dy = linalg::column(factor.solve(rhs.as_ref()).as_ref(), 0);
        let du = self.white.times(&dy);
        for half in halves {
            for (i, du) in du.iter().enumerate() {
                half.dz[i] = -half.sign * du;
                half.dx[i] -= half.x[i] * half.dz[i] / half.z[i];
            }
        }
        dy
    }
}

/// The shares of a step that keep `x` and `z` positive.
fn lengths(halves: &[Half; 2]) -> (f64, f64) {
    let least =
        |longest_step: fn(&Half) -> f64| halves.iter().map(longest_step).fold(1.0, f64::min);
    (
        least(|half| longest_step(&half.x, &half.dx)),
        least(|half| longest_step(&half.z, &half.dz)),
    )
}

/// Near a degenerate vertex the normal matrix is singular to working precision; a ridge of rounding
/// size does not turn the step away from it.
fn factorise(mut matrix: Mat<f64>) -> Option<Cholesky> {
    let n = matrix.nrows();
    let mut ridge = 1e-15 * max_abs((0..n).map(|i| matrix[(i, i)]));
    for _ in 0..4 {
        if let Ok(factor) = linalg::cholesky(matrix.as_ref(), "the normal equations") {
            return Some(factor);
        }
        (0..n).for_each(|i| matrix[(i, i)] += ridge);
        ridge *= 100.0;
    }
    None
}
