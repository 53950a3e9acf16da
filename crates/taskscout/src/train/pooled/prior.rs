//! What is expected of a task before its rows are seen, and what its rows make of it.
//!
//! A task may depart from the source tasks in three ways: by more or less than they differ among
//! themselves (a factor of their residual variances), by anything at all (a *free departure*, of a size
//! that the labels ask for), and by its noise. Nobody knows which beforehand, so all of them are weighed by
//! the marginal likelihood of the task's rows, over scales that reach as far as the labels do. What
//! comes out is their mean, with a covariance that counts the doubt among them.

use faer::Mat;

use super::component::{Component, Posterior};
use crate::data::Statistics;
use crate::error::Result;
use crate::linalg;
use crate::train::belief::Belief;
use crate::train::gram_root::GramRoot;

/// Factors of the residual variances that are always looked at, and the one that comes next where the
/// last of them explains the rows best, up to the largest.
const RESIDUAL_SCALES: [f64; 5] = [0.1, 0.3, 1.0, 3.0, 10.0];
const NEXT_SCALE: f64 = 10.0;
const LARGEST_SCALE: f64 = 1e6;
/// Free departures: the largest, in units of the labels' mean square, and the step to the next smaller.
const LARGEST_FREE: f64 = 4.0;
const NEXT_FREE: f64 = 0.125;
/// Most of them that are looked at.
const MOST_FREE: usize = 10;
/// Odds of each size of a free departure against the usual residuals, before any row is seen.
const FREE: f64 = 0.5;
/// Half octaves of the source tasks' noise that are always looked at.
const NOISES: std::ops::RangeInclusive<i32> = -6..=6;
/// Most half octaves beyond.
const MOST_NOISES: i32 = 120;
/// Logarithmic spreads of residual scale and noise among tasks, with the tails of a t distribution of so
/// many degrees of freedom: a task far off is rare, but there is one.
const SPREADS: [f64; 2] = [1.4, 0.4];
const TAILS: f64 = 3.0;
/// Logarithm of the odds below which an explanation is not looked into further.
const HOPELESS: f64 = 12.0;
/// Rows that the noise of the source tasks counts for.
const NOISE_ROWS: f64 = 4.0;

/// What is expected of a task before its rows are seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Prior {
    /// What the source tasks have in common.
    pub(super) common: Posterior,
    /// Variances of what is a task's own, as among the source tasks.
    pub(super) own: Vec<f64>,
    /// Variances of a free departure that changes labels by one in the mean square, all groups of features
    /// alike.
    pub(super) free: Vec<f64>,
    /// The noise variance of the source tasks.
    pub(super) noise: f64,
}

/// One way to depart from the source tasks, all noise levels together.
struct Explanation {
    /// The covariance of the coefficients.
    covariance: Mat<f64>,
    /// `V Fᵀ U`, with the eigenvectors `U` of `F V Fᵀ`.
    half: Mat<f64>,
    /// Its eigenvalues.
    values: Vec<f64>,
    /// The labels less what is expected, in that basis.
    left: Vec<f64>,
    /// Logarithm of the joint density of rows and noise level, for each level.
    scores: Vec<f64>,
}

impl Explanation {
    /// The mean step of the coefficients and its second moment over noise levels, each with its share, for rows that
    /// count as `row_weight` of one.
    fn moments(&self, shares: &[(f64, f64)], row_weight: f64) -> (Vec<f64>, Mat<f64>) {
        let r = self.left.len();
        let (mut all, mut first) = (0.0, vec![0.0; r]);
        let mut second = Mat::<f64>::zeros(r, r);
        for &(share, variance) in shares {
            all += share;
            let inverse = |i: usize| row_weight / (row_weight * self.values[i] + variance);
            let gain: Vec<f64> = (0..r).map(|i| inverse(i) * self.left[i]).collect();
            for i in 0..r {
                first[i] += share * gain[i];
                second[(i, i)] -= share * inverse(i);
                (0..r).for_each(|j| second[(j, i)] += share * gain[i] * gain[j]);
            }
        }
        let outer = linalg::product(self.half.as_ref(), second.as_ref());
        let mut spread = linalg::product(outer.as_ref(), self.half.transpose());
        spread += faer::Scale(all) * &self.covariance;
        (linalg::apply(self.half.as_ref(), &first), spread)
    }

