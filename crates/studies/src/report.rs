//! A study as a page: the question and the answer, what to measure next and why, how sure the model is, what happened.
//!
//! The page is one file: it loads nothing and runs nothing. Every figure has its numbers beside it, as a table to
//! download.

use taskscout::study::ForecastRequest;
use taskscout_io::tables::short;
use taskscout_plot::Theme;
use taskscout_plot::format::escape;
use taskscout_report::{csv_link, html_page, tile};

use crate::answer::Answer;
use crate::error::Result;
use crate::lease::ItemState;
use crate::outlook::{Outlook, digits};
use crate::report_figures::{map, samples};
use crate::status::{ItemStatus, Status};
use crate::stored::StoredStudy;
use crate::time::minute;
use crate::what_if::{Supposed, WhatIf};
use crate::words::capital;

/// Lines of the history on the page.
const LINES: usize = 200;
/// Finished items on the page; the others are in an export.
const FINISHED: usize = 500;

/// Words of the field, with what they mean.
const WORDS: [(&str, &str); 7] = [
    (
        "task",
        "A condition under which data can be collected, for instance a wind speed.",
    ),
    ("target", "The condition that the model is wanted for."),
    (
        "error",
        "The root of the mean squared difference between prediction and noise-free truth on the target.",
    ),
    (
        "as planned",
        "The budget is spent on the tasks that the study would choose.",
    ),
    (
        "all tasks alike",
        "The budget is spread over all tasks, without choosing.",
    ),
    (
        "9 of 10 cases",
        "The interval that should hold the truth in nine of ten studies like this one.",
    ),
    (
        "stage",
        "What an item is for: warm-up and explore to learn what all tasks have in common, exploit to learn what the target needs.",
    ),
];

