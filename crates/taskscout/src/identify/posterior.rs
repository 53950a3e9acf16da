//! Where in the space the target may be: its best member, a region, and a mean over all members.

use faer::Mat;
use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use crate::error::Result;
use crate::features::{FeatureMap, Features as _, apply_row};
use crate::rng::Rng;
use crate::space::{Space, TaskSpace as _};

/// Most tasks of a finite space that are weighed one by one.
const MOST_LISTED: usize = 1_000_000;
/// Walkers of the sampler, and the steps that each takes before and while counting.
const WALKERS: usize = 32;
const SETTLING: usize = 200;
const COUNTED: usize = 400;
/// Every so many steps the walkers try to swap between far places.
const JUMP_EVERY: usize = 10;
/// Draws from the whole space.
const PRIOR_DRAWS: usize = 4096;
/// What overstepping the edge of a region by its whole height costs, in parameters.
const STIFFNESS: f64 = 100.0;
/// Tries to find a walker's place inside the space.
const TRIES: usize = 100;

/// `w ↦ −2 log p(y | w)` over a space.
pub(super) struct Landscape<'a> {
    pub(super) space: &'a Space,
    pub(super) features: &'a FeatureMap,
    pub(super) value: &'a (dyn Fn(&[f64]) -> f64 + Sync),
}

impl Landscape<'_> {
    fn at(&self, task: &[f64]) -> f64 {
        (self.value)(&apply_row(self.features, task))
    }

    /// The best member, and its value.
    pub(super) fn best(&self, rng: &mut Rng) -> Result<(Vec<f64>, f64)> {
        let atom = self.space.minimise(&|task| self.at(task), rng)?;
        Ok((atom.task, atom.value))
    }

    /// The smallest box around all members whose value is at most `limit`: parameter by
    /// parameter, how far one can go.
    pub(super) fn extent(&self, best: &[f64], limit: f64) -> (Vec<f64>, Vec<f64>) {
        let (mut low, mut high) = (best.to_vec(), best.to_vec());
        if let Some(tasks) = self.listed() {
            for task in tasks.iter().filter(|task| self.at(task) <= limit) {
                stretch(&mut low, &mut high, task);
            }
            return (low, high);
        }
        let slack = limit - self.at(best);
        for index in 0..best.len() {
            for side in [-1.0, 1.0] {
                // Smooth across the edge, which is then overstepped by next to nothing.
                let objective = |task: &[f64]| {
                    let excess = (self.at(task) - limit).max(0.0) / slack;
                    STIFFNESS * excess * excess - side * (task[index] - best[index])
                };
                let found = self.space.descend(&objective, best);
                low[index] = low[index].min(found[index]);
                high[index] = high[index].max(found[index]);
            }
        }
        (low, high)
    }

    /// All members, each weighed by its likelihood, as the mean of their features: a sum where the
    /// space is finite, else over walkers that propose each other's differences (differential
    /// evolution Monte Carlo), started in the box `low` to `high`.
    pub(super) fn spread(&self, best: &[f64], low: &[f64], high: &[f64], rng: &mut Rng) -> Spread {
        let mut sum = Moments::new(self.features.dim());
        if let Some(tasks) = self.listed() {
            let least = self.at(best);
            for task in &tasks {
                let weight = (-0.5 * (self.at(task) - least)).exp();
                sum.add(&apply_row(self.features, task), weight);
            }
            return sum.spread(Vec::new());
        }
        let mut walkers: Vec<(Vec<f64>, f64)> = (0..WALKERS)
            .map(|_| self.walker(best, low, high, rng))
            .collect();
        let width = best.len() as f64;
        for step in 0..SETTLING + COUNTED {
            let stride = if step % JUMP_EVERY == 0 {
                1.0
            } else {
                2.38 / (2.0 * width).sqrt()
            };
            for index in 0..WALKERS {
                self.propose(&mut walkers, index, stride, (low, high), rng);
                if step >= SETTLING {
                    sum.add(&apply_row(self.features, &walkers[index].0), 1.0);
                }
            }
        }
        sum.spread(walkers.into_iter().map(|(task, _)| task).collect())
    }

    /// Logarithm of the mean likelihood over the space, relative to the best member's: what the
    /// rows had to pay for finding it. An upper bound, where few draws come near it.
    pub(super) fn occam(&self, least: f64, rng: &mut Rng) -> Result<f64> {
        let mut total = 0.0;
        let tasks = match self.listed() {
            Some(tasks) => tasks,
            None => (0..PRIOR_DRAWS)
                .map(|_| self.space.sample(rng))
                .collect::<Result<_>>()?,
        };
        for task in &tasks {
            total += (-0.5 * (self.at(task) - least).max(0.0)).exp();
        }
        Ok((total / tasks.len().max(1) as f64).ln())
    }

    fn listed(&self) -> Option<Vec<Vec<f64>>> {
        let few = self.space.count().is_some_and(|n| n <= MOST_LISTED);
        few.then(|| self.space.tasks()).flatten()
    }

    /// A place to start: somewhere in the box that is in the space, or else the best member.
    fn walker(&self, best: &[f64], low: &[f64], high: &[f64], rng: &mut Rng) -> (Vec<f64>, f64) {
        for _ in 0..TRIES {
            let task: Vec<f64> = (0..best.len())
                .map(|i| {
                    let share: f64 = rng.random();
                    // Nearer to the best than to the edge: few corners of the box are likely.
                    let place = low[i] + share * (high[i] - low[i]);
                    0.5 * (place + best[i])
                })
                .collect();
            if self.space.contains(&task) {
                let value = self.at(&task);
                return (task, value);
            }
        }
        (best.to_vec(), self.at(best))
    }

    /// One move of one walker along the difference of two others, accepted by its likelihood.
    fn propose(
        &self,
        walkers: &mut [(Vec<f64>, f64)],
        index: usize,
        stride: f64,
        (low, high): (&[f64], &[f64]),
        rng: &mut Rng,
    ) {
        let other = |rng: &mut Rng| (index + 1 + rng.random_range(0..WALKERS - 1)) % WALKERS;
        let (a, b) = (other(rng), other(rng));
        let task: Vec<f64> = (0..low.len())
            .map(|i| {
                let jitter: f64 = StandardNormal.sample(rng);
                walkers[index].0[i]
                    + stride * (walkers[a].0[i] - walkers[b].0[i])
                    + 1e-3 * jitter * (high[i] - low[i])
            })
            .collect();
        let draw: f64 = rng.random();
        if !self.space.contains(&task) {
            return;
        }
        let value = self.at(&task);
        if draw.ln() < 0.5 * (walkers[index].1 - value) {
            walkers[index] = (task, value);
        }
    }
}

