//! What several ground truths say together: figures over truths and seeds, and the budgets truth by truth.

use serde_json::{Value, json};
use taskscout_report::{
    ExperimentReport, Floor, Judged, Panel, PanelFigure, PanelLine, ReportFigure, ReportTable,
    ResultRow, StrategySummary, TARGET_DATA, TARGET_ONLY, budget_ratio_over_truths, percent,
};

use crate::error::{LabError, Result};

/// The results on one ground truth.
pub(super) struct OfTruth {
    pub(super) matrix_seed: u64,
    pub(super) report: ExperimentReport,
}

impl OfTruth {
    fn rows_on(&self, target: Option<&str>) -> Vec<ResultRow> {
        let own = |row: &&ResultRow| target.is_none() || row.target.as_deref() == target;
        self.report.rows.iter().filter(own).cloned().collect()
    }

    /// The figures of a strategy on a target.
    fn figures(&self, target: Option<&str>, strategy: &str) -> Option<&StrategySummary> {
        let sections = self.report.summary.sections();
        let mut own = sections.into_iter().filter(|(name, _)| *name == target);
        own.next()?.1.get(strategy)
    }

    /// `κ(B)`, where it is known.
    fn condition(&self) -> Option<f64> {
        let theory = self.report.summary.extra.get("theory")?;
        theory.get("condition")?.as_f64()
    }
}

/// The report over all of them: a ground truth and a seed are one trial.
pub(super) fn over(truths: &[OfTruth]) -> Result<ExperimentReport> {
    let Some(first) = truths.first() else {
        return Err(LabError::Failure("no ground truth has results".into()));
    };
    let paper = first.report.summary.paper.clone();
    let mut report = ExperimentReport::new(trial_rows(truths), paper, settings(truths))
        .map_err(|error| LabError::Failure(error.to_string()))?;
    report.summary.judged = first.report.summary.judged;
    let failed = truths.iter().flat_map(|truth| &truth.report.summary.failed);
    report.summary.failed = failed.cloned().collect();
    for note in truths.iter().flat_map(|truth| &truth.report.notes) {
        if !report.notes.contains(note) {
            report.notes.push(note.clone());
        }
    }
    report.notes.insert(0, trials_note(truths));
    let targets: Vec<Option<String>> = targets(&report);
    for target in &targets {
        let target = target.as_deref();
        set_ratios(truths, target, &mut report);
        set_floor(truths, target, &mut report);
        report.tables.push(budgets(truths, target, &report));
        report.figures.push(figure(truths, target, &report));
    }
    let each = truths.iter().map(entry).collect();
    report.summary.extra.insert("truths".into(), each);
    Ok(report)
}

/// The targets of the report's sections; one without a name if there is one.
fn targets(report: &ExperimentReport) -> Vec<Option<String>> {
    let sections = report.summary.sections();
    sections
        .into_iter()
        .map(|(target, _)| target.map(str::to_owned))
        .collect()
}

fn settings(truths: &[OfTruth]) -> Value {
    let seeds: Vec<u64> = truths.iter().map(|truth| truth.matrix_seed).collect();
    let one = truths.first().map(|truth| truth.report.settings.clone());
    json!({"matrix_seeds": seeds, "first": one})
}

fn trials_note(truths: &[OfTruth]) -> String {
    let seeds: Vec<String> = truths
        .iter()
        .map(|one| one.matrix_seed.to_string())
        .collect();
    let each = truths.first().map_or(0, |one| one.report.summary.seeds);
    format!(
        "Over {} ground truths (matrix seeds {}), {each} of the seeds each. A ground truth and a seed are one trial; intervals \
         of budgets are over truths and their seeds.",
        truths.len(),
        seeds.join(", ")
    )
}

