//! The plots of a report, made from result rows.
//!
//! ```
//! use taskscout_report::{Judged, ResultRow, Theme, loss_plot};
//!
//! let row = |round: usize, loss| ResultRow {
//!     strategy: "passive".into(), round, budget: 100 * (round + 1), test_loss: Some(loss),
//!     ..ResultRow::default()
//! };
//! let svg = loss_plot(&[row(0, 0.4), row(1, 0.1)], Judged::Shared).to_svg(Theme::Standalone, "loss");
//! assert!(svg.starts_with("<svg") && svg.contains("passive"));
//! ```

use taskscout_plot::{Crossing, LinePlot, Reference, Series, SeriesPoint, YAxis};

use crate::contender::{TARGET_ONLY, competes, label};
use crate::curve::{Curve, MeanSem, Metric, mean_curves};
use crate::format::{grouped, mean_sem, percent, short};
use crate::judged::Judged;
use crate::ratio::{REFERENCE, Target};
use crate::rows::ResultRow;

/// The loss that decides against the budget, with passive's final loss as a dotted line and marks where
/// the other strategies reach it. The rows belong to one experiment and one target.
#[must_use]
pub fn loss_plot<'a>(rows: impl IntoIterator<Item = &'a ResultRow>, judged: Judged) -> LinePlot {
    let rows: Vec<&ResultRow> = rows.into_iter().collect();
    let mut curves = mean_curves(rows.iter().copied(), judged.metric());
    fill_target_only(&mut curves, &rows);
    let (title, y_title) = match judged {
        Judged::Returned => (
            "Loss of the returned predictor against budget",
            "returned loss (mean squared error)",
        ),
        Judged::Shared => (
            "Loss of the shared predictor against budget",
            "shared loss (mean squared error)",
        ),
    };
    let mut plot = plot(&curves, title, y_title, YAxis::Log);
    let reference = curves.iter().find(|curve| curve.strategy == REFERENCE);
    if let Some(target) = reference.and_then(Target::of) {
        plot.reference = Some(Reference {
            label: format!("{REFERENCE}'s final loss"),
            y: target.loss,
        });
        plot.crossings = crossings(&curves, target);
        for crossing in &plot.crossings {
            let sentence = format!(" Reaches passive's final loss: {}.", crossing.label);
            plot.description.push_str(&sentence);
        }
    }
    plot
}

/// A similarity or relevance against the budget, from 0 to 1; `None` if no row has it. Losses are drawn
/// as [`loss_plot`] does.
#[must_use]
pub fn metric_plot<'a>(
    rows: impl IntoIterator<Item = &'a ResultRow>,
    metric: Metric,
) -> Option<LinePlot> {
    let (title, y_title) = match metric {
        Metric::TestLoss => return drawn(loss_plot(rows, Judged::Shared)),
        Metric::ReturnedLoss => return drawn(loss_plot(rows, Judged::Returned)),
        Metric::SubspaceSimilarity => ("Subspace similarity against budget", "subspace similarity"),
        Metric::Relevance => ("Relevance against budget", "relevance"),
    };
    let mut plot = plot(&mean_curves(rows, metric), title, y_title, YAxis::Unit);
    (plot.width, plot.height) = (480.0, 320.0);
    (!plot.is_empty()).then_some(plot)
}

fn drawn(plot: LinePlot) -> Option<LinePlot> {
    (!plot.is_empty()).then_some(plot)
}

fn plot(curves: &[Curve], title: &str, y_title: &str, y_axis: YAxis) -> LinePlot {
    LinePlot {
        title: title.to_owned(),
        description: describe(curves),
        x_title: "source samples collected".to_owned(),
        y_title: y_title.to_owned(),
        y_axis,
        series: curves.iter().map(series).collect(),
        reference: None,
        crossings: Vec::new(),
        width: 760.0,
        height: 440.0,
    }
}

