//! The command line.

use std::path::PathBuf;

use crate::data::options::LogOptions;
use crate::experiment::config::MOST_SEEDS;
use crate::experiment::world::LogFeatures;
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::data::options::Data;
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
        options: ExperimentOptions,
    },
    /// Run an experiment of your own, described in a TOML file
    Run {
        /// The experiment file; docs/experiments.md describes its keys, experiments/ has examples
        file: PathBuf,
        /// Only check the file
        #[arg(long)]
        check: bool,
        #[command(flatten)]
        options: ExperimentOptions,
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

/// The experiments that come with the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BuiltIn {
    /// Linear features, linear representation
    Bilinear,
    /// Random Fourier features, linear representation
    Fourier,
    /// A network as representation
    Mlp,
    /// A pendulum in wind, whose conditions are hidden
    Pendulum,
    /// Recorded flights of drones: which of them help another one (needs --data and --target)
    Drone,
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
        let built_in = BuiltIn::value_variants().iter();
        let names = built_in.filter_map(ValueEnum::to_possible_value);
        PossibleValuesParser::new(names.chain([all]))
            .map(|name| BuiltIn::from_str(&name, false).map_or(Self::All, Self::One))
    }
}

/// Options common to all experiments; each overrides the experiment's file.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ExperimentOptions {
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
    #[arg(long, value_name = "SCHEDULE")]
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
    #[arg(long, value_name = "PHI")]
    pub(crate) phi: Option<LogFeatures>,
    #[command(flatten)]
    pub(crate) logs: LogOptions,
    /// Pendulum: a target, w₁ to w₅ inside [-1, 1] [default: the paper's five]; drone: a task's name. Give it again for several
    #[arg(long, value_name = "TARGET", allow_hyphen_values = true)]
    pub(crate) target: Vec<String>,
    /// What is known of a task: pendulum `paper` or `affine`, drone `wind` or `one-hot`
    #[arg(long, value_name = "FEATURES")]
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

/// The training oracles that come with the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum OracleName {
    /// Regularised joint least squares on sufficient statistics
    Exact,
    /// A network, trained by variable projection
    Neural,
    /// A matrix or network with its task map, trained together by mini-batch descent as published
    JointGd,
    /// Partial pooling of tasks whose features are known, such as vehicle, axis and wind
    Pooled,
    /// The paper's theory: alternating minimisation to choose tasks, least squares in the last stage
    Mllam,
}

impl OracleName {
    /// Its name, as on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Neural => "neural",
            Self::JointGd => "joint-gd",
            Self::Mllam => "mllam",
            Self::Pooled => "pooled",
        }
    }
}

/// A training oracle by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub(crate) enum OracleChoice {
    /// One that comes with the command.
    BuiltIn(OracleName),
    /// Any other: a registered one, if there is one of this name.
    Own(String),
}

impl OracleChoice {
    /// Its name, as on the command line.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::BuiltIn(oracle) => oracle.name(),
            Self::Own(name) => name,
        }
    }

    /// The one that comes with the command, if it is one.
    pub(crate) fn built_in(&self) -> Option<OracleName> {
        match self {
            Self::BuiltIn(oracle) => Some(*oracle),
            Self::Own(_) => None,
        }
    }
}

impl From<String> for OracleChoice {
    fn from(name: String) -> Self {
        let mut ours = OracleName::value_variants().iter();
        match ours.find(|oracle| oracle.name() == name) {
            Some(&oracle) => Self::BuiltIn(oracle),
            None => Self::Own(name),
        }
    }
}

impl From<OracleChoice> for String {
    fn from(oracle: OracleChoice) -> Self {
        oracle.name().to_owned()
    }
}

impl PartialEq<OracleName> for OracleChoice {
    fn eq(&self, other: &OracleName) -> bool {
        self.built_in() == Some(*other)
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
        let ours = OracleName::value_variants().iter();
        Some(Box::new(ours.filter_map(ValueEnum::to_possible_value)))
    }
}

/// Features of a task by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TaskFeaturesName {
    /// As published
    Paper,
    /// With a constant, without which offsets cannot be expressed
    Affine,
    /// Vehicle and axis, and powers of the wind
    Wind,
    /// Nothing but which task it is
    OneHot,
}

impl TaskFeaturesName {
    /// Its name, as on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Affine => "affine",
            Self::Wind => "wind",
            Self::OneHot => "one-hot",
        }
    }

    /// Whether they are those of recordings.
    pub(crate) fn is_of_logs(self) -> bool {
        matches!(self, Self::Wind | Self::OneHot)
    }
}

/// Schedules by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScheduleName {
    /// The paper's rounds, the first of them warm-up
    Paper,
    /// Finer rounds with a shorter warm-up, the same total budget
    Adaptive,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
