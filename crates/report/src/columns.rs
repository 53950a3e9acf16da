//! The columns that the terminal table and the HTML tables share.

use serde_json::Value;

use crate::curve::MeanSem;
use crate::format::{self, MISSING};
use crate::ordered::OrderedMap;
use crate::paper::paper_figure;
use crate::ratio::REFERENCE;
use crate::summary::{Seconds, StrategySummary};

/// What marks a budget that was not enough for good.
const RISES: &str = "*";

/// A column: a heading and one cell a strategy.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    pub(crate) heading: String,
    pub(crate) cells: Vec<String>,
    /// Whether cells are words, which stand to the left and may take several lines.
    pub(crate) words: bool,
}

/// The strategies of one target and what was published about them.
#[derive(Clone, Copy)]
pub(crate) struct Section<'a> {
    pub(crate) target: Option<&'a str>,
    pub(crate) strategies: &'a OrderedMap<StrategySummary>,
    pub(crate) paper: &'a Value,
}

impl Section<'_> {
    /// Strategy names, the first column of every table.
    pub(crate) fn names(&self) -> Column {
        Column {
            heading: "strategy".to_owned(),
            cells: self
                .strategies
                .iter()
                .map(|(name, _)| name.to_owned())
                .collect(),
            words: false,
        }
    }

    /// Losses and budgets, with the published figures beside them.
    pub(crate) fn results(&self) -> Vec<Column> {
        defined(vec![
            self.column("final loss", |_, s| opt(s.final_loss)),
            self.published_loss(),
            self.column("returned loss", |_, s| opt(s.returned_loss)),
            Column {
                words: true,
                ..self.column("predictor", |_, s| predictors(s))
            },
            self.column("budget to passive's loss", budget),
            self.published_budget(),
        ])
    }

    /// What the marks at budgets mean, a sentence for each strategy that has one.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let reference = self.strategies.get(REFERENCE).and_then(|s| s.final_loss);
        let rises = self.strategies.iter().filter_map(|(name, strategy)| {
            let (rise, passive) = (strategy.rises_again?, reference?);
            let end = if rise.at_end { ", its last round" } else { "" };
            Some(format!(
                "{RISES} {name} reaches passive's loss, but later rises above it: {} at {} samples{end}, against {}; its budget is the one at which it first reaches that loss.",
                format::short(rise.loss),
                format::grouped(rise.budget),
                format::short(passive.mean)
            ))
        });
        rises.collect()
    }

    /// Whether a published figure stands in the results.
    pub(crate) fn has_published(&self) -> bool {
        let published = |name: &str| {
            ["final_loss", "budget_ratio"]
                .iter()
                .any(|figure| paper_figure(self.paper, self.target, name, figure).is_some())
        };
        self.strategies.iter().any(|(name, _)| published(name))
    }

    /// What stands beside the paper's table: ours and the published figure in turn, then what else
    /// a reader asks first. No column is left out, so that experiments can share a table.
    pub(crate) fn overview(&self) -> [Column; 6] {
        [
            self.column("budget to passive's loss", budget),
            self.published_budget(),
            self.column("final loss", |_, s| opt(s.final_loss)),
            self.published_loss(),
            self.column("returned loss", |_, s| opt(s.returned_loss)),
            self.column("seconds", |_, s| Some(format::seconds(s.seconds.total))),
        ]
    }

    /// How many tasks there were and how good.
    pub(crate) fn tasks(&self) -> Vec<Column> {
        defined(vec![
            self.column("tasks", |_, s| Some(format::count(s.tasks))),
            self.column("long-term tasks", |_, s| {
                Some(format::count(s.long_term_tasks))
            }),
            self.column("relevance", |_, s| opt(s.relevance)),
            self.column("subspace similarity", |_, s| opt(s.subspace_similarity)),
        ])
    }

    /// Where the time went.
    pub(crate) fn times(&self) -> Vec<Column> {
        let part = |heading: &str, of: fn(&Seconds) -> f64| {
            self.column(heading, |_, s| Some(format::seconds(of(&s.seconds))))
        };
        vec![
            part("collect", |s| s.collect),
            part("train", |s| s.train),
            part("design", |s| s.design),
            part("total", |s| s.total),
        ]
    }

    fn published_loss(&self) -> Column {
        self.column("paper: loss", |name, _| {
            self.published(name, "final_loss", format::short)
        })
    }

    fn published_budget(&self) -> Column {
        self.column("paper: budget", |name, _| {
            self.published(name, "budget_ratio", |share| format::percent(share, 1))
        })
    }

    fn published(&self, name: &str, figure: &str, show: impl Fn(f64) -> String) -> Option<String> {
        paper_figure(self.paper, self.target, name, figure).map(show)
    }

    fn column(
        &self,
        heading: &str,
        cell: impl Fn(&str, &StrategySummary) -> Option<String>,
    ) -> Column {
        let cells = self
            .strategies
            .iter()
            .map(|(name, strategy)| cell(name, strategy).unwrap_or_else(|| MISSING.to_owned()));
        Column {
            heading: heading.to_owned(),
            cells: cells.collect(),
            words: false,
        }
    }
}

/// Leaves out columns in which nothing is defined.
fn defined(mut columns: Vec<Column>) -> Vec<Column> {
    columns.retain(|column| column.cells.iter().any(|cell| cell != MISSING));
    columns
}

fn opt(value: Option<MeanSem>) -> Option<String> {
    value.map(format::mean_sem)
}

/// The budget that a strategy needs, in words for the reference itself.
fn budget(name: &str, strategy: &StrategySummary) -> Option<String> {
    let ratio = strategy.budget_ratio?;
    if name == REFERENCE {
        return Some("reference".to_owned());
    }
    let mark = strategy.rises_again.map_or("", |_| RISES);
    Some(format::marked_ratio(&ratio, 1, mark))
}

fn predictors(strategy: &StrategySummary) -> Option<String> {
    let total: usize = strategy.predictors.iter().map(|(_, count)| count).sum();
    match strategy.predictors.as_slice() {
        [] => None,
        [(name, _)] => Some(name.clone()),
        several => {
            let shares: Vec<String> = several
                .iter()
                .map(|(name, count)| {
                    format!(
                        "{name} {}",
                        format::percent(*count as f64 / total as f64, 0)
                    )
                })
                .collect();
            Some(shares.join(", "))
        }
    }
}
