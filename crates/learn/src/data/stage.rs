//! The stages of the loop.

use serde::{Deserialize, Serialize};

/// Which stage of the loop asked for data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Stage {
    /// Coarse exploration of every direction of the space.
    WarmUp,
    /// Target-agnostic exploration of the directions that matter to the representation.
    Explore,
    /// Target-aware collection from the tasks that the target needs.
    Exploit,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::WarmUp => "warm-up",
            Self::Explore => "explore",
            Self::Exploit => "exploit",
        })
    }
}
