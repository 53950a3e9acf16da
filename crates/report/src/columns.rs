//! The columns that the terminal table and the HTML tables share.

use serde_json::Value;

use crate::contender::competes;
use crate::curve::MeanSem;
use crate::floor::{self, Floor};
use crate::format::{self, MISSING};
use crate::judged::Judged;
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
    /// The loss that decides.
    pub(crate) judged: Judged,
    /// What a design that knows the truth would reach.
    pub(crate) floor: Option<Floor>,
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

    /// Losses and budgets, with the published figures beside those that they measure.
    pub(crate) fn results(&self) -> Vec<Column> {
        let predictor = Column {
            words: true,
            ..self.column("predictor", |_, s| predictors(s))
        };
        let returned = self.column(Judged::Returned.name(), |_, s| opt(s.returned_loss));
        let shared = self.column(Judged::Shared.name(), |_, s| opt(s.final_loss));
        defined(match self.judged {
            Judged::Shared => vec![
                shared,
                self.published_loss(),
                returned,
                predictor,
                self.budget(Judged::Shared),
                self.published_budget(),
            ],
            // What is the same is shown once.
            Judged::Returned if !self.guard_mattered() => vec![
                returned,
                self.published_loss(),
                predictor,
                self.budget(Judged::Returned),
                self.published_budget(),
            ],
            Judged::Returned => vec![
                returned,
                predictor,
                self.budget(Judged::Returned),
                shared,
                self.published_loss(),
                Column {
                    heading: "shared: budget".into(),
                    ..self.budget(Judged::Shared)
                },
                self.published_budget(),
            ],
        })
    }

    /// Whether what was handed back is anywhere another than the shared predictor.
    pub(crate) fn guard_mattered(&self) -> bool {
        let differs = |figures: &StrategySummary| match (figures.final_loss, figures.returned_loss)
        {
            (Some(shared), Some(returned)) => shared.mean.to_bits() != returned.mean.to_bits(),
            _ => false,
        };
        self.strategies.iter().any(|(_, figures)| differs(figures))
    }

    fn budget(&self, judged: Judged) -> Column {
        self.column("budget to passive's loss", |name, figures| {
            budget(name, figures, judged)
        })
    }

    /// What the marks at budgets mean, a sentence for each strategy that has one, and the floor below all of them.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let passive = self.strategies.get(REFERENCE);
        let reference = passive.and_then(|s| s.loss(self.judged));
        let rises = self.strategies.iter().filter_map(|(name, strategy)| {
            let (rise, passive) = (strategy.rise(self.judged)?, reference?);
            let end = if rise.at_end { ", its last round" } else { "" };
            Some(format!(
                "{RISES} {name} reaches passive's loss, but later rises above it: {} at {} samples{end}, against {}; its budget is the one at which it first reaches that loss.",
                format::short(rise.loss),
                format::grouped(rise.budget),
                format::short(passive.mean)
            ))
        });
        let floor = self.floor.map(|floor| floor::words(floor, self.strategies));
        rises.chain(floor).collect()
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
            self.column(Judged::Returned.name(), |_, s| opt(s.returned_loss)),
            self.budget(self.judged),
            self.published_budget(),
            self.column(Judged::Shared.name(), |_, s| opt(s.final_loss)),
            self.published_loss(),
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
            self.column("in several rounds", |_, s| {
                s.repeated_tasks.map(format::count)
            }),
            self.column("for 90 % of samples", |_, s| {
                s.main_tasks.map(format::count)
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
fn budget(name: &str, strategy: &StrategySummary, judged: Judged) -> Option<String> {
    // References collect nothing to compare, or what no learner can.
    let ratio = strategy.ratio(judged).filter(|_| competes(name))?;
    if name == REFERENCE {
        return Some("reference".to_owned());
    }
    if ratio.at_first_round && ratio.mean.is_some_and(|mean| mean >= 1.0) {
        // One round for all: nobody can reach it with less.
        return Some("same budget".to_owned());
    }
    let mark = strategy.rise(judged).map_or("", |_| RISES);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::Summary;
    use crate::testing::curve;
    use serde_json::json;

    #[test]
    fn references_have_no_budget_to_reach() {
        let mut rows = curve("target-only", 2, &[(0, 9.0)]);
        rows.extend(curve("passive", 2, &[(100, 8.0), (200, 4.0)]));
        rows.extend(curve("aware", 2, &[(100, 3.0), (200, 2.0)]));
        rows.extend(curve("target-data", 2, &[(100, 1.0), (200, 0.5)]));
        for row in &mut rows {
            row.returned_loss = row.test_loss;
        }
        let summary = Summary::from_rows(&rows, json!({})).unwrap();
        let section = Section {
            target: None,
            strategies: &summary.strategies,
            paper: &summary.paper,
            judged: Judged::Returned,
            floor: None,
        };
        let cells = section.budget(Judged::Returned).cells;
        assert_eq!([&cells[0], &cells[1], &cells[3]], ["–", "reference", "–"]);
        assert!(cells[2].contains('%'), "{cells:?}");
    }
}
