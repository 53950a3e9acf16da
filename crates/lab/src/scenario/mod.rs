//! Worlds: where the data of an experiment come from, and how its results are judged.
//!
//! Trials know a [`World`] and nothing else of where rows come from. A kind of world is one file
//! with its `[world]` keys ([`WorldSettings`]) and its world, and a line in each list below.

mod logs;
mod options;
mod pendulum;
mod program;
mod synthetic;
#[cfg(test)]
pub(crate) mod toy;

use std::ops::Range;
use std::path::Path;

use serde::de::{DeserializeOwned, Error as _, IgnoredAny};
use serde::{Deserialize, Serialize};
use taskscout::data::Samples;
use taskscout::features::{FeatureMap, Features as _};
use taskscout::model::Phi;
use taskscout::registry::Registry;
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::space::Space;
use taskscout::strategy::PlanItem;
use taskscout::study::Study;
use taskscout::task::Task;
use taskscout::train::{Choice, Pooled, Predictor};
use taskscout_models::Names;
use taskscout_report::ExperimentReport;

pub use logs::Phi as LogFeatures;
pub(crate) use options::{WorldOption, point};

use super::config::ExperimentConfig;
use super::folder::RunInput;
use super::trial::{TargetRelevance, Trial, TrialRecord};
use crate::error::Result;
use crate::memory::{NUMBER, Need};
use crate::options::ExperimentOptions;
use crate::watch::Watcher;

/// Rows collected at a time, so that memory does not grow with the budget.
pub(crate) const BATCH_ROWS: usize = 2048;

/// A target of a world.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WorldTarget {
    /// Its name; none for the only target of a world, which needs none.
    pub(crate) name: Option<String>,
    /// The task that it is, hidden from the learner, where it is one that could be sampled.
    pub(crate) truth: Option<Vec<f64>>,
    /// Its parameters, where the learner may know them.
    pub(crate) known: Option<Vec<f64>>,
}

/// How the inputs of a target are standardised before its features are taken.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InputScaling {
    pub(crate) mean: Vec<f64>,
    pub(crate) scale: Vec<f64>,
}

/// Whose rows are collected: random draws derive from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Draw {
    /// The trial's seed.
    pub(crate) seed: u64,
    /// The round of the study.
    pub(crate) round: usize,
    /// Rows of the task that the trial has had already.
    pub(crate) before: usize,
}

/// Takes a batch of rows into a study.
pub(crate) type Tell<'a> = &'a mut dyn FnMut(&Samples) -> taskscout::Result<()>;

/// What trials need of the place that data come from.
pub(crate) trait World: Send + Sync {
    /// Where tasks may be chosen.
    fn space(&self) -> &Space;

    /// Where tasks may be chosen for some of the targets.
    fn space_of(&self, targets: Range<usize>) -> taskscout::Result<Space> {
        let _ = targets;
        Ok(self.space().clone())
    }

    /// `ψ_W`.
    fn task_features(&self) -> &FeatureMap;

    /// `ψ_X`.
    fn input_features(&self) -> &FeatureMap;

    /// Numbers that a row gives at once; losses are means over them.
    fn outputs(&self) -> usize {
        1
    }

    /// The targets, at least one: all with names of their own, or one without.
    fn targets(&self) -> Vec<WorldTarget>;

    /// What `schedule.first_round_factor` counts in.
    fn budget_unit(&self) -> f64;

    /// The least budget of a round that spreads over the whole space: a sample for each direction.
    fn least_budget(&self) -> usize {
        self.task_features().dim()
    }

    /// How the oracle of partial pooling is to learn here.
    fn pooled(&self) -> Pooled {
        let groups = self.input_features().groups();
        Pooled {
            groups: groups.iter().map(ExactSizeIterator::len).collect(),
            ..Pooled::default()
        }
    }

    /// Whether that oracle stands a network beside the features.
    fn wants_network(&self) -> bool {
        false
    }

