//! Synthetic worlds: data that follow the model exactly, with one target that has no name.

use std::path::Path;

use serde::{Deserialize, Serialize};
use taskscout::data::Samples;
use taskscout::features::{FeatureMap, Features as _};
use taskscout::metric;
use taskscout::model::Phi;
use taskscout::registry::Registry;
use taskscout::rng::Rng;
use taskscout::source::TaskSource;
use taskscout::space::Space;
use taskscout::task::Task;
use taskscout::train::Predictor;
use taskscout_worlds::{NetworkTruth, Synthetic, SyntheticConfig};

use super::{
    Data, Judge, Open, Scenario, ScenarioTarget, Setup, TrialSource, WorldKind, WorldOption,
    WorldSettings, judging,
};
use crate::error::{LabError, Result};
use crate::memory::{NUMBER, Need};
use crate::options::ExperimentOptions;
use crate::parts::{self, attach_features, attach_space};
use crate::record::Trial;
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

    fn build(&self, _watch: &Watcher) -> Result<Setup> {
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
        let (d, k) = (self.input_features.dim(), self.k);
        let scenario = Scenario {
            // `d · k² · κ(B)`
            budget_unit: d as f64 * (k * k) as f64 * world.condition(),
            ..Scenario::new(
                world.space().clone(),
                world.task_features().clone(),
                self.input_features.clone(),
                // One, whose column of `B` belongs to no task that could be sampled.
                vec![ScenarioTarget::default()],
            )
        };
        Ok(Setup {
            scenario,
            data: Box::new(world),
            presentation: Box::new(()),
        })
    }
}

impl Data for Synthetic {
    fn open<'a>(&'a self, _collected: &Path, _trial: &Trial) -> taskscout::Result<Open<'a>> {
        Ok(Open {
            source: Box::new(Truth(self)),
            judge: Box::new(Truth(self)),
        })
    }
}

/// A world that knows the truth.
struct Truth<'a>(&'a Synthetic);

impl TaskSource for Truth<'_> {
    fn sample(&mut self, task: &Task, n: usize, rng: &mut Rng) -> taskscout::Result<Samples> {
        self.0.sample_source(task, n, rng)
    }
}

impl TrialSource for Truth<'_> {
    fn sample_target(
        &mut self,
        _target: usize,
        n: usize,
        rng: &mut Rng,
    ) -> taskscout::Result<Samples> {
        self.0.sample_target(n, rng)
    }
}

impl Judge for Truth<'_> {
    fn loss(&self, _target: usize, predictor: &Predictor) -> taskscout::Result<f64> {
        self.0.target_loss(predictor)
    }

    fn similarity(&self, learnt: &Phi) -> taskscout::Result<Option<f64>> {
        self.0.similarity(learnt).map(Some)
    }

    fn relevance(&self, _target: usize, task: &[f64]) -> Option<f64> {
        let (own, target) = (self.0.embedding(task), self.0.target_embedding());
        Some(metric::relevance(&own, &target))
    }
}
