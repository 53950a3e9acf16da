//! Which tasks were chosen, for the report: a figure and a table of one trial for each target.

use taskscout_report::{Bar, Bars, ExperimentReport, PlanRow, ReportFigure, ReportTable, percent};

use crate::prepare::Prepared;

/// The strategy whose plans are shown, where it ran.
const SHOWN: &str = "aware";
/// Tasks that figure and table show.
const TASKS: usize = 12;
/// Parameters of a point that are written out.
const PARAMETERS: usize = 6;

/// Adds figure and table for each target that has plans of its own.
pub(crate) fn add(prepared: &Prepared, plans: &[PlanRow], report: &mut ExperimentReport) {
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
        let (Some(strategy), Some(seed)) = (shown(&own), own.first().map(|row| row.seed)) else {
            continue;
        };
        let of_trial = |row: &&&PlanRow| row.strategy == strategy && row.seed == seed;
        let trial: Vec<&PlanRow> = own.iter().copied().filter(|row| of_trial(&row)).collect();
        let listed = prepared.scenario.space.count().is_some();
        let name = if several {
            format!("plans-t{index}")
        } else {
            "plans".into()
        };
        let about = format!("{strategy}, seed {seed}");
        report.figures.push(ReportFigure {
            target: target.map(str::to_owned),
            name,
            figure: bars(&trial, listed, &about).into(),
            caption: format!(
                "Where the samples of one trial went ({about}): the tasks with most of them. plans.csv has all tasks, rounds and reasons."
            ),
        });
        report.tables.push(table(&trial, listed, (target, &about)));
    }
}

/// The strategy to show: `aware` where it ran, else the last one.
fn shown(rows: &[&PlanRow]) -> Option<String> {
    let found = rows.iter().find(|row| row.strategy == SHOWN);
    found.or(rows.last()).map(|row| row.strategy.clone())
}

/// A task with all that was collected of it.
struct Total<'a> {
    first: &'a PlanRow,
    n: usize,
    rounds: Vec<usize>,
}

/// Tasks by samples, the most first.
fn totals<'a>(rows: &[&'a PlanRow]) -> Vec<Total<'a>> {
    let mut all: Vec<Total<'a>> = Vec::new();
    for &row in rows {
        match all.iter_mut().find(|one| one.first.task == row.task) {
            Some(one) => {
                one.n += row.n;
                one.rounds.push(row.round);
            }
            None => all.push(Total {
                first: row,
                n: row.n,
                rounds: vec![row.round],
            }),
        }
    }
    all.sort_by_key(|one| std::cmp::Reverse(one.n));
    all
}

/// What a task is called: its name, or the point that it is.
fn label(row: &PlanRow, listed: bool) -> String {
    if listed {
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

fn bars(rows: &[&PlanRow], listed: bool, about: &str) -> Bars {
    let bar = |one: &Total<'_>| Bar {
        name: label(one.first, listed),
        value: one.n as f64,
        second: None,
        group: one.first.stage.clone(),
    };
    Bars {
        title: format!("Samples by task ({about})"),
        value_title: "samples".into(),
        second_title: String::new(),
        groups: ["warm-up", "explore", "exploit"]
            .map(str::to_owned)
            .to_vec(),
        bars: totals(rows).iter().take(TASKS).map(bar).collect(),
    }
}

fn table(rows: &[&PlanRow], listed: bool, (target, about): (Option<&str>, &str)) -> ReportTable {
    let all: usize = rows.iter().map(|row| row.n).sum();
    let line = |one: &Total<'_>| {
        let rounds: Vec<String> = one.rounds.iter().map(usize::to_string).collect();
        vec![
            label(one.first, listed),
            one.n.to_string(),
            percent(one.n as f64 / all.max(1) as f64, 1),
            rounds.join(", "),
            one.first.stage.clone(),
            one.first.reason.clone(),
        ]
    };
    ReportTable {
        target: target.map(str::to_owned),
        title: "Which tasks were chosen".into(),
        head: ["task", "samples", "share", "rounds", "stage", "why"]
            .map(str::to_owned)
            .to_vec(),
        rows: totals(rows).iter().take(TASKS).map(line).collect(),
        caption: format!("The tasks with most samples of one trial ({about})."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(task: &str, round: usize, n: usize, stage: &str) -> PlanRow {
        PlanRow {
            strategy: "aware".into(),
            task: task.into(),
            parameters: vec![0.25; 8],
            round,
            n,
            stage: stage.into(),
            ..PlanRow::default()
        }
    }

    #[test]
    fn tasks_add_up_over_rounds_and_the_largest_come_first() {
        let rows = [
            row("a", 0, 10, "warm-up"),
            row("b", 0, 12, "warm-up"),
            row("a", 1, 30, "exploit"),
        ];
        let rows: Vec<&PlanRow> = rows.iter().collect();
        let table = table(&rows, true, (None, "aware, seed 0"));
        assert_eq!(table.rows[0][..4], ["a", "40", "76.9 %", "0, 1"]);
        assert_eq!(table.rows[1][0], "b");
        let bars = bars(&rows, false, "");
        assert_eq!(bars.bars[0].name, "(0.25, 0.25, 0.25, 0.25, 0.25, 0.25, …)");
    }
}
