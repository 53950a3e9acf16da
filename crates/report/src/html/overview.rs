//! The top of a page on several experiments: the paper's table beside ours, and the way to the rest.

use maud::{Markup, html};

use super::ExperimentReport;
use super::opening::shared_facts;
use super::parts::{self, Level, heading, stacked, tied};
use crate::columns::Section;
use crate::failure::{FailedExperiment, trials};
use crate::table::seeds;

/// Heading, links, warnings and the common table.
pub(super) fn head(
    title: &str,
    reports: &[ExperimentReport],
    failed: &[FailedExperiment],
    shows: &[(String, String)],
) -> Markup {
    html! {
        p.question { "What of the results holds when the experiments are run again?" }
        (heading(Level(1), title, "top"))
        (shared_facts(reports))
        (verdicts(reports))
        (parts::notes(&warnings(reports, failed)))
        (contents(reports, shows))
        (table(reports))
    }
}

/// What each experiment says in a sentence, with the way to it.
fn verdicts(reports: &[ExperimentReport]) -> Markup {
    let said = |report: &ExperimentReport| match &report.verdicts()[..] {
        [] => html! {},
        [only] => html! { ": " (tied(only)) },
        // One for each target.
        all => html! { ul { @for one in all { li { (tied(one)) } } } },
    };
    html! {
        nav.verdicts aria-label="Experiments" {
            ul {
                @for (index, report) in reports.iter().enumerate() {
                    li { (link(index, &report.title)) (said(report)) }
                }
            }
            a href="#words" { "What the words mean" }
        }
        "\n"
    }
}

/// What each experiment shows, with the way to it.
fn contents(reports: &[ExperimentReport], shows: &[(String, String)]) -> Markup {
    let place = |title: &str| reports.iter().position(|report| report.title == title);
    html! {
        @if !shows.is_empty() {
            div.scroll tabindex="0" { table.overview {
                caption { "What of the paper is where." }
                thead { tr { th scope="col" { "experiment" } th.words scope="col" { "shows" } } }
                tbody {
                    @for (title, text) in shows {
                        tr {
                            th scope="row" {
                                @match place(title) {
                                    Some(index) => (link(index, title)),
                                    None => (title),
                                }
                            }
                            td.words { (text) }
                        }
                        "\n"
                    }
                }
            } }
            "\n"
        }
    }
}

fn link(index: usize, text: &str) -> Markup {
    html! { a href={ "#experiment-" (index) } { (text) } }
}

/// What is missing, and what every experiment warns of.
fn warnings(reports: &[ExperimentReport], failed: &[FailedExperiment]) -> Vec<String> {
    let mut warnings: Vec<String> = failed
        .iter()
        .map(|failed| format!("{} has no results: {}", failed.experiment, failed.error))
        .collect();
    for report in reports {
        let count = report.summary.failed.len();
        if count > 0 {
            warnings.push(format!(
                "{} of {} failed, see its section.",
                trials(count),
                report.title
            ));
        }
    }
    for note in reports.iter().flat_map(|report| &report.notes) {
        if !warnings.contains(note) {
            warnings.push(note.clone());
        }
    }
    warnings
}

/// One row per experiment, target and strategy.
fn table(reports: &[ExperimentReport]) -> Markup {
    html! {
        @if !reports.is_empty() {
            div.scroll tabindex="0" { table.overview {
                caption { "Ours beside the published figures. Seconds are those of one seed’s run." }
                thead {
                    tr {
                        th scope="col" rowspan="2" { "experiment" }
                        th.words scope="col" rowspan="2" { "strategy" }
                        th scope="col" rowspan="2" { "returned loss" }
                        th scope="colgroup" colspan="2" { "budget to passive's loss" }
                        th scope="colgroup" colspan="2" { "shared loss" }
                        th scope="col" rowspan="2" { "seconds" }
                    }
                    tr {
                        @for heading in ["ours", "paper", "ours", "paper"] {
                            th.figure scope="col" { (heading) }
                        }
                    }
                }
                "\n"
                @for (index, report) in reports.iter().enumerate() {
                    @for section in report.sections() { (rows(report, index, section)) }
                }
            } }
            "\n"
        }
    }
}

