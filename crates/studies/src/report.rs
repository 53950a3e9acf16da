//! A study as a page: the question and the answer, what to measure next and why, how sure the model is, what happened.
//!
//! The page is one file: it loads nothing and runs nothing. Every figure has its numbers beside it, as a table to
//! download.

use maud::{Markup, PreEscaped, html};
use taskscout::forecast::Interval;
use taskscout::study::ForecastRequest;
use taskscout::train::AveragedPredictor;
use taskscout_io::tables::short;
use taskscout_plot::{Numbers, Theme};
use taskscout_report::{FigureFiles, ReportFigure, csv_link, html_page};

use crate::answer::Answer;
use crate::error::Result;
use crate::lease::ItemState;
use crate::outlook::Outlook;
use crate::report_figures::{map, samples};
use crate::report_tiles::tiles;
use crate::report_words::words;
use crate::status::{ItemStatus, Status};
use crate::stored::StoredStudy;
use crate::time::minute;
use crate::what_if::{Supposed, WhatIf};
use crate::words::capital;

/// Lines of the history on the page.
const LINES: usize = 200;
/// Finished items on the page; the others are in an export.
const FINISHED: usize = 500;

/// Parts of the page that the list of contents leads to.
const PARTS: [(&str, &str); 7] = [
    ("next", "What to measure next"),
    ("forecast", "What more would bring"),
    ("tasks", "Which tasks were chosen"),
    ("model", "The model"),
    ("measured", "What was measured"),
    ("history", "History"),
    ("words", "Words"),
];

/// What a page is made of.
struct Page {
    status: Status,
    outlook: Result<Outlook>,
    next: Option<Supposed>,
    answer: Answer,
}

