//! The experiment file: what it may say, and what is wrong with it if something is.

mod file;
mod learner;
mod own;
mod paper;
mod places;
mod published;
mod unused;

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use taskscout::registry::Registry;
use taskscout::strategy::StrategyKind;

#[cfg(test)]
pub(crate) use file::parse;
pub(crate) use file::{built_in, from_file};
pub(crate) use learner::LearnerConfig;
pub(crate) use own::OwnParts;
use paper::Paper;
pub use places::{Places, in_file};
use published::Origin;

use crate::error::{LabError, Result};
use crate::names::{OracleName, Published, ScheduleName};
use crate::options::ExperimentOptions;
use crate::parts::Settings;
use crate::scenario::WorldConfig;
use crate::schedule::ScheduleConfig;
use crate::strategy_run::StrategyRun;

/// An experiment: a world, a learner, a target, a schedule and the strategies to compare.
///
/// A file is read with the settings of its own kind of world as `W`, because a choice between kinds
/// inside the format would lose the line and column of what is wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExperimentConfig<W = WorldConfig> {
    /// A short name, used for the folder of results.
    pub(crate) name: String,
    /// Number of seeds.
    #[serde(default = "ten")]
    pub(crate) seeds: u64,
    /// The first seed.
    #[serde(default)]
    pub(crate) seed: u64,
    /// The strategies to compare.
    #[serde(default = "all_strategies")]
    pub(crate) strategies: Vec<StrategyRun>,
    /// Settings of registered strategies, by the name that stands in `strategies`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) strategy: BTreeMap<String, Settings>,
    /// Where the data come from; `[source]` where that is a program.
    #[serde(alias = "source")]
    pub(crate) world: W,
    /// How it is learnt.
    #[serde(default)]
    pub(crate) learner: LearnerConfig,
    /// The targets.
    pub(crate) target: TargetConfig,
    /// Rounds and budgets.
    pub(crate) schedule: ScheduleConfig,
    /// Published figures to compare with.
    #[serde(default)]
    pub(crate) paper: Paper,
    /// What the paper did otherwise, for `--as-published`.
    #[serde(default, skip_serializing)]
    pub(crate) published: Option<IgnoredAny>,
    /// Whether the paper's procedure is followed, and whose word it is taken from.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub(crate) as_published: Option<Published>,
    /// Where it was read from.
    #[serde(skip)]
    pub(crate) origin: Origin,
    /// Where its keys stand.
    #[serde(skip)]
    pub(crate) places: Places,
    /// What is registered and in use, once the options are known.
    #[serde(skip)]
    pub(crate) own: OwnParts,
    /// What the file sets and the options leave aside, in sentences.
    #[serde(skip)]
    pub(crate) left_aside: Vec<String>,
}

/// Most seeds, in files and on the command line.
pub const MOST_SEEDS: u64 = 100_000;

fn ten() -> u64 {
    10
}

fn all_strategies() -> Vec<StrategyRun> {
    [
        StrategyKind::Passive,
        StrategyKind::Agnostic,
        StrategyKind::Aware,
    ]
    .map(StrategyRun::plain)
    .to_vec()
}

/// The targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TargetConfig {
    /// Samples that the learner has of each from the start.
    pub(crate) samples: usize,
    /// One study with one budget for all targets, instead of one for each.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) joint: bool,
    /// One target that is a distribution over those of the world, all alike; the samples are of all of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) distribution: bool,
}

impl TargetConfig {
    /// Whether one study with one budget serves all targets.
    pub(crate) fn together(&self) -> bool {
        self.joint || self.distribution
    }
}

impl<W> ExperimentConfig<W> {
    /// The same experiment with its world said otherwise.
    pub(crate) fn map_world<V>(self, map: impl FnOnce(W) -> V) -> ExperimentConfig<V> {
        ExperimentConfig {
            world: map(self.world),
            name: self.name,
            seeds: self.seeds,
            seed: self.seed,
            strategies: self.strategies,
            strategy: self.strategy,
            learner: self.learner,
            target: self.target,
            schedule: self.schedule,
            paper: self.paper,
            published: self.published,
            as_published: self.as_published,
            origin: self.origin,
            places: self.places,
            own: self.own,
            left_aside: self.left_aside,
        }
    }
}

