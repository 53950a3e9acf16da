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
            " as sampling all tasks alike?"
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

/// The strategy that needs the least of passive's budget, with how much.
fn fastest<'a>(section: &Section<'a>) -> Option<(&'a str, BudgetRatio)> {
    let strategies = section.strategies.iter();
    let others = strategies.filter(|(name, _)| *name != REFERENCE && competes(name));
    let reached = others.filter_map(|(name, figures)| {
        let ratio = figures.ratio(section.judged)?;
        Some((ratio.mean?, name, ratio))
    });
    let best = reached.min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((best.1, best.2))
}

/// The answer in a sentence, where there is one.
pub(crate) fn headline(section: &Section<'_>) -> Option<String> {
    let passive = section.strategies.get(REFERENCE)?.loss(section.judged)?;
    let Some((name, share)) = fastest(section).and_then(|(name, ratio)| Some((name, ratio.mean?)))
    else {
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
            "{name}: the same error as passive with {} of the data.",
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
                @if let (Some((name, _)), Some(figures)) = (best, figures) {
                    @let long = format::count(figures.long_term_tasks);
                    @let detail = format!("of {name}; {long} hold at least 1 % of its samples");
                    (tile("Tasks", TASKS, &format::count(figures.tasks), &detail))
                }
            }
            "\n"
        }
    }
}

/// A key number with what it means and how sure it is.
#[must_use]
pub fn tile(name: &str, meaning: &str, value: &str, detail: &str) -> Markup {
    html! {
        div {
            dt { (explained(name, meaning)) }
            dd.big { (tied(value)) }
            dd { (tied(detail)) }
        }
        "\n"
    }
}
