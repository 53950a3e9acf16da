//! One self-contained HTML file: the result in words, plots, tables and settings.
//!
//! The page loads nothing, runs no script, follows the reader's light or dark mode and prints.
//! Points of a plot tell their values when hovered over. All text is escaped, by `maud`.

mod chosen;
mod extras;
mod figures;
mod opening;
mod overview;
mod own;
mod parts;
mod prose;
mod sections;
mod words;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::additions::{ReportFigure, ReportTable};
use crate::columns::Section;
use crate::contender::{TARGET_ONLY, is_target_data};
use crate::curve::Metric;
use crate::error::Result;
use crate::failure::FailedExperiment;
use crate::floor::with_floor;
use crate::judged::Judged;
use crate::paper;
use crate::plots::{loss_plot, metric_plot};
use crate::rows::ResultRow;
use crate::summary::Summary;
use figures::{Pictures, figure};
use parts::{Level, heading, table};
use sections::Sections;

pub use chosen::TargetPoint;
pub use figures::csv_link;
pub(crate) use opening::headline;
pub use opening::tile;
pub use own::html_opening;

const STYLE: &str = include_str!("page.css");
/// Bytes past which a page leaves pictures to the folders of its runs.
const LONG: usize = 1_400_000;
/// Bytes up to which curves are drawn for phones, too.
const LONGEST: usize = 1_900_000;

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
    /// When it was made, as people write it.
    #[serde(default)]
    pub written: Option<String>,
    /// Where models were saved.
    #[serde(default)]
    pub models: Option<String>,
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
            written: None,
            models: None,
            notes: Vec::new(),
            figures: Vec::new(),
            tables: Vec::new(),
        })
    }

    /// The rows of a section of the summary.
    pub(crate) fn rows_of(&self, target: Option<&str>) -> Vec<&ResultRow> {
        let own = |row: &&ResultRow| {
            target.is_none_or(|name| row.target.as_deref().unwrap_or_default() == name)
        };
        self.rows.iter().filter(own).collect()
    }

    /// What it says of each target.
    pub(crate) fn sections(&self) -> Vec<Section<'_>> {
        let summary = &self.summary;
        let section = |(target, strategies)| Section {
            target,
            strategies,
            paper: &summary.paper,
            judged: summary.judged_among(strategies),
            floor: summary.floor_of(target),
        };
        summary.sections().into_iter().map(section).collect()
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
/// assert!(page.starts_with("<!DOCTYPE html>"));
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

/// The same with a table of contents: what each experiment, by its title, shows in words. A long page leaves pictures to
/// take along to the folders of the runs.
#[must_use]
pub fn combined_report_about(
    reports: &[ExperimentReport],
    failed: &[FailedExperiment],
    shows: &[(String, String)],
) -> String {
    let levels = [
        (Pictures::Offered, LONG),
        (Pictures::InFolders, LONG),
        (Pictures::Lean, LONGEST),
    ];
    let mut pages = levels
        .into_iter()
        .map(|(pictures, most)| (page(reports, failed, shows, pictures), most));
    let short = pages.find(|(page, most)| page.len() <= *most);
    short.map_or_else(
        || page(reports, failed, shows, Pictures::Once),
        |(page, _)| page,
    )
}

fn page(
    reports: &[ExperimentReport],
    failed: &[FailedExperiment],
    shows: &[(String, String)],
    pictures: Pictures,
) -> String {
    let mut rows = reports.iter().flat_map(|report| &report.rows);
    let with_target_data = rows.any(|row| is_target_data(&row.strategy));
    let (title, body) = match (reports, failed) {
        ([one], []) => (one.title.clone(), experiment(one, 0, Level(1), pictures)),
        (several, failed) => {
            let title = format!("{} experiments", several.len() + failed.len());
            let body = html! {
                (overview::head(&title, several, failed, shows))
                @for (index, report) in several.iter().enumerate() {
                    (experiment(report, index, Level(2), pictures))
                }
            };
            (title, body)
        }
    };
    let body = html! { (body) (words::all(with_target_data)) };
    html_page(&format!("{title} – taskscout report"), &body.into_string())
}