    fn best(&self) -> f64 {
        self.scores
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The noise levels that are weighed: variance, and logarithm of its probability.
fn noise_levels(noise: f64, root: &GramRoot, left: &[f64]) -> Vec<(f64, f64)> {
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
            (noise * factor.exp(), log_tail(factor / SPREADS[1]))
        })
        .collect()
}

/// The logarithm of a t density, up to a constant.
fn log_tail(value: f64) -> f64 {
    -0.5 * (TAILS + 1.0) * (value * value / TAILS).ln_1p()
}

impl Prior {
    pub(super) fn of(component: &Component, shared: &[f64], unshared: &[f64]) -> Self {
        let mut common = component.common(shared);
        // A task feature that no source task has: nothing is known of what it does.
        let unknown: f64 = unshared.iter().map(|value| value * value).sum();
        if unknown > 0.0 {
            for (a, variance) in component.feature_variances().iter().enumerate() {
                common.covariance[(a, a)] += unknown * variance;
            }
        }
        Self {
            common,
            own: component.own_variances(),
            free: component.free_variances(),
            noise: component.noise,
        }
    }

    /// The mean of the coefficients.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.common.mean
    }

    /// The covariance of the coefficients: what the source tasks leave open, what is a task's own, and a
    /// free departure, each by a factor of its variances.
    #[must_use]
    pub fn covariance(&self, own: f64, free: f64) -> Mat<f64> {
        let mut covariance = self.common.covariance.clone();
        for (a, (mine, any)) in self.own.iter().zip(&self.free).enumerate() {
            covariance[(a, a)] += own * mine + free * any;
        }
        covariance
    }

    /// What is known of a task with such rows, each of which counts as `weight` of one.
    ///
    /// # Errors
    /// A breakdown of the numerics.
    pub fn belief(&self, rows: &Statistics, output: usize, weight: f64) -> Result<Belief> {
        let root = GramRoot::of(rows, output);
        if root.rank() == 0 {
            return Ok(Belief {
                mean: self.mean().to_vec(),
                covariance: self.covariance(1.0, FREE * self.noise),
                noise: self.noise,
                freedom: NOISE_ROWS,
            });
        }
        let left = root.less(self.mean());
        let levels = noise_levels(self.noise, &root, &left);
        let explanations = self.explanations(&root, &left, &levels, weight)?;
        Ok(self.average(&explanations, &levels, weight, root.rows))
    }

    /// All ways to depart that are worth a look.
    fn explanations(
        &self,
        root: &GramRoot,
        left: &[f64],
        levels: &[(f64, f64)],
        weight: f64,
    ) -> Result<Vec<Explanation>> {
        let explain = |own: f64, free: f64, prior: f64| {
            let prior = (prior, weight);
            explanation(self.covariance(own, free), root, left, levels, prior)
        };
        let mut found = Vec::new();
        let mut top = f64::NEG_INFINITY;
        let mut scale = RESIDUAL_SCALES[0];
        let mut known = RESIDUAL_SCALES.iter();
        while scale <= LARGEST_SCALE {
            scale = match known.next() {
                Some(&scale) => scale,
                None => scale * NEXT_SCALE,
            };
            let next = explain(scale, 0.0, log_tail(scale.ln() / SPREADS[0]))?;
            let score = next.best();
            found.push(next);
            if known.len() == 0 && score < top {
                break;
            }
            top = top.max(score);
        }
        let most = (root.rest + linalg::dot(left, left)) / root.rows.max(1.0);
        let mut free = LARGEST_FREE * most.max(self.noise);
        let mut fell = f64::NEG_INFINITY;
        for _ in 0..MOST_FREE {
            let next = explain(1.0, free, FREE.ln())?;
            let score = next.best();
            let hopeless = score < top - HOPELESS && score < fell;
            fell = score;
            top = top.max(score);
            found.push(next);
            if hopeless || free < 0.1 * self.noise {
                break;
            }
            free *= NEXT_FREE;
        }
        Ok(found)
    }

    /// The mean over all explanations and noise levels, by their weights.
    fn average(
        &self,
        found: &[Explanation],
        levels: &[(f64, f64)],
        row_weight: f64,
        rows: f64,
    ) -> Belief {
        let d = self.mean().len();
        let top = found
            .iter()
            .map(Explanation::best)
            .fold(f64::NEG_INFINITY, f64::max);
        let weight = |score: f64| (score - top).exp();
        let total: f64 = found
            .iter()
            .flat_map(|one| one.scores.iter().map(|&score| weight(score)))
            .sum();
        let (mut step, mut noise) = (vec![0.0; d], 0.0);
        let mut covariance = Mat::<f64>::zeros(d, d);
        for one in found.iter().filter(|one| one.best() > top - 2.0 * HOPELESS) {
            let shares: Vec<(f64, f64)> = one
                .scores
                .iter()
                .zip(levels)
                .map(|(&score, (variance, _))| (weight(score) / total, *variance))
                .filter(|(share, _)| *share > 1e-12)
                .collect();
            noise += shares
                .iter()
                .map(|(share, variance)| share * variance)
                .sum::<f64>();
            let (moved, spread) = one.moments(&shares, row_weight);
            step.iter_mut()
                .zip(&moved)
                .for_each(|(sum, value)| *sum += value);
            covariance += spread;
        }
        for j in 0..d {
            (0..d).for_each(|i| covariance[(i, j)] -= step[i] * step[j]);
        }
        Belief {
            mean: self.mean().iter().zip(&step).map(|(m, s)| m + s).collect(),
            covariance: symmetric(&covariance),
            noise,
            freedom: row_weight * rows + NOISE_ROWS,
        }
    }
}

