//! Which loss decides.

use serde::{Deserialize, Serialize};

use crate::curve::{MeanSem, Metric};
use crate::ordered::OrderedMap;
use crate::ratio::{BudgetRatio, Rise};
use crate::strategy::StrategySummary;

/// The loss that verdict, main figure, table and budgets go by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judged {
    /// That of the predictor that is handed to the user.
    #[default]
    Returned,
    /// That of the shared predictor alone, which the paper measures.
    Shared,
}

impl Judged {
    /// What decides among these strategies: the shared loss where nothing was handed back.
    pub(crate) fn among(self, strategies: &OrderedMap<StrategySummary>) -> Self {
        let mut all = strategies.iter();
        match all.any(|(_, figures)| figures.returned_loss.is_some()) {
            true => self,
            false => Self::Shared,
        }
    }

    /// The loss as rows have it.
    #[must_use]
    pub fn metric(self) -> Metric {
        match self {
            Self::Returned => Metric::ReturnedLoss,
            Self::Shared => Metric::TestLoss,
        }
    }

    /// What tables call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Returned => "returned loss",
            Self::Shared => "shared loss",
        }
    }

    /// The final loss.
    pub(crate) fn loss(self, figures: &StrategySummary) -> Option<MeanSem> {
        match self {
            Self::Returned => figures.returned_loss,
            Self::Shared => figures.final_loss,
        }
    }

    /// The budget to passive's final loss.
    pub(crate) fn ratio(self, figures: &StrategySummary) -> Option<BudgetRatio> {
        match self {
            Self::Returned => figures.returned_budget_ratio,
            Self::Shared => figures.budget_ratio,
        }
    }

    /// Where the loss was above passive's again.
    pub(crate) fn rise(self, figures: &StrategySummary) -> Option<Rise> {
        match self {
            Self::Returned => figures.returned_rises_again,
            Self::Shared => figures.rises_again,
        }
    }
}
