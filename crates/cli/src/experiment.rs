//! `taskscout reproduce` and `taskscout run`: what they say of an experiment, and how they end.

use std::path::Path;

use taskscout::registry::Registry;
use taskscout_lab::{AllOptions, Experiment, MEND, QUICK, run_all, run_theory, run_truths};

use crate::args::Asked;
use crate::error::{CliError, Result};
use taskscout_terminal::terminal;
use taskscout_terminal::{conclude, print_json, show};

/// Checks an experiment without running it; what a file leaves to the command line, it may leave out.
pub(crate) fn check(experiment: Experiment, asked: &Asked, registry: &Registry) -> Result<()> {
    experiment.check(&asked.options, registry, &terminal())
}

/// Runs an experiment, writes its results and tells the user.
pub(crate) fn execute(experiment: Experiment, asked: &Asked, registry: &Registry) -> Result<()> {
    let synthetic = asked.options.world.synthetic();
    if synthetic.is_some_and(|own| own.truths.is_some()) {
        return execute_truths(experiment, asked, registry);
    }
    let finished = experiment.run(&asked.options, registry, &terminal())?;
    let printed = if asked.json {
        print_json(&finished.summary()?)
    } else {
        let page = finished.folder().join("report.html");
        let verdicts = finished.report().verdicts();
        show(&(finished.in_words() + "\n"))
            .and_then(|()| close(asked.options.quick, &verdicts, "Report", &page))
    };
    match finished.list_failures() {
        Some(failures) => Err(CliError::Failure(failures + MEND)),
        None => printed,
    }
}

/// Runs an experiment on several ground truths and tells the user.
fn execute_truths(experiment: Experiment, asked: &Asked, registry: &Registry) -> Result<()> {
    let truths = run_truths(experiment, &asked.options, registry, &terminal())?;
    let printed = if asked.json {
        print_json(truths.summary())
    } else {
        let page = truths.folder().join("report.html");
        show(&format!("{}\n", truths.in_words()))
            .and_then(|()| close(asked.options.quick, truths.verdicts(), "Report", &page))
    };
    match truths.missing() {
        Some(missing) => Err(CliError::Failure(missing.to_owned() + MEND)),
        None => printed,
    }
}

/// Runs every built-in experiment and tells the user.
pub(crate) fn execute_all(options: &AllOptions, json: bool, registry: &Registry) -> Result<()> {
    let mut each = |words: &str| {
        if !json {
            // That nobody reads is found at the end too: the other runs are not lost.
            show(&format!("{words}\n")).ok();
        }
    };
    let together = run_all(options, registry, &terminal(), &mut each)?;
    let printed = match json {
        true => print_json(together.summary()),
        false => close(
            options.common.quick,
            together.verdicts(),
            "Report on all",
            &together.page(),
        ),
    };
    match together.missing() {
        Some(missing) => Err(CliError::Failure(missing + MEND)),
        None => printed,
    }
}

/// Puts the theory beside measurements and tells the user.
pub(crate) fn execute_theory(asked: &Asked) -> Result<()> {
    let report = run_theory(&asked.options, &terminal())?;
    if asked.json {
        return print_json(report.summary());
    }
    let page = report.folder().join("report.html");
    show(&format!(
        "{}\nReport: {}\n",
        report.in_words(),
        page.display()
    ))
}

/// The last words: what came out in sentences, what a reader of a quick run must know, and where the report is.
fn close(quick: bool, verdicts: &[String], what: &str, page: &Path) -> Result<()> {
    verdicts.iter().try_for_each(|verdict| conclude(verdict))?;
    let quick = match quick {
        true => format!("{QUICK}\n"),
        false => String::new(),
    };
    show(&format!("{quick}{what}: {}\n", page.display()))
}
