//! Weights for the max-eigenvalue criterion: `max t` such that `S = G + Σ q_i c_i c_iᵀ − t A ⪰ 0`.
//!
//! A small semidefinite program, solved by a primal–dual interior point with the direction of
//! Helmberg, Kojima and Monteiro. Its dual is the other side of the game: `W ⪰ 0`, `tr(W A) = 1`, with
//! `max_i c_iᵀ W c_i` least.

use faer::{Mat, MatRef};

use super::master::{Dual, Master, Weights, by_atom, support, weighted, width};
use super::newton::{Curvature, Step, Strength, TO_BOUND, direction, furthest, nearness};
use crate::error::Result;
use crate::linalg;

/// Steps at most; 10 to 20 are usual.
const MAX_STEPS: usize = 100;

const WHAT: &str = "the information of a design";

/// Weights to a relative gap over these atoms.
pub(super) fn solve(
    master: &Master<'_>,
    atoms: MatRef<'_, f64>,
    limits: &[f64],
    q: Vec<f64>,
    tolerance: f64,
) -> Result<Weights> {
    let mut state = MaxEigenvalueState::new(master, atoms, limits, q)?;
    for _ in 0..master.steps(atoms, MAX_STEPS) {
        master.charge(atoms);
        if !state.step()? || state.gap() <= tolerance {
            break;
        }
    }
    state.finish()
}

/// The value of given weights.
pub(super) fn weigh(master: &Master<'_>, atoms: MatRef<'_, f64>, q: Vec<f64>) -> Result<Weights> {
    let limits = vec![1.0; q.len()];
    let mut state = MaxEigenvalueState::new(master, atoms, &limits, q)?;
    let near = 2.0 * (1.0 - 1e-6) * state.t;
    state.t = near;
    let factor = linalg::cholesky(state.slack().as_ref(), WHAT)?;
    let inverse = factor.whiten(Mat::<f64>::identity(atoms.nrows(), atoms.nrows()).as_ref());
    state.w = linalg::product(inverse.transpose(), inverse.as_ref());
    state.finish()
}

/// What a step starts from: the factors of both matrices, and how hard the centre pulls.
struct CentralPoint {
    /// Of `S`.
    slack: linalg::Cholesky,
    /// Of `W`.
    dual: linalg::Cholesky,
    /// `S⁻¹`.
    inverse: Mat<f64>,
    /// `1/(u − q)`.
    near: Vec<f64>,
    /// The mean complementarity, and the one that the step aims at.
    mean: f64,
    mu: f64,
}

/// A step of the dual variables.
struct DualStep {
    w: Mat<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

struct MaxEigenvalueState<'a> {
    master: &'a Master<'a>,
    atoms: MatRef<'a, f64>,
    limits: &'a [f64],
    /// `A`.
    need: Mat<f64>,
    q: Vec<f64>,
    t: f64,
    w: Mat<f64>,
    /// Multipliers of `q ≥ 0` and of `q ≤ u`; the latter zero where there is no limit.
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// How good the last step was, which decides how far to aim with the next.
    length: f64,
}

impl<'a> MaxEigenvalueState<'a> {
    /// Starts at half the strength of the weights, on the central path.
    fn new(
        master: &'a Master<'a>,
        atoms: MatRef<'a, f64>,
        limits: &'a [f64],
        q: Vec<f64>,
    ) -> Result<Self> {
        let factor = linalg::cholesky(master.information(atoms, &q).as_ref(), WHAT)?;
        let half = factor.whiten(master.need);
        let ratio = linalg::product(half.transpose(), half.as_ref());
        let (values, _) = linalg::eigen(ratio.as_ref(), WHAT)?;
        let mut state = Self {
            master,
            atoms,
            limits,
            need: linalg::product(master.need, master.need.transpose()),
            t: 0.5 / values[0],
            w: Mat::zeros(0, 0),
            lower: Vec::new(),
            upper: Vec::new(),
            length: 1.0,
            q,
        };
        let factor = linalg::cholesky(state.slack().as_ref(), WHAT)?;
        let mu = factor.whiten(master.need).squared_norm_l2().recip();
        let rank = atoms.nrows();
        let inverse = factor.inverse();
        state.w = Mat::from_fn(rank, rank, |i, j| {
            mu * 0.5 * (inverse[(i, j)] + inverse[(j, i)])
        });
        state.lower = state.q.iter().map(|q| mu / q).collect();
        let pairs = state.q.iter().zip(limits);
        state.upper = pairs.map(|(&q, &limit)| mu * nearness(q, limit)).collect();
        Ok(state)
    }

