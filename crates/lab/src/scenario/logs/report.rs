//! What logs add to a report: which recordings help, how alike all of them are, and how much of the
//! force is explained.

use serde_json::json;
use taskscout_logs::Recorded;
use taskscout_report::{Bar, Bars, ExperimentReport, HeatMap, ReportFigure, ReportTable, percent};

use crate::error::{LabError, Result};
use crate::record::{RelevantTask, TrialRecord};

/// Tasks that tables and charts show.
const SHOWN: usize = 10;
/// The strategy whose rows and model speak of relevance, where it ran.
const FINDER: &str = "aware";

/// Adds everything, target by target. Hands back what the terminal says beside the losses.
pub(super) fn add(
    recorded: &Recorded,
    trials: &[TrialRecord],
    report: &mut ExperimentReport,
) -> Result<Vec<String>> {
    let mut remarks = Vec::new();
    let several = recorded.targets().len() > 1;
    for (target, &task) in recorded.targets().iter().enumerate() {
        let name = &recorded.tasks()[task].name;
        let file = |stem: &str| match several {
            true => format!("{stem}-t{target}"),
            false => stem.to_owned(),
        };
        add_explained(recorded, target, trials, report)?;
        let found = mean_relevance(trials, target);
        if found.tasks.is_empty() {
            continue;
        }
        remarks.push(remark(name, &found));
        let Found {
            tasks: relevant,
            by,
            trials: count,
        } = found;
        with(report, name, "relevant", json!(relevant))?;
        let source = json!({"strategies": by, "trials": count});
        with(report, name, "relevant_by", source)?;
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
                        percent(one.weight, 1),
                    ]
                })
                .collect(),
            caption: format!("Similarity is the absolute correlation of the two forces over the target's inputs; uncertainty makes it smaller. The share is that of the collected source rows. {}.", means_over(&by)),
        });
        report.figures.push(ReportFigure {
            target: Some(name.clone()),
            name: file("relevant"),
            figure: bars(recorded, task, top).into(),
            caption: format!(
                "The recordings that are most similar to the target, and how much was collected from them. {}.",
                means_over(&by)
            ),
        });
    }
    if let Some(figure) = heat_map(recorded, trials) {
        report.figures.push(figure);
    }
    Ok(remarks)
}

/// The recordings that are most like a target, in a line.
fn remark(target: &str, found: &Found) -> String {
    let names: Vec<&str> = found
        .tasks
        .iter()
        .take(3)
        .map(|one| one.task.as_str())
        .collect();
    let source = match found.by == [FINDER] {
        true => String::new(),
        false => format!(" ({})", lower(&means_over(&found.by))),
    };
    format!("{target}: most similar to {}{source}", names.join(", "))
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
        .map_err(|error| LabError::Failure(error.to_string()))?;
    Ok(())
}

/// What trials found relevant, and whose they are.
#[derive(Default)]
struct Found {
    /// The mean over trials, the most alike first.
    tasks: Vec<RelevantTask>,
    /// The strategies of these trials.
    by: Vec<String>,
    /// How many trials there are.
    trials: usize,
}

/// Whose relevance a list gives, in words.
fn means_over(by: &[String]) -> String {
    let names = match by {
        [most @ .., last] if !most.is_empty() => format!("{} and {last}", most.join(", ")),
        _ => by.concat(),
    };
    match by.iter().any(|name| name == FINDER) {
        true => format!("Means over seeds of {names}"),
        false => format!("Means over seeds of {names}, as {FINDER} did not run"),
    }
}

/// The same inside a sentence.
fn lower(sentence: &str) -> String {
    sentence.replacen("Means", "means", 1)
}

/// What a trial found, and whose it is.
fn found_in(record: &TrialRecord, target: usize) -> Option<(String, &[RelevantTask])> {
    let slot = record.trial.targets().position(|own| own == target)?;
    let details = record.details.as_ref()?.targets.get(slot)?;
    let tasks = &details.relevant.as_ref()?.tasks;
    Some((record.trial.contender.to_string(), tasks))
}

/// The relevance of each task: of the strategy that looks for it where it ran, else of all.
fn mean_relevance(trials: &[TrialRecord], target: usize) -> Found {
    let mut found: Vec<(String, &[RelevantTask])> = trials
        .iter()
        .filter_map(|record| found_in(record, target))
        .collect();
    if found.iter().any(|(name, _)| name == FINDER) {
        found.retain(|(name, _)| name == FINDER);
    }
    let (mut totals, mut by): (Vec<RelevantTask>, Vec<String>) = Default::default();
    let count = found.len();
    for (name, tasks) in found {
        if !by.contains(&name) {
            by.push(name);
        }
        for one in tasks {
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
    Found {
        tasks: totals,
        by,
        trials: count,
    }
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
        title: format!(
            "Recordings most similar to {}",
            recorded.tasks()[target].name
        ),
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
    let (trial, kept) = trials.iter().find_map(|record| {
        let details = record.details.as_ref()?;
        let pairs = details
            .targets
            .iter()
            .find_map(|target| target.relevant.as_ref()?.pairs.as_ref())
            .filter(|pairs| pairs.len() == recorded.tasks().len())?;
        Some((&record.trial, pairs))
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
        caption: format!(
            "Absolute correlation of the learnt forces of two recordings; uncertainty makes it smaller. From one trial, {trial}."
        ),
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
    // Of a force that does not change there is nothing to explain.
    let part = |all: &[f64]| match variance > 0.0 {
        true => 1.0 - mean(all) / variance,
        false => f64::NAN,
    };
    let explained: serde_json::Map<String, serde_json::Value> = losses
        .iter()
        .map(|(name, all)| (name.clone(), json!(part(all))))
        .collect();
    with(report, name, "variance", json!(variance))?;
    with(report, name, "explained_variance", explained.into())?;
    let row = |(name, all): &(String, Vec<f64>)| {
        let loss = mean(all);
        vec![name.clone(), format!("{loss:.4}"), percent(part(all), 1)]
    };
    report.tables.push(ReportTable {
        target: Some(name.clone()),
        title: "Explained variance".into(),
        head: ["contender", "returned loss", "explained"].map(str::to_owned).to_vec(),
        rows: losses.iter().map(row).collect(),
        caption: format!(
            "Mean squared error on the test rows, the last part of the recording, and the part of their variance ({variance:.4}) that is explained. Means over seeds.{}",
            if variance > 0.0 { "" } else { " The force does not change there, so there is nothing to explain." }
        ),
    });
    Ok(())
}
