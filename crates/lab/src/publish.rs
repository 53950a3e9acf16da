//! What a run shows for itself: tables, pictures, summary and report.

use std::collections::BTreeMap;

use taskscout_report::{
    ExperimentReport, FailedTrial, FigureFiles, Judged, PlanRow, REPORT_FILE, ResultRow,
    SavedReport, TARGET_DATA, TARGET_ONLY, TargetPoint, write_csv, write_plans,
};
use taskscout_worlds::program::Incidents;

use crate::error::{LabError, Result};
use crate::folder::RunFolder;
use crate::known_truth;
use crate::options::ExperimentOptions;
use crate::prepare::{Prepared, chooses_from_list};
use crate::record::TrialRecord;

/// What a reader of a quick run's figures must know.
pub const QUICK: &str =
    "A quick look: few seeds and a part of the budget, not to be compared with published figures.";

/// What was written of an experiment.
pub(crate) struct Published {
    pub(crate) report: ExperimentReport,
    /// What only its world can say, for the terminal.
    pub(crate) remarks: Vec<String>,
}

/// Writes tables, summary and report.
pub(crate) fn publish(
    prepared: &Prepared,
    folder: &RunFolder,
    records: &[TrialRecord],
    failures: Vec<FailedTrial>,
    options: &ExperimentOptions,
) -> Result<Published> {
    let failed = |error: taskscout_report::Error| LabError::Failure(error.to_string());
    let rows = sorted_rows(prepared, records);
    let mut table = Vec::new();
    write_csv(&rows, &mut table).map_err(failed)?;
    // A part of the budget does not compare with published figures, nor do other targets.
    let targets = options.world.synthetic().and_then(|own| own.targets);
    let paper = match options.quick || targets.is_some() {
        true => serde_json::Value::Null,
        false => serde_json::to_value(&prepared.config.paper).map_err(|error| unwritten(&error))?,
    };
    let mut report =
        ExperimentReport::new(rows, paper, folder.settings().clone()).map_err(failed)?;
    report.summary.judged = judged(prepared);
    report.summary.failed = failures;
    known_truth::add(prepared, &mut report)?;
    add_notes(prepared, records, options, &mut report);
    let remarks = prepared.presentation.report(records, &mut report)?;
    add_incidents(prepared, folder, &mut report)?;
    add_changes(prepared, folder, &mut report);
    let plans: Vec<PlanRow> = records.iter().flat_map(|one| one.plans.clone()).collect();
    report.summary.set_task_use(&plans);
    report.add_plans(
        &plans,
        &target_points(prepared),
        &prepared.presentation.parameters(),
    );
    report.written = Some(written());
    report.models = folder.models();
    folder.write("plans.csv", write_plans(&plans).as_bytes())?;
    folder.write("results.csv", &table)?;
    folder.write("summary.json", pretty(&report.summary)?.as_bytes())?;
    write_pages(folder, &report)?;
    Ok(Published { report, remarks })
}

/// Writes pictures with their numbers, the page, and what it can be written from again.
fn write_pages(folder: &RunFolder, report: &ExperimentReport) -> Result<()> {
    let failed = |error: taskscout_report::Error| LabError::Failure(error.to_string());
    for FigureFiles { name, svg, csv } in report.loss_files() {
        folder.write(&format!("{name}.svg"), svg.as_bytes())?;
        folder.write(&format!("{name}.csv"), csv.as_bytes())?;
    }
    for figure in &report.figures {
        folder.write_figure(&figure.files())?;
    }
    let saved = SavedReport::of(report);
    folder.write(REPORT_FILE, saved.to_json().map_err(failed)?.as_bytes())?;
    folder.write("report.html", saved.page().as_bytes())
}

/// When a report is written, as people write it.
pub(crate) fn written() -> String {
    let now = taskscout_io::time::now_us();
    format!("{} UTC", taskscout_io::time::minute(now))
}

/// Where the targets lie among the tasks.
fn target_points(prepared: &Prepared) -> Vec<TargetPoint> {
    let place = |target: &crate::scenario::ScenarioTarget| {
        let parameters = target.truth.clone().or_else(|| target.known.clone())?;
        Some(TargetPoint {
            target: target.name.clone(),
            parameters,
        })
    };
    let targets = prepared.scenario.targets.iter();
    targets.filter_map(place).collect()
}

/// What readers must know of the run.
fn add_notes(
    prepared: &Prepared,
    records: &[TrialRecord],
    options: &ExperimentOptions,
    report: &mut ExperimentReport,
) {
    for note in lost_rounds(prepared, &report.rows) {
        prepared.watch.note(&format!("note: {note}"));
        report.notes.push(note);
    }
    if let Some(note) = used_up(prepared, &report.rows) {
        prepared.watch.note(&format!("note: {note}"));
        report.notes.push(note);
    }
    if options.quick {
        report.notes.push(QUICK.into());
    }
    report.notes.extend(listed(prepared));
    if let Some(note) = misfit(records) {
        prepared.watch.note(&format!("warning: {note}"));
        report.summary.misfit = Some(note.clone());
        report.notes.push(note);
    }
}

