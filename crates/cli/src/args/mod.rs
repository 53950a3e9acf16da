//! The command line.

mod experiment;
mod run;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub(crate) use self::experiment::{Asked, Reproduce};
pub(crate) use self::run::{Opened, RunArgs, command, parse};
use taskscout_lab::learn::words as learn_words;
use taskscout_lab::plan::words as plan_words;
use taskscout_models::words as model_words;
use taskscout_studies::words as study_words;

use crate::data::options::Data;
use crate::design::options::DesignOptions;
use crate::learn::LearnArgs;
use crate::model::{ExportOptions, PredictOptions};
use crate::report::{self, ReportArgs};
use crate::serve::{self, ServeArgs};
use crate::simulate::options::World;
use crate::study::options::StudyArgs;

/// Which tasks should I collect data from next, so that one shared model works on the task I care about?
#[derive(Debug, Parser)]
#[command(name = "taskscout", version, max_term_width = 100)]
#[command(
    after_help = "Start here:\n  taskscout reproduce bilinear          the paper's main experiment, a minute or so\n  taskscout reproduce bilinear --quick  a first look in seconds\n  taskscout reproduce all               every experiment, one report\n  taskscout data inspect DIR            what a folder of logs contains, before `learn` does\n  taskscout learn DIR --target NAME     one model from a folder of logs, which of them help, and what to record next\n  taskscout study --help                a campaign of your own: plan, measure, tell, learn, plan again\n  taskscout design --help               a plan from a table of tasks of your own\n  taskscout report DIR                  a run or a study as one page"
)]
pub(crate) struct Cli {
    /// The most memory to use, in gigabytes (default 2, or what TASKSCOUT_MEMORY says); what needs more is refused before it starts
    #[arg(
        long,
        global = true,
        value_name = "GB",
        help_heading = "All commands",
        allow_negative_numbers = true
    )]
    pub(crate) memory: Option<f64>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an experiment of the paper and compare with its figures
    Reproduce {
        /// Which experiment
        #[command(subcommand)]
        experiment: Reproduce,
    },
    /// Run an experiment of your own, described in a TOML file
    #[command(
        after_help = "The world of a file has options of its own: see them with `taskscout run FILE --help`."
    )]
    Run(Box<RunArgs>),
    /// Run a measurement campaign: what to measure next, what came back, the model
    #[command(long_about = study_words::ABOUT, after_long_help = study_words::EXAMPLES)]
    #[command(after_help = "See --help for an example of a campaign.")]
    Study(StudyArgs),
    /// Learn one model for a target from a folder of logs: which recordings help, and what to record next
    #[command(long_about = learn_words::ABOUT, after_long_help = learn_words::EXAMPLES)]
    #[command(after_help = "See --help for examples.")]
    Learn(Box<LearnArgs>),
    /// Write a report on a run or a study as one HTML file
    #[command(after_help = report::EXAMPLES)]
    Report(ReportArgs),
    /// Show studies and runs as a live page in a browser
    #[command(after_help = serve::EXAMPLES)]
    Serve(ServeArgs),
    /// Plan which tasks to collect data from, and how much of each
    #[command(long_about = plan_words::ABOUT, after_long_help = plan_words::EXAMPLES)]
    #[command(after_help = "See --help for examples.")]
    Design(Box<DesignOptions>),
    /// Write a saved model in a format that other programs run
    #[command(long_about = model_words::EXPORT_ABOUT, after_long_help = model_words::EXPORT_EXAMPLES)]
    #[command(after_help = "See --help for examples.")]
    Export(ExportOptions),
    /// Predict with a saved model, with standard deviations
    #[command(long_about = model_words::PREDICT_ABOUT, after_long_help = model_words::PREDICT_EXAMPLES)]
    #[command(after_help = "See --help for examples.")]
    Predict(PredictOptions),
    /// Simulate a world and write its data to tables
    Simulate {
        /// Which world
        #[command(subcommand)]
        world: World,
    },
    /// Look at logs before learning from them
    Data {
        /// What to do
        #[command(subcommand)]
        data: Data,
    },
    /// Write the completion script of a shell
    #[command(after_help = COMPLETIONS)]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages of all commands into a folder
    Man {
        /// The folder; it is created if needed
        folder: PathBuf,
    },
}

/// How completions are put to use.
const COMPLETIONS: &str = "Examples:
  taskscout completions bash > ~/.local/share/bash-completion/completions/taskscout
  taskscout completions zsh > ~/.zfunc/_taskscout
  taskscout completions fish > ~/.config/fish/completions/taskscout.fish";

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
