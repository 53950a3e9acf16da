//! Ridge regression from one task's statistics, its penalty chosen by marginal likelihood.
//!
//! With prior `β ~ N(0, σ²/λ)` and eigenvalues `e_i` of the Gram matrix, the evidence of `λ` with
//! `σ²` profiled out is `−½ [ N log(S/N) + Σ log(1 + e_i/λ) ]`, where
//! `S = Σy² − Σ r_i²/(e_i + λ)` and `r` is the moment vector in the eigenbasis: after one
//! eigendecomposition each `λ` costs a pass over `d` numbers.

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::linear_posterior::LinearPosterior;
use crate::data::Statistics;
use crate::error::{Error, Result};
use crate::linalg;

/// Numbers that are summed or multiplied side by side.
const LANES: usize = 8;
/// Products above this are replaced by their logarithms before they overflow.
const LARGE_PRODUCT: f64 = 1e200;

/// A ridge regression, its penalty chosen by marginal likelihood.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RidgeFit {
    /// The coefficients.
    pub coefficients: Vec<f64>,
    /// The penalty `λ`, in units of the summed squared error.
    pub lambda: f64,
    /// The noise variance that the evidence settles on.
    pub noise: f64,
    /// Effective number of coefficients, `Σ e/(e + λ)`.
    #[serde(rename = "freedom")]
    pub degrees_of_freedom: f64,
    /// Logarithm of the marginal likelihood of the labels.
    pub log_evidence: f64,
}

/// Eigenvalues of a (possibly structured) Gram matrix with the squared moments in its eigenbasis.
pub(crate) struct Spectrum {
    pub(crate) values: Vec<f64>,
    pub(crate) moments_squared: Vec<f64>,
    pub(crate) square: f64,
    pub(crate) labels: usize,
}

impl Spectrum {
    /// `S(λ)`, the penalised residual at the optimum, in several sums at once.
    fn penalised(&self, lambda: f64) -> f64 {
        let (values, values_left) = self.values.as_chunks::<LANES>();
        let (moments, moments_left) = self.moments_squared.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for (values, moments) in values.iter().zip(moments) {
            for lane in 0..LANES {
                sums[lane] += moments[lane] / (values[lane] + lambda);
            }
        }
        let left = values_left.iter().zip(moments_left);
        let left: f64 = left.map(|(e, r)| r / (e + lambda)).sum();
        let fit = sums.iter().sum::<f64>() + left;
        // Rounding must not turn a perfect fit into a negative residual.
        (self.square - fit)
            .max(self.square.abs() * 1e-14)
            .max(f64::MIN_POSITIVE)
    }

    /// Twice the negative log evidence, up to a constant.
    fn cost(&self, lambda: f64) -> f64 {
        let n = self.labels as f64;
        n * (self.penalised(lambda) / n).ln() + self.volume(lambda)
    }

    /// `Σ log(1 + e_i/λ)`, one logarithm for several factors at a time.
    fn volume(&self, lambda: f64) -> f64 {
        let (values, left) = self.values.as_chunks::<LANES>();
        let (mut total, mut products) = (0.0, [1.0_f64; LANES]);
        for values in values {
            let mut large = false;
            for lane in 0..LANES {
                products[lane] *= 1.0 + values[lane] / lambda;
                large |= products[lane] > LARGE_PRODUCT;
            }
            if large {
                total += products.iter().map(|product| product.ln()).sum::<f64>();
                products = [1.0; LANES];
            }
        }
        let left = left.iter().map(|e| (1.0 + e / lambda).ln());
        total + products.iter().map(|product| product.ln()).sum::<f64>() + left.sum::<f64>()
    }

    /// Effective number of coefficients.
    pub(crate) fn freedom(&self, lambda: f64) -> f64 {
        self.values.iter().map(|e| e / (e + lambda)).sum()
    }

    /// Noise variance by the evidence.
    pub(crate) fn noise(&self, lambda: f64) -> f64 {
        self.penalised(lambda) / self.labels.max(1) as f64
    }

    /// Noise variance by the residual and the effective number of coefficients.
    pub(crate) fn unbiased_noise(&self, lambda: f64) -> f64 {
        let shrunk = |(e, r): (&f64, &f64)| r * (e + 2.0 * lambda) / (e + lambda).powi(2);
        let fit: f64 = self
            .values
            .iter()
            .zip(&self.moments_squared)
            .map(shrunk)
            .sum();
        let residual = (self.square - fit).max(self.square.abs() * 1e-14);
        let free = self.labels as f64 - self.freedom(lambda);
        (residual / free.max(0.05 * self.labels as f64)).max(f64::MIN_POSITIVE)
    }

