//! Data that follow the model `y = φ(ψ_X(x))ᵀ B ψ_W(w) + ξ` exactly, with a matrix or a network as `φ`.
//!
//! `B` is ill-conditioned on purpose, so that some directions of the representation are hard to
//! see: entries uniform on [0, 1]; columns from a third on equal to the last; a tenth of uniform
//! noise on every entry; the target's column equal to the first; all columns of unit length.
//!
//! A world has one target, or several of a chosen rank ([`Targets`]).

mod evaluation;
mod inputs;
mod targets;

use faer::{Mat, MatRef};
use rand_distr::{Distribution as _, StandardNormal, StandardUniform};
use serde::{Deserialize, Serialize};
use taskscout::data::Samples;
use taskscout::features::{FeatureMap, Features as _, apply_row};
use taskscout::model::{Activation, AnyRepresentation, Layer, Linear, Mlp, Representation as _};
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::source::TaskSource;
use taskscout::space::{Space, TaskSpace as _};
use taskscout::task::Task;
use taskscout::{Error, Result};

use evaluation::{Evaluation, test_features};
pub use inputs::InputDistribution;
pub use targets::Targets;

/// Inputs on which losses are measured where they have no closed form.
const TEST_ROWS: usize = 20_000;

/// The true representation, where it is a network: linear layers without bias.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkTruth {
    /// Widths of the hidden layers.
    pub hidden: Vec<usize>,
    /// The function between layers.
    #[serde(default)]
    pub activation: Activation,
}

/// The shape of a synthetic world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyntheticConfig {
    /// `ψ_X`.
    pub input_features: FeatureMap,
    /// How inputs are distributed; normal if not given.
    #[serde(default, skip_serializing_if = "InputDistribution::is_default")]
    pub inputs: InputDistribution,
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
    /// A network as the representation; a random matrix with orthonormal columns if not given.
    #[serde(default)]
    pub network: Option<NetworkTruth>,
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
    representation: AnyRepresentation,
    map: Mat<f64>,
    /// Embeddings, one a target.
    targets: Vec<Vec<f64>>,
    evaluation: Evaluation,
}

impl SyntheticConfig {
    /// Checks numbers that have a range.
    fn check(&self) -> Result<()> {
        let most = if self.network.is_some() {
            usize::MAX
        } else {
            self.input_features.dim()
        };
        if self.k == 0 || self.k > most.min(self.source_dim) {
            let limit = most.min(self.source_dim);
            return Err(Error::setting(
                "k",
                format!("is {}: it must be from 1 to {limit}", self.k),
            ));
        }
        if !(self.noise >= 0.0 && self.noise.is_finite()) {
            return Err(Error::setting(
                "noise",
                format!("is {}: it must be at least 0 and finite", self.noise),
            ));
        }
        Ok(())
    }

    /// Where source tasks live, and their features.
    fn tasks(&self) -> Result<(Space, FeatureMap)> {
        let space = match &self.space {
            Some(space) => space.clone(),
            None => Space::ball(self.source_dim, 1.0)?,
        };
        let task_features = match &self.task_features {
            Some(map) => map.clone(),
            None => FeatureMap::identity(self.source_dim)?,
        };
        let fits =
            task_features.dim() == self.source_dim && task_features.input_dim() == space.dim();
        if !fits {
            return Err(Error::setting(
                "space",
                format!(
                    "has tasks of {} parameters and `task_features` make {} of {}, but `source_dim` is {}: they must fit each other",
                    space.dim(),
                    task_features.dim(),
                    task_features.input_dim(),
                    self.source_dim
                ),
            ));
        }
        Ok((space, task_features))
    }
}

impl Synthetic {
    /// Inputs on which losses are measured where they have no closed form.
    pub const TEST_ROWS: usize = TEST_ROWS;

