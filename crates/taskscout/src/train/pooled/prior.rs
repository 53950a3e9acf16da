//! What is expected of a task before its rows are seen, and what its rows make of it.

use faer::Mat;

use super::component::{Component, Posterior};
use super::shadow::Shadow;
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

/// How a task departs from its kin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Departure {
    /// Factor of the variances of its own part.
    pub strangeness: f64,
    /// Its noise variance.
    pub noise: f64,
}

impl Prior {
    pub(super) fn of(component: &Component, shared: &[f64]) -> Self {
        Self {
            common: component.common(shared),
            own: component.own_variances(),
            noise: component.noise,
        }
    }

    /// The mean of the coefficients.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.common.mean
    }

    /// The covariance of the coefficients: what kin leave open, and what is a task's own, so many
    /// times as large as its kin's.
    #[must_use]
    pub fn covariance(&self, strangeness: f64) -> Mat<f64> {
        let mut covariance = self.common.covariance.clone();
        for (a, own) in self.own.iter().enumerate() {
            covariance[(a, a)] += strangeness * own;
        }
        covariance
    }

    /// How a task with such rows departs from its kin, by marginal likelihood.
    ///
    /// # Errors
    /// A breakdown of the numerics.
    pub fn departure(&self, rows: &Statistics, output: usize) -> Result<Departure> {
        let shadow = Shadow::of(rows, output);
        let left = shadow.less(self.mean());
        let mut best: Option<(f64, Departure)> = None;
        for strangeness in STRANGENESS {
            let half = linalg::product(shadow.root.as_ref(), self.covariance(strangeness).as_ref());
            let kernel = linalg::product(half.as_ref(), shadow.root.transpose());
            let (values, vectors) = linalg::eigen(kernel.as_ref(), "a task's rows")?;
            let turned = linalg::apply(vectors.transpose(), &left);
            for step in NOISES {
                let factor = f64::from(step) * 0.5 * std::f64::consts::LN_2;
                let noise = self.noise * factor.exp();
                let free = shadow.rows - shadow.rank() as f64;
                let mut misfit = shadow.rest / noise + free * noise.ln();
                for (value, label) in values.iter().zip(&turned) {
                    let total = value.max(0.0) + noise;
                    misfit += label * label / total + total.ln();
                }
                let score = -0.5
                    * (misfit
                        + (strangeness.ln() / SPREADS[0]).powi(2)
                        + (factor / SPREADS[1]).powi(2));
                if best.as_ref().is_none_or(|(known, _)| score > *known) {
                    best = Some((score, Departure { strangeness, noise }));
                }
            }
        }
        let usual = Departure {
            strangeness: 1.0,
            noise: self.noise,
        };
        Ok(best.map_or(usual, |(_, departure)| departure))
    }

    /// The mean of the coefficients given rows of a task that departs so far from its kin.
    ///
    /// # Errors
    /// A breakdown of the numerics.
    pub fn update(
        &self,
        rows: &Statistics,
        output: usize,
        departure: Departure,
    ) -> Result<Vec<f64>> {
        let shadow = Shadow::of(rows, output);
        let left = shadow.less(self.mean());
        let covariance = self.covariance(departure.strangeness);
        let half = linalg::product(shadow.root.as_ref(), covariance.as_ref());
        let mut kernel = linalg::product(half.as_ref(), shadow.root.transpose());
        (0..shadow.rank()).for_each(|i| kernel[(i, i)] += departure.noise);
        let factor = linalg::cholesky(kernel.as_ref(), "a task's rows")?;
        let column = Mat::from_fn(left.len(), 1, |i, _| left[i]);
        let solved = linalg::column(factor.solve(column.as_ref()).as_ref(), 0);
        let moved = linalg::apply(half.transpose(), &solved);
        Ok(self
            .mean()
            .iter()
            .zip(&moved)
            .map(|(mean, step)| mean + step)
            .collect())
    }
}
