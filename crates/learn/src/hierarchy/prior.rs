//! What is expected of a task before its rows are seen, and what its rows make of it.
//!
//! A task may depart from the source tasks in three ways: by more or less than they differ among
//! themselves (a factor of their residual variances), by anything at all (a *free departure*, of a size
//! that the labels ask for), and by its noise. Nobody knows which beforehand, so all of them are weighed by
//! the marginal likelihood of the task's rows, over scales that reach as far as the labels do. What
//! comes out is their mean, with a covariance that includes the variance among them.

mod explanation;
#[cfg(test)]
mod tests;

use faer::Mat;

use self::explanation::{Departure, ExplainedRows, Explanation, SCALE_TAILS, SPREADS, log_tail};
use super::component::{Component, TaskCoefficientPosterior};
use crate::data::Statistics;
use crate::error::Result;
use crate::regression::{GramRoot, LinearPosterior};
use serde::{Deserialize, Serialize};

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
/// Logarithm of the odds below which an explanation is not looked into further.
const HOPELESS: f64 = 12.0;
/// Shares of an explanation that are left out.
const NEGLIGIBLE: f64 = 1e-9;
/// Rows that the noise of the source tasks counts for.
const NOISE_ROWS: f64 = 4.0;

/// The prior of a task's coefficients, learnt from the source tasks related to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetPrior {
    /// What the source tasks have in common.
    pub(crate) common: TaskCoefficientPosterior,
    /// Variances of what is a task's own, as among the source tasks.
    pub(crate) own: Vec<f64>,
    /// Variances of a free departure that changes labels by one in the mean square, all groups of features
    /// alike.
    pub(crate) free: Vec<f64>,
    /// The noise variance of the source tasks.
    pub(crate) noise: f64,
}

/// A prior updated by a task's rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Updated {
    /// The posterior.
    pub(crate) posterior: LinearPosterior,
    /// How probable it is that it differs from the source tasks about as they do among themselves.
    pub(crate) alike: f64,
}

impl Departure {
    /// Whether it is one that source tasks have among themselves.
    fn alike(self) -> bool {
        self.free <= 0.0 && self.own <= RESIDUAL_SCALES[RESIDUAL_SCALES.len() - 1]
    }
}

impl TargetPrior {
    pub(crate) fn of(component: &Component, shared: &[f64], unshared: &[f64]) -> Self {
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
    pub fn posterior(
        &self,
        rows: &Statistics,
        output: usize,
        weight: f64,
    ) -> Result<LinearPosterior> {
        let updated = self.updated(rows, output, &[weight])?.pop();
        Ok(updated.map_or_else(|| self.without_rows(), |updated| updated.posterior))
    }

    /// The same for several weights of rows, with how the task departs.
    pub(crate) fn updated(
        &self,
        rows: &Statistics,
        output: usize,
        weights: &[f64],
    ) -> Result<Vec<Updated>> {
        let root = GramRoot::of(rows, output);
        if root.rank() == 0 {
            let without_rows = || Updated {
                posterior: self.without_rows(),
                alike: 1.0,
            };
            return Ok(weights.iter().map(|_| without_rows()).collect());
        }
        let rows = ExplainedRows::new(self, &root);
        let found = self.explanations(&rows, weights)?;
        let mut sums: Vec<Sum> = (0..weights.len())
            .map(|at| Sum::new(self.mean().len(), &found, at))
            .collect();
        for one in &found {
            let shares: Vec<_> = sums.iter().map(|sum| sum.shares(one, &rows)).collect();
            if shares.iter().all(Vec::is_empty) {
                continue;
            }
            let half = rows.half(one);
            for ((sum, shares), &weight) in sums.iter_mut().zip(&shares).zip(weights) {
                sum.add(one, &half, shares, weight);
            }
        }
        let sums = sums.into_iter().zip(weights);
        Ok(sums
            .map(|(sum, weight)| sum.updated(self, weight * root.rows))
            .collect())
    }

    /// Logarithm of the density of a task's rows, each of which counts as `weight` of one, up to a constant that all
    /// priors of the same rows share.
    ///
    /// # Errors
    /// A breakdown of the numerics.
    pub fn log_evidence(&self, rows: &Statistics, output: usize, weight: f64) -> Result<f64> {
        let root = GramRoot::of(rows, output);
        if root.rank() == 0 {
            return Ok(0.0);
        }
        let rows = ExplainedRows::new(self, &root);
        let found = self.explanations(&rows, &[weight])?;
        let sum = Sum::new(self.mean().len(), &found, 0);
        Ok(sum.top + sum.total.ln())
    }

    /// What is known of a task without rows.
    fn without_rows(&self) -> LinearPosterior {
        LinearPosterior {
            mean: self.mean().to_vec(),
            covariance: self.covariance(1.0, FREE * self.noise),
            noise: self.noise,
            degrees_of_freedom: NOISE_ROWS,
        }
    }

    /// All ways to depart that some weight of the rows asks to look at.
    fn explanations(&self, rows: &ExplainedRows<'_>, weights: &[f64]) -> Result<Vec<Explanation>> {
        let all = 0..weights.len();
        let mut found: Vec<Explanation> = Vec::new();
        let mut top = vec![f64::NEG_INFINITY; weights.len()];
        let mut scale = RESIDUAL_SCALES[0];
        let mut known = RESIDUAL_SCALES.iter();
        while scale <= LARGEST_SCALE {
            scale = match known.next() {
                Some(&scale) => scale,
                None => scale * NEXT_SCALE,
            };
            let departure = Departure {
                own: scale,
                free: 0.0,
            };
            let log_prior = log_tail(scale.ln() / SPREADS[0], SCALE_TAILS);
            let next = rows.explain(departure, log_prior, weights)?;
            let done = known.len() == 0 && all.clone().all(|at| next.best(at) < top[at]);
            all.clone()
                .for_each(|at| top[at] = top[at].max(next.best(at)));
            found.push(next);
            if done {
                break;
            }
        }
        let mut free = LARGEST_FREE * rows.unexpected().max(self.noise);
        let mut fell = vec![f64::NEG_INFINITY; weights.len()];
        for _ in 0..MOST_FREE {
            let next = rows.explain(Departure { own: 1.0, free }, FREE.ln(), weights)?;
            let scores: Vec<f64> = all.clone().map(|at| next.best(at)).collect();
            let hopeless = all
                .clone()
                .all(|at| scores[at] < top[at] - HOPELESS && scores[at] < fell[at]);
            all.clone().for_each(|at| top[at] = top[at].max(scores[at]));
            fell = scores;
            found.push(next);
            if hopeless || free < 0.1 * self.noise {
                break;
            }
            free *= NEXT_FREE;
        }
        Ok(found)
    }
}

/// The sum over all explanations and noise levels, by their weights, for one weight of the rows.
struct Sum {
    at: usize,
    top: f64,
    total: f64,
    step: Vec<f64>,
    spread: Mat<f64>,
    noise: f64,
    /// Share of all explanations, and of those that leave the task like the source tasks.
    all: f64,
    alike: f64,
    /// Mean factors of what is a task's own, and of a free departure.
    departure: Departure,
}

impl Sum {
    fn new(d: usize, found: &[Explanation], at: usize) -> Self {
        let best = found.iter().map(|one| one.best(at));
        let top = best.fold(f64::NEG_INFINITY, f64::max);
        let scores = found.iter().flat_map(|one| &one.scores[at]);
        Self {
            at,
            top,
            total: scores.map(|score| (score - top).exp()).sum(),
            step: vec![0.0; d],
            spread: Mat::zeros(d, d),
            noise: 0.0,
            all: 0.0,
            alike: 0.0,
            departure: Departure {
                own: 0.0,
                free: 0.0,
            },
        }
    }

