//! Variable projection: gradient on `φ`, heads solved.
//!
//! For given `φ` the task map is ridge regression on statistics under `φ`, so the objective is a
//! function of the network's parameters `θ` alone,
//!
//! `J(θ) = min_B Σ ‖y − φ_θ(ψ)ᵀ B ψ_W(w)‖² + λ(‖B‖² + ‖θ‖²)`,
//!
//! and by the envelope theorem its gradient is that of the sum with `B` held at its minimum: each
//! row sends `−2 (y − φᵀc_w) c_w` back through the network.

use std::ops::Range;

use faer::Mat;
use rayon::prelude::*;
use taskscout::Result;
use taskscout::train::{ProjectedStatistics, ridge_task_map};

use crate::dataset::Dataset;
use crate::network::Differentiable;

/// The reduced objective over some rows.
pub(crate) struct Reduced<'a, N: Differentiable> {
    rows: DatasetRows<'a>,
    chunks: Vec<Chunk<N>>,
    network: &'a N,
    squares: f64,
    pub(crate) lambda: f64,
}

/// The rows, and what is summed over them.
struct DatasetRows<'a> {
    data: &'a Dataset,
    k: usize,
}

/// Some rows in a row, and the buffers of their passes.
struct Chunk<N: Differentiable> {
    rows: Range<usize>,
    tape: N::Tape,
    phi: Vec<f32>,
    upstream: Vec<f32>,
    gradient: Vec<f32>,
}

/// The objective at a point.
pub(crate) struct Value {
    /// `J(θ)` over the number of labels.
    pub(crate) objective: f64,
    /// Its gradient.
    pub(crate) gradient: Vec<f64>,
    /// Sum of squared residuals.
    pub(crate) residual: f64,
    /// `B`, `k × (outputs · p)`.
    pub(crate) map: Mat<f64>,
}

impl<'a, N: Differentiable> Reduced<'a, N> {
    pub(crate) fn new(data: &'a Dataset, network: &'a N, k: usize, lambda: f64) -> Self {
        let chunk = |rows| Chunk {
            rows,
            tape: N::Tape::default(),
            phi: Vec::new(),
            upstream: Vec::new(),
            gradient: Vec::new(),
        };
        Self {
            chunks: data.chunks().map(chunk).collect(),
            squares: data.squares(),
            rows: DatasetRows { data, k },
            network,
            lambda,
        }
    }

    fn labels(&self) -> f64 {
        (self.rows.data.len() * self.rows.data.outputs) as f64
    }

    /// The objective and its gradient at `θ`.
    pub(crate) fn evaluate(&mut self, theta: &[f64]) -> Result<Value> {
        let scale = 1.0 / self.labels();
        let narrow: Vec<f32> = theta.iter().map(|&value| value as f32).collect();
        let (rows, network) = (&self.rows, self.network);
        let (m, k) = (rows.data.outputs, rows.k);
        let parts: Vec<_> = self
            .chunks
            .par_iter_mut()
            .map(|chunk| {
                let x = rows.data.inputs_of(&chunk.rows);
                network.forward(&narrow, x, &mut chunk.tape, &mut chunk.phi);
                rows.statistics(&chunk.rows, &chunk.phi)
            })
            .collect();
        let projected = rows.sum(&parts);
        let map = ridge_task_map(rows.data.features.as_ref(), &projected, k, m, self.lambda)?;
        let embeddings = rows.embeddings(&map);
        // Rounding may take it below zero; not a number must stay what it is.
        let residual = match self.squares + rows.residual(&projected, &embeddings) {
            below if below < 0.0 => 0.0,
            other => other,
        };
        self.chunks.par_iter_mut().for_each(|chunk| {
            rows.upstream(chunk, &embeddings, scale);
            chunk.gradient.clear();
            chunk.gradient.resize(narrow.len(), 0.0);
            let x = rows.data.inputs_of(&chunk.rows);
            let Chunk { tape, gradient, .. } = chunk;
            network.backward(&narrow, x, &chunk.upstream, tape, gradient);
        });
        let penalty = self.lambda * scale;
        let mut gradient: Vec<f64> = theta.iter().map(|&value| 2.0 * penalty * value).collect();
        for chunk in &self.chunks {
            for (sum, &value) in gradient.iter_mut().zip(&chunk.gradient) {
                *sum += f64::from(value);
            }
        }
        let weight = theta.iter().map(|value| value * value).sum::<f64>() + map.squared_norm_l2();
        Ok(Value {
            objective: residual * scale + penalty * weight,
            gradient,
            residual,
            map,
        })
    }
}

