//! Worlds: where the data of an experiment come from, and how its results are judged.
//!
//! Trials know a [`World`] and nothing else of where rows come from. A kind of world is one file
//! with its `[world]` keys ([`WorldSettings`]) and its world, and a line in each list below.

mod options;
mod pendulum;
mod synthetic;
#[cfg(test)]
pub(crate) mod toy;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use taskscout::data::Samples;
use taskscout::features::{FeatureMap, Features as _};
use taskscout::model::Phi;
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::space::Space;
use taskscout::strategy::PlanItem;
use taskscout::train::Predictor;
use taskscout_report::ExperimentReport;

pub(crate) use options::WorldOption;

use super::config::ExperimentConfig;
use super::trial::TrialRecord;
use crate::args::ExperimentOptions;
use crate::error::Result;

/// Rows collected at a time, so that memory does not grow with the budget.
pub(crate) const BATCH_ROWS: usize = 2048;

/// A target of a world.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WorldTarget {
    /// Its name; none for the only target of a world, which needs none.
    pub(crate) name: Option<String>,
    /// The task that it is, hidden from the learner, where it is one that could be sampled.
    pub(crate) truth: Option<Vec<f64>>,
}

/// Whose rows are collected: random draws derive from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Draw {
    /// The trial's seed.
    pub(crate) seed: u64,
    /// The round of the study.
    pub(crate) round: usize,
}

/// Takes a batch of rows into a study.
pub(crate) type Tell<'a> = &'a mut dyn FnMut(&Samples) -> taskscout::Result<()>;

/// What trials need of the place that data come from.
pub(crate) trait World: Send + Sync {
    /// Where tasks may be chosen.
    fn space(&self) -> &Space;

    /// `ψ_W`.
    fn task_features(&self) -> &FeatureMap;

    /// `ψ_X`.
    fn input_features(&self) -> &FeatureMap;

    /// The targets, at least one: all with names of their own, or one without.
    fn targets(&self) -> Vec<WorldTarget>;

    /// What `schedule.first_round_factor` counts in.
    fn budget_unit(&self) -> f64;

    /// The least budget of a round that spreads over the whole space: a sample for each direction.
    fn least_budget(&self) -> usize {
        self.task_features().dim()
    }

    /// How many rows a source task has in all; none if there is no limit.
    fn available(&self, task: &[f64]) -> Option<usize> {
        let _ = task;
        None
    }

    /// `n` rows of a source task.
    fn sample(&self, task: &[f64], n: usize, rng: &mut Rng) -> taskscout::Result<Samples>;

    /// Tells all rows of a plan item, [`BATCH_ROWS`] at most at a time. A world whose rows follow
    /// on each other does it in its own way, with draws that derive from the same keys.
    fn collect(&self, item: &PlanItem, draw: Draw, tell: Tell<'_>) -> taskscout::Result<()> {
        for (batch, n) in (0..).zip(batches(item.n)) {
            let keys = [draw.round as u64, item.id, batch];
            let mut rng = derive(draw.seed, Purpose::Collect, &keys);
            tell(&self.sample(&item.task, n, &mut rng)?)?;
        }
        Ok(())
    }

    /// `n` rows of a target.
    fn sample_target(&self, target: usize, n: usize, rng: &mut Rng) -> taskscout::Result<Samples>;

    /// Mean squared error of a predictor of a target, on noise-free labels where there are any.
    fn target_loss(&self, target: usize, predictor: &Predictor) -> taskscout::Result<f64>;

    /// How much of the true representation a learnt one catches, where there is a true one.
    fn similarity(&self, learnt: &Phi) -> taskscout::Result<Option<f64>> {
        let _ = learnt;
        Ok(None)
    }

    /// Cosine between the true embeddings of a source task and a target, where they are known.
    fn relevance(&self, target: usize, task: &[f64]) -> Option<f64> {
        let _ = (target, task);
        None
    }

