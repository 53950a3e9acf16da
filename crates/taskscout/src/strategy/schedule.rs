//! How much, when: the split of a round, and the end of the warm-up.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// How a round's budget `b` is split between exploration and exploitation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Default)]
#[serde(tag = "kind", rename_all = "kebab-case", try_from = "RawSplit")]
pub enum Split {
    /// As the paper, but never less exploration than a share of `0.7^j` in the `j`-th round after
    /// the warm-up: what a young estimate takes for the target's task does not yet deserve most of a
    /// round.
    #[default]
    Fading,
    /// Explore with `min(b^0.75 · k, b/2)`, as the paper's code does.
    Paper,
    /// Explore with `n₂^{2/3}` where `n₂` samples exploit, as the paper's text says.
    PaperText,
    /// Explore with a fixed share of every round.
    Share {
        /// The share, from 0 to 1.
        explore: f64,
    },
}

/// A split as a file has it: only `share` has a number.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSplit {
    kind: SplitKind,
    explore: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SplitKind {
    Fading,
    Paper,
    PaperText,
    Share,
}

impl TryFrom<RawSplit> for Split {
    type Error = Error;

    fn try_from(raw: RawSplit) -> Result<Self> {
        match (raw.kind, raw.explore) {
            (SplitKind::Fading, None) => Ok(Self::Fading),
            (SplitKind::Paper, None) => Ok(Self::Paper),
            (SplitKind::PaperText, None) => Ok(Self::PaperText),
            (SplitKind::Share, Some(explore)) if (0.0..=1.0).contains(&explore) => {
                Ok(Self::Share { explore })
            }
            _ => Err(Error::setting(
                "split",
                "needs `explore` from 0 to 1 with kind `share`, and nothing else with `fading`, `paper` or `paper-text`",
            )),
        }
    }
}

/// What is left of the extra exploration from one round to the next.
const FADING: f64 = 0.7;

impl Split {
    /// Samples for exploration out of a round's budget, `rounds` after the warm-up (the first is 1).
    #[must_use]
    pub fn explore(self, budget: usize, k: usize, rounds: usize) -> usize {
        let b = budget as f64;
        let paper = (b.powf(0.75) * k as f64).min(b / 2.0);
        let wanted = match self {
            Self::Fading => paper.max(b * FADING.powi(i32::try_from(rounds).unwrap_or(i32::MAX))),
            Self::Paper => paper,
            Self::PaperText => text_share(b),
            Self::Share { explore } => b * explore.clamp(0.0, 1.0),
        };
        (wanted.floor() as usize).min(budget)
    }
}

/// The `n₁` with `n₁ + n₂ = b` and `n₁ = n₂^{2/3}`.
fn text_share(b: f64) -> f64 {
    let (mut low, mut high) = (0.0, b);
    for _ in 0..60 {
        let exploit = 0.5 * (low + high);
        if exploit + exploit.powf(2.0 / 3.0) > b {
            high = exploit;
        } else {
            low = exploit;
        }
    }
    b - low
}

/// When the warm-up ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum WarmUp {
    /// After so many rounds.
    Rounds {
        /// Rounds of warm-up.
        rounds: usize,
    },
    /// When the data show that the weakest direction of the representation is real: the marginal
    /// likelihood of `k` directions exceeds that of `k − 1`.
    Evidence {
        /// Rounds of warm-up at most.
        max_rounds: usize,
    },
}

impl Default for WarmUp {
    fn default() -> Self {
        Self::Rounds { rounds: 1 }
    }
}