    /// `S`.
    fn slack(&self) -> Mat<f64> {
        let mut slack = self.master.information(self.atoms, &self.q);
        slack -= faer::Scale(self.t) * &self.need;
        slack
    }

    /// `c_iᵀ W c_i`, for `tr(W A) = 1`.
    fn scores(&self) -> Vec<f64> {
        let scale = linalg::inner(self.w.as_ref(), self.need.as_ref()).recip();
        let images = linalg::product(self.w.as_ref(), self.atoms);
        by_atom(self.q.len(), self.width(), |i| {
            scale * (images.col(i).transpose() * self.atoms.col(i))
        })
    }

    /// Columns of an atom.
    fn width(&self) -> usize {
        width(self.atoms, self.q.len())
    }

    /// The relative gap over these atoms.
    fn gap(&self) -> f64 {
        let scale = linalg::inner(self.w.as_ref(), self.need.as_ref()).recip();
        let given = scale * linalg::inner(self.w.as_ref(), self.master.given);
        1.0 - self.t / (given + support(&self.scores(), self.limits))
    }

    /// One step; false if none can be made.
    fn step(&mut self) -> Result<bool> {
        let Some(point) = self.point() else {
            return Ok(false);
        };
        // Near the optimum the equations become singular to rounding: then it is good enough.
        let Ok(step) = self.direction(&point) else {
            return Ok(false);
        };
        let moved = weighted(self.atoms, &step.q);
        let mut ds = linalg::product(moved.as_ref(), self.atoms.transpose());
        ds -= faer::Scale(step.t) * &self.need;
        let dual = self.dual_step(&point, &step, ds.as_ref());
        let open = vec![1.0; self.q.len()];
        let primal_length =
            furthest(&self.q, &step.q, self.limits).min(within(&point.slack, ds.as_ref())?);
        let dual_length = furthest(&self.lower, &dual.lower, &open)
            .min(furthest(&self.upper, &dual.upper, &open))
            .min(within(&point.dual, dual.w.as_ref())?);
        add(&mut self.q, primal_length, &step.q);
        self.t += primal_length * step.t;
        add(&mut self.lower, dual_length, &dual.lower);
        add(&mut self.upper, dual_length, &dual.upper);
        self.w += faer::Scale(dual_length) * &dual.w;
        self.length = primal_length.min(dual_length);
        Ok(self.length > 1e-8 && point.mean > 1e-17 * self.t)
    }

    /// Where the state stands; none where a matrix is singular to rounding.
    fn point(&self) -> Option<CentralPoint> {
        let (m, rank) = (self.q.len(), self.atoms.nrows());
        let matrix = self.slack();
        let slack = linalg::cholesky(matrix.as_ref(), WHAT).ok()?;
        let dual = linalg::cholesky(self.w.as_ref(), WHAT).ok()?;
        let near: Vec<f64> = self
            .q
            .iter()
            .zip(self.limits)
            .map(|(&q, &limit)| nearness(q, limit))
            .collect();
        let limited = self.limits.iter().filter(|&&limit| limit < 1.0).count();
        let bounds: f64 = (0..m)
            .map(|i| {
                self.lower[i] * self.q[i]
                    + if near[i] > 0.0 {
                        self.upper[i] / near[i]
                    } else {
                        0.0
                    }
            })
            .sum();
        let product = linalg::inner(self.w.as_ref(), matrix.as_ref()) + bounds;
        let mean = product / (rank + m + limited) as f64;
        let mu = mean
            * if self.length > 0.8 {
                0.08
            } else if self.length > 0.4 {
                0.3
            } else {
                0.7
            };
        Some(CentralPoint {
            inverse: slack.inverse(),
            slack,
            dual,
            near,
            mean,
            mu,
        })
    }

