//! The experiment file: what it may say, and what is wrong with it if something is.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use taskscout::design::Criterion;
use taskscout::features::FeatureMap;
use taskscout::space::Space;
use taskscout::strategy::{Split, StrategyKind};
use taskscout::train::Mllam;
use taskscout_neural::{MlpShape, NeuralSettings};
use taskscout_worlds::{NetworkTruth, Synthetic, SyntheticConfig};

use super::schedule::ScheduleConfig;
use crate::args::{BuiltIn, ExperimentOptions, OracleName, ScheduleName};
use crate::error::{CliError, Result};

/// An experiment: a world, a learner, a target, a schedule and the strategies to compare.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExperimentConfig {
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
    /// Where the data come from.
    pub(crate) world: WorldConfig,
    /// How it is learnt.
    #[serde(default)]
    pub(crate) learner: LearnerConfig,
    /// The target.
    pub(crate) target: TargetConfig,
    /// Rounds and budgets.
    pub(crate) schedule: ScheduleConfig,
    /// Published figures to compare with.
    #[serde(default)]
    pub(crate) paper: Paper,
}

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

/// A strategy, with or without save-task; written as `aware` or `aware+save-task`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct StrategyRun {
    pub(crate) kind: StrategyKind,
    pub(crate) save_task: bool,
}

const SAVE_TASK: &str = "+save-task";

impl StrategyRun {
    pub(super) fn plain(kind: StrategyKind) -> Self {
        Self {
            kind,
            save_task: false,
        }
    }
}

impl std::fmt::Display for StrategyRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}{}",
            self.kind,
            if self.save_task { SAVE_TASK } else { "" }
        )
    }
}

impl From<StrategyRun> for String {
    fn from(run: StrategyRun) -> Self {
        run.to_string()
    }
}

impl TryFrom<String> for StrategyRun {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        let (name, save_task) = match text.strip_suffix(SAVE_TASK) {
            Some(name) => (name, true),
            None => (text.as_str(), false),
        };
        let kind = StrategyKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name);
        match kind {
            Some(kind) if save_task && !kind.explores() => Err(format!(
                "strategy `{text}`: only `agnostic` and `aware` can save tasks, so use `{name}`"
            )),
            Some(kind) => Ok(Self { kind, save_task }),
            None => {
                let names = StrategyKind::ALL.map(StrategyKind::name).join(", ");
                Err(format!(
                    "unknown strategy `{text}`: use one of {names}, active ones also with {SAVE_TASK}"
                ))
            }
        }
    }
}

/// Where the data come from: data that follow the model exactly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorldConfig {
    kind: WorldKind,
    input_features: FeatureMap,
    source_dim: usize,
    /// Where source tasks live; the unit ball if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    space: Option<Space>,
    /// Features of a task; its parameters if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task_features: Option<FeatureMap>,
    k: usize,
    /// A network as the true representation; a random matrix if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    network: Option<NetworkTruth>,
    noise: f64,
    #[serde(default)]
    matrix_seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WorldKind {
    Synthetic,
}

impl WorldConfig {
    /// Draws the world.
    pub(crate) fn build(&self) -> Result<Synthetic> {
        let WorldKind::Synthetic = self.kind;
        let world = SyntheticConfig {
            input_features: self.input_features.clone(),
            source_dim: self.source_dim,
            space: self.space.clone(),
            task_features: self.task_features.clone(),
            k: self.k,
            network: self.network.clone(),
            noise: self.noise,
            matrix_seed: self.matrix_seed,
        };
        Synthetic::new(world).map_err(|error| CliError::Input(format!("in [world], {error}")))
    }
}

/// Published figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Paper {
    /// Where they stand.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// A remark.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// By strategy.
    strategies: BTreeMap<String, Figures>,
}

/// Published figures of a strategy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Figures {
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    final_loss: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    returned_loss: Option<f64>,
}

/// How it is learnt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LearnerConfig {
    /// Dimension of the representation; from the data if not given.
    pub(crate) k: Option<usize>,
    /// The training oracle.
    pub(crate) oracle: OracleName,
    /// The network of the oracles `neural` and `joint-gd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) network: Option<MlpShape>,
    /// What the oracle `joint-gd` does otherwise than published.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub(crate) descent: serde_json::Map<String, serde_json::Value>,
    /// Settings of the oracle `neural`.
    pub(crate) neural: NeuralSettings,
    /// The penalty of the exact oracle; from the data if not given.
    pub(crate) lambda: Option<f64>,
    /// The settings of the oracle `mllam`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mllam: Option<Mllam>,
    /// Pick tasks with a model of warm-up and exploration data only.
    pub(crate) stable_model: bool,
    /// What exploration designs minimise.
    pub(crate) explore_criterion: Criterion,
    /// What target-aware designs minimise.
    pub(crate) exploit_criterion: Criterion,
    /// How a round is split between exploration and exploitation; if not given, as published with
    /// the oracle `joint-gd`, else as taskscout does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) split: Option<Split>,
}

