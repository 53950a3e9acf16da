//! What is known of one output's function: its coefficients, how well they are known, and the noise.
//!
//! Every way to a predictor ends in such a posterior, so that all of them can be judged alike: by the
//! density that they give to rows they have not seen. With mean `m` and covariance `V` of the
//! coefficients and noise `σ²` that `ν` rows estimate, labels `y` at rows `X` follow the
//! multivariate t distribution around `X m` with scale `σ² I + X V Xᵀ` and `ν` degrees of freedom.
//! What is known badly is not counted as wrong, and what is known well has to be right.

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::gram_root::GramRoot;
use crate::data::Statistics;
use crate::error::Result;
use crate::linalg;

/// Part of the labels' mean square that the noise is at least: what rounding leaves.
const LEAST_NOISE: f64 = 1e-13;

/// The posterior of one output's linear function: mean and covariance of its coefficients, noise
/// variance and degrees of freedom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinearPosterior {
    /// The mean of the coefficients.
    pub mean: Vec<f64>,
    /// Their covariance.
    #[serde(with = "linalg::serde_mat")]
    pub covariance: Mat<f64>,
    /// The noise variance of a label.
    pub noise: f64,
    /// Rows that the noise rests on, the degrees of freedom of predictions.
    #[serde(rename = "freedom")]
    pub degrees_of_freedom: f64,
}

/// The least noise variance that the labels of some rows can be said to have, for each output.
pub(crate) fn least_noises(rows: &Statistics) -> Vec<f64> {
    let count = (rows.count() as f64).max(1.0);
    (0..rows.outputs())
        .map(|output| (LEAST_NOISE * rows.sum_of_squares(output) / count).max(f64::MIN_POSITIVE))
        .collect()
}

impl LinearPosterior {
    /// The logarithm of the density of rows.
    ///
    /// # Errors
    /// A breakdown of the numerics.
    pub(crate) fn log_density(&self, root: &GramRoot) -> Result<f64> {
        let [density] = self.log_densities(root, [1.0])?;
        Ok(density)
    }

    /// The same for several factors of all variances, those of the coefficients and that of the noise.
    ///
    /// # Errors
    /// A breakdown of the numerics.
    pub(crate) fn log_densities<const N: usize>(
        &self,
        root: &GramRoot,
        factors: [f64; N],
    ) -> Result<[f64; N]> {
        if root.rows <= 0.0 {
            return Ok([0.0; N]);
        }
        let left = root.less(&self.mean);
        let half = linalg::product(root.root.as_ref(), self.covariance.as_ref());
        let spread = linalg::symmetric_product(half.as_ref(), root.root.transpose());
        let (misfit, volume) = whitened(&spread, self.noise, &left)?;
        let misfit = misfit + root.rest / self.noise;
        let volume = volume + (root.rows - root.rank() as f64) * self.noise.ln();
        let (n, freedom) = (root.rows, self.degrees_of_freedom);
        let constant = log_gamma(0.5 * (freedom + n))
            - log_gamma(0.5 * freedom)
            - 0.5 * n * (freedom * std::f64::consts::PI).ln();
        Ok(factors.map(|factor| {
            let volume = volume + n * factor.ln();
            constant - 0.5 * volume - 0.5 * (freedom + n) * (misfit / (factor * freedom)).ln_1p()
        }))
    }

    /// The same function with all variances times a factor, those of the coefficients and that of the noise.
    pub(crate) fn with_variances_times(&self, factor: f64) -> Self {
        Self {
            mean: self.mean.clone(),
            covariance: faer::Scale(factor) * &self.covariance,
            noise: factor * self.noise,
            degrees_of_freedom: self.degrees_of_freedom,
        }
    }

    /// The variance of a t distribution of these degrees of freedom over its squared scale.
    #[must_use]
    pub fn t_variance_factor(&self) -> f64 {
        let freedom = self.degrees_of_freedom.max(3.0);
        freedom / (freedom - 2.0)
    }

    /// The sum over rows of the variance of what is expected of them.
    pub(crate) fn variance_on(&self, rows: &Statistics) -> f64 {
        linalg::packed::inner(rows.gram(), self.covariance.as_ref())
    }

