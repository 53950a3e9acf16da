//! A study as a page: what to measure next and why, how sure the model is, what happened.

use taskscout::study::ForecastRequest;
use taskscout_plot::Theme;
use taskscout_plot::format::escape;
use taskscout_report::html_page;

use taskscout_io::tables::short;

use crate::error::Result;
use crate::lease::ItemState;
use crate::status::{ItemStatus, Status};
use crate::stored::StoredStudy;
use crate::time::minute;

/// Lines of the history on the page.
const LINES: usize = 200;

impl StoredStudy {
    /// The study as one HTML page.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn report(&mut self) -> Result<String> {
        let status = self.status()?;
        let outlook = self.outlook(&ForecastRequest::further(&self.usual_budgets()));
        let verdict = match &outlook {
            Ok(outlook) => outlook.sentence.clone(),
            Err(_) => format!("next: {}", status.next),
        };
        let mut body = format!(
            "<h1>{}</h1>\n<p class=\"facts\">{}</p>\n<p><strong>{}</strong></p>\n",
            escape(&status.study),
            escape(&facts(&status)),
            escape(&capital(&verdict))
        );
        body += &self.next_items(&status);
        match outlook {
            Ok(outlook) => {
                body += "<h2>What more would bring</h2>\n";
                for (index, figure) in outlook.figures().iter().enumerate() {
                    body += &format!(
                        "<figure>{}</figure>\n",
                        figure.to_svg(Theme::Page, &format!("forecast-{index}"))
                    );
                }
                body += &format!("<pre>{}</pre>\n", escape(&outlook.to_text()));
            }
            Err(error) => {
                body += &format!(
                    "<h2>What more would bring</h2>\n<p>There is no forecast yet: {}.</p>\n",
                    escape(&error.to_string())
                );
            }
        }
        body += &self.models(&status);
        body += &self.all_items();
        body += &self.past();
        Ok(html_page(
            &format!("{} – taskscout study", status.study),
            &body,
        ))
    }

    fn next_items(&self, status: &Status) -> String {
        let mut text = format!(
            "<h2>What to measure next</h2>\n<p>{}.</p>\n",
            escape(&capital(&status.next))
        );
        if !status.open.is_empty() {
            text += &self.items_table(&status.open);
        }
        text
    }

    fn all_items(&self) -> String {
        let finished: Vec<ItemStatus> = self
            .items()
            .into_iter()
            .filter(|item| matches!(item.state, ItemState::Told | ItemState::Failed))
            .collect();
        match finished.is_empty() {
            true => String::new(),
            false => format!(
                "<h2>What was measured, and why</h2>\n{}",
                self.items_table(&finished)
            ),
        }
    }

    fn items_table(&self, items: &[ItemStatus]) -> String {
        let mut head = vec!["item".to_owned(), "task".to_owned()];
        head.extend(
            self.definition()
                .parameters
                .iter()
                .map(crate::Column::label),
        );
        head.extend(
            ["samples", "came", "cost", "round", "stage", "state", "why"].map(str::to_owned),
        );
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
        table(&head, items.iter().map(row))
    }

    /// The model of every target, with the guard's reason.
    fn models(&self, status: &Status) -> String {
        let mut text = "<h2>The model</h2>\n".to_owned();
        match self.learner().and_then(|study| Ok(study.predictors()?)) {
            Ok(all) if !all.is_empty() => {
                let head = ["target", "rows", "predictor", "why"].map(str::to_owned);
                let rows = all.iter().map(|predictor| {
                    let known = status
                        .targets
                        .iter()
                        .find(|target| target.name == predictor.target);
                    vec![
                        predictor.target.clone(),
                        known.map_or(String::new(), |target| target.rows.to_string()),
                        predictor.kind.to_string(),
                        self.ways(predictor).join(" · "),
                    ]
                });
                text += &table(&head, rows);
            }
            Ok(_) => {
                text += "<p>No target has rows of its own yet: tell some, then there is a model to choose.</p>\n";
            }
            Err(error) => {
                text += &format!(
                    "<p>There is no model yet: {}.</p>\n",
                    escape(&error.to_string())
                );
            }
        }
        text
    }

    fn past(&self) -> String {
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
        format!("<h2>History</h2>\n{}{more}", table(&head, rows))
    }
}

fn facts(status: &Status) -> String {
    let targets: Vec<String> = status
        .targets
        .iter()
        .map(|target| format!("{} ({} rows)", target.name, target.rows))
        .collect();
    format!(
        "{} source rows in {} rounds · {} {} spent · target {} · {} · {}",
        status.source_rows,
        status.rounds,
        short(status.spent),
        status.unit,
        if targets.is_empty() {
            "none yet".into()
        } else {
            targets.join(", ")
        },
        status.strategy,
        status.last.as_ref().map_or(String::new(), |line| format!(
            "{} UTC",
            minute(line.time_us)
        ))
    )
}

fn table(head: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String], tag: &str| {
        let cells: String = cells
            .iter()
            .map(|cell| format!("<{tag}>{}</{tag}>", escape(cell)))
            .collect();
        format!("<tr>{cells}</tr>\n")
    };
    let body: String = rows.map(|cells| line(&cells, "td")).collect();
    format!(
        "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead>{}</thead>\n<tbody>\n{body}</tbody>\n</table></div>\n",
        line(head, "th")
    )
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
