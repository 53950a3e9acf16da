//! The figures of an experiment: what `summary.json` holds.
//!
//! With one target the strategies stand at the top, with several under `targets`:
//!
//! ```
//! use serde_json::json;
//! use taskscout_report::{ResultRow, Summary};
//!
//! let row = |strategy: &str, seed, loss| ResultRow {
//!     experiment: "bilinear".into(), oracle: "exact".into(), strategy: strategy.into(),
//!     seed, budget: 100, test_loss: Some(loss), ..ResultRow::default()
//! };
//! let rows = [row("passive", 1, 0.5), row("passive", 2, 0.7), row("aware", 1, 0.2)];
//! let summary = serde_json::to_value(Summary::from_rows(&rows, json!({}))?).unwrap();
//! assert_eq!(summary["seeds"], 2);
//! assert_eq!(summary["strategies"]["aware"]["final_loss"], json!({"mean": 0.2, "sem": null}));
//! # Ok::<(), taskscout_report::Error>(())
//! ```

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::failure::FailedTrial;
use crate::floor::Floor;
use crate::judged::Judged;
use crate::ordered::OrderedMap;
use crate::rows::{ResultRow, split_targets};
use crate::strategy::strategies;
pub use crate::strategy::{Seconds, StrategySummary};

/// The figures of one experiment with one oracle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The experiment's name.
    pub experiment: String,
    /// The training oracle.
    pub oracle: String,
    /// How many seeds there are.
    pub seeds: usize,
    /// The loss that verdict, main figure, table and budgets go by; absent if it is that of the returned
    /// predictor.
    #[serde(default, skip_serializing_if = "is_default")]
    pub judged: Judged,
    /// Trials without results, which no figure counts; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedTrial>,
    /// What the task features cannot express, in a sentence; absent if nothing was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misfit: Option<String>,
    /// The name of the only target; absent if it has none, or if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Figures by strategy when there is one target; absent otherwise.
    #[serde(default, skip_serializing_if = "OrderedMap::is_empty")]
    pub strategies: OrderedMap<StrategySummary>,
    /// Figures by target when there are several; absent otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetSummary>,
    /// What a design that knows the truth would reach, when there is one target; absent if that is not known.
    #[serde(flatten)]
    pub floor: Option<Floor>,
    /// Published figures for the same cells, as the caller gave them (see [`crate::paper_figure`]).
    #[serde(default)]
    pub paper: Value,
    /// What an experiment adds of its own, as further entries at the top.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// The figures for one of several targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetSummary {
    /// The target's name.
    pub target: String,
    /// Figures by strategy.
    pub strategies: OrderedMap<StrategySummary>,
    /// What a design that knows the truth would reach; absent if that is not known.
    #[serde(flatten)]
    pub floor: Option<Floor>,
    /// What an experiment adds of its own about this target, as further entries beside these.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

impl Summary {
    /// Sums up the rows of one experiment with one oracle; `paper` is passed through.
    ///
    /// # Errors
    /// If there are no rows, rows of several experiments or oracles, or the same measurement twice.
    pub fn from_rows(rows: &[ResultRow], paper: Value) -> Result<Self> {
        let first = check(rows)?;
        let mut sections: Vec<(Option<&str>, OrderedMap<StrategySummary>)> = split_targets(rows)
            .into_iter()
            .map(|(target, rows)| (target, strategies(&rows)))
            .collect();
        let seeds: BTreeSet<u64> = rows.iter().map(|row| row.seed).collect();
        let mut summary = Self {
            experiment: first.experiment.clone(),
            oracle: first.oracle.clone(),
            seeds: seeds.len(),
            judged: Judged::default(),
            failed: Vec::new(),
            misfit: None,
            target: None,
            strategies: OrderedMap::default(),
            targets: Vec::new(),
            floor: None,
            paper,
            extra: BTreeMap::new(),
        };
        if sections.len() == 1 {
            let (target, strategies) = sections.remove(0);
            summary.target = target.map(str::to_owned);
            summary.strategies = strategies;
        } else {
            let named = sections
                .into_iter()
                .map(|(target, strategies)| TargetSummary {
                    target: target.unwrap_or_default().to_owned(),
                    strategies,
                    floor: None,
                    extra: BTreeMap::new(),
                });
            summary.targets = named.collect();
        }
        Ok(summary)
    }

