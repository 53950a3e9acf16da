//! The strategies that come with the crate, by name.

use serde::{Deserialize, Serialize};

/// The strategies that come with the crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StrategyKind {
    /// A fresh random basis every round.
    Passive,
    /// The same random basis every round.
    PassiveFixed,
    /// Directions that matter to the representation, whatever the target.
    Agnostic,
    /// Directions that matter to the target.
    Aware,
    /// Tasks of a finite space by the combination with the smallest sum of magnitudes that gives
    /// the target.
    DiscreteL1,
    /// The same with the smallest sum of squares.
    DiscreteL2,
    /// Tasks of a finite space that share features with targets whose own are known, by how much
    /// their rows lower the variance of the targets; from the first round on.
    Related,
}

impl StrategyKind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Passive,
        Self::PassiveFixed,
        Self::Agnostic,
        Self::Aware,
        Self::DiscreteL1,
        Self::DiscreteL2,
        Self::Related,
    ];

    /// Its name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Passive => "passive",
            Self::PassiveFixed => "passive-fixed",
            Self::Agnostic => "agnostic",
            Self::Aware => "aware",
            Self::DiscreteL1 => "discrete-l1",
            Self::DiscreteL2 => "discrete-l2",
            Self::Related => "related",
        }
    }

    /// Whether it learns where to sample.
    #[must_use]
    pub fn is_active(self) -> bool {
        !matches!(self, Self::Passive | Self::PassiveFixed)
    }

    /// Whether it has exploration tasks of its own, which save-task can keep.
    #[must_use]
    pub fn explores(self) -> bool {
        matches!(self, Self::Agnostic | Self::Aware)
    }

    /// Whether it chooses tasks for a target, and so needs one.
    #[must_use]
    pub fn needs_target(self) -> bool {
        matches!(
            self,
            Self::Aware | Self::DiscreteL1 | Self::DiscreteL2 | Self::Related
        )
    }

    /// Whether it starts from what is known of the targets' parameters.
    #[must_use]
    pub fn needs_known_targets(self) -> bool {
        self == Self::Related
    }

    /// Whether it plans in finite task spaces only.
    #[must_use]
    pub fn needs_finite_space(self) -> bool {
        matches!(self, Self::DiscreteL1 | Self::DiscreteL2 | Self::Related)
    }
}

impl std::fmt::Display for StrategyKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
