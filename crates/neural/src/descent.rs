//! Mini-batch descent over a network and its task map together.
//!
//! The network's gradient comes from Burn, that of the task map from the batch's residuals: with
//! `c_w = B ψ_W(w)`, each row sends `−2 (y − φᵀc_w) c_w` to the network and `−2 (y − φᵀc_w) φ` to
//! its task's embedding.

use burn::tensor::{Device, Tensor};
use faer::MatRef;
use rand::seq::SliceRandom as _;
use rayon::prelude::*;
use taskscout::rng::{Purpose, derive};
use taskscout::{Error, Result};

use crate::dataset::{Dataset, matrix};
use crate::flat;
use crate::network::{Network, device};
use crate::optimiser::{Stepper, clip};
use crate::settings::DescentSettings;

/// Rows of one part of a batch, where parts are worth a thread of their own.
const SHARD_ROWS: usize = 512;
/// Multiplications of a batch from which on its parts are.
const SHARD_WORK: usize = 20_000_000;
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
    /// `ψ_W` of each task, one a row.
    features: Tensor<2>,
    p: usize,
    k: usize,
    network: N,
    device: Device,
    /// The same, for what needs no gradient.
    plain: Device,
}

/// The gradient of a batch, and its loss.
struct Pull {
    network: Vec<f32>,
    map: Vec<f32>,
    loss: f64,
}