    /// Logarithm of the marginal likelihood.
    fn log_evidence(&self, lambda: f64) -> f64 {
        let n = self.labels as f64;
        -0.5 * (self.cost(lambda) + n * (1.0 + std::f64::consts::TAU.ln()))
    }

    /// The penalty of largest evidence: a grid over twelve decades, then ternary sections.
    pub(crate) fn best_lambda(&self) -> f64 {
        let top = self.values.iter().copied().fold(0.0, f64::max);
        if top <= 0.0 || self.labels == 0 {
            return 1.0;
        }
        let at = |step: f64| top * 10_f64.powf(step);
        let costs: Vec<(f64, f64)> = (0..=24)
            .map(|i| -9.0 + 0.5 * f64::from(i))
            .map(|step| (self.cost(at(step)), step))
            .collect();
        let best = costs
            .iter()
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map_or(0.0, |(_, step)| *step);
        // Ternary sections: the evidence is flat at its top, so a few percent of λ are plenty.
        let (mut low, mut high) = (best - 0.5, best + 0.5);
        for _ in 0..8 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if self.cost(at(a)) <= self.cost(at(b)) {
                high = b;
            } else {
                low = a;
            }
        }
        at(0.5 * (low + high))
    }
}

/// What is known of the noise before any row: a variance, and for how many rows it counts. By default nothing is.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NoisePrior {
    pub(crate) rows: usize,
    pub(crate) noise: f64,
}

/// A Gram matrix diagonalised once, to be fitted to several right-hand sides.
#[derive(Debug)]
pub(crate) struct RidgeSolver {
    values: Vec<f64>,
    vectors: Mat<f64>,
    count: usize,
}

impl RidgeSolver {
    /// Diagonalises.
    pub(crate) fn new(statistics: &Statistics) -> Result<Self> {
        let gram = statistics.gram_matrix();
        let (values, vectors) = linalg::eigen(gram.as_ref(), "the Gram matrix of the target")?;
        let values = values.into_iter().map(|value| value.max(0.0)).collect();
        Ok(Self {
            values,
            vectors,
            count: statistics.count(),
        })
    }

    /// Fits `Σ ψ y = moment`, `Σ y² = square`, with what is known of the noise.
    pub(crate) fn fit(&self, moment: &[f64], square: f64, known: NoisePrior) -> RidgeFit {
        let rotated = linalg::apply(self.vectors.transpose(), moment);
        let spectrum = Spectrum {
            values: self.values.clone(),
            moments_squared: rotated.iter().map(|r| r * r).collect(),
            // Rows that no coefficient explains.
            square: square + known.rows as f64 * known.noise,
            labels: self.count + known.rows,
        };
        let lambda = spectrum.best_lambda();
        let scaled: Vec<f64> = rotated
            .iter()
            .zip(&self.values)
            .map(|(r, e)| r / (e + lambda))
            .collect();
        RidgeFit {
            coefficients: linalg::apply(self.vectors.as_ref(), &scaled),
            lambda,
            noise: spectrum.noise(lambda),
            degrees_of_freedom: spectrum.freedom(lambda),
            log_evidence: spectrum.log_evidence(lambda),
        }
    }
}

impl RidgeSolver {
    /// The fit as what is known of the function, with a noise of at least so much: its covariance is `σ² (G + λI)⁻¹`.
    pub(crate) fn posterior(
        &self,
        fit: &RidgeFit,
        least_noise: f64,
        known: NoisePrior,
    ) -> LinearPosterior {
        let rows = (self.count + known.rows) as f64;
        let noise = fit.noise.max(least_noise);
        let d = self.values.len();
        let scaled = Mat::from_fn(d, d, |i, j| {
            self.vectors[(i, j)] * (noise / (self.values[j] + fit.lambda)).sqrt()
        });
        LinearPosterior {
            mean: fit.coefficients.clone(),
            covariance: linalg::symmetric_product(scaled.as_ref(), scaled.transpose()),
            noise,
            degrees_of_freedom: rows.max(1.0),
        }
    }
}

