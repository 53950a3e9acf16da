//! What a reader sees first: the question, the answer in a sentence, the key numbers, what the page was made by.

use maud::{Markup, html};
use serde_json::Value;

use super::ExperimentReport;
use super::parts::tied;
use super::words::explained;
use crate::columns::Section;
use crate::contender::competes;
use crate::format::{self, percent, short};
use crate::ratio::{BudgetRatio, REFERENCE};
use crate::table::seeds;

/// What the words of the key numbers mean.
const SAVING: &str = "The part of passive's samples with which the strategy reaches passive's final loss. Brackets: 90 % of bootstrap samples over seeds.";
const LOSS: &str = "Mean squared error on the target's noise-free labels of the predictor that you would get, after the last round.";
const TASKS: &str = "Different source tasks that were sampled, mean over seeds.";

/// What an experiment asks.
pub(super) fn question(report: &ExperimentReport) -> Markup {
    let on = match report.summary.target.as_deref() {
        Some(target) => format!(" {target}"),
        None => String::new(),
    };
    html! {
        p.question {
            "How much data does each strategy need to be as good on the target" (on)
            " as sampling all tasks alike, which is called passive here?"
        }
        "\n"
    }
}

/// Experiment, seeds, date, version, command, and where models are.
pub(super) fn facts(report: &ExperimentReport, titled: bool) -> Markup {
    let summary = &report.summary;
    let mut facts = vec![format!("{} oracle", summary.oracle), seeds(summary.seeds)];
    if report.title != summary.experiment || !titled {
        facts.insert(0, summary.experiment.clone());
    }
    if let Some(target) = &summary.target {
        facts.push(format!("target {target}"));
    }
    let said = |key: &str| report.settings.get(key).and_then(Value::as_str);
    facts.extend(report.written.clone());
    facts.extend(said("version").map(|version| format!("taskscout {version}")));
    let command = said("command").map(|command| format!("taskscout {command}"));
    html! {
        p.facts {
            (facts.join(" · "))
            @if let Some(command) = command { " · made by " code { (command) } }
            @if let Some(models) = &report.models { " · models saved in " code { (models) } }
        }
        "\n"
    }
}

/// What several experiments were made by, as far as they share it: seeds, the last date, version, command.
pub(super) fn shared_facts(reports: &[ExperimentReport]) -> Markup {
    // Parts of a run that say nothing of it were made by the same command.
    let said = |key: &str| {
        let values = reports
            .iter()
            .filter_map(|report| report.settings.get(key)?.as_str());
        shared(values)
    };
    let counts = shared(reports.iter().map(|report| report.summary.seeds));
    let mut facts: Vec<String> = counts.map(seeds).into_iter().collect();
    facts.extend(
        reports
            .iter()
            .filter_map(|report| report.written.clone())
            .max(),
    );
    facts.extend(said("version").map(|version| format!("taskscout {version}")));
    let command = said("command").map(|command| format!("taskscout {command}"));
    html! {
        @if !facts.is_empty() || command.is_some() {
            p.facts {
                (facts.join(" · "))
                @if let Some(command) = command {
                    @if !facts.is_empty() { " · " }
                    "made by " code { (command) }
                }
            }
            "\n"
        }
    }
}

/// The value of all, where they have the same one.
fn shared<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Option<T> {
    let mut values = values.into_iter();
    let first = values.next()?;
    values.all(|other| other == first).then_some(first)
}

/// The strategy that needs the least of passive's budget, with how much.
fn fastest<'a>(section: &Section<'a>) -> Option<(&'a str, BudgetRatio)> {
    let strategies = section.strategies.iter();
    let others = strategies.filter(|(name, _)| *name != REFERENCE && competes(name));
    let reached = others.filter_map(|(name, figures)| {
        let ratio = figures.ratio(section.judged)?;
        let loss = figures
            .loss(section.judged)
            .map_or(f64::INFINITY, |loss| loss.mean);
        Some(((ratio.mean?, loss), name, ratio))
    });
    // Of those that needed the same, as where the first round was enough for several, the one that ends lowest.
    let best = reached.min_by(|(a, ..), (b, ..)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)))?;
    Some((best.1, best.2))
}

/// The answer in a sentence, where there is one.
pub(crate) fn headline(section: &Section<'_>) -> Option<String> {
    let passive = section.strategies.get(REFERENCE)?.loss(section.judged)?;
    let found =
        fastest(section).and_then(|(name, ratio)| Some((name, ratio.mean?, ratio.at_first_round)));
    let Some((name, share, at_first_round)) = found else {
        let others = section.strategies.iter();
        let mut others = others.filter(|(name, _)| *name != REFERENCE && competes(name));
        return others
            .any(|(_, figures)| figures.loss(section.judged).is_some())
            .then(|| {
                format!(
                    "No strategy reached passive's loss of {}.",
                    short(passive.mean)
                )
            });
    };
    Some(match share < 1.0 {
        true => format!(
            "{name}: the same error as passive with {}{} of the data.",
            if at_first_round { "at most " } else { "" },
            percent(share, 0)
        ),
        false => "No strategy reached passive's loss with less data.".to_owned(),
    })
}

