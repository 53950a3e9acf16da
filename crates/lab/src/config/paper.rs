//! `[paper]`: published figures to stand beside ours.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Published figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Paper {
    /// Where they stand.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// A remark.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// By strategy.
    strategies: BTreeMap<String, Figures>,
    /// By target, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    targets: Vec<PaperTarget>,
}

/// Published figures for a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PaperTarget {
    /// Its name.
    target: String,
    /// By strategy.
    strategies: BTreeMap<String, Figures>,
}

/// Published figures of a strategy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Figures {
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    final_loss: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    returned_loss: Option<f64>,
}