    /// How a target's inputs were standardised, for models that take them as they are.
    fn input_scaling(&self, target: usize) -> Option<InputScaling> {
        let _ = target;
        None
    }

    /// What the inputs and the output of a target are called, for models; empty where they have no
    /// names.
    fn names(&self, target: usize) -> Names {
        let _ = target;
        Names::default()
    }

    /// What was taken off each of a target's outputs, for models that give them as they are; empty if nothing.
    fn output_offset(&self, target: usize) -> Vec<f64> {
        let _ = target;
        Vec::new()
    }

    /// How many rows a source task has in all; none if there is no limit.
    fn available(&self, task: &Task) -> Option<usize> {
        let _ = task;
        None
    }

    /// How many rows a target has to learn from; none if there is no limit.
    fn target_rows(&self, target: usize) -> Option<usize> {
        let _ = target;
        None
    }

    /// `n` rows of a source task.
    fn sample(&self, task: &Task, n: usize, rng: &mut Rng) -> taskscout::Result<Samples>;

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

    /// Whether it is worth a remark that task features cannot express the tasks.
    fn judges_task_features(&self) -> bool {
        self.wants_details()
    }

    /// Which source tasks turned out to be like a target, at the end of a trial, and how alike all
    /// pairs of tasks are, if asked for.
    fn relevant(
        &self,
        study: &Study,
        target: usize,
        choice: &Choice,
        all_pairs: bool,
    ) -> taskscout::Result<Option<TargetRelevance>> {
        let _ = (study, target, choice, all_pairs);
        Ok(None)
    }

    /// What rows come from, if that could be another thing when a run goes on.
    fn made_from(&self) -> Result<Vec<RunInput>> {
        Ok(Vec::new())
    }

    /// Whether rows come from a program of the user's.
    fn asks_program(&self) -> bool {
        false
    }

    /// The files of rows that a trial keeps in the folder `collected`, or shares with others.
    fn journals(&self, trial: &Trial) -> Vec<String> {
        let _ = trial;
        Vec::new()
    }

    /// The world of a single trial, where trials cannot share one: a world that talks to something
    /// outside. Its rows are kept in the folder `collected`, in files named after the trial.
    fn open(&self, collected: &Path, trial: &str) -> taskscout::Result<Option<Box<dyn World>>> {
        let _ = (collected, trial);
        Ok(None)
    }

    /// Ends what [`World::open`] began.
    fn close(&self) -> taskscout::Result<()> {
        Ok(())
    }

    /// Adds what only this world can say of its finished trials: entries of the summary, figures,
    /// tables, notes.
    fn report(&self, trials: &[TrialRecord], report: &mut ExperimentReport) -> Result<()> {
        let _ = (trials, report);
        Ok(())
    }

    /// Lines for the terminal below the table of losses, from what [`World::report`] added.
    fn remarks(&self, report: &ExperimentReport) -> Vec<String> {
        let _ = report;
        Vec::new()
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

    /// Hears in which folder the experiment file lies.
    fn locate(&mut self, folder: &Path) {
        let _ = folder;
    }

    /// Puts registered spaces and feature maps in the place of their names.
    fn attach(&mut self, registry: &Registry) -> Result<()> {
        let _ = registry;
        Ok(())
    }

    /// Whether there are any.
    fn has_own(&self) -> bool {
        false
    }

    /// What a run still has to be told on the command line, in a sentence.
    fn missing(&self) -> Option<&'static str> {
        None
    }

    /// Whether a network is asked for beside the features.
    fn wants_network(&self) -> bool {
        false
    }

    /// The memory that the world takes, where that can be said before it is made.
    fn need(&self) -> Need {
        Need::default()
    }

    /// Makes the world, which tells the watcher what is odd about it, now and later.
    fn build(&self, watch: &Watcher) -> Result<Box<dyn World>>;
}

