//! `[learner]`: how an experiment learns.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use taskscout::design::Criterion;
use taskscout::strategy::{Exploit, Explore, Given, Saving, Serve, Split, StrategyKind};
use taskscout::train::AlternatingMinimization;
use taskscout_neural::{DescentChanges, MlpShape, NeuralSettings};

use crate::names::{OracleChoice, OracleName};
use crate::parts::Settings;

/// How it is learnt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LearnerConfig {
    /// Dimension of the representation; from the data if not given.
    pub(crate) k: Option<usize>,
    /// The training oracle.
    pub(crate) oracle: OracleChoice,
    /// Settings of a registered oracle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) settings: Option<Settings>,
    /// The network of the oracles `neural` and `joint-gd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) network: Option<MlpShape>,
    /// What the oracle `joint-gd` does otherwise than published.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) descent: DescentChanges,
    /// Settings of the oracle `neural`.
    pub(crate) neural: NeuralSettings,
    /// The penalty of the exact oracle; from the data if not given.
    pub(crate) lambda: Option<f64>,
    /// When the sweeps of the exact oracle end; if not given, later with taskscout's own rounds than with the paper's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tolerance: Option<f64>,
    /// The settings of the oracle `mllam`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mllam: Option<AlternatingMinimization>,
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
    /// Which tasks serve the target; if not given, as published with the oracle `joint-gd`, else as
    /// taskscout does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exploit: Option<Exploit>,
    /// How exploration weighs the directions of the representation.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) explore: Explore,
    /// When tasks still fit, for strategies that save switches.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) saving: Saving,
    /// What designs count as there already.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) given: Given,
    /// Which of several targets designs serve.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) serve: Serve,
    /// Tasks of the list that stands for a continuous space where a strategy chooses from a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) list: Option<usize>,
    /// Look for the hidden target among the source tasks; if not given, with all oracles but
    /// `joint-gd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) identify: Option<bool>,
    /// What other oracles take that `--oracle` may name; empty once one is settled on.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) with: BTreeMap<OracleChoice, OracleSettings>,
}

/// `[learner.with.ORACLE]`: settings that belong to some oracles only.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct OracleSettings {
    #[serde(skip_serializing_if = "Option::is_none")]
    settings: Option<Settings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<MlpShape>,
    #[serde(skip_serializing_if = "Option::is_none")]
    descent: Option<DescentChanges>,
    #[serde(skip_serializing_if = "Option::is_none")]
    neural: Option<NeuralSettings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lambda: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tolerance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mllam: Option<AlternatingMinimization>,
}

/// Tasks of the list that stands for a continuous space, if nobody says otherwise.
const LISTED: usize = 500;
/// Most of them.
const MOST_LISTED: usize = 1_000_000;
/// When sweeps end with taskscout's own rounds. The first of them are planned from few rows, where the objective is flat
/// along weak directions: sweeps that end early leave these where the start had them, and plans follow.
const OWN_ROUNDS_TOLERANCE: f64 = 5e-4;

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl LearnerConfig {
    /// Takes what belongs to the oracle in use and decides what depends on it, and on whether the rounds are
    /// taskscout's own.
    pub(super) fn settle(&mut self, own_rounds: bool) {
        let mut others = std::mem::take(&mut self.with);
        if let Some(own) = others.remove(&self.oracle) {
            self.settings = own.settings.or(self.settings.take());
            self.network = own.network.or(self.network.take());
            self.descent = own.descent.unwrap_or_else(|| self.descent.clone());
            self.neural = own.neural.unwrap_or_else(|| self.neural.clone());
            self.lambda = own.lambda.or(self.lambda);
            self.tolerance = own.tolerance.or(self.tolerance);
            self.mllam = own.mllam.or(self.mllam.take());
        }
        if own_rounds && self.oracle == OracleName::Exact {
            self.tolerance.get_or_insert(OWN_ROUNDS_TOLERANCE);
        }
        self.split = Some(self.split());
    }

    /// The split in use: what is trained as published is also planned as published.
    pub(crate) fn split(&self) -> Split {
        self.split.unwrap_or(match self.oracle.built_in() {
            Some(OracleName::JointGd) => Split::Paper,
            _ => Split::default(),
        })
    }

    /// The exploit tasks in use.
    pub(crate) fn exploit(&self, plain_parameters: bool) -> Exploit {
        self.exploit.unwrap_or(match self.oracle.built_in() {
            Some(OracleName::JointGd) if !plain_parameters => Exploit::Nearest,
            _ => Exploit::Auto,
        })
    }

    /// Tasks of the list that stands for a continuous space.
    pub(crate) fn list(&self) -> usize {
        self.list.unwrap_or(LISTED)
    }

    /// What is wrong with the settings of the exact oracle, if anything is, and with which.
    pub(super) fn exact_problem(&self) -> Option<(&'static str, String)> {
        let bad = |value: &f64| !(*value > 0.0 && value.is_finite());
        let settings = [
            ("learner.lambda", self.lambda),
            ("learner.tolerance", self.tolerance),
        ];
        let (key, _) = settings
            .into_iter()
            .find(|(_, value)| value.as_ref().is_some_and(bad))?;
        Some((key, "must be positive and finite".into()))
    }

    /// What is wrong with the list, if anything is.
    pub(super) fn list_problem(&self) -> Option<String> {
        let bad = |tasks: &usize| !(1..=MOST_LISTED).contains(tasks);
        let tasks = self.list.filter(bad)?;
        Some(format!("is {tasks}: give 1 to {MOST_LISTED} tasks"))
    }

    /// The strategy that goes by a name: with partial pooling, `aware` samples tasks that are related to the targets.
    pub(crate) fn strategy(&self, named: StrategyKind) -> StrategyKind {
        match named {
            StrategyKind::Aware if self.samples_related() => StrategyKind::Related,
            other => other,
        }
    }

    /// Whether `aware` goes by what is known of targets and tasks beforehand.
    pub(crate) fn samples_related(&self) -> bool {
        self.oracle.built_in() == Some(OracleName::Pooled) && self.exploit.is_none()
    }

    /// Whether hidden targets are looked for.
    pub(crate) fn identify(&self) -> bool {
        let learns_otherwise = matches!(
            self.oracle.built_in(),
            Some(OracleName::JointGd | OracleName::Pooled)
        );
        self.identify.unwrap_or(!learns_otherwise)
    }
}

impl Default for LearnerConfig {
    fn default() -> Self {
        Self {
            k: None,
            oracle: OracleChoice::BuiltIn(OracleName::Exact),
            settings: None,
            network: None,
            descent: DescentChanges::default(),
            neural: NeuralSettings::default(),
            lambda: None,
            tolerance: None,
            mllam: None,
            stable_model: false,
            explore_criterion: Criterion::Trace,
            exploit_criterion: Criterion::Trace,
            split: None,
            exploit: None,
            explore: Explore::default(),
            saving: Saving::default(),
            given: Given::default(),
            serve: Serve::default(),
            list: None,
            identify: None,
            with: BTreeMap::new(),
        }
    }
}
