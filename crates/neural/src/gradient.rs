//! Loss and gradient of a network and its task map over some rows.
//!
//! With `c_w = B ψ_W(w)`, each row sends `−2 (y − φᵀc_w) c_w` to the network and `−2 (y − φᵀc_w) φ` to
//! its task's embedding.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::dataset::{CHUNK_ROWS, Dataset};
use crate::network::Differentiable;

/// Rows of one part of a batch, where each part gets a thread of its own.
const PART_ROWS: usize = 256;
/// Multiplications of a batch from which on its parts are.
const PART_WORK: usize = 20_000_000;
/// Rows that pass through the network at a time.
const BLOCK_ROWS: usize = 512;

/// What batches are taken from, and the shape of the model.
struct Shared<'a, N> {
    data: &'a Dataset,
    /// `ψ_W` of each task, one a row.
    features: Vec<f32>,
    p: usize,
    k: usize,
    network: &'a N,
}

/// Takes batches; its buffers serve all of them.
pub(crate) struct Batches<'a, N: Differentiable> {
    shared: Shared<'a, N>,
    /// `c_w` of every task and output, task by task.
    embeddings: Vec<f32>,
    parts: Vec<BatchPart<N>>,
    map_gradient: Vec<f32>,
}

/// Part of a batch: what it adds to the loss and its gradient.
struct BatchPart<N: Differentiable> {
    x: Vec<f32>,
    tape: N::Tape,
    phi: Vec<f32>,
    upstream: Vec<f32>,
    loss: f64,
    network: Vec<f32>,
    /// By the embeddings of the tasks.
    tasks: Vec<f32>,
}

impl<N: Differentiable> Default for BatchPart<N> {
    fn default() -> Self {
        Self {
            x: Vec::new(),
            tape: N::Tape::default(),
            phi: Vec::new(),
            upstream: Vec::new(),
            loss: 0.0,
            network: Vec::new(),
            tasks: Vec::new(),
        }
    }
}

impl<'a, N: Differentiable> Batches<'a, N> {
    pub(crate) fn new(data: &'a Dataset, network: &'a N, k: usize) -> Self {
        let (tasks, p) = (data.features.nrows(), data.features.ncols());
        let features = (0..tasks * p).map(|i| data.features[(i / p, i % p)] as f32);
        Self {
            shared: Shared {
                data,
                features: features.collect(),
                p,
                k,
                network,
            },
            embeddings: Vec::new(),
            parts: Vec::new(),
            map_gradient: Vec::new(),
        }
    }

    /// The mean squared error of a batch; its gradient is kept. A batch is cut into parts of fixed
    /// size where that pays.
    pub(crate) fn pull(&mut self, network: &[f32], map: &[f32], batch: &[u32]) -> f64 {
        self.shared.embed(map, &mut self.embeddings);
        let labels = (batch.len() * self.shared.data.outputs) as f32;
        let small = network.len() * batch.len() < PART_WORK;
        let size = if small { batch.len() } else { PART_ROWS }.max(1);
        let count = batch.len().div_ceil(size).max(1);
        if self.parts.len() < count {
            self.parts.resize_with(count, BatchPart::default);
        }
        let (shared, embeddings) = (&self.shared, self.embeddings.as_slice());
        let parts = &mut self.parts[..count];
        if let ([part], true) = (&mut *parts, batch.len() <= size) {
            part.take(shared, network, embeddings, batch, labels);
        } else {
            parts
                .par_iter_mut()
                .zip(batch.par_chunks(size))
                .for_each(|(part, rows)| part.take(shared, network, embeddings, rows, labels));
        }
        let Some((first, others)) = parts.split_first_mut() else {
            return 0.0;
        };
        for other in others {
            add(&mut first.network, &other.network);
            add(&mut first.tasks, &other.tasks);
            first.loss += other.loss;
        }
        shared.map_gradient(&first.tasks, &mut self.map_gradient);
        first.loss
    }

    /// The last batch's gradient by the network's parameters, and by the map.
    pub(crate) fn gradient(&mut self) -> [&mut [f32]; 2] {
        let network = self.parts.first_mut().map(|part| &mut part.network[..]);
        [network.unwrap_or_default(), &mut self.map_gradient]
    }

