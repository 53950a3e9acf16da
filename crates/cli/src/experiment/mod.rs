//! Experiments: strategies × seeds on one world, with results that survive a crash.

pub(crate) mod config;
mod folder;
mod models;
mod schedule;
mod trial;

use std::path::PathBuf;

use config::ExperimentConfig;
use folder::RunFolder;
use rayon::prelude::*;
use schedule::Rounds;
use taskscout_report::{
    ExperimentReport, ResultRow, Theme, html_report, loss_plot, terminal_table, write_csv,
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

/// Runs an experiment and writes its results.
pub(crate) fn execute(config: ExperimentConfig, options: &ExperimentOptions) -> Result<()> {
    let prepared = prepare(config, options)?;
    let quick = if options.quick { "-quick" } else { "" };
    let default = || PathBuf::from("runs").join(format!("{}{quick}", prepared.config.name));
    let folder = RunFolder::open(
        options.out.clone().unwrap_or_else(default),
        &prepared.config,
        options,
    )?;
    let rows = run_trials(&prepared, &folder, options)?;
    publish(&prepared, &folder, rows, options)
}

/// Runs every trial that the folder does not hold yet.
fn run_trials(
    prepared: &Prepared,
    folder: &RunFolder,
    options: &ExperimentOptions,
) -> Result<Vec<ResultRow>> {
    let seeds = prepared.config.seed..prepared.config.seed + prepared.config.seeds;
    // Seeds outermost: a run that is stopped has whole comparisons.
    let trials: Vec<(u64, Contender)> = seeds
        .flat_map(|seed| {
            prepared
                .contenders
                .iter()
                .map(move |&contender| (seed, contender))
        })
        .collect();
    let progress = Progress::new(trials.len());
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(jobs) = options.jobs {
        pool = pool.num_threads(usize::from(jobs));
    }
    let pool = pool
        .build()
        .map_err(|error| CliError::Failure(format!("cannot start worker threads: {error}")))?;
    let one = |(seed, contender): (u64, Contender)| -> Result<Vec<ResultRow>> {
        let name = format!("{contender} seed {seed}");
        let model = options
            .save_models
            .then(|| folder.model_path(contender, seed));
        // A trial whose model is asked for and missing is run again.
        let has_model = model.as_ref().is_none_or(|model| model.exists());
        if let Some(rows) = folder.finished(contender, seed)?.filter(|_| has_model) {
            progress.trial(&name, "kept from the run before");
            return Ok(rows);
        }
        let on_round = || progress.round(&name);
        let rows = trial::run(
            &prepared.config,
            &prepared.world,
            &prepared.rounds,
            contender,
            seed,
            model.as_deref(),
            on_round,
        )?;
        folder.keep(contender, seed, &rows)?;
        progress.trial(&name, &last_loss(&rows));
        Ok(rows)
    };
    let results: Result<Vec<Vec<ResultRow>>> =
        pool.install(|| trials.into_par_iter().with_max_len(1).map(one).collect());
    progress.finish();
    let mut rows: Vec<ResultRow> = results?.into_iter().flatten().collect();
    let order = |row: &ResultRow| {
        prepared
            .contenders
            .iter()
            .position(|contender| contender.to_string() == row.strategy)
    };
    rows.sort_by_key(|row| (order(row), row.seed, row.round));
    Ok(rows)
}

fn last_loss(rows: &[ResultRow]) -> String {
    let last = rows
        .last()
        .and_then(|row| row.test_loss.or(row.returned_loss));
    last.map_or_else(|| "done".into(), |loss| format!("final loss {loss:.3e}"))
}

/// Writes tables, summary and report, and tells the user.
fn publish(
    prepared: &Prepared,
    folder: &RunFolder,
    rows: Vec<ResultRow>,
    options: &ExperimentOptions,
) -> Result<()> {
    let (json, quick) = (options.json, options.quick);
    let failed = |error: taskscout_report::Error| CliError::Failure(error.to_string());
    let mut table = Vec::new();
    write_csv(&rows, &mut table).map_err(failed)?;
    let text =
        |error: serde_json::Error| CliError::Failure(format!("cannot write the summary: {error}"));
    let paper = serde_json::to_value(&prepared.config.paper).map_err(text)?;
    let picture = loss_plot(&rows).to_svg(Theme::Standalone, "loss");
    let report = ExperimentReport::new(rows, paper, folder.settings().clone()).map_err(failed)?;
    let summary = serde_json::to_string_pretty(&report.summary).map_err(text)? + "\n";
    folder.write("results.csv", &table)?;
    folder.write("summary.json", summary.as_bytes())?;
    folder.write("loss.svg", picture.as_bytes())?;
    folder.write(
        "report.html",
        html_report(std::slice::from_ref(&report)).as_bytes(),
    )?;
    if json {
        print!("{summary}");
    } else {
        println!("{}", terminal_table(&report.summary));
        if quick {
            println!(
                "A quick look: 2 seeds and a quarter of the budget, not to be compared with published figures."
            );
        }
        println!("Report: {}", folder.path().join("report.html").display());
    }
    Ok(())
}
