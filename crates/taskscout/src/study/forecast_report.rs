//! What a forecast says.

use serde::{Deserialize, Serialize};

use super::Study;
use crate::error::{Error, Result};
use crate::forecast::Interval;

/// What a forecast is asked for.
///
/// ```
/// use taskscout::study::ForecastRequest;
/// let request = ForecastRequest::further(&[1000, 4000]);
/// assert_eq!((request.draws, request.least_gain), (200, 0.05));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForecastRequest {
    /// Budgets beyond what has been spent and what is under way, in the unit of the study's
    /// [`Collection`](super::Collection). The first is the next batch.
    pub further: Vec<usize>,
    /// Draws from the posterior behind the intervals.
    pub draws: usize,
    /// The gain, as a part of the loss now, below which another batch is not advised.
    pub least_gain: f64,
    /// Whether rows of the targets can be had, and what they cost.
    #[serde(default)]
    pub target_rows: TargetRows,
}

/// Whether rows of the targets can be had, and what they cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetRows {
    /// At the cost of a sample of the source tasks.
    #[default]
    LikeSources,
    /// At a cost of their own, in the unit of the budget.
    Each(f64),
    /// Not at all.
    NotAvailable,
}

impl ForecastRequest {
    /// For some budgets beyond what has been spent, with defaults for all else.
    #[must_use]
    pub fn further(budgets: &[usize]) -> Self {
        Self {
            further: budgets.to_vec(),
            draws: 200,
            least_gain: 0.05,
            target_rows: TargetRows::default(),
        }
    }

    /// For some budgets of the whole study, what has been spent and what is under way included.
    ///
    /// # Errors
    /// A budget that has been spent already, or will be by what is under way.
    pub fn up_to(study: &Study, totals: &[usize]) -> Result<Self> {
        let spent = study.spent() + study.under_way_cost().map_or(0.0, |open| open.cost);
        let beyond = |&total: &usize| {
            if total as f64 <= spent {
                return Err(Error::value(
                    "budget",
                    total,
                    format!(
                        "is not above the {spent} that the study has spent or asked for: look further ahead"
                    ),
                ));
            }
            Ok((total as f64 - spent).floor().max(1.0) as usize)
        };
        let further: Vec<usize> = totals.iter().map(beyond).collect::<Result<_>>()?;
        Ok(Self::further(&further))
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.further.is_empty() {
            return Err(Error::setting(
                "further",
                "is empty: give at least one budget to look ahead to",
            ));
        }
        if self.further.contains(&0) {
            return Err(Error::setting(
                "further",
                "has a budget of 0: give budgets of at least 1 beyond what has been spent",
            ));
        }
        if !(0.0..1.0).contains(&self.least_gain) {
            return Err(Error::setting(
                "least_gain",
                format!("is {}: it must be from 0 to below 1", self.least_gain),
            ));
        }
        if let TargetRows::Each(cost) = self.target_rows
            && !(cost.is_finite() && cost > 0.0)
        {
            return Err(Error::setting(
                "target_rows",
                format!("cost {cost} each: give a number above 0"),
            ));
        }
        Ok(())
    }
}

/// What a further budget can be spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SpendOn {
    /// The source tasks that the study's own strategy would plan now.
    Design,
    /// Source tasks spread over the whole space.
    Passive,
    /// Rows of the targets, by their weights.
    TargetRows,
}

impl std::fmt::Display for SpendOn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Design => "as the study would plan it",
            Self::Passive => "spread over all tasks",
            Self::TargetRows => "on rows of the targets",
        })
    }
}

/// The loss that a further budget leads to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ForecastPoint {
    /// The budget beyond what has been spent and what is under way.
    pub budget: usize,
    /// Samples that it buys.
    pub samples: usize,
    /// The loss then.
    pub loss: Interval,
}

/// What was asked for and has not come yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct UnderWay {
    /// What it will cost: samples that are missing, and switches to tasks of items that gave none yet.
    pub cost: f64,
    /// Samples that are missing.
    pub samples: usize,
}

/// What is expected of one target: mean squared errors on noise-free labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetForecast {
    /// The target.
    pub name: String,
    /// The loss of what is there now.
    pub now: Interval,
    /// The loss once what is under way has come; none where nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_way: Option<Interval>,
    /// With the budgets spent as the study would plan them.
    pub by_design: Vec<ForecastPoint>,
    /// With the budgets spread over all source tasks.
    pub passive: Vec<ForecastPoint>,
    /// With the budgets spent on rows of targets, where they buy some; empty where no target can have rows.
    pub target_rows: Vec<ForecastPoint>,
}

/// What the next batch is expected to bring, over all targets by their weights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NextBatch {
    /// Its budget: the first of the request.
    pub budget: usize,
    /// How to spend it best.
    pub spend_on: SpendOn,
    /// The loss before it: that of now, or once what is under way has come.
    pub now: f64,
    /// The loss after it.
    pub then: f64,
    /// The loss after it where it is spent as the study would plan it.
    pub by_design: f64,
    /// The fall of the loss for each unit of the budget, switches included.
    pub value: f64,
}

impl NextBatch {
    /// The fall of the loss as a part of it.
    #[must_use]
    pub fn gain(&self) -> f64 {
        1.0 - self.then / self.now
    }
}

/// Whether to go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// Whether the next batch gains less than was asked for.
    pub stop: bool,
    /// The fall of the loss that the next batch is expected to bring, as a part of it.
    pub gain: f64,
    /// The gain that was asked for at least.
    pub least_gain: f64,
    /// The same in one sentence.
    pub sentence: String,
}

impl Advice {
    pub(super) fn of(next: &NextBatch, least_gain: f64) -> Self {
        let gain = next.gain();
        let stop = gain < least_gain;
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let verdict = if stop {
            format!(
                "stop, unless a gain below {} is worth it",
                percent(least_gain)
            )
        } else {
            format!(
                "go on, until a batch gains less than {}",
                percent(least_gain)
            )
        };
        let sentence = format!(
            "another {} spent {} is expected to lower the loss from {:.2e} to {:.2e} ({}): {verdict}",
            next.budget,
            next.spend_on,
            next.now,
            next.then,
            percent(gain)
        );
        Self {
            stop,
            gain,
            least_gain,
            sentence,
        }
    }
}

/// Expected losses against further budget; see [`Study::forecast`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// One for each target.
    pub targets: Vec<TargetForecast>,
    /// What was asked for and has not come yet; every further budget comes on top of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_way: Option<UnderWay>,
    /// What the next batch is worth.
    pub next_batch: NextBatch,
    /// Whether to go on.
    pub advice: Advice,
}