    /// Mean squared error over some rows.
    pub(crate) fn loss(&mut self, network: &[f32], map: &[f32], rows: &[u32]) -> f64 {
        self.shared.embed(map, &mut self.embeddings);
        if self.parts.is_empty() {
            self.parts.push(BatchPart::default());
        }
        let (shared, part) = (&self.shared, &mut self.parts[0]);
        let (m, k) = (shared.data.outputs, shared.k);
        let mut sum = 0.0;
        for block in rows.chunks(CHUNK_ROWS) {
            part.forward(shared, network, block);
            for (&row, values) in block.iter().zip(part.phi.chunks_exact(k)) {
                for o in 0..m {
                    let (error, _) = shared.error(&self.embeddings, row, o, values);
                    sum += f64::from(error).powi(2);
                }
            }
        }
        sum / (rows.len() * m).max(1) as f64
    }
}

impl<N: Differentiable> BatchPart<N> {
    /// Sums over some rows of a batch that has so many labels.
    fn take(
        &mut self,
        shared: &Shared<'_, N>,
        network: &[f32],
        embeddings: &[f32],
        rows: &[u32],
        labels: f32,
    ) {
        self.loss = 0.0;
        zeros(&mut self.network, network.len());
        zeros(&mut self.tasks, embeddings.len());
        for block in rows.chunks(BLOCK_ROWS) {
            self.forward(shared, network, block);
            self.residuals(shared, embeddings, block, labels);
            let Self { x, tape, .. } = self;
            let x = MatRef::from_row_major_slice(x, block.len(), shared.data.inputs);
            shared
                .network
                .backward(network, x, &self.upstream, tape, &mut self.network);
        }
        self.loss /= f64::from(labels);
    }

    fn forward(&mut self, shared: &Shared<'_, N>, network: &[f32], rows: &[u32]) {
        let width = shared.data.inputs;
        self.x.clear();
        for &row in rows {
            let at = row as usize * width;
            self.x.extend_from_slice(&shared.data.x[at..at + width]);
        }
        let x = MatRef::from_row_major_slice(&self.x, rows.len(), width);
        shared
            .network
            .forward(network, x, &mut self.tape, &mut self.phi);
    }

    /// What the rows send to the network and to the embeddings of their tasks.
    fn residuals(&mut self, shared: &Shared<'_, N>, embeddings: &[f32], rows: &[u32], labels: f32) {
        let k = shared.k;
        zeros(&mut self.upstream, rows.len() * k);
        let values = self.phi.chunks_exact(k);
        for ((&row, values), up) in rows
            .iter()
            .zip(values)
            .zip(self.upstream.chunks_exact_mut(k))
        {
            for o in 0..shared.data.outputs {
                let (error, at) = shared.error(embeddings, row, o, values);
                self.loss += f64::from(error * error);
                let factor = -2.0 * error / labels;
                let c = &embeddings[at..at + k];
                up.iter_mut().zip(c).for_each(|(to, c)| *to += factor * c);
                let pull = self.tasks[at..at + k].iter_mut().zip(values);
                pull.for_each(|(to, v)| *to += factor * v);
            }
        }
    }
}

impl<N> Shared<'_, N> {
    /// `y − φᵀc` of one output of a row, and where `c` is.
    fn error(&self, embeddings: &[f32], row: u32, output: usize, phi: &[f32]) -> (f32, usize) {
        let (row, m) = (row as usize, self.data.outputs);
        let at = (self.data.task[row] as usize * m + output) * self.k;
        let c = &embeddings[at..at + self.k];
        let fit: f32 = phi.iter().zip(c).map(|(a, b)| a * b).sum();
        (self.data.y[row * m + output] - fit, at)
    }

    fn features(&self) -> MatRef<'_, f32> {
        MatRef::from_row_major_slice(&self.features, self.data.features.nrows(), self.p)
    }

    /// `c_w` of every task and output.
    fn embed(&self, map: &[f32], out: &mut Vec<f32>) {
        let width = self.k * self.data.outputs;
        let map = MatRef::from_row_major_slice(map, width, self.p);
        let features = self.features();
        out.resize(features.nrows() * width, 0.0);
        let to = MatMut::from_row_major_slice_mut(out, features.nrows(), width);
        matmul(to, Accum::Replace, features, map.transpose(), 1.0, Par::Seq);
    }

    /// From the gradients of embeddings to that of the map.
    fn map_gradient(&self, tasks: &[f32], out: &mut Vec<f32>) {
        let width = self.k * self.data.outputs;
        let features = self.features();
        let tasks = MatRef::from_row_major_slice(tasks, features.nrows(), width);
        out.resize(width * self.p, 0.0);
        let to = MatMut::from_row_major_slice_mut(out, width, self.p);
        matmul(
            to,
            Accum::Replace,
            tasks.transpose(),
            features,
            1.0,
            Par::Seq,
        );
    }
}