impl StoredStudy {
    /// The study as one HTML page.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn report(&mut self) -> Result<String> {
        let page = self.page()?;
        let (status, outlook) = (&page.status, page.outlook.as_ref());
        let body = html! {
            (self.opening(status, &page.answer))
            (tiles(status, outlook.ok()))
            (contents())
            (self.next_items(status, page.next.as_ref()))
            h2 #forecast { "What more would bring" }
            (forecast(outlook))
            h2 #tasks { "Which tasks were chosen, and where the target lies" }
            @for (figure, id) in self.task_figures(page.next.as_ref()).iter().zip(["a", "b"]) {
                (PreEscaped(figure.to_html_figure(&format!("tasks-{id}"))))
            }
            @if samples(self).is_none() { p { "No rows of planned tasks have come yet." } }
            h2 #model { "The model" }
            (self.models(status))
            h2 #measured { "What was measured, and why" }
            (self.finished_items())
            h2 #history { "History" }
            (self.past_lines())
            (words())
        };
        let title = format!("{} – taskscout study", status.study);
        Ok(html_page(&title, &body.into_string()))
    }

    /// What to do now, in a sentence, and how sure that is.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn answer_now(&mut self) -> Result<Answer> {
        Ok(self.page()?.answer)
    }

    /// Every figure of the page as a picture and its numbers.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn figure_files(&mut self) -> Result<Vec<FigureFiles>> {
        let page = self.page()?;
        let figures = self.task_figures(page.next.as_ref());
        let mut files: Vec<FigureFiles> = figures.iter().map(ReportFigure::files).collect();
        if let Ok(outlook) = &page.outlook {
            files.extend(outlook.figures().iter().enumerate().map(|(index, plot)| {
                let name = forecast_name(index);
                FigureFiles {
                    svg: plot.to_svg(Theme::Standalone, &name),
                    csv: numbers(outlook).to_csv(),
                    name,
                }
            }));
        }
        Ok(files)
    }

    fn page(&mut self) -> Result<Page> {
        let status = self.status()?;
        let budgets = self.usual_budgets();
        let outlook = self.outlook(&ForecastRequest::further(&budgets));
        let next = self.what_if(&WhatIf::budget(budgets[0].max(1))).ok();
        let answer = self.answer(&status, outlook.as_ref().ok(), next.as_ref());
        Ok(Page {
            status,
            outlook,
            next,
            answer,
        })
    }

    fn task_figures(&self, next: Option<&Supposed>) -> Vec<ReportFigure> {
        samples(self).into_iter().chain(map(self, next)).collect()
    }

    fn opening(&self, status: &Status, answer: &Answer) -> Markup {
        let last = status.last.as_ref().map_or(String::new(), |line| {
            format!(", last change {} UTC", minute(line.time_us))
        });
        html! {
            p.question { (answer.question) }
            h1 { (answer.verdict) }
            p.sure { (answer.sure) }
            @if !answer.why.is_empty() { p { strong { "Why these?" } " " (answer.why) } }
            p.facts {
                "Study " (status.study) " · written " (minute(self.now())) " UTC" (last)
                " · taskscout " (env!("CARGO_PKG_VERSION")) " · seed " (self.study().config().seed)
                " · strategy " (status.strategy) ", trainer " (status.trainer) " · made again by "
                code { "taskscout study report --study " (quoted(&status.study)) }
            }
        }
    }

    fn next_items(&self, status: &Status, next: Option<&Supposed>) -> Markup {
        html! {
            h2 #next { "What to measure next" }
            p { (capital(&status.next)) "." }
            @if !status.open.is_empty() {
                (self.items_table(&status.open, "next"))
            } @else if let Some(next) = next {
                p { "With " (next.budget) " " (next.unit) " the next plan would be:" }
                (self.supposed_table(next))
            }
        }
    }

    fn supposed_table(&self, next: &Supposed) -> Markup {
        let head = self.head(&["samples", "cost", "stage", "why"]);
        let rows = next.items.iter().map(|item| {
            let mut cells = vec![item.task.clone()];
            cells.extend(item.parameters.iter().map(|value| short(*value)));
            cells.extend([
                item.n.to_string(),
                short(item.cost),
                item.stage.clone(),
                item.why.clone(),
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

    fn finished_items(&self) -> Markup {
        let mut finished = self.items();
        finished.retain(|item| matches!(item.state, ItemState::Told | ItemState::Failed));
        let earlier = finished.len().saturating_sub(FINISHED);
        html! {
            @if finished.is_empty() { p { "Nothing was measured yet." } }
            @else { (self.items_table(&finished[earlier..], "measured")) }
            @if earlier > 0 { p { (earlier) " earlier items are in " code { "taskscout study export" } "." } }
        }
    }

    fn items_table(&self, items: &[ItemStatus], name: &str) -> Markup {
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
                item.why.clone(),
            ]);
            cells
        };
        let rows: Vec<Vec<String>> = items.iter().map(row).collect();
        let shown = table(&head, rows.iter().cloned());
        html! { (shown) (csv_link(name, &Numbers { head, rows })) }
    }

    /// The model of every target, with the guard's reason.
    fn models(&self, status: &Status) -> Markup {
        let rows_of = |name: &str| {
            let mut targets = status.targets.iter();
            let found = targets.find(|target| target.name == name);
            found.map_or(0, |target| target.rows)
        };
        let one = |predictor: &AveragedPredictor| {
            html! {
                h3 { "For target " (predictor.target) }
                p {
                    "Chosen by " (rows_of(&predictor.target)) " rows of the target: mostly "
                    strong { (predictor.kind.to_string()) } "."
                }
                ul { @for way in self.ways(predictor) { li { (way) } } }
            }
        };
        match self.learner().and_then(|study| Ok(study.predictors()?)) {
            Ok(all) if !all.is_empty() => html! {
                @for predictor in all.iter() { (one(predictor)) }
                p.facts { "Tasks: " (status.task_features) ". Inputs: " (status.input_features) "." }
            },
            Ok(_) => html! {
                p { "No target has rows of its own yet: tell some, then there is a model to choose." }
            },
            Err(error) => html! { p { "There is no model yet: " (error) "." } },
        }
    }

    fn past_lines(&self) -> Markup {
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
        html! {
            details { summary { "What happened, newest first" } (table(&head, rows)) }
            @if rest > 0 { p { (rest) " earlier lines are in " code { "taskscout study history" } "." } }
        }
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

fn forecast_name(index: usize) -> String {
    match index {
        0 => "forecast".to_owned(),
        index => format!("forecast-{index}"),
    }
}

fn forecast(outlook: std::result::Result<&Outlook, &crate::Error>) -> Markup {
    let outlook = match outlook {
        Ok(outlook) => outlook,
        Err(error) => return html! { p { "There is no forecast yet: " (error) "." } },
    };
    let sentence = capital(&outlook.sentence);
    let table = numbers(outlook);
    html! {
        p { (sentence) "." }
        @for (index, figure) in outlook.figures().into_iter().enumerate() {
            @let name = forecast_name(index);
            figure {
                div.wide { (PreEscaped(figure.to_svg(Theme::Page, &name))) }
                div.narrow { (PreEscaped(narrow(figure).to_svg(Theme::Phone, &format!("{name}-narrow")))) }
                figcaption { (figure_caption(outlook, index)) }
            }
        }
        details {
            summary { "The numbers in full" }
            pre tabindex="0" { (outlook.to_text()) }
        }
        (csv_link("forecast", &table))
    }
}

/// What a figure of the forecast shows.
fn figure_caption(outlook: &Outlook, index: usize) -> String {
    let Outlook { unit, targets, .. } = outlook;
    let on = &targets[index].name;
    format!(
        "The error expected on {on} against what is spent, in {unit}. Bands hold the truth in 9 of 10 cases."
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
fn numbers(outlook: &Outlook) -> Numbers {
    let mut rows = Vec::new();
    for target in &outlook.targets {
        let open = outlook.under_way.map_or(0.0, |open| open.cost);
        let mut line = |more: f64, way: &str, interval: &Interval| {
            rows.push(vec![
                target.name.clone(),
                short(more),
                way.to_owned(),
                interval.mean.to_string(),
                interval.low.to_string(),
                interval.high.to_string(),
            ]);
        };
        line(0.0, "now", &target.now);
        if let Some(interval) = &target.under_way {
            line(open, "the open items", interval);
        }
        for point in &target.further {
            let more = open + point.budget as f64;
            line(more, "as planned", &point.design);
            line(more, "all tasks alike", &point.passive);
            if let Some(interval) = &point.target_rows {
                line(more, "target rows", interval);
            }
        }
    }
    let head = ["target", "more", "way", "error", "low", "high"].map(str::to_owned);
    Numbers {
        head: head.to_vec(),
        rows,
    }
}

fn contents() -> Markup {
    html! {
        nav.contents aria-label="Contents" {
            @for (id, title) in PARTS { a href={ "#" (id) } { (title) } " " }
        }
    }
}

fn table(head: &[String], rows: impl Iterator<Item = Vec<String>>) -> Markup {
    // Sentences stand to the left and may take several lines.
    let words = |name: &str| {
        let words = ["task", "why", "what", "stage", "state", "by"].contains(&name);
        words.then_some("words")
    };
    html! {
        div.scroll tabindex="0" { table {
            thead { tr {
                @for name in head { th scope="col" class=[words(name)] { (name) } }
            } }
            tbody {
                @for row in rows {
                    tr { @for (cell, name) in row.iter().zip(head) { td class=[words(name)] { (cell) } } }
                }
            }
        } }
    }
}
