//! One way for a task to depart from what is expected of it, with the density that its rows have then.
//!
//! Ways differ by how large the residual and a free departure are, so their kernels are sums of the same three matrices, and all
//! of them work on the root of the Gram matrix: what is kept of each is no larger than the rows are many.

use faer::Mat;

use super::TargetPrior;
use crate::error::Result;
use crate::linalg;
use crate::regression::GramRoot;

/// Half octaves of the source tasks' noise that are always looked at.
const NOISES: std::ops::RangeInclusive<i32> = -6..=6;
/// Most half octaves beyond.
const MOST_NOISES: i32 = 120;
/// Logarithmic spreads of residual scale and noise among tasks, with the tails of t distributions of so
/// many degrees of freedom: a task far off is rare, but there is one. Noise has lighter tails, or rows that contradict the source
/// tasks would pass for noise.
pub(crate) const SPREADS: [f64; 2] = [1.4, 0.4];
pub(crate) const SCALE_TAILS: f64 = 3.0;
const NOISE_TAILS: f64 = 10.0;

/// A task's rows, as all ways to explain them need them.
pub(crate) struct ExplainedRows<'a> {
    prior: &'a TargetPrior,
    pub(crate) root: &'a GramRoot,
    /// The labels less what is expected.
    pub(crate) left: Vec<f64>,
    /// What the source tasks leave open, times the rows: `V Fᵀ`.
    common: Mat<f64>,
    /// `F V Fᵀ` for what the source tasks leave open, what is a task's own, and a free departure.
    kernels: [Mat<f64>; 3],
    /// Noise variances with the logarithms of their probabilities.
    pub(crate) levels: Vec<(f64, f64)>,
}

/// How far a task departs: factors of its own variances, and of those of a free departure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Departure {
    pub(crate) own: f64,
    pub(crate) free: f64,
}

/// One way to depart from the source tasks, all noise levels together.
pub(crate) struct Explanation {
    pub(crate) departure: Departure,
    /// Eigenvalues of the kernel.
    values: Vec<f64>,
    /// Its eigenvectors.
    vectors: Mat<f64>,
    /// The labels less what is expected, in that basis.
    left: Vec<f64>,
    /// For each weight of rows, the logarithm of the joint density of rows and noise level at every level.
    pub(crate) scores: Vec<Vec<f64>>,
}

impl<'a> ExplainedRows<'a> {
    pub(crate) fn new(prior: &'a TargetPrior, root: &'a GramRoot) -> Self {
        let left = root.less(prior.mean());
        let common = linalg::product(prior.common.covariance.as_ref(), root.root.transpose());
        let diagonal = |variances: &[f64]| {
            let scaled = Mat::from_fn(root.root.ncols(), root.rank(), |a, i| {
                variances[a] * root.root[(i, a)]
            });
            linalg::product(root.root.as_ref(), scaled.as_ref())
        };
        Self {
            kernels: [
                linalg::product(root.root.as_ref(), common.as_ref()),
                diagonal(&prior.own),
                diagonal(&prior.free),
            ],
            levels: noise_levels(prior.noise, root, &left),
            prior,
            root,
            left,
            common,
        }
    }

    /// Mean square of what is not expected of the labels.
    pub(crate) fn unexpected(&self) -> f64 {
        (self.root.rest + linalg::dot(&self.left, &self.left)) / self.root.rows.max(1.0)
    }

