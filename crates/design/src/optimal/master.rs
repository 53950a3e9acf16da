//! The weights of a few atoms: the inner problem of every step of the solver.
//!
//! Over atoms `c_1 … c_m` in a well-scaled frame, with information `Σ(q) = G + Σ q_i c_i c_iᵀ`, where an
//! atom of several outputs is a block of columns ([`by_atom`]) and `c_i c_iᵀ` the sum over them:
//!
//! - trace: `min f(q) = tr(Σ(q)⁻¹ L Lᵀ)`;
//! - max-eigenvalue: `max t` such that `Σ(q) − t L Lᵀ ⪰ 0`, which is `1/t = λ_max(Σ(q)⁻¹ L Lᵀ)`;
//!
//! both with `Σ q_i = 1` and `0 ≤ q_i ≤ u_i`, by primal–dual interior points with exact second
//! derivatives. These have rank at most `r·s` and `r²`, so that many atoms cost little more than few.
//!
//! Each also gives a **dual point**: a factor `R`, with `‖R c‖²` the score of an atom, and numbers
//! `a, b` such that no design has a value below `a² / (b + max_q Σ q_i ‖R c_i‖²)`.
//!
//! - trace: `R = Yᵀ` with `Y = Σ⁻¹ L`, because `tr(Σ⁻¹ L Lᵀ) = max_Y 2 tr(YᵀL) − tr(Yᵀ Σ Y)` and the
//!   best multiple of any `Y` gives `(tr YᵀL)² / tr(Yᵀ Σ Y)`;
//! - max-eigenvalue: `RᵀR = W`, because `t ≤ tr(W Σ)` for every `W ⪰ 0` with `tr(W A) = 1`: the other
//!   side of a matrix game in which a design plays against a distribution over directions.

use std::cell::Cell;

use faer::{Mat, MatRef};

use super::{Criterion, max_eigenvalue, trace};
use crate::error::Result;
use crate::linalg::wide;

/// Information added to every direction of the frame, far below that of an average candidate: a
/// design that needs few directions would have a singular `Σ`. Bounds hold without it.
pub(super) const RIDGE: f64 = 1e-10;
/// Ridges beside the information given, relative to it, tried in turn where a smaller one leaves `Σ`
/// singular to working precision.
pub(super) const RIDGES_BESIDE_GIVEN: [f64; 3] = [1e-14, 1e-12, 1e-10];
/// Share of the start that is spread evenly, to be away from the bounds: more where less is asked.
const SPREAD: std::ops::RangeInclusive<f64> = 1e-3..=0.05;
/// Sum of the limits beyond the budget below which they leave nothing to choose.
const NO_SLACK: f64 = 1e-9;

/// The problem that the weights solve.
#[derive(Debug, Clone, Copy)]
pub(super) struct Master<'a> {
    pub(super) criterion: Criterion,
    /// `L`, `r × s`.
    pub(super) need: MatRef<'a, f64>,
    /// `G`, `r × r`.
    pub(super) given: MatRef<'a, f64>,
    /// What is added to every direction, usually [`RIDGE`].
    pub(super) ridge: f64,
    /// Multiplications that may still be spent.
    pub(super) effort: &'a Cell<f64>,
}

/// A dual point.
#[derive(Debug, Clone)]
pub(super) struct Dual {
    /// `R`.
    pub(super) factor: Mat<f64>,
    pub(super) a: f64,
    pub(super) b: f64,
}

impl Dual {
    /// A value that no design is below, given `max_q Σ q_i ‖R c_i‖²`.
    pub(super) fn bound(&self, support: f64) -> f64 {
        self.a * self.a / (self.b + support)
    }

    /// The score of an atom.
    pub(super) fn score(&self, atom: &[f64]) -> f64 {
        let score = |column: &[f64]| super::scan::squared_image(self.factor.as_ref(), column);
        if atom.len() == self.factor.ncols() {
            return score(atom);
        }
        atom.chunks_exact(self.factor.ncols()).map(score).sum()
    }
}

/// Weights and their value.
#[derive(Debug, Clone)]
pub(super) struct Weights {
    pub(super) q: Vec<f64>,
    pub(super) value: f64,
    pub(super) dual: Dual,
}

