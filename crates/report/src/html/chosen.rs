//! Which tasks were collected and why: figures and a table of one trial for each target.

use std::collections::BTreeMap;

use taskscout_plot::figures::{Spot, SpotKind, Stack, Stacks, TaskScatter};

use super::ExperimentReport;
use crate::additions::{ReportFigure, ReportTable};
use crate::format::percent;
use crate::plans::PlanRow;
use crate::reason::plain_reason;

/// The heading above them.
pub(super) const TITLE: &str = "Which tasks were collected, and why";
/// The names of the files of figures, and the title of the table.
const SAMPLES: &str = "plans";
const MAP: &str = "map";
const TABLE: &str = "Which tasks were chosen";

/// The strategy whose plans are shown, where it ran.
const SHOWN: &str = "aware";
/// Tasks that figure and table show.
const TASKS: usize = 12;
/// Parameters of a point that are written out.
const PARAMETERS: usize = 6;
/// Most parameters of a task that a map makes sense for: with more, two of them say little.
const MAPPED: usize = 8;

/// Where a target lies among the tasks, where that is known.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetPoint {
    /// Its name; none for the only one.
    pub target: Option<String>,
    /// Its parameters.
    pub parameters: Vec<f64>,
}

/// Whether a figure says which tasks were collected.
pub(super) fn is_figure(figure: &ReportFigure) -> bool {
    let kind = figure.name.split("-t").next();
    matches!(kind, Some(SAMPLES | MAP))
}

pub(super) fn is_table(table: &ReportTable) -> bool {
    table.title == TABLE
}

impl ExperimentReport {
    /// Adds which tasks were collected and why, by the plans of one trial for each target: samples by round, a map where
    /// tasks have a few parameters, and a table. `parameters` names them, or is empty.
    pub fn add_plans(&mut self, plans: &[PlanRow], places: &[TargetPoint], parameters: &[String]) {
        let mut targets: Vec<Option<&str>> = Vec::new();
        for row in plans {
            if !targets.contains(&row.target.as_deref()) {
                targets.push(row.target.as_deref());
            }
        }
        let several = targets.len() > 1;
        for (index, target) in targets.into_iter().enumerate() {
            let of_target = |row: &&PlanRow| row.target.as_deref() == target;
            let own: Vec<&PlanRow> = plans.iter().filter(of_target).collect();
            let Some(trial) = Trial::of(&own) else {
                continue;
            };
            let name = |stem: &str| match several {
                true => format!("{stem}-t{index}"),
                false => stem.to_owned(),
            };
            let mut add = |name: String, figure: crate::Drawing, caption: String| {
                self.figures.push(ReportFigure {
                    target: target.map(str::to_owned),
                    name,
                    figure,
                    caption,
                });
            };
            let (stacks, caption) = trial.samples();
            add(name(SAMPLES), stacks.into(), caption);
            let places = places.iter().filter(|place| {
                place.target.as_deref() == target || target.is_none() || place.target.is_none()
            });
            if let Some((map, caption)) = trial.map(&places.collect::<Vec<_>>(), parameters) {
                add(name(MAP), map.into(), caption);
            }
            self.tables.push(trial.table(target));
        }
    }
}

/// The trial that is shown.
struct Trial<'a> {
    rows: Vec<&'a PlanRow>,
    about: String,
}

/// A task with all that was collected of it.
struct Total<'a> {
    first: &'a PlanRow,
    last: &'a PlanRow,
    n: usize,
    rounds: BTreeMap<usize, usize>,
}

impl<'a> Trial<'a> {
    /// Of `aware` where it ran, else of the last strategy; of its first seed.
    fn of(rows: &[&'a PlanRow]) -> Option<Self> {
        let found = rows.iter().find(|row| row.strategy == SHOWN);
        let shown = found.or(rows.last())?;
        let strategy = shown.strategy.as_str();
        let seed = rows.iter().find(|row| row.strategy == strategy)?.seed;
        let of_trial = |row: &&&PlanRow| row.strategy == strategy && row.seed == seed;
        Some(Self {
            rows: rows.iter().filter(of_trial).copied().collect(),
            about: format!("{strategy}, seed {seed}"),
        })
    }

    /// Tasks by samples, the most first.
    fn totals(&self) -> Vec<Total<'a>> {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let mut all: Vec<Total<'a>> = Vec::new();
        for &row in &self.rows {
            let at = *places.entry(&row.task).or_insert_with(|| {
                all.push(Total {
                    first: row,
                    last: row,
                    n: 0,
                    rounds: BTreeMap::new(),
                });
                all.len() - 1
            });
            all[at].n += row.n;
            all[at].last = row;
            *all[at].rounds.entry(row.round).or_default() += row.n;
        }
        all.sort_by_key(|one| std::cmp::Reverse(one.n));
        all
    }