    /// One way to depart, with the density of the rows at each noise level, for each weight of rows.
    pub(crate) fn explain(
        &self,
        departure: Departure,
        log_prior: f64,
        weights: &[f64],
    ) -> Result<Explanation> {
        let [common, own, free] = &self.kernels;
        let kernel = common + faer::Scale(departure.own) * own + faer::Scale(departure.free) * free;
        let (values, vectors) = linalg::eigen(kernel.as_ref(), "a task's rows")?;
        let values: Vec<f64> = values.into_iter().map(|value| value.max(0.0)).collect();
        let left = linalg::apply(vectors.transpose(), &self.left);
        let spare = self.root.rows - self.root.rank() as f64;
        let misfit = |&(noise, _): &(f64, f64)| {
            let mut misfit = self.root.rest / noise + spare * noise.ln();
            for (value, label) in values.iter().zip(&left) {
                let total = value + noise;
                misfit += label * label / total + total.ln();
            }
            misfit
        };
        let misfits: Vec<f64> = self.levels.iter().map(misfit).collect();
        let scored = |&weight: &f64| {
            let levels = self.levels.iter().zip(&misfits);
            let score =
                |(level, misfit): (&(f64, f64), &f64)| log_prior + level.1 - 0.5 * weight * misfit;
            levels.map(score).collect()
        };
        Ok(Explanation {
            departure,
            scores: weights.iter().map(scored).collect(),
            values,
            vectors,
            left,
        })
    }

    /// `V Fᵀ U` with the covariance `V` of an explanation and the eigenvectors `U` of its kernel.
    pub(crate) fn half(&self, one: &Explanation) -> Mat<f64> {
        let Departure { own, free } = one.departure;
        let half = Mat::from_fn(self.common.nrows(), one.left.len(), |a, i| {
            let variance = own * self.prior.own[a] + free * self.prior.free[a];
            self.common[(a, i)] + variance * self.root.root[(i, a)]
        });
        linalg::product(half.as_ref(), one.vectors.as_ref())
    }
}

impl Explanation {
    /// The mean step of the coefficients and its second moment less their covariance beforehand, over noise levels, each with its
    /// share, for rows that count as `weight` of one.
    pub(crate) fn moments(
        &self,
        half: &Mat<f64>,
        shares: &[(f64, f64)],
        weight: f64,
    ) -> (Vec<f64>, Mat<f64>) {
        let r = self.left.len();
        let mut first = vec![0.0; r];
        let mut second = Mat::<f64>::zeros(r, r);
        for &(share, variance) in shares {
            let inverse = |i: usize| weight / (weight * self.values[i] + variance);
            let gain: Vec<f64> = (0..r).map(|i| inverse(i) * self.left[i]).collect();
            for i in 0..r {
                first[i] += share * gain[i];
                second[(i, i)] -= share * inverse(i);
                (0..r).for_each(|j| second[(j, i)] += share * gain[i] * gain[j]);
            }
        }
        let outer = linalg::product(half.as_ref(), second.as_ref());
        (
            linalg::apply(half.as_ref(), &first),
            linalg::product(outer.as_ref(), half.transpose()),
        )
    }

    /// The largest score at a weight.
    pub(crate) fn best(&self, weight: usize) -> f64 {
        let scores = self.scores[weight].iter().copied();
        scores.fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The noise levels that are weighed: variance, and logarithm of its probability.
pub(crate) fn noise_levels(noise: f64, root: &GramRoot, left: &[f64]) -> Vec<(f64, f64)> {
    let half_octave = 0.5 * std::f64::consts::LN_2;
    let steps = |variance: f64| ((variance / noise).max(1e-300).ln() / half_octave) as i32;
    // At most everything that is not expected is noise, at least what no function explains.
    let most = (root.rest + linalg::dot(left, left)) / root.rows.max(1.0);
    let spare = root.rows - root.rank() as f64;
    let least = if spare > 1.0 {
        0.25 * root.rest / spare
    } else {
        f64::INFINITY
    };
    let first = steps(least).clamp(-MOST_NOISES, *NOISES.start());
    let last = steps(4.0 * most).clamp(*NOISES.end(), MOST_NOISES);
    (first..=last)
        .map(|step| {
            let factor = f64::from(step) * half_octave;
            let log_prior = log_tail(factor / SPREADS[1], NOISE_TAILS);
            (noise * factor.exp(), log_prior)
        })
        .collect()
}

/// The logarithm of a t density, up to a constant.
pub(crate) fn log_tail(value: f64, tails: f64) -> f64 {
    -0.5 * (tails + 1.0) * (value * value / tails).ln_1p()
}