/// The key numbers.
pub(super) fn tiles(section: &Section<'_>, seed_count: usize) -> Markup {
    let best = fastest(section);
    let figures = best.and_then(|(name, _)| section.strategies.get(name));
    let passive = section.strategies.get(REFERENCE);
    let loss = |of: Option<&crate::StrategySummary>| of.and_then(|own| own.loss(section.judged));
    let spread = |sem: Option<f64>| match sem {
        Some(sem) => format!("± {} over {}", short(sem), seeds(seed_count)),
        None => seeds(seed_count),
    };
    html! {
        @if best.is_some() || loss(passive).is_some() {
            dl.tiles {
                @if let Some((name, ratio)) = best {
                    @let of = format!("by {name}, of passive's samples");
                    (tile("Data needed", SAVING, &format::ratio(&ratio, 0), &of))
                    @if let Some(own) = loss(figures) {
                        @let title = format!("Loss of {name}");
                        (tile(&title, LOSS, &short(own.mean), &spread(own.sem)))
                    }
                }
                @if let Some(own) = loss(passive) {
                    (tile("Loss of passive", LOSS, &short(own.mean), &spread(own.sem)))
                }
                // Some runs count no tasks.
                @if let (Some((name, _)), Some(figures)) = (best, figures.filter(|own| own.tasks > 0.0)) {
                    @let long = format::count(figures.long_term_tasks);
                    @let detail = format!("of {name}; {long} hold at least 1 % of its samples");
                    (tile("Tasks", TASKS, &format::count(figures.tasks), &detail))
                }
            }
            "\n"
        }
    }
}

/// A number with its unit, which stands smaller where it is several words.
fn measure(value: &str) -> Markup {
    let words = |unit: &str| unit.starts_with(char::is_alphabetic) && unit.contains(' ');
    let number = |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit());
    match value
        .split_once(' ')
        .filter(|(first, unit)| number(first) && words(unit))
    {
        Some((number, unit)) => html! { (number) " " small { (unit) } },
        None => html! { (tied(value)) },
    }
}

/// A key number with what it means and how sure it is.
#[must_use]
pub fn tile(name: &str, meaning: &str, value: &str, detail: &str) -> Markup {
    html! {
        div {
            dt { (explained(name, meaning)) }
            dd.big { (measure(value)) }
            dd { (tied(detail)) }
        }
        "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::ResultRow;
    use crate::testing::curve;
    use serde_json::json;

    /// What a report says first of curves of aware and agnostic beside passive's.
    fn said(aware: &[(usize, f64)], agnostic: &[(usize, f64)]) -> (String, String) {
        let mut rows = curve("passive", 2, &[(100, 8.0), (200, 4.0)]);
        rows.extend(curve("agnostic", 2, agnostic));
        rows.extend(curve("aware", 2, aware));
        let report = ExperimentReport::new(rows, json!({}), Value::Null).unwrap();
        let section = report.sections().remove(0);
        (
            headline(&section).unwrap(),
            tiles(&section, 2).into_string(),
        )
    }

    #[test]
    fn a_saving_that_may_be_larger_is_said_to_be_one() {
        let within = [(100, 8.0), (200, 2.0)];
        let at_once = [(100, 3.0), (200, 2.0)];
        let (verdict, _) = said(&at_once, &within);
        assert_eq!(
            verdict,
            "aware: the same error as passive with at most 50 % of the data."
        );
        // Of two that were there at once, the one that ends lower.
        let lower = [(100, 3.5), (200, 1.0)];
        assert!(said(&lower, &at_once).0.starts_with("aware: "));
        assert!(said(&at_once, &lower).0.starts_with("agnostic: "));
        assert!(!said(&within, &within).0.contains("at most"));
    }

    #[test]
    fn tasks_are_counted_where_there_are_some() {
        let mut rows = curve("passive", 2, &[(100, 8.0), (200, 4.0)]);
        rows.extend(curve("aware", 2, &[(100, 6.0), (200, 1.0)]));
        let page = |rows: Vec<ResultRow>| {
            let report = ExperimentReport::new(rows, json!({}), Value::Null).unwrap();
            tiles(&report.sections().remove(0), 2).into_string()
        };
        assert!(page(rows.clone()).contains(">Tasks<"));
        for row in &mut rows {
            (row.tasks, row.long_term_tasks) = (0, 0);
        }
        assert!(!page(rows).contains(">Tasks<"));
    }

    #[test]
    fn long_units_stand_smaller_than_their_numbers() {
        let said = |value| measure(value).into_string();
        assert_eq!(
            said("0.12 standard deviations of the outputs"),
            "0.12 <small>standard deviations of the outputs</small>"
        );
        for value in ["226 minutes", "36 % [28–44 %]", "not known yet"] {
            assert_eq!(said(value), tied(value));
        }
    }
}