/// The members that the target may be.
pub(super) struct Spread {
    /// The mean of their task features.
    pub(super) mean_features: Vec<f64>,
    /// The second moment of their task features.
    pub(super) second_moment: Mat<f64>,
    /// Some of them, drawn by their likelihood; none where all can be listed.
    pub(super) draws: Vec<Vec<f64>>,
}

fn stretch(low: &mut [f64], high: &mut [f64], task: &[f64]) {
    for (i, &value) in task.iter().enumerate() {
        low[i] = low[i].min(value);
        high[i] = high[i].max(value);
    }
}

/// Weighted moments of vectors.
struct Moments {
    first: Vec<f64>,
    second: Mat<f64>,
    weight: f64,
}

impl Moments {
    fn new(dim: usize) -> Self {
        Self {
            first: vec![0.0; dim],
            second: Mat::zeros(dim, dim),
            weight: 0.0,
        }
    }

    fn add(&mut self, vector: &[f64], weight: f64) {
        for (j, b) in vector.iter().enumerate() {
            self.first[j] += weight * b;
            let column = self.second.col_as_slice_mut(j).iter_mut().zip(vector);
            column.for_each(|(sum, a)| *sum += weight * a * b);
        }
        self.weight += weight;
    }

    fn spread(self, draws: Vec<Vec<f64>>) -> Spread {
        let share = 1.0 / self.weight.max(f64::MIN_POSITIVE);
        Spread {
            mean_features: self.first.into_iter().map(|sum| sum * share).collect(),
            second_moment: faer::Scale(share) * self.second,
            draws,
        }
    }
}
