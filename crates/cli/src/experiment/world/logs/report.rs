//! What logs add to a report: which recordings help, how alike all of them are, and how much of the
//! force is explained.

use serde_json::json;
use taskscout_report::{Bar, Bars, ExperimentReport, HeatMap, ReportFigure, ReportTable};
use taskscout_worlds::Recorded;

use crate::error::{CliError, Result};
use crate::experiment::trial::{RelevantTask, TrialRecord};

/// Tasks that tables and charts show.
const SHOWN: usize = 10;
/// The strategy whose rows and model speak of relevance, where it ran.
const FINDER: &str = "aware";

/// Adds everything, target by target.
pub(super) fn add(
    recorded: &Recorded,
    trials: &[TrialRecord],
    report: &mut ExperimentReport,
) -> Result<()> {
    let several = recorded.targets().len() > 1;
    for (target, &task) in recorded.targets().iter().enumerate() {
        let name = &recorded.tasks()[task].name;
        let file = |stem: &str| match several {
            true => format!("{stem}-t{target}"),
            false => stem.to_owned(),
        };
        add_explained(recorded, target, trials, report)?;
        let relevant = mean_relevance(trials, target);
        if relevant.is_empty() {
            continue;
        }
        with(report, name, "relevant", json!(relevant))?;
        let top = &relevant[..relevant.len().min(SHOWN)];
        report.tables.push(ReportTable {
            target: Some(name.clone()),
            title: "Most relevant recordings".into(),
            head: ["task", "similarity", "share of rows"].map(str::to_owned).to_vec(),
            rows: top
                .iter()
                .map(|one| {
                    vec![
                        one.task.clone(),
                        format!("{:.3}", one.similarity),
                        format!("{:.1} %", 100.0 * one.weight),
                    ]
                })
                .collect(),
            caption: "Similarity is the correlation of the two forces over the target's inputs, in magnitude and lowered by what is not known; the share is of the source rows that were collected. Means over seeds.".into(),
        });
        report.figures.push(ReportFigure {
            target: Some(name.clone()),
            name: file("relevant"),
            figure: bars(recorded, task, top).into(),
            caption: "The recordings that are most like the target, and how much was collected from them.".into(),
        });
    }
    if let Some(figure) = heat_map(recorded, trials) {
        report.figures.push(figure);
    }
    Ok(())
}

/// What the terminal says beside the losses.
pub(super) fn remarks(recorded: &Recorded, report: &ExperimentReport) -> Vec<String> {
    let mut lines = Vec::new();
    for table in &report.tables {
        let (Some(target), true) = (&table.target, table.title.starts_with("Most relevant")) else {
            continue;
        };
        let names: Vec<&str> = table
            .rows
            .iter()
            .take(3)
            .filter_map(|row| row.first().map(String::as_str))
            .collect();
        if recorded.tasks().iter().any(|task| task.name == *target) {
            lines.push(format!("{target}: most like {}", names.join(", ")));
        }
    }
    lines
}

fn with(
    report: &mut ExperimentReport,
    target: &str,
    entry: &str,
    value: serde_json::Value,
) -> Result<()> {
    let summary = report.summary.clone();
    report.summary = summary
        .with_target(target, entry, value)
        .map_err(|error| CliError::Failure(error.to_string()))?;
    Ok(())
}

/// The relevance of each task, the mean over seeds, the most alike first.
fn mean_relevance(trials: &[TrialRecord], target: usize) -> Vec<RelevantTask> {
    let finder = trials
        .iter()
        .map(|record| record.trial.contender.to_string())
        .find(|name| name == FINDER);
    let (mut totals, mut count): (Vec<RelevantTask>, usize) = Default::default();
    for record in trials {
        let name = record.trial.contender.to_string();
        if finder.as_ref().is_some_and(|finder| *finder != name) {
            continue;
        }
        let slot = record.trial.targets().position(|own| own == target);
        let found = slot
            .zip(record.details.as_ref())
            .and_then(|(slot, details)| details.targets.get(slot)?.relevant.as_ref());
        let Some(found) = found else { continue };
        count += 1;
        for one in &found.tasks {
            match totals.iter_mut().find(|known| known.task == one.task) {
                Some(known) => {
                    known.similarity += one.similarity;
                    known.weight += one.weight;
                }
                None => totals.push(one.clone()),
            }
        }
    }
    for one in &mut totals {
        one.similarity /= count as f64;
        one.weight /= count as f64;
    }
    totals.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
    totals
}