/// That data or programs changed while the run was stopped.
fn add_changes(prepared: &Prepared, folder: &RunFolder, report: &mut ExperimentReport) {
    if let Some(changes) = folder.accepted_changes() {
        let note = format!(
            "the run was resumed although {changes}: some trials are from before the change, others from after it"
        );
        prepared.watch.note(&format!("warning: {note}"));
        report.notes.push(note);
    }
}

/// How often a program crashed that data came from.
fn add_incidents(
    prepared: &Prepared,
    folder: &RunFolder,
    report: &mut ExperimentReport,
) -> Result<()> {
    if !prepared.data.asks_program() {
        return Ok(());
    }
    let incidents = folder.incidents()?;
    let Incidents { crashes, restarts } = incidents;
    let value = serde_json::to_value(incidents).map_err(|error| unwritten(&error))?;
    report.summary.extra.insert("program".into(), value);
    if crashes > 0 {
        let times = |count: usize| format!("{count} time{}", if count == 1 { "" } else { "s" });
        let note = format!(
            "the program crashed {} and was restarted {}",
            times(crashes),
            times(restarts)
        );
        prepared.watch.note(&format!("warning: {note}"));
        report.notes.push(note);
    }
    Ok(())
}

/// What the task features cannot express, by the trial that shows it first.
fn misfit(records: &[TrialRecord]) -> Option<String> {
    records.iter().find_map(|record| {
        let misfit = record.details.as_ref()?.misfit.as_ref()?;
        Some(format!("{}: {misfit}", record.trial))
    })
}

/// All rows by target, contender, seed and round.
fn sorted_rows(prepared: &Prepared, records: &[TrialRecord]) -> Vec<ResultRow> {
    let names = prepared.judged_on();
    let target = |row: &ResultRow| names.iter().position(|name| *name == row.target);
    let contender = |row: &ResultRow| {
        prepared
            .contenders
            .iter()
            .position(|contender| contender.to_string() == row.strategy)
    };
    let mut rows: Vec<ResultRow> = records
        .iter()
        .flat_map(|record| record.rows.iter().cloned())
        .collect();
    rows.sort_by_key(|row| (target(row), contender(row), row.seed, row.round));
    rows
}

/// The loss that decides: the paper's own measure where its procedure is followed.
fn judged(prepared: &Prepared) -> Judged {
    match prepared.config.as_published {
        Some(_) => Judged::Shared,
        None => Judged::Returned,
    }
}

/// Rounds of a strategy in which no representation could be learnt, in words.
fn lost_rounds(prepared: &Prepared, rows: &[ResultRow]) -> Vec<String> {
    let names = prepared.judged_on();
    // Targets that share a study share its rounds.
    let counts = |row: &&ResultRow| {
        ![TARGET_ONLY, TARGET_DATA].contains(&row.strategy.as_str())
            && (!prepared.config.target.together() || Some(&row.target) == names.first())
    };
    let mut lost: Vec<(&str, usize, usize)> = Vec::new();
    for row in rows.iter().filter(counts) {
        let at = lost.iter().position(|(name, ..)| *name == row.strategy);
        let at = at.unwrap_or_else(|| {
            lost.push((&row.strategy, 0, 0));
            lost.len() - 1
        });
        lost[at].1 += usize::from(row.test_loss.is_none());
        lost[at].2 += 1;
    }
    let say = |(name, missing, all): (&str, usize, usize)| {
        format!(
            "training of {name} diverged in {missing} of {all} rounds: these rounds have no loss of the shared \
             predictor, and target-only was returned; lower the learning rate or rescale the data"
        )
    };
    lost.into_iter()
        .filter(|(_, missing, _)| *missing > 0)
        .map(say)
        .collect()
}

/// Which strategies choose from a list where the others choose from the whole space.
fn listed(prepared: &Prepared) -> Option<String> {
    let runs = prepared.config.strategies.iter();
    let names: Vec<String> = runs
        .filter(|run| chooses_from_list(prepared, run))
        .map(ToString::to_string)
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "The task space is continuous: {} chose from a list of {} of its tasks, drawn anew for each seed, the \
             other strategies from all of it.",
            names.join(" and "),
            prepared.config.learner.list()
        )
    })
}

/// That the schedule asks for more than there is, where strategies had to end with less.
fn used_up(prepared: &Prepared, rows: &[ResultRow]) -> Option<String> {
    let scheduled: usize = prepared.rounds.budgets.iter().sum();
    let collects = |row: &&ResultRow| ![TARGET_ONLY, TARGET_DATA].contains(&row.strategy.as_str());
    let mut collected = BTreeMap::new();
    for row in rows.iter().filter(collects) {
        let most = collected.entry((&row.strategy, &row.target, row.seed));
        let most = most.or_insert(0_usize);
        *most = row.budget.max(*most);
    }
    let least = collected.into_values().min()?;
    (least < scheduled).then(|| {
        format!(
            "the source tasks have only {least} rows in all, but the schedule asks for {scheduled}: strategies \
             stopped when no rows were left"
        )
    })
}

/// JSON for people.
pub(crate) fn pretty(summary: &impl serde::Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(summary).map_err(|error| unwritten(&error))?;
    Ok(text + "\n")
}

fn unwritten(error: &serde_json::Error) -> LabError {
    LabError::Failure(format!("cannot write the summary: {error}"))
}
