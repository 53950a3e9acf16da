//! Published figures that a caller wants to see beside the measured ones.
//!
//! They are any JSON value and go into `summary.json` unchanged. The table and the report look for
//! figures under the names that the summary itself uses: in `targets` (a list of `{"target",
//! "strategies"}`), else in `strategies`, else at the top. A figure is a number or an object with a
//! `mean`. The strings `source` and `note` are shown under the table.
//!
//! ```
//! use serde_json::json;
//! use taskscout_report::paper_figure;
//!
//! let paper = json!({
//!     "source": "Table 2",
//!     "strategies": {"aware": {"budget_ratio": 0.5}, "passive": {"final_loss": {"mean": 0.01}}},
//! });
//! assert_eq!(paper_figure(&paper, None, "aware", "budget_ratio"), Some(0.5));
//! assert_eq!(paper_figure(&paper, None, "passive", "final_loss"), Some(0.01));
//! assert_eq!(paper_figure(&paper, None, "agnostic", "budget_ratio"), None);
//! ```

use serde_json::Value;

/// A published figure of a strategy, for instance its `budget_ratio` or `final_loss`.
#[must_use]
pub fn paper_figure(
    paper: &Value,
    target: Option<&str>,
    strategy: &str,
    figure: &str,
) -> Option<f64> {
    let of_target = target.and_then(|target| {
        let entries = paper.get("targets")?.as_array()?;
        let own = |entry: &&Value| entry.get("target").and_then(Value::as_str) == Some(target);
        entries.iter().find(own)?.get("strategies")
    });
    let places = [of_target, paper.get("strategies"), Some(paper)];
    places.into_iter().flatten().find_map(|place| {
        let value = place.get(strategy)?.get(figure)?;
        value.get("mean").unwrap_or(value).as_f64()
    })
}

/// The sentences that belong under a table: where the figures are from and what they are.
pub(crate) fn remarks(paper: &Value) -> Vec<String> {
    let text = |key: &str| paper.get(key).and_then(Value::as_str);
    let source = text("source").map(|source| format!("Published figures: {source}"));
    source
        .into_iter()
        .chain(text("note").map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn looks_in_targets_then_strategies_then_the_top() {
        let paper = json!({
            "targets": [{"target": "t1", "strategies": {"aware": {"final_loss": 1.0}}}],
            "strategies": {"aware": {"final_loss": 2.0}},
            "agnostic": {"final_loss": 3.0},
        });
        let loss = |target, strategy| paper_figure(&paper, target, strategy, "final_loss");
        assert_eq!(loss(Some("t1"), "aware"), Some(1.0));
        assert_eq!(loss(Some("t2"), "aware"), Some(2.0));
        assert_eq!(loss(None, "agnostic"), Some(3.0));
        assert_eq!(paper_figure(&Value::Null, None, "aware", "x"), None);
    }

    #[test]
    fn remarks_are_source_and_note() {
        let paper = json!({"source": "a book", "note": "Only one curve."});
        assert_eq!(
            remarks(&paper),
            ["Published figures: a book", "Only one curve."]
        );
    }
}
