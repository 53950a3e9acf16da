//! One self-contained HTML file: the result in words, plots, tables and settings.
//!
//! The page loads nothing, runs no script, follows the reader's light or dark mode and prints.
//! Points of a plot tell their values when hovered over. All text is escaped.

mod extras;
mod opening;
mod overview;
mod own;
mod parts;
mod prose;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::additions::{ReportFigure, ReportTable};
use crate::columns::Section;
use crate::contender::{TARGET_ONLY, is_target_data};
use crate::curve::Metric;
use crate::error::Result;
use crate::failure::FailedExperiment;
use crate::floor::with_floor;
use crate::format::escape;
use crate::judged::Judged;
use crate::paper;
use crate::plots::{loss_plot, metric_plot};
use crate::rows::ResultRow;
use crate::summary::Summary;
pub use own::html_opening;
use parts::{Level, figure, heading, table};
use taskscout_plot::Theme;

pub use opening::{csv_link, tile};

const STYLE: &str = include_str!("page.css");

/// Everything that a report says about one experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentReport {
    /// The heading.
    pub title: String,
    /// The figures.
    pub summary: Summary,
    /// The rows that the figures come from.
    pub rows: Vec<ResultRow>,
    /// The configuration, shown as it is; null leaves it out.
    pub settings: Value,
    /// What a reader must know before trusting the figures, in sentences.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Figures of the experiment's own, shown with their target.
    #[serde(default)]
    pub figures: Vec<ReportFigure>,
    /// Tables of the experiment's own, shown with their target.
    #[serde(default)]
    pub tables: Vec<ReportTable>,
}

impl ExperimentReport {
    /// A report on the rows of one experiment, named after it.
    ///
    /// # Errors
    /// As [`Summary::from_rows`].
    pub fn new(rows: Vec<ResultRow>, paper: Value, settings: Value) -> Result<Self> {
        let summary = Summary::from_rows(&rows, paper)?;
        Ok(Self {
            title: summary.experiment.clone(),
            summary,
            rows,
            settings,
            notes: Vec::new(),
            figures: Vec::new(),
            tables: Vec::new(),
        })
    }

    /// The rows of a section of the summary.
    fn rows_of(&self, target: Option<&str>) -> Vec<&ResultRow> {
        let own = |row: &&ResultRow| {
            target.is_none_or(|name| row.target.as_deref().unwrap_or_default() == name)
        };
        self.rows.iter().filter(own).collect()
    }
}

/// The report on one or several experiments as an HTML page.
///
/// ```
/// use serde_json::json;
/// use taskscout_report::{ExperimentReport, ResultRow, html_report};
///
/// let row = |strategy: &str, loss| ResultRow {
///     experiment: "bilinear".into(), oracle: "exact".into(), strategy: strategy.into(),
///     budget: 100, test_loss: Some(loss), ..ResultRow::default()
/// };
/// let rows = vec![row("passive", 0.5), row("aware", 0.2)];
/// let report = ExperimentReport::new(rows, json!({}), json!({"seed": 1}))?;
/// let page = html_report(&[report]);
/// assert!(page.starts_with("<!doctype html>"));
/// # Ok::<(), taskscout_report::Error>(())
/// ```
#[must_use]
pub fn html_report(reports: &[ExperimentReport]) -> String {
    combined_report(reports, &[])
}

/// The same, naming at its top the experiments that have no result to report on.
#[must_use]
pub fn combined_report(reports: &[ExperimentReport], failed: &[FailedExperiment]) -> String {
    combined_report_about(reports, failed, &[])
}

/// The same with a table of contents: what each experiment, by its title, shows in words.
#[must_use]
pub fn combined_report_about(
    reports: &[ExperimentReport],
    failed: &[FailedExperiment],
    shows: &[(String, String)],
) -> String {
    let (title, body) = match (reports, failed) {
        ([one], []) => (one.title.clone(), experiment(one, 0, Level(1))),
        (several, failed) => {
            let title = format!("{} experiments", several.len() + failed.len());
            let mut body = overview::head(&title, several, failed, shows);
            for (index, report) in several.iter().enumerate() {
                body += &experiment(report, index, Level(2));
            }
            (title, body)
        }
    };
    let mut rows = reports.iter().flat_map(|report| &report.rows);
    let with_target_data = rows.any(|row| is_target_data(&row.strategy));
    let body = format!("{body}{}", parts::guide(with_target_data));
    html_page(&format!("{title} – taskscout report"), &body)
}

/// A page of its own in the style of the reports: light and dark, on a phone and on paper, without any request. The
/// body is markup.
#[must_use]
pub fn html_page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         {body}<footer>Made with taskscout {}.</footer>\n</main>\n</body>\n</html>\n",
        escape(title),
        env!("CARGO_PKG_VERSION"),
    )
}