/// The strategies of one experiment and target.
fn rows(report: &ExperimentReport, index: usize, section: Section<'_>) -> Markup {
    let summary = &report.summary;
    let detail = section.target.map_or_else(
        || format!("{} oracle, {}", summary.oracle, seeds(summary.seeds)),
        |target| format!("target {target}"),
    );
    let names = section.names().cells;
    let columns = section.overview();
    html! {
        tbody {
            @for (row, name) in names.iter().enumerate() {
                tr {
                    @if row == 0 {
                        th scope="rowgroup" rowspan=(names.len()) {
                            (link(index, &report.title))
                            small { (detail) }
                        }
                    }
                    th.words scope="row" { (name) }
                    @for column in &columns {
                        td { (stacked(column.cells.get(row).map_or("", String::as_str))) }
                    }
                }
                "\n"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{combined_report, html_report};
    use super::*;
    use crate::failure::FailedTrial;
    use crate::rows::ResultRow;
    use crate::testing::{assert_balanced, curve};
    use serde_json::{Value, json};

    fn rows() -> Vec<ResultRow> {
        let mut rows = curve("passive", 3, &[(100, 8.0), (200, 4.0), (400, 2.0)]);
        rows.extend(curve("aware", 3, &[(100, 4.0), (200, 1.0), (400, 0.5)]));
        rows
    }

    fn report(rows: Vec<ResultRow>, paper: Value) -> ExperimentReport {
        ExperimentReport::new(rows, paper, Value::Null).unwrap()
    }

    #[test]
    fn several_targets_and_experiments_share_a_page() {
        let on = |target: &str| {
            let with = |row| ResultRow {
                target: Some(target.to_owned()),
                ..row
            };
            rows().into_iter().map(with).collect::<Vec<_>>()
        };
        let two = [on("calm"), on("windy")].concat();
        let page = html_report(&[report(rows(), json!({})), report(two, json!({}))]);
        assert_balanced(&page);
        for text in ["2 experiments", "Target calm", "Target windy"] {
            assert!(page.contains(text), "{text}");
        }
        let ids: Vec<&str> = page.split(" id=\"").skip(1).collect();
        let ids: Vec<&str> = ids.iter().filter_map(|id| id.split('"').next()).collect();
        let unique: std::collections::HashSet<&&str> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "an id is there twice: {ids:?}");
        for target in page.split("href=\"#").skip(1) {
            let target = target.split('"').next().unwrap();
            assert!(
                ids.contains(&target),
                "a link to `{target}`, which is not there"
            );
        }
    }

    #[test]
    fn the_common_table_has_both_figures_of_every_strategy() {
        let paper = json!({"aware": {"budget_ratio": 0.387, "final_loss": 0.0016}});
        let page = table(&[report(rows(), paper), report(rows(), json!({}))]).into_string();
        assert_balanced(&page);
        let aware: Vec<&str> = page
            .lines()
            .filter(|line| line.contains(">aware<"))
            .collect();
        let cells = |line: &str| {
            let cells: Vec<String> = line
                .split("<td>")
                .skip(1)
                .map(|cell| cell.split("</td>").next().unwrap().replace('\u{a0}', " "))
                .collect();
            cells
        };
        assert_eq!(
            cells(aware[0]),
            [
                "–",
                "41.7 %<small>[41.7–41.7 %]</small>",
                "38.7 %",
                "0.5100 ± 0.0058",
                "0.00160",
                "10.5"
            ]
        );
        assert_eq!(cells(aware[1])[2], "–", "nothing was published there");
        assert_eq!(page.matches("reference").count(), 2);
    }

    #[test]
    fn what_all_were_made_by_stands_at_the_top() {
        let mut one = report(rows(), json!({}));
        one.settings = json!({"command": "reproduce all", "version": "1.2.3"});
        one.written = Some("2026-01-02 03:04 UTC".to_owned());
        let mut two = one.clone();
        two.written = Some("2026-01-02 03:14 UTC".to_owned());
        let top = |reports: &[ExperimentReport]| {
            let page = combined_report(reports, &[]);
            page.split_once("<nav").unwrap().0.to_owned()
        };
        assert!(top(&[one.clone(), two.clone()]).contains(
            "3 seeds · 2026-01-02 03:14 UTC · taskscout 1.2.3 · made by <code>taskscout reproduce all</code>"
        ));
        // Of runs of several commands each section says its own.
        two.settings = json!({"command": "run other.toml", "version": "1.2.3"});
        assert!(!top(&[one, two]).contains("made by"));
    }

    #[test]
    fn contents_say_what_is_where() {
        let one = report(rows(), json!({}));
        let shows = [
            (one.title.clone(), "the <first> table".to_owned()),
            ("gone".to_owned(), "nothing".to_owned()),
        ];
        let page = super::super::combined_report_about(&[one.clone(), one], &[], &shows);
        assert_balanced(&page);
        for text in [
            "href=\"#experiment-0\"",
            "the &lt;first&gt; table",
            ">gone<",
        ] {
            assert!(page.contains(text), "{text}");
        }
    }

    #[test]
    fn what_failed_is_named_at_the_top_and_in_its_section() {
        let mut one = report(rows(), json!({}));
        one.summary.failed.push(FailedTrial {
            strategy: "agnostic".to_owned(),
            target: Some("north".to_owned()),
            seed: 7,
            error: "the rig <fell> over".to_owned(),
        });
        one.notes.push("Only a look.".to_owned());
        let failed = FailedExperiment {
            experiment: "fourier".to_owned(),
            error: "the disk is full".to_owned(),
        };
        let page = combined_report(std::slice::from_ref(&one), &[failed]);
        assert_balanced(&page);
        let (top, section) = page.split_once("<article>").unwrap();
        for text in [
            "2 experiments",
            "fourier has no results: the disk is full",
            "1 trial of e failed",
            "Only a look.",
        ] {
            assert!(top.contains(text), "{text}");
        }
        for text in [
            "1 trial failed",
            "agnostic on north<",
            "<td>7</td>",
            "rig &lt;fell&gt; over",
        ] {
            assert!(section.contains(text), "{text}");
        }
        let alone = html_report(&[one]);
        assert!(alone.contains("rig &lt;fell&gt; over") && alone.contains("Only a look."));
    }
}
