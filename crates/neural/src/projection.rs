//! Variable projection: gradient on `φ`, heads solved.
//!
//! For given `φ` the task map is ridge regression on statistics under `φ`, so the objective is a
//! function of the network's parameters `θ` alone,
//!
//! `J(θ) = min_B Σ ‖y − φ_θ(ψ)ᵀ B ψ_W(w)‖² + λ(‖B‖² + ‖θ‖²)`,
//!
//! and by the envelope theorem its gradient is that of the sum with `B` held at its minimum: each
//! row sends `−2 (y − φᵀc_w) c_w` back through the network.

use faer::Mat;
use rayon::prelude::*;
use taskscout::Result;
use taskscout::train::{Projected, ridge_map};

use crate::dataset::{Chunk, Dataset, matrix};
use crate::flat;
use crate::network::{Network, device};

/// The reduced objective over some rows.
pub(crate) struct Reduced<'a, N> {
    rows: Rows<'a>,
    chunks: Vec<Chunk>,
    network: N,
    squares: f64,
    pub(crate) lambda: f64,
}

/// The rows, and what is summed over them.
struct Rows<'a> {
    data: &'a Dataset,
    k: usize,
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

impl<'a, N: Network> Reduced<'a, N> {
    pub(crate) fn new(data: &'a Dataset, network: N, k: usize, lambda: f64) -> Self {
        let device = device();
        Self {
            chunks: data.chunks(&device),
            squares: data.squares(),
            rows: Rows { data, k },
            network,
            lambda,
        }
    }

    fn labels(&self) -> f64 {
        (self.rows.data.len() * self.rows.data.outputs) as f64
    }

    /// The objective and its gradient at `θ`.
    pub(crate) fn evaluate(&self, theta: &[f64]) -> Result<Value> {
        let (rows, data) = (&self.rows, self.rows.data);
        let device = device();
        let narrow: Vec<f32> = theta.iter().map(|&value| value as f32).collect();
        let network = flat::with_parameters(self.network.clone(), &narrow);
        let work: Vec<(N, Chunk)> = self
            .chunks
            .iter()
            .map(|chunk| (network.clone(), chunk.clone()))
            .collect();
        let passes: Vec<_> = work
            .into_par_iter()
            .map(|(network, chunk)| {
                let phi = network.forward(chunk.x.clone());
                let values = flat::values(phi.clone().inner());
                let statistics = rows.statistics(&chunk, &values);
                (network, chunk, phi, values, statistics)
            })
            .collect();
        let (m, k) = (data.outputs, rows.k);
        let tasks = data.features.nrows();
        let mut projected = vec![
            Projected {
                gram: vec![0.0; k * (k + 1) / 2],
                moments: vec![vec![0.0; k]; m],
            };
            tasks
        ];
        for (.., statistics) in &passes {
            for (task, part) in statistics {
                let sum = &mut projected[*task as usize];
                add(&mut sum.gram, &part.gram);
                for (to, from) in sum.moments.iter_mut().zip(&part.moments) {
                    add(to, from);
                }
            }
        }
        let map = ridge_map(data.features.as_ref(), &projected, k, m, self.lambda)?;
        let embeddings = rows.embeddings(&map);
        // Rounding may take it below zero; not a number must stay what it is.
        let residual = match self.squares + rows.residual(&projected, &embeddings) {
            below if below < 0.0 => 0.0,
            other => other,
        };
        let scale = 1.0 / self.labels();
        let parts: Vec<Vec<f32>> = passes
            .into_par_iter()
            .map(|(network, chunk, phi, values, _)| {
                let upstream = rows.upstream(&chunk, &values, &embeddings, scale);
                let pull = (phi * matrix(upstream, k, &device)).sum();
                flat::gradient(&network, &mut pull.backward())
            })
            .collect();
        let penalty = self.lambda * scale;
        let mut gradient: Vec<f64> = theta.iter().map(|&value| 2.0 * penalty * value).collect();
        for part in &parts {
            for (sum, &value) in gradient.iter_mut().zip(part) {
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

impl Rows<'_> {
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

    /// Statistics under `φ` of a chunk, task by task.
    fn statistics(&self, chunk: &Chunk, phi: &[f32]) -> Vec<(u32, Projected)> {
        let (m, k) = (self.data.outputs, self.k);
        let mut out: Vec<(u32, Projected)> = Vec::new();
        for (row, values) in (chunk.start..chunk.end).zip(phi.chunks_exact(k)) {
            let task = self.data.task[row];
            if out.last().is_none_or(|(last, _)| *last != task) {
                let zero = Projected {
                    gram: vec![0.0; k * (k + 1) / 2],
                    moments: vec![vec![0.0; k]; m],
                };
                out.push((task, zero));
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
    fn upstream(&self, chunk: &Chunk, phi: &[f32], embeddings: &[f32], scale: f64) -> Vec<f32> {
        let (m, k) = (self.data.outputs, self.k);
        let mut out = vec![0.0_f32; (chunk.end - chunk.start) * k];
        for ((row, values), pull) in (chunk.start..chunk.end)
            .zip(phi.chunks_exact(k))
            .zip(out.chunks_exact_mut(k))
        {
            let task = self.data.task[row] as usize;
            for o in 0..m {
                let c = &embeddings[(task * m + o) * k..(task * m + o + 1) * k];
                let fit: f32 = values.iter().zip(c).map(|(a, b)| a * b).sum();
                let factor = -2.0 * (self.data.y[row * m + o] - fit) * scale as f32;
                pull.iter_mut().zip(c).for_each(|(to, c)| *to += factor * c);
            }
        }
        out
    }

    /// `Σ ‖y − φᵀc‖² − Σ y²`, from statistics.
    fn residual(&self, projected: &[Projected], embeddings: &[f32]) -> f64 {
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

impl<N: Network> crate::lbfgs::Smooth for Reduced<'_, N> {
    type Value = Value;

    fn evaluate(&self, theta: &[f64]) -> Result<Value> {
        Reduced::evaluate(self, theta)
    }

    fn objective(value: &Value) -> f64 {
        value.objective
    }

    fn gradient(value: &Value) -> &[f64] {
        &value.gradient
    }
}
