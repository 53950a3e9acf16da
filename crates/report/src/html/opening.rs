//! What a reader sees first: the question, the answer in a sentence, the key numbers, what the page was made by.

use serde_json::Value;

use super::ExperimentReport;
use super::parts::tied;
use crate::columns::Section;
use crate::contender::competes;
use crate::format::{self, escape, percent, short};
use crate::ratio::{BudgetRatio, REFERENCE};
use crate::table::seeds;

/// What the words of the key numbers mean.
const SAVING: &str = "The part of passive's samples with which the strategy reaches passive's final loss. Brackets: 90 % of bootstrap samples over seeds.";
const LOSS: &str = "Mean squared error on the target's noise-free labels of the predictor that you would get, after the last round.";
const TASKS: &str = "Different source tasks that were sampled, mean over seeds.";

/// What an experiment asks; markup.
pub(super) fn question(report: &ExperimentReport) -> String {
    let target = report.summary.target.as_deref();
    let on = target.map_or(String::new(), |target| format!(" {}", escape(target)));
    format!(
        "<p class=\"question\">How much data does each strategy need to be as good on the target{on} as sampling all tasks alike?</p>\n"
    )
}

/// Seeds, version and command.
pub(super) fn facts(report: &ExperimentReport) -> Vec<String> {
    let summary = &report.summary;
    let mut facts = vec![format!("{} oracle", summary.oracle), seeds(summary.seeds)];
    if report.title != summary.experiment {
        facts.insert(0, summary.experiment.clone());
    }
    if let Some(target) = &summary.target {
        facts.push(format!("target {target}"));
    }
    let said = |key: &str| report.settings.get(key).and_then(Value::as_str);
    if let Some(version) = said("version") {
        facts.push(format!("taskscout {version}"));
    }
    if let Some(command) = said("command") {
        facts.push(format!("made by `taskscout {command}`"));
    }
    facts
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

/// The answer in a sentence, where there is one; markup.
pub(super) fn headline(section: &Section<'_>) -> String {
    let Some((name, share)) = fastest(section).and_then(|(name, ratio)| Some((name, ratio.mean?)))
    else {
        return String::new();
    };
    let sentence = match share < 1.0 {
        true => format!(
            "{name}: the same error as passive with {} of the data.",
            percent(share, 0)
        ),
        false => "No strategy reached passive's loss with less data.".to_owned(),
    };
    format!("<p class=\"sure\"><b>{}</b></p>\n", tied(&sentence))
}

/// The key numbers; markup.
pub(super) fn tiles(section: &Section<'_>, seed_count: usize) -> String {
    let best = fastest(section);
    let figures = best.and_then(|(name, _)| section.strategies.get(name));
    let passive = section.strategies.get(REFERENCE);
    let loss = |of: Option<&crate::StrategySummary>| of.and_then(|own| own.loss(section.judged));
    let spread = |sem: Option<f64>| match sem {
        Some(sem) => format!("± {} over {}", short(sem), seeds(seed_count)),
        None => seeds(seed_count),
    };
    let mut tiles = Vec::new();
    if let Some((name, ratio)) = best {
        let of = format!("by {name}, of passive's samples");
        tiles.push(tile("Data needed", SAVING, &format::ratio(&ratio, 0), &of));
        if let Some(own) = loss(figures) {
            let title = format!("Loss of {name}");
            tiles.push(tile(&title, LOSS, &short(own.mean), &spread(own.sem)));
        }
    }
    if let Some(own) = loss(passive) {
        tiles.push(tile(
            "Loss of passive",
            LOSS,
            &short(own.mean),
            &spread(own.sem),
        ));
    }
    if let (Some((name, _)), Some(figures)) = (best, figures) {
        let long = format::count(figures.long_term_tasks);
        let detail = format!("of {name}; {long} hold at least 1 % of its samples");
        tiles.push(tile("Tasks", TASKS, &format::count(figures.tasks), &detail));
    }
    match tiles.is_empty() {
        true => String::new(),
        false => format!("<dl class=\"tiles\">\n{}</dl>\n", tiles.concat()),
    }
}

/// The way to the parts of a section; markup.
pub(super) fn contents(id: &str) -> String {
    let parts = [
        (format!("{id}-results"), "Losses and budgets"),
        (format!("{id}-tasks"), "Tasks"),
        (format!("{id}-time"), "Time"),
        ("guide".to_owned(), "How to read this report"),
    ];
    let links = parts.map(|(id, text)| format!("<a href=\"#{}\">{text}</a> ", escape(&id)));
    format!(
        "<nav class=\"contents\" aria-label=\"Contents of {}\">{}</nav>\n",
        escape(id),
        links.concat()
    )
}

/// A key number with what it means and how sure it is; markup.
#[must_use]
pub fn tile(name: &str, meaning: &str, value: &str, detail: &str) -> String {
    let name = match meaning {
        "" => escape(name),
        meaning => format!(
            "<abbr title=\"{}\" tabindex=\"0\">{}</abbr>",
            escape(meaning),
            escape(name)
        ),
    };
    format!(
        "<div><dt>{name}</dt><dd class=\"big\">{}</dd><dd>{}</dd></div>\n",
        tied(value),
        tied(detail)
    )
}

/// Numbers as a table to download, without any request; markup.
#[must_use]
pub fn csv_link(name: &str, head: &[String], rows: &[Vec<String>]) -> String {
    let cell = |text: &String| match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.clone(),
    };
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(cell).collect();
        cells.join(",") + "\n"
    };
    let mut text = line(head);
    rows.iter().for_each(|row| text += &line(row));
    let mut address = String::from("data:text/csv;charset=utf-8,");
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'_' | b'.' | b',' => {
                address.push(char::from(byte));
            }
            other => address += &format!("%{other:02X}"),
        }
    }
    format!(
        "<p class=\"data\"><a download=\"{0}\" href=\"{address}\">These numbers as {0}</a></p>\n",
        escape(name)
    )
}

/// The numbers of a figure of curves.
pub(super) fn curve_numbers(plot: &taskscout_plot::LinePlot, name: &str) -> String {
    let head = ["series", &plot.x_title, &plot.y_title, "plus or minus"].map(str::to_owned);
    let number = |value: f64| match value.is_finite() {
        true => value.to_string(),
        false => String::new(),
    };
    let lines = plot.series.iter().flat_map(|series| {
        series.points.iter().map(|point| {
            vec![
                series.name.clone(),
                number(point.x),
                number(point.y),
                point.spread.map_or(String::new(), number),
            ]
        })
    });
    csv_link(name, &head, &lines.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_can_be_taken_along() {
        let head = ["a".to_owned(), "b".to_owned()];
        let rows = [vec!["1".to_owned(), "x, \"y\"".to_owned()]];
        let link = csv_link("t.csv", &head, &rows);
        assert!(
            link.contains(
                "href=\"data:text/csv;charset=utf-8,a,b%0A1,%22x,%20%22%22y%22%22%22%0A\""
            ),
            "{link}"
        );
    }
}