fn add(to: &mut [f32], from: &[f32]) {
    to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
}

/// So many zeros, in the memory that is there.
fn zeros(values: &mut Vec<f32>, count: usize) {
    values.clear();
    values.resize(count, 0.0);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use faer::Mat;
    use rand_distr::{Distribution as _, StandardNormal};
    use taskscout::model::Activation;
    use taskscout::rng::{Purpose, Rng, derive};

    use super::*;
    use crate::network::Architecture as _;
    use crate::perceptron::Perceptron;
    use crate::shape::MlpShape;

    const OUTPUTS: usize = 2;
    const K: usize = 3;

    fn normal(count: usize, rng: &mut Rng) -> Vec<f32> {
        let mut value = || -> f64 { StandardNormal.sample(rng) };
        (0..count).map(|_| value() as f32).collect()
    }

    /// Rows of three tasks with two features, a network for them, and a map.
    fn setting(rows: usize, hidden: &[usize]) -> (Dataset, Perceptron, Vec<f32>) {
        let mut rng = derive(3, Purpose::Weights, &[]);
        let features = normal(6, &mut rng);
        let data = Dataset {
            inputs: 4,
            outputs: OUTPUTS,
            x: normal(rows * 4, &mut rng),
            y: normal(rows * OUTPUTS, &mut rng),
            task: (0..rows as u32).map(|row| row % 3).collect(),
            features: Mat::from_fn(3, 2, |i, j| f64::from(features[i * 2 + j])),
        };
        let shape = MlpShape {
            hidden: hidden.to_vec(),
            activation: Activation::Tanh,
            bias: true,
        };
        let network = shape.init(&[1.0; 4], K, &mut rng).unwrap();
        let map = normal(OUTPUTS * K * 2, &mut rng);
        (data, network, map)
    }

    #[test]
    fn gradients_are_those_of_finite_differences() {
        const STEP: f32 = 1e-2;
        let (data, network, map) = setting(40, &[5]);
        let mut batches = Batches::new(&data, &network, K);
        let batch: Vec<u32> = (0..40).rev().collect();
        let theta = network.parameters();
        let loss = batches.pull(&theta, &map, &batch);
        let found = batches.gradient().map(|part| part.to_vec());
        assert!((batches.loss(&theta, &map, &batch) - loss).abs() < 1e-6);
        for (part, found) in found.iter().enumerate() {
            for (index, &found) in found.iter().enumerate() {
                let mut at = |step: f32| {
                    let mut point = [theta.clone(), map.clone()];
                    point[part][index] += step;
                    batches.loss(&point[0], &point[1], &batch)
                };
                // A rule of five points: single precision bears no smaller step.
                let near = at(STEP) - at(-STEP);
                let far = at(2.0 * STEP) - at(-2.0 * STEP);
                let slope = (8.0 * near - far) / (12.0 * f64::from(STEP));
                let error = (f64::from(found) - slope).abs();
                assert!(error < 1e-3, "{part} {index}: {found} {slope}");
            }
        }
    }

    #[test]
    fn parts_of_a_batch_give_the_same_bits_on_any_number_of_threads() {
        let (data, network, map) = setting(5000, &[64, 64]);
        let batch: Vec<u32> = (0..5000).collect();
        let theta = network.parameters();
        assert!(theta.len() * batch.len() > PART_WORK, "not cut into parts");
        let pull = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().unwrap().install(|| {
                let mut batches = Batches::new(&data, &network, K);
                let loss = batches.pull(&theta, &map, &batch).to_bits();
                let gradient = batches
                    .gradient()
                    .map(|part| part.iter().map(|g| g.to_bits()).collect::<Vec<u32>>());
                (loss, gradient)
            })
        };
        let one = pull(1);
        for threads in [2, 3, 8] {
            assert_eq!(pull(threads), one, "{threads} threads");
        }
    }

    #[test]
    fn a_later_batch_knows_nothing_of_the_one_before() {
        let (data, network, map) = setting(5000, &[64, 64]);
        let theta = network.parameters();
        let all: Vec<u32> = (0..5000).collect();
        let few = &all[100..110];
        let mut used = Batches::new(&data, &network, K);
        used.pull(&theta, &map, &all);
        let mut fresh = Batches::new(&data, &network, K);
        let losses = [&mut used, &mut fresh].map(|batches| batches.pull(&theta, &map, few));
        assert_eq!(losses[0].to_bits(), losses[1].to_bits());
        assert_eq!(used.gradient(), fresh.gradient());
    }
}