    fn samples(&self) -> (Stacks, String) {
        let rounds = self.rows.iter().map(|row| row.round + 1).max().unwrap_or(0);
        let stack = |one: &Total<'_>| Stack {
            name: label(one.first),
            values: (0..rounds)
                .map(|round| one.rounds.get(&round).map_or(0.0, |n| *n as f64))
                .collect(),
            note: plain_reason(&one.last.reason),
        };
        let totals = self.totals();
        let about = &self.about;
        let stacks = Stacks {
            title: format!("Samples by task and round ({about})"),
            name_title: "task".into(),
            value_title: "samples".into(),
            parts: (1..=rounds).map(|round| format!("round {round}")).collect(),
            stacks: totals.iter().take(TASKS).map(stack).collect(),
            ..Stacks::default()
        };
        let shown: usize = totals.iter().take(TASKS).map(|one| one.n).sum();
        let all: usize = totals.iter().map(|one| one.n).sum();
        let caption = format!(
            "Where the samples of one trial went ({about}): {} of its {} tasks, with {} of its samples. plans.csv has all tasks, rounds and reasons; it counts rounds from 0.",
            totals.len().min(TASKS),
            totals.len(),
            percent(shown as f64 / all.max(1) as f64, 0)
        );
        (stacks, caption)
    }

    /// Tasks by the two parameters in which the collected ones differ most.
    fn map(&self, places: &[&TargetPoint], names: &[String]) -> Option<(TaskScatter, String)> {
        let totals = self.totals();
        let dim = totals.first()?.first.parameters.len();
        if !(2..=MAPPED).contains(&dim) {
            return None;
        }
        let (across, up) = widest(&totals, dim)?;
        let title = |index: usize| match names.get(index) {
            Some(name) => name.clone(),
            None => format!("parameter {}", index + 1),
        };
        let spot = |name: String, kind, at: &[f64], samples| {
            Some(Spot {
                name,
                kind,
                x: *at.get(across)?,
                y: *at.get(up)?,
                samples,
                region: None,
            })
        };
        let measured = totals.iter().filter_map(|one| {
            spot(
                String::new(),
                SpotKind::Measured,
                &one.first.parameters,
                one.n,
            )
        });
        let mut spots: Vec<Spot> = measured.collect();
        for place in places {
            let name = place.target.clone().unwrap_or_else(|| "target".into());
            spots.extend(spot(name, SpotKind::Target, &place.parameters, 0));
        }
        let map = TaskScatter {
            title: format!("Map of the collected tasks ({})", self.about),
            x_title: title(across),
            y_title: title(up),
            spots,
            ..TaskScatter::default()
        };
        let caption = match dim {
            2 => "Every collected task and the target.".to_owned(),
            _ => format!(
                "Every collected task and the target, by the two of {dim} parameters in which the samples differ most."
            ),
        };
        Some((map, caption))
    }

    fn table(&self, target: Option<&str>) -> ReportTable {
        let all: usize = self.rows.iter().map(|row| row.n).sum();
        let line = |one: &Total<'_>| {
            let rounds = one.rounds.keys().map(|round| (round + 1).to_string());
            vec![
                label(one.first),
                one.n.to_string(),
                percent(one.n as f64 / all.max(1) as f64, 1),
                rounds.collect::<Vec<_>>().join(", "),
                one.last.stage.clone(),
                plain_reason(&one.last.reason),
            ]
        };
        ReportTable {
            target: target.map(str::to_owned),
            title: TABLE.into(),
            head: ["task", "samples", "share", "rounds", "stage", "why"]
                .map(str::to_owned)
                .to_vec(),
            rows: self.totals().iter().take(TASKS).map(line).collect(),
            caption: format!(
                "The tasks with most samples of one trial ({}); stage and reason are those of its last round.",
                self.about
            ),
        }
    }
}