    /// Adds an entry of the experiment's own at the top, for instance `relevant`.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: Value) -> Self {
        self.extra.insert(name.into(), value);
        self
    }

    /// Adds an entry about one of several targets, for instance `identified`; with one target it
    /// stands at the top, as those of [`Summary::with`] do.
    ///
    /// # Errors
    /// If there are several targets and none of this name.
    ///
    /// ```
    /// use serde_json::json;
    /// use taskscout_report::{ResultRow, Summary};
    ///
    /// let row = |target: &str| ResultRow { target: Some(target.into()), ..ResultRow::default() };
    /// let summary = Summary::from_rows(&[row("calm"), row("windy")], json!({}))?
    ///     .with_target("windy", "identified", json!([{"seed": 1, "w": [0.1, 0.9]}]))?;
    /// assert!(summary.targets[1].extra.contains_key("identified"));
    /// # Ok::<(), taskscout_report::Error>(())
    /// ```
    pub fn with_target(
        mut self,
        target: &str,
        name: impl Into<String>,
        value: Value,
    ) -> Result<Self> {
        if self.targets.is_empty() {
            return Ok(self.with(name, value));
        }
        match self.targets.iter_mut().find(|own| own.target == target) {
            Some(own) => own.extra.insert(name.into(), value),
            None => {
                return Err(Error::UnknownTarget {
                    target: target.to_owned(),
                    known: self.target_names().join("`, `"),
                });
            }
        };
        Ok(self)
    }

    fn target_names(&self) -> Vec<&str> {
        let targets = self.targets.iter();
        targets.map(|own| own.target.as_str()).collect()
    }

    /// What decides among some of the strategies: the shared loss where nothing was handed back.
    pub(crate) fn judged_among(&self, strategies: &OrderedMap<StrategySummary>) -> Judged {
        let mut all = strategies.iter();
        match all.any(|(_, figures)| figures.returned_loss.is_some()) {
            true => self.judged,
            false => Judged::Shared,
        }
    }

    /// The strategies of each target; one section without a name if there is one target.
    #[must_use]
    pub fn sections(&self) -> Vec<(Option<&str>, &OrderedMap<StrategySummary>)> {
        if self.targets.is_empty() {
            return vec![(None, &self.strategies)];
        }
        self.targets
            .iter()
            .map(|entry| (Some(entry.target.as_str()), &entry.strategies))
            .collect()
    }
}

fn is_default(judged: &Judged) -> bool {
    *judged == Judged::default()
}

fn check(rows: &[ResultRow]) -> Result<&ResultRow> {
    let first = rows.first().ok_or(Error::NoRows)?;
    let mut seen = HashSet::new();
    for row in rows {
        check_same("experiment", &first.experiment, &row.experiment)?;
        check_same("oracle", &first.oracle, &row.oracle)?;
        if !seen.insert((&row.strategy, &row.target, row.seed, row.round)) {
            return Err(Error::Duplicate {
                strategy: row.strategy.clone(),
                target: row.target.clone(),
                seed: row.seed,
                round: row.round,
            });
        }
    }
    Ok(first)
}

