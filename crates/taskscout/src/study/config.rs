//! The settings of a study, checked once, at the door.

use serde::{Deserialize, Serialize};

use super::Collection;
use crate::error::{Error, Result};
use crate::extension::Extension;
use crate::features::{FeatureMap, Features as _, apply_row};
use crate::registry::Registry;
use crate::space::{Space, TaskSpace as _};
use crate::strategy::{Strategy, StrategyConfig, WarmUp};
use crate::target::{Target, TargetParameters};
use crate::train::{AlternatingMinimizationThenErm, JointRidge, PartialPooling, Trainer};
use std::sync::Arc;

/// Numbers that the statistics of all targets may have: more are a mistake, and sizes that overflow are among them.
const MOST_NUMBERS: f64 = 4e9;

/// All settings of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyConfig {
    /// Where source tasks may be chosen.
    pub space: Space,
    /// `ψ_W`, the features of a task.
    pub task_features: FeatureMap,
    /// `ψ_X`, the features of an input.
    pub input_features: FeatureMap,
    /// Outputs of a sample.
    #[serde(default = "one")]
    pub outputs: usize,
    /// The tasks we care about.
    pub targets: Vec<Target>,
    /// Dimension of the representation; from the data if not given.
    #[serde(default)]
    pub k: Option<usize>,
    /// How tasks are chosen.
    pub strategy: StrategyConfig,
    /// A strategy of the user's own, which plans instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_strategy: Option<Extension<dyn Strategy>>,
    /// When the warm-up ends.
    #[serde(default)]
    pub warm_up: WarmUp,
    /// Let the model that picks tasks learn from warm-up and exploration only, which keeps it
    /// stable when the features cannot express the truth.
    #[serde(default)]
    pub stable_model: bool,
    /// The training oracle.
    #[serde(default)]
    pub oracle: Oracle,
    /// Look for hidden targets among the source tasks: their parameters, and a predictor of few
    /// numbers.
    #[serde(default = "yes")]
    pub identify: bool,
    /// What collecting costs, and what cannot or should not be asked for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub collection: Collection,
    /// The seed that all draws derive from.
    #[serde(default)]
    pub seed: u64,
}

fn is_default(collection: &Collection) -> bool {
    *collection == Collection::default()
}

fn one() -> usize {
    1
}

fn yes() -> bool {
    true
}

/// The training oracles that a study can be configured with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Oracle {
    /// Regularised joint least squares on statistics.
    Exact(JointRidge),
    /// The paper's: alternating minimisation to choose tasks, least squares over the last two
    /// stages in the end.
    Mllam(AlternatingMinimizationThenErm),
    /// Partial pooling of tasks whose features are known.
    Pooled(PartialPooling),
    /// An oracle from outside this crate, known to a file by its name and settings only.
    External(External),
}

/// An oracle from outside this crate: a neural network's, or the user's own.
pub type External = Extension<dyn Trainer>;

impl Default for Oracle {
    fn default() -> Self {
        Self::Exact(JointRidge::default())
    }
}

impl Oracle {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Exact(_) => "exact",
            Self::Mllam(_) => "mllam",
            Self::Pooled(_) => "pooled",
            Self::External(external) => &external.name,
        }
    }

    pub(super) fn trainer(&self) -> Result<&dyn Trainer> {
        match self {
            Self::Exact(exact) => Ok(exact),
            Self::Mllam(staged) => Ok(staged),
            Self::Pooled(pooled) => Ok(pooled),
            Self::External(external) => external.get(),
        }
    }

    /// The oracle of the model that chooses tasks, where it is another one.
    pub(super) fn planner(&self) -> Option<&dyn Trainer> {
        match self {
            Self::Mllam(staged) => Some(&staged.mllam),
            _ => None,
        }
    }

    pub(super) fn attach(&mut self, trainer: Arc<dyn Trainer>) -> Result<()> {
        match self {
            Self::External(external) => {
                external.attach(trainer);
                Ok(())
            }
            _ => Err(Error::State(format!(
                "the oracle `{}` is complete as it is: only one from outside is attached",
                self.name()
            ))),
        }
    }
}

