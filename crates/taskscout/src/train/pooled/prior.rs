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
        let usual = Departure {
            strangeness: 1.0,
            noise: self.noise,
        };
        if shadow.rank() == 0 {
            return Ok(usual);
        }
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
        if shadow.rank() == 0 {
            return Ok(self.mean().to_vec());
        }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::data::Samples;
    use crate::rng::{Purpose, Rng, derive};

    const D: usize = 4;
    const NOISE: f64 = 0.04;

    fn normals(n: usize, rng: &mut Rng) -> Vec<f64> {
        (0..n).map(|_| StandardNormal.sample(rng)).collect()
    }

    fn prior(rng: &mut Rng) -> Prior {
        let root = Mat::from_fn(D, D, |_, _| {
            let value: f64 = StandardNormal.sample(rng);
            0.3 * value
        });
        Prior {
            common: Posterior {
                mean: normals(D, rng),
                covariance: linalg::product(root.as_ref(), root.transpose()),
            },
            own: vec![0.1, 0.02, 0.02, 0.3],
            noise: NOISE,
        }
    }

    /// Rows, with the covariance of their labels and the labels less what is expected.
    struct Rows {
        x: Mat<f64>,
        left: Vec<f64>,
        statistics: Statistics,
    }

    impl Rows {
        fn draw(prior: &Prior, n: usize, departure: Departure, rng: &mut Rng) -> Self {
            let x = normals(n * D, rng);
            let factor =
                linalg::cholesky(prior.covariance(departure.strangeness).as_ref(), "").unwrap();
            let spread = linalg::apply(factor.lower().as_ref(), &normals(D, rng));
            let theta: Vec<f64> = prior
                .mean()
                .iter()
                .zip(&spread)
                .map(|(m, s)| m + s)
                .collect();
            let y: Vec<f64> = x
                .chunks(D)
                .zip(normals(n, rng))
                .map(|(row, e)| linalg::dot(row, &theta) + departure.noise.sqrt() * e)
                .collect();
            let left = x
                .chunks(D)
                .zip(&y)
                .map(|(row, y)| y - linalg::dot(row, prior.mean()));
            let mut statistics = Statistics::new(D, 1);
            let left = left.collect();
            let samples = Samples::new(x.clone(), D, y, 1).unwrap();
            statistics.accumulate(&samples).unwrap();
            Self {
                x: Mat::from_fn(n, D, |i, j| x[i * D + j]),
                left,
                statistics,
            }
        }

        /// The covariance of all labels, factorised.
        fn covariance(&self, prior: &Prior, departure: Departure) -> linalg::Cholesky {
            let covariance = prior.covariance(departure.strangeness);
            let half = linalg::product(self.x.as_ref(), covariance.as_ref());
            let mut kernel = linalg::product(half.as_ref(), self.x.transpose());
            (0..self.left.len()).for_each(|i| kernel[(i, i)] += departure.noise);
            linalg::cholesky(kernel.as_ref(), "").unwrap()
        }

        fn solved(&self, factor: &linalg::Cholesky) -> Vec<f64> {
            let column = Mat::from_fn(self.left.len(), 1, |i, _| self.left[i]);
            linalg::column(factor.solve(column.as_ref()).as_ref(), 0)
        }
    }

    #[test]
    fn the_departure_maximises_the_marginal_likelihood_of_all_rows() {
        let rng = &mut derive(5, Purpose::Test, &[]);
        let mut kinds = std::collections::BTreeSet::new();
        for case in 0..40 {
            let prior = prior(rng);
            let truth = Departure {
                strangeness: [0.3, 10.0][case % 2],
                noise: NOISE * [0.25, 1.0, 4.0][case % 3],
            };
            let rows = Rows::draw(&prior, [3, 4, 9, 30][case % 4], truth, rng);
            let found = prior.departure(&rows.statistics, 0).unwrap();
            let score = |departure: Departure| {
                let factor = rows.covariance(&prior, departure);
                let misfit = linalg::dot(&rows.solved(&factor), &rows.left) + factor.log_det();
                let spread = (departure.strangeness.ln() / 1.4).powi(2);
                misfit + spread + (departure.noise / NOISE).ln().powi(2)
            };
            let best = score(found);
            for strangeness in [0.3, 1.0, 3.0, 10.0] {
                for step in -6..=6 {
                    let noise = NOISE * 2.0_f64.powf(0.5 * f64::from(step));
                    let other = score(Departure { strangeness, noise });
                    assert!(
                        best <= other + 1e-8 * other.abs(),
                        "{best} {other} {found:?}"
                    );
                }
            }
            kinds.insert((found.strangeness.to_bits(), found.noise.to_bits()));
        }
        // Rows do have a say.
        assert!(kinds.len() > 8, "{}", kinds.len());
    }

    #[test]
    fn an_update_is_the_mean_given_all_rows() {
        let rng = &mut derive(6, Purpose::Test, &[]);
        for (n, strangeness) in [(1, 1.0), (3, 0.3), (4, 10.0), (25, 3.0)] {
            let prior = prior(rng);
            let departure = Departure {
                strangeness,
                noise: 0.1,
            };
            let rows = Rows::draw(&prior, n, departure, rng);
            let solved = rows.solved(&rows.covariance(&prior, departure));
            let step = linalg::apply(rows.x.transpose(), &solved);
            let step = linalg::apply(prior.covariance(strangeness).as_ref(), &step);
            let found = prior.update(&rows.statistics, 0, departure).unwrap();
            for ((found, mean), step) in found.iter().zip(prior.mean()).zip(&step) {
                assert!((found - mean - step).abs() < 1e-9, "{found} {mean} {step}");
            }
        }
    }

    #[test]
    fn without_rows_a_task_is_what_its_kin_are() {
        let prior = prior(&mut derive(7, Purpose::Test, &[]));
        let nothing = Statistics::new(D, 1);
        let departure = prior.departure(&nothing, 0).unwrap();
        let usual = Departure {
            strangeness: 1.0,
            noise: NOISE,
        };
        assert_eq!(departure, usual);
        assert_eq!(prior.update(&nothing, 0, departure).unwrap(), prior.mean());
    }
}