    /// Draws a world with one target.
    ///
    /// # Errors
    /// Settings out of range.
    pub fn new(config: SyntheticConfig) -> Result<Self> {
        config.check()?;
        let (space, task_features) = config.tasks()?;
        let mut rng = derive(config.matrix_seed, Purpose::World, &[]);
        let map = ill_conditioned(config.k, config.source_dim + 1, &mut rng);
        let representation: AnyRepresentation = match &config.network {
            None => {
                Linear::new(orthonormal(config.input_features.dim(), config.k, &mut rng).as_ref())?
                    .into()
            }
            Some(network) => network.draw(&config, &mut rng)?.into(),
        };
        let targets = vec![column(map.as_ref(), config.source_dim)];
        let evaluation = Evaluation::new(&config, &representation)?;
        Ok(Self {
            config,
            space,
            task_features,
            representation,
            map,
            targets,
            evaluation,
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

    /// The true `φ`.
    #[must_use]
    pub fn representation(&self) -> &AnyRepresentation {
        &self.representation
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

    /// The true embedding of the target, of several that of the first.
    #[must_use]
    pub fn target_embedding(&self) -> Vec<f64> {
        self.targets.first().cloned().unwrap_or_default()
    }

    /// Collects samples of a source task.
    ///
    /// # Errors
    /// A task outside the space.
    pub fn sample_source(&self, task: &[f64], n: usize, rng: &mut Rng) -> Result<Samples> {
        self.space.check(task)?;
        self.draw(&self.embedding(task), n, rng)
    }

    /// Collects samples of the target, of several those of the first.
    ///
    /// # Errors
    /// None in practice: the samples are finite.
    pub fn sample_target(&self, n: usize, rng: &mut Rng) -> Result<Samples> {
        self.draw(&self.target_embedding(), n, rng)
    }

    fn draw(&self, embedding: &[f64], n: usize, rng: &mut Rng) -> Result<Samples> {
        let map = &self.config.input_features;
        let inputs = self.config.inputs.draw(n * map.input_dim(), rng);
        let mut features = vec![0.0; n * map.dim()];
        map.apply(&inputs, &mut features);
        let truth = match self.representation.as_linear() {
            Some(linear) => {
                let coefficients = linear.coefficients(embedding);
                let label = |row: &[f64]| row.iter().zip(&coefficients).map(|(x, b)| x * b).sum();
                features.chunks_exact(map.dim()).map(label).collect()
            }
            None => {
                let features = MatRef::from_row_major_slice(&features, n, map.dim());
                multiply(self.representation.apply(features)?.as_ref(), embedding)
            }
        };
        let noisy = |label: f64| {
            let noise: f64 = StandardNormal.sample(rng);
            label + self.config.noise * noise
        };
        let outputs = truth.into_iter().map(noisy).collect();
        Samples::new(inputs, map.input_dim(), outputs, 1)
    }
}

impl TaskSource for Synthetic {
    fn sample(&mut self, task: &Task, n: usize, rng: &mut Rng) -> Result<Samples> {
        self.sample_source(task, n, rng)
    }
}

impl NetworkTruth {
    /// Draws weights of variance `2 / inputs`, then scales the last layer so that the `k` outputs
    /// have a mean square of one: as strong a signal as a matrix with orthonormal columns gives.
    fn draw(&self, config: &SyntheticConfig, rng: &mut Rng) -> Result<Mlp> {
        let mut widths = vec![config.input_features.dim()];
        widths.extend(&self.hidden);
        widths.push(config.k);
        let layer = |pair: &[usize]| {
            let scale = (2.0 / pair[0] as f64).sqrt();
            let mut weight = |_, _| -> f64 {
                let value: f64 = StandardNormal.sample(rng);
                scale * value
            };
            Layer {
                weights: Mat::from_fn(pair[0], pair[1], &mut weight),
                bias: None,
            }
        };
        let mut layers: Vec<Layer> = widths.windows(2).map(layer).collect();
        let values =
            Mlp::new(layers.clone(), self.activation)?.apply(test_features(config).as_ref())?;
        let strength = values.norm_l2() / ((values.nrows() * config.k) as f64).sqrt();
        if let Some(last) = layers.last_mut().filter(|_| strength > 0.0) {
            last.weights *= faer::Scale(1.0 / strength);
        }
        Mlp::new(layers, self.activation)
    }
}

fn column(matrix: MatRef<'_, f64>, j: usize) -> Vec<f64> {
    (0..matrix.nrows()).map(|i| matrix[(i, j)]).collect()
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