    /// The shares of an explanation with each noise variance, where they are not negligible.
    fn shares(&self, one: &Explanation, rows: &ExplainedRows<'_>) -> Vec<(f64, f64)> {
        let scores = one.scores[self.at].iter().zip(&rows.levels);
        scores
            .map(|(score, (variance, _))| ((score - self.top).exp() / self.total, *variance))
            .filter(|(share, _)| *share > NEGLIGIBLE)
            .collect()
    }

    fn add(&mut self, one: &Explanation, half: &Mat<f64>, shares: &[(f64, f64)], weight: f64) {
        if shares.is_empty() {
            return;
        }
        let share: f64 = shares.iter().map(|(share, _)| share).sum();
        self.noise += shares.iter().map(|(share, v)| share * v).sum::<f64>();
        self.all += share;
        self.alike += if one.departure.alike() { share } else { 0.0 };
        self.departure.own += share * one.departure.own;
        self.departure.free += share * one.departure.free;
        let (moved, spread) = one.moments(half, shares, weight);
        self.step
            .iter_mut()
            .zip(&moved)
            .for_each(|(sum, value)| *sum += value);
        self.spread += spread;
    }

    /// The mean, for so many rows.
    fn updated(self, prior: &TargetPrior, rows: f64) -> Updated {
        let (d, step) = (self.step.len(), &self.step);
        let mut covariance = self.spread + faer::Scale(self.all) * &prior.common.covariance;
        let Departure { own, free } = self.departure;
        for j in 0..d {
            covariance[(j, j)] += own * prior.own[j] + free * prior.free[j];
            (0..d).for_each(|i| covariance[(i, j)] -= step[i] * step[j]);
        }
        Updated {
            posterior: LinearPosterior {
                mean: prior.mean().iter().zip(step).map(|(m, s)| m + s).collect(),
                covariance: symmetric(&covariance),
                noise: self.noise,
                degrees_of_freedom: rows + NOISE_ROWS,
            },
            alike: self.alike,
        }
    }
}

/// The mean of a matrix and its transpose, without variances below zero.
fn symmetric(matrix: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| {
        let value = 0.5 * (matrix[(i, j)] + matrix[(j, i)]);
        if i == j { value.max(0.0) } else { value }
    })
}
