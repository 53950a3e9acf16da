//! Experiments: strategies × seeds on one world, with results that survive a crash.

pub(crate) mod all;
pub(crate) mod config;
mod folder;
mod models;
mod oracle;
mod schedule;
mod trial;

use std::path::PathBuf;

use config::ExperimentConfig;
use folder::RunFolder;
use rayon::prelude::*;
use schedule::Rounds;
use taskscout_models::SavedModel;
use taskscout_report::{
    ExperimentReport, FailedTrial, ResultRow, TARGET_ONLY, Theme, html_report, loss_plot,
    terminal_table, write_csv,
};
use taskscout_worlds::Synthetic;
use trial::Contender;

use crate::args::ExperimentOptions;
use crate::error::{CliError, Result};
use crate::progress::Progress;

/// An experiment that is ready to run.
struct Prepared {
    config: ExperimentConfig,
    world: Synthetic,
    rounds: Rounds,
    contenders: Vec<Contender>,
}

impl Prepared {
    /// Seeds outermost: a run that is stopped has whole comparisons.
    fn trials(&self) -> Vec<(u64, Contender)> {
        let seeds = self.config.seed..self.config.seed + self.config.seeds;
        let of_seed = |seed| self.contenders.iter().map(move |&one| (seed, one));
        seeds.flat_map(of_seed).collect()
    }
}

/// Checks everything that can be checked without running.
fn prepare(config: ExperimentConfig, options: &ExperimentOptions) -> Result<Prepared> {
    let config = config.with_options(options)?;
    let world = config.world.build()?;
    let shape = world.config();
    let d = taskscout::features::Features::dim(&shape.input_features) as f64;
    let rounds = config
        .schedule
        .rounds(d * (shape.k * shape.k) as f64 * world.condition())?;
    for &run in &config.strategies {
        let study = trial::study_config(&config, &world, &rounds, run, config.seed)?;
        study.validate().map_err(|error| {
            CliError::Input(format!("in [learner], with strategy {run}, {error}"))
        })?;
        // A spread over the space needs a sample for each direction: every round of a passive
        // strategy, the first of an active one.
        let spread = if run.kind.is_active() {
            1
        } else {
            rounds.budgets.len()
        };
        if let Some((round, budget)) = rounds
            .budgets
            .iter()
            .enumerate()
            .take(spread)
            .find(|(_, budget)| **budget < shape.source_dim)
        {
            return Err(CliError::Input(format!(
                "`schedule` gives round {round} a budget of {budget} samples, but {run} needs at least {}: raise the budget",
                shape.source_dim
            )));
        }
    }
    let mut contenders = vec![Contender::TargetOnly];
    contenders.extend(
        config
            .strategies
            .iter()
            .map(|&run| Contender::Strategy(run)),
    );
    Ok(Prepared {
        config,
        world,
        rounds,
        contenders,
    })
}

/// Checks an experiment without running it.
pub(crate) fn check(config: ExperimentConfig, options: &ExperimentOptions) -> Result<()> {
    prepare(config, options).map(|_| ())
}

/// Runs an experiment, writes its results and tells the user.
pub(crate) fn execute(config: ExperimentConfig, options: &ExperimentOptions) -> Result<()> {
    let prepared = prepare(config, options)?;
    let out = out_folder(&prepared.config.name, options);
    let folder = RunFolder::examine(out, &prepared.config, options)?;
    folder.begin()?;
    let report = run(&prepared, &folder, options)?;
    if options.json {
        print!("{}", pretty(&report.summary)?);
    } else {
        println!("{}", terminal_table(&report.summary));
        if options.quick {
            println!("{QUICK}");
        }
        println!("Report: {}", folder.path().join("report.html").display());
    }
    match list_failures(&prepared, &report) {
        Some(failures) => Err(CliError::Failure(failures + MEND)),
        None => Ok(()),
    }
}

/// Rounds of a strategy in which no representation could be learnt, in words.
fn lost_rounds(rows: &[ResultRow]) -> Vec<String> {
    let mut lost: Vec<(&str, usize, usize)> = Vec::new();
    for row in rows.iter().filter(|row| row.strategy != TARGET_ONLY) {
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
            "training of {name} diverged in {missing} of {all} rounds: they have no loss of the shared \
             predictor, and target-only was returned; lower the learning rate or rescale the data"
        )
    };
    lost.into_iter()
        .filter(|(_, missing, _)| *missing > 0)
        .map(say)
        .collect()
}

/// What a reader of a quick run's figures must know.
const QUICK: &str =
    "A quick look: few seeds and a part of the budget, not to be compared with published figures.";
/// What to do about failed trials.
const MEND: &str = ": mend the cause and run again with --resume";

fn out_folder(name: &str, options: &ExperimentOptions) -> PathBuf {
    let quick = if options.quick { "-quick" } else { "" };
    let default = || PathBuf::from("runs").join(format!("{name}{quick}"));
    options.out.clone().unwrap_or_else(default)
}

/// Runs what is not there yet, and writes tables and report.
fn run(
    prepared: &Prepared,
    folder: &RunFolder,
    options: &ExperimentOptions,
) -> Result<ExperimentReport> {
    let (rows, failed) = run_trials(prepared, folder, options)?;
    publish(prepared, folder, rows, failed, options)
}

/// Failures to name on standard error; `summary.json` has them all.
const NAMED: usize = 20;