/// Fits one output of a task by ridge regression.
///
/// ```
/// use taskscout::data::{Samples, Statistics};
/// let x: Vec<f64> = (0..50).map(|i| f64::from(i) / 10.0).collect();
/// let y = x.iter().map(|x| 2.0 * x).collect();
/// let mut statistics = Statistics::new(1, 1);
/// statistics.accumulate(&Samples::new(x, 1, y, 1)?)?;
/// let fit = taskscout::train::ridge(&statistics, 0)?;
/// assert!((fit.coefficients[0] - 2.0).abs() < 1e-3);
/// # Ok::<(), taskscout::Error>(())
/// ```
///
/// # Errors
/// No rows, or no such output.
pub fn ridge(statistics: &Statistics, output: usize) -> Result<RidgeFit> {
    if statistics.count() == 0 {
        return Err(Error::State(
            "a ridge fit needs at least one row: collect some first".into(),
        ));
    }
    if output >= statistics.outputs() {
        return Err(Error::State(format!(
            "there is no output {output}: the statistics have {}",
            statistics.outputs()
        )));
    }
    let solver = RidgeSolver::new(statistics)?;
    Ok(solver.fit(
        statistics.cross_moment(output),
        statistics.sum_of_squares(output),
        NoisePrior::default(),
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::data::Samples;
    use crate::rng::{Purpose, derive};

    /// `n` rows with features of falling size, labels from unit coefficients and unit noise.
    fn rows(n: usize, d: usize, seed: u64) -> Statistics {
        let mut rng = derive(seed, Purpose::Test, &[]);
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let inputs: Vec<f64> = (0..n * d).map(|i| normal() / (1 + i % d) as f64).collect();
        let outputs = inputs
            .chunks_exact(d)
            .map(|x| x.iter().sum::<f64>() + normal())
            .collect();
        let mut statistics = Statistics::new(d, 1);
        statistics
            .accumulate(&Samples::new(inputs, d, outputs, 1).unwrap())
            .unwrap();
        statistics
    }

    /// Statistics given as such, for one output.
    fn given(count: usize, gram: &[f64], moment: &[f64], square: f64) -> Statistics {
        let fields = serde_json::json!({
            "dim": moment.len(), "count": count, "gram": gram, "moments": moment, "squares": [square],
        });
        serde_json::from_value(fields).unwrap()
    }

    fn scaled(statistics: &Statistics, features: f64, labels: f64) -> Statistics {
        let scale = |values: &[f64], by: f64| -> Vec<f64> {
            values.iter().map(|value| value * by).collect()
        };
        given(
            statistics.count(),
            &scale(statistics.gram(), features * features),
            &scale(statistics.cross_moment(0), features * labels),
            statistics.sum_of_squares(0) * labels * labels,
        )
    }

    fn spectrum(statistics: &Statistics) -> Spectrum {
        let solver = RidgeSolver::new(statistics).unwrap();
        let rotated = linalg::apply(solver.vectors.transpose(), statistics.cross_moment(0));
        Spectrum {
            values: solver.values,
            moments_squared: rotated.iter().map(|r| r * r).collect(),
            square: statistics.sum_of_squares(0),
            labels: statistics.count(),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_chosen_penalty_beats_its_neighbours(d in 1_usize..6, n in 8_usize..60, seed in any::<u64>()) {
            let spectrum = spectrum(&rows(n, d, seed));
            let best = spectrum.best_lambda();
            let top = spectrum.values.iter().copied().fold(0.0, f64::max);
            for factor in [0.3, 0.7, 1.4, 3.0, 30.0, 1e3, 1e-3] {
                let other = best * factor;
                if (1e-9 * top..1e3 * top).contains(&other) {
                    // The sections leave a few percent of λ, where the evidence is flat.
                    prop_assert!(spectrum.cost(best) <= spectrum.cost(other) + 1e-3, "{} {}", best, factor);
                }
            }
        }

        /// The evidence's formula, by dense algebra: `S = yᵀy − bᵀ(G + λ)⁻¹b`, `log det(I + G/λ)`.
        #[test]
        fn the_evidence_is_that_of_the_dense_formula(
            (d, n) in (1_usize..6, 6_usize..30),
            log_lambda in -4.0_f64..4.0,
            seed in any::<u64>(),
        ) {
            let statistics = rows(n, d, seed);
            let lambda = 10_f64.powf(log_lambda);
            let gram = statistics.gram_matrix();
            let ridged = Mat::from_fn(d, d, |i, j| gram[(i, j)] + if i == j { lambda } else { 0.0 });
            let inverse = linalg::cholesky(ridged.as_ref(), "a test").unwrap();
            let rhs = Mat::from_fn(d, 1, |i, _| statistics.cross_moment(0)[i]);
            let left = statistics.sum_of_squares(0) - linalg::inner(rhs.as_ref(), inverse.solve(rhs.as_ref()).as_ref());
            let volume = inverse.log_det() - d as f64 * lambda.ln();
            let labels = n as f64;
            let expected = labels * (left / labels).ln() + volume;
            let spectrum = spectrum(&statistics);
            prop_assert!((spectrum.cost(lambda) - expected).abs() < 1e-8 * (1.0 + expected.abs()));
            let freedom = d as f64 - lambda * inverse.inverse_trace();
            prop_assert!((spectrum.freedom(lambda) - freedom).abs() < 1e-8);
            prop_assert!((spectrum.noise(lambda) - left / labels).abs() < 1e-8 * left / labels);
        }
    }

    /// With one feature the evidence has its top at `λ = e (e S − r²) / (N r² − e S)`.
    #[test]
    fn one_feature_has_a_closed_form() {
        for seed in 0..10 {
            let statistics = rows(40, 1, seed);
            let (e, r, s) = (
                statistics.gram()[0],
                statistics.cross_moment(0)[0],
                statistics.sum_of_squares(0),
            );
            let exact = e * (e * s - r * r) / (40.0 * r * r - e * s);
            let fit = ridge(&statistics, 0).unwrap();
            assert!(
                (fit.lambda / exact - 1.0).abs() < 0.05,
                "{} {exact}",
                fit.lambda
            );
            assert!((fit.coefficients[0] - r / (e + fit.lambda)).abs() < 1e-12);
            assert!((fit.degrees_of_freedom - e / (e + fit.lambda)).abs() < 1e-12);
            assert!((fit.noise - (s - r * r / (e + fit.lambda)) / 40.0).abs() < 1e-12 * s);
        }
    }

    #[test]
    fn the_coefficients_solve_the_ridge_equations() {
        let statistics = rows(30, 5, 3);
        let fit = ridge(&statistics, 0).unwrap();
        let mut image = vec![0.0; 5];
        linalg::packed::multiply_add(statistics.gram(), &fit.coefficients, &mut image);
        for ((image, beta), moment) in image
            .iter()
            .zip(&fit.coefficients)
            .zip(statistics.cross_moment(0))
        {
            assert!((image + fit.lambda * beta - moment).abs() < 1e-10);
        }
    }

    #[test]
    fn unrelated_labels_are_shrunk_away() {
        let mut rng = derive(8, Purpose::Test, &[]);
        let mut normals =
            |n: usize| -> Vec<f64> { (0..n).map(|_| StandardNormal.sample(&mut rng)).collect() };
        let (inputs, outputs) = (normals(400), normals(100));
        let mut statistics = Statistics::new(4, 1);
        statistics
            .accumulate(&Samples::new(inputs, 4, outputs, 1).unwrap())
            .unwrap();
        let fit = ridge(&statistics, 0).unwrap();
        assert!(fit.degrees_of_freedom < 1.5, "{fit:?}");
        assert!((fit.noise - 1.0).abs() < 0.35, "{fit:?}");
    }

    #[test]
    fn units_do_not_matter() {
        let plain = rows(30, 4, 5);
        let reference = ridge(&plain, 0).unwrap();
        for (features, labels) in [
            (1e50, 1.0),
            (1e-50, 1.0),
            (1.0, 1e50),
            (1.0, 1e-50),
            (1e30, 1e-20),
        ] {
            let fit = ridge(&scaled(&plain, features, labels), 0).unwrap();
            for (a, b) in fit.coefficients.iter().zip(&reference.coefficients) {
                let back = a / labels * features;
                assert!(
                    (back - b).abs() < 1e-6 * b.abs().max(1e-3),
                    "{features} {labels}: {back} {b}"
                );
            }
            assert!((fit.degrees_of_freedom - reference.degrees_of_freedom).abs() < 1e-6);
        }
    }

    #[test]
    fn degenerate_data_give_finite_fits() {
        let finite = |statistics: &Statistics| {
            let fit = ridge(statistics, 0).unwrap();
            assert!(
                fit.coefficients.iter().all(|value| value.is_finite()),
                "{fit:?}"
            );
            assert!(
                fit.lambda > 0.0
                    && fit.lambda.is_finite()
                    && fit.noise >= 0.0
                    && fit.noise.is_finite(),
                "{fit:?}"
            );
            fit
        };
        // No features seen, no labels seen, nothing at all.
        let flat = given(3, &[0.0; 6], &[0.0; 3], 2.0);
        assert!(
            finite(&flat)
                .coefficients
                .iter()
                .all(|value| value.abs() <= 0.0)
        );
        finite(&given(3, &[0.0; 6], &[0.0; 3], 0.0));
        let silent = given(3, &[1.0, 0.0, 1.0, 0.0, 0.0, 1.0], &[0.0; 3], 0.0);
        finite(&silent);
        // One row: a Gram matrix of rank one; a perfect fit is possible.
        let one = rows(1, 5, 6);
        finite(&one);
        for size in [1e100, 1e-100] {
            finite(&scaled(&one, f64::sqrt(size), 1.0));
            finite(&scaled(&rows(20, 3, 7), f64::sqrt(size), f64::sqrt(size)));
        }
        // Labels that are a perfect function of the features.
        let perfect = given(4, &[4.0], &[8.0], 16.0);
        assert!((finite(&perfect).coefficients[0] - 2.0).abs() < 1e-3);
        assert!(matches!(
            ridge(&Statistics::new(3, 1), 0),
            Err(Error::State(_))
        ));
    }
}