    /// The Newton step of weights and `t`.
    fn direction(&self, point: &CentralPoint) -> Result<Step> {
        let (m, mu, near) = (self.q.len(), point.mu, &point.near);
        let half = point.slack.whiten(self.atoms);
        // W = V Vᵀ.
        let images = linalg::product(point.dual.lower().transpose(), self.atoms);
        let turned = linalg::product(
            self.w.as_ref(),
            linalg::product(self.need.as_ref(), point.inverse.as_ref()).as_ref(),
        );
        let width = self.width();
        let sizes = by_atom(m, width, |i| half.col(i).squared_norm_l2());
        let across = linalg::product(turned.as_ref(), self.atoms);
        let strength = Strength {
            first: mu * linalg::inner(point.inverse.as_ref(), self.need.as_ref()) - 1.0,
            mixed: by_atom(m, width, |i| {
                -(across.col(i).transpose() * self.atoms.col(i))
            }),
            second: linalg::inner(turned.as_ref(), self.need.as_ref()),
        };
        let diagonal: Vec<f64> = (0..m)
            .map(|i| self.lower[i] / self.q[i] + self.upper[i] * near[i])
            .collect();
        let pull: Vec<f64> = (0..m)
            .map(|i| mu * (near[i] - 1.0 / self.q[i] - sizes[i]))
            .collect();
        let curvature = Curvature::new(1.0, half.as_ref(), images.as_ref(), width);
        let excess = 1.0 - self.q.iter().sum::<f64>();
        direction(curvature, &diagonal, &pull, Some(&strength), excess)
    }

    /// The step of `W` and of the multipliers that belongs to one of the weights, which moves `S`
    /// by `ds`.
    fn dual_step(&self, point: &CentralPoint, step: &Step, ds: MatRef<'_, f64>) -> DualStep {
        let (m, rank) = (self.q.len(), self.atoms.nrows());
        let CentralPoint {
            inverse, near, mu, ..
        } = point;
        let skew = linalg::product(
            linalg::product(self.w.as_ref(), ds).as_ref(),
            inverse.as_ref(),
        );
        DualStep {
            w: Mat::from_fn(rank, rank, |i, j| {
                let scaled = 0.5 * (inverse[(i, j)] + inverse[(j, i)]);
                mu * scaled - self.w[(i, j)] - 0.5 * (skew[(i, j)] + skew[(j, i)])
            }),
            lower: (0..m)
                .map(|i| (mu - self.lower[i] * step.q[i]) / self.q[i] - self.lower[i])
                .collect(),
            upper: (0..m)
                .map(|i| (mu + self.upper[i] * step.q[i]) * near[i] - self.upper[i])
                .collect(),
        }
    }

    fn finish(self) -> Result<Weights> {
        let scale = linalg::inner(self.w.as_ref(), self.need.as_ref()).recip();
        let factor = linalg::cholesky(self.w.as_ref(), "the dual of a design")?.lower();
        let rank = self.atoms.nrows();
        Ok(Weights {
            value: 1.0 / self.t,
            dual: Dual {
                factor: Mat::from_fn(rank, rank, |i, j| scale.sqrt() * factor[(j, i)]),
                a: 1.0,
                b: scale * linalg::inner(self.w.as_ref(), self.master.given),
            },
            q: self.q,
        })
    }
}

/// Goes a length along a step.
fn add(values: &mut [f64], length: f64, step: &[f64]) {
    let pairs = values.iter_mut().zip(step);
    pairs.for_each(|(value, d)| *value += length * d);
}

/// How far along a step a matrix stays positive definite, up to 1.
fn within(factor: &linalg::Cholesky, step: MatRef<'_, f64>) -> Result<f64> {
    let half = factor.whiten(step);
    let relative = factor.whiten(half.transpose());
    let size = relative.nrows();
    let symmetric = Mat::from_fn(size, size, |i, j| {
        0.5 * (relative[(i, j)] + relative[(j, i)])
    });
    let least = linalg::least_eigenvalue(symmetric.as_ref(), "a step")?;
    Ok(if least < 0.0 {
        (-TO_BOUND / least).min(1.0)
    } else {
        1.0
    })
}
