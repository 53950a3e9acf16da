//! Synthetic worlds: data that follow the model exactly, with one target that has no name.

use serde::{Deserialize, Serialize};
use taskscout::data::Samples;
use taskscout::features::{FeatureMap, Features as _};
use taskscout::metric;
use taskscout::model::Phi;
use taskscout::registry::Registry;
use taskscout::rng::Rng;
use taskscout::space::Space;
use taskscout::task::Task;
use taskscout::train::Predictor;
use taskscout_worlds::{NetworkTruth, Synthetic, SyntheticConfig};

use super::{World, WorldKind, WorldOption, WorldSettings, WorldTarget, judging};
use crate::error::{LabError, Result};
use crate::memory::{NUMBER, Need};
use crate::options::ExperimentOptions;
use crate::parts::{self, attach_features, attach_space};
use crate::watch::Watcher;

/// `[world]` of `kind = "synthetic"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    kind: WorldKind,
    #[serde(deserialize_with = "parts::features")]
    input_features: FeatureMap,
    source_dim: usize,
    /// Where source tasks live; the unit ball if not given.
    #[serde(
        default,
        deserialize_with = "parts::optional_space",
        skip_serializing_if = "Option::is_none"
    )]
    space: Option<Space>,
    /// Features of a task; its parameters if not given.
    #[serde(
        default,
        deserialize_with = "parts::optional_features",
        skip_serializing_if = "Option::is_none"
    )]
    task_features: Option<FeatureMap>,
    k: usize,
    /// A network as the true representation; a random matrix if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    network: Option<NetworkTruth>,
    noise: f64,
    #[serde(default)]
    matrix_seed: u64,
}

impl WorldSettings for Settings {
    fn has(&self, option: WorldOption) -> bool {
        option == WorldOption::MatrixSeed
    }

    fn apply(&mut self, options: &ExperimentOptions) -> Result<()> {
        self.matrix_seed = options.matrix_seed.unwrap_or(self.matrix_seed);
        Ok(())
    }

    fn attach(&mut self, registry: &Registry) -> Result<()> {
        let Self {
            input_features,
            space,
            task_features,
            ..
        } = self;
        attach_features("input_features", input_features, registry)
            .and_then(|()| {
                let space = space.as_mut();
                space.map_or(Ok(()), |space| attach_space("space", space, registry))
            })
            .and_then(|()| {
                let map = task_features.as_mut();
                map.map_or(Ok(()), |map| {
                    attach_features("task_features", map, registry)
                })
            })
            .map_err(|error| LabError::in_table("world", "", error))
    }

    fn has_own(&self) -> bool {
        let mut maps = std::iter::once(&self.input_features).chain(&self.task_features);
        maps.any(|map| matches!(map, FeatureMap::Custom(_)))
            || matches!(self.space, Some(Space::Own(_)))
    }

    fn need(&self) -> Need {
        let d = self.input_features.dim();
        // A larger one is refused for what it is.
        let k = self.k.min(self.source_dim);
        let mut widths = vec![d];
        let mut need = match &self.network {
            None => {
                let mut need = Need::default();
                let what = format!("the second moment of {d} input features");
                need.add(what, NUMBER * 2.0 * (d as f64).powi(2));
                need
            }
            Some(network) => {
                widths.extend(&network.hidden);
                let widest = network.hidden.iter().copied().max().unwrap_or(0);
                let mut need = judging(Synthetic::TEST_ROWS, &self.input_features);
                let values = NUMBER * Synthetic::TEST_ROWS as f64 * 2.0 * widest as f64;
                need.add(format!("a layer of {widest} values"), values);
                need
            }
        };
        widths.push(k);
        let pairs = widths.windows(2);
        let weights: f64 = pairs.map(|pair| pair[0] as f64 * pair[1] as f64).sum();
        need.add("the true representation", NUMBER * 3.0 * weights);
        let map = 4.0 * k as f64 * (self.source_dim as f64 + 1.0);
        need.add("the true task map", NUMBER * map);
        need
    }

    fn build(&self, _watch: &Watcher) -> Result<Box<dyn World>> {
        let config = SyntheticConfig {
            input_features: self.input_features.clone(),
            source_dim: self.source_dim,
            space: self.space.clone(),
            task_features: self.task_features.clone(),
            k: self.k,
            network: self.network.clone(),
            noise: self.noise,
            matrix_seed: self.matrix_seed,
        };
        let world =
            Synthetic::new(config).map_err(|error| LabError::in_table("world", "", error))?;
        Ok(Box::new(world))
    }
}

impl World for Synthetic {
    fn space(&self) -> &Space {
        self.space()
    }

    fn task_features(&self) -> &FeatureMap {
        self.task_features()
    }

    fn input_features(&self) -> &FeatureMap {
        &self.config().input_features
    }

    /// One, whose column of `B` belongs to no task that could be sampled.
    fn targets(&self) -> Vec<WorldTarget> {
        vec![WorldTarget {
            name: None,
            truth: None,
            known: None,
        }]
    }

    /// `d · k² · κ(B)`.
    fn budget_unit(&self) -> f64 {
        let (d, k) = (self.config().input_features.dim(), self.config().k);
        d as f64 * (k * k) as f64 * self.condition()
    }

    fn sample(&self, task: &Task, n: usize, rng: &mut Rng) -> taskscout::Result<Samples> {
        self.sample_source(task, n, rng)
    }

    fn sample_target(&self, _target: usize, n: usize, rng: &mut Rng) -> taskscout::Result<Samples> {
        self.sample_target(n, rng)
    }

    fn target_loss(&self, _target: usize, predictor: &Predictor) -> taskscout::Result<f64> {
        self.target_loss(predictor)
    }

    fn similarity(&self, learnt: &Phi) -> taskscout::Result<Option<f64>> {
        self.similarity(learnt).map(Some)
    }

    fn relevance(&self, _target: usize, task: &[f64]) -> Option<f64> {
        Some(metric::relevance(
            &self.embedding(task),
            &self.target_embedding(),
        ))
    }
}