fn check_same(what: &'static str, first: &str, other: &str) -> Result<()> {
    if first == other {
        return Ok(());
    }
    Err(Error::Mixed {
        what,
        first: first.to_owned(),
        other: other.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{close, curve, row};
    use serde_json::json;

    fn rows() -> Vec<ResultRow> {
        let mut rows = curve("passive", 2, &[(100, 8.0), (200, 4.0)]);
        rows.extend(curve("aware", 2, &[(100, 6.0), (200, 2.0)]));
        rows
    }

    #[test]
    fn the_only_target_is_named_at_the_top() {
        let named = |name: &str, seed| ResultRow {
            target: Some(name.to_owned()),
            ..row("passive", seed, 0, 100, 1.0)
        };
        let of = |rows: &[ResultRow]| {
            let summary = Summary::from_rows(rows, Value::Null).unwrap();
            serde_json::to_value(summary).unwrap()
        };
        let one = of(&[named("calm", 1), named("calm", 2)]);
        assert_eq!(one["target"], "calm");
        assert!(one["strategies"].is_object());
        assert!(
            of(&[named("calm", 1), named("windy", 1)])
                .get("target")
                .is_none()
        );
        assert!(
            of(&[row("passive", 1, 0, 100, 1.0)])
                .get("target")
                .is_none()
        );
    }

    fn keys(value: &Value) -> Vec<&str> {
        value
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect()
    }

    #[test]
    fn json_has_the_documented_shape() {
        let summary = Summary::from_rows(&rows(), json!({"aware": {"budget_ratio": 0.4}})).unwrap();
        let text = serde_json::to_string(&summary).unwrap();
        assert!(text.starts_with(
            r#"{"experiment":"e","oracle":"exact","seeds":2,"strategies":{"passive":{"final_loss":{"mean":"#
        ));
        assert!(text.ends_with(r#""paper":{"aware":{"budget_ratio":0.4}}}"#));
        assert!(text.find("\"passive\"") < text.find("\"aware\""));
        let value: Value = serde_json::from_str(&text).unwrap();
        let aware = &value["strategies"]["aware"];
        assert_eq!(
            keys(aware),
            [
                "budget_ratio",
                "final_loss",
                "long_term_tasks",
                "relevance",
                "returned_budget_ratio",
                "returned_loss",
                "seconds",
                "subspace_similarity",
                "tasks"
            ]
        );
        assert_eq!(keys(&aware["budget_ratio"]), ["high", "low", "mean"]);
        assert_eq!(keys(&aware["final_loss"]), ["mean", "sem"]);
        assert!(aware["returned_loss"].is_null() && aware["relevance"].is_null());
        assert_eq!(
            aware["seconds"],
            json!({"collect": 2.0, "train": 4.0, "design": 1.0, "total": 7.0})
        );
        assert!(value.get("targets").is_none() && value.get("failed").is_none());
    }

    #[test]
    fn figures_by_hand() {
        let summary = Summary::from_rows(&rows(), Value::Null).unwrap();
        let aware = summary.strategies.get("aware").unwrap();
        close(aware.final_loss.unwrap().mean, 2.02);
        close(aware.final_loss.unwrap().sem.unwrap(), 0.02);
        // Mean curve 6.06 → 2.02, passive ends at 4.04: half-way, 150 of 200.
        close(aware.budget_ratio.unwrap().mean.unwrap(), 0.75);
        close(aware.tasks, 10.0);
    }

    #[test]
    fn several_targets_stand_in_a_list() {
        let on = |target: &str| {
            let with = |row| ResultRow {
                target: Some(target.to_owned()),
                ..row
            };
            rows().into_iter().map(with).collect::<Vec<_>>()
        };
        let both = [on("t2"), on("t1")].concat();
        let value = serde_json::to_value(Summary::from_rows(&both, Value::Null).unwrap()).unwrap();
        assert!(value.get("strategies").is_none());
        assert_eq!(value["targets"][0]["target"], "t2");
        assert!(value["targets"][1]["strategies"]["aware"]["final_loss"]["mean"].is_number());
        let one = Summary::from_rows(&on("t1"), Value::Null).unwrap();
        assert!(one.targets.is_empty() && one.strategies.len() == 2);

        let more = Summary::from_rows(&both, Value::Null).unwrap();
        let more = more.with_target("t1", "w", json!([1.0])).unwrap();
        let text = serde_json::to_string(&more).unwrap();
        assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), more);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["targets"][1]["w"], json!([1.0]));
        assert!(value["targets"][0].get("w").is_none());
        let error = more.with_target("t3", "w", json!(1)).unwrap_err();
        assert!(error.to_string().contains("no target `t3`"), "{error}");
        let top = one.with_target("t1", "w", json!(1)).unwrap();
        assert_eq!(top.extra["w"], 1);
    }

    #[test]
    fn target_only_and_a_missing_reference() {
        let mut rows = curve("aware", 2, &[(100, 6.0), (200, 2.0)]);
        rows.push(ResultRow {
            returned_loss: Some(0.5),
            predictor: Some("target-only".to_owned()),
            test_loss: None,
            ..row("target-only", 0, 0, 0, 0.0)
        });
        let summary = Summary::from_rows(&rows, Value::Null).unwrap();
        let only = summary.strategies.get("target-only").unwrap();
        assert_eq!((only.final_loss, only.budget_ratio), (None, None));
        close(only.returned_loss.unwrap().mean, 0.5);
        assert_eq!(only.predictors, [("target-only".to_owned(), 1)]);
        let value = serde_json::to_value(&summary).unwrap();
        assert!(value["strategies"]["aware"]["budget_ratio"].is_null());
    }

    #[test]
    fn json_comes_back_the_same() {
        let mut summary = Summary::from_rows(&rows(), json!({"note": "x"}))
            .unwrap()
            .with("relevant", json!([{"task": "a", "similarity": 0.9}]));
        summary.failed.push(FailedTrial {
            strategy: "aware".to_owned(),
            target: None,
            seed: 2,
            error: "the rig is gone".to_owned(),
        });
        let text = serde_json::to_string_pretty(&summary).unwrap();
        assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
    }

    #[test]
    fn refuses_rows_that_cannot_be_summed_up() {
        let error = |rows: &[ResultRow]| {
            Summary::from_rows(rows, Value::Null)
                .unwrap_err()
                .to_string()
        };
        assert!(error(&[]).contains("no result rows"));
        let mixed = [
            row("a", 1, 0, 1, 1.0),
            ResultRow {
                oracle: "mllam".to_owned(),
                ..row("a", 1, 1, 1, 1.0)
            },
        ];
        assert!(error(&mixed).contains("mix oracle `exact` and `mllam`"));
        let twice = [row("a", 1, 0, 1, 1.0), row("a", 1, 0, 2, 2.0)];
        assert!(error(&twice).contains("strategy `a`, seed 1, round 0 is there twice: remove"));
    }
}
