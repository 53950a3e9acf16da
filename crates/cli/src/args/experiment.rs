//! The options of experiments: those of all, and those of each kind of world.

use std::path::PathBuf;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Args, Subcommand};
use taskscout_lab::{
    AllOptions, BuiltIn, ExperimentOptions, LogFeatures, LogWorldOptions, MOST_SEEDS, MOST_TRUTHS,
    OracleChoice, OracleName, PendulumOptions, ProgramOptions, Published, ScheduleName,
    SyntheticOptions, TaskFeaturesName, WorldOptions,
};

use crate::data::options::LogArgs;
use crate::named::{named, possible};

/// An experiment of the paper with its own options.
#[derive(Debug, Subcommand)]
pub(crate) enum Reproduce {
    #[command(about = BuiltIn::Bilinear.about())]
    Bilinear(ExperimentArgs<SyntheticArgs>),
    #[command(about = BuiltIn::Fourier.about())]
    Fourier(ExperimentArgs<SyntheticArgs>),
    #[command(about = BuiltIn::Mlp.about())]
    Mlp(ExperimentArgs<SyntheticArgs>),
    #[command(about = BuiltIn::Pendulum.about())]
    Pendulum(ExperimentArgs<PendulumArgs>),
    #[command(about = BuiltIn::Drone.about())]
    Drone(Box<ExperimentArgs<LogWorldArgs>>),
    /// The paper's theory: designs beside its bounds, and the risk law beside measurements
    Theory(TheoryArgs),
    /// All figures and tables of the paper, one experiment after the other, with one report
    All(Box<AllArgs>),
}

/// The options of one kind of world.
pub(crate) trait WorldArgs: Args {
    /// The same for whoever runs the experiment.
    fn options(self) -> WorldOptions;
}

/// The options of an experiment: those of its world, and those that all have.
#[derive(Debug, Args)]
pub(crate) struct ExperimentArgs<W: Args> {
    #[command(flatten)]
    world: W,
    #[command(flatten)]
    common: CommonArgs,
}

impl<W: WorldArgs> ExperimentArgs<W> {
    /// What was asked.
    pub(crate) fn asked(self) -> Asked {
        self.common.asked(self.world.options())
    }
}

/// What was asked of an experiment, and how it is to be told.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) options: ExperimentOptions,
    pub(crate) json: bool,
}

/// Options of all experiments; each overrides the experiment's file.
#[derive(Debug, Clone, Args)]
pub(crate) struct CommonArgs {
    /// Number of seeds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_SEEDS))]
    seeds: Option<u64>,
    /// The first seed
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Strategies, separated by commas: passive, passive-fixed, agnostic, aware (these two also as NAME+save-task), discrete-l1, discrete-l2, related, or registered ones
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    strategies: Option<Vec<String>>,
    /// Run each active strategy a second time, as NAME+save-task: it keeps its exploration tasks in later rounds while they still fit, so that it switches less often
    #[arg(long)]
    save_task: bool,
    /// Follow the procedure of the paper instead of taskscout's own: as its code ran, or as its text says
    #[arg(long, value_name = "WHOSE", num_args = 0..=1, require_equals = true, default_missing_value = "code", value_parser = named(Published::ALL, Published::name, Published::about))]
    as_published: Option<Published>,
    /// The training oracle
    #[arg(long, value_name = "ORACLE", value_parser = OracleParser)]
    oracle: Option<OracleChoice>,
    /// The rounds: the paper's, or taskscout's own with the same total budget
    #[arg(long, value_name = "SCHEDULE", value_parser = named(ScheduleName::ALL, ScheduleName::name, ScheduleName::about))]
    schedule: Option<ScheduleName>,
    /// Multiply every round's budget
    #[arg(long, value_name = "X")]
    budget_scale: Option<f64>,
    /// Number of target samples
    #[arg(long, value_name = "N")]
    n_target: Option<usize>,
    /// A first look: 2 seeds, a quarter of the budget
    #[arg(long)]
    quick: bool,
    /// Number of trials at the same time [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    jobs: Option<u16>,
    /// The folder for results; `all` makes a folder in it for each experiment [default: runs/EXPERIMENT]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Continue a run that was stopped or had failures; finished trials are kept
    #[arg(long, conflicts_with = "force")]
    resume: bool,
    /// With --resume: continue although data or programs have changed; finished trials stay as they are
    #[arg(long, requires = "resume")]
    accept_changes: bool,
    /// Replace the run in the folder; other files stay
    #[arg(long)]
    force: bool,
    /// Save the last model of every strategy and seed into DIR/models, for `predict` and `export`
    #[arg(long)]
    save_models: bool,
    /// Print the summary as JSON on standard output, and nothing else there
    #[arg(long)]
    json: bool,
}

