//! Experiments: strategies × targets × seeds on one world, with results that survive a crash.

pub(crate) mod all;
pub(crate) mod config;
mod folder;
mod models;
mod need;
mod oracle;
mod prepare;
mod publish;
mod schedule;
#[cfg(test)]
mod tests;
mod trial;
mod trials;
pub(crate) mod world;

use std::path::PathBuf;

use config::ExperimentConfig;
use folder::{Reserved, RunFolder};
use prepare::{Prepared, prepare};
use publish::{QUICK, pretty, publish};
use taskscout::registry::Registry;
use taskscout_report::{ExperimentReport, FailedTrial, TARGET_ONLY, terminal_table};
use trial::ORACLE;
use trials::run_trials;

use crate::args::ExperimentOptions;
use crate::error::{CliError, Result};
use crate::output::{print, show, tell};

/// Names of what strategies are compared with, which no strategy can have.
pub(crate) const RESERVED: [&str; 2] = [TARGET_ONLY, ORACLE];
/// What to do about failed trials.
pub(crate) const MEND: &str = ": mend the cause and run again with --resume";
/// Failures to name on standard error; `summary.json` has them all.
const NAMED: usize = 20;

/// Checks an experiment without running it; what a file leaves to the command line, it may leave out.
pub(crate) fn check(
    config: ExperimentConfig,
    options: &ExperimentOptions,
    registry: &Registry,
) -> Result<()> {
    let mut world = config.world.clone();
    world.apply(options)?;
    if let Some(missing) = world.missing() {
        config.with_options(options, registry)?;
        tell(&format!("note: {missing}"));
        return Ok(());
    }
    prepare(config, options, registry).map(|_| ())
}

/// Runs an experiment, writes its results and tells the user.
pub(crate) fn execute(
    config: ExperimentConfig,
    options: &ExperimentOptions,
    registry: &Registry,
) -> Result<()> {
    let reserved = Reserved::new(out_folder(&config.name, options))?;
    let prepared = prepare(config, options, registry)?;
    let mut folder = reserved.examine(&prepared, options)?;
    folder.begin(options)?;
    let report = run(&prepared, &folder, options)?;
    let print = if options.json { print } else { show };
    let printed = print(&if options.json {
        pretty(&report.summary)?
    } else {
        let quick = quick_line(options);
        let page = folder.path().join("report.html");
        format!(
            "{}\n{quick}Report: {}\n",
            in_words(&prepared, &report),
            page.display()
        )
    });
    match list_failures(&prepared, &report) {
        Some(failures) => Err(CliError::Failure(failures + MEND)),
        None => printed,
    }
}

/// The table of losses, and what the world has to say below it.
fn in_words(prepared: &Prepared, report: &ExperimentReport) -> String {
    let mut text = terminal_table(&report.summary);
    let remarks = prepared.world.remarks(report);
    if !remarks.is_empty() {
        text += &format!("\n{}\n", remarks.join("\n"));
    }
    text
}

/// What a reader of a quick run's table must know.
fn quick_line(options: &ExperimentOptions) -> String {
    match options.quick {
        true => format!("{QUICK}\n"),
        false => String::new(),
    }
}

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
    prepared.need.tell_if_large();
    let (records, failed) = run_trials(prepared, folder, options)?;
    publish(prepared, folder, &records, failed, options)
}

/// Names failed trials on standard error and sums them up.
fn list_failures(prepared: &Prepared, report: &ExperimentReport) -> Option<String> {
    let failed = &report.summary.failed;
    if failed.is_empty() {
        return None;
    }
    for trial in failed.iter().take(NAMED) {
        let FailedTrial { seed, error, .. } = trial;
        tell(&format!(
            "failed: {} seed {seed}: {error}",
            trial.contender()
        ));
    }
    if failed.len() > NAMED {
        let more = failed.len() - NAMED;
        tell(&format!("failed: {more} more, see summary.json"));
    }
    let trials = prepared.trials().len();
    Some(format!(
        "{} of {trials} trials failed and are left out",
        failed.len()
    ))
}
