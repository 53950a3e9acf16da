//! What a run is told beside the experiment's file: plain values, wherever they come from.
//!
//! Errors call them as the command line does, `--seeds` for [`ExperimentOptions::seeds`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use taskscout_logs::join::Method;
use taskscout_logs::{Format, ReadOptions, RobotOptions, robot_format};

use crate::names::{
    LogFeatures, OracleChoice, Published, ScheduleName, TaskFeaturesName, WorldName,
};

/// What a run is told beside the experiment's file; what is given replaces what the file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExperimentOptions {
    /// What results are called, if not as the file says.
    pub name: Option<String>,
    /// Number of seeds.
    pub seeds: Option<u64>,
    /// The first seed.
    pub seed: Option<u64>,
    /// Strategies by name: passive, passive-fixed, agnostic, aware (these two also as NAME+save-task),
    /// discrete-l1, discrete-l2, or registered ones.
    pub strategies: Option<Vec<String>>,
    /// Add each active strategy as NAME+save-task, which keeps its exploration tasks while they still
    /// fit.
    pub save_task: bool,
    /// Follow the procedure of the paper, where the file says what that is.
    pub as_published: Option<Published>,
    /// The training oracle.
    pub oracle: Option<OracleChoice>,
    /// The rounds: the paper's, or taskscout's own with the same total budget.
    pub schedule: Option<ScheduleName>,
    /// Multiplies every round's budget.
    pub budget_scale: Option<f64>,
    /// Target samples.
    pub n_target: Option<usize>,
    /// What only its kind of world has.
    pub world: WorldOptions,
    /// A first look: 2 seeds, a quarter of the budget.
    pub quick: bool,
    /// Trials at the same time; if not given, as many as there are cores.
    pub jobs: Option<u16>,
    /// Where results go, of several experiments each one's into its own folder there; if not given,
    /// `runs/EXPERIMENT`.
    pub out: Option<PathBuf>,
    /// Go on with a run that was stopped or had failures, keeping what it had finished.
    pub resume: bool,
    /// With `resume`: go on although data or programs have changed since; finished trials stay as they
    /// are.
    pub accept_changes: bool,
    /// Replace the run that the folder holds; other files stay.
    pub force: bool,
    /// Save the last model of every strategy and seed, into the folder `models` among the results.
    pub save_models: bool,
}

/// Options that only one kind of world has.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub enum WorldOptions {
    /// None, for any world.
    #[default]
    None,
    /// Those of worlds with a drawn truth.
    Synthetic(SyntheticOptions),
    /// Those of the pendulum.
    Pendulum(PendulumOptions),
    /// Those of worlds of logs.
    Logs(Box<LogWorldOptions>),
    /// Those of programs.
    Program(ProgramOptions),
}

/// Options of worlds with a drawn truth.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SyntheticOptions {
    /// Draws the ground truth, which is the same for all seeds of a run.
    pub matrix_seed: Option<u64>,
    /// So many ground truths, from `matrix_seed` on, each with all seeds ([`run_truths`](crate::run_truths)).
    pub truths: Option<u64>,
    /// How many targets there are, with names; if not given, one without a name.
    pub targets: Option<usize>,
    /// With `targets`: how many directions their embeddings span.
    pub k_star: Option<usize>,
    /// With `targets`: these are one target that is a distribution over them.
    pub target_distribution: bool,
    /// With `targets`: one study with one budget for all of them, instead of one for each.
    pub joint_targets: bool,
}

/// Options of the pendulum.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PendulumOptions {
    /// The targets, w₁ to w₅ inside \[-1, 1\], separated by commas. If empty, those of the file.
    pub target: Vec<String>,
    /// What is known of a task: `paper` or `affine`.
    pub task_features: Option<TaskFeaturesName>,
    /// One study with one budget for all targets, instead of one for each.
    pub joint_targets: bool,
}

/// Options of worlds of logs.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogWorldOptions {
    /// Their folder.
    pub data: Option<PathBuf>,
    /// What outputs are linear in.
    pub phi: Option<LogFeatures>,
    /// How they are to be read.
    #[serde(skip)]
    pub logs: LogOptions,
    /// The targets: names of tasks. If empty, those of the file.
    pub target: Vec<String>,
    /// What is known of a task: `wind` or `one-hot`.
    pub task_features: Option<TaskFeaturesName>,
    /// One study with one budget for all targets, instead of one for each.
    pub joint_targets: bool,
}

/// Options of programs.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProgramOptions {
    /// One study with one budget for all targets, instead of one for each.
    pub joint_targets: bool,
}

/// What `reproduce all` is told: what concerns all experiments, and what only some have.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AllOptions {
    /// For all of them; its `world` is not used.
    pub common: ExperimentOptions,
    /// For bilinear, fourier and mlp; `matrix_seed` also for the theory.
    pub synthetic: SyntheticOptions,
    /// For the pendulum.
    pub pendulum: PendulumOptions,
    /// For the drone, which runs where a folder of logs is given.
    pub drone: LogWorldOptions,
}

