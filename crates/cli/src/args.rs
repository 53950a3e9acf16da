//! The command line.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use taskscout_lab::{
    BuiltIn, ExperimentOptions, LogFeatures, MOST_SEEDS, OracleChoice, OracleName, ScheduleName,
    TaskFeaturesName,
};

use crate::data::options::{Data, LogArgs};
use crate::design::options::{ABOUT, DesignOptions, EXAMPLES};
use crate::model::options::{
    EXPORT_ABOUT, EXPORT_EXAMPLES, ExportOptions, PREDICT_ABOUT, PREDICT_EXAMPLES, PredictOptions,
};
use crate::simulate::options::World;

/// Active multi-task representation learning: which tasks should I collect data from next?
#[derive(Debug, Parser)]
#[command(name = "taskscout", version, about, max_term_width = 100)]
#[command(
    after_help = "Start here:\n  taskscout reproduce bilinear          the paper's main experiment, a minute or so\n  taskscout reproduce bilinear --quick  a first look in seconds\n  taskscout reproduce all               every experiment, one report\n  taskscout data inspect DIR            what a folder of logs holds, before `reproduce drone` learns from it\n  taskscout design --help               a plan from a table of tasks of your own"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an experiment of the paper and compare with its figures
    Reproduce {
        /// Which experiment
        #[arg(value_parser = Selection::parser())]
        experiment: Selection,
        #[command(flatten)]
        options: ExperimentArgs,
    },
    /// Run an experiment of your own, described in a TOML file
    Run {
        /// The experiment file; docs/experiments.md describes its keys, experiments/ has examples
        file: PathBuf,
        /// Only check the file
        #[arg(long)]
        check: bool,
        #[command(flatten)]
        options: ExperimentArgs,
    },
    /// Plan which tasks to collect data from, and how much of each
    #[command(long_about = ABOUT, after_long_help = EXAMPLES)]
    #[command(after_help = "See --help for examples.")]
    Design(Box<DesignOptions>),
    /// Write a saved model in a format that other programs run
    #[command(long_about = EXPORT_ABOUT, after_long_help = EXPORT_EXAMPLES)]
    #[command(after_help = "See --help for examples.")]
    Export(ExportOptions),
    /// Predict with a saved model, and say how far to trust it
    #[command(long_about = PREDICT_ABOUT, after_long_help = PREDICT_EXAMPLES)]
    #[command(after_help = "See --help for examples.")]
    Predict(PredictOptions),
    /// Simulate a world on its own and write what it did to tables
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
}

/// What `reproduce` runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Selection {
    One(BuiltIn),
    All,
}

impl Selection {
    /// The built-in experiments by name, and `all`.
    fn parser() -> impl TypedValueParser<Value = Self> {
        let all = PossibleValue::new("all").help("Each of these in turn, and one report on all");
        let names = possible(BuiltIn::ALL, BuiltIn::name, BuiltIn::about);
        PossibleValuesParser::new(names.chain([all])).map(|name| {
            let known = BuiltIn::ALL.iter().find(|known| known.name() == name);
            known.map_or(Self::All, |&known| Self::One(known))
        })
    }
}