    /// The same function on other coefficients, those of a linear map of these.
    pub(crate) fn mapped(&self, map: faer::MatRef<'_, f64>) -> Self {
        let half = linalg::product(map, self.covariance.as_ref());
        Self {
            mean: linalg::apply(map, &self.mean),
            covariance: linalg::symmetric_product(half.as_ref(), map.transpose()),
            ..*self
        }
    }

    /// The same function with its coefficients at some places among `dim`, and none elsewhere.
    pub(crate) fn placed(&self, columns: &[usize], dim: usize) -> Self {
        let mut placed = Self {
            mean: vec![0.0; dim],
            covariance: Mat::zeros(dim, dim),
            ..*self
        };
        for (a, &i) in columns.iter().enumerate() {
            placed.mean[i] = self.mean[a];
            for (b, &j) in columns.iter().enumerate() {
                placed.covariance[(i, j)] = self.covariance[(a, b)];
            }
        }
        placed
    }

    /// The mean and covariance of a mixture, by weights that need not add up to one.
    pub(crate) fn mean_of(parts: &[(f64, &Self)]) -> Self {
        let d = parts
            .first()
            .map_or(0, |(_, posterior)| posterior.mean.len());
        let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
        let (mut mean, mut covariance) = (vec![0.0; d], Mat::<f64>::zeros(d, d));
        let (mut noise, mut freedom) = (0.0, 0.0);
        for (weight, posterior) in parts {
            let weight = weight / total;
            mean.iter_mut()
                .zip(&posterior.mean)
                .for_each(|(sum, value)| *sum += weight * value);
            covariance += faer::Scale(weight) * &posterior.covariance;
            noise += weight * posterior.noise;
            freedom += weight * posterior.degrees_of_freedom;
        }
        for (weight, posterior) in parts {
            let apart: Vec<f64> = posterior
                .mean
                .iter()
                .zip(&mean)
                .map(|(a, b)| a - b)
                .collect();
            for j in 0..d {
                let scale = weight / total * apart[j];
                (0..d).for_each(|i| covariance[(i, j)] += scale * apart[i]);
            }
        }
        Self {
            mean,
            covariance,
            noise,
            degrees_of_freedom: freedom,
        }
    }
}

/// `zᵀ (S + σ²)⁻¹ z` and `log det (S + σ²)`. Where rounding has left `S` with an eigenvalue below zero, that
/// counts as zero.
fn whitened(spread: &Mat<f64>, noise: f64, left: &[f64]) -> Result<(f64, f64)> {
    let rank = left.len();
    let mut scale = spread.clone();
    (0..rank).for_each(|i| scale[(i, i)] += noise);
    if let Ok(factor) = linalg::cholesky(scale.as_ref(), "the density of held-out rows") {
        let column = Mat::from_fn(rank, 1, |i, _| left[i]);
        let solved = linalg::column(factor.solve(column.as_ref()).as_ref(), 0);
        return Ok((linalg::dot(&solved, left), factor.log_det()));
    }
    let (values, vectors) = linalg::eigen(spread.as_ref(), "the density of held-out rows")?;
    let turned = linalg::apply(vectors.transpose(), left);
    let totals = values.iter().map(|value| value.max(0.0) + noise);
    Ok(totals
        .zip(&turned)
        .fold((0.0, 0.0), |(misfit, volume), (total, z)| {
            (misfit + z * z / total, volume + total.ln())
        }))
}