fn experiment(report: &ExperimentReport, index: usize, level: Level) -> String {
    let summary = &report.summary;
    let mut out = String::from("<article>\n");
    out += &opening::question(report);
    out += &heading(level, &report.title, &format!("experiment-{index}"));
    let facts = opening::facts(report).join(" · ");
    out += &format!("<p class=\"facts\">{}</p>\n", escape(&facts));
    out += &parts::notes(&report.notes);
    out += &parts::failed(&summary.failed);
    for (number, (target, strategies)) in summary.sections().into_iter().enumerate() {
        let section = Section {
            target,
            strategies,
            paper: &summary.paper,
            judged: summary.judged_among(strategies),
            floor: summary.floor_of(target),
        };
        let id = format!("plot-{index}-{number}");
        match target {
            Some(name) => {
                out += &heading(level.below(), &format!("Target {name}"), "");
                out += &target_section(report, section, &id, level.below().below());
            }
            None => out += &target_section(report, section, &id, level.below()),
        }
    }
    if !summary.targets.is_empty() {
        let homeless = |target: Option<&str>| {
            let known = |name: &str| summary.targets.iter().any(|own| own.target == name);
            !target.is_some_and(known)
        };
        let id = format!("plot-{index}");
        out += &own::additions(report, homeless, &id, level.below());
    }
    out += &extras::extras(&summary.extra, level.below());
    out += &parts::settings(&report.settings, level.below());
    out + "</article>\n"
}

fn target_section(
    report: &ExperimentReport,
    section: Section<'_>,
    id: &str,
    level: Level,
) -> String {
    let own = report.rows_of(section.target);
    let rows = || own.iter().copied();
    let seeds = report.summary.seeds;
    let lead = prose::verdict(rows(), section, seeds);
    let mut out = opening::headline(&section);
    out += &format!("<p class=\"lead\">{}</p>\n", parts::tie(&lead));
    out += &opening::tiles(&section, seeds);
    out += &parts::notes(&prose::notes(rows(), seeds, section.judged));
    let plot = with_floor(loss_plot(rows(), section.judged), section.floor.as_ref());
    if !plot.is_empty() {
        out += &parts::curves(&plot, id, &prose::loss_caption(&plot, seeds));
        out += &opening::curve_numbers(&plot, "loss.csv");
    }
    out += &opening::contents(id);
    out += &heading(level, "Losses and budgets", &format!("{id}-results"));
    out += &table(&section.names(), &section.results(), "");
    let published = section
        .has_published()
        .then(|| paper::remarks(section.paper));
    for remark in section.remarks().iter().chain(published.iter().flatten()) {
        out += &format!("<p class=\"remark\">{}</p>\n", escape(remark));
    }
    let (other, name, caption) = match section.judged {
        Judged::Returned => (Metric::TestLoss, "shared", prose::SHARED_CAPTION),
        Judged::Shared => (Metric::ReturnedLoss, "returned", prose::RETURNED_CAPTION),
    };
    if let Some(plot) = metric_plot(rows(), other).filter(|_| guard_mattered(rows())) {
        let svg = plot.to_svg(Theme::Page, &format!("{id}-{name}"));
        let drawn = figure(&svg, caption) + &opening::curve_numbers(&plot, &format!("{name}.csv"));
        out += &format!(
            "<details><summary>Loss of the {name} predictor</summary>\n{drawn}</details>\n"
        );
    }
    let own_target = |target: Option<&str>| section.target.is_none() || target == section.target;
    out += &own::additions(report, own_target, id, level);
    out += &heading(level, "Tasks", &format!("{id}-tasks"));
    out += &table(
        &section.names(),
        &section.tasks(),
        "At the end of a run, mean over seeds.",
    );
    out += &metric_figures(&own, id);
    out += &heading(level, "Time", &format!("{id}-time"));
    out += &table(
        &section.names(),
        &section.times(),
        "Seconds for one seed's run, all rounds together, mean over seeds.",
    );
    let mut targets = report.summary.targets.iter();
    let own = targets.find(|own| Some(own.target.as_str()) == section.target);
    out + &own.map_or_else(String::new, |own| extras::extras(&own.extra, level))
}

/// Whether the predictor handed back is ever another than the shared one.
fn guard_mattered<'a>(mut rows: impl Iterator<Item = &'a ResultRow>) -> bool {
    rows.any(|row| {
        row.strategy != TARGET_ONLY
            && row.returned_loss.map(f64::to_bits) != row.test_loss.map(f64::to_bits)
    })
}

