//! Mini-batch descent over a network and its task map together.

use faer::MatRef;
use rand::seq::SliceRandom as _;
use taskscout::rng::{Purpose, derive};
use taskscout::{Error, Result};

use crate::dataset::Dataset;
use crate::gradient::Batches;
use crate::network::Differentiable;
use crate::optimiser::{Stepper, clip};
use crate::settings::DescentSettings;

/// Times the first loss at which descent counts as diverged.
const DIVERGED: f64 = 1e3;

/// A network's parameters, then the task map's, `outputs × k × p`.
#[derive(Debug, Clone)]
pub(crate) struct JointParameters {
    pub(crate) network: Vec<f32>,
    pub(crate) map: Vec<f32>,
}

impl JointParameters {
    fn is_finite(&self) -> bool {
        let mut all = self.network.iter().chain(&self.map);
        all.all(|value| value.is_finite())
    }
}

/// How a descent went.
pub(crate) struct DescentRun {
    pub(crate) joint: JointParameters,
    pub(crate) steps: usize,
    /// Mean training loss of each epoch.
    pub(crate) losses: Vec<f64>,
    pub(crate) stopped_early: bool,
}

impl DescentRun {
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
        start: JointParameters,
        settings: &DescentSettings,
        seed: (u64, u64),
    ) -> Result<DescentRun> {
        let held_out = settings.early_stopping.map(|stopping| {
            let step = ((1.0 / stopping.share).round() as usize).max(2);
            (step, stopping.patience)
        });
        let is_held_out =
            |row: &u32| held_out.is_some_and(|(step, _)| (*row as usize).is_multiple_of(step));
        let (test, mut order): (Vec<u32>, Vec<u32>) =
            (0..self.data.len() as u32).partition(is_held_out);
        let mut walk = self.walk(start, settings, order.len());
        let mut losses = Vec::new();
        let mut best: Option<(f64, JointParameters)> = None;
        let mut waited = 0;
        for epoch in 0..settings.epochs {
            let indices = [seed.1, self.data.len() as u64, epoch as u64];
            order.shuffle(&mut derive(seed.0, Purpose::Shuffle, &indices));
            losses.push(walk.epoch(&order)?);
            let Some((_, patience)) = held_out else {
                continue;
            };
            let JointParameters { network, map } = &walk.joint;
            let loss = walk.batches.loss(network, map, &test);
            if best.as_ref().is_none_or(|(known, _)| loss < *known) {
                best = Some((loss, walk.joint.clone()));
                waited = 0;
            } else {
                waited += 1;
            }
            if waited >= patience {
                break;
            }
        }
        let steps = walk.steps;
        let joint = best.map_or(walk.joint, |(_, joint)| joint);
        if !joint.is_finite() {
            return Err(Error::Diverged {
                step: steps,
                remedy: format!(
                    "a weight is no longer finite; lower `learning_rate` (now {}), or rescale the data",
                    settings.learning_rate
                ),
            });
        }
        Ok(DescentRun {
            stopped_early: losses.len() < settings.epochs,
            joint,
            steps,
            losses,
        })
    }

    /// A descent that has not begun, over so many rows a pass.
    fn walk<'s>(
        &'s self,
        start: JointParameters,
        settings: &'s DescentSettings,
        rows: usize,
    ) -> Walk<'s, N> {
        let steppers = [start.network.len(), start.map.len()]
            .map(|count| Stepper::new(settings.optimiser, settings.weight_decay, count));
        let a_pass = rows.div_ceil(settings.batch).max(1);
        Walk {
            batches: Batches::new(self.data, self.network, self.k),
            joint: start,
            steppers,
            settings,
            total: a_pass.saturating_mul(settings.epochs),
            steps: 0,
            first: f64::NAN,
        }
    }

    /// Mean squared error over all rows.
    pub(crate) fn loss(&self, network: &[f32], map: &[f32]) -> f64 {
        let all: Vec<u32> = (0..self.data.len() as u32).collect();
        Batches::new(self.data, self.network, self.k).loss(network, map, &all)
    }
}

/// A descent under way.
struct Walk<'a, N: Differentiable> {
    batches: Batches<'a, N>,
    joint: JointParameters,
    /// Of the network and of the map.
    steppers: [Stepper; 2],
    settings: &'a DescentSettings,
    /// Steps in all, as the learning rate's decay counts them.
    total: usize,
    steps: usize,
    /// The loss before the first step.
    first: f64,
}

impl<N: Differentiable> Walk<'_, N> {
    /// A pass over rows in an order; their mean loss.
    fn epoch(&mut self, order: &[u32]) -> Result<f64> {
        let mut sum = 0.0;
        for batch in order.chunks(self.settings.batch) {
            sum += self.step(batch)? * batch.len() as f64;
        }
        Ok(sum / order.len().max(1) as f64)
    }

    /// A step on a batch; the loss before it.
    fn step(&mut self, batch: &[u32]) -> Result<f64> {
        let (settings, JointParameters { network, map }) = (self.settings, &mut self.joint);
        let loss = self.batches.pull(network, map, batch);
        if self.first.is_nan() {
            self.first = loss;
        }
        if !loss.is_finite() || loss > DIVERGED * (1.0 + self.first) {
            return Err(Error::Diverged {
                step: self.steps,
                remedy: format!(
                    "the loss is {loss:.2e} after {:.2e} at first; lower `learning_rate` (now {}), set `clip`, or rescale the data",
                    self.first, settings.learning_rate
                ),
            });
        }
        let rate = settings.learning_rate * settings.decay.factor(self.steps, self.total);
        let parts = [network, map].into_iter().zip(self.batches.gradient());
        for ((parameters, gradient), stepper) in parts.zip(&mut self.steppers) {
            if let Some(most) = settings.clip {
                clip(gradient, most);
            }
            stepper.step(rate as f32, parameters, gradient);
        }
        self.steps += 1;
        Ok(loss)
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
