//! `taskscout run FILE`: the world of the file decides which options there are.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Args, Command, CommandFactory as _, FromArgMatches as _};
use taskscout_lab::{Experiment, WorldName, WorldOptions};

use super::Cli;
use super::experiment::{
    CommonArgs, LogWorldArgs, PendulumArgs, ProgramArgs, SyntheticArgs, WorldArgs,
};
use crate::error::{CliError, Result};

const RUN: &str = "run";

/// An experiment of one's own.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The experiment file; docs/reference/experiments.md describes its keys, experiments/ has examples
    pub(crate) file: PathBuf,
    /// Check the file without running it
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// The file of `run`, read, and the options of its world.
pub(crate) type Opened = (Experiment, WorldOptions);

/// Reads the command line; a command that is not understood ends the process, as does one that asks for help.
///
/// # Errors
/// An experiment file that cannot be read, or an option that its world does not have.
pub(crate) fn parse(arguments: &[OsString]) -> Result<(Cli, Option<Opened>)> {
    let help = |argument: &&OsString| *argument == "-h" || *argument == "--help";
    let helped = arguments.iter().any(|argument| help(&argument));
    let asked = arguments.iter().filter(|argument| !help(argument));
    let experiment = match file_of(asked).map(|file| Experiment::from_file(&file)) {
        // The file does not matter to whoever wants to know what to write.
        Some(Err(_)) if helped => None,
        read => read.transpose()?,
    };
    let world = experiment.as_ref().map(Experiment::world);
    let matches = match command(world).try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => {
            let named = arguments.get(1).and_then(|name| name.to_str());
            let of_world = matches!(named, Some(RUN | "reproduce"));
            let refused = of_world.then(|| refusal(&error)).flatten();
            return Err(refused.unwrap_or_else(|| error.exit()));
        }
    };
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let opened = match (experiment, matches.subcommand_matches(RUN)) {
        (Some(experiment), Some(run)) => Some((options(experiment.world(), run), experiment)),
        _ => None,
    };
    Ok((
        cli,
        opened.map(|(options, experiment)| (experiment, options)),
    ))
}

/// The command line, with the options that `run` has for a world, or for all of them where none is known.
pub(crate) fn command(world: Option<WorldName>) -> Command {
    Cli::command().mut_subcommand(RUN, |run| match world {
        Some(world) => with_options(run, world).after_help(""),
        None => with_all_options(run),
    })
}

/// The file that `run` is to read.
fn file_of<'a>(arguments: impl Iterator<Item = &'a OsString>) -> Option<PathBuf> {
    let matches = command(None).try_get_matches_from(arguments).ok()?;
    matches.subcommand_matches(RUN)?.get_one("file").cloned()
}

fn with_options(run: Command, world: WorldName) -> Command {
    let run = run.next_help_heading("Options of its world");
    match world {
        WorldName::Synthetic => SyntheticArgs::augment_args(run),
        WorldName::Pendulum => PendulumArgs::augment_args(run),
        WorldName::Logs => LogWorldArgs::augment_args(run),
        WorldName::Program => ProgramArgs::augment_args(run),
    }
}

/// The options of all worlds. Those of one name are taken for texts: only its world can read one.
fn with_all_options(mut run: Command) -> Command {
    for world in WorldName::ALL {
        let of_world = with_options(Command::new(RUN), *world);
        for option in of_world.get_arguments() {
            let known = run
                .get_arguments()
                .any(|known| known.get_id() == option.get_id());
            run = match (known, option.get_action().takes_values()) {
                (false, _) => run.arg(option.clone().hide(true)),
                (true, true) => run.mut_arg(option.get_id(), |option| {
                    option.value_parser(clap::value_parser!(OsString))
                }),
                (true, false) => run,
            };
        }
    }
    run
}

fn options(world: WorldName, run: &ArgMatches) -> WorldOptions {
    fn read<W: WorldArgs>(run: &ArgMatches) -> WorldOptions {
        W::from_arg_matches(run)
            .unwrap_or_else(|error| error.exit())
            .options()
    }
    match world {
        WorldName::Synthetic => read::<SyntheticArgs>(run),
        WorldName::Pendulum => read::<PendulumArgs>(run),
        WorldName::Logs => read::<LogWorldArgs>(run),
        WorldName::Program => read::<ProgramArgs>(run),
    }
}

/// What to say of an option that other worlds have.
fn refusal(error: &clap::Error) -> Option<CliError> {
    let given = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(given))) => given,
        _ => return None,
    };
    let has = |world: &&WorldName| {
        let command = with_options(Command::new(RUN), **world);
        let mut names = command.get_arguments().filter_map(clap::Arg::get_long);
        names.any(|name| given.strip_prefix("--") == Some(name))
    };
    let whose: Vec<&str> = WorldName::ALL
        .iter()
        .filter(has)
        .map(|world| world.about())
        .collect();
    (!whose.is_empty()).then(|| {
        let whose = whose.join(" and ");
        CliError::Input(format!(
            "{given} is an option of {whose} only: leave it out here"
        ))
    })
}