/// `ln Γ(x)` for `x > 0`: Stirling's series, from where it is exact to rounding.
fn log_gamma(x: f64) -> f64 {
    let (mut at, mut product) = (x, 1.0);
    while at < 15.0 {
        product *= at;
        at += 1.0;
    }
    let inverse = 1.0 / (at * at);
    let series =
        (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0))) / at;
    (at - 0.5) * at.ln() - at + 0.5 * std::f64::consts::TAU.ln() + series - product.ln()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::data::Samples;
    use crate::rng::{Purpose, derive};

    #[test]
    fn the_gamma_function_is_that_of_tables() {
        for (x, expected) in [
            (0.5, 0.572_364_942_924_700_1),
            (1.0, 0.0),
            (3.5, 1.200_973_602_347_074_3),
            (10.0, 12.801_827_480_081_469),
            (100.0, 359.134_205_369_575_4),
        ] {
            assert!((log_gamma(x) - expected).abs() < 1e-12, "{x}");
        }
    }

    /// A factor of all variances is the same as another posterior.
    #[test]
    fn factors_of_variances_are_other_posteriors() {
        let rng = &mut derive(2, Purpose::Test, &[]);
        let mut normals =
            |n: usize| -> Vec<f64> { (0..n).map(|_| StandardNormal.sample(rng)).collect() };
        let mut rows = Statistics::new(3, 1);
        let samples = Samples::new(normals(15), 3, normals(5), 1).unwrap();
        rows.accumulate(&samples).unwrap();
        let root = GramRoot::of(&rows, 0);
        let posterior = LinearPosterior {
            mean: vec![0.2, -0.4, 0.1],
            covariance: Mat::from_fn(3, 3, |i, j| if i == j { 0.5 } else { 0.1 }),
            noise: 0.3,
            degrees_of_freedom: 4.0,
        };
        let factors = [1.0, 16.0, 0.25];
        let found = posterior.log_densities(&root, factors).unwrap();
        for (factor, found) in factors.into_iter().zip(found) {
            let other = posterior.with_variances_times(factor);
            let expected = other.log_density(&root).unwrap();
            assert!((found - expected).abs() < 1e-9, "{factor}");
        }
    }

    /// The density of rows taken together is the product of those of one row after the other, each
    /// given those before it, where noise and coefficients are conjugate.
    #[test]
    fn densities_multiply() {
        let rng = &mut derive(1, Purpose::Test, &[]);
        let (d, n) = (3, 5);
        let normals = |n: usize, rng: &mut crate::rng::Rng| -> Vec<f64> {
            (0..n).map(|_| StandardNormal.sample(rng)).collect()
        };
        let (x, y) = (normals(n * d, rng), normals(n, rng));
        let rows = |range: std::ops::Range<usize>| {
            let mut rows = Statistics::new(d, 1);
            let inputs = x[range.start * d..range.end * d].to_vec();
            let samples = Samples::new(inputs, d, y[range].to_vec(), 1).unwrap();
            rows.accumulate(&samples).unwrap();
            rows
        };
        let prior = LinearPosterior {
            mean: vec![0.2, -0.4, 0.1],
            covariance: Mat::from_fn(d, d, |i, j| if i == j { 0.5 } else { 0.1 }),
            noise: 0.3,
            degrees_of_freedom: 4.0,
        };
        // The conjugate update: covariances are in units of the noise.
        let update = |posterior: &LinearPosterior, row: &Statistics| {
            let gram = row.gram_matrix();
            let x: Vec<f64> = (0..d).map(|i| gram[(i, i)].sqrt()).collect();
            let sign: Vec<f64> = (0..d).map(|i| gram[(i, 0)].signum()).collect();
            let x: Vec<f64> = x.iter().zip(sign).map(|(x, s)| x * s).collect();
            let y = row.cross_moment(0)[0] / x[0];
            let spread = linalg::apply(posterior.covariance.as_ref(), &x);
            let scale = posterior.noise + linalg::dot(&x, &spread);
            let left = y - linalg::dot(&x, &posterior.mean);
            let factor = (posterior.degrees_of_freedom + left * left / scale)
                / (posterior.degrees_of_freedom + 1.0);
            LinearPosterior {
                mean: (0..d)
                    .map(|i| posterior.mean[i] + spread[i] * left / scale)
                    .collect(),
                covariance: Mat::from_fn(d, d, |i, j| {
                    factor * (posterior.covariance[(i, j)] - spread[i] * spread[j] / scale)
                }),
                noise: factor * posterior.noise,
                degrees_of_freedom: posterior.degrees_of_freedom + 1.0,
            }
        };
        let (mut posterior, mut total) = (prior.clone(), 0.0);
        for row in 0..n {
            let one = rows(row..row + 1);
            total += posterior.log_density(&GramRoot::of(&one, 0)).unwrap();
            posterior = update(&posterior, &one);
        }
        let together = prior.log_density(&GramRoot::of(&rows(0..n), 0)).unwrap();
        assert!((total - together).abs() < 1e-9, "{total} {together}");
    }
}
