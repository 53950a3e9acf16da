//! What designs cost that know `B` and `A`: `tr(Σ⁻¹A)` beside the paper's bounds.

use faer::{Mat, MatRef};
use serde::Serialize;
use taskscout::rng::{Purpose, derive, normal};
use taskscout::theory::{Allocation, Bounds, Quantities, need_of_first};

use super::linear_algebra::{self, with_condition};
use crate::error::Result;

/// Bases of the same need that the construction is tried with.
const BASES: u64 = 20;
/// How much a need is moved to change its eigenbasis and nothing else, relative to its size.
const NUDGE: f64 = 1e-9;
/// Condition numbers to try.
const CONDITIONS: [f64; 4] = [1.0, 3.0, 10.0, 30.0];

/// What all allocations cost for one `B` and `A`.
#[derive(Debug, Clone, Serialize)]
pub(super) struct DesignRow {
    /// What is varied: `k*`, or the condition number.
    pub(super) sweep: &'static str,
    /// Which ground truth.
    pub(super) matrix_seed: u64,
    /// The quantities of the paper.
    pub(super) known: Quantities,
    /// `tr(Σ⁻¹A)` of each allocation.
    pub(super) values: Vec<(&'static str, f64)>,
    /// The paper's bounds.
    pub(super) bounds: Bounds,
}

impl DesignRow {
    pub(super) fn value(&self, of: Allocation) -> f64 {
        let found = self.values.iter().find(|(name, _)| *name == of.name());
        found.map_or(f64::NAN, |(_, value)| *value)
    }
}

fn row(
    sweep: &'static str,
    matrix_seed: u64,
    map: MatRef<'_, f64>,
    need: MatRef<'_, f64>,
) -> Result<DesignRow> {
    let known = Quantities::of(map, need)?;
    let value = |how: &Allocation| Ok((how.name(), how.value(map, need)?));
    Ok(DesignRow {
        sweep,
        matrix_seed,
        bounds: Bounds::of(&known),
        known,
        values: Allocation::ALL
            .iter()
            .map(value)
            .collect::<taskscout::Result<_>>()?,
    })
}

/// Every number of directions that the target may need, and some condition numbers for a target that needs all.
pub(super) fn sweep(matrix_seed: u64, map: MatRef<'_, f64>) -> Result<Vec<DesignRow>> {
    let mut rows = Vec::new();
    for k_star in 1..=map.nrows() {
        let need = need_of_first(map, k_star)?;
        rows.push(row("k_star", matrix_seed, map, need.as_ref())?);
    }
    for condition in CONDITIONS {
        let map = with_condition(map, condition)?;
        let need = need_of_first(map.as_ref(), map.nrows())?;
        rows.push(row("kappa", matrix_seed, map.as_ref(), need.as_ref())?);
    }
    Ok(rows)
}

/// How much a value depends on which eigenbasis of `A = I/k` is taken: smallest and largest over some.
#[derive(Debug, Clone, Serialize)]
pub(super) struct BasisRow {
    pub(super) matrix_seed: u64,
    pub(super) optimal: (f64, f64),
    pub(super) paper: (f64, f64),
    /// `k*² max ‖W*_i‖²`, which the paper's bound is made of.
    pub(super) bound: (f64, f64),
}

/// Tries bases of a need in which all directions count alike.
pub(super) fn bases(matrix_seed: u64, map: MatRef<'_, f64>) -> Result<BasisRow> {
    let k = map.nrows();
    let mut spans = [(f64::INFINITY, f64::NEG_INFINITY); 3];
    for draw in 0..BASES {
        let mut rng = derive(matrix_seed, Purpose::Test, &[draw]);
        let raw = Mat::from_fn(k, k, |_, _| normal(&mut rng));
        let need = linear_algebra::nudged(raw.as_ref(), NUDGE);
        let bounds = Bounds::of(&Quantities::of(map, need.as_ref())?);
        let found = [
            Allocation::Optimal.value(map, need.as_ref())?,
            Allocation::Paper.value(map, need.as_ref())?,
            bounds.construction,
        ];
        for ((low, high), value) in spans.iter_mut().zip(found) {
            (*low, *high) = (low.min(value), high.max(value));
        }
    }
    let [optimal, paper, bound] = spans;
    Ok(BasisRow {
        matrix_seed,
        optimal,
        paper,
        bound,
    })
}
