//! Design problems of every kind, and their values the long way round.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use std::collections::HashSet;

use faer::{Mat, MatRef};
use taskscout::design::{Candidates, Criterion, Design, Need, Problem};
use taskscout::rng::Rng;

use crate::common::{close, gaussian, normals};

pub(crate) const BOTH: [Criterion; 2] = [Criterion::Trace, Criterion::MaxEigenvalue];
/// The gap that tests ask of each criterion.
pub(crate) const FINE: [f64; 2] = [1e-6, 1e-6];
/// Kinds of [`Wanted`] that `draw` knows.
pub(crate) const KINDS: usize = 4;

/// A need that owns its numbers.
#[derive(Debug, Clone)]
pub(crate) enum Wanted {
    Everything,
    Targets(Vec<f64>, Option<Vec<f64>>),
    Moment(Mat<f64>),
}

impl Wanted {
    pub(crate) fn draw(kind: usize, k: usize, rng: &mut Rng) -> Self {
        match kind {
            0 => Self::Everything,
            1 => Self::Targets(normals(k, rng), None),
            2 => {
                let weights = normals(3, rng).iter().map(|x| 0.1 + x * x).collect();
                Self::Targets(normals(3 * k, rng), Some(weights))
            }
            _ => {
                let root = gaussian(k, k.div_ceil(2), rng);
                Self::Moment(&root * root.transpose())
            }
        }
    }

    pub(crate) fn need(&self) -> Need<'_> {
        match self {
            Self::Everything => Need::Everything,
            Self::Targets(rows, weights) => Need::Targets {
                rows,
                weights: weights.as_deref(),
            },
            Self::Moment(moment) => Need::Moment(moment.as_ref()),
        }
    }

    /// `A`, for embeddings that span everything.
    pub(crate) fn moment(&self, k: usize) -> Mat<f64> {
        match self {
            Self::Everything => Mat::identity(k, k),
            Self::Moment(moment) => moment.clone(),
            Self::Targets(rows, weights) => {
                let n = rows.len() / k;
                let weights = weights.clone().unwrap_or_else(|| vec![1.0; n]);
                let total: f64 = weights.iter().sum();
                let entry = |i: usize, j: usize| {
                    let of = |t: usize| weights[t] * rows[t * k + i] * rows[t * k + j];
                    (0..n).map(of).sum::<f64>() / total
                };
                Mat::from_fn(k, k, entry)
            }
        }
    }

    pub(crate) fn problem(&self, criterion: Criterion, tolerance: f64) -> Problem<'_> {
        Problem {
            tolerance,
            ..Problem::new(criterion, self.need())
        }
    }
}

/// Rows and weights of a design over a table.
pub(crate) fn weights(design: &Design) -> Vec<(usize, f64)> {
    let atoms = design.atoms.iter();
    atoms.map(|atom| (atom.row.unwrap(), atom.weight)).collect()
}

/// `Σ q_i c_i c_iᵀ / cost_i`.
pub(crate) fn information(candidates: &Candidates<'_>, weights: &[(usize, f64)]) -> Mat<f64> {
    let k = candidates.dim();
    let mut sum = Mat::zeros(k, k);
    for &(row, weight) in weights {
        let (c, share) = (candidates.row(row), weight / candidates.cost(row));
        sum += Mat::from_fn(k, k, |i, j| share * c[i] * c[j]);
    }
    sum
}

pub(crate) fn value(
    criterion: Criterion,
    information: MatRef<'_, f64>,
    need: MatRef<'_, f64>,
) -> f64 {
    criterion.value(information, need).unwrap()
}

/// Checks all that a design over a table says about itself, and returns its value.
pub(crate) fn check(
    candidates: &Candidates<'_>,
    problem: &Problem<'_>,
    moment: MatRef<'_, f64>,
    design: &Design,
) -> f64 {
    let pairs = weights(design);
    let rows: HashSet<usize> = pairs.iter().map(|pair| pair.0).collect();
    assert_eq!(rows.len(), pairs.len(), "a row twice");
    let total: f64 = pairs.iter().map(|pair| pair.1).sum();
    // Sums of a few dozen weights, each rounded once.
    assert!((total - 1.0).abs() < 1e-12, "weights sum to {total}");
    for (atom, &(row, weight)) in design.atoms.iter().zip(&pairs) {
        assert_eq!(atom.embedding, candidates.row(row));
        assert!(weight > 0.0 && weight <= candidates.limit(row) + 1e-9);
    }
    let mut sum = information(candidates, &pairs);
    if let Some(given) = problem.given {
        sum += given;
    }
    let value = value(problem.criterion, sum.as_ref(), moment);
    assert!(
        close(design.objective, value, 1e-6),
        "claims {}, is {value}",
        design.objective
    );
    let lower = design.lower_bound.unwrap();
    assert!(lower.is_finite() && lower <= design.objective);
    let gap = design.gap().unwrap();
    assert!(gap <= problem.tolerance, "gap {gap}");
    value
}

/// Weights near some others, or far from all: `spread` is the deviation of their logarithms.
pub(crate) fn nearby(of: &[(usize, f64)], spread: f64, rng: &mut Rng) -> Vec<(usize, f64)> {
    let factors = normals(of.len(), rng);
    let moved = of.iter().zip(factors);
    let moved: Vec<(usize, f64)> = moved
        .map(|(&(row, weight), x)| (row, weight * (spread * x).exp()))
        .collect();
    let total: f64 = moved.iter().map(|pair| pair.1).sum();
    moved.into_iter().map(|(row, q)| (row, q / total)).collect()
}

pub(crate) fn uniform(n: usize) -> Vec<(usize, f64)> {
    (0..n).map(|row| (row, 1.0 / n as f64)).collect()
}
