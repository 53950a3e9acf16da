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
    /// When tasks still fit, with `save_task`.
    #[serde(skip_serializing_if = "is_default")]
    pub saving: Saving,
    /// How exploration weighs the directions of the representation.
    #[serde(skip_serializing_if = "is_default")]
    pub explore: Explore,
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
    /// Which of several targets designs serve.
    #[serde(skip_serializing_if = "is_default")]
    pub serve: Serve,
}

/// Which of several targets target-aware designs serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Serve {
    /// Their mean, by their weights.
    #[default]
    Mean,
    /// The one that fares worst, its error times its weight; designs minimise `max_t tr(Σ⁻¹A_t)`.
    Worst,
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

/// How exploration weighs the directions of the representation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Explore {
    /// The optimal design `q_1 = g(B ψ_W, I)`: more samples for weak directions.
    #[default]
    Optimal,
    /// The right singular vectors of `B` with equal weights, as the paper prints it; on a ball of plain
    /// parameters, where these vectors are tasks. Elsewhere the optimal design.
    Equal,
    /// New random tasks of the whole space every round, in the warm-up too: where the task features may lack what
    /// the truth has, the extreme tasks of a design say little of those between them.
    Spread,
}

/// When tasks in use still fit the estimate, so that a switch can be saved.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Saving {
    /// Squared overlap between the tasks in use and the row space of `B` that is enough, from 0 to 1.
    pub overlap: f64,
    /// Which overlap counts.
    pub measure: Overlap,
    /// Keep the tasks for the target, too, while they point in the same directions.
    pub exploit: bool,
}

impl Default for Saving {
    fn default() -> Self {
        Self {
            overlap: 0.8,
            measure: Overlap::default(),
            exploit: false,
        }
    }
}

/// Which overlap of two subspaces counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overlap {
    /// The mean over the tasks.
    #[default]
    Mean,
    /// That of the task that fits worst.
    Smallest,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
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
    /// As the paper prints it, on a ball of plain parameters: for each eigenvector of `A` above the paper's
    /// clipping threshold, the shortest task that reaches it, all with equal weights. In finite spaces the
    /// optimal design, elsewhere the nearest task.
    Paper,
}

impl StrategyConfig {
    /// A strategy with default settings.
    #[must_use]
    pub fn new(kind: StrategyKind) -> Self {
        Self {
            kind,
            save_task: false,
            saving: Saving::default(),
            explore: Explore::default(),
            explore_criterion: Criterion::Trace,
            exploit_criterion: Criterion::Trace,
            split: Split::default(),
            exploit: Exploit::default(),
            given: Given::default(),
            serve: Serve::default(),
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