impl StudyConfig {
    /// A study of one output with identity task features and defaults for all else.
    ///
    /// # Errors
    /// A space without parameters.
    pub fn new(
        space: Space,
        input_features: FeatureMap,
        targets: Vec<Target>,
        strategy: StrategyConfig,
    ) -> Result<Self> {
        Ok(Self {
            task_features: FeatureMap::identity(space.dim())?,
            space,
            input_features,
            outputs: 1,
            targets,
            k: None,
            strategy,
            own_strategy: None,
            warm_up: WarmUp::default(),
            stable_model: false,
            oracle: Oracle::default(),
            identify: true,
            collection: Collection::default(),
            seed: 0,
        })
    }

    /// Task features of a source, without targets' own task features.
    #[must_use]
    pub fn source_features(&self) -> usize {
        self.task_features.dim()
    }

    /// Checks all settings against each other.
    ///
    /// # Errors
    /// The first setting that does not fit, by its key.
    pub fn validate(&self) -> Result<()> {
        self.check_ready()?;
        self.validate_shape()
    }

    /// Whether feature maps of the user's own are attached.
    pub(super) fn check_ready(&self) -> Result<()> {
        self.task_features.check_ready()?;
        self.input_features.check_ready()?;
        self.space.check_ready()?;
        if let Some(own) = &self.own_strategy {
            own.get()?;
        }
        self.oracle.trainer().map(|_| ())
    }

    /// Attaches what is the user's own and was read from a file.
    pub(super) fn attach(&mut self, registry: &Registry) -> Result<()> {
        for map in [&mut self.task_features, &mut self.input_features] {
            if let FeatureMap::Custom(custom) = map {
                custom.attach(registry.make_features(custom.name())?)?;
            }
        }
        let make = |name: &str, settings: &serde_json::Value| registry.make_space(name, settings);
        self.space.attach(&make)?;
        if let Some(own) = &mut self.own_strategy {
            *own = registry.make_strategy(&own.name, &own.settings)?;
        }
        if let Oracle::External(external) = &mut self.oracle {
            *external = registry.make_trainer(&external.name, &external.settings)?;
        }
        Ok(())
    }

    /// Whether tasks are chosen by what was learnt.
    fn is_active(&self) -> bool {
        match &self.own_strategy {
            Some(own) => own.get().is_ok_and(Strategy::needs_model),
            None => self.strategy.kind.is_active(),
        }
    }

    /// Whether a target must be named.
    fn needs_target(&self) -> bool {
        self.own_strategy.is_none() && self.strategy.kind.needs_target()
    }

    /// Numbers that a study holds before its first row: the statistics of its targets, which grow with the square of the
    /// features of an input.
    #[must_use]
    pub fn numbers(&self) -> f64 {
        self.parts().iter().map(|(.., numbers)| numbers).sum()
    }

    /// The same by the setting that they come from, which has so many of what.
    fn parts(&self) -> [(&'static str, usize, &'static str, f64); 3] {
        let (inputs, tasks) = (self.input_features.dim(), self.source_features());
        let (d, targets) = (inputs as f64, self.targets.len().max(1) as f64);
        [
            (
                "outputs",
                self.outputs,
                "outputs",
                targets * self.outputs as f64 * (d + 1.0),
            ),
            (
                "input_features",
                inputs,
                "features",
                targets * 0.5 * d * (d + 1.0),
            ),
            (
                "task_features",
                tasks,
                "features",
                targets * (tasks as f64 + targets),
            ),
        ]
    }

    /// Refuses sizes that no memory has room for, before anything is made of them.
    fn check_size(&self) -> Result<()> {
        let large = |part: &(_, _, _, f64)| part.3 > MOST_NUMBERS;
        let Some((key, count, what, numbers)) = self.parts().into_iter().find(large) else {
            return Ok(());
        };
        Err(Error::setting(
            key,
            format!(
                "have {count} {what}, which takes {numbers:.0e} numbers where {MOST_NUMBERS:.0e} are the most: use fewer"
            ),
        ))
    }

    /// Checks all that can be checked of a study whose own feature maps are not attached yet.
    pub(super) fn validate_shape(&self) -> Result<()> {
        self.check_size()?;
        if self.task_features.input_dim() != self.space.dim() {
            return Err(Error::setting(
                "task_features",
                format!(
                    "take {} parameters, but tasks of the space have {}",
                    self.task_features.input_dim(),
                    self.space.dim()
                ),
            ));
        }
        if self.outputs == 0 {
            return Err(Error::setting(
                "outputs",
                "is 0: a sample needs at least one output",
            ));
        }
        self.collection.validate()?;
        match &self.oracle {
            Oracle::Mllam(staged) => staged.mllam.validate()?,
            Oracle::Pooled(pooled) => pooled.validate(self.input_features.dim())?,
            Oracle::Exact(_) | Oracle::External(_) => {}
        }
        self.check_targets()?;
        if self.own_strategy.is_none() {
            self.strategy.check_targets(&self.space, &self.targets)?;
        }
        self.check_dimension()
    }

