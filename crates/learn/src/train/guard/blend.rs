//! Ways to learn the same predictor, weighed by the density that they give to folds left out.
//!
//! Which features, or how much a row counts, is not known beforehand. To take what does best on the folds and to judge it by the same
//! folds would favour whoever has most ways. So the ways are averaged, and the average is judged fold after fold, each by the shares that
//! the folds before it give: the sum is the logarithm of the mean density of all ways.

use super::HeldOutScore;
use crate::data::Statistics;
use crate::error::{Error, Result};
use crate::linalg;

/// The mean of several ways.
pub(crate) struct Blend {
    /// The share of each way, given all folds.
    pub(crate) shares: Vec<f64>,
    /// The mean on each fold.
    pub(crate) held_out: Vec<HeldOutScore>,
}

impl Blend {
    /// Blends ways, each with its probability beforehand, up to a common factor, and how it does on the same folds.
    ///
    /// # Errors
    /// No way at all, or one without coefficients.
    pub(crate) fn of<'a>(
        probabilities: &[f64],
        ways: &[&[HeldOutScore]],
        folds: impl Fn(usize) -> &'a Statistics,
    ) -> Result<Self> {
        let mut scores: Vec<f64> = probabilities.iter().map(|p| p.ln()).collect();
        let mut before = log_sum(&scores);
        if !before.is_finite() {
            return Err(Error::State("there is no way to learn a target".into()));
        }
        let count = ways.iter().map(|way| way.len()).min().unwrap_or(0);
        let mut log_densities = Vec::with_capacity(count);
        for at in 0..count {
            for (score, way) in scores.iter_mut().zip(ways) {
                *score += way[at].log_density;
            }
            let after = log_sum(&scores);
            log_densities.push(after - before);
            if !after.is_finite() {
                // Such a fold does not distinguish one way from another.
                scores = probabilities.iter().map(|p| p.ln()).collect();
                before = log_sum(&scores);
                continue;
            }
            before = after;
        }
        let shares: Vec<f64> = scores.iter().map(|score| (score - before).exp()).collect();
        let held_out = log_densities.into_iter().enumerate().map(|(at, density)| {
            let on_fold = ways.iter().map(|way| &way[at]);
            let parts: Vec<(f64, &HeldOutScore)> = shares.iter().copied().zip(on_fold).collect();
            mean(&parts, density, folds(at))
        });
        Ok(Self {
            held_out: held_out.collect(),
            shares,
        })
    }
}

/// Logarithm of a sum of exponentials.
fn log_sum(values: &[f64]) -> f64 {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !top.is_finite() {
        return top;
    }
    top + values.iter().map(|v| (v - top).exp()).sum::<f64>().ln()
}

/// How the mean of several ways does on a fold.
fn mean(parts: &[(f64, &HeldOutScore)], log_density: f64, unseen: &Statistics) -> HeldOutScore {
    let (mut coefficients, mut variances, mut squares) = (Vec::new(), Vec::new(), 0.0);
    for output in 0..unseen.outputs() {
        let mut mean = vec![0.0; unseen.dim()];
        for (share, one) in parts {
            let own = mean.iter_mut().zip(&one.coefficients[output]);
            own.for_each(|(sum, value)| *sum += share * value);
        }
        let mut variance = 0.0;
        for (share, one) in parts {
            let own = one.coefficients[output].iter().zip(&mean);
            let apart: Vec<f64> = own.map(|(a, b)| a - b).collect();
            let spread = linalg::packed::quadratic(unseen.gram(), &apart).max(0.0);
            variance += share * (one.variances[output] + spread);
        }
        squares += unseen.residual_sum_of_squares(output, &mean).max(0.0);
        variances.push(variance);
        coefficients.push(mean);
    }
    HeldOutScore {
        fold: parts.first().map_or(0, |(_, one)| one.fold),
        log_density,
        sum_of_squared_errors: squares,
        variances,
        coefficients,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::data::Samples;

    /// Two ways on two folds of one row each, `y = 1` and `y = 2` at `x = 1`.
    fn folds() -> Vec<Statistics> {
        let fold = |y: f64| {
            let mut rows = Statistics::new(1, 1);
            let one = Samples::new(vec![1.0], 1, vec![y], 1).unwrap();
            rows.accumulate(&one).unwrap();
            rows
        };
        vec![fold(1.0), fold(2.0)]
    }

    fn way(log_densities: [f64; 2], coefficient: f64) -> Vec<HeldOutScore> {
        let judged = log_densities.into_iter().enumerate();
        judged
            .map(|(fold, log_density)| HeldOutScore {
                fold,
                log_density,
                sum_of_squared_errors: 0.0,
                variances: vec![0.5],
                coefficients: vec![vec![coefficient]],
            })
            .collect()
    }

    #[test]
    fn the_density_of_a_blend_is_the_mean_of_its_ways() {
        let folds = folds();
        let (a, b) = (way([-1.0, -3.0], 0.0), way([-2.0, -0.5], 4.0));
        let blend = Blend::of(&[3.0, 1.0], &[&a, &b], |at| &folds[at]).unwrap();
        let found: f64 = blend.held_out.iter().map(|one| one.log_density).sum();
        let (of_a, of_b) = (0.75 * (-4.0_f64).exp(), 0.25 * (-2.5_f64).exp());
        assert!((found - (of_a + of_b).ln()).abs() < 1e-12, "{found}");
        let share = of_b / (of_a + of_b);
        assert!((blend.shares[1] - share).abs() < 1e-12);
        let mean = 4.0 * share;
        for (one, label) in blend.held_out.iter().zip([1.0, 2.0]) {
            assert!((one.coefficients[0][0] - mean).abs() < 1e-12);
            assert!((one.sum_of_squared_errors - (label - mean).powi(2)).abs() < 1e-9);
            let variance = 0.5 + 16.0 * share * (1.0 - share);
            assert!((one.variances[0] - variance).abs() < 1e-9);
        }
    }

    #[test]
    fn ways_that_all_fail_on_a_fold_are_shared_evenly() {
        let folds = folds();
        let fails = way([f64::NEG_INFINITY, -1.0], 1.0);
        let blend = Blend::of(&[1.0, 1.0], &[&fails, &fails], |at| &folds[at]).unwrap();
        assert!(blend.shares.iter().all(|share| (share - 0.5).abs() < 1e-12));
        assert!(Blend::of(&[], &[], |at| &folds[at]).is_err());
    }
}