/// In what a recording is like the target.
fn kinship(recorded: &Recorded, target: usize, name: &str) -> &'static str {
    let own = &recorded.tasks()[target];
    let other = recorded.tasks().iter().find(|task| task.name == name);
    match other.map(|other| (other.vehicle == own.vehicle, other.axis == own.axis)) {
        Some((true, true)) => "same vehicle and axis",
        Some((true, false)) => "same vehicle",
        Some((false, true)) => "same axis",
        _ => "neither",
    }
}

fn bars(recorded: &Recorded, target: usize, top: &[RelevantTask]) -> Bars {
    let groups = [
        "same vehicle and axis",
        "same vehicle",
        "same axis",
        "neither",
    ];
    Bars {
        title: format!("What is most like {}", recorded.tasks()[target].name),
        value_title: "similarity".into(),
        second_title: "share of the rows".into(),
        groups: groups.map(str::to_owned).to_vec(),
        bars: top
            .iter()
            .map(|one| Bar {
                name: one.task.clone(),
                value: one.similarity,
                second: Some(one.weight),
                group: kinship(recorded, target, &one.task).into(),
            })
            .collect(),
    }
}

/// How alike all tasks are, from the first trial that kept it.
fn heat_map(recorded: &Recorded, trials: &[TrialRecord]) -> Option<ReportFigure> {
    let kept = trials.iter().find_map(|record| {
        let details = record.details.as_ref()?;
        details
            .targets
            .iter()
            .find_map(|target| target.relevant.as_ref()?.pairs.as_ref())
            .filter(|pairs| pairs.len() == recorded.tasks().len())
    })?;
    let mut order: Vec<usize> = (0..recorded.tasks().len()).collect();
    let key = |index: &usize| {
        let task = &recorded.tasks()[*index];
        (
            task.vehicle.clone(),
            task.axis.clone(),
            task.wind.map(|w| (w * 1e3) as i64),
        )
    };
    order.sort_by_key(key);
    let group = |index: &usize| {
        let task = &recorded.tasks()[*index];
        format!("{} {}", task.vehicle, task.axis).trim().to_owned()
    };
    let map = HeatMap {
        title: "How alike the recordings are".into(),
        value_title: "similarity".into(),
        names: order
            .iter()
            .map(|&i| recorded.tasks()[i].name.clone())
            .collect(),
        groups: order.iter().map(group).collect(),
        values: order
            .iter()
            .map(|&i| {
                order
                    .iter()
                    .map(|&j| kept[i][j].unwrap_or(f64::NAN))
                    .collect()
            })
            .collect(),
    };
    Some(ReportFigure {
        target: None,
        name: "similarity".into(),
        figure: map.into(),
        caption: "Correlation of what was learnt of two recordings, in magnitude and lowered by what is not known; one trial.".into(),
    })
}

/// How much of the variance of held-out forces each contender explains.
fn add_explained(
    recorded: &Recorded,
    target: usize,
    trials: &[TrialRecord],
    report: &mut ExperimentReport,
) -> Result<()> {
    let name = &recorded.tasks()[recorded.targets()[target]].name;
    let variance = recorded.target_variance(target);
    let mut losses: Vec<(String, Vec<f64>)> = Vec::new();
    for record in trials {
        let contender = record.trial.contender.to_string();
        let of_target = |row: &&taskscout_report::ResultRow| row.target.as_deref() == Some(name);
        let last = record.rows.iter().rfind(of_target);
        let Some(loss) = last.and_then(|row| row.returned_loss) else {
            continue;
        };
        match losses.iter_mut().find(|(known, _)| *known == contender) {
            Some((_, all)) => all.push(loss),
            None => losses.push((contender, vec![loss])),
        }
    }
    if losses.is_empty() {
        return Ok(());
    }
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    let explained: serde_json::Map<String, serde_json::Value> = losses
        .iter()
        .map(|(name, all)| (name.clone(), json!(1.0 - mean(all) / variance)))
        .collect();
    with(report, name, "variance", json!(variance))?;
    with(report, name, "explained_variance", explained.into())?;
    let row = |(name, all): &(String, Vec<f64>)| {
        let loss = mean(all);
        vec![
            name.clone(),
            format!("{loss:.4}"),
            format!("{:.1} %", 100.0 * (1.0 - loss / variance)),
        ]
    };
    report.tables.push(ReportTable {
        target: Some(name.clone()),
        title: "Explained variance".into(),
        head: ["contender", "returned loss", "explained"].map(str::to_owned).to_vec(),
        rows: losses.iter().map(row).collect(),
        caption: format!(
            "Mean squared error on the last part of the recording, which nobody learnt from, and how much of its variance ({variance:.4}) that explains. Means over seeds."
        ),
    });
    Ok(())
}