    /// Checks the targets, one by one and against each other.
    fn check_targets(&self) -> Result<()> {
        if self.targets.is_empty() && self.needs_target() {
            return Err(Error::setting(
                "targets",
                format!(
                    "is empty, but `{}` chooses tasks for a target: name one that you care about, or use `agnostic`",
                    self.strategy.kind
                ),
            ));
        }
        for (index, target) in self.targets.iter().enumerate() {
            if self.targets[..index]
                .iter()
                .any(|other| other.name == target.name)
            {
                return Err(Error::setting(
                    "targets",
                    format!("has two named `{}`: give each its own name", target.name),
                ));
            }
            target.validate(self.space.dim(), self.source_features())?;
        }
        Ok(())
    }

    /// Checks the dimension of the representation, where it is given.
    fn check_dimension(&self) -> Result<()> {
        let tasks = if self.is_active() {
            self.source_features()
        } else {
            self.task_dim()
        };
        let features = match self.oracle.trainer() {
            Ok(trainer) if !trainer.needs().allows_k_above_features => self.input_features.dim(),
            // A wide one may exceed them; the checks of one not attached yet come with it.
            Ok(_) | Err(_) => usize::MAX,
        };
        let limit = features.min(self.outputs * tasks);
        if let Some(k) = self.k.filter(|&k| k == 0 || k > limit) {
            return Err(Error::setting(
                "k",
                format!("is {k}: it must be from 1 to {limit}, the smaller number of features"),
            ));
        }
        Ok(())
    }

    /// The same with one target more.
    pub(super) fn with_target(&self, target: &Target) -> Self {
        let mut config = self.clone();
        config.targets.push(target.clone());
        config
    }

    /// Task features with targets' own task features.
    pub(super) fn task_dim(&self) -> usize {
        self.source_features()
            + self
                .targets
                .iter()
                .filter(|target| target.has_own_task_feature())
                .count()
    }

    /// `ψ_W` of a source task, with zeros for targets' own task features.
    pub(super) fn features_of(&self, task: &[f64]) -> Vec<f64> {
        let mut features = apply_row(&self.task_features, task);
        features.resize(self.task_dim(), 0.0);
        features
    }

    /// Task features of a target: its own feature, or `ψ_W(w)`.
    pub(super) fn target_features(&self, index: usize) -> Vec<f64> {
        match &self.targets[index].kind {
            TargetParameters::Known { task } => self.features_of(task),
            TargetParameters::Distribution { .. } => vec![0.0; self.task_dim()],
            TargetParameters::Unknown => {
                let before = self.targets[..index]
                    .iter()
                    .filter(|target| target.has_own_task_feature())
                    .count();
                let mut features = vec![0.0; self.task_dim()];
                features[self.source_features() + before] = 1.0;
                features
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::strategy::StrategyKind;

    #[test]
    fn sizes_that_no_memory_holds_are_refused_by_their_setting() {
        let of = |features: usize, outputs: usize, tasks: usize| {
            let targets = vec![Target::unknown("a"), Target::unknown("b")];
            let config = StudyConfig::new(
                Space::one_hot(tasks).unwrap(),
                FeatureMap::identity(features).unwrap(),
                targets,
                StrategyConfig::new(StrategyKind::Passive),
            );
            StudyConfig {
                outputs,
                ..config.unwrap()
            }
        };
        let usual = of(10, 2, 5);
        usual.validate().unwrap();
        // Two targets with 55 products, 22 moments and squares, and 7 task features each.
        assert!((usual.numbers() - 2.0 * (55.0 + 22.0 + 7.0)).abs() < 1e-9);
        for (config, words) in [
            (
                of(3, usize::MAX, 2),
                "`outputs` have 18446744073709551615 outputs",
            ),
            (of(3, 1 << 40, 2), "`outputs` have 1099511627776 outputs"),
            (of(100_000, 1, 2), "`input_features` have 100000 features"),
        ] {
            let error = config.validate().unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
            assert!(error.contains("are the most: use fewer"), "{error}");
        }
    }
}
