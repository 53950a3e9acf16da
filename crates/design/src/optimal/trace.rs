//! Weights for the trace criterion, `min tr((G + Σ q_i c_i c_iᵀ)⁻¹ L Lᵀ)`.
//!
//! A primal–dual interior point. Every step decreases the barrier function, found by backtracking,
//! so that no start can make it diverge.

use faer::{Mat, MatRef};

use super::master::{Dual, Master, Weights, by_atom, support, width};
use super::newton::{Curvature, Step, direction, furthest, nearness};
use crate::error::Result;
use crate::linalg::{self, wide};

/// Newton steps at most; about a dozen are usual.
const MAX_STEPS: usize = 150;
/// Factor by which the barrier weakens after a good step.
const WEAKENING: f64 = 0.1;

const WHAT: &str = "the information of a design";

/// Weights to a relative gap over these atoms.
pub(super) fn solve(
    master: &Master<'_>,
    atoms: MatRef<'_, f64>,
    limits: &[f64],
    q: Vec<f64>,
    tolerance: f64,
) -> Result<Weights> {
    let mut local = Local::new(master, atoms, &q)?;
    let gap = local.gap(&q, limits).clamp(1e-6, 1.0);
    let mu = 0.3 * gap * local.value / limits.len() as f64;
    let mut state = TraceState {
        master,
        atoms,
        limits,
        lower: q.iter().map(|q| mu / q).collect(),
        upper: q
            .iter()
            .zip(limits)
            .map(|(&q, &limit)| mu * nearness(q, limit))
            .collect(),
        q,
        mu,
    };
    for _ in 0..master.steps(atoms, MAX_STEPS) {
        master.charge(atoms);
        let Some(next) = state.step(&local) else {
            break;
        };
        local = next;
        if local.gap(&state.q, limits) <= tolerance || state.mu <= 1e-18 * local.value {
            break;
        }
    }
    weigh(master, atoms, state.q)
}

/// The value of weights, and the dual point that belongs to them.
pub(super) fn weigh(master: &Master<'_>, atoms: MatRef<'_, f64>, q: Vec<f64>) -> Result<Weights> {
    let factor = linalg::cholesky(master.information(atoms, &q).as_ref(), WHAT)?;
    let solved = factor.solve(master.need);
    let value = linalg::inner(solved.as_ref(), master.need);
    let half = linalg::product(master.given, solved.as_ref());
    Ok(Weights {
        q,
        value,
        dual: Dual {
            a: value,
            b: linalg::inner(half.as_ref(), solved.as_ref()),
            factor: solved.transpose().to_owned(),
        },
    })
}

/// The value and what its derivatives need at some weights.
struct Local {
    value: f64,
    /// Minus the gradient.
    scores: Vec<f64>,
    /// `Σ^-½ c_i`, column by column.
    half: Mat<f64>,
    /// `Lᵀ Σ⁻¹ c_i`, column by column.
    images: Mat<f64>,
}

impl Local {
    fn new(master: &Master<'_>, atoms: MatRef<'_, f64>, q: &[f64]) -> Result<Self> {
        let factor = linalg::cholesky(master.information(atoms, q).as_ref(), WHAT)?;
        let half = wide::whiten(&factor, atoms);
        let need = wide::whiten(&factor, master.need);
        let images = wide::multiply(need.transpose(), half.as_ref());
        Ok(Self {
            value: need.squared_norm_l2(),
            scores: by_atom(q.len(), width(atoms, q.len()), |column| {
                images.col(column).squared_norm_l2()
            }),
            half,
            images,
        })
    }

    /// The relative gap over these atoms.
    fn gap(&self, q: &[f64], limits: &[f64]) -> f64 {
        let slack = support(&self.scores, limits) - linalg::dot(q, &self.scores);
        1.0 - self.value / (self.value + slack.max(0.0))
    }
}

struct TraceState<'a> {
    master: &'a Master<'a>,
    atoms: MatRef<'a, f64>,
    limits: &'a [f64],
    q: Vec<f64>,
    /// Multipliers of `q ≥ 0` and of `q ≤ u`; the latter zero where there is no limit.
    lower: Vec<f64>,
    upper: Vec<f64>,
    mu: f64,
}

impl TraceState<'_> {
    /// One step, and where it leads; none if none can be made.
    fn step(&mut self, local: &Local) -> Option<Local> {
        let (q, mu) = (&self.q, self.mu);
        let m = q.len();
        let near: Vec<f64> = q
            .iter()
            .zip(self.limits)
            .map(|(&q, &u)| nearness(q, u))
            .collect();
        let diagonal: Vec<f64> = (0..m)
            .map(|i| self.lower[i] / q[i] + self.upper[i] * near[i])
            .collect();
        let pull: Vec<f64> = (0..m)
            .map(|i| mu * (near[i] - 1.0 / q[i]) - local.scores[i])
            .collect();
        let excess = 1.0 - q.iter().sum::<f64>();
        let width = width(self.atoms, m);
        let curvature = Curvature::new(2.0, local.half.as_ref(), local.images.as_ref(), width);
        // Near the optimum the equations become singular to rounding: then it is good enough.
        let step = direction(curvature, &diagonal, &pull, None, excess).ok()?;
        let (moved, length, next) = self.descend(local, &step, linalg::dot(&pull, &step.q))?;
        for i in 0..m {
            let d = length * step.q[i];
            let central = mu / moved[i];
            let lower =
                self.lower[i] + length * (mu / q[i] - self.lower[i]) - self.lower[i] / q[i] * d;
            // Multipliers stay near what the barrier says they are.
            self.lower[i] = lower.clamp(1e-4 * central, 1e4 * central);
            let central = mu * nearness(moved[i], self.limits[i]);
            let upper = self.upper[i]
                + length * (mu * near[i] - self.upper[i])
                + self.upper[i] * near[i] * d;
            self.upper[i] = upper.clamp(1e-4 * central, 1e4 * central);
        }
        self.q = moved;
        if length > 0.5 {
            self.mu *= WEAKENING;
        }
        Some(next)
    }

    /// The weights along a step at which the barrier function has fallen, and how far that is.
    fn descend(&self, local: &Local, step: &Step, slope: f64) -> Option<(Vec<f64>, f64, Local)> {
        let before = local.value + self.barrier(&self.q);
        let mut length = furthest(&self.q, &step.q, self.limits);
        while length > 1e-9 {
            let along = self.q.iter().zip(&step.q).map(|(q, d)| q + length * d);
            let moved: Vec<f64> = along.collect();
            let allowed = before + 1e-4 * length * slope + 1e-14 * before.abs();
            if let Ok(next) = Local::new(self.master, self.atoms, &moved)
                && next.value + self.barrier(&moved) <= allowed
            {
                return Some((moved, length, next));
            }
            length *= 0.5;
        }
        None
    }

    /// The logarithmic barrier of the bounds.
    fn barrier(&self, q: &[f64]) -> f64 {
        let of = |(q, limit): (&f64, &f64)| {
            let above = if *limit < 1.0 { (limit - q).ln() } else { 0.0 };
            q.ln() + above
        };
        -self.mu * q.iter().zip(self.limits).map(of).sum::<f64>()
    }
}