impl<'a, N: Network> Descender<'a, N> {
    pub(crate) fn new(data: &'a Dataset, network: N, k: usize) -> Self {
        let (tasks, p) = (data.features.nrows(), data.features.ncols());
        let values = (0..tasks * p)
            .map(|i| data.features[(i / p, i % p)] as f32)
            .collect();
        let plain = device().inner();
        Self {
            data,
            features: matrix(values, p, &plain),
            p,
            k,
            network,
            device: device(),
            plain,
        }
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
        let mut steppers = [network.len(), map.len()]
            .map(|count| Stepper::new(settings.optimiser, settings.weight_decay, count));
        let batches = order.len().div_ceil(settings.batch).max(1);
        let total = batches.saturating_mul(settings.epochs);
        let (mut steps, mut losses, mut first) = (0, Vec::new(), f64::NAN);
        let mut best: Option<(f64, Joint)> = None;
        let mut waited = 0;
        for epoch in 0..settings.epochs {
            let indices = [seed.1, self.data.len() as u64, epoch as u64];
            order.shuffle(&mut derive(seed.0, Purpose::Shuffle, &indices));
            let mut sum = 0.0;
            for batch in order.chunks(settings.batch) {
                let mut pull = self.pull(&network, &map, batch);
                if first.is_nan() {
                    first = pull.loss;
                }
                if !pull.loss.is_finite() || pull.loss > DIVERGED * (1.0 + first) {
                    return Err(Error::Diverged {
                        step: steps,
                        remedy: format!(
                            "the loss is {:.2e} after {first:.2e} at first; lower `learning_rate` (now {}), set `clip`, or rescale the data",
                            pull.loss, settings.learning_rate
                        ),
                    });
                }
                if let Some(most) = settings.clip {
                    clip(&mut pull.network, most);
                    clip(&mut pull.map, most);
                }
                let rate = settings.learning_rate * settings.decay.factor(steps, total);
                steppers[0].step(rate as f32, &mut network, &pull.network);
                steppers[1].step(rate as f32, &mut map, &pull.map);
                steps += 1;
                sum += pull.loss * batch.len() as f64;
            }
            losses.push(sum / order.len().max(1) as f64);
            let Some((_, patience)) = held_out else {
                continue;
            };
            let loss = self.loss(&network, &map, &test);
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

    /// Gradient and loss of a batch, which is cut into parts of fixed size where that pays.
    fn pull(&self, network: &[f32], map: &[f32], batch: &[u32]) -> Pull {
        let module = flat::with_parameters(self.network.clone(), network);
        let embeddings = self.embeddings(map);
        let labels = (batch.len() * self.data.outputs) as f32;
        let rows = &Rows {
            data: self.data,
            k: self.k,
            device: &self.device,
        };
        if network.len() * batch.len() < SHARD_WORK || batch.len() <= SHARD_ROWS {
            let (network, tasks, loss) = rows.pull(&module, &embeddings, batch, labels);
            return Pull {
                network,
                map: self.map_gradient(tasks),
                loss,
            };
        }
        let work: Vec<(N, &[u32])> = batch
            .chunks(SHARD_ROWS)
            .map(|part| (module.clone(), part))
            .collect();
        let parts: Vec<_> = work
            .into_par_iter()
            .map(|(module, part)| rows.pull(&module, &embeddings, part, labels))
            .collect();
        let mut parts = parts.into_iter();
        let Some((mut network, mut tasks, mut loss)) = parts.next() else {
            return Pull {
                network: vec![0.0; network.len()],
                map: vec![0.0; map.len()],
                loss: 0.0,
            };
        };
        for (other, more, extra) in parts {
            network.iter_mut().zip(&other).for_each(|(a, b)| *a += b);
            tasks.iter_mut().zip(&more).for_each(|(a, b)| *a += b);
            loss += extra;
        }
        Pull {
            network,
            map: self.map_gradient(tasks),
            loss,
        }
    }

    /// `c_w` of every task and output, task by task.
    fn embeddings(&self, map: &[f32]) -> Vec<f32> {
        let map = matrix(map.to_vec(), self.p, &self.plain);
        flat::values(self.features.clone().matmul(map.transpose()))
    }

    /// From the gradients of embeddings to that of the map.
    fn map_gradient(&self, tasks: Vec<f32>) -> Vec<f32> {
        let tasks = matrix(tasks, self.k * self.data.outputs, &self.plain);
        flat::values(tasks.transpose().matmul(self.features.clone()))
    }

    /// Mean squared error over some rows.
    pub(crate) fn loss(&self, network: &[f32], map: &[f32], rows: &[u32]) -> f64 {
        let module = flat::with_parameters(self.network.clone(), network);
        let embeddings = self.embeddings(map);
        let (m, k) = (self.data.outputs, self.k);
        let mut sum = 0.0;
        for part in rows.chunks(crate::dataset::CHUNK_ROWS) {
            let x = matrix(
                gather(&self.data.x, self.data.inputs, part),
                self.data.inputs,
                &self.device,
            );
            let phi = flat::values(module.forward(x).inner());
            for (&row, values) in part.iter().zip(phi.chunks_exact(k)) {
                let task = self.data.task[row as usize] as usize;
                for o in 0..m {
                    let c = &embeddings[(task * m + o) * k..(task * m + o + 1) * k];
                    let fit: f32 = values.iter().zip(c).map(|(a, b)| a * b).sum();
                    sum += f64::from(self.data.y[row as usize * m + o] - fit).powi(2);
                }
            }
        }
        sum / (rows.len() * m).max(1) as f64
    }
}

/// The rows of batches.
struct Rows<'a> {
    data: &'a Dataset,
    k: usize,
    device: &'a Device,
}

impl Rows<'_> {
    /// Gradients of the network and of the embeddings of the tasks in some rows, and their loss.
    fn pull<N: Network>(
        &self,
        module: &N,
        embeddings: &[f32],
        rows: &[u32],
        labels: f32,
    ) -> (Vec<f32>, Vec<f32>, f64) {
        let (m, k) = (self.data.outputs, self.k);
        let x = gather(&self.data.x, self.data.inputs, rows);
        let phi = module.forward(matrix(x, self.data.inputs, self.device));
        let values = flat::values(phi.clone().inner());
        let mut upstream = vec![0.0_f32; rows.len() * k];
        let mut pulls = vec![0.0; embeddings.len()];
        let mut loss = 0.0;
        for ((&row, values), up) in rows
            .iter()
            .zip(values.chunks_exact(k))
            .zip(upstream.chunks_exact_mut(k))
        {
            let task = self.data.task[row as usize];
            for o in 0..m {
                let at = (task as usize * m + o) * k;
                let c = &embeddings[at..at + k];
                let fit: f32 = values.iter().zip(c).map(|(a, b)| a * b).sum();
                let error = self.data.y[row as usize * m + o] - fit;
                loss += f64::from(error * error);
                let factor = -2.0 * error / labels;
                up.iter_mut().zip(c).for_each(|(to, c)| *to += factor * c);
                let pull = pulls[at..at + k].iter_mut().zip(values);
                pull.for_each(|(to, v)| *to += factor * v);
            }
        }
        let total = (phi * matrix(upstream, k, self.device)).sum();
        let network = flat::gradient(module, &mut total.backward());
        (network, pulls, loss / f64::from(labels))
    }
}

fn gather(values: &[f32], width: usize, rows: &[u32]) -> Vec<f32> {
    let mut out = Vec::with_capacity(rows.len() * width);
    for &row in rows {
        out.extend_from_slice(&values[row as usize * width..(row as usize + 1) * width]);
    }
    out
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