/// A page of its own in the style of the reports: light and dark, on a phone and on paper, without any request. The
/// body is markup.
#[must_use]
pub fn html_page(title: &str, body: &str) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(taskscout_plot::PAGE_STYLE)) }
            }
            "\n"
            body {
                main {
                    (PreEscaped(body))
                    footer { "Made with taskscout " (env!("CARGO_PKG_VERSION")) "." }
                }
            }
        }
        "\n"
    }
    .into_string()
    // Names may hold what no page may.
    .replace(is_forbidden, "\u{fffd}")
}

/// Control characters, apart from breaks between words.
fn is_forbidden(letter: char) -> bool {
    letter.is_control() && !matches!(letter, '\t' | '\n' | '\r')
}

fn experiment(report: &ExperimentReport, index: usize, level: Level, pictures: Pictures) -> Markup {
    let id = format!("experiment-{index}");
    let sections = report.sections();
    // On a page of its own the answer is the heading, unless there are several.
    let answer = match (&sections[..], level) {
        ([only], Level(1)) => headline(only),
        _ => None,
    };
    let title = answer.as_deref().unwrap_or(&report.title);
    html! {
        article {
            (opening::question(report))
            (heading(level, title, &id))
            @if answer.is_some() && report.title != report.summary.experiment {
                p.facts { (report.title) }
            }
            (opening::facts(report, answer.is_none()))
            (parts::notes(&report.notes))
            (parts::failed(&report.summary.failed))
            @for (number, section) in sections.iter().enumerate() {
                @let id = format!("plot-{index}-{number}");
                @if let Some(name) = section.target {
                    (heading(level.below(), &format!("Target {name}"), ""))
                    (target_section(report, *section, &id, level.below().below(), pictures, true))
                } @else {
                    (target_section(report, *section, &id, level.below(), pictures, answer.is_none()))
                }
            }
            (rest(report, index, level.below(), pictures))
        }
        "\n"
    }
}

/// What belongs to the experiment as a whole.
fn rest(report: &ExperimentReport, index: usize, level: Level, pictures: Pictures) -> Markup {
    let summary = &report.summary;
    let id = format!("plot-{index}");
    let mut sections = Sections::default();
    if !summary.targets.is_empty() {
        let homeless = |target: Option<&str>| {
            let known = |name: &str| summary.targets.iter().any(|own| own.target == name);
            !target.is_some_and(known)
        };
        own::additions(&mut sections, report, homeless, &id, pictures);
    }
    let extras = extras::extras(&summary.extra);
    sections.add(format!("{id}-further"), "Further results", extras);
    if !report.settings.is_null() {
        let settings = parts::settings(&report.settings);
        sections.add(format!("{id}-settings"), "Settings", settings);
    }
    sections.body(level)
}

fn target_section(
    report: &ExperimentReport,
    section: Section<'_>,
    id: &str,
    level: Level,
    pictures: Pictures,
    with_headline: bool,
) -> Markup {
    let own = report.rows_of(section.target);
    let rows = || own.iter().copied();
    let seeds = report.summary.seeds;
    let plot = with_floor(loss_plot(rows(), section.judged), section.floor.as_ref());
    let caption = prose::loss_caption(&plot, seeds);
    let sections = target_parts(report, section, id, pictures);
    // Lists of the same name on one page could not be told apart by those who hear it.
    let place = id.trim_start_matches("plot-").split('-').next();
    let experiment = place.and_then(|place| place.parse::<usize>().ok());
    let about = match (experiment.filter(|&at| at > 0), section.target) {
        (Some(at), Some(target)) => format!(" of experiment {}, target {target}", at + 1),
        (Some(at), None) => format!(" of experiment {}", at + 1),
        (None, Some(target)) => format!(" of target {target}"),
        (None, None) => String::new(),
    };
    html! {
        @if let Some(said) = headline(&section).filter(|_| with_headline) {
            p.sure { b { (parts::tied(&said)) } } "\n"
        }
        p.lead { (parts::tie(prose::verdict(rows(), section, seeds))) } "\n"
        (opening::tiles(&section, seeds))
        (parts::notes(&prose::notes(rows(), seeds, section.judged)))
        @if !plot.is_empty() {
            (figure(&plot, (&format!("{id}-loss"), "loss"), &caption, pictures))
        }
        (sections.contents(&about))
        (sections.body(level))
    }
}