/// One way to depart, with the density of the rows at each noise level.
fn explanation(
    covariance: Mat<f64>,
    root: &GramRoot,
    left: &[f64],
    levels: &[(f64, f64)],
    (prior, weight): (f64, f64),
) -> Result<Explanation> {
    let spread = linalg::product(root.root.as_ref(), covariance.as_ref());
    let kernel = linalg::product(spread.as_ref(), root.root.transpose());
    let (values, vectors) = linalg::eigen(kernel.as_ref(), "a task's rows")?;
    let values: Vec<f64> = values.into_iter().map(|value| value.max(0.0)).collect();
    let turned = linalg::apply(vectors.transpose(), left);
    let spare = root.rows - root.rank() as f64;
    let score = |&(noise, log_prior): &(f64, f64)| {
        let mut misfit = root.rest / noise + spare * noise.ln();
        for (value, label) in values.iter().zip(&turned) {
            let total = value + noise;
            misfit += label * label / total + total.ln();
        }
        prior + log_prior - 0.5 * weight * misfit
    };
    let scores = levels.iter().map(score).collect();
    Ok(Explanation {
        half: linalg::product(spread.transpose(), vectors.as_ref()),
        covariance,
        values,
        left: turned,
        scores,
    })
}

/// The mean of a matrix and its transpose, without variances below zero.
fn symmetric(matrix: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| {
        let value = 0.5 * (matrix[(i, j)] + matrix[(j, i)]);
        if i == j { value.max(0.0) } else { value }
    })
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
            free: vec![0.25; D],
            noise: NOISE,
        }
    }

    /// Rows of a function, with the labels' noise.
    fn rows(
        theta: &[f64],
        n: usize,
        noise: f64,
        rng: &mut Rng,
    ) -> (Mat<f64>, Vec<f64>, Statistics) {
        let x = normals(n * D, rng);
        let y: Vec<f64> = x
            .chunks(D)
            .zip(normals(n, rng))
            .map(|(row, e)| linalg::dot(row, theta) + noise.sqrt() * e)
            .collect();
        let mut statistics = Statistics::new(D, 1);
        let samples = Samples::new(x.clone(), D, y.clone(), 1).unwrap();
        statistics.accumulate(&samples).unwrap();
        (Mat::from_fn(n, D, |i, j| x[i * D + j]), y, statistics)
    }

    /// A function drawn from the prior, with factors of its parts.
    fn draw(prior: &Prior, own: f64, free: f64, rng: &mut Rng) -> Vec<f64> {
        let factor = linalg::cholesky(prior.covariance(own, free).as_ref(), "").unwrap();
        let spread = linalg::apply(factor.lower().as_ref(), &normals(D, rng));
        let mean = prior.mean().iter();
        mean.zip(&spread).map(|(m, s)| m + s).collect()
    }

    /// The mean over explanations, by dense algebra over all rows.
    #[test]
    fn the_belief_is_the_mean_over_all_explanations() {
        let rng = &mut derive(5, Purpose::Test, &[]);
        for case in 0..20 {
            let prior = prior(rng);
            let theta = draw(&prior, [0.3, 10.0][case % 2], [0.0, 4.0][case / 2 % 2], rng);
            let n = [3, 4, 9, 30][case % 4];
            let (x, y, statistics) = rows(&theta, n, NOISE, rng);
            let found = prior.belief(&statistics, 0, 1.0).unwrap();
            let root = GramRoot::of(&statistics, 0);
            let left = root.less(prior.mean());
            let levels = noise_levels(NOISE, &root, &left);
            let mut parts = Vec::new();
            let left = Mat::from_fn(n, 1, |i, _| {
                let row: Vec<f64> = (0..D).map(|j| x[(i, j)]).collect();
                y[i] - linalg::dot(&row, prior.mean())
            });
            let mut add = |own: f64, free: f64, log_prior: f64| {
                for &(noise, weight) in &levels {
                    let covariance = prior.covariance(own, free);
                    let half = linalg::product(x.as_ref(), covariance.as_ref());
                    let mut kernel = linalg::product(half.as_ref(), x.transpose());
                    (0..n).for_each(|i| kernel[(i, i)] += noise);
                    let factor = linalg::cholesky(kernel.as_ref(), "").unwrap();
                    let solved = factor.solve(left.as_ref());
                    let misfit = linalg::inner(solved.as_ref(), left.as_ref()) + factor.log_det();
                    let step = linalg::product(half.transpose(), solved.as_ref());
                    let told =
                        linalg::product(half.transpose(), factor.solve(half.as_ref()).as_ref());
                    parts.push((log_prior + weight - 0.5 * misfit, step, covariance - told));
                }
            };
            let explanations = prior
                .explanations(&root, &root.less(prior.mean()), &levels, 1.0)
                .unwrap();
            // Which were looked at shows in their covariances.
            let base = prior.covariance(0.0, 0.0);
            for one in &explanations {
                let (a, b) = (
                    one.covariance[(0, 0)] - base[(0, 0)],
                    one.covariance[(1, 1)] - base[(1, 1)],
                );
                let own = (a - b) / (prior.own[0] - prior.own[1]);
                let free = (a - own * prior.own[0]) / prior.free[0];
                let log_prior = if free > 1e-9 {
                    FREE.ln()
                } else {
                    log_tail(own.ln() / SPREADS[0])
                };
                add(own, free.max(0.0), log_prior);
            }
            let top = parts
                .iter()
                .map(|(score, ..)| *score)
                .fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = parts.iter().map(|(score, ..)| (score - top).exp()).sum();
            let mut mean = [0.0; D];
            for (score, step, _) in &parts {
                let weight = (score - top).exp() / total;
                (0..D).for_each(|i| mean[i] += weight * step[(i, 0)]);
            }
            let mut covariance = Mat::<f64>::zeros(D, D);
            for (score, step, within) in &parts {
                let weight = (score - top).exp() / total;
                for j in 0..D {
                    for i in 0..D {
                        let apart = (step[(i, 0)] - mean[i]) * (step[(j, 0)] - mean[j]);
                        covariance[(i, j)] += weight * (within[(i, j)] + apart);
                    }
                }
            }
            for i in 0..D {
                let expected = prior.mean()[i] + mean[i];
                assert!(
                    (found.mean[i] - expected).abs() < 1e-6,
                    "{case}: {} {expected}",
                    found.mean[i]
                );
                for j in 0..D {
                    let (a, b) = (found.covariance[(i, j)], covariance[(i, j)]);
                    assert!((a - b).abs() < 1e-6, "{case}: {a} {b}");
                }
            }
        }
    }

    /// A task that contradicts everything expected of it is still learnt from its own rows.
    #[test]
    fn scales_reach_as_far_as_the_labels_do() {
        let rng = &mut derive(6, Purpose::Test, &[]);
        for size in [1.0, 1e2, 1e4, 1e6] {
            let mut prior = prior(rng);
            prior.own = vec![1e-9; D];
            prior.common.covariance = Mat::zeros(D, D);
            let theta: Vec<f64> = prior.mean().iter().map(|m| -size * m).collect();
            let (_, _, statistics) = rows(&theta, 12, NOISE, rng);
            let found = prior.belief(&statistics, 0, 1.0).unwrap();
            for (found, truth) in found.mean.iter().zip(&theta) {
                assert!(
                    (found - truth).abs() < 0.3 + 0.01 * size,
                    "{size}: {found} {truth}"
                );
            }
        }
    }

    #[test]
    fn rows_that_agree_leave_the_mean_where_it_is() {
        let rng = &mut derive(8, Purpose::Test, &[]);
        let mut prior = prior(rng);
        prior.own = vec![1e-6; D];
        prior.common.covariance = Mat::zeros(D, D);
        let theta = prior.mean().to_vec();
        let (mut error, mut alone) = (0.0, 0.0);
        for _ in 0..20 {
            let (_, _, statistics) = rows(&theta, 6, NOISE, rng);
            let found = prior.belief(&statistics, 0, 1.0).unwrap();
            let squares = found.mean.iter().zip(&theta).map(|(a, b)| (a - b).powi(2));
            error += squares.sum::<f64>() / 20.0;
            alone += D as f64 * NOISE / 6.0 / 20.0;
        }
        assert!(error < 0.05 * alone, "{error} {alone}");
    }

    /// Rows that count for less tell less, but no other noise.
    #[test]
    fn weights_of_rows_leave_the_noise_as_it_is() {
        let rng = &mut derive(9, Purpose::Test, &[]);
        let prior = prior(rng);
        let theta = draw(&prior, 1.0, 0.0, rng);
        let (_, _, statistics) = rows(&theta, 400, NOISE, rng);
        for weight in [1.0, 0.3, 0.02] {
            let found = prior.belief(&statistics, 0, weight).unwrap();
            assert!(
                (found.noise / NOISE).ln().abs() < 0.35,
                "{weight}: {}",
                found.noise
            );
        }
    }

    #[test]
    fn without_rows_a_task_is_what_source_tasks_are() {
        let prior = prior(&mut derive(7, Purpose::Test, &[]));
        let found = prior.belief(&Statistics::new(D, 1), 0, 1.0).unwrap();
        assert_eq!(found.mean, prior.mean());
    }
}
