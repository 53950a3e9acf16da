//! What tells trials apart, and what is kept of them.

mod details;

use taskscout_report::{PlanRow, ResultRow, TARGET_DATA, TARGET_ONLY};

pub(crate) use details::{
    Identified, RelevantTask, RoundDetails, TargetDetails, TargetRelevance, TrialDetails,
};

use crate::strategy_run::StrategyRun;

/// Names of what strategies are compared with, which no strategy can have; the last is one of version 0.1.0.
pub(crate) const RESERVED: [&str; 3] = [TARGET_ONLY, TARGET_DATA, "oracle"];

/// What results over a distribution of targets are called.
pub(crate) const DISTRIBUTION: &str = "distribution";
/// What results on the mean of its members are called.
pub(crate) const MEAN_TASK: &str = "mean task";

/// A strategy to run, or something to compare strategies with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Contender {
    /// What the oracle makes of the target samples.
    TargetOnly,
    /// A strategy.
    Strategy(StrategyRun),
    /// The whole budget spent on the hidden targets themselves.
    TargetData,
}

impl Contender {
    /// Whether it decides which tasks to collect.
    pub(crate) fn plans(&self) -> bool {
        matches!(self, Self::Strategy(_))
    }
}

impl std::fmt::Display for Contender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TargetOnly => f.write_str(TARGET_ONLY),
            Self::Strategy(run) => run.fmt(f),
            Self::TargetData => f.write_str(TARGET_DATA),
        }
    }
}

/// Which of the world's targets a trial serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Serves {
    /// The only one, which has no name.
    Unnamed,
    /// One of those that have names.
    One { index: usize, name: String },
    /// All of them, with one budget.
    Joint { count: usize },
    /// One that is a distribution over them.
    Distribution { count: usize },
}

/// What tells a trial from the others of its experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trial {
    pub(crate) contender: Contender,
    pub(crate) seed: u64,
    pub(crate) serves: Serves,
}

impl Trial {
    /// The targets that it serves, as the world counts them.
    pub(crate) fn targets(&self) -> std::ops::Range<usize> {
        match self.serves {
            Serves::Unnamed => 0..1,
            Serves::One { index, .. } => index..index + 1,
            Serves::Joint { count } | Serves::Distribution { count } => 0..count,
        }
    }

    /// Whether its targets are members of one that is a distribution.
    pub(crate) fn is_distribution(&self) -> bool {
        matches!(self.serves, Serves::Distribution { .. })
    }

    /// The target's name, if it serves a single one that has a name.
    pub(crate) fn target_name(&self) -> Option<&str> {
        match &self.serves {
            Serves::One { name, .. } => Some(name),
            Serves::Unnamed | Serves::Joint { .. } | Serves::Distribution { .. } => None,
        }
    }

    /// What its files are called, without their ending.
    pub(crate) fn file_stem(&self) -> String {
        let Self {
            contender, seed, ..
        } = self;
        match self.serves {
            Serves::One { index, .. } => format!("{contender}-t{index}-{seed}"),
            Serves::Unnamed | Serves::Joint { .. } | Serves::Distribution { .. } => {
                format!("{contender}-{seed}")
            }
        }
    }

    /// What its models are called, without their ending: one for each target.
    pub(crate) fn model_stems(&self) -> Vec<String> {
        let Self {
            contender, seed, ..
        } = self;
        let of_target = |index: usize| match self.serves {
            Serves::Unnamed => format!("{contender}-seed{seed}"),
            Serves::One { .. } | Serves::Joint { .. } | Serves::Distribution { .. } => {
                format!("{contender}-t{index}-seed{seed}")
            }
        };
        self.targets().map(of_target).collect()
    }
}

impl std::fmt::Display for Trial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            contender, seed, ..
        } = self;
        match self.target_name() {
            Some(name) => write!(f, "{contender} on {name} seed {seed}"),
            None => write!(f, "{contender} seed {seed}"),
        }
    }
}

/// What a trial gave.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TrialRecord {
    /// Which trial.
    pub(crate) trial: Trial,
    /// Its rows, one for each target and round.
    pub(crate) rows: Vec<ResultRow>,
    /// Which tasks it asked for and why; empty for contenders without plans.
    pub(crate) plans: Vec<PlanRow>,
    /// What the world asked to be kept beside them.
    pub(crate) details: Option<TrialDetails>,
}