impl ExperimentConfig {
    /// Applies the options of the command line, then checks everything; parts that are not the command's own
    /// are those of the registry.
    pub(crate) fn with_options(
        self,
        options: &ExperimentOptions,
        registry: &Registry,
    ) -> Result<Self> {
        let config = match options.as_published {
            Some(variant) => self.by_the_paper(variant)?,
            None => self,
        };
        let places = config.places.clone();
        config
            .applied(options, registry)
            .map_err(|error| places.locate(error, options))
    }

    fn applied(mut self, options: &ExperimentOptions, registry: &Registry) -> Result<Self> {
        self.schedule.check()?;
        let of_file = self.choice();
        self.scale_budgets(options)?;
        self.name = options.name.clone().unwrap_or(self.name);
        self.seeds = options.seeds.unwrap_or(self.seeds);
        self.seed = options.seed.unwrap_or(self.seed);
        if let Some(samples) = options.n_target.filter(|&n| n != self.target.samples) {
            self.target.samples = samples;
            // Published figures are for the file's own number.
            self.paper = Paper::default();
        }
        if let Some(names) = &options.strategies {
            let parsed = names
                .iter()
                .map(|name| StrategyRun::try_from(name.trim().to_owned()));
            self.strategies = parsed
                .collect::<std::result::Result<_, _>>()
                .map_err(|problem: String| LabError::Input(format!("--strategies: {problem}")))?;
        }
        if options.save_task {
            self.add_save_task();
        }
        if let Some(oracle) = &options.oracle {
            self.learner.oracle = oracle.clone();
        }
        if let Some(schedule) = options.schedule {
            self.schedule
                .use_adaptive(schedule == ScheduleName::Adaptive);
        }
        self.world.apply(&options.world)?;
        self.world.attach(registry)?;
        self.target.joint |= options.world.joint_targets();
        let synthetic = options.world.synthetic();
        self.target.distribution |= synthetic.is_some_and(|own| own.target_distribution);
        self.left_aside = self.check_unused(&of_file, registry)?;
        self.learner.settle(self.schedule.is_adaptive());
        self.check(options)?;
        self.make_own(registry)?;
        Ok(self)
    }

    fn scale_budgets(&mut self, options: &ExperimentOptions) -> Result<()> {
        if options.quick {
            self.seeds = 2;
            self.schedule.scale(0.25);
        }
        if let Some(scale) = options.budget_scale {
            if !(scale > 0.0 && scale.is_finite()) {
                return Err(LabError::Input(format!(
                    "--budget-scale is {scale}: give a positive number"
                )));
            }
            self.schedule.scale(scale);
        }
        Ok(())
    }

    fn add_save_task(&mut self) {
        for run in self.strategies.clone() {
            if let Some(saving) = run.saving().filter(|run| !self.strategies.contains(run)) {
                self.strategies.push(saving);
            }
        }
    }

    fn check(&self, options: &ExperimentOptions) -> Result<()> {
        let bad = |key: &str, problem: String| Err(LabError::setting(key, problem));
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if self.name.is_empty() || self.name.starts_with('.') || !self.name.chars().all(plain) {
            return bad(
                "name",
                format!("is `{}`: use letters, digits, `-`, `_` and `.`", self.name),
            );
        }
        if !(1..=MOST_SEEDS).contains(&self.seeds) {
            return bad("seeds", format!("is {}: run 1 to {MOST_SEEDS}", self.seeds));
        }
        if self.seed.checked_add(self.seeds).is_none() {
            return bad(
                "seed",
                format!("is {}: too large for {} seeds", self.seed, self.seeds),
            );
        }
        if self.target.samples == 0 {
            return bad(
                "target.samples",
                "is 0: the target's embedding is learnt from its samples, so give some".into(),
            );
        }
        if self.strategies.is_empty() {
            return bad("strategies", "is empty: name at least one".into());
        }
        for (index, run) in self.strategies.iter().enumerate() {
            if self.strategies[..index].contains(run) {
                return bad("strategies", format!("names `{run}` twice"));
            }
        }
        if let Some((key, problem)) = self.learner.exact_problem() {
            return bad(key, problem);
        }
        if let Some(problem) = self.learner.list_problem() {
            return bad("learner.list", problem);
        }
        if self.learner.oracle == OracleName::JointGd && self.learner.k.is_none() {
            let missing = match options.oracle {
                Some(_) => "is missing, but --oracle joint-gd cannot choose it: ",
                None => "is missing, but joint descent cannot choose it: ",
            };
            return bad(
                "learner.k",
                format!("{missing}give it in the file, or use another oracle"),
            );
        }
        Ok(())
    }
}