/// Options common to all experiments; each overrides the experiment's file.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExperimentArgs {
    /// Number of seeds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_SEEDS))]
    pub(crate) seeds: Option<u64>,
    /// The first seed
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// Strategies, separated by commas: passive, passive-fixed, agnostic, aware (these two also as NAME+save-task), discrete-l1, discrete-l2, or registered ones
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) strategies: Option<Vec<String>>,
    /// Add each active strategy as NAME+save-task, which keeps its exploration tasks while they still fit
    #[arg(long)]
    pub(crate) save_task: bool,
    /// The training oracle
    #[arg(long, value_name = "ORACLE", value_parser = OracleParser)]
    pub(crate) oracle: Option<OracleChoice>,
    /// The rounds: the paper's, or taskscout's own with the same total budget
    #[arg(long, value_name = "SCHEDULE", value_parser = named(ScheduleName::ALL, ScheduleName::name, ScheduleName::about))]
    pub(crate) schedule: Option<ScheduleName>,
    /// Multiply every round's budget
    #[arg(long, value_name = "X")]
    pub(crate) budget_scale: Option<f64>,
    /// Target samples
    #[arg(long, value_name = "N")]
    pub(crate) n_target: Option<usize>,
    /// Draws the ground truth of a synthetic world, which is the same for all seeds of a run
    #[arg(long, value_name = "M")]
    pub(crate) matrix_seed: Option<u64>,
    /// Drone: the folder of logs
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Drone: what forces are linear in [default: auto]
    #[arg(long, value_name = "PHI", value_parser = named(LogFeatures::ALL, LogFeatures::name, LogFeatures::about))]
    pub(crate) phi: Option<LogFeatures>,
    #[command(flatten)]
    pub(crate) logs: LogArgs,
    /// Pendulum: a target, w₁ to w₅ inside [-1, 1] [default: the paper's five]; drone: a task's name. Give it again for several
    #[arg(long, value_name = "TARGET", allow_hyphen_values = true)]
    pub(crate) target: Vec<String>,
    /// What is known of a task: pendulum `paper` or `affine`, drone `wind` or `one-hot`
    #[arg(long, value_name = "FEATURES", value_parser = named(TaskFeaturesName::ALL, TaskFeaturesName::name, TaskFeaturesName::about))]
    pub(crate) task_features: Option<TaskFeaturesName>,
    /// Pendulum, drone and programs: one study with one budget for all targets, instead of one for each
    #[arg(long)]
    pub(crate) joint_targets: bool,
    /// A first look: 2 seeds, a quarter of the budget
    #[arg(long)]
    pub(crate) quick: bool,
    /// Runs at the same time [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(crate) jobs: Option<u16>,
    /// Where results go, of `all` each experiment's into its own folder there [default: runs/EXPERIMENT]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Go on with a run that was stopped or had failures, keeping what it had finished
    #[arg(long, conflicts_with = "force")]
    pub(crate) resume: bool,
    /// With --resume: go on although data or programs have changed since; finished trials stay as they are
    #[arg(long, requires = "resume")]
    pub(crate) accept_changes: bool,
    /// Replace the run that the folder holds; other files stay
    #[arg(long)]
    pub(crate) force: bool,
    /// Save the last model of every strategy and seed into DIR/models, for `predict` and `export`
    #[arg(long)]
    pub(crate) save_models: bool,
    /// Print the summary as JSON on standard output, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
}

impl ExperimentArgs {
    /// The same for the experiment.
    pub(crate) fn options(&self) -> ExperimentOptions {
        let args = self.clone();
        ExperimentOptions {
            seeds: args.seeds,
            seed: args.seed,
            strategies: args.strategies,
            save_task: args.save_task,
            oracle: args.oracle,
            schedule: args.schedule,
            budget_scale: args.budget_scale,
            n_target: args.n_target,
            matrix_seed: args.matrix_seed,
            data: args.data,
            phi: args.phi,
            logs: args.logs.options(),
            target: args.target,
            task_features: args.task_features,
            joint_targets: args.joint_targets,
            quick: args.quick,
            jobs: args.jobs,
            out: args.out,
            resume: args.resume,
            accept_changes: args.accept_changes,
            force: args.force,
            save_models: args.save_models,
        }
    }
}

/// Reads `--oracle`: help lists the command's own, registered ones are known later.
#[derive(Debug, Clone)]
struct OracleParser;

impl TypedValueParser for OracleParser {
    type Value = OracleChoice;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> std::result::Result<OracleChoice, clap::Error> {
        StringValueParser::new()
            .parse_ref(command, argument, value)
            .map(OracleChoice::from)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(possible(
            OracleName::ALL,
            OracleName::name,
            OracleName::about,
        )))
    }
}

/// Reads what is chosen by name among some that are known.
fn named<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
    about: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(possible(all, name, about)).try_map(move |given| {
        let known = all.iter().find(|&&value| name(value) == given);
        known.copied().ok_or("is not among them")
    })
}

/// Names with a few words on each, for the help.
fn possible<T: Copy>(
    all: &'static [T],
    name: fn(T) -> &'static str,
    about: fn(T) -> &'static str,
) -> impl Iterator<Item = PossibleValue> {
    all.iter()
        .map(move |&value| PossibleValue::new(name(value)).help(about(value)))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