impl LearnerConfig {
    /// The split in use: what is trained as published is also planned as published.
    pub(crate) fn split(&self) -> Split {
        self.split.unwrap_or(match self.oracle {
            OracleName::JointGd => Split::Paper,
            _ => Split::default(),
        })
    }
}

impl Default for LearnerConfig {
    fn default() -> Self {
        Self {
            k: None,
            oracle: OracleName::Exact,
            network: None,
            descent: serde_json::Map::new(),
            neural: NeuralSettings::default(),
            lambda: None,
            mllam: None,
            stable_model: false,
            explore_criterion: Criterion::Trace,
            exploit_criterion: Criterion::Trace,
            split: None,
        }
    }
}

/// The target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TargetConfig {
    /// Samples that the learner has of it from the start.
    pub(crate) samples: usize,
}

/// An experiment of the paper.
pub(crate) fn built_in(experiment: BuiltIn) -> Result<ExperimentConfig> {
    let (name, text) = match experiment {
        BuiltIn::Bilinear => (
            "experiments/bilinear.toml",
            include_str!("../../../../experiments/bilinear.toml"),
        ),
        BuiltIn::Fourier => (
            "experiments/fourier.toml",
            include_str!("../../../../experiments/fourier.toml"),
        ),
        BuiltIn::Mlp => (
            "experiments/mlp.toml",
            include_str!("../../../../experiments/mlp.toml"),
        ),
    };
    parse(text, name)
}

/// An experiment of the user's.
pub(crate) fn from_file(path: &Path) -> Result<ExperimentConfig> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        CliError::Input(format!(
            "cannot read {}: {error}; give the path of an experiment file",
            path.display()
        ))
    })?;
    parse(&text, &path.display().to_string())
}

fn parse(text: &str, name: &str) -> Result<ExperimentConfig> {
    toml::from_str(text).map_err(|error| {
        let place = match error.span() {
            Some(span) => {
                let before = &text[..span.start.min(text.len())];
                let line = before.matches('\n').count() + 1;
                let column = before
                    .rsplit('\n')
                    .next()
                    .map_or(0, |last| last.chars().count())
                    + 1;
                format!("{name}, line {line}, column {column}")
            }
            None => name.to_owned(),
        };
        let message = error.message().trim().replace('\n', " ");
        CliError::Input(format!(
            "{place}: {message} (docs/experiments.md lists all keys)"
        ))
    })
}

impl ExperimentConfig {
    /// Applies the options of the command line, then checks everything.
    pub(crate) fn with_options(mut self, options: &ExperimentOptions) -> Result<Self> {
        if options.quick {
            self.seeds = 2;
            self.schedule.scale(0.25);
        }
        if let Some(scale) = options.budget_scale {
            if !(scale > 0.0 && scale.is_finite()) {
                return Err(CliError::Input(format!(
                    "--budget-scale is {scale}: give a positive number"
                )));
            }
            self.schedule.scale(scale);
        }
        self.seeds = options.seeds.unwrap_or(self.seeds);
        self.seed = options.seed.unwrap_or(self.seed);
        self.target.samples = options.n_target.unwrap_or(self.target.samples);
        if let Some(names) = &options.strategies {
            let parsed = names
                .iter()
                .map(|name| StrategyRun::try_from(name.trim().to_owned()));
            self.strategies = parsed
                .collect::<std::result::Result<_, _>>()
                .map_err(CliError::Input)?;
        }
        if options.save_task {
            self.add_save_task();
        }
        if let Some(oracle) = options.oracle {
            self.learner.oracle = oracle;
        }
        self.learner.split = Some(self.learner.split());
        if let Some(schedule) = options.schedule {
            self.schedule
                .use_adaptive(schedule == ScheduleName::Adaptive);
        }
        if let Some(seed) = options.matrix_seed {
            self.world.matrix_seed = seed;
        }
        self.check()?;
        Ok(self)
    }

    fn add_save_task(&mut self) {
        for run in self.strategies.clone() {
            let saving = StrategyRun {
                save_task: true,
                ..run
            };
            if run.kind.explores() && !self.strategies.contains(&saving) {
                self.strategies.push(saving);
            }
        }
    }

    fn check(&self) -> Result<()> {
        let bad = |key: &str, problem: String| Err(CliError::Input(format!("`{key}` {problem}")));
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if self.name.is_empty() || self.name.starts_with('.') || !self.name.chars().all(plain) {
            return bad(
                "name",
                format!("is `{}`: use letters, digits, `-`, `_` and `.`", self.name),
            );
        }
        if self.seeds == 0 {
            return bad("seeds", "is 0: run at least one".into());
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
        if self
            .learner
            .lambda
            .is_some_and(|lambda| !(lambda > 0.0 && lambda.is_finite()))
        {
            return bad("learner.lambda", "must be positive and finite".into());
        }
        if self.learner.oracle == OracleName::JointGd && self.learner.k.is_none() {
            return bad(
                "learner.k",
                "is missing: joint descent cannot choose it, so give it or use another oracle"
                    .into(),
            );
        }
        self.schedule.check()
    }
}
