//! Where in the space the target may be: its best member, a region, and a mean over all members.

use faer::{Mat, MatRef};

use super::walkers::Walkers;
use crate::error::Result;
use crate::features::{FeatureMap, Features as _, apply_row};
use crate::rng::Rng;
use crate::space::{Space, TaskSpace as _};

/// Most tasks of a finite space that are weighed one by one.
const MOST_LISTED: usize = 1_000_000;
/// Draws from the whole space.
const PRIOR_DRAWS: usize = 4096;
/// The same, to find out where members are not ruled out, and how often a step from the best one
/// is halved for it.
const LOOKS: usize = 512;
const HALVINGS: i32 = 40;
/// Draws that show how far apart the tasks of a space are.
const SCOUTS: usize = 64;
/// What overstepping the edge of a region by its whole height costs, in widths of the space.
const STIFFNESS: f64 = 100.0;

/// `w ↦ −2 log p(y | w)` over a space.
pub(super) struct Deviance<'a> {
    pub(super) space: &'a Space,
    pub(super) features: &'a FeatureMap,
    pub(super) value: &'a (dyn Fn(&[f64]) -> f64 + Sync),
}

impl Deviance<'_> {
    pub(super) fn at(&self, task: &[f64]) -> f64 {
        (self.value)(&apply_row(self.features, task))
    }

    /// The best member, and its value.
    pub(super) fn best(&self, rng: &mut Rng) -> Result<(Vec<f64>, f64)> {
        let atom = self.space.minimise(&|task| self.at(task), rng)?;
        Ok((atom.task, atom.value))
    }

    /// The smallest box around all members whose value is at most `limit`: parameter by
    /// parameter, how far one can go.
    pub(super) fn extent(
        &self,
        best: &[f64],
        limit: f64,
        rng: &mut Rng,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let (mut low, mut high) = (best.to_vec(), best.to_vec());
        if let Some(tasks) = self.listed() {
            for task in tasks.iter().filter(|task| self.at(task) <= limit) {
                stretch(&mut low, &mut high, task);
            }
            return Ok((low, high));
        }
        let cloud = self.cloud(best, limit, (&mut low, &mut high), rng)?;
        let slack = limit - self.at(best);
        let scales = self.scales(rng)?;
        let smooth = self.space.widths().iter().all(|&width| width > 0.0);
        for index in 0..best.len() {
            for side in [-1.0, 1.0] {
                // Smooth across the edge, which is then overstepped by next to nothing.
                let objective = |task: &[f64]| {
                    let excess = (self.at(task) - limit).max(0.0) / slack;
                    STIFFNESS * excess * excess - side * (task[index] - best[index]) / scales[index]
                };
                // Within one category the edge lies where the cloud points to, or downhill of
                // there; others have to be searched.
                let found = if smooth {
                    let edge = self.reach(best, limit, cloud.as_ref(), index, side);
                    low[index] = low[index].min(edge[index]);
                    high[index] = high[index].max(edge[index]);
                    self.space.descend(&objective, &edge)
                } else {
                    self.space.minimise(&objective, rng)?.task
                };
                low[index] = low[index].min(found[index]);
                high[index] = high[index].max(found[index]);
            }
        }
        // Members may be outside by what rounding puts them there.
        for (index, (least, most)) in self.space.bounds().into_iter().enumerate() {
            low[index] = low[index].max(least).min(best[index]);
            high[index] = high[index].min(most).max(best[index]);
        }
        Ok((low, high))
    }

    /// The second moment, around the best, of members whose value is at most `limit`; stretches a
    /// box to hold them.
    fn cloud(
        &self,
        best: &[f64],
        limit: f64,
        (low, high): (&mut [f64], &mut [f64]),
        rng: &mut Rng,
    ) -> Result<Mat<f64>> {
        let (from, to) = self.surroundings(best, limit, rng)?;
        let mut cloud = Mat::<f64>::zeros(best.len(), best.len());
        let mut walkers = Walkers::start(self, best, (&from, &to), limit, rng)?;
        walkers.walk(rng, |task| {
            if self.at(task) <= limit {
                stretch(low, high, task);
                for (j, b) in best.iter().enumerate() {
                    for (i, a) in best.iter().enumerate() {
                        cloud[(i, j)] += (task[i] - a) * (task[j] - b);
                    }
                }
            }
        })?;
        Ok(cloud)
    }

    /// How far one can go from the best in one parameter, the others following as the cloud says,
    /// as far as the space lets them.
    fn reach(
        &self,
        best: &[f64],
        limit: f64,
        cloud: MatRef<'_, f64>,
        index: usize,
        side: f64,
    ) -> Vec<f64> {
        if cloud[(index, index)] <= 0.0 {
            return best.to_vec();
        }
        let widths = self.space.widths();
        let free = |i: usize, slope: f64| {
            let mut task = best.to_vec();
            task[i] += 1e-6 * widths[i] * slope.signum();
            self.space.contains(&task)
        };
        let slopes: Vec<f64> = (0..best.len())
            .map(|i| side * cloud[(i, index)] / cloud[(index, index)])
            .enumerate()
            .map(|(i, slope)| if free(i, slope) { slope } else { 0.0 })
            .collect();
        let at = |length: f64| -> Vec<f64> {
            let moved = best.iter().zip(&slopes);
            moved.map(|(w, slope)| w + length * slope).collect()
        };
        let inside = |length: f64| {
            let task = at(length);
            self.space.contains(&task) && self.at(&task) <= limit
        };
        let (mut near, mut far) = (0.0, 2.0 * widths[index]);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (near + far);
            if inside(middle) {
                near = middle;
            } else {
                far = middle;
            }
        }
        // A space takes tasks that lie outside by rounding; an edge should not.
        at((near - 1e-8 * widths[index]).max(0.0))
    }

    /// How far apart tasks are, parameter by parameter; one where they do not differ.
    fn scales(&self, rng: &mut Rng) -> Result<Vec<f64>> {
        let mut low = self.space.sample(rng)?;
        let mut high = low.clone();
        for _ in 0..SCOUTS {
            stretch(&mut low, &mut high, &self.space.sample(rng)?);
        }
        let apart = low.iter().zip(&high).map(|(low, high)| high - low);
        Ok(apart
            .map(|scale| if scale > 0.0 { scale } else { 1.0 })
            .collect())
    }

    /// A box around the members whose value is at most `limit`, up to factors of two and from few
    /// looks: where walkers start.
    pub(super) fn surroundings(
        &self,
        best: &[f64],
        limit: f64,
        rng: &mut Rng,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let (mut low, mut high) = (best.to_vec(), best.to_vec());
        for _ in 0..LOOKS {
            let task = self.space.sample(rng)?;
            if self.at(&task) <= limit {
                stretch(&mut low, &mut high, &task);
            }
        }
        for (index, width) in self.space.widths().into_iter().enumerate() {
            for side in [-width, width] {
                let moved = |halvings: i32| {
                    let mut task = best.to_vec();
                    task[index] += side * 0.5_f64.powi(halvings);
                    task
                };
                let inside = |task: &Vec<f64>| self.space.contains(task) && self.at(task) <= limit;
                if let Some(task) = (0..HALVINGS).map(moved).find(inside) {
                    stretch(&mut low, &mut high, &task);
                }
            }
        }
        Ok((low, high))
    }

    /// All members, each weighed by its likelihood, as the mean of their features: a sum where the
    /// space is finite, else over walkers, started where the value is at most `limit` in the box.
    pub(super) fn spread(
        &self,
        best: &[f64],
        (low, high): (&[f64], &[f64]),
        limit: f64,
        rng: &mut Rng,
    ) -> Result<Spread> {
        let mut sum = Moments::new(self.features.dim());
        if let Some(tasks) = self.listed() {
            let least = self.at(best);
            for task in &tasks {
                let weight = (-0.5 * (self.at(task) - least)).exp();
                sum.add(&apply_row(self.features, task), weight);
            }
            return Ok(sum.spread(Vec::new()));
        }
        let mut walkers = Walkers::start(self, best, (low, high), limit, rng)?;
        walkers.walk(rng, |task| {
            sum.add(&apply_row(self.features, task), 1.0);
        })?;
        Ok(sum.spread(walkers.into_tasks()))
    }

    /// Logarithm of the mean likelihood over the space, relative to the best member's: what so many
    /// rows had to pay for finding it. Draws stand for a space that cannot be listed; with many rows
    /// none comes near the best member, and the usual approximation holds.
    pub(super) fn occam(&self, least: f64, rows: usize, rng: &mut Rng) -> Result<f64> {
        let mean = |tasks: &[Vec<f64>]| {
            let weight = |task: &Vec<f64>| (-0.5 * (self.at(task) - least).max(0.0)).exp();
            (tasks.iter().map(weight).sum::<f64>() / tasks.len().max(1) as f64).ln()
        };
        if let Some(tasks) = self.listed() {
            return Ok(mean(&tasks));
        }
        let tasks = (0..PRIOR_DRAWS)
            .map(|_| self.space.sample(rng))
            .collect::<Result<Vec<_>>>()?;
        let usual = -0.5 * self.space.dim() as f64 * (rows as f64).ln();
        Ok(mean(&tasks).max(usual))
    }

    fn listed(&self) -> Option<Vec<Vec<f64>>> {
        let few = self.space.count().is_some_and(|n| n <= MOST_LISTED);
        few.then(|| self.space.tasks()).flatten()
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

impl Spread {
    /// The covariance of their task features.
    pub(super) fn covariance(&self) -> Mat<f64> {
        let mean = &self.mean_features;
        Mat::from_fn(mean.len(), mean.len(), |i, j| {
            let value = self.second_moment[(i, j)] - mean[i] * mean[j];
            if i == j { value.max(0.0) } else { value }
        })
    }
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
