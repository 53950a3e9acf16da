//! `taskscout reproduce` and `taskscout run`: what they say of an experiment, and how they end.

use taskscout::registry::Registry;
use taskscout_lab::{Experiment, MEND, QUICK, run_all, run_theory, run_truths};

use crate::args::Asked;
use crate::error::{CliError, Result};
use taskscout_terminal::terminal;
use taskscout_terminal::{print, show};

/// Checks an experiment without running it; what a file leaves to the command line, it may leave out.
pub(crate) fn check(experiment: Experiment, asked: &Asked, registry: &Registry) -> Result<()> {
    experiment.check(&asked.options, registry, &terminal())
}

/// Runs an experiment, writes its results and tells the user.
pub(crate) fn execute(experiment: Experiment, asked: &Asked, registry: &Registry) -> Result<()> {
    if asked.options.truths.is_some() {
        return execute_truths(experiment, asked, registry);
    }
    let finished = experiment.run(&asked.options, registry, &terminal())?;
    let print = if asked.json { print } else { show };
    let printed = print(&if asked.json {
        finished.summary()?
    } else {
        let page = finished.folder().join("report.html");
        format!(
            "{}\n{}Report: {}\n",
            finished.in_words(),
            quick_line(asked),
            page.display()
        )
    });
    match finished.list_failures() {
        Some(failures) => Err(CliError::Failure(failures + MEND)),
        None => printed,
    }
}

/// Runs an experiment on several ground truths and tells the user.
fn execute_truths(experiment: Experiment, asked: &Asked, registry: &Registry) -> Result<()> {
    let truths = run_truths(experiment, &asked.options, registry, &terminal())?;
    let print = if asked.json { print } else { show };
    let printed = print(&if asked.json {
        truths.summary().to_owned()
    } else {
        let page = truths.folder().join("report.html");
        format!(
            "{}\n{}Report: {}\n",
            truths.in_words(),
            quick_line(asked),
            page.display()
        )
    });
    match truths.missing() {
        Some(missing) => Err(CliError::Failure(missing.to_owned() + MEND)),
        None => printed,
    }
}

/// Runs every built-in experiment and tells the user.
pub(crate) fn execute_all(asked: &Asked, registry: &Registry) -> Result<()> {
    let mut each = |words: &str| {
        if !asked.json {
            // That nobody reads is found at the end too: the other runs are not lost.
            show(&format!("{words}\n")).ok();
        }
    };
    let together = run_all(&asked.options, registry, &terminal(), &mut each)?;
    let printed = print(&if asked.json {
        together.summary().to_owned()
    } else {
        let page = together.page();
        format!("{}Report on all: {}\n", quick_line(asked), page.display())
    });
    match together.missing() {
        Some(missing) => Err(CliError::Failure(missing + MEND)),
        None => printed,
    }
}

/// Puts the theory beside measurements and tells the user.
pub(crate) fn execute_theory(asked: &Asked) -> Result<()> {
    let report = run_theory(&asked.options, &terminal())?;
    if asked.json {
        return print(report.summary());
    }
    let page = report.folder().join("report.html");
    show(&format!(
        "{}\nReport: {}\n",
        report.in_words(),
        page.display()
    ))
}

/// What a reader of a quick run's table must know.
fn quick_line(asked: &Asked) -> String {
    match asked.options.quick {
        true => format!("{QUICK}\n"),
        false => String::new(),
    }
}