/// The target-only predictor has no shared part: what it hands back stands in for it.
fn fill_target_only(curves: &mut [Curve], rows: &[&ResultRow]) {
    let own = |curve: &&mut Curve| curve.strategy == TARGET_ONLY && !curve.is_defined();
    let returned = mean_curves(rows.iter().copied(), Metric::ReturnedLoss);
    let returned = returned.into_iter().find(|c| c.strategy == TARGET_ONLY);
    if let Some((curve, returned)) = curves.iter_mut().find(own).zip(returned) {
        *curve = returned;
    }
}

fn series(curve: &Curve) -> Series {
    let points = curve.points.iter().filter_map(|point| {
        let value = point.value?;
        Some(SeriesPoint {
            x: point.budget,
            y: value.mean,
            spread: value.sem,
            range: None,
            note: note(curve, point.round, point.budget, value, point.n),
        })
    });
    Series {
        name: label(&curve.strategy),
        points: points.collect(),
        across: curve.strategy == TARGET_ONLY,
    }
}

fn note(curve: &Curve, round: usize, budget: f64, value: MeanSem, n: usize) -> String {
    format!(
        "{}, round {round}: {} at {} samples ({})",
        curve.strategy,
        mean_sem(value),
        grouped(budget),
        crate::table::seeds(n)
    )
}

fn crossings(curves: &[Curve], target: Target) -> Vec<Crossing> {
    let others = curves
        .iter()
        .enumerate()
        .filter(|(_, curve)| curve.strategy != REFERENCE && competes(&curve.strategy));
    let reached = others.filter_map(|(series, curve)| {
        let reach = curve.reach(target.loss)?;
        let bound = if reach.at_first_round { "≤ " } else { "" };
        let first = curve.points.iter().find_map(|point| point.value);
        let y = first.filter(|_| reach.at_first_round);
        Some(Crossing {
            series,
            x: reach.budget,
            y: y.map_or(target.loss, |value| value.mean),
            label: format!(
                "{} {bound}{}",
                curve.strategy,
                percent(reach.budget / target.budget, 0)
            ),
        })
    });
    reached.collect()
}