impl WorldOptions {
    /// Whose they are, in words.
    pub(crate) fn whose(&self) -> &'static str {
        match self {
            Self::None => "no world",
            Self::Synthetic(_) => WorldName::Synthetic.about(),
            Self::Pendulum(_) => WorldName::Pendulum.about(),
            Self::Logs(_) => WorldName::Logs.about(),
            Self::Program(_) => WorldName::Program.about(),
        }
    }

    /// Those of worlds with a drawn truth, if they are.
    #[must_use]
    pub fn synthetic(&self) -> Option<&SyntheticOptions> {
        match self {
            Self::Synthetic(options) => Some(options),
            _ => None,
        }
    }

    /// Whether all targets share one study.
    #[must_use]
    pub fn joint_targets(&self) -> bool {
        match self {
            Self::None => false,
            Self::Synthetic(options) => options.joint_targets,
            Self::Pendulum(options) => options.joint_targets,
            Self::Logs(options) => options.joint_targets,
            Self::Program(options) => options.joint_targets,
        }
    }

    /// Whether the value of a key of `[world]` came from here, and as which option.
    pub(crate) fn given_as(&self, key: &str) -> Option<&'static str> {
        let given = |given: bool, option| given.then_some(option);
        match (self, key) {
            (Self::Synthetic(own), "matrix_seed") => {
                given(own.matrix_seed.is_some(), "--matrix-seed")
            }
            (Self::Synthetic(own), "targets") => given(own.targets.is_some(), "--targets"),
            (Self::Synthetic(own), "k_star") => given(own.k_star.is_some(), "--k-star"),
            (Self::Pendulum(own), "targets") => given(!own.target.is_empty(), "--target"),
            (Self::Pendulum(own), "task_features") => {
                given(own.task_features.is_some(), "--task-features")
            }
            (Self::Logs(own), "targets") => given(!own.target.is_empty(), "--target"),
            (Self::Logs(own), "task_features") => {
                given(own.task_features.is_some(), "--task-features")
            }
            (Self::Logs(own), "data") => given(own.data.is_some(), "--data"),
            (Self::Logs(own), "phi") => given(own.phi.is_some(), "--phi"),
            (Self::Logs(own), "inputs") => given(!own.logs.inputs.is_empty(), "--inputs"),
            _ => None,
        }
    }
}

/// How logs are to be read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogOptions {
    /// Tables: the columns of inputs.
    pub inputs: Vec<String>,
    /// Tables: the columns of outputs.
    pub outputs: Vec<String>,
    /// Tables: the column that tells the task; if not given, every file is a task.
    pub task: Option<String>,
    /// Tables: the column of times.
    pub time: Option<String>,
    /// Leave bad rows out, and say how many and why.
    pub skip_bad_rows: bool,
    /// CSV tables: skip lines that begin with this character; if not given, every line is a row.
    pub comment: Option<char>,
    /// Logs of robots: the series whose times the rows have; if not given, that of the first output.
    pub times: Option<String>,
    /// Logs of robots: how other series are joined to it.
    pub join: Method,
    /// Logs of robots: seconds that a row of another series may be away; if not given, two of its steps.
    pub tolerance_s: Option<f64>,
    /// Logs of robots: names that stand for numbers in inputs and outputs.
    pub constants: BTreeMap<String, f64>,
}

/// A named number, `g=9.81`.
///
/// # Errors
/// If it is none, in a sentence that says what to give.
pub fn constant(text: &str) -> Result<(String, f64), String> {
    let parts = text
        .split_once('=')
        .map(|(name, value)| (name.trim(), value.trim().parse::<f64>()));
    match parts {
        Some((name, Ok(value))) if !name.is_empty() && value.is_finite() => {
            Ok((name.to_owned(), value))
        }
        _ => Err("give a name and a number, such as g=9.81".into()),
    }
}

/// The character that comments begin with: one that no row can begin with otherwise.
///
/// # Errors
/// If it is none, in a sentence that says what to give.
pub fn comment(text: &str) -> Result<char, String> {
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) if letter.is_ascii_punctuation() && !"\"',;-+.".contains(letter) => {
            Ok(letter)
        }
        _ => Err(
            "give one character that is neither letter, digit, sign nor separator, such as #"
                .into(),
        ),
    }
}

/// The same as a byte, which it is.
#[must_use]
pub fn comment_byte(comment: Option<char>) -> Option<u8> {
    comment.and_then(|letter| u8::try_from(letter).ok())
}

impl LogOptions {
    /// The same for the reader of the logs at `path`: those of robots are told by what they are.
    ///
    /// # Errors
    /// If the path cannot be looked at, or has logs of several formats.
    pub fn read_options_for(&self, path: &Path) -> taskscout_logs::Result<ReadOptions> {
        let mut options = self.read_options();
        if !self.inputs.is_empty() && robot_format(path)?.is_some() {
            options.format = Format::Robot(RobotOptions {
                inputs: self.inputs.clone(),
                outputs: self.outputs.clone(),
                constants: self.constants.clone(),
                times: self.times.clone(),
                method: self.join,
                tolerance_s: self.tolerance_s,
            });
        }
        Ok(options)
    }

    /// The same for the reader of flights and tables.
    #[must_use]
    pub fn read_options(&self) -> ReadOptions {
        let format = if self.inputs.is_empty() {
            Format::Flights
        } else {
            Format::Table {
                inputs: self.inputs.clone(),
                outputs: self.outputs.clone(),
                task: self.task.clone(),
                time: self.time.clone(),
            }
        };
        ReadOptions {
            skip_bad_rows: self.skip_bad_rows,
            format,
            comment: comment_byte(self.comment),
        }
    }
}
