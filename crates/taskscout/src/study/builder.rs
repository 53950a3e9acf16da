//! A study, setting by setting, checked once at the end.

use super::{Collection, Oracle, Study, StudyConfig};
use crate::error::{Error, Result};
use crate::extension::Extension;
use crate::features::FeatureMap;
use crate::space::{Space, TaskSpace as _};
use crate::strategy::{Strategy, StrategyConfig, StrategyKind, WarmUp};
use crate::target::Target;

/// The settings of a study under way; [`Study::builder`] begins one.
#[derive(Debug, Clone)]
pub struct StudyBuilder {
    space: Space,
    inputs: Option<Inputs>,
    task_features: Option<FeatureMap>,
    outputs: usize,
    targets: Vec<Target>,
    k: Option<usize>,
    strategy: Option<StrategyConfig>,
    own_strategy: Option<Extension<dyn Strategy>>,
    warm_up: WarmUp,
    stable_model: bool,
    oracle: Oracle,
    identify: bool,
    collection: Collection,
    seed: u64,
}

/// What is known of inputs.
#[derive(Debug, Clone)]
enum Inputs {
    Plain(usize),
    Features(FeatureMap),
}

impl Study {
    /// Begins a study over a space of tasks.
    ///
    /// Only the inputs have no default. Without a target tasks are chosen for all directions alike
    /// (`agnostic`), with one for what it needs (`aware`).
    ///
    /// ```
    /// use taskscout::prelude::*;
    /// let study = Study::builder(Space::boxed(vec![0.0], vec![12.1])?)
    ///     .task_features(FeatureMap::polynomial(1, 2, true)?)
    ///     .inputs(11)
    ///     .outputs(3)
    ///     .target(Target::unknown("tomorrow"))
    ///     .strategy(StrategyKind::Passive)
    ///     .collection(Collection { switch_cost: 50.0, ..Collection::default() })
    ///     .seed(7)
    ///     .build()?;
    /// assert_eq!(study.config().outputs, 3);
    /// let nothing = Study::builder(Space::ball(2, 1.0)?).build().unwrap_err();
    /// assert!(nothing.to_string().contains("`inputs`"));
    /// # Ok::<(), taskscout::Error>(())
    /// ```
    #[must_use]
    pub fn builder(space: Space) -> StudyBuilder {
        StudyBuilder {
            space,
            inputs: None,
            task_features: None,
            outputs: 1,
            targets: Vec::new(),
            k: None,
            strategy: None,
            own_strategy: None,
            warm_up: WarmUp::default(),
            stable_model: false,
            oracle: Oracle::default(),
            identify: true,
            collection: Collection::default(),
            seed: 0,
        }
    }
}

impl StudyBuilder {
    /// Rows have so many inputs, which are features as they are.
    #[must_use]
    pub fn inputs(mut self, count: usize) -> Self {
        self.inputs = Some(Inputs::Plain(count));
        self
    }

    /// The features `ψ_X` of an input row.
    #[must_use]
    pub fn input_features(mut self, map: FeatureMap) -> Self {
        self.inputs = Some(Inputs::Features(map));
        self
    }

    /// The features `ψ_W` of a task; its parameters as they are if not given.
    #[must_use]
    pub fn task_features(mut self, map: FeatureMap) -> Self {
        self.task_features = Some(map);
        self
    }

    /// Outputs of a row; one if not given.
    #[must_use]
    pub fn outputs(mut self, outputs: usize) -> Self {
        self.outputs = outputs;
        self
    }

    /// A task that we care about; may be called several times.
    #[must_use]
    pub fn target(mut self, target: Target) -> Self {
        self.targets.push(target);
        self
    }

    /// Dimension of the representation; from the data if not given.
    #[must_use]
    pub fn k(mut self, k: usize) -> Self {
        self.k = Some(k);
        self
    }