impl DatasetRows<'_> {
    /// `c_w` of every task and output, in single precision.
    fn embeddings(&self, map: &Mat<f64>) -> Vec<f32> {
        let (p, m) = (self.data.features.ncols(), self.data.outputs);
        let mut out = Vec::with_capacity(self.data.features.nrows() * m * self.k);
        for task in 0..self.data.features.nrows() {
            for output in 0..m {
                for i in 0..self.k {
                    let value: f64 = (0..p)
                        .map(|s| map[(i, output * p + s)] * self.data.features[(task, s)])
                        .sum();
                    out.push(value as f32);
                }
            }
        }
        out
    }

    /// Statistics of all chunks together, in the order of the chunks.
    fn sum(&self, parts: &[Vec<(u32, ProjectedStatistics)>]) -> Vec<ProjectedStatistics> {
        let mut total = vec![self.zero(); self.data.features.nrows()];
        for (task, part) in parts.iter().flatten() {
            let sum = &mut total[*task as usize];
            add(&mut sum.gram, &part.gram);
            for (to, from) in sum.moments.iter_mut().zip(&part.moments) {
                add(to, from);
            }
        }
        total
    }

    /// Statistics of no rows.
    fn zero(&self) -> ProjectedStatistics {
        ProjectedStatistics {
            gram: vec![0.0; self.k * (self.k + 1) / 2],
            moments: vec![vec![0.0; self.k]; self.data.outputs],
        }
    }

    /// Statistics under `φ` of some rows in a row, task by task.
    fn statistics(&self, rows: &Range<usize>, phi: &[f32]) -> Vec<(u32, ProjectedStatistics)> {
        let (m, k) = (self.data.outputs, self.k);
        let mut out: Vec<(u32, ProjectedStatistics)> = Vec::new();
        for (row, values) in rows.clone().zip(phi.chunks_exact(k)) {
            let task = self.data.task[row];
            if out.last().is_none_or(|(last, _)| *last != task) {
                out.push((task, self.zero()));
            }
            let Some((_, sum)) = out.last_mut() else {
                continue;
            };
            let mut at = 0;
            for i in 0..k {
                let a = f64::from(values[i]);
                for &b in &values[..=i] {
                    sum.gram[at] += a * f64::from(b);
                    at += 1;
                }
                for (o, moment) in sum.moments.iter_mut().enumerate() {
                    moment[i] += a * f64::from(self.data.y[row * m + o]);
                }
            }
        }
        out
    }

    /// `−2 (y − φᵀc) c` of every row of a chunk, times a scale.
    fn upstream<N: Differentiable>(&self, chunk: &mut Chunk<N>, embeddings: &[f32], scale: f64) {
        let (m, k) = (self.data.outputs, self.k);
        chunk.upstream.clear();
        chunk.upstream.resize(chunk.phi.len(), 0.0);
        let values = chunk.phi.chunks_exact(k);
        for ((row, values), pull) in chunk
            .rows
            .clone()
            .zip(values)
            .zip(chunk.upstream.chunks_exact_mut(k))
        {
            let task = self.data.task[row] as usize;
            for o in 0..m {
                let c = &embeddings[(task * m + o) * k..(task * m + o + 1) * k];
                let fit: f32 = values.iter().zip(c).map(|(a, b)| a * b).sum();
                let factor = -2.0 * (self.data.y[row * m + o] - fit) * scale as f32;
                pull.iter_mut().zip(c).for_each(|(to, c)| *to += factor * c);
            }
        }
    }

    /// `Σ ‖y − φᵀc‖² − Σ y²`, from statistics.
    fn residual(&self, projected: &[ProjectedStatistics], embeddings: &[f32]) -> f64 {
        let (m, k) = (self.data.outputs, self.k);
        let mut total = 0.0;
        for (task, part) in projected.iter().enumerate() {
            for o in 0..m {
                let c: Vec<f64> = embeddings[(task * m + o) * k..(task * m + o + 1) * k]
                    .iter()
                    .map(|&value| f64::from(value))
                    .collect();
                let mut at = 0;
                for i in 0..k {
                    for j in 0..=i {
                        let both = if i == j { 1.0 } else { 2.0 };
                        total += both * c[i] * c[j] * part.gram[at];
                        at += 1;
                    }
                    total -= 2.0 * c[i] * part.moments[o][i];
                }
            }
        }
        total
    }
}

fn add(to: &mut [f64], from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(a, b)| *a += b);
}

impl<N: Differentiable> crate::lbfgs::Smooth for Reduced<'_, N> {
    type Value = Value;

    fn evaluate(&mut self, theta: &[f64]) -> Result<Value> {
        Reduced::evaluate(self, theta)
    }

    fn objective(value: &Value) -> f64 {
        value.objective
    }

    fn gradient(value: &Value) -> &[f64] {
        &value.gradient
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use rand_distr::{Distribution as _, StandardNormal};
    use taskscout::model::Activation;
    use taskscout::rng::{Purpose, derive};

    use super::*;
    use crate::network::Architecture as _;
    use crate::shape::MlpShape;

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        const STEP: f64 = 1e-2;
        let mut rng = derive(4, Purpose::Weights, &[]);
        let mut normal = |count: usize| -> Vec<f32> {
            let mut value = || -> f64 { StandardNormal.sample(&mut rng) };
            (0..count).map(|_| value() as f32).collect()
        };
        let rows = 3000; // two chunks
        let features = normal(8);
        let data = Dataset {
            inputs: 4,
            outputs: 1,
            x: normal(rows * 4),
            y: normal(rows),
            task: (0..rows as u32).map(|row| row / 750).collect(),
            features: Mat::from_fn(4, 2, |i, j| f64::from(features[i * 2 + j])),
        };
        let shape = MlpShape {
            hidden: vec![5],
            activation: Activation::Tanh,
            bias: true,
        };
        let network = shape.init(&[1.0; 4], 2, &mut rng).unwrap();
        let mut reduced = Reduced::new(&data, &network, 2, 3.0);
        let theta: Vec<f64> = network.parameters().iter().map(|&v| f64::from(v)).collect();
        let found = reduced.evaluate(&theta).unwrap().gradient;
        let length = found.iter().map(|g| g * g).sum::<f64>().sqrt();
        for (index, found) in found.iter().enumerate() {
            let mut at = |step: f64| {
                let mut point = theta.clone();
                point[index] += step;
                reduced.evaluate(&point).unwrap().objective
            };
            // A rule of five points: the network computes in single precision.
            let (near, far) = (at(STEP) - at(-STEP), at(2.0 * STEP) - at(-2.0 * STEP));
            let slope = (8.0 * near - far) / (12.0 * STEP);
            assert!(
                (found - slope).abs() < 1e-2 * length,
                "{index}: {found} {slope}"
            );
        }
    }
}