    /// Whether the contender `oracle` runs, which spends the budget on the hidden targets.
    fn has_oracle(&self) -> bool {
        self.targets().iter().all(|target| target.truth.is_some())
    }

    /// Whether trials keep details beside their rows, for [`World::report`].
    fn wants_details(&self) -> bool {
        false
    }

    /// Adds what only this world can say of its finished trials: entries of the summary, figures,
    /// tables, notes.
    fn report(&self, trials: &[TrialRecord], report: &mut ExperimentReport) -> Result<()> {
        let _ = (trials, report);
        Ok(())
    }
}

/// Splits a number of rows into batches.
pub(crate) fn batches(rows: usize) -> impl Iterator<Item = usize> {
    (0..rows)
        .step_by(BATCH_ROWS)
        .map(move |start| (rows - start).min(BATCH_ROWS))
}

/// The `[world]` keys of a kind of world.
pub(crate) trait WorldSettings {
    /// Whether an option that concerns some worlds only concerns this one.
    fn has(&self, option: WorldOption) -> bool;

    /// Takes over the options that concern this world.
    fn apply(&mut self, options: &ExperimentOptions) -> Result<()>;

    /// Makes the world.
    fn build(&self) -> Result<Box<dyn World>>;
}

/// The kinds of world by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WorldKind {
    Synthetic,
    Pendulum,
    #[cfg(test)]
    Toy,
}

/// `[world]`, whose `kind` decides about its other keys.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)] // the kind stands among the settings
pub(crate) enum WorldConfig {
    Synthetic(Box<synthetic::Settings>),
    Pendulum(Box<pendulum::Settings>),
    #[cfg(test)]
    Toy(toy::Settings),
}

/// Reads an experiment file.
pub(crate) fn read(text: &str) -> std::result::Result<ExperimentConfig, toml::de::Error> {
    match toml::from_str::<Glance>(text)?.world.kind {
        WorldKind::Synthetic => with_world(text, WorldConfig::Synthetic),
        WorldKind::Pendulum => with_world(text, WorldConfig::Pendulum),
        #[cfg(test)]
        WorldKind::Toy => with_world(text, WorldConfig::Toy),
    }
}

/// A first look at a file, to know which keys it may have.
#[derive(Deserialize)]
struct Glance {
    world: GlanceWorld,
}

#[derive(Deserialize)]
struct GlanceWorld {
    kind: WorldKind,
}

fn with_world<W: DeserializeOwned>(
    text: &str,
    config: fn(W) -> WorldConfig,
) -> std::result::Result<ExperimentConfig, toml::de::Error> {
    Ok(toml::from_str::<ExperimentConfig<W>>(text)?.map_world(config))
}

impl WorldConfig {
    fn settings(&self) -> &dyn WorldSettings {
        match self {
            Self::Synthetic(settings) => settings.as_ref(),
            Self::Pendulum(settings) => settings.as_ref(),
            #[cfg(test)]
            Self::Toy(settings) => settings,
        }
    }

    fn settings_mut(&mut self) -> &mut dyn WorldSettings {
        match self {
            Self::Synthetic(settings) => settings.as_mut(),
            Self::Pendulum(settings) => settings.as_mut(),
            #[cfg(test)]
            Self::Toy(settings) => settings,
        }
    }

    /// Whether an option that concerns some worlds only concerns this one.
    pub(crate) fn has(&self, option: WorldOption) -> bool {
        self.settings().has(option)
    }

    /// Takes over the options that concern this world, and refuses those of others.
    pub(crate) fn apply(&mut self, options: &ExperimentOptions) -> Result<()> {
        // A slip of the pen is told first, whatever the world.
        options.target_points()?;
        for option in WorldOption::ALL {
            if option.is_given(options) && !self.has(option) {
                return Err(option.refusal());
            }
        }
        self.settings_mut().apply(options)
    }

    /// Makes the world.
    pub(crate) fn build(&self) -> Result<Box<dyn World>> {
        self.settings().build()
    }
}
