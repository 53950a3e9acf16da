//! The floor: what a design that knows the true task map from the first sample would reach, in worlds with a known truth.
//!
//! ```
//! use serde_json::json;
//! use taskscout_report::{Floor, Judged, ResultRow, Summary, Theme, loss_plot, with_floor};
//!
//! let row = |strategy: &str, loss| ResultRow {
//!     strategy: strategy.into(), budget: 100, returned_loss: Some(loss), ..ResultRow::default()
//! };
//! let rows = [row("passive", 0.5), row("aware", 0.2)];
//! let mut summary = Summary::from_rows(&rows, json!({}))?;
//! let floor = Floor { floor_loss: 0.1, floor_budget_ratio: Some(0.01) };
//! summary.set_floor(None, floor);
//! assert_eq!(summary.strategies.get("aware").and_then(|own| own.regret), Some(2.0));
//! let plot = with_floor(loss_plot(&rows, Judged::Returned), Some(&floor));
//! assert!(plot.to_svg(Theme::Standalone, "p").contains("floor: design that knows B"));
//! # Ok::<(), taskscout_report::Error>(())
//! ```

use serde::{Deserialize, Serialize};
use taskscout_plot::{FLOOR, LinePlot, Series, SeriesPoint};

use crate::contender::competes;
use crate::format::{percent, short};
use crate::ordered::OrderedMap;
use crate::strategy::StrategySummary;

/// What a design that knows the true task map `B` from the first sample would reach.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// The loss that it would end at, with the same budget and the same target samples.
    pub floor_loss: f64,
    /// The part of passive's budget at which it would reach passive's final loss; `None` if it would not, or if
    /// passive was not run.
    pub floor_budget_ratio: Option<f64>,
}

/// A plot of losses with the floor as a dashed line across it.
#[must_use]
pub fn with_floor(mut plot: LinePlot, floor: Option<&Floor>) -> LinePlot {
    let points = plot.series.iter().flat_map(|series| &series.points);
    let left = points.map(|point| point.x).fold(f64::INFINITY, f64::min);
    let Some(floor) = floor.filter(|_| left.is_finite()) else {
        return plot;
    };
    let words = format!("{FLOOR}: {}", short(floor.floor_loss));
    plot.description.push_str(&format!(" {words}."));
    plot.series.push(Series {
        name: FLOOR.to_owned(),
        points: vec![SeriesPoint {
            x: left,
            y: floor.floor_loss,
            spread: None,
            range: None,
            note: words,
        }],
        across: true,
    });
    plot
}

/// The floor and what strategies are above it, in sentences.
pub(crate) fn words(floor: Floor, strategies: &OrderedMap<StrategySummary>) -> String {
    let mut words = format!(
        "Floor: a design that knows B from the first sample would end at a loss of {}",
        short(floor.floor_loss)
    );
    if let Some(ratio) = floor.floor_budget_ratio {
        words += &format!(
            ", and would reach passive's loss with {} of its budget",
            percent(ratio, 1)
        );
    }
    let regret = |(name, figures): (&str, &StrategySummary)| {
        let regret = figures.regret.filter(|_| competes(name))?;
        Some(format!("{name} {}", short(regret)))
    };
    let regrets: Vec<String> = strategies.iter().filter_map(regret).collect();
    if regrets.is_empty() {
        return words + ".";
    }
    format!(
        "{words}. Regret to the floor, loss at the end over it: {}.",
        regrets.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judged::Judged;
    use crate::plots::loss_plot;
    use crate::rows::ResultRow;
    use crate::summary::Summary;
    use crate::testing::{assert_balanced, close, curve};
    use serde_json::{Value, json};
    use taskscout_plot::Theme;

    const AT: Floor = Floor {
        floor_loss: 0.5,
        floor_budget_ratio: Some(0.013),
    };

    fn rows(target: Option<&str>) -> Vec<ResultRow> {
        let mut rows = curve("passive", 2, &[(100, 8.0), (200, 4.0)]);
        rows.extend(curve("aware", 2, &[(100, 6.0), (200, 1.0)]));
        for row in &mut rows {
            row.target = target.map(str::to_owned);
        }
        rows
    }

    #[test]
    fn a_floor_stands_beside_its_strategies_and_comes_back() {
        let mut one = Summary::from_rows(&rows(None), json!({})).unwrap();
        close(one.reference_loss(None).unwrap(), 4.04);
        one.set_floor(None, AT);
        let value: Value = serde_json::to_value(&one).unwrap();
        assert_eq!(value["floor_loss"], 0.5);
        assert_eq!(value["floor_budget_ratio"], 0.013);
        close(
            value["strategies"]["aware"]["regret"].as_f64().unwrap(),
            2.02,
        );
        let text = serde_json::to_string(&one).unwrap();
        assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), one);

        let both = [rows(Some("a")), rows(Some("b"))].concat();
        let mut both = Summary::from_rows(&both, json!({})).unwrap();
        both.set_floor(Some("b"), AT);
        assert_eq!(
            (both.floor_of(Some("a")), both.floor_of(None)),
            (None, None)
        );
        assert_eq!(both.floor_of(Some("b")), Some(AT));
        let text = serde_json::to_string(&both).unwrap();
        assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), both);
        assert_eq!(text.matches("floor_loss").count(), 1);
        assert_eq!(text.matches("regret").count(), 2);
    }

    #[test]
    fn table_and_page_say_it_in_words_and_the_figure_has_a_line() {
        let mut report = crate::ExperimentReport::new(rows(None), json!({}), json!({})).unwrap();
        let before = crate::terminal_table(&report.summary);
        assert!(!before.to_lowercase().contains("floor"), "{before}");
        report.summary.set_floor(None, AT);
        let table = crate::terminal_table(&report.summary);
        for text in [
            "would end at a loss of 0.500",
            "1.3 % of its budget",
            "passive 8.08, aware 2.02.",
        ] {
            assert!(table.contains(text), "`{text}` in {table}");
        }
        let page = crate::html_report(&[report]);
        assert!(page.contains("Regret to the floor") && page.contains("Floor: where"));
        assert_balanced(&page);
    }

    #[test]
    fn the_line_crosses_the_plot_without_stretching_it() {
        let plain = loss_plot(&rows(None), Judged::Shared);
        let with = with_floor(plain.clone(), Some(&AT));
        let line = with.series.last().unwrap();
        assert!(line.across && line.name == FLOOR);
        close(line.points[0].x, 100.0);
        assert!(with.to_svg(Theme::Page, "p").contains(">floor</text>"));
        assert_eq!(with_floor(plain.clone(), None), plain);
        let empty = loss_plot(&[], Judged::Shared);
        assert_eq!(with_floor(empty.clone(), Some(&AT)), empty);
    }
}
