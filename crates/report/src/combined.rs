//! Several experiments together: what the `summary.json` beside a combined report holds.
//!
//! ```
//! use serde_json::json;
//! use taskscout_report::{CombinedSummary, ExperimentReport, FailedExperiment, ResultRow};
//!
//! let row = ResultRow {
//!     experiment: "bilinear".into(), oracle: "exact".into(), strategy: "passive".into(),
//!     budget: 100, test_loss: Some(0.5), ..ResultRow::default()
//! };
//! let report = ExperimentReport::new(vec![row], json!({}), json!({}))?;
//! let failed = FailedExperiment { experiment: "fourier".into(), error: "the disk is full".into() };
//! let summary = CombinedSummary::new(std::slice::from_ref(&report), &[failed]);
//! let json = serde_json::to_value(&summary).unwrap();
//! assert_eq!(json["experiments"]["bilinear"]["seeds"], 1);
//! assert_eq!(json["failed"][0]["experiment"], "fourier");
//! # Ok::<(), taskscout_report::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::failure::FailedExperiment;
use crate::html::ExperimentReport;
use crate::ordered::OrderedMap;
use crate::summary::Summary;

/// The figures of several experiments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CombinedSummary {
    /// Each experiment's own summary, by its title.
    pub experiments: OrderedMap<Summary>,
    /// Experiments without any result; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedExperiment>,
}

impl CombinedSummary {
    /// Puts summaries together, in the order of the reports.
    #[must_use]
    pub fn new(reports: &[ExperimentReport], failed: &[FailedExperiment]) -> Self {
        let entry = |report: &ExperimentReport| (report.title.clone(), report.summary.clone());
        Self {
            experiments: reports.iter().map(entry).collect(),
            failed: failed.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::curve;
    use serde_json::Value;

    fn report(name: &str) -> ExperimentReport {
        let mut rows = curve("passive", 2, &[(100, 8.0), (200, 4.0)]);
        for row in &mut rows {
            name.clone_into(&mut row.experiment);
        }
        ExperimentReport::new(rows, Value::Null, Value::Null).unwrap()
    }

    #[test]
    fn an_experiment_stands_there_as_it_does_alone() {
        let reports = [report("fourier"), report("bilinear")];
        let text = serde_json::to_string(&CombinedSummary::new(&reports, &[])).unwrap();
        let alone = reports
            .each_ref()
            .map(|report| serde_json::to_string(&report.summary).unwrap());
        assert_eq!(
            text,
            format!(
                r#"{{"experiments":{{"fourier":{},"bilinear":{}}}}}"#,
                alone[0], alone[1]
            )
        );
    }

    #[test]
    fn json_comes_back_the_same() {
        let failed = FailedExperiment {
            experiment: "fourier".to_owned(),
            error: "no disk".to_owned(),
        };
        let combined = CombinedSummary::new(&[report("bilinear")], &[failed]);
        let text = serde_json::to_string(&combined).unwrap();
        assert_eq!(
            serde_json::from_str::<CombinedSummary>(&text).unwrap(),
            combined
        );
    }
}