    /// How tasks are chosen: a [`StrategyKind`], or a [`StrategyConfig`] with its settings.
    #[must_use]
    pub fn strategy(mut self, strategy: impl Into<StrategyConfig>) -> Self {
        self.strategy = Some(strategy.into());
        self
    }

    /// A strategy of one's own.
    #[must_use]
    pub fn own_strategy(mut self, strategy: Extension<dyn Strategy>) -> Self {
        self.own_strategy = Some(strategy);
        self
    }

    /// What learns from the data; [`JointRidge`](crate::train::JointRidge) if not given.
    #[must_use]
    pub fn trainer(mut self, oracle: impl Into<Oracle>) -> Self {
        self.oracle = oracle.into();
        self
    }

    /// When the warm-up ends.
    #[must_use]
    pub fn warm_up(mut self, warm_up: WarmUp) -> Self {
        self.warm_up = warm_up;
        self
    }

    /// Lets the model that picks tasks learn from warm-up and exploration only.
    #[must_use]
    pub fn stable_model(mut self) -> Self {
        self.stable_model = true;
        self
    }

    /// Does not look for hidden targets among the source tasks.
    #[must_use]
    pub fn without_identification(mut self) -> Self {
        self.identify = false;
        self
    }

    /// What collecting costs, and what cannot or should not be asked for.
    #[must_use]
    pub fn collection(mut self, collection: Collection) -> Self {
        self.collection = collection;
        self
    }

    /// The seed that all draws derive from.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The settings, with defaults for what was not given.
    ///
    /// # Errors
    /// Inputs that were not given.
    pub fn config(self) -> Result<StudyConfig> {
        let input_features = match self.inputs {
            Some(Inputs::Plain(count)) => FeatureMap::identity(count)?,
            Some(Inputs::Features(map)) => map,
            None => {
                return Err(Error::setting(
                    "inputs",
                    "are not given: say how many a row has, or which features",
                ));
            }
        };
        let task_features = match self.task_features {
            Some(map) => map,
            None => FeatureMap::identity(self.space.dim())?,
        };
        let known = !self.targets.is_empty() && self.targets.iter().all(Target::is_known);
        let strategy = self.strategy.unwrap_or_else(|| match &self.oracle {
            _ if self.targets.is_empty() => StrategyConfig::new(StrategyKind::Agnostic),
            // What is alike is known before the first row.
            Oracle::Pooled(_) if known && self.space.count().is_some() => {
                StrategyConfig::new(StrategyKind::Related)
            }
            _ => StrategyConfig::new(StrategyKind::Aware),
        });
        Ok(StudyConfig {
            space: self.space,
            task_features,
            input_features,
            outputs: self.outputs,
            targets: self.targets,
            k: self.k,
            strategy,
            own_strategy: self.own_strategy,
            warm_up: self.warm_up,
            stable_model: self.stable_model,
            oracle: self.oracle,
            identify: self.identify,
            collection: self.collection,
            seed: self.seed,
        })
    }

    /// The study.
    ///
    /// # Errors
    /// The first setting that is missing or does not fit, by its name.
    pub fn build(self) -> Result<Study> {
        Study::new(self.config()?)
    }
}

impl From<StrategyKind> for StrategyConfig {
    fn from(kind: StrategyKind) -> Self {
        Self::new(kind)
    }
}

impl From<crate::train::JointRidge> for Oracle {
    fn from(trainer: crate::train::JointRidge) -> Self {
        Self::Exact(trainer)
    }
}

impl From<crate::train::PartialPooling> for Oracle {
    fn from(pooled: crate::train::PartialPooling) -> Self {
        Self::Pooled(pooled)
    }
}

impl From<crate::train::AlternatingMinimizationThenErm> for Oracle {
    fn from(trainer: crate::train::AlternatingMinimizationThenErm) -> Self {
        Self::Mllam(trainer)
    }
}

impl From<super::External> for Oracle {
    fn from(external: super::External) -> Self {
        Self::External(external)
    }
}