/// All rows, the trials counted through; budgets as parts of the mean of all truths' whole budgets, so that rounds align.
fn trial_rows(truths: &[OfTruth]) -> Vec<ResultRow> {
    let most = |truth: &OfTruth| truth.report.rows.iter().map(|row| row.budget).max();
    let budgets: Vec<f64> = truths
        .iter()
        .map(|truth| most(truth).unwrap_or(0).max(1) as f64)
        .collect();
    let common = budgets.iter().sum::<f64>() / budgets.len().max(1) as f64;
    let seeds = |truth: &OfTruth| {
        let mut seeds: Vec<u64> = truth.report.rows.iter().map(|row| row.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        seeds
    };
    let widest = truths.iter().map(|truth| seeds(truth).len()).max();
    let mut rows = Vec::new();
    for (index, truth) in truths.iter().enumerate() {
        let known = seeds(truth);
        let scale = common / budgets[index];
        rows.extend(truth.report.rows.iter().map(|row| {
            let place = known.binary_search(&row.seed).unwrap_or_default();
            ResultRow {
                seed: (index * widest.unwrap_or(1) + place) as u64,
                budget: (row.budget as f64 * scale).round() as usize,
                ..row.clone()
            }
        }));
    }
    rows
}

/// Puts the ratios over truths in the place of those over trials.
fn set_ratios(truths: &[OfTruth], target: Option<&str>, report: &mut ExperimentReport) {
    let rows: Vec<Vec<ResultRow>> = truths.iter().map(|truth| truth.rows_on(target)).collect();
    let rows: Vec<&[ResultRow]> = rows.iter().map(Vec::as_slice).collect();
    let summary = &mut report.summary;
    let strategies = if summary.targets.is_empty() {
        &mut summary.strategies
    } else {
        let mut own = summary.targets.iter_mut();
        match own.find(|own| Some(own.target.as_str()) == target) {
            Some(own) => &mut own.strategies,
            None => return,
        }
    };
    let mean_of = |name: &str, value: fn(&StrategySummary) -> Option<f64>| {
        let each = truths
            .iter()
            .map(|truth| value(truth.figures(target, name)?));
        let each: Option<Vec<f64>> = each.collect();
        each.map(|values| values.iter().sum::<f64>() / values.len() as f64)
    };
    let updated: Vec<(String, StrategySummary)> = strategies
        .iter()
        .map(|(name, figures)| {
            let ratio = |judged| budget_ratio_over_truths(&rows, name, judged);
            let figures = StrategySummary {
                budget_ratio: ratio(Judged::Shared),
                returned_budget_ratio: ratio(Judged::Returned),
                repeated_tasks: mean_of(name, |own| own.repeated_tasks),
                main_tasks: mean_of(name, |own| own.main_tasks),
                ..figures.clone()
            };
            (name.to_owned(), figures)
        })
        .collect();
    for (name, figures) in updated {
        strategies.insert(name, figures);
    }
}

/// The mean floor, where every truth has one.
fn set_floor(truths: &[OfTruth], target: Option<&str>, report: &mut ExperimentReport) {
    let floors: Option<Vec<Floor>> = truths
        .iter()
        .map(|truth| truth.report.summary.floor_of(target))
        .collect();
    let Some(floors) = floors else { return };
    let count = floors.len() as f64;
    let ratios: Option<Vec<f64>> = floors.iter().map(|one| one.floor_budget_ratio).collect();
    let floor = Floor {
        floor_loss: floors.iter().map(|one| one.floor_loss).sum::<f64>() / count,
        floor_budget_ratio: ratios.map(|ratios| ratios.iter().sum::<f64>() / count),
    };
    report.summary.set_floor(target, floor);
}

/// The strategies whose budgets are compared, in their order.
fn strategies(report: &ExperimentReport, target: Option<&str>) -> Vec<String> {
    let sections = report.summary.sections();
    let own = sections.into_iter().find(|(name, _)| *name == target);
    let names = own
        .into_iter()
        .flat_map(|(_, strategies)| strategies.iter());
    names
        .map(|(name, _)| name.to_owned())
        .filter(|name| ![TARGET_ONLY, TARGET_DATA].contains(&name.as_str()))
        .collect()
}

/// The budget of a strategy on one truth, by the loss that decides.
fn budget(truth: &OfTruth, target: Option<&str>, name: &str) -> Option<f64> {
    let figures = truth.figures(target, name)?;
    let ratio = match truth.report.summary.judged {
        Judged::Shared => figures.budget_ratio,
        Judged::Returned => figures.returned_budget_ratio,
    };
    ratio?.mean
}

/// The final loss of a strategy on one truth, by the loss that decides.
fn loss(truth: &OfTruth, target: Option<&str>, name: &str) -> Option<f64> {
    let figures = truth.figures(target, name)?;
    let loss = match truth.report.summary.judged {
        Judged::Shared => figures.final_loss,
        Judged::Returned => figures.returned_loss,
    };
    Some(loss?.mean)
}

fn cells(truth: &OfTruth, target: Option<&str>, names: &[String]) -> Vec<String> {
    let mut cells = vec![truth.matrix_seed.to_string()];
    cells.push(
        truth
            .condition()
            .map_or_else(|| "–".into(), |kappa| format!("{kappa:.1}")),
    );
    for name in names {
        let share = budget(truth, target, name)
            .map_or_else(|| "not reached".into(), |share| percent(share, 1));
        let loss =
            loss(truth, target, name).map_or_else(|| "–".into(), |loss| format!("{loss:.5}"));
        cells.push(format!("{share}, {loss}"));
    }
    cells
}

/// Budgets and losses, truth by truth.
fn budgets(truths: &[OfTruth], target: Option<&str>, report: &ExperimentReport) -> ReportTable {
    let names = strategies(report, target);
    let mut head = vec!["ground truth".to_owned(), "κ(B)".to_owned()];
    head.extend(names.iter().cloned());
    let rows = truths.iter().map(|truth| cells(truth, target, &names));
    ReportTable {
        target: target.map(str::to_owned),
        title: "Truth by truth".into(),
        head,
        rows: rows.collect(),
        caption: "Budget to passive's final loss on the same ground truth, and final loss; means over its seeds.".into(),
    }
}

fn figure(truths: &[OfTruth], target: Option<&str>, report: &ExperimentReport) -> ReportFigure {
    let line = |name: &String| {
        let point = |truth: &OfTruth| {
            let share = budget(truth, target, name)?;
            Some((truth.matrix_seed as f64, 100.0 * share))
        };
        PanelLine::new(name, truths.iter().filter_map(point).collect::<Vec<_>>())
    };
    let names = strategies(report, target);
    let panel = Panel {
        lines: names.iter().map(line).collect(),
        x_title: "ground truth (matrix seed)".into(),
        y_title: "budget, % of passive's".into(),
        ..Panel::new("")
    };
    ReportFigure {
        target: target.map(str::to_owned),
        name: "truths".into(),
        figure: PanelFigure::new("Budget to passive's loss, truth by truth", vec![panel]).into(),
        caption: "Means over the seeds of a ground truth. Truths have no order: the lines only join what belongs together.".into(),
    }
}

/// A ground truth in the summary.
fn entry(truth: &OfTruth) -> Value {
    let summary = &truth.report.summary;
    json!({
        "matrix_seed": truth.matrix_seed,
        "theory": summary.extra.get("theory"),
        "floor_loss": summary.floor.map(|floor| floor.floor_loss),
        "strategies": summary.strategies,
        "targets": summary.targets,
    })
}

/// `truths.csv`: every truth and strategy on a line.
pub(super) fn table(truths: &[OfTruth]) -> String {
    let mut text = String::from(
        "matrix_seed,target,strategy,seeds,kappa,budget_ratio,returned_budget_ratio,final_loss,returned_loss\n",
    );
    for truth in truths {
        let kappa = number(truth.condition());
        for (target, strategies) in truth.report.summary.sections() {
            for (name, own) in strategies.iter() {
                text += &format!(
                    "{},{},{name},{},{kappa},{},{},{},{}\n",
                    truth.matrix_seed,
                    quoted(target.unwrap_or_default()),
                    truth.report.summary.seeds,
                    number(own.budget_ratio.and_then(|ratio| ratio.mean)),
                    number(own.returned_budget_ratio.and_then(|ratio| ratio.mean)),
                    number(own.final_loss.map(|loss| loss.mean)),
                    number(own.returned_loss.map(|loss| loss.mean)),
                );
            }
        }
    }
    text
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn quoted(text: &str) -> String {
    match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// The budgets truth by truth, for a terminal.
pub(super) fn words(truths: &[OfTruth]) -> String {
    let Some(first) = truths.first() else {
        return String::new();
    };
    let mut lines = Vec::new();
    for target in targets(&first.report) {
        let target = target.as_deref();
        let names = strategies(&first.report, target);
        lines.push(match target {
            Some(name) => format!("target {name}: budget and final loss by ground truth, κ(B)"),
            None => "budget and final loss by ground truth, κ(B):".to_owned(),
        });
        let mut head = vec!["truth".to_owned(), "κ(B)".to_owned()];
        head.extend(names.iter().cloned());
        let mut all = vec![head];
        all.extend(truths.iter().map(|truth| cells(truth, target, &names)));
        lines.extend(aligned(&all));
    }
    lines.join("\n") + "\n"
}

/// Columns that stand below each other.
fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate();
        let padded: Vec<String> = cells
            .map(|(column, cell)| format!("{cell:>width$}", width = width(column)))
            .collect();
        padded.join("  ")
    };
    rows.iter().map(line).collect()
}