/// The memory of rows that predictors are judged on: their inputs and, while they are made, their
/// features twice.
pub(crate) fn judging(rows: usize, map: &FeatureMap) -> Need {
    let mut need = Need::default();
    let values = (map.input_dim() + 2 * map.dim()) as f64;
    need.add(
        format!("{rows} rows of {} features to judge with", map.dim()),
        NUMBER * rows as f64 * values,
    );
    need
}

/// The kinds of world by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WorldKind {
    Synthetic,
    Pendulum,
    Logs,
    #[cfg(test)]
    Toy,
}

/// `[world]`, whose `kind` decides about its other keys, or `[source]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)] // the kind stands among the settings
pub(crate) enum WorldConfig {
    Synthetic(Box<synthetic::Settings>),
    Pendulum(Box<pendulum::Settings>),
    Logs(Box<logs::Settings>),
    Program(Box<program::Settings>),
    #[cfg(test)]
    Toy(toy::Settings),
}

/// Reads an experiment file.
pub(crate) fn read(text: &str) -> std::result::Result<ExperimentConfig, toml::de::Error> {
    let Glance { world, source } = toml::from_str(text)?;
    let kind = match (world, source) {
        (Some(world), None) => world.kind,
        (None, Some(_)) => return with_world(text, WorldConfig::Program),
        (None, None) => {
            return Err(toml::de::Error::custom(
                "there is no [world], nor a [source]: say where the data come from",
            ));
        }
        (Some(_), Some(_)) => {
            return Err(toml::de::Error::custom(
                "there are a [world] and a [source]: data come from one of them, so leave out the other",
            ));
        }
    };
    match kind {
        WorldKind::Synthetic => with_world(text, WorldConfig::Synthetic),
        WorldKind::Pendulum => with_world(text, WorldConfig::Pendulum),
        WorldKind::Logs => with_world(text, WorldConfig::Logs),
        #[cfg(test)]
        WorldKind::Toy => with_world(text, WorldConfig::Toy),
    }
}

/// A first look at a file, to know which keys it may have.
#[derive(Deserialize)]
struct Glance {
    world: Option<GlanceWorld>,
    source: Option<IgnoredAny>,
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
            Self::Logs(settings) => settings.as_ref(),
            Self::Program(settings) => settings.as_ref(),
            #[cfg(test)]
            Self::Toy(settings) => settings,
        }
    }

    fn settings_mut(&mut self) -> &mut dyn WorldSettings {
        match self {
            Self::Synthetic(settings) => settings.as_mut(),
            Self::Pendulum(settings) => settings.as_mut(),
            Self::Logs(settings) => settings.as_mut(),
            Self::Program(settings) => settings.as_mut(),
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
        // A slip of the pen is told first, whatever the world; logs have targets with names.
        if !matches!(self, Self::Logs(_)) {
            options.target_points()?;
        }
        for option in WorldOption::ALL {
            if option.is_given(options) && !self.has(option) {
                return Err(option.refusal());
            }
        }
        self.settings_mut().apply(options)
    }

    /// Hears in which folder the experiment file lies.
    pub(crate) fn locate(&mut self, folder: &Path) {
        self.settings_mut().locate(folder);
    }

    /// Puts registered spaces and feature maps in the place of their names.
    pub(crate) fn attach(&mut self, registry: &Registry) -> Result<()> {
        self.settings_mut().attach(registry)
    }

    /// Whether there are any.
    pub(crate) fn has_own(&self) -> bool {
        self.settings().has_own()
    }

    /// What a run still has to be told on the command line, in a sentence.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        self.settings().missing()
    }

    /// Whether a network is asked for beside the features.
    pub(crate) fn wants_network(&self) -> bool {
        self.settings().wants_network()
    }

    /// The memory that the world takes.
    pub(crate) fn need(&self) -> Need {
        self.settings().need()
    }

    /// Makes the world.
    pub(crate) fn build(&self, watch: &Watcher) -> Result<Box<dyn World>> {
        self.settings().build(watch)
    }
}
