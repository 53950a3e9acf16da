//! What is kept of a trial beside its rows, so that a resumed run can still draw everything.

use serde::{Deserialize, Serialize};
use taskscout::train::{AveragedPredictor, Predictor, PredictorKind};

/// The details of a trial, target by target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrialDetails {
    /// One for each target that the trial serves.
    pub(crate) targets: Vec<TargetDetails>,
    /// What the task features cannot express, in a sentence; looked for with the first seed only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) misfit: Option<String>,
}

/// The details of a trial for one target.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TargetDetails {
    /// Round by round; empty for contenders without plans.
    pub(crate) rounds: Vec<RoundDetails>,
    /// What the last round handed back.
    pub(crate) returned: Option<Predictor>,
    /// What the target's own rows gave beside it.
    pub(crate) target_only: Option<Predictor>,
    /// Which source tasks turned out to be like it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) relevant: Option<TargetRelevance>,
}

/// Which source tasks turned out to be like a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TargetRelevance {
    /// All of them, the most alike first.
    pub(crate) tasks: Vec<RelevantTask>,
    /// How alike all tasks of the world are to each other, in its order; where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pairs: Option<Vec<Vec<Option<f64>>>>,
}

/// A source task and what it has to do with a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RelevantTask {
    /// Its name.
    pub(crate) task: String,
    /// How alike it is, from 0 to 1.
    pub(crate) similarity: f64,
    /// Its share of the source rows.
    pub(crate) weight: f64,
}

/// The details of a round for one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoundDetails {
    /// The round.
    pub(crate) round: usize,
    /// The exploited task of largest count, where there was one.
    pub(crate) exploited: Option<Vec<f64>>,
    /// Which task the target seems to be, where that can be told.
    pub(crate) identified: Option<Identified>,
}

/// A task that a target seems to be, with a region that it lies in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Identified {
    /// The best guess.
    pub(crate) w: Vec<f64>,
    /// The region's lower corner.
    pub(crate) low: Vec<f64>,
    /// The region's upper corner.
    pub(crate) high: Vec<f64>,
}

impl Identified {
    /// What a report needs of what was found.
    pub(crate) fn of(found: &taskscout::identify::IdentifiedParameters) -> Self {
        Self {
            w: found.task.clone(),
            low: found.low.clone(),
            high: found.high.clone(),
        }
    }
}

impl TrialDetails {
    /// Details of a trial that has not begun.
    pub(crate) fn new(targets: usize) -> Self {
        Self {
            targets: vec![TargetDetails::default(); targets],
            misfit: None,
        }
    }

    /// Adds what the last round handed back.
    pub(crate) fn end(&mut self, choices: &[AveragedPredictor]) {
        for (details, choice) in self.targets.iter_mut().zip(choices) {
            details.returned = choice.predictor().cloned();
            details.target_only = choice.candidate(PredictorKind::TargetOnly).cloned();
        }
    }
}