fn metric_figures(rows: &[&ResultRow], id: &str) -> String {
    let metrics = [
        (
            Metric::SubspaceSimilarity,
            "similarity",
            prose::SIMILARITY_CAPTION,
        ),
        (Metric::Relevance, "relevance", prose::RELEVANCE_CAPTION),
    ];
    let figures: Vec<String> = metrics
        .into_iter()
        .filter_map(|(metric, name, caption)| {
            let plot = metric_plot(rows.iter().copied(), metric)?;
            let svg = plot.to_svg(Theme::Page, &format!("{id}-{name}"));
            Some(figure(&svg, caption))
        })
        .collect();
    match figures.len() {
        0 => String::new(),
        _ => format!("<div class=\"pair\">\n{}</div>\n", figures.concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_balanced, curve, row};
    use serde_json::json;

    fn rows() -> Vec<ResultRow> {
        let mut rows = curve("passive", 3, &[(100, 8.0), (200, 4.0), (400, 2.0)]);
        rows.extend(curve("aware", 3, &[(100, 4.0), (200, 1.0), (400, 0.5)]));
        rows.extend(curve("agnostic", 3, &[(100, 9.0), (200, 7.0), (400, 3.0)]));
        rows
    }

    fn page_of(rows: Vec<ResultRow>, paper: Value, settings: Value) -> String {
        html_report(&[ExperimentReport::new(rows, paper, settings).unwrap()])
    }

    #[test]
    fn says_the_result_in_words_and_shows_everything() {
        let paper = json!({"strategies": {"aware": {"budget_ratio": 0.387}}, "note": "A <note>."});
        let page = page_of(rows(), paper, json!({"seeds": 3}));
        assert_balanced(&page);
        for text in [
            "<b>aware</b> reached that loss with 42\u{a0}% [42–42\u{a0}%] of this budget",
            "<b>agnostic</b> never reached it",
            "38.7\u{a0}%",
            "A &lt;note&gt;.",
            "<details>",
            "&quot;seeds&quot;: 3",
            "How to read this report",
            env!("CARGO_PKG_VERSION"),
        ] {
            assert!(page.contains(text), "{text}");
        }
    }

    #[test]
    fn loads_nothing_and_runs_nothing() {
        let page = page_of(rows(), json!({}), json!({}));
        for forbidden in [
            "<script",
            "src=",
            "url(",
            "@import",
            "<link",
            "<a href=\"http",
        ] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
    }

    #[test]
    fn hostile_names_are_escaped_everywhere() {
        let evil = "<script>alert('x')</script>";
        let mut rows = rows();
        rows.extend(curve(evil, 3, &[(100, 4.0), (200, 1.0)]));
        for row in &mut rows {
            row.experiment = format!("e\"{evil}");
            row.predictor = Some(evil.to_owned());
            row.target = Some(evil.to_owned());
        }
        let page = page_of(rows, json!({"source": evil}), json!({ evil: evil }));
        assert!(!page.contains("<script"));
        assert_balanced(&page);
    }

    #[test]
    fn a_budget_that_does_not_last_is_told() {
        let mut rows = rows();
        rows.extend(curve(
            "discrete-l1",
            3,
            &[(100, 4.0), (200, 1.0), (400, 9.0)],
        ));
        let page = page_of(rows, json!({"source": "a paper"}), json!({}));
        assert!(
            page.contains("* discrete-l1 reaches passive&#39;s loss, but later rises above it")
        );
        assert!(page.contains("<b>discrete-l1</b> rose above it again"));
        assert!(!page.contains("* aware rises"));
        assert!(!page.contains("a paper"), "nothing published is shown");
    }

    #[test]
    fn nothing_is_never_called_a_number() {
        // Losses of zero, one seed, sets without values, constants.
        for rows in [
            curve("passive", 1, &[(100, 0.0), (200, 0.0)]),
            [
                curve("passive", 1, &[(100, 0.0), (200, 0.0)]),
                curve("aware", 1, &[(100, 0.0), (200, 0.0)]),
            ]
            .concat(),
            [
                curve("passive", 2, &[(100, f64::INFINITY)]),
                curve("aware", 2, &[(100, f64::NAN)]),
            ]
            .concat(),
            [
                curve("passive", 1, &[(0, 1.0)]),
                curve("aware", 1, &[(0, 0.0)]),
            ]
            .concat(),
        ] {
            let report = ExperimentReport::new(rows, json!({}), json!({})).unwrap();
            let table = crate::terminal_table(&report.summary);
            let page = html_report(&[report]);
            for text in [table, page] {
                let text = text.replace("information", "").replace("infinite", "");
                assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
            }
        }
    }

    #[test]
    fn degenerate_reports_still_make_a_page() {
        assert_balanced(&html_report(&[]));
        let alone = vec![row("aware", 1, 0, 100, f64::NAN)];
        let page = page_of(alone, Value::Null, Value::Null);
        assert_balanced(&page);
        assert!(page.contains("</b> has no results") && !page.contains("NaN"));
    }
}