impl CommonArgs {
    /// What was asked of an experiment, with the options of its world.
    pub(crate) fn asked(self, world: WorldOptions) -> Asked {
        let args = self;
        Asked {
            options: ExperimentOptions {
                seeds: args.seeds,
                seed: args.seed,
                strategies: args.strategies,
                save_task: args.save_task,
                as_published: args.as_published,
                oracle: args.oracle,
                schedule: args.schedule,
                budget_scale: args.budget_scale,
                n_target: args.n_target,
                world,
                quick: args.quick,
                jobs: args.jobs,
                out: args.out,
                resume: args.resume,
                accept_changes: args.accept_changes,
                force: args.force,
                save_models: args.save_models,
                name: None,
            },
            json: args.json,
        }
    }
}

/// Options of the theory.
#[derive(Debug, Clone, Args)]
pub(crate) struct TheoryArgs {
    /// Seeds of the measurements on each ground truth
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: Option<u64>,
    /// The first seed
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// The first of 8 ground truths
    #[arg(long, value_name = "M")]
    matrix_seed: Option<u64>,
    /// A first look: 2 ground truths, 1 seed, up to 50,000 samples
    #[arg(long)]
    quick: bool,
    /// Where results go [default: runs/theory]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace what the folder holds; other files stay
    #[arg(long)]
    force: bool,
    /// Print the summary as JSON on standard output, and nothing else there
    #[arg(long)]
    json: bool,
}

impl TheoryArgs {
    /// What was asked.
    pub(crate) fn asked(self) -> Asked {
        Asked {
            options: ExperimentOptions {
                seeds: self.seeds,
                seed: self.seed,
                world: WorldOptions::Synthetic(SyntheticOptions {
                    matrix_seed: self.matrix_seed,
                    ..SyntheticOptions::default()
                }),
                quick: self.quick,
                out: self.out,
                force: self.force,
                ..ExperimentOptions::default()
            },
            json: self.json,
        }
    }
}

/// Options of worlds with a drawn truth.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub(crate) struct SyntheticArgs {
    /// The seed of the ground truth, which is the same for all seeds of a run
    #[arg(long, value_name = "M")]
    matrix_seed: Option<u64>,
    /// Run on so many ground truths, from --matrix-seed on, each with all seeds, and sum up over all of them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_TRUTHS))]
    truths: Option<u64>,
    /// So many targets, with names [default: one without a name]
    #[arg(long, value_name = "N")]
    targets: Option<usize>,
    /// With several targets: the directions that they span, k* [default: as many as they can]
    #[arg(long, value_name = "K")]
    k_star: Option<usize>,
    /// With several targets: one target that is a distribution over these, with mixed samples
    #[arg(long)]
    target_distribution: bool,
    /// With several targets: one study with one budget for all of them, instead of one for each
    #[arg(long)]
    joint_targets: bool,
}

impl SyntheticArgs {
    fn own(self) -> SyntheticOptions {
        SyntheticOptions {
            matrix_seed: self.matrix_seed,
            truths: self.truths,
            targets: self.targets,
            k_star: self.k_star,
            target_distribution: self.target_distribution,
            joint_targets: self.joint_targets,
        }
    }
}

impl WorldArgs for SyntheticArgs {
    fn options(self) -> WorldOptions {
        WorldOptions::Synthetic(self.own())
    }
}

/// Options of the pendulum.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub(crate) struct PendulumArgs {
    /// A target, w₁ to w₅ inside [-1, 1] [default: the paper's five]. Repeat the option for several
    #[arg(long, value_name = "W1,…,W5", allow_hyphen_values = true)]
    target: Vec<String>,
    /// Task features: `paper` or `affine`
    #[arg(long, value_name = "FEATURES", value_parser = named(&[TaskFeaturesName::Paper, TaskFeaturesName::Affine], TaskFeaturesName::name, TaskFeaturesName::about))]
    task_features: Option<TaskFeaturesName>,
    /// One study with one budget for all targets, instead of one for each
    #[arg(long)]
    joint_targets: bool,
}

