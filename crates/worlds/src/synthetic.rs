//! Data that follow the model `y = ψ_X(x)ᵀ B_X B ψ_W(w) + ξ` exactly.
//!
//! `B` is ill-conditioned on purpose, so that some directions of the representation are hard to
//! see: entries uniform on [0, 1]; columns from a third on equal to the last; a tenth of uniform
//! noise on every entry; the target's column equal to the first; all columns of unit length.

use faer::{Mat, MatRef};
use rand_distr::{Distribution as _, StandardNormal, StandardUniform};
use serde::{Deserialize, Serialize};
use taskscout::data::Samples;
use taskscout::features::{FeatureMap, Features as _, apply_row};
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::source::TaskSource;
use taskscout::space::{Space, TaskSpace as _};
use taskscout::{Error, Result};

/// The shape of a synthetic world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyntheticConfig {
    /// `ψ_X`.
    pub input_features: FeatureMap,
    /// Number of task features of a source task: columns of `B`, less the target's.
    pub source_dim: usize,
    /// Where source tasks live; the unit ball of `source_dim` parameters if not given.
    #[serde(default)]
    pub space: Option<Space>,
    /// `ψ_W`, of `source_dim` features; the identity if not given.
    #[serde(default)]
    pub task_features: Option<FeatureMap>,
    /// Dimension of the representation.
    pub k: usize,
    /// Standard deviation of the noise.
    pub noise: f64,
    /// Draws the ground truth.
    pub matrix_seed: u64,
}

/// A world with a known truth.
#[derive(Debug, Clone)]
pub struct Synthetic {
    config: SyntheticConfig,
    space: Space,
    task_features: FeatureMap,
    representation: Mat<f64>,
    map: Mat<f64>,
    /// `E[ψ ψᵀ]` over inputs.
    second_moment: Mat<f64>,
}

impl Synthetic {
    /// Draws a world.
    ///
    /// # Errors
    /// Settings out of range.
    pub fn new(config: SyntheticConfig) -> Result<Self> {
        let d = config.input_features.dim();
        if config.k == 0 || config.k > d.min(config.source_dim) {
            let limit = d.min(config.source_dim);
            return Err(Error::setting(
                "k",
                format!("is {}: it must be from 1 to {limit}", config.k),
            ));
        }
        if !(config.noise >= 0.0 && config.noise.is_finite()) {
            return Err(Error::setting(
                "noise",
                format!("is {}: it must be at least 0 and finite", config.noise),
            ));
        }
        let space = match &config.space {
            Some(space) => space.clone(),
            None => Space::ball(config.source_dim, 1.0)?,
        };
        let task_features = match &config.task_features {
            Some(map) => map.clone(),
            None => FeatureMap::identity(config.source_dim)?,
        };
        let fits =
            task_features.dim() == config.source_dim && task_features.input_dim() == space.dim();
        if !fits {
            return Err(Error::setting(
                "space",
                format!(
                    "has tasks of {} parameters and `task_features` make {} of {}, but `source_dim` is {}: they must fit each other",
                    space.dim(),
                    task_features.dim(),
                    task_features.input_dim(),
                    config.source_dim
                ),
            ));
        }
        let mut rng = derive(config.matrix_seed, Purpose::World, &[]);
        let map = ill_conditioned(config.k, config.source_dim + 1, &mut rng);
        let representation = orthonormal(d, config.k, &mut rng);
        let second_moment = second_moment(&config.input_features)?;
        Ok(Self {
            config,
            space,
            task_features,
            representation,
            map,
            second_moment,
        })
    }

    /// The world's settings.
    #[must_use]
    pub fn config(&self) -> &SyntheticConfig {
        &self.config
    }

    /// Where source tasks live.
    #[must_use]
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// `ψ_W`.
    #[must_use]
    pub fn task_features(&self) -> &FeatureMap {
        &self.task_features
    }