/// What stands below the answer of a target: tasks, what its world adds, losses, times.
fn target_parts(
    report: &ExperimentReport,
    section: Section<'_>,
    id: &str,
    pictures: Pictures,
) -> Sections {
    let mut sections = Sections::default();
    let own_target = |target: Option<&str>| section.target.is_none() || target == section.target;
    own::additions(&mut sections, report, own_target, id, pictures);
    let own = report.rows_of(section.target);
    let losses = losses(&own, section, id, pictures);
    sections.add(format!("{id}-results"), "Losses and budgets", losses);
    let tasks = html! {
        (table(&section.names(), &section.tasks(), "At the end of a run, mean over seeds."))
        (metric_figures(&own, id, pictures))
    };
    sections.add(format!("{id}-tasks"), "Tasks", tasks);
    let times = table(
        &section.names(),
        &section.times(),
        "Seconds for one seed's run, all rounds together, mean over seeds.",
    );
    sections.add(format!("{id}-time"), "Time", times);
    let mut targets = report.summary.targets.iter();
    if let Some(own) = targets.find(|own| Some(own.target.as_str()) == section.target) {
        let extras = extras::extras(&own.extra);
        sections.add(format!("{id}-further"), "Further results", extras);
    }
    sections
}

/// The table of losses, and the loss that does not decide, folded away.
fn losses(rows: &[&ResultRow], section: Section<'_>, id: &str, pictures: Pictures) -> Markup {
    let published = section
        .has_published()
        .then(|| paper::remarks(section.paper));
    let remarks = section.remarks();
    let (other, name, caption) = match section.judged {
        Judged::Returned => (Metric::TestLoss, "shared", prose::SHARED_CAPTION),
        Judged::Shared => (Metric::ReturnedLoss, "returned", prose::RETURNED_CAPTION),
    };
    let rows = || rows.iter().copied();
    let other = metric_plot(rows(), other).filter(|_| guard_mattered(rows()));
    html! {
        (table(&section.names(), &section.results(), ""))
        @for remark in remarks.iter().chain(published.iter().flatten()) {
            p.remark { (remark) } "\n"
        }
        @if let Some(plot) = other {
            details {
                summary { "Loss of the " (name) " predictor" }
                (figure(&plot, (&format!("{id}-{name}"), name), caption, pictures))
            }
            "\n"
        }
    }
}

/// Whether the predictor handed back is ever another than the shared one.
fn guard_mattered<'a>(mut rows: impl Iterator<Item = &'a ResultRow>) -> bool {
    rows.any(|row| {
        row.strategy != TARGET_ONLY
            && row.returned_loss.map(f64::to_bits) != row.test_loss.map(f64::to_bits)
    })
}

fn metric_figures(rows: &[&ResultRow], id: &str, pictures: Pictures) -> Markup {
    let metrics = [
        (
            Metric::SubspaceSimilarity,
            "similarity",
            prose::SIMILARITY_CAPTION,
        ),
        (Metric::Relevance, "relevance", prose::RELEVANCE_CAPTION),
    ];
    let figures: Vec<Markup> = metrics
        .into_iter()
        .filter_map(|(metric, name, caption)| {
            let plot = metric_plot(rows.iter().copied(), metric)?;
            let place = format!("{id}-{name}");
            Some(figure(&plot, (&place, name), caption, pictures))
        })
        .collect();
    html! {
        @if !figures.is_empty() {
            div.pair { @for figure in figures { (figure) } } "\n"
        }
    }
}

#[cfg(test)]
mod tests;
