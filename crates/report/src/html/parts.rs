//! Pieces of the page: headings, tables, figures, settings, definitions.

use serde_json::Value;

use crate::columns::Column;
use crate::contender::TARGET_DATA;
use crate::failure::{FailedTrial, trials};
use crate::format::escape;
use taskscout_plot::{LinePlot, Theme};

/// The level of a heading, 1 to 6.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level(pub(super) u8);

impl Level {
    /// The level of a heading inside this one's section.
    pub(super) fn below(self) -> Self {
        Self((self.0 + 1).min(6))
    }
}

pub(super) fn heading(Level(level): Level, text: &str, id: &str) -> String {
    let id = match id {
        "" => String::new(),
        id => format!(" id=\"{}\"", escape(id)),
    };
    format!("<h{level}{id}>{}</h{level}>\n", escape(text))
}

/// Escaped text whose numbers keep their signs and units on the same line.
pub(super) fn tied(text: &str) -> String {
    tie(&escape(text))
}

/// The same for markup.
pub(super) fn tie(markup: &str) -> String {
    markup
        .replace(" %", "\u{a0}%")
        .replace(" ± ", "\u{a0}±\u{a0}")
        .replace("≤ ", "≤\u{a0}")
}

/// A cell with its interval, if any, on a line of its own.
pub(super) fn stacked(cell: &str) -> String {
    match cell.split_once(" [") {
        Some((value, interval)) => format!("{}<small>[{}</small>", tied(value), tied(interval)),
        None => tied(cell),
    }
}

/// A table with one row a strategy; nothing if there are no columns.
pub(super) fn table(names: &Column, columns: &[Column], caption: &str) -> String {
    match columns {
        [] => String::new(),
        columns => named_rows(names, columns, caption),
    }
}

/// A table whose first column names the rows; it may be the only one.
pub(super) fn named_rows(names: &Column, columns: &[Column], caption: &str) -> String {
    let class = |column: &Column| if column.words { " class=\"words\"" } else { "" };
    let mut out = String::from("<div class=\"scroll\" tabindex=\"0\"><table>\n");
    if !caption.is_empty() {
        out += &format!("<caption>{}</caption>\n", escape(caption));
    }
    out += "<thead><tr>";
    for column in std::iter::once(names).chain(columns) {
        let text = tied(&column.heading);
        out += &format!("<th scope=\"col\"{}>{text}</th>", class(column));
    }
    out += "</tr></thead>\n<tbody>\n";
    for (row, name) in names.cells.iter().enumerate() {
        out += &format!("<tr><th scope=\"row\">{}</th>", escape(name));
        for column in columns {
            let cell = column.cells.get(row).map_or("", String::as_str);
            out += &format!("<td{}>{}</td>", class(column), stacked(cell));
        }
        out += "</tr>\n";
    }
    out + "</tbody>\n</table></div>\n"
}

pub(super) fn figure(svg: &str, caption: &str) -> String {
    format!(
        "<figure>\n<div class=\"scroll\" tabindex=\"0\">{svg}</div>\n<figcaption>{}</figcaption>\n</figure>\n",
        tied(caption)
    )
}

/// A figure of curves, drawn once for a desk and once for a phone.
pub(super) fn curves(plot: &LinePlot, id: &str, caption: &str) -> String {
    let narrow = LinePlot {
        width: 380.0,
        height: 340.0,
        ..plot.clone()
    };
    format!(
        "<figure>\n<div class=\"wide\"><div class=\"scroll\" tabindex=\"0\">{}</div></div>\n<div class=\"narrow\">{}</div>\n<figcaption>{}</figcaption>\n</figure>\n",
        plot.to_svg(Theme::Page, &format!("{id}-loss")),
        narrow.to_svg(Theme::Page, &format!("{id}-loss-narrow")),
        tied(caption)
    )
}

/// What a careful reader must know before trusting the figures.
pub(super) fn notes(notes: &[String]) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let items: Vec<String> = notes
        .iter()
        .map(|note| format!("<li>{}</li>\n", tied(note)))
        .collect();
    format!(
        "<div class=\"notes\" role=\"note\"><ul>\n{}</ul></div>\n",
        items.concat()
    )
}

