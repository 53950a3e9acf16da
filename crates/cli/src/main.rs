//! The `taskscout` command: which tasks should I collect data from next?

// They panic where nobody reads: `output` has what to use instead.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod data;
mod design;
mod error;
mod experiment;
mod input;
mod memory;
mod model;
mod output;
mod progress;
mod simulate;

use clap::Parser as _;
use taskscout_tables::visible;

use crate::args::{Cli, Command, Selection};
use crate::error::{CliError, Result};

fn main() -> std::process::ExitCode {
    let outcome = dispatch(Cli::parse());
    match outcome {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            if !matches!(error, CliError::Closed) {
                output::tell(&format!("error: {}", visible(&error.to_string())));
            }
            std::process::ExitCode::from(error.code())
        }
    }
}

fn dispatch(cli: Cli) -> Result<()> {
    match cli.command {
        Command::Reproduce {
            experiment,
            options,
        } => match experiment {
            Selection::One(experiment) => {
                let config = experiment::config::built_in(experiment)?;
                experiment::execute(config, &options)
            }
            Selection::All => experiment::all::execute(&options),
        },
        Command::Run {
            file,
            check,
            options,
        } => {
            let config = experiment::config::from_file(&file)?;
            if check {
                experiment::check(config, &options)?;
                return output::print(&format!("{} is a valid experiment\n", file.display()));
            }
            experiment::execute(config, &options)
        }
        Command::Design(options) => design::execute(&options),
        Command::Export(options) => model::export(&options),
        Command::Predict(options) => model::predict(&options),
        Command::Simulate { world } => simulate::execute(&world),
        Command::Data { data } => data::execute(&data),
    }
}
