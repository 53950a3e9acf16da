//! The `taskscout` command as a library: a command of one's own that knows one's own parts.
//!
//! Spaces, feature maps, strategies and trainers that are registered may be named in experiment files, and on
//! the command line, as if they came with the command:
//!
//! ```no_run
//! use serde::Deserialize;
//! use taskscout::prelude::*;
//!
//! /// Every round from one task that the engineer likes.
//! #[derive(Debug, Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Favourite {
//!     task: Vec<f64>,
//! }
//!
//! impl Strategy for Favourite {
//!     fn plan(&self, context: &PlanContext<'_>) -> Result<Decision> {
//!         let task = context.space.task_of(&self.task);
//!         let item = PlanItem::new(task, context.budget, Stage::Explore, "the favourite");
//!         Ok(Decision::of(vec![item]))
//!     }
//! }
//!
//! fn main() -> Result<std::process::ExitCode> {
//!     let mut registry = Registry::new();
//!     registry.strategy::<Favourite>("favourite")?;
//!     Ok(taskscout_cli::main_with(&registry))
//! }
//! ```
//!
//! `my-command run my.toml --strategies passive,favourite` then compares the two, with the settings of
//! `[strategy.favourite]` in the file.

// They panic where nobody reads: `taskscout_terminal` has what to use instead.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod data;
mod design;
mod error;
mod experiment;
mod learn;
mod manual;
mod model;
mod named;
mod report;
mod serve;
mod simulate;
mod study;

use std::ffi::OsString;
use std::process::ExitCode;

use taskscout::registry::Registry;
use taskscout_io::tables::visible;
use taskscout_lab::{BuiltIn, Experiment, WorldOptions, parts};

use crate::args::{Asked, Cli, Command, Opened, Reproduce};
use crate::error::{CliError, Result};

/// Runs the command that the arguments of this process ask for, with the registered parts beside its own:
/// the whole of a `main`.
#[must_use]
pub fn main_with(registry: &Registry) -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let outcome = parts::check_names(registry).and_then(|()| {
        let (cli, opened) = args::parse(&arguments)?;
        dispatch(cli, opened, registry)
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !matches!(error, CliError::Closed) {
                taskscout_terminal::tell(&format!("error: {}", visible(&error.to_string())));
                error
                    .snippet()
                    .into_iter()
                    .for_each(taskscout_terminal::tell);
            }
            ExitCode::from(error.code())
        }
    }
}

fn dispatch(cli: Cli, opened: Option<Opened>, registry: &Registry) -> Result<()> {
    if let Some(gigabytes) = cli.memory {
        taskscout_lab::memory::allow(gigabytes)?;
    }
    match cli.command {
        Command::Reproduce { experiment } => reproduce(experiment, registry),
        Command::Run(options) => {
            let (experiment, world) = match opened {
                Some(opened) => opened,
                None => (Experiment::from_file(&options.file)?, WorldOptions::None),
            };
            let asked = options.common.asked(world);
            if options.check {
                experiment::check(experiment, &asked, registry)?;
                return taskscout_terminal::print(&format!(
                    "{} is a valid experiment\n",
                    options.file.display()
                ));
            }
            experiment::execute(experiment, &asked, registry)
        }
        Command::Study(options) => study::execute(&options, registry),
        Command::Learn(options) => learn::execute(&options),
        Command::Report(options) => report::execute(&options, registry),
        Command::Serve(options) => serve::execute(&options, registry),
        Command::Design(options) => design::execute(&options, registry),
        Command::Export(options) => model::export(&options),
        Command::Predict(options) => model::predict(&options),
        Command::Simulate { world } => simulate::execute(&world),
        Command::Data { data } => data::execute(&data),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { folder } => manual::pages(&folder),
    }
}

/// Runs an experiment of the paper.
fn reproduce(experiment: Reproduce, registry: &Registry) -> Result<()> {
    let run = |experiment: BuiltIn, asked: &Asked| {
        experiment::execute(Experiment::built_in(experiment)?, asked, registry)
    };
    match experiment {
        Reproduce::Bilinear(args) => run(BuiltIn::Bilinear, &args.asked()),
        Reproduce::Fourier(args) => run(BuiltIn::Fourier, &args.asked()),
        Reproduce::Mlp(args) => run(BuiltIn::Mlp, &args.asked()),
        Reproduce::Pendulum(args) => run(BuiltIn::Pendulum, &args.asked()),
        Reproduce::Drone(args) => run(BuiltIn::Drone, &args.asked()),
        Reproduce::Theory(args) => experiment::execute_theory(&args.asked()),
        Reproduce::All(args) => {
            let (options, json) = args.asked();
            experiment::execute_all(&options, json, registry)
        }
    }
}
