//! Synthetic worlds: data that follow the model exactly, with one target that has no name or several with names.

use std::path::Path;

use serde::{Deserialize, Serialize};
use taskscout::data::Samples;
use taskscout::features::{FeatureMap, Features as _};
use taskscout::metric;
use taskscout::model::AnyRepresentation;
use taskscout::registry::Registry;
use taskscout::rng::Rng;
use taskscout::source::TaskSource;
use taskscout::space::Space;
use taskscout::task::Task;
use taskscout::train::Predictor;
use taskscout_worlds::{InputDistribution, NetworkTruth, Synthetic, SyntheticConfig, Targets};

use super::{
    Data, Judge, KnownTruth, Open, Scenario, ScenarioTarget, Setup, TrialSource, WorldKind,
    WorldSettings, judging,
};
use crate::error::{LabError, Result};
use crate::memory::{NUMBER, Need};
use crate::options::SyntheticOptions;
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
    /// How inputs are distributed.
    #[serde(default, skip_serializing_if = "InputDistribution::is_default")]
    inputs: InputDistribution,
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
    /// How many targets there are, with names; one without a name if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    targets: Option<usize>,
    /// How many directions they span; as many as they can if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    k_star: Option<usize>,
}

impl WorldSettings for Settings {
    fn matrix_seed(&self) -> Option<u64> {
        Some(self.matrix_seed)
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
                // Itself, and twice as much for its eigenvalues.
                need.add(what, NUMBER * 3.0 * (d as f64).powi(2));
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
            inputs: self.inputs,
            source_dim: self.source_dim,
            space: self.space.clone(),
            task_features: self.task_features.clone(),
            k: self.k,
            network: self.network.clone(),
            noise: self.noise,
            matrix_seed: self.matrix_seed,
        };
        let world = self
            .draw(config)
            .map_err(|error| LabError::in_table("world", "", error))?;
        let (d, k) = (self.input_features.dim(), self.k);
        let scenario = Scenario {
            // `d · k² · κ(B)`
            budget_unit: d as f64 * (k * k) as f64 * world.condition(),
            truth: known_truth(&world),
            ..Scenario::new(
                world.space().clone(),
                world.task_features().clone(),
                self.input_features.clone(),
                self.scenario_targets(),
            )
        };
        Ok(Setup {
            scenario,
            data: Box::new(world),
            presentation: Box::new(()),
        })
    }
}

impl Settings {
    /// Takes over the options of the command line.
    pub(super) fn apply(&mut self, options: &SyntheticOptions) {
        self.matrix_seed = options.matrix_seed.unwrap_or(self.matrix_seed);
        self.targets = options.targets.or(self.targets);
        self.k_star = options.k_star.or(self.k_star);
    }

    /// Whether there are targets with names.
    pub(super) fn names_targets(&self) -> bool {
        self.targets.is_some()
    }

    /// Draws the world with the targets that it is to have.
    fn draw(&self, config: SyntheticConfig) -> taskscout::Result<Synthetic> {
        match (self.targets, self.k_star) {
            (Some(count), k_star) => Synthetic::with_targets(config, Targets { count, k_star }),
            (None, None) => Synthetic::new(config),
            (None, Some(_)) => Err(taskscout::Error::setting(
                "k_star",
                "is given without `targets`: say how many targets there are",
            )),
        }
    }

    /// Targets whose embeddings belong to no task that could be sampled.
    fn scenario_targets(&self) -> Vec<ScenarioTarget> {
        let Some(count) = self.targets else {
            return vec![ScenarioTarget::default()];
        };
        let named = |index: usize| ScenarioTarget {
            name: Some(format!("target-{index}")),
            ..ScenarioTarget::default()
        };
        (1..=count).map(named).collect()
    }
}

/// What the theory asks of the truth, where source tasks are a ball in task features.
fn known_truth(world: &Synthetic) -> Option<KnownTruth> {
    let Space::Ball(ball) = world.space() else {
        return None;
    };
    let config = world.config();
    world.task_features().is_identity().then(|| KnownTruth {
        map: faer::Scale(ball.radius()) * world.source_map(),
        targets: world.targets().to_vec(),
        noise: config.noise * config.noise,
        inputs: world.has_risk_law().then(|| config.input_features.dim()),
    })
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
        target: usize,
        n: usize,
        rng: &mut Rng,
    ) -> taskscout::Result<Samples> {
        self.0.sample_target_at(target, n, rng)
    }
}

impl Judge for Truth<'_> {
    fn loss(&self, target: usize, predictor: &Predictor) -> taskscout::Result<f64> {
        self.0.target_loss_at(target, predictor)
    }

    fn mean_task_loss(&self, predictors: &[&Predictor]) -> taskscout::Result<Option<f64>> {
        self.0.mean_task_loss(predictors).map(Some)
    }

    fn similarity(&self, learnt: &AnyRepresentation) -> taskscout::Result<Option<f64>> {
        self.0.similarity(learnt).map(Some)
    }

    fn relevance(&self, target: usize, task: &[f64]) -> Option<f64> {
        let target = self.0.targets().get(target)?;
        Some(metric::cosine(&self.0.embedding(task), target))
    }
}