/// The trials that gave nothing, each with its reason.
pub(super) fn failed(failed: &[FailedTrial]) -> String {
    if failed.is_empty() {
        return String::new();
    }
    let left_out = match failed.len() {
        1 => "failed; no figure here counts it.",
        _ => "failed; no figure here counts them.",
    };
    let mut out = format!(
        "<div class=\"notes\" role=\"note\"><p>{} {left_out}</p>\n\
         <div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">strategy</th>\
         <th scope=\"col\">seed</th><th scope=\"col\" class=\"words\">error</th></tr></thead>\n<tbody>\n",
        trials(failed.len())
    );
    for trial in failed {
        out += &format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"words\">{}</td></tr>\n",
            escape(&trial.contender()),
            trial.seed,
            escape(&trial.error)
        );
    }
    out + "</tbody>\n</table></div></div>\n"
}

pub(super) fn settings(settings: &Value, level: Level) -> String {
    if settings.is_null() {
        return String::new();
    }
    // A JSON value without non-text keys always prints; its short form stands in otherwise.
    let text = serde_json::to_string_pretty(settings).unwrap_or_else(|_| settings.to_string());
    format!(
        "{}<details><summary>Full configuration</summary>\n<pre>{}</pre>\n</details>\n",
        heading(level, "Settings", ""),
        escape(&text)
    )
}

/// The words of a report with their meanings.
const DEFINITIONS: [(&str, &str); 8] = [
    (
        "Budget",
        "Source samples collected so far. Target samples are given beforehand and do not count.",
    ),
    (
        "Final loss",
        "Mean squared error on the target of the shared predictor (the learnt representation \
             with a head fitted on the target samples) after the last round: mean over seeds ± \
             standard error.",
    ),
    (
        "Returned loss",
        "The same for the returned predictor. It is the mean of target-only, shared and other \
             predictors, weighted by how well each predicts held-out target samples (with networks it is the one of \
             largest weight); “predictor” names the one of largest weight, and for how many seeds if \
             they differ.",
    ),
    (
        "Budget to passive's loss",
        "The budget at which a strategy's mean curve first reaches the final mean loss of the \
             passive strategy, by linear interpolation between rounds, as a share of passive's \
             whole budget. Less is better; 100 % means no saving. “≤” marks a strategy that was \
             there after its first round, so that less might have been enough. In brackets: 90 % \
             bootstrap interval over seeds (1,000 resamples, the same seeds for both strategies); \
             “never” as an end means that more than 5 % of the resamples do not reach the loss. “*” marks \
             a strategy whose mean curve rises above that loss again later.",
    ),
    (
        "Tasks, long-term tasks",
        "Different source tasks sampled; those that hold at least 1 % of the source samples; those \
             that more than one round used; the fewest tasks that hold 90 % of the source samples.",
    ),
    (
        "Subspace similarity",
        "Smallest squared cosine of the angles between the learnt and the true representation: \
             1 when it is found, 0 when a direction is missed altogether. Defined where the truth \
             is known.",
    ),
    (
        "Relevance",
        "Cosine between the true embedding of the exploited task of largest weight and the \
             target's.",
    ),
    (
        "target-only",
        "A predictor trained on the target samples alone, without any source task.",
    ),
];

/// What each figure means; `with_target_data` if a strategy of this name is among them.
pub(super) fn guide(with_target_data: bool) -> String {
    let mut definitions = DEFINITIONS.to_vec();
    if with_target_data {
        definitions.push((
            TARGET_DATA,
            "A reference that collects from the hidden target itself, which no learner can do: it \
             shows how much there is to gain and takes no part in the comparison.",
        ));
    }
    let mut out = String::from("<section>\n<h2 id=\"guide\">How to read this report</h2>\n<dl>\n");
    for (term, meaning) in definitions {
        out += &format!("<dt>{}</dt>\n<dd>{}</dd>\n", tied(term), tied(meaning));
    }
    out + "</dl>\n</section>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_stop_at_six() {
        assert_eq!(
            heading(Level(6).below(), "a & b", ""),
            "<h6>a &amp; b</h6>\n"
        );
    }
}
