//! What competes for a target: a way to predict it, and how it does on rows it has not seen.

use serde::{Deserialize, Serialize};

use super::Predictor;
use crate::data::{Statistics, TaskData};
use crate::error::Result;
use crate::regression::{GramRoot, LinearPosterior};

/// Part of the labels' squares that is rounding, not error.
const ROUNDING: f64 = 1e-12;

/// Factors of all variances that a fit may need, and how probable each is beforehand, up to a common factor.
pub(crate) const VARIANCE_FACTORS: [f64; 6] = [1.0, 4.0, 16.0, 64.0, 0.25, 0.0625];
pub(crate) const FACTOR_ODDS: [f64; 6] = [1.0, 0.25, 0.0625, 0.015_625, 0.25, 0.0625];

/// One way to predict a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The predictor, fitted to all rows of the target.
    pub predictor: Predictor,
    /// What is known of each output's function, on the features; empty where a network stands between.
    #[serde(rename = "beliefs")]
    pub posteriors: Vec<LinearPosterior>,
    /// Its odds against target-only before any fold is looked at.
    #[serde(rename = "odds")]
    pub prior_odds: f64,
    /// How it does on folds of the target's rows that were left out; empty where there are too few rows.
    pub held_out: Vec<HeldOutScore>,
}

/// How a candidate fitted without a fold does on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldOutScore {
    /// The fold.
    pub fold: usize,
    /// Logarithm of the density that it gives to the labels of the fold.
    pub log_density: f64,
    /// Sum of its squared errors.
    #[serde(rename = "squares")]
    pub sum_of_squared_errors: f64,
    /// For each output, the sum over rows of the variance of what it expects.
    pub variances: Vec<f64>,
    /// Its coefficients on the features, one vector an output; empty where a network stands between.
    pub coefficients: Vec<Vec<f64>>,
}

impl HeldOutScore {
    /// Judges what is known without a fold, one posterior an output, on the rows of the fold, whose log density counts
    /// by `weight`. The coefficients are those of the posteriors.
    ///
    /// # Errors
    /// A breakdown of the numerics.
    pub(crate) fn judge(
        fold: usize,
        posteriors: &[LinearPosterior],
        unseen: &Statistics,
        weight: f64,
    ) -> Result<Self> {
        let roots: Vec<GramRoot> = (0..posteriors.len())
            .map(|output| GramRoot::of(unseen, output))
            .collect();
        Self::judge_on(fold, posteriors, (unseen, &roots), weight)
    }

    /// The same with the roots of the fold's Gram matrix for each output at hand.
    pub(crate) fn judge_on(
        fold: usize,
        posteriors: &[LinearPosterior],
        (unseen, roots): (&Statistics, &[GramRoot]),
        weight: f64,
    ) -> Result<Self> {
        let (mut log_density, mut squares) = (0.0, 0.0);
        for (output, (posterior, root)) in posteriors.iter().zip(roots).enumerate() {
            log_density += weight * posterior.log_density(root)?;
            squares += unseen
                .residual_sum_of_squares(output, &posterior.mean)
                .max(0.0);
        }
        let variance = |posterior: &LinearPosterior| posterior.variance_on(unseen).max(0.0);
        Ok(Self {
            fold,
            log_density,
            sum_of_squared_errors: squares,
            variances: posteriors.iter().map(variance).collect(),
            coefficients: posteriors
                .iter()
                .map(|posterior| posterior.mean.clone())
                .collect(),
        })
    }

    /// Judges what is known of one output without a fold, with all its variances times each of the [`VARIANCE_FACTORS`].
    ///
    /// # Errors
    /// A breakdown of the numerics.
    pub(crate) fn judge_widths(
        fold: usize,
        posterior: &LinearPosterior,
        unseen: &Statistics,
        weight: f64,
    ) -> Result<[Self; VARIANCE_FACTORS.len()]> {
        let densities = posterior.log_densities(&GramRoot::of(unseen, 0), VARIANCE_FACTORS)?;
        let squares = unseen.residual_sum_of_squares(0, &posterior.mean).max(0.0);
        let variance = posterior.variance_on(unseen).max(0.0);
        Ok(std::array::from_fn(|at| Self {
            fold,
            log_density: weight * densities[at],
            sum_of_squared_errors: squares,
            variances: vec![VARIANCE_FACTORS[at] * variance],
            coefficients: vec![posterior.mean.clone()],
        }))
    }
}

impl Candidate {
    /// The same with the mean squared error on the folds left out noted in its predictor; differences at
    /// the level of rounding are no differences.
    pub(crate) fn scored(mut self, data: &TaskData, target: usize) -> Self {
        if self.held_out.is_empty() {
            return self;
        }
        let (mut labels, mut label_squares) = (0, 0.0);
        for one in &self.held_out {
            let rows = &data.targets()[target].folds[one.fold];
            labels += rows.count() * rows.outputs();
            label_squares += (0..rows.outputs())
                .map(|o| rows.sum_of_squares(o))
                .sum::<f64>();
        }
        let total: f64 = self
            .held_out
            .iter()
            .map(|one| one.sum_of_squared_errors)
            .sum();
        let known = if total.is_nan() { f64::INFINITY } else { total };
        self.predictor.held_out_error =
            Some(known.max(ROUNDING * label_squares) / labels.max(1) as f64);
        self
    }

    /// Logarithm of the density of all folds left out.
    pub(super) fn log_density(&self) -> Option<f64> {
        if self.held_out.is_empty() {
            return None;
        }
        let total: f64 = self.held_out.iter().map(|one| one.log_density).sum();
        Some(if total.is_nan() {
            f64::NEG_INFINITY
        } else {
            total
        })
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::data::Samples;
    use crate::rng::{Purpose, derive};

    /// Of a fit that is right in the mean and wrong by a factor in its variances, the folds find the factor.
    #[test]
    fn folds_find_the_width_of_a_fit() {
        let rng = &mut derive(3, Purpose::Test, &[]);
        let mut unseen = Statistics::new(1, 1);
        let mut normals =
            |n: usize| -> Vec<f64> { StandardNormal.sample_iter(&mut *rng).take(n).collect() };
        let (inputs, noise) = (normals(80), normals(80));
        let labels = inputs
            .iter()
            .zip(&noise)
            .map(|(x, e)| 2.0 * x + 0.5 * e)
            .collect();
        unseen
            .accumulate(&Samples::new(inputs, 1, labels, 1).unwrap())
            .unwrap();
        for (found, factor) in VARIANCE_FACTORS.into_iter().enumerate() {
            let posterior = LinearPosterior {
                mean: vec![2.0],
                covariance: Mat::from_fn(1, 1, |_, _| 0.003 / factor),
                noise: 0.25 / factor,
                degrees_of_freedom: 30.0,
            };
            let judged = HeldOutScore::judge_widths(0, &posterior, &unseen, 1.0).unwrap();
            let best = (0..judged.len())
                .max_by(|&a, &b| judged[a].log_density.total_cmp(&judged[b].log_density));
            assert_eq!(best, Some(found), "variances wrong by {factor}");
            assert!((judged[found].variances[0] - 80.0 * 0.003).abs() < 0.1);
        }
    }
}