impl WorldArgs for PendulumArgs {
    fn options(self) -> WorldOptions {
        WorldOptions::Pendulum(PendulumOptions {
            target: self.target,
            task_features: self.task_features,
            joint_targets: self.joint_targets,
        })
    }
}

/// Options of worlds of logs.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub(crate) struct LogWorldArgs {
    /// The folder of logs
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// A target: a task's name. Repeat the option for several
    #[arg(long, value_name = "TASK", allow_hyphen_values = true)]
    target: Vec<String>,
    /// Input features in which the outputs are linear [default: auto]
    #[arg(long, value_name = "PHI", value_parser = named(LogFeatures::ALL, LogFeatures::name, LogFeatures::about))]
    phi: Option<LogFeatures>,
    /// Task features: `wind` or `one-hot`
    #[arg(long, value_name = "FEATURES", value_parser = named(&[TaskFeaturesName::Wind, TaskFeaturesName::OneHot], TaskFeaturesName::name, TaskFeaturesName::about))]
    task_features: Option<TaskFeaturesName>,
    /// One study with one budget for all targets, instead of one for each
    #[arg(long)]
    joint_targets: bool,
    #[command(flatten)]
    logs: LogArgs,
}

impl WorldArgs for LogWorldArgs {
    fn options(self) -> WorldOptions {
        WorldOptions::Logs(Box::new(LogWorldOptions {
            data: self.data,
            phi: self.phi,
            logs: self.logs.options(),
            target: self.target,
            task_features: self.task_features,
            joint_targets: self.joint_targets,
        }))
    }
}

/// Options of programs.
#[derive(Debug, Clone, Args)]
#[group(skip)]
pub(crate) struct ProgramArgs {
    /// One study with one budget for all targets, instead of one for each
    #[arg(long)]
    joint_targets: bool,
}

impl WorldArgs for ProgramArgs {
    fn options(self) -> WorldOptions {
        WorldOptions::Program(ProgramOptions {
            joint_targets: self.joint_targets,
        })
    }
}

/// Options of all experiments together.
#[derive(Debug, Clone, Args)]
pub(crate) struct AllArgs {
    #[command(flatten, next_help_heading = "Bilinear, fourier and mlp")]
    synthetic: SyntheticArgs,
    /// The folder of logs; without it, drone is left out
    #[arg(long, value_name = "DIR", help_heading = "Drone")]
    data: Option<PathBuf>,
    /// Input features in which the forces are linear [default: auto]
    #[arg(long, value_name = "PHI", help_heading = "Drone", requires = "data", value_parser = named(LogFeatures::ALL, LogFeatures::name, LogFeatures::about))]
    phi: Option<LogFeatures>,
    #[command(flatten, next_help_heading = "Drone")]
    logs: LogArgs,
    /// A target: a flight by name, or the pendulum's w₁ to w₅ with commas between them. Repeat the option for several
    #[arg(
        long,
        value_name = "TARGET",
        allow_hyphen_values = true,
        help_heading = "Pendulum and drone"
    )]
    target: Vec<String>,
    /// Task features: `paper` or `affine` of the pendulum, `wind` or `one-hot` of the drone
    #[arg(long, value_name = "FEATURES", help_heading = "Pendulum and drone", value_parser = named(TaskFeaturesName::ALL, TaskFeaturesName::name, TaskFeaturesName::about))]
    task_features: Option<TaskFeaturesName>,
    #[command(flatten, next_help_heading = "Options")]
    common: CommonArgs,
}

impl AllArgs {
    /// What was asked of all of them, and whether it is to be told as JSON.
    pub(crate) fn asked(self) -> (AllOptions, bool) {
        let Asked { options, json } = self.common.asked(WorldOptions::None);
        // A flight's name has no commas.
        let (points, flights) = self.target.into_iter().partition(|text| text.contains(','));
        let features = |logs: bool| self.task_features.filter(|name| name.is_of_logs() == logs);
        let joint_targets = self.synthetic.joint_targets;
        let mut synthetic = self.synthetic.own();
        // Without several targets, bilinear, fourier and mlp have none that could be joined.
        synthetic.joint_targets &= synthetic.targets.is_some();
        let all = AllOptions {
            common: options,
            synthetic,
            pendulum: PendulumOptions {
                target: points,
                task_features: features(false),
                joint_targets,
            },
            drone: LogWorldOptions {
                data: self.data,
                phi: self.phi,
                logs: self.logs.options(),
                target: flights,
                task_features: features(true),
                joint_targets,
            },
        };
        (all, json)
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