impl StoredStudy {
    /// The study as one HTML page.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn report(&mut self) -> Result<String> {
        let status = self.status()?;
        let budgets = self.usual_budgets();
        let outlook = self.outlook(&ForecastRequest::further(&budgets));
        let next = self.what_if(&WhatIf::budget(budgets[0].max(1))).ok();
        let answer = self.answer(&status, outlook.as_ref().ok(), next.as_ref());
        let body = [
            self.opening(&status, &answer),
            tiles(&status, outlook.as_ref().ok()),
            forecast(&outlook),
            contents(),
            self.next_items(&status, next.as_ref()),
            "<h2 id=\"tasks\">Which tasks were chosen, and where the target lies</h2>\n".to_owned(),
            samples(self),
            map(self, next.as_ref()),
            self.models(&status),
            self.finished_items(),
            self.past_lines(),
            words(),
        ];
        Ok(html_page(
            &format!("{} – taskscout study", status.study),
            &body.concat(),
        ))
    }

    fn opening(&self, status: &Status, answer: &Answer) -> String {
        let last = status.last.as_ref().map_or(String::new(), |line| {
            format!(", last change {} UTC", minute(line.time_us))
        });
        let why = match answer.why.as_str() {
            "" => String::new(),
            why => format!("<p><strong>Why these?</strong> {}</p>\n", escape(why)),
        };
        let facts = format!(
            "Study {} · written {} UTC{last} · taskscout {} · seed {} · strategy {}, trainer {} · made again by `taskscout study report --study {}`",
            status.study,
            minute(self.now()),
            env!("CARGO_PKG_VERSION"),
            self.study().config().seed,
            status.strategy,
            status.trainer,
            quoted(&status.study)
        );
        format!(
            "<p class=\"question\">{}</p>\n<h1>{}</h1>\n<p class=\"sure\">{}</p>\n{why}<p class=\"facts\">{}</p>\n",
            escape(&answer.question),
            escape(&answer.verdict),
            escape(&answer.sure),
            escape(&facts)
        )
    }

    fn next_items(&self, status: &Status, next: Option<&Supposed>) -> String {
        let items = match (status.open.is_empty(), next) {
            (false, _) => self.items_table(&status.open),
            (true, Some(next)) => format!(
                "<p>With {} {} the next plan would be:</p>\n{}",
                next.budget,
                escape(&next.unit),
                self.supposed_table(next)
            ),
            (true, None) => String::new(),
        };
        format!(
            "<h2 id=\"next\">What to measure next</h2>\n<p>{}.</p>\n{items}",
            escape(&capital(&status.next))
        )
    }

    fn supposed_table(&self, next: &Supposed) -> String {
        let head = self.head(&["samples", "cost", "stage", "why"]);
        let rows = next.items.iter().map(|item| {
            let mut cells = vec![item.task.clone()];
            cells.extend(item.parameters.iter().map(|value| short(*value)));
            cells.extend([
                item.n.to_string(),
                short(item.cost),
                item.stage.clone(),
                item.reason.clone(),
            ]);
            cells
        });
        table(&head, rows)
    }

    /// The heads of a table of tasks: the task, its parameters, and others.
    fn head(&self, others: &[&str]) -> Vec<String> {
        let mut head = vec!["task".to_owned()];
        let parameters = self.definition().parameters.iter();
        head.extend(parameters.map(crate::Column::label));
        head.extend(others.iter().map(|name| (*name).to_owned()));
        head
    }

    fn finished_items(&self) -> String {
        let mut finished = self.items();
        finished.retain(|item| matches!(item.state, ItemState::Told | ItemState::Failed));
        if finished.is_empty() {
            return String::new();
        }
        let earlier = finished.len().saturating_sub(FINISHED);
        let more = match earlier {
            0 => String::new(),
            _ => format!("<p>{earlier} earlier items are in `taskscout study export`.</p>\n"),
        };
        format!(
            "<h2 id=\"measured\">What was measured, and why</h2>\n{}{more}",
            self.items_table(&finished[earlier..])
        )
    }

    fn items_table(&self, items: &[ItemStatus]) -> String {
        let mut head = vec!["item".to_owned()];
        head.extend(self.head(&["samples", "came", "cost", "round", "stage", "state", "why"]));
        let row = |item: &ItemStatus| {
            let mut cells = vec![item.item.to_string(), item.task.clone()];
            cells.extend(item.parameters.iter().map(|value| short(*value)));
            cells.extend([
                item.n.to_string(),
                item.collected.to_string(),
                short(item.cost),
                (item.round + 1).to_string(),
                item.stage.clone(),
                item.state.to_string(),
                item.reason.clone(),
            ]);
            cells
        };
        let rows: Vec<Vec<String>> = items.iter().map(row).collect();
        table(&head, rows.iter().cloned()) + &csv_link("items.csv", &head, &rows)
    }

    /// The model of every target, with the guard's reason.
    fn models(&self, status: &Status) -> String {
        let rows_of = |name: &str| {
            let mut targets = status.targets.iter();
            let found = targets.find(|target| target.name == name);
            found.map_or(0, |target| target.rows)
        };
        let said = match self.learner().and_then(|study| Ok(study.predictors()?)) {
            Ok(all) if !all.is_empty() => {
                let one = |predictor: &taskscout::train::StackedPredictor| {
                    let ways = self.ways(predictor);
                    let ways: Vec<String> = ways
                        .iter()
                        .map(|way| format!("<li>{}</li>\n", escape(way)))
                        .collect();
                    format!(
                        "<h3>For target {}</h3>\n<p>Chosen by {} rows of the target: mostly <strong>{}</strong>.</p>\n<ul>\n{}</ul>\n",
                        escape(&predictor.target),
                        rows_of(&predictor.target),
                        predictor.kind,
                        ways.concat()
                    )
                };
                let models: Vec<String> = all.iter().map(one).collect();
                let (tasks, inputs) = (&status.task_features, &status.input_features);
                models.concat()
                    + &format!(
                        "<p class=\"facts\">Tasks: {}. Inputs: {}.</p>\n",
                        escape(tasks),
                        escape(inputs)
                    )
            }
            Ok(_) => "<p>No target has rows of its own yet: tell some, then there is a model to choose.</p>\n".to_owned(),
            Err(error) => format!(
                "<p>There is no model yet: {}.</p>\n",
                escape(&error.to_string())
            ),
        };
        format!("<h2 id=\"model\">The model</h2>\n{said}")
    }

    fn past_lines(&self) -> String {
        let lines = self.history();
        let shown = &lines[lines.len().saturating_sub(LINES)..];
        let head = ["entry", "time (UTC)", "by", "what"].map(str::to_owned);
        let rows = shown.iter().rev().map(|line| {
            let back = if line.undone { " (taken back)" } else { "" };
            vec![
                line.version.to_string(),
                minute(line.time_us),
                line.author.clone(),
                format!("{}{back}", line.what),
            ]
        });
        let rest = lines.len() - shown.len();
        let more = match rest {
            0 => String::new(),
            rest => format!("<p>{rest} earlier lines are in `taskscout study history`.</p>\n"),
        };
        format!(
            "<h2 id=\"history\">History</h2>\n<details><summary>What happened, newest first</summary>\n{}</details>\n{more}",
            table(&head, rows)
        )
    }
}

/// A name as a shell takes it.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    match !name.is_empty() && name.chars().all(plain) {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', r"'\''")),
    }
}

/// A key number, with the meaning of its name where that is a word of the field.
fn number(name: &str, value: &str, detail: &str) -> String {
    let mut known = WORDS.iter();
    let found = known.find(|(word, _)| name.to_lowercase().contains(word));
    tile(
        name,
        found.map_or("", |(_, meaning)| meaning),
        value,
        detail,
    )
}