/// Names failed trials on standard error and sums them up.
fn list_failures(prepared: &Prepared, report: &ExperimentReport) -> Option<String> {
    let failed = &report.summary.failed;
    if failed.is_empty() {
        return None;
    }
    for trial in failed.iter().take(NAMED) {
        let FailedTrial {
            strategy,
            seed,
            error,
        } = trial;
        eprintln!("failed: {strategy} seed {seed}: {error}");
    }
    if failed.len() > NAMED {
        let more = failed.len() - NAMED;
        eprintln!("failed: {more} more, see summary.json");
    }
    let trials = prepared.trials().len();
    Some(format!(
        "{} of {trials} trials failed and are left out",
        failed.len()
    ))
}

/// Runs every trial that the folder does not hold yet. One that fails does not stop the others; an
/// error means that there is no result at all.
fn run_trials(
    prepared: &Prepared,
    folder: &RunFolder,
    options: &ExperimentOptions,
) -> Result<(Vec<ResultRow>, Vec<FailedTrial>)> {
    let trials = prepared.trials();
    let progress = Progress::new(trials.len());
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(jobs) = options.jobs {
        pool = pool.num_threads(usize::from(jobs));
    }
    let pool = pool
        .build()
        .map_err(|error| CliError::Failure(format!("cannot start worker threads: {error}")))?;
    // The outer error is the folder's and ends the run, the inner one is the trial's own.
    let one = |&(seed, contender): &(u64, Contender)| -> Result<Result<Vec<ResultRow>>> {
        let name = format!("{contender} seed {seed}");
        let model = options
            .save_models
            .then(|| folder.model_path(contender, seed));
        // A trial whose model is asked for and missing or damaged is run again.
        let has_model = model
            .as_ref()
            .is_none_or(|model| SavedModel::load(model).is_ok());
        if let Some(rows) = folder.finished(contender, seed)?.filter(|_| has_model) {
            progress.trial(&name, "kept from the run before");
            return Ok(Ok(rows));
        }
        let on_round = || progress.round(&name);
        let outcome = trial::run(
            &prepared.config,
            &prepared.world,
            &prepared.rounds,
            contender,
            seed,
            model.as_deref(),
            on_round,
        );
        match &outcome {
            Ok(rows) => {
                folder.keep(contender, seed, rows)?;
                progress.trial(&name, &last_loss(rows));
            }
            Err(error) => progress.failed(&name, &error.to_string()),
        }
        Ok(outcome)
    };
    let outcomes: Result<Vec<Result<Vec<ResultRow>>>> =
        pool.install(|| trials.par_iter().with_max_len(1).map(one).collect());
    progress.finish();
    let (mut rows, mut failed, mut first) = (Vec::new(), Vec::new(), None);
    for (&(seed, contender), outcome) in trials.iter().zip(outcomes?) {
        match outcome {
            Ok(own) => rows.extend(own),
            Err(error) => {
                failed.push(FailedTrial {
                    strategy: contender.to_string(),
                    seed,
                    error: error.to_string(),
                });
                first.get_or_insert_with(|| {
                    error.after(&format!(
                        "every trial failed, {contender} seed {seed} with: "
                    ))
                });
            }
        }
    }
    if let Some(error) = first.filter(|_| rows.is_empty()) {
        return Err(error);
    }
    let order = |row: &ResultRow| {
        prepared
            .contenders
            .iter()
            .position(|contender| contender.to_string() == row.strategy)
    };
    rows.sort_by_key(|row| (order(row), row.seed, row.round));
    Ok((rows, failed))
}

fn last_loss(rows: &[ResultRow]) -> String {
    let last = rows
        .last()
        .and_then(|row| row.test_loss.or(row.returned_loss));
    last.map_or_else(|| "done".into(), |loss| format!("final loss {loss:.3e}"))
}

/// Writes tables, summary and report.
fn publish(
    prepared: &Prepared,
    folder: &RunFolder,
    rows: Vec<ResultRow>,
    failures: Vec<FailedTrial>,
    options: &ExperimentOptions,
) -> Result<ExperimentReport> {
    let failed = |error: taskscout_report::Error| CliError::Failure(error.to_string());
    let mut table = Vec::new();
    write_csv(&rows, &mut table).map_err(failed)?;
    let paper = serde_json::to_value(&prepared.config.paper).map_err(|error| unwritten(&error))?;
    let picture = loss_plot(&rows).to_svg(Theme::Standalone, "loss");
    let mut report =
        ExperimentReport::new(rows, paper, folder.settings().clone()).map_err(failed)?;
    report.summary.failed = failures;
    for note in lost_rounds(&report.rows) {
        eprintln!("note: {note}");
        report.notes.push(note);
    }
    if options.quick {
        report.notes.push(QUICK.into());
    }
    folder.write("results.csv", &table)?;
    folder.write("summary.json", pretty(&report.summary)?.as_bytes())?;
    folder.write("loss.svg", picture.as_bytes())?;
    folder.write(
        "report.html",
        html_report(std::slice::from_ref(&report)).as_bytes(),
    )?;
    Ok(report)
}

fn pretty(summary: &impl serde::Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(summary).map_err(|error| unwritten(&error))?;
    Ok(text + "\n")
}

fn unwritten(error: &serde_json::Error) -> CliError {
    CliError::Failure(format!("cannot write the summary: {error}"))
}