    /// The true `B_X`, orthonormal.
    #[must_use]
    pub fn representation(&self) -> MatRef<'_, f64> {
        self.representation.as_ref()
    }

    /// The source part of the true `B`.
    #[must_use]
    pub fn source_map(&self) -> MatRef<'_, f64> {
        self.map.as_ref().subcols(0, self.config.source_dim)
    }

    /// Condition number `κ(B)` of the source part.
    #[must_use]
    pub fn condition(&self) -> f64 {
        let values = self.source_map().singular_values().unwrap_or_default();
        values.iter().copied().fold(0.0, f64::max)
            / values.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The true embedding of a source task.
    #[must_use]
    pub fn embedding(&self, task: &[f64]) -> Vec<f64> {
        multiply(self.source_map(), &apply_row(&self.task_features, task))
    }

    /// The true embedding of the target.
    #[must_use]
    pub fn target_embedding(&self) -> Vec<f64> {
        let last = self.map.ncols() - 1;
        (0..self.map.nrows()).map(|i| self.map[(i, last)]).collect()
    }

    /// Collects samples of the target.
    ///
    /// # Errors
    /// None in practice: the samples are finite.
    pub fn sample_target(&self, n: usize, rng: &mut Rng) -> Result<Samples> {
        self.draw(
            &multiply(self.representation.as_ref(), &self.target_embedding()),
            n,
            rng,
        )
    }

    /// Mean squared error of a predictor on the target's noise-free labels, over all inputs.
    ///
    /// # Errors
    /// A number of coefficients other than that of features.
    pub fn target_loss(&self, coefficients: &[f64]) -> Result<f64> {
        let truth = multiply(self.representation.as_ref(), &self.target_embedding());
        taskscout::metric::target_loss(coefficients, &truth, self.second_moment.as_ref())
    }

    fn draw(&self, coefficients: &[f64], n: usize, rng: &mut Rng) -> Result<Samples> {
        let map = &self.config.input_features;
        let inputs: Vec<f64> = (0..n * map.input_dim())
            .map(|_| StandardNormal.sample(rng))
            .collect();
        let mut features = vec![0.0; n * map.dim()];
        map.apply(&inputs, &mut features);
        let label = |row: &[f64], noise: f64| -> f64 {
            row.iter()
                .zip(coefficients)
                .map(|(x, b)| x * b)
                .sum::<f64>()
                + self.config.noise * noise
        };
        let outputs = features
            .chunks_exact(map.dim())
            .map(|row| label(row, StandardNormal.sample(rng)))
            .collect();
        Samples::new(inputs, map.input_dim(), outputs, 1)
    }
}

impl TaskSource for Synthetic {
    fn sample(&mut self, task: &[f64], n: usize, rng: &mut Rng) -> Result<Samples> {
        self.space.check(task)?;
        let coefficients = multiply(self.representation.as_ref(), &self.embedding(task));
        self.draw(&coefficients, n, rng)
    }
}

/// The task map of the paper's experiments, sources first, the target last.
fn ill_conditioned(k: usize, columns: usize, rng: &mut Rng) -> Mat<f64> {
    let mut uniform = |_: usize, _: usize| -> f64 { StandardUniform.sample(rng) };
    let mut map = Mat::from_fn(k, columns, &mut uniform);
    let last = columns - 1;
    for j in columns / 3..last {
        (0..k).for_each(|i| map[(i, j)] = map[(i, last)]);
    }
    map += faer::Scale(0.1) * Mat::from_fn(k, columns, &mut uniform);
    (0..k).for_each(|i| map[(i, last)] = map[(i, 0)]);
    for j in 0..columns {
        let length = (0..k)
            .map(|i| map[(i, j)] * map[(i, j)])
            .sum::<f64>()
            .sqrt();
        (0..k).for_each(|i| map[(i, j)] /= length);
    }
    map
}

/// A matrix with orthonormal columns, uniformly at random.
fn orthonormal(rows: usize, columns: usize, rng: &mut Rng) -> Mat<f64> {
    let gaussian: Mat<f64> = Mat::from_fn(rows, columns, |_, _| StandardNormal.sample(rng));
    gaussian.qr().compute_thin_Q()
}

/// `E[ψ ψᵀ]` for standard normal inputs: the identity, or, for `cos(Ax + b)`, in closed form
/// `½ (cos(b_i − b_j) e^{−|a_i − a_j|²/2} + cos(b_i + b_j) e^{−|a_i + a_j|²/2})`.
fn second_moment(features: &FeatureMap) -> Result<Mat<f64>> {
    let d = features.dim();
    match features {
        FeatureMap::Identity(_) => Ok(Mat::identity(d, d)),
        FeatureMap::Fourier(fourier) => {
            let m = fourier.input_dim();
            let row = |i: usize| &fourier.matrix()[i * m..(i + 1) * m];
            let distance = |i: usize, j: usize, sign: f64| -> f64 {
                row(i)
                    .iter()
                    .zip(row(j))
                    .map(|(a, b)| (a + sign * b).powi(2))
                    .sum()
            };
            let b = fourier.offset();
            Ok(Mat::from_fn(d, d, |i, j| {
                let near = (b[i] - b[j]).cos() * (-0.5 * distance(i, j, -1.0)).exp();
                let far = (b[i] + b[j]).cos() * (-0.5 * distance(i, j, 1.0)).exp();
                0.5 * (near + far)
            }))
        }
        _ => Err(Error::setting(
            "input_features",
            "of a synthetic world must be `identity` or `fourier`",
        )),
    }
}

fn multiply(matrix: MatRef<'_, f64>, vector: &[f64]) -> Vec<f64> {
    (0..matrix.nrows())
        .map(|i| {
            vector
                .iter()
                .enumerate()
                .map(|(j, x)| matrix[(i, j)] * x)
                .sum()
        })
        .collect()
}
