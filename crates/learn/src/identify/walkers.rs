//! Draws of members by their likelihood: walkers that propose each other's differences
//! (differential evolution Monte Carlo, ter Braak 2006).
//!
//! Discrete parameters have no differences: walkers of one category take over another's category
//! together with its difference, or try one drawn from the space.
//!
//! Each step adds differences of places, so that an error of rounding would grow with every step, up to the size of the
//! region. Places therefore lie on a grid, far finer than the region: what was rounded away stays away, and rows in another
//! order or in other units give the same walk.

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use super::posterior::Deviance;
use crate::error::Result;
use crate::rng::Rng;
use crate::space::TaskSpace as _;

/// Walkers, and the steps that each takes before and while counting.
const WALKERS: usize = 32;
const SETTLING: usize = 200;
const COUNTED: usize = 400;
/// Every so many steps they try to swap between far places.
const JUMP_EVERY: usize = 10;
/// Tries to find a walker's place.
const TRIES: usize = 100;
/// Steps of the grid across the box that walkers start in.
const GRID: f64 = 4096.0;

/// Members on their way, each with its value.
pub(super) struct Walkers<'a> {
    deviance: &'a Deviance<'a>,
    places: Vec<(Vec<f64>, f64)>,
    /// How far a parameter trembles; zero for discrete ones.
    tremble: Vec<f64>,
    /// Where the grid of each parameter begins, and its step; zero for discrete ones.
    grid: Vec<(f64, f64)>,
    discrete: Vec<usize>,
}

impl<'a> Walkers<'a> {
    /// In the box `low` to `high`, where the value is at most `limit` if such places are found.
    pub(super) fn start(
        deviance: &'a Deviance<'a>,
        best: &[f64],
        (low, high): (&[f64], &[f64]),
        limit: f64,
        rng: &mut Rng,
    ) -> Result<Self> {
        let widths = deviance.space.widths();
        let discrete: Vec<usize> = (0..best.len()).filter(|&i| widths[i] <= 0.0).collect();
        let share = |i: usize, part: f64| match widths[i] > 0.0 {
            true => part * (high[i] - low[i]),
            false => 0.0,
        };
        let mut walkers = Self {
            deviance,
            places: Vec::with_capacity(WALKERS),
            tremble: (0..best.len()).map(|i| share(i, 1e-3)).collect(),
            grid: (0..best.len())
                .map(|i| (low[i], share(i, 1.0 / GRID)))
                .collect(),
            discrete,
        };
        for _ in 0..WALKERS {
            let place = walkers.place(best, (low, high), limit, rng)?;
            walkers.places.push(place);
        }
        Ok(walkers)
    }

    /// A place to start, or else the best member.
    fn place(
        &self,
        best: &[f64],
        (low, high): (&[f64], &[f64]),
        limit: f64,
        rng: &mut Rng,
    ) -> Result<(Vec<f64>, f64)> {
        for _ in 0..TRIES {
            let mut task: Vec<f64> = (0..best.len())
                .map(|i| {
                    let share: f64 = rng.random();
                    // Nearer to the best than to the edge: few corners of the box are likely.
                    0.5 * (low[i] + share * (high[i] - low[i]) + best[i])
                })
                .collect();
            self.snap(&mut task);
            self.take_category(&mut task, rng)?;
            if self.deviance.space.contains(&task) {
                let value = self.deviance.at(&task);
                // In another category the box says little.
                if self.discrete.is_empty() || value <= limit {
                    return Ok((task, value));
                }
            }
        }
        Ok((best.to_vec(), self.deviance.at(best)))
    }

    /// Moves a place to the nearest point of the grid.
    fn snap(&self, task: &mut [f64]) {
        for (value, (origin, step)) in task.iter_mut().zip(&self.grid) {
            if *step > 0.0 {
                *value = origin + ((*value - origin) / step).round() * step;
            }
        }
    }

    /// Sets the discrete parameters to those of a task drawn from the space.
    fn take_category(&self, task: &mut [f64], rng: &mut Rng) -> Result<()> {
        if !self.discrete.is_empty() {
            let drawn = self.deviance.space.sample(rng)?;
            self.discrete.iter().for_each(|&i| task[i] = drawn[i]);
        }
        Ok(())
    }

    /// Walks, and shows every place that counts.
    pub(super) fn walk(&mut self, rng: &mut Rng, mut count: impl FnMut(&[f64])) -> Result<()> {
        let width = (self.tremble.len() - self.discrete.len()).max(1) as f64;
        for step in 0..SETTLING + COUNTED {
            let jump = step % JUMP_EVERY == 0;
            let stride = if jump {
                1.0
            } else {
                2.38 / (2.0 * width).sqrt()
            };
            for index in 0..WALKERS {
                let proposed = match jump && !self.discrete.is_empty() && rng.random() {
                    true => Some(self.elsewhere(index, rng)?),
                    false => self.along(index, stride, jump, rng),
                };
                self.decide(index, proposed, rng);
                if step >= SETTLING {
                    count(&self.places[index].0);
                }
            }
        }
        Ok(())
    }

    /// The walker's place in a category drawn from the space.
    fn elsewhere(&self, index: usize, rng: &mut Rng) -> Result<Vec<f64>> {
        let mut task = self.places[index].0.clone();
        self.take_category(&mut task, rng)?;
        Ok(task)
    }

    /// The walker's place moved along the difference of two others; none where that is between
    /// categories.
    fn along(&self, index: usize, stride: f64, jump: bool, rng: &mut Rng) -> Option<Vec<f64>> {
        let other = |rng: &mut Rng| (index + 1 + rng.random_range(0..WALKERS - 1)) % WALKERS;
        let (a, b) = (other(rng), other(rng));
        let place = |walker: usize| &self.places[walker].0;
        let mut task: Vec<f64> = (0..self.tremble.len())
            .map(|i| {
                let jitter: f64 = StandardNormal.sample(rng);
                place(index)[i] + stride * (place(a)[i] - place(b)[i]) + jitter * self.tremble[i]
            })
            .collect();
        self.snap(&mut task);
        let alike = |a: usize, b: usize| {
            let same = |&i: &usize| place(a)[i].to_bits() == place(b)[i].to_bits();
            self.discrete.iter().all(same)
        };
        let category = match alike(a, b) {
            true => index,
            false if jump && alike(index, b) => a,
            false => return None,
        };
        let set = |&i: &usize| task[i] = place(category)[i];
        self.discrete.iter().for_each(set);
        Some(task)
    }

    /// Takes a proposal by its likelihood.
    fn decide(&mut self, index: usize, proposed: Option<Vec<f64>>, rng: &mut Rng) {
        let draw: f64 = rng.random();
        let Some(task) = proposed.filter(|task| self.deviance.space.contains(task)) else {
            return;
        };
        let value = self.deviance.at(&task);
        if draw.ln() < 0.5 * (self.places[index].1 - value) {
            self.places[index] = (task, value);
        }
    }

    /// Where they are now.
    pub(super) fn into_tasks(self) -> Vec<Vec<f64>> {
        self.places.into_iter().map(|(task, _)| task).collect()
    }
}
