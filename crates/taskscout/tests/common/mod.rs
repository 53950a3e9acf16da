//! Small worlds with a known truth, and the long way round to what the crate computes.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

pub(crate) mod design;
pub(crate) mod family;

use faer::{Mat, MatRef};
use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;
use rand_distr::{Distribution as _, StandardNormal};
use taskscout::data::{Samples, Stage, TaskData};
use taskscout::model::Model;
use taskscout::rng::{Purpose, Rng, derive};

pub(crate) fn rng(seed: u64) -> Rng {
    derive(seed, Purpose::Test, &[])
}

/// So many cases of a property, the same ones every time.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Runs the work on a pool of its own.
pub(crate) fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap().install(work)
}

pub(crate) fn gaussian(rows: usize, columns: usize, rng: &mut Rng) -> Mat<f64> {
    Mat::from_fn(rows, columns, |_, _| StandardNormal.sample(rng))
}

/// A matrix with orthonormal columns.
pub(crate) fn orthonormal(rows: usize, columns: usize, rng: &mut Rng) -> Mat<f64> {
    gaussian(rows, columns, rng).qr().compute_thin_Q()
}

pub(crate) fn normals(n: usize, rng: &mut Rng) -> Vec<f64> {
    (0..n).map(|_| StandardNormal.sample(rng)).collect()
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

pub(crate) fn apply(matrix: MatRef<'_, f64>, vector: &[f64]) -> Vec<f64> {
    assert_eq!(matrix.ncols(), vector.len());
    let row = |i| (0..matrix.ncols()).map(move |j| matrix[(i, j)] * vector[j]);
    (0..matrix.nrows()).map(|i| row(i).sum()).collect()
}

pub(crate) fn unit(dim: usize, index: usize) -> Vec<f64> {
    (0..dim).map(|i| f64::from(i == index)).collect()
}

pub(crate) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

pub(crate) fn matrix_bits(matrix: MatRef<'_, f64>) -> Vec<u64> {
    let column = |j: usize| (0..matrix.nrows()).map(move |i| matrix[(i, j)].to_bits());
    (0..matrix.ncols()).flat_map(column).collect()
}

/// Largest difference of two matrices, over the largest entry of the second.
pub(crate) fn relative_distance(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
    assert_eq!((a.nrows(), a.ncols()), (b.nrows(), b.ncols()));
    (a - b).norm_max() / b.norm_max()
}

/// `|a − b|` is at most `tolerance` times the larger of the two.
pub(crate) fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs())
}

/// Rows `y = ψᵀ β + noise`, one `β` an output, with standard normal features.
pub(crate) fn rows(coefficients: &[Vec<f64>], n: usize, noise: f64, rng: &mut Rng) -> Samples {
    let d = coefficients[0].len();
    let inputs = normals(n * d, rng);
    let mut outputs = Vec::new();
    for row in inputs.chunks_exact(d) {
        for beta in coefficients {
            let error: f64 = StandardNormal.sample(rng);
            outputs.push(dot(row, beta) + noise * error);
        }
    }
    Samples::new(inputs, d, outputs, coefficients.len()).unwrap()
}

/// `y = ψᵀ B_X B ψ_W + noise`.
#[derive(Debug, Clone)]
pub(crate) struct Truth {
    /// `d × k`, orthonormal.
    pub(crate) representation: Mat<f64>,
    /// `k × (outputs · task_dim)`.
    pub(crate) map: Mat<f64>,
    pub(crate) task_dim: usize,
    pub(crate) noise: f64,
}

impl Truth {
    pub(crate) fn draw(
        d: usize,
        k: usize,
        task_dim: usize,
        outputs: usize,
        noise: f64,
        rng: &mut Rng,
    ) -> Self {
        let representation = orthonormal(d, k, rng);
        let map = gaussian(k, outputs * task_dim, rng);
        Self {
            representation,
            map,
            task_dim,
            noise,
        }
    }

    pub(crate) fn outputs(&self) -> usize {
        self.map.ncols() / self.task_dim
    }

    /// `M = B_X B`.
    pub(crate) fn product(&self) -> Mat<f64> {
        &self.representation * &self.map
    }

    /// The coefficients of every output of a task.
    pub(crate) fn coefficients(&self, features: &[f64]) -> Vec<Vec<f64>> {
        let product = self.product();
        let of = |output: usize| {
            product
                .as_ref()
                .subcols(output * self.task_dim, self.task_dim)
        };
        (0..self.outputs())
            .map(|output| apply(of(output), features))
            .collect()
    }

    pub(crate) fn rows(&self, features: &[f64], n: usize, rng: &mut Rng) -> Samples {
        rows(&self.coefficients(features), n, self.noise, rng)
    }
}

/// Data together with the rows that the crate does not keep.
#[derive(Debug, Clone)]
pub(crate) struct Collected {
    pub(crate) data: TaskData,
    /// Task features and rows, batch by batch.
    pub(crate) batches: Vec<(Vec<f64>, Samples)>,
}

impl Collected {
    pub(crate) fn new(d: usize, outputs: usize, task_dim: usize) -> Self {
        Self {
            data: TaskData::new(d, outputs, task_dim),
            batches: Vec::new(),
        }
    }

    pub(crate) fn source(&mut self, features: &[f64], rows: Samples) {
        self.data
            .add_source_rows(features, features, Stage::WarmUp, 0, &rows)
            .unwrap();
        self.batches.push((features.to_vec(), rows));
    }

    pub(crate) fn target(&mut self, features: &[f64], rows: Samples) {
        let name = format!("target {}", self.data.targets().len());
        let index = self.data.add_target(&name, features.to_vec()).unwrap();
        self.data.add_target_rows(index, &rows).unwrap();
        self.batches.push((features.to_vec(), rows));
    }

    /// `Σ ‖y − ψᵀ B_X B ψ_W‖²`, row by row.
    pub(crate) fn residual(&self, model: &Model) -> f64 {
        let mut total = 0.0;
        for (features, rows) in &self.batches {
            for output in 0..rows.output_dim() {
                let embedding = model.map.embedding(features, output).unwrap();
                let beta = apply(
                    model.representation.as_linear().unwrap().matrix(),
                    &embedding,
                );
                let labels = rows.outputs().chunks_exact(rows.output_dim());
                for (x, y) in rows.inputs().chunks_exact(rows.input_dim()).zip(labels) {
                    total += (y[output] - dot(x, &beta)).powi(2);
                }
            }
        }
        total
    }
}

/// The fitted `M = B_X B`.
pub(crate) fn fitted(model: &Model) -> Mat<f64> {
    model.representation.as_linear().unwrap().matrix() * model.map.matrix()
}
