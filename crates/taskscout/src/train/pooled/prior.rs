//! What is expected of a task before its rows are seen, and what its rows make of it.

use faer::Mat;

use super::component::{Component, Posterior};
use crate::data::Statistics;
use crate::error::Result;
use crate::linalg;

/// How much stranger than its kin a task may be: factors of the variances of its own part.
const STRANGENESS: [f64; 4] = [0.3, 1.0, 3.0, 10.0];
/// How much noisier: factors of the noise of its kin, in half octaves.
const NOISES: std::ops::RangeInclusive<i32> = -6..=6;
/// Logarithmic spreads of the two.
const SPREADS: [f64; 2] = [1.4, 1.0];

/// What is expected of a task before its rows are seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Prior {
    /// What its kin have in common.
    pub(super) common: Posterior,
    /// Variances of what is its own.
    pub(super) own: Vec<f64>,
    /// The noise variance of its kin.
    pub(super) noise: f64,
}

impl Prior {
    pub(super) fn of(component: &Component, shared: &[f64]) -> Self {
        Self {
            common: component.common(shared),
            own: component.own_variances(),
            noise: component.noise,
        }
    }

    /// The mean of the coefficients given rows, where noise and strangeness come from the rows'
    /// marginal likelihood.
    ///
    /// # Errors
    /// A breakdown of the numerics.
    pub fn update(&self, rows: &Statistics, output: usize) -> Result<Vec<f64>> {
        let mean = &self.common.mean;
        let gram = rows.gram_matrix();
        let fitted = linalg::apply(gram.as_ref(), mean);
        let left: Vec<f64> = rows
            .moment(output)
            .iter()
            .zip(&fitted)
            .map(|(b, f)| b - f)
            .collect();
        let square = rows.residual(output, mean).max(0.0);
        let (n, d) = (rows.count() as f64, mean.len());
        let mut best: Option<(f64, Vec<f64>)> = None;
        for strangeness in STRANGENESS {
            let mut covariance = self.common.covariance.clone();
            for (a, own) in self.own.iter().enumerate() {
                covariance[(a, a)] += strangeness * own;
            }
            let root = linalg::cholesky(covariance.as_ref(), "a task's prior")?.lower();
            let half = linalg::product(gram.as_ref(), root.as_ref());
            let white = linalg::product(root.transpose(), half.as_ref());
            let (values, vectors) = linalg::eigen(white.as_ref(), "a task's rows")?;
            let turned =
                linalg::apply(vectors.transpose(), &linalg::apply(root.transpose(), &left));
            for step in NOISES {
                let factor = f64::from(step) * 0.5 * std::f64::consts::LN_2;
                let noise = self.noise * factor.exp();
                let (mut explained, mut volume) = (0.0, (n - d as f64) * noise.ln());
                for (value, moment) in values.iter().zip(&turned) {
                    let total = value.max(0.0) + noise;
                    explained += moment * moment / total;
                    volume += total.ln();
                }
                let score = -0.5
                    * ((square - explained).max(0.0) / noise
                        + volume
                        + (strangeness.ln() / SPREADS[0]).powi(2)
                        + (factor / SPREADS[1]).powi(2));
                if best.as_ref().is_none_or(|(known, _)| score > *known) {
                    let shrunk: Vec<f64> = values
                        .iter()
                        .zip(&turned)
                        .map(|(value, moment)| moment / (value.max(0.0) + noise))
                        .collect();
                    let step =
                        linalg::apply(root.as_ref(), &linalg::apply(vectors.as_ref(), &shrunk));
                    let moved = mean.iter().zip(&step).map(|(m, s)| m + s).collect();
                    best = Some((score, moved));
                }
            }
        }
        Ok(best.map_or_else(|| mean.clone(), |(_, coefficients)| coefficients))
    }

    /// The covariance of the coefficients: what kin leave open, and what is a task's own.
    #[must_use]
    pub fn covariance(&self) -> Mat<f64> {
        let mut covariance = self.common.covariance.clone();
        for (a, own) in self.own.iter().enumerate() {
            covariance[(a, a)] += own;
        }
        covariance
    }

    /// The mean of the coefficients.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.common.mean
    }
}