fn tiles(status: &Status, outlook: Option<&Outlook>) -> String {
    let rows: Vec<String> = status
        .targets
        .iter()
        .map(|target| format!("{} of {}", target.rows, target.name))
        .collect();
    let spent = format!("{} {}", short(status.spent), status.unit);
    let done = format!(
        "{} rounds, {} items measured",
        status.rounds, status.items.told
    );
    let mut tiles = vec![
        number("Spent", &spent, &done),
        number(
            "Rows of tasks",
            &status.source_rows.to_string(),
            &rows.join(", "),
        ),
    ];
    let Some(outlook) = outlook else {
        tiles.push(number(
            "Expected error",
            "not known yet",
            "more rows are needed",
        ));
        return format!("<dl class=\"tiles\">\n{}</dl>\n", tiles.concat());
    };
    for target in &outlook.targets {
        let now = &target.now;
        tiles.push(number(
            &format!("Expected error on {}", target.name),
            &format!("{} {}", digits(now.mean), outlook.error_unit),
            &format!("9 of 10 cases: {} to {}", digits(now.low), digits(now.high)),
        ));
    }
    let first = outlook.targets.first();
    if let Some((target, point)) = first.and_then(|one| Some((one, one.further.first()?))) {
        let fall = |error: f64| 100.0 * (1.0 - (error / target.now.mean).powi(2)).max(0.0);
        let rows = point.target_rows.as_ref().map_or(String::new(), |rows| {
            format!("; on rows of {} −{:.0} %", target.name, fall(rows.mean))
        });
        let gain = match outlook.advice.stop {
            true => "stop".to_owned(),
            false if fall(point.design.mean) < 0.5 => "no gain".to_owned(),
            false => format!("−{:.0} %", fall(point.design.mean)),
        };
        let (budget, unit) = (point.budget, &outlook.unit);
        let detail = format!("of the squared error, for {budget} {unit}{rows}");
        tiles.push(number("Next batch, as planned", &gain, &detail));
    }
    format!("<dl class=\"tiles\">\n{}</dl>\n", tiles.concat())
}

fn forecast(outlook: &Result<Outlook>) -> String {
    let title = "<h2 id=\"forecast\">What more would bring</h2>\n";
    let outlook = match outlook {
        Ok(outlook) => outlook,
        Err(error) => {
            let why = escape(&error.to_string());
            return format!("{title}<p>There is no forecast yet: {why}.</p>\n");
        }
    };
    let sentence = escape(&capital(&outlook.sentence));
    let mut out = title.to_owned();
    for (index, figure) in outlook.figures().into_iter().enumerate() {
        let wide = figure.to_svg(Theme::Page, &format!("forecast-{index}"));
        let narrow = narrow(figure).to_svg(Theme::Page, &format!("forecast-{index}-narrow"));
        out += &format!(
            "<figure><div class=\"wide\">{wide}</div><div class=\"narrow\">{narrow}</div>\n<figcaption>{sentence}. Bands hold the truth in 9 of 10 cases.</figcaption></figure>\n"
        );
    }
    let head = ["target", "more", "way", "error", "low", "high"].map(str::to_owned);
    out + &format!(
        "<details><summary>The numbers of this figure</summary>\n<pre tabindex=\"0\">{}</pre></details>\n{}",
        escape(&outlook.to_text()),
        csv_link("forecast.csv", &head, &numbers(outlook))
    )
}

/// A figure for a phone.
fn narrow(figure: taskscout_plot::LinePlot) -> taskscout_plot::LinePlot {
    taskscout_plot::LinePlot {
        width: 380.0,
        height: 320.0,
        ..figure
    }
}

/// The numbers of a forecast, line by line.
fn numbers(outlook: &Outlook) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    for target in &outlook.targets {
        let mut line = |budget: usize, way: &str, interval: &taskscout::forecast::Interval| {
            lines.push(vec![
                target.name.clone(),
                budget.to_string(),
                way.to_owned(),
                interval.mean.to_string(),
                interval.low.to_string(),
                interval.high.to_string(),
            ]);
        };
        line(0, "now", &target.now);
        for point in &target.further {
            line(point.budget, "as planned", &point.design);
            line(point.budget, "all tasks alike", &point.passive);
            if let Some(interval) = &point.target_rows {
                line(point.budget, "target rows", interval);
            }
        }
    }
    lines
}

fn contents() -> String {
    let parts = [
        ("forecast", "What more would bring"),
        ("next", "What to measure next"),
        ("tasks", "Which tasks"),
        ("model", "The model"),
        ("history", "History"),
        ("words", "Words"),
    ];
    let links = parts.map(|(id, text)| format!("<a href=\"#{id}\">{text}</a> "));
    format!(
        "<nav class=\"contents\" aria-label=\"Contents\">{}</nav>\n",
        links.concat()
    )
}

fn words() -> String {
    let one = |(word, meaning): (&str, &str)| format!("<dt>{word}</dt><dd>{meaning}</dd>\n");
    format!(
        "<h2 id=\"words\">Words</h2>\n<dl>\n{}</dl>\n",
        WORDS.map(one).concat()
    )
}

fn table(head: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    let heads: String = head
        .iter()
        .map(|name| format!("<th scope=\"col\">{}</th>", escape(name)))
        .collect();
    let line = |cells: Vec<String>| {
        let last = cells.len().saturating_sub(1);
        let cell = |(at, cell): (usize, &String)| {
            let class = if at == last { " class=\"words\"" } else { "" };
            format!("<td{class}>{}</td>", escape(cell))
        };
        let cells: String = cells.iter().enumerate().map(cell).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let body: String = rows.map(line).collect();
    format!(
        "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>\n"
    )
}
