//! Mini-batch descent over a network and its task map together.

use faer::MatRef;
use rand::seq::SliceRandom as _;
use taskscout::rng::{Purpose, derive};
use taskscout::{Error, Result};

use crate::batch::Batches;
use crate::dataset::Dataset;
use crate::network::Differentiable;
use crate::optimiser::{Stepper, clip};
use crate::settings::DescentSettings;

/// Times the first loss at which descent counts as diverged.
const DIVERGED: f64 = 1e3;

/// A network's parameters, then the task map's, `outputs × k × p`.
#[derive(Debug, Clone)]
pub(crate) struct Joint {
    pub(crate) network: Vec<f32>,
    pub(crate) map: Vec<f32>,
}

/// How a descent went.
pub(crate) struct Course {
    pub(crate) joint: Joint,
    pub(crate) steps: usize,
    /// Mean training loss of each epoch.
    pub(crate) losses: Vec<f64>,
    pub(crate) stopped_early: bool,
}

impl Course {
    /// Whether the last epoch hardly lowered the loss.
    pub(crate) fn has_settled(&self) -> bool {
        match self.losses[..] {
            [.., before, last] => before - last <= 1e-3 * last,
            _ => false,
        }
    }
}

/// The rows and the shape of the model that descends on them.
pub(crate) struct Descender<'a, N> {
    data: &'a Dataset,
    network: &'a N,
    k: usize,
}

impl<'a, N: Differentiable> Descender<'a, N> {
    pub(crate) fn new(data: &'a Dataset, network: &'a N, k: usize) -> Self {
        Self { data, network, k }
    }

    /// Runs all epochs from a start; rows are shuffled by a seed and the number of the start.
    ///
    /// # Errors
    /// A loss that leaves all bounds, with the step.
    pub(crate) fn run(
        &self,
        start: Joint,
        settings: &DescentSettings,
        seed: (u64, u64),
    ) -> Result<Course> {
        let held_out = settings.early_stopping.map(|stopping| {
            let step = ((1.0 / stopping.share).round() as usize).max(2);
            (step, stopping.patience)
        });
        let is_held_out = |row: usize| held_out.is_some_and(|(step, _)| row.is_multiple_of(step));
        let mut order: Vec<u32> = (0..self.data.len() as u32)
            .filter(|&row| !is_held_out(row as usize))
            .collect();
        let test: Vec<u32> = (0..self.data.len() as u32)
            .filter(|&row| is_held_out(row as usize))
            .collect();
        let Joint {
            mut network,
            mut map,
        } = start;
        let mut batches = Batches::new(self.data, self.network, self.k);
        let mut steppers = [network.len(), map.len()]
            .map(|count| Stepper::new(settings.optimiser, settings.weight_decay, count));
        let a_pass = order.len().div_ceil(settings.batch).max(1);
        let total = a_pass.saturating_mul(settings.epochs);
        let (mut steps, mut losses, mut first) = (0, Vec::new(), f64::NAN);
        let mut best: Option<(f64, Joint)> = None;
        let mut waited = 0;
        for epoch in 0..settings.epochs {
            let indices = [seed.1, self.data.len() as u64, epoch as u64];
            order.shuffle(&mut derive(seed.0, Purpose::Shuffle, &indices));
            let mut sum = 0.0;
            for batch in order.chunks(settings.batch) {
                let loss = batches.pull(&network, &map, batch);
                if first.is_nan() {
                    first = loss;
                }
                if !loss.is_finite() || loss > DIVERGED * (1.0 + first) {
                    return Err(Error::Diverged {
                        step: steps,
                        remedy: format!(
                            "the loss is {loss:.2e} after {first:.2e} at first; lower `learning_rate` (now {}), set `clip`, or rescale the data",
                            settings.learning_rate
                        ),
                    });
                }
                let [by_network, by_map] = batches.gradient();
                if let Some(most) = settings.clip {
                    clip(by_network, most);
                    clip(by_map, most);
                }
                let rate = settings.learning_rate * settings.decay.factor(steps, total);
                steppers[0].step(rate as f32, &mut network, by_network);
                steppers[1].step(rate as f32, &mut map, by_map);
                steps += 1;
                sum += loss * batch.len() as f64;
            }
            losses.push(sum / order.len().max(1) as f64);
            let Some((_, patience)) = held_out else {
                continue;
            };
            let loss = batches.loss(&network, &map, &test);
            if best.as_ref().is_none_or(|(known, _)| loss < *known) {
                let joint = Joint {
                    network: network.clone(),
                    map: map.clone(),
                };
                best = Some((loss, joint));
                waited = 0;
            } else {
                waited += 1;
            }
            if waited >= patience {
                break;
            }
        }
        let last = best.map_or(Joint { network, map }, |(_, joint)| joint);
        let finite = |values: &[f32]| values.iter().all(|value| value.is_finite());
        if !(finite(&last.network) && finite(&last.map)) {
            return Err(Error::Diverged {
                step: steps,
                remedy: format!(
                    "a weight is no longer finite; lower `learning_rate` (now {}), or rescale the data",
                    settings.learning_rate
                ),
            });
        }
        Ok(Course {
            stopped_early: losses.len() < settings.epochs,
            joint: last,
            steps,
            losses,
        })
    }

    /// Mean squared error over all rows.
    pub(crate) fn loss(&self, network: &[f32], map: &[f32]) -> f64 {
        let all: Vec<u32> = (0..self.data.len() as u32).collect();
        Batches::new(self.data, self.network, self.k).loss(network, map, &all)
    }
}

/// A map as a flat vector, one row of `p` an output and embedding coordinate.
pub(crate) fn flat_map(map: MatRef<'_, f64>, outputs: usize) -> Vec<f32> {
    let (k, p) = (map.nrows(), map.ncols() / outputs.max(1));
    (0..outputs * k * p)
        .map(|at| {
            let (row, s) = (at / p, at % p);
            map[(row % k, (row / k) * p + s)] as f32
        })
        .collect()
}
