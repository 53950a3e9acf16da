//! A plan as it is handed out: JSON, a table for people, files.

use std::fmt::Write as _;

use serde::Serialize;
use taskscout_io::tables::short;

use super::aligned::aligned;
use super::say::percent;

/// Rows of a plan that a table shows.
const SHOWN: usize = 40;
/// Parameters that a table shows.
const PARAMETERS: usize = 6;

/// A plan with its certificate; the names are those of the JSON.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Outcome {
    pub(super) objective: f64,
    pub(super) lower_bound: Option<f64>,
    pub(super) gap: Option<f64>,
    pub(super) iterations: usize,
    /// The gap that the solver stopped at before it had reached the one asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stopped_at: Option<f64>,
    pub(super) solve_s: f64,
    pub(super) criterion: String,
    pub(super) budget: f64,
    pub(super) plan_objective: f64,
    pub(super) rounding_factor: f64,
    pub(super) spent: f64,
    pub(super) plan: Vec<Row>,
}

/// One task of a plan.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Row {
    pub(super) task: Vec<f64>,
    pub(super) name: Option<String>,
    pub(super) row: Option<usize>,
    pub(super) weight: f64,
    pub(super) n: usize,
    pub(super) similarity: Option<f64>,
    pub(super) risk_share: f64,
    pub(super) cost: f64,
    pub(super) reason: String,
}

impl Row {
    /// Its name, or its row; none for a task that was found in a space.
    pub(super) fn label(&self) -> Option<String> {
        let row = || self.row.map(|row| format!("row {row}"));
        self.name.clone().or_else(row)
    }
}

/// What the words about a plan depend on beside the plan.
#[derive(Debug, Clone, Default)]
pub(super) struct Setting {
    /// Names of the parameters.
    pub(super) columns: Vec<String>,
    /// Candidates, where they were a table.
    pub(super) candidates: Option<usize>,
    /// Whether money is spent, not samples.
    pub(super) has_costs: bool,
    /// Whether tasks were chosen under restrictions that the bound does not know of.
    pub(super) restricted: bool,
    /// Whether logs may have run out.
    pub(super) limited: bool,
    /// The value of an even split over all candidates.
    pub(super) even_split: Option<f64>,
    /// Whether data were given.
    pub(super) has_given: bool,
    /// The cost of the cheapest further sample of a planned task.
    pub(super) cheapest: f64,
}

impl Outcome {
    /// Whether every number can be written as JSON.
    pub(super) fn is_finite(&self) -> bool {
        let numbers = [
            self.objective,
            self.plan_objective,
            self.rounding_factor,
            self.spent,
        ];
        let bounds = self.lower_bound.iter().chain(&self.gap);
        numbers.iter().chain(bounds).all(|value| value.is_finite())
    }

    /// The table and the certificate, for people.
    pub(super) fn text(&self, setting: &Setting) -> String {
        let mut text = self.table(setting);
        text.push('\n');
        text.push_str(&self.certificate(setting));
        text
    }

    fn table(&self, setting: &Setting) -> String {
        let shown = setting.columns.len().min(PARAMETERS);
        let more = setting.columns.len() > shown;
        let mut header: Vec<String> = vec!["#".into(), "task".into()];
        header.extend(setting.columns[..shown].iter().cloned());
        if more {
            header.push("…".into());
        }
        let rest = ["share %", "n", "similarity", "risk %", "why"];
        header.extend(rest.map(String::from));
        let mut lines = vec![header];
        for (index, row) in self.plan.iter().take(SHOWN).enumerate() {
            let mut cells = vec![
                (index + 1).to_string(),
                row.label().unwrap_or("found".into()),
            ];
            cells.extend(row.task[..shown].iter().map(|&value| short(value)));
            if more {
                cells.push("…".into());
            }
            cells.push(percent(row.weight));
            cells.push(row.n.to_string());
            cells.push(
                row.similarity
                    .map_or("–".into(), |value| format!("{value:.2}")),
            );
            cells.push(percent(row.risk_share));
            cells.push(row.reason.clone());
            lines.push(cells);
        }
        let mut text = aligned(&lines);
        if self.plan.len() > SHOWN {
            let _ = writeln!(
                text,
                "… and {} more (--out and --json give all)",
                self.plan.len() - SHOWN
            );
        }
        text
    }

    fn certificate(&self, setting: &Setting) -> String {
        let unit = if setting.has_costs {
            "units of cost"
        } else {
            "samples"
        };
        let mut text = format!(
            "objective    {} ({}); the error falls as objective / budget\n",
            short(self.objective),
            self.criterion
        );
        self.add_bound(setting, &mut text);
        let _ = writeln!(
            text,
            "rounding     whole samples make the objective {}, a factor of {:.4}",
            short(self.plan_objective),
            self.rounding_factor
        );
        self.add_spending(setting, unit, &mut text);
        if let (Some(even), Some(count)) = (setting.even_split, setting.candidates) {
            let factor = even / self.plan_objective;
            if factor > 1.0 && factor.is_finite() {
                let _ = writeln!(
                    text,
                    "even split   over all {count} candidates: objective {}, {} times {}",
                    short(even),
                    short(factor),
                    if setting.has_given {
                        "that of the plan"
                    } else {
                        "the budget for the same error"
                    }
                );
            }
        }
        text
    }

    /// Says how near the plan is to the best design.
    fn add_bound(&self, setting: &Setting, text: &mut String) {
        let _ = match (self.lower_bound, self.gap) {
            (Some(bound), Some(gap)) => {
                let gap = gap.max(0.0);
                let gap = if gap < 1e-4 {
                    "0.01".into()
                } else {
                    format!("{:.2}", (1e4 * gap).ceil() / 1e2)
                };
                let whose = match setting.candidates {
                    Some(_) => "these candidates",
                    None => "the space",
                };
                let which = if setting.restricted {
                    "even without switches, minima and caps, no design"
                } else {
                    "no design"
                };
                writeln!(
                    text,
                    "lower bound  {}: {which} of {whose} is more than {gap} % better",
                    short(bound)
                )
            }
            _ if setting.candidates.is_some() => writeln!(
                text,
                "lower bound  none: these numbers are too nearly dependent to claim one, so centre the columns"
            ),
            _ => writeln!(
                text,
                "lower bound  none, found by search: no bound is claimed"
            ),
        };
        if let Some(gap) = self.stopped_at {
            let _ = writeln!(
                text,
                "stopped      with a gap of {:.2} %, for time: fewer candidates or features take less",
                (1e4 * gap).ceil() / 1e2
            );
        }
    }

    /// Says what the plan costs.
    fn add_spending(&self, setting: &Setting, unit: &str, text: &mut String) {
        let samples: usize = self.plan.iter().map(|row| row.n).sum();
        let tasks = match self.plan.len() {
            1 => "1 task".to_owned(),
            many => format!("{many} tasks"),
        };
        let _ = writeln!(
            text,
            "spent        {} of {} {unit}{}",
            short(self.spent),
            short(self.budget),
            if setting.has_costs {
                format!(", for {samples} samples of {tasks}")
            } else {
                format!(", on {tasks}")
            }
        );
        if setting.limited && self.budget - self.spent >= setting.cheapest {
            let _ = writeln!(
                text,
                "left over    {} {unit}: the tasks have no samples left that the budget could buy",
                short(self.budget - self.spent)
            );
        }
    }
}