impl Master<'_> {
    /// Weights of the columns of `atoms` within `limits`, from a start near which the solution is
    /// expected, to a relative gap of `tolerance` over these atoms.
    pub(super) fn solve(
        &self,
        atoms: MatRef<'_, f64>,
        limits: &[f64],
        start: &[f64],
        tolerance: f64,
    ) -> Result<Weights> {
        let capacity: f64 = limits.iter().sum();
        let forced = capacity <= 1.0 + NO_SLACK;
        let spread = if forced {
            1.0
        } else {
            (10.0 * tolerance).clamp(*SPREAD.start(), *SPREAD.end())
        };
        let q: Vec<f64> = start
            .iter()
            .zip(limits)
            .map(|(q, limit)| (1.0 - spread) * q + spread * limit / capacity)
            .collect();
        if !self.can_solve(atoms) {
            self.effort.set(0.0);
            return match self.criterion {
                Criterion::Trace => trace::weigh(self, atoms, start.to_vec()),
                Criterion::MaxEigenvalue => max_eigenvalue::weigh(self, atoms, start.to_vec()),
            };
        }
        match self.criterion {
            Criterion::Trace if forced => trace::weigh(self, atoms, q),
            Criterion::Trace => trace::solve(self, atoms, limits, q, tolerance),
            Criterion::MaxEigenvalue if forced => max_eigenvalue::weigh(self, atoms, q),
            Criterion::MaxEigenvalue => max_eigenvalue::solve(self, atoms, limits, q, tolerance),
        }
    }

    /// About how many multiplications a step over these atoms takes.
    fn price(&self, atoms: MatRef<'_, f64>) -> f64 {
        let (m, r) = (atoms.ncols() as f64, atoms.nrows() as f64);
        let s = match self.criterion {
            Criterion::Trace => self.need.ncols() as f64,
            Criterion::MaxEigenvalue => 8.0 * r,
        };
        // Information and images, their products with each other, and the equations for a step.
        let step = 2.0 * m * r * (r + s) + r * r * (r + s);
        step + m * m * (r + s) + m * m * m / 3.0
    }

    /// Whether the effort left is enough for steps that lead somewhere; else weights stay as they are.
    pub(super) fn can_solve(&self, atoms: MatRef<'_, f64>) -> bool {
        const LEAST: f64 = 5.0;
        self.effort.get() >= LEAST * self.price(atoms)
    }

    /// Steps over these atoms that the effort left allows, at least a few and at most so many.
    pub(super) fn steps(&self, atoms: MatRef<'_, f64>, most: usize) -> usize {
        const FEW: usize = 2;
        let allowed = (self.effort.get() / self.price(atoms)).min(most as f64);
        (allowed as usize).max(FEW)
    }

    /// Takes the price of a step from the effort left.
    pub(super) fn charge(&self, atoms: MatRef<'_, f64>) {
        self.spend(self.price(atoms));
    }

    /// Takes some multiplications from the effort left.
    pub(super) fn spend(&self, price: f64) {
        self.effort.set((self.effort.get() - price).max(0.0));
    }

    /// Whether there is effort left for more.
    pub(super) fn may_go_on(&self) -> bool {
        self.effort.get() > 0.0
    }

    /// `Σ(q)`, with the ridge.
    pub(super) fn information(&self, atoms: MatRef<'_, f64>, q: &[f64]) -> Mat<f64> {
        let weighted = weighted(atoms, q);
        let mut sum = wide::multiply(weighted.as_ref(), atoms.transpose());
        sum += self.given;
        (0..sum.nrows()).for_each(|i| sum[(i, i)] += self.ridge);
        sum
    }
}

/// Columns that each of some atoms has.
pub(super) fn width(atoms: MatRef<'_, f64>, count: usize) -> usize {
    (atoms.ncols() / count.max(1)).max(1)
}

/// The columns of some atoms times the weights of the atoms.
pub(super) fn weighted(atoms: MatRef<'_, f64>, q: &[f64]) -> Mat<f64> {
    let width = width(atoms, q.len());
    Mat::from_fn(atoms.nrows(), atoms.ncols(), |i, j| {
        atoms[(i, j)] * q[j / width]
    })
}

/// A number of every atom: the sum of those of its columns.
pub(super) fn by_atom(count: usize, width: usize, of: impl Fn(usize) -> f64) -> Vec<f64> {
    if width == 1 {
        return (0..count).map(of).collect();
    }
    (0..count)
        .map(|atom| (atom * width..(atom + 1) * width).map(&of).sum())
        .collect()
}

/// `max Σ q_i s_i` over `Σ q = 1`, `0 ≤ q ≤ u`: the best scores first, each up to its limit.
pub(super) fn support(scores: &[f64], limits: &[f64]) -> f64 {
    if limits.iter().all(|&limit| limit >= 1.0) {
        return scores.iter().copied().fold(0.0, f64::max);
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let (mut left, mut sum) = (1.0_f64, 0.0);
    for i in order {
        let share = limits[i].min(left);
        sum += share * scores[i];
        left -= share;
        if left <= 0.0 {
            break;
        }
    }
    sum
}