/// The two parameters in which samples differ most, in their order.
fn widest(totals: &[Total<'_>], dim: usize) -> Option<(usize, usize)> {
    let all: f64 = totals.iter().map(|one| one.n as f64).sum();
    let mean = |value: &dyn Fn(&Total<'_>) -> f64| {
        let sum: f64 = totals.iter().map(|one| one.n as f64 * value(one)).sum();
        sum / all.max(1.0)
    };
    let spread = |index: usize| {
        let of = move |one: &Total<'_>| one.first.parameters.get(index).copied().unwrap_or(0.0);
        let centre = mean(&of);
        mean(&|one| (of(one) - centre).powi(2))
    };
    let mut order: Vec<(f64, usize)> = (0..dim).map(|index| (spread(index), index)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let (one, two) = (order.first()?.1, order.get(1)?.1);
    Some((one.min(two), one.max(two)))
}

/// What a task is called: its name, or the point that it is.
fn label(row: &PlanRow) -> String {
    if !row.is_point() {
        return row.task.clone();
    }
    let shown = row.parameters.iter().take(PARAMETERS);
    let numbers: Vec<String> = shown.map(|value| format!("{value:.2}")).collect();
    let more = if row.parameters.len() > PARAMETERS {
        ", …"
    } else {
        ""
    };
    format!("({}{more})", numbers.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::html_report;
    use crate::testing::{assert_balanced, curve};
    use serde_json::json;

    fn row(task: &str, round: usize, n: usize, parameters: &[f64]) -> PlanRow {
        PlanRow {
            strategy: "aware".into(),
            task: task.into(),
            parameters: parameters.to_vec(),
            round,
            n,
            stage: "exploit".into(),
            reason: format!("reason {round}"),
            ..PlanRow::default()
        }
    }

    fn report(plans: &[PlanRow], places: &[TargetPoint]) -> ExperimentReport {
        let rows = curve("passive", 2, &[(100, 2.0), (200, 1.0)]);
        let mut report = ExperimentReport::new(rows, json!({}), json!({})).unwrap();
        report.add_plans(plans, places, &["wind <m/s>".into()]);
        report
    }

    #[test]
    fn tasks_add_up_over_rounds_and_the_largest_come_first() {
        let plans = [
            row("<a>", 0, 10, &[0.0, 1.0, 5.0]),
            row("b", 0, 12, &[4.0, 1.0, 5.0]),
            row("<a>", 1, 30, &[0.0, 1.0, 5.0]),
        ];
        let place = TargetPoint {
            target: None,
            parameters: vec![1.0, 1.0, 5.0],
        };
        let report = report(&plans, &[place]);
        assert_eq!(
            report.tables[0].rows[0],
            ["<a>", "40", "76.9 %", "1, 2", "exploit", "reason 1"]
        );
        let names: Vec<&str> = report.figures.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["plans", "map"]);
        let page = html_report(&[report]);
        assert_balanced(&page);
        for text in [
            "Which tasks were collected, and why",
            "&lt;a&gt;, round 2: 30",
            "wind &lt;m/s&gt;",
            "target: target, at 1.00, 1.00",
            "download=\"map.csv\"",
            "download=\"plans.svg\"",
        ] {
            assert!(page.contains(text), "{text}");
        }
    }

    #[test]
    fn many_parameters_have_no_map_and_points_are_told_by_their_numbers() {
        let plans = [row("@0123456789abcdef", 0, 10, &[0.25; 9])];
        let report = report(&plans, &[]);
        assert_eq!(report.figures.len(), 1);
        assert_eq!(
            report.tables[0].rows[0][0],
            "(0.25, 0.25, 0.25, 0.25, 0.25, 0.25, …)"
        );
    }

    #[test]
    fn the_map_takes_the_parameters_that_differ_most() {
        let plans = [
            row("a", 0, 10, &[0.0, 1.0, 5.0]),
            row("b", 0, 12, &[0.1, 3.0, -5.0]),
        ];
        let plans: Vec<&PlanRow> = plans.iter().collect();
        let trial = Trial::of(&plans).unwrap();
        assert_eq!(widest(&trial.totals(), 3), Some((1, 2)));
    }
}
