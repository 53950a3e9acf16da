//! Which loss decides.

use serde::{Deserialize, Serialize};

use crate::curve::Metric;

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
}
