//! What gave no result, kept beside what did.
//!
//! A comparison from which something is missing says so: failed trials stand in the summary of
//! their experiment ([`Summary::failed`](crate::Summary::failed)), failed experiments in the combined
//! one ([`CombinedSummary::failed`](crate::CombinedSummary::failed)).

use serde::{Deserialize, Serialize};

/// A trial without results: a strategy and a seed, for one of the targets or for all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedTrial {
    /// The strategy.
    pub strategy: String,
    /// The target, where an experiment has trials for each of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The seed.
    pub seed: u64,
    /// What went wrong, in a sentence.
    pub error: String,
}

impl FailedTrial {
    /// The strategy and, where it has a name, the target.
    #[must_use]
    pub fn contender(&self) -> String {
        match &self.target {
            Some(target) => format!("{} on {target}", self.strategy),
            None => self.strategy.clone(),
        }
    }
}

/// An experiment without results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedExperiment {
    /// The experiment's name.
    pub experiment: String,
    /// What went wrong, in a sentence.
    pub error: String,
}

/// A number of trials, in words.
pub(crate) fn trials(count: usize) -> String {
    match count {
        1 => "1 trial".to_owned(),
        n => format!("{n} trials"),
    }
}