fn describe(curves: &[Curve]) -> String {
    let mut sentences = Vec::new();
    for curve in curves {
        let mut defined = curve.points.iter().filter_map(|point| {
            let value = point.value?;
            Some(format!(
                "{} at {} samples",
                short(value.mean),
                grouped(point.budget)
            ))
        });
        let first = defined.next();
        sentences.push(match (first, defined.next_back()) {
            (None, _) => format!("{}: no values.", curve.strategy),
            (Some(only), None) => format!("{}: {only}.", curve.strategy),
            (Some(first), Some(last)) => format!("{}: {first}, {last}.", curve.strategy),
        });
    }
    sentences.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use taskscout_plot::Theme;

    use crate::testing::{assert_balanced, close, curve, row};

    fn rows() -> Vec<ResultRow> {
        let mut rows = curve("passive", 3, &[(100, 8.0), (200, 4.0), (400, 2.0)]);
        rows.extend(curve("aware", 3, &[(100, 4.0), (200, 1.0), (400, 0.5)]));
        rows.extend(curve("agnostic", 3, &[(100, 9.0), (200, 7.0), (400, 3.0)]));
        rows
    }

    #[test]
    fn marks_where_strategies_reach_the_reference() {
        let plot = loss_plot(&rows(), Judged::Shared);
        assert_eq!(plot.crossings.len(), 1);
        // 4.08 → 1.02 around 2.04: two thirds between 100 and 200, of 400.
        close(plot.crossings[0].x, 100.0 + 200.0 / 3.0);
        assert_eq!(plot.crossings[0].label, "aware 42 %");
        let svg = plot.to_svg(Theme::Page, "p");
        for text in [
            "aware 42 %",
            "passive&#39;s final loss",
            "agnostic",
            "role=\"img\"",
            "<desc",
        ] {
            assert!(svg.contains(text), "{text}");
        }
        assert_balanced(&svg);
    }

    #[test]
    fn standalone_has_no_variables_and_a_white_ground() {
        let svg = loss_plot(&rows(), Judged::Shared).to_svg(Theme::Standalone, "p");
        assert!(!svg.contains("var(") && svg.contains("fill=\"#ffffff\""));
        assert!(
            svg.contains("width=\"760\"")
                && svg.contains(">Loss of the shared predictor against budget</text>")
        );
        assert_balanced(&svg);
    }

    #[test]
    fn first_round_reach_is_a_bound() {
        let mut rows = rows();
        rows.extend(curve("discrete-l1", 3, &[(100, 1.0), (200, 0.9)]));
        let plot = loss_plot(&rows, Judged::Shared);
        assert_eq!(plot.crossings[1].label, "discrete-l1 ≤ 25 %");
        close(plot.crossings[1].y, 1.02);
    }

    #[test]
    fn degenerate_data_still_draws() {
        let cases: Vec<Vec<ResultRow>> = vec![
            vec![],
            vec![row("passive", 1, 0, 0, 1.0)],
            vec![row("passive", 1, 0, 100, f64::NAN)],
            curve("passive", 1, &[(100, 8.0), (200, 4.0)]),
            curve("passive", 2, &[(100, 0.0), (200, -4.0)]),
            curve("passive", 2, &[(100, 1e-300), (200, 1e300)]),
            curve("a<b&\"c\"", 2, &[(100, 3.0)]),
        ];
        for rows in cases {
            let svg = loss_plot(&rows, Judged::Shared).to_svg(Theme::Page, "x\"y");
            assert_balanced(&svg);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
        assert!(
            loss_plot(&[], Judged::Shared)
                .to_svg(Theme::Page, "p")
                .contains("no values")
        );
    }

    #[test]
    fn one_seed_has_no_band() {
        let one = loss_plot(
            &curve("passive", 1, &[(100, 8.0), (200, 4.0)]),
            Judged::Shared,
        );
        assert!(!one.to_svg(Theme::Page, "p").contains("fill-opacity"));
        let two = loss_plot(
            &curve("passive", 2, &[(100, 8.0), (200, 4.0)]),
            Judged::Shared,
        );
        assert!(two.to_svg(Theme::Page, "p").contains("fill-opacity"));
    }

    #[test]
    fn target_only_runs_across_with_what_it_returns() {
        let mut rows = rows();
        rows.push(ResultRow {
            test_loss: None,
            returned_loss: Some(5.0),
            ..row(TARGET_ONLY, 0, 0, 0, 0.0)
        });
        let plot = loss_plot(&rows, Judged::Shared);
        let only = plot.series.last().unwrap();
        assert!(only.across);
        close(only.points[0].y, 5.0);
        assert_eq!(plot.crossings.len(), 1);
    }

    #[test]
    fn target_data_is_drawn_and_named_for_what_it_is() {
        let mut rows = rows();
        rows.extend(curve("target-data", 3, &[(100, 1.0), (400, 0.1)]));
        let plot = loss_plot(&rows, Judged::Shared);
        assert_eq!(plot.series[3].name, "target-data (out of reach)");
        assert_eq!(plot.crossings.len(), 1);
        assert!(plot.to_svg(Theme::Standalone, "p").contains("#6a3d9a"));
    }

    #[test]
    fn metrics_have_a_plot_where_they_are_defined() {
        assert!(metric_plot(&rows(), Metric::Relevance).is_none());
        let with: Vec<ResultRow> = rows()
            .into_iter()
            .map(|row| ResultRow {
                relevance: Some(0.5),
                ..row
            })
            .collect();
        let plot = metric_plot(&with, Metric::Relevance).unwrap();
        assert_eq!(plot.y_axis, YAxis::Unit);
        assert_balanced(&plot.to_svg(Theme::Page, "p"));
    }
}
