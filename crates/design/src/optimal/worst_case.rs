//! Designs for the worst of several targets: `min_q max_t tr(Σ(q)⁻¹ A_t)`.
//!
//! The value is convex in the design and linear in weights `λ` of the targets, so the two can be exchanged: the best
//! design for the worst target is the best one for the mean `Σ_t λ_t A_t` under the weights that make this mean
//! hardest. Weights move towards the targets whose value is largest (exponentiated gradient, with steps that must not
//! lose). For any weights the optimum of the mean is a lower bound of the worst case, and any design's worst value an
//! upper one, so the result comes with a certificate.
//!
//! ```
//! use faer::mat;
//! use taskscout_design::optimal::{Criterion, ball, worst_case};
//! // One target needs the strong direction of the map, the other the weak one.
//! let map = mat![[2.0, 0.0, 0.0], [0.0, 0.5, 0.0]];
//! let needs = [mat![[1.0, 0.0], [0.0, 0.0]], mat![[0.0, 0.0], [0.0, 1.0]]];
//! let worst = worst_case(&needs, None, |need| ball::optimal(map.as_ref(), need, Criterion::Trace, 1.0))?;
//! // Both targets end with the same error: 1 / (4 p) = 1 / (0.25 (1 − p)).
//! assert!((worst.values[0] / worst.values[1] - 1.0).abs() < 0.01);
//! assert!((worst.value - 4.25).abs() < 0.01 && worst.lower_bound.unwrap() > 4.24);
//! # Ok::<(), taskscout_design::Error>(())
//! ```

use faer::{Mat, MatRef};

use super::Design;
use crate::error::{Error, Result};
use crate::linalg;

/// Relative gap at which the search ends.
const GAP: f64 = 1e-3;
/// Designs solved at most.
const ROUNDS: usize = 200;
/// Relative size below which an eigenvalue of the information counts as zero.
const RANK: f64 = 1e-12;

/// A design for the worst of several targets.
#[derive(Debug, Clone, PartialEq)]
pub struct WorstCase {
    /// The design.
    pub design: Design,
    /// The weights of the targets that make their mean hardest; they sum to one.
    pub weights: Vec<f64>,
    /// `tr(Σ⁻¹ A_t)` of each target.
    pub values: Vec<f64>,
    /// The largest of them.
    pub value: f64,
    /// A value that the worst target of no design can be below, where one is known.
    pub lower_bound: Option<f64>,
}

impl WorstCase {
    /// How far the value may be above the optimum, relatively; none without a bound.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        Some((self.value - self.lower_bound?) / self.value)
    }
}

/// The design for the worst of some needs, beside information that is given; `solve` finds the optimal design for one
/// need by the trace criterion. Parts of a need that no task reaches are left out.
///
/// # Errors
/// No needs, needs of different sizes, or what `solve` refuses.
pub fn worst_case(
    needs: &[Mat<f64>],
    given: Option<MatRef<'_, f64>>,
    mut solve: impl FnMut(MatRef<'_, f64>) -> Result<Design>,
) -> Result<WorstCase> {
    let Some(k) = needs.first().map(Mat::nrows) else {
        return Err(Error::setting(
            "targets",
            "are none: a worst one needs at least one",
        ));
    };
    for need in needs {
        Error::check_length("a target's need", k, need.nrows())?;
    }
    let mut look = |weights: Vec<f64>| -> Result<WorstCase> {
        let need = mean(needs, &weights);
        let design = solve(need.as_ref())?;
        let values = values(&design, needs, given)?;
        Ok(WorstCase {
            value: values.iter().copied().fold(0.0, f64::max),
            lower_bound: design.lower_bound,
            design,
            weights,
            values,
        })
    };
    let mut now = look(vec![1.0 / needs.len() as f64; needs.len()])?;
    let (mut best, mut bound) = (now.clone(), now.lower_bound);
    let mut step = 1.0;
    for _ in 1..ROUNDS {
        let reached = dot(&now.weights, &now.values);
        if needs.len() == 1 || best.value - reached <= GAP * best.value || step < 1e-6 {
            break;
        }
        let next = look(moved(&now, reached, step))?;
        bound = later(bound, next.lower_bound);
        if next.value < best.value {
            best = next.clone();
        }
        // The mean under the weights must grow: it is what the weights maximise.
        if dot(&next.weights, &next.values) >= reached * (1.0 - 1e-12) {
            (now, step) = (next, (1.5 * step).min(8.0));
        } else {
            step /= 3.0;
        }
    }
    Ok(WorstCase {
        lower_bound: bound,
        ..best
    })
}

/// The larger of two bounds.
fn later(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.into_iter().chain(b).reduce(f64::max)
}

/// Weights moved towards the targets whose values are above the mean.
fn moved(now: &WorstCase, reached: f64, step: f64) -> Vec<f64> {
    let pairs = now.weights.iter().zip(&now.values);
    let raised: Vec<f64> = pairs
        .map(|(weight, value)| {
            weight.max(1e-12) * (step * (value / reached - 1.0)).clamp(-20.0, 20.0).exp()
        })
        .collect();
    let total: f64 = raised.iter().sum();
    raised.iter().map(|weight| weight / total).collect()
}

fn mean(needs: &[Mat<f64>], weights: &[f64]) -> Mat<f64> {
    let k = needs[0].nrows();
    let mut sum = Mat::zeros(k, k);
    for (need, weight) in needs.iter().zip(weights) {
        sum += faer::Scale(*weight) * need;
    }
    sum
}

fn values(design: &Design, needs: &[Mat<f64>], given: Option<MatRef<'_, f64>>) -> Result<Vec<f64>> {
    let mut information = design.information();
    if let Some(given) = given {
        information += given;
    }
    let inverse = linalg::pseudo_inverse(information.as_ref(), RANK)?;
    let value = |need: &Mat<f64>| {
        let product = linalg::product(inverse.as_ref(), need.as_ref());
        (0..product.nrows()).map(|i| product[(i, i)]).sum()
    };
    Ok(needs.iter().map(value).collect())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
