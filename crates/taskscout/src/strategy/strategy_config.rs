//! A strategy's settings.

use serde::{Deserialize, Serialize};

use super::discrete::{ByRelevance, not_finite};
use super::schedule::Split;
use super::{Strategy, StrategyKind, active, passive, related, stored};
use crate::design::Criterion;
use crate::design::discrete::Relevance;
use crate::error::Result;
use crate::space::Space;
use crate::target::Target;

/// Which strategy a study uses, with its settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "stored::StoredConfig")]
pub struct StrategyConfig {
    /// Which one.
    pub kind: StrategyKind,
    /// Keep the exploration tasks while they still fit the estimate, to save task switches.
    pub save_task: bool,
    /// What exploration designs minimise.
    pub explore_criterion: Criterion,
    /// What target-aware designs minimise.
    pub exploit_criterion: Criterion,
    /// How a round's budget is split between exploration and exploitation.
    pub split: Split,
    /// Which tasks serve the target.
    pub exploit: Exploit,
    /// What designs count as there already.
    pub given: Given,
}

/// What designs count as there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Given {
    /// What was asked for and has not come back yet: each round is the best for its own budget.
    #[default]
    UnderWay,
    /// What is under way, and all that was collected: a round is the best addition to it.
    Collected,
}

/// Which tasks serve the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Exploit {
    /// The nearest task where the targets are found to be members of the source family, in a
    /// continuous space with nonlinear task features and a representation of at least half as many
    /// directions; else the optimal design.
    #[default]
    Auto,
    /// The optimal design `q_2 = g(B ψ_W, A)`.
    Design,
    /// The source task nearest to each target in function space.
    Nearest,
}

impl StrategyConfig {
    /// A strategy with default settings.
    #[must_use]
    pub fn new(kind: StrategyKind) -> Self {
        Self {
            kind,
            save_task: false,
            explore_criterion: Criterion::Trace,
            exploit_criterion: Criterion::Trace,
            split: Split::default(),
            exploit: Exploit::default(),
            given: Given::default(),
        }
    }

    /// Whether the strategy can plan for such targets.
    pub(crate) fn check_targets(&self, space: &Space, targets: &[Target]) -> Result<()> {
        match self.kind {
            StrategyKind::Related => related::check(space, targets),
            kind if kind.needs_finite_space() && space.count().is_none() => Err(not_finite()),
            _ => Ok(()),
        }
    }

    /// The strategy itself.
    #[must_use]
    pub fn build(&self) -> Box<dyn Strategy> {
        match self.kind {
            StrategyKind::Related => Box::new(related::Related),
            StrategyKind::Passive => Box::new(passive::Passive { fixed: false }),
            StrategyKind::PassiveFixed => Box::new(passive::Passive { fixed: true }),
            StrategyKind::Agnostic | StrategyKind::Aware => {
                Box::new(active::Active { config: *self })
            }
            StrategyKind::DiscreteL1 => Box::new(ByRelevance {
                relevance: Relevance::L1,
            }),
            StrategyKind::DiscreteL2 => Box::new(ByRelevance {
                relevance: Relevance::L2,
            }),
        }
    }
}
