//! Pieces of the page: headings, tables, notes, settings.

use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use super::words::heading_of;
use crate::columns::Column;
use crate::failure::{FailedTrial, trials};

/// The level of a heading, 1 to 6.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level(pub(super) u8);

impl Level {
    /// The level of a heading inside this one's section.
    pub(super) fn below(self) -> Self {
        Self((self.0 + 1).min(6))
    }
}

pub(super) fn heading(Level(level): Level, text: &str, id: &str) -> Markup {
    let id = Some(id).filter(|id| !id.is_empty());
    html! {
        @match level {
            1 => { h1 id=[id] { (text) } }
            2 => { h2 id=[id] { (text) } }
            3 => { h3 id=[id] { (text) } }
            4 => { h4 id=[id] { (text) } }
            5 => { h5 id=[id] { (text) } }
            _ => { h6 id=[id] { (text) } }
        }
        "\n"
    }
}

/// Text whose numbers keep their signs and units on the same line.
pub(super) fn tied(text: &str) -> String {
    text.replace(" %", "\u{a0}%")
        .replace(" ± ", "\u{a0}±\u{a0}")
        .replace("≤ ", "≤\u{a0}")
}

/// The same for markup.
pub(super) fn tie(markup: Markup) -> Markup {
    PreEscaped(tied(&markup.into_string()))
}

/// A cell with its interval, if any, on a line of its own.
pub(super) fn stacked(cell: &str) -> Markup {
    match cell.split_once(" [") {
        Some((value, interval)) => {
            html! { (tied(value)) small { "[" (tied(interval)) } }
        }
        None => html! { (tied(cell)) },
    }
}

/// A table with one row a strategy; nothing if there are no columns.
pub(super) fn table(names: &Column, columns: &[Column], caption: &str) -> Markup {
    match columns {
        [] => html! {},
        columns => named_rows(names, columns, caption),
    }
}

/// A table whose first column names the rows; it may be the only one.
pub(super) fn named_rows(names: &Column, columns: &[Column], caption: &str) -> Markup {
    let class = |column: &Column| column.words.then_some("words");
    let cell = |column: &Column, row: usize| stacked(column.cells.get(row).map_or("", |c| c));
    html! {
        div.scroll tabindex="0" {
            table {
                @if !caption.is_empty() { caption { (caption) } }
                thead { tr {
                    @for column in std::iter::once(names).chain(columns) {
                        th scope="col" class=[class(column)] { (heading_of(&column.heading)) }
                    }
                } }
                "\n"
                tbody {
                    @for (row, name) in names.cells.iter().enumerate() {
                        tr {
                            th scope="row" { (name) }
                            @for column in columns { td class=[class(column)] { (cell(column, row)) } }
                        }
                        "\n"
                    }
                }
            }
        }
        "\n"
    }
}

/// What a careful reader must know before trusting the figures.
pub(super) fn notes(notes: &[String]) -> Markup {
    html! {
        @if !notes.is_empty() {
            div.notes role="note" {
                ul { @for note in notes { li { (tied(note)) } } }
            }
            "\n"
        }
    }
}

/// The trials that gave nothing, each with its reason.
pub(super) fn failed(failed: &[FailedTrial]) -> Markup {
    let left_out = match failed.len() {
        1 => "failed; no figure here counts it.",
        _ => "failed; no figure here counts them.",
    };
    html! {
        @if !failed.is_empty() {
            div.notes role="note" {
                p { (trials(failed.len())) " " (left_out) }
                div.scroll tabindex="0" { table {
                    thead { tr {
                        th scope="col" { "strategy" }
                        th scope="col" { "seed" }
                        th.words scope="col" { "error" }
                    } }
                    tbody {
                        @for trial in failed {
                            tr {
                                th scope="row" { (trial.contender()) }
                                td { (trial.seed) }
                                td.words { (trial.error) }
                            }
                            "\n"
                        }
                    }
                } }
            }
            "\n"
        }
    }
}

/// The whole configuration, folded.
pub(super) fn settings(settings: &Value) -> Markup {
    // A JSON value without non-text keys always prints; its short form stands in otherwise.
    let text = serde_json::to_string_pretty(settings).unwrap_or_else(|_| settings.to_string());
    html! {
        details { summary { "Full configuration" } pre tabindex="0" { (text) } }
        "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_stop_at_six() {
        assert_eq!(
            heading(Level(6).below(), "a & b", "").into_string(),
            "<h6>a &amp; b</h6>\n"
        );
        assert_eq!(
            heading(Level(2), "<b>", "\"x").into_string(),
            "<h2 id=\"&quot;x\">&lt;b&gt;</h2>\n"
        );
    }
}
