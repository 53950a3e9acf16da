//! What may be chosen by name, with a few words on each for whoever lists them.

use serde::{Deserialize, Serialize};

/// The experiments that come with the crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltIn {
    /// Linear features, linear representation.
    Bilinear,
    /// Random Fourier features, linear representation.
    Fourier,
    /// A network as representation.
    Mlp,
    /// A pendulum in wind, whose conditions are hidden.
    Pendulum,
    /// Recorded flights of drones: which of them help another one.
    Drone,
}

impl BuiltIn {
    /// All of them, in the order in which they run.
    pub const ALL: &'static [Self] = &[
        Self::Bilinear,
        Self::Fourier,
        Self::Mlp,
        Self::Pendulum,
        Self::Drone,
    ];

    /// Its name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bilinear => "bilinear",
            Self::Fourier => "fourier",
            Self::Mlp => "mlp",
            Self::Pendulum => "pendulum",
            Self::Drone => "drone",
        }
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Bilinear => "Linear features, linear representation",
            Self::Fourier => "Random Fourier features, linear representation",
            Self::Mlp => "A network as representation",
            Self::Pendulum => "A pendulum in a wind that is not measured",
            Self::Drone => {
                "Recorded flights of drones: which of them help to predict another flight (needs --data and --target)"
            }
        }
    }
}

/// The training oracles that need not be registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OracleName {
    /// Regularised joint least squares on sufficient statistics.
    Exact,
    /// A network, trained by variable projection.
    Neural,
    /// A matrix or network with its task map, trained together by mini-batch descent as published.
    JointGd,
    /// Partial pooling of tasks whose features are known, such as vehicle, axis and wind.
    Pooled,
    /// The paper's theory: alternating minimisation to choose tasks, least squares in the last stage.
    Mllam,
}

impl OracleName {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Exact,
        Self::Neural,
        Self::JointGd,
        Self::Pooled,
        Self::Mllam,
    ];

    /// Its name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Neural => "neural",
            Self::JointGd => "joint-gd",
            Self::Mllam => "mllam",
            Self::Pooled => "pooled",
        }
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Exact => "Regularised joint least squares on sufficient statistics",
            Self::Neural => "A network, trained by variable projection",
            Self::JointGd => {
                "A matrix or network and its task map, trained together by mini-batch gradient descent as in the paper"
            }
            Self::Pooled => {
                "Partial pooling of tasks whose features are known, such as vehicle, axis and wind"
            }
            Self::Mllam => {
                "The paper's theory: alternating minimisation to choose tasks, least squares in the last stage"
            }
        }
    }
}

/// A training oracle by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum OracleChoice {
    /// One that need not be registered.
    BuiltIn(OracleName),
    /// Any other: a registered one, if there is one of this name.
    Own(String),
}

impl OracleChoice {
    /// Its name, as on the command line.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::BuiltIn(oracle) => oracle.name(),
            Self::Own(name) => name,
        }
    }

    /// The one that need not be registered, if it is one.
    #[must_use]
    pub fn built_in(&self) -> Option<OracleName> {
        match self {
            Self::BuiltIn(oracle) => Some(*oracle),
            Self::Own(_) => None,
        }
    }
}

impl From<String> for OracleChoice {
    fn from(name: String) -> Self {
        match OracleName::ALL.iter().find(|oracle| oracle.name() == name) {
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

/// Features of a task by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskFeaturesName {
    /// As published.
    Paper,
    /// With a constant, without which offsets cannot be expressed.
    Affine,
    /// Vehicle and axis, and powers of the wind.
    Wind,
    /// Only which task it is, without parameters.
    OneHot,
}

impl TaskFeaturesName {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Paper, Self::Affine, Self::Wind, Self::OneHot];

    /// Its name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Affine => "affine",
            Self::Wind => "wind",
            Self::OneHot => "one-hot",
        }
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Paper => "The features of the paper",
            Self::Affine => "The features of the paper and a constant, for offsets",
            Self::Wind => "Vehicle, axis, and powers of the wind",
            Self::OneHot => "Only which task it is, without parameters",
        }
    }

    /// Whether they are those of recordings.
    #[must_use]
    pub fn is_of_logs(self) -> bool {
        matches!(self, Self::Wind | Self::OneHot)
    }
}

/// Schedules by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleName {
    /// The paper's rounds, the first of them warm-up.
    Paper,
    /// Finer rounds with a shorter warm-up, the same total budget.
    Adaptive,
}

impl ScheduleName {
    /// Both.
    pub const ALL: &'static [Self] = &[Self::Paper, Self::Adaptive];

    /// Its name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Adaptive => "adaptive",
        }
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Paper => "The paper's rounds; the first is the warm-up",
            Self::Adaptive => {
                "More and smaller rounds with a shorter warm-up; the total budget is the same"
            }
        }
    }
}

/// What the forces of logs are linear in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogFeatures {
    /// A constant and the inputs.
    Linear,
    /// A constant, the inputs and all products of two inputs.
    Quadratic,
    /// A constant, the inputs and random cosines of them.
    Fourier,
    /// A constant, the inputs and a network, learnt from the source tasks.
    Mlp,
    /// All three sets of features. The oracle pooled averages the three models, weighted by how well each
    /// predicts held-out target rows; other oracles use all features together.
    #[default]
    Auto,
}

impl LogFeatures {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Linear,
        Self::Quadratic,
        Self::Fourier,
        Self::Mlp,
        Self::Auto,
    ];

    /// Its name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Quadratic => "quadratic",
            Self::Fourier => "fourier",
            Self::Mlp => "mlp",
            Self::Auto => "auto",
        }
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Linear => "A constant and the inputs",
            Self::Quadratic => "A constant, the inputs and all products of two inputs",
            Self::Fourier => "A constant, the inputs and random cosines of them",
            Self::Mlp => "A constant, the inputs and a network, learnt from the source tasks",
            Self::Auto => {
                "The mean of the linear, quadratic and Fourier models, weighted by how well each predicts held-out target rows (oracles other than pooled use all these features together)"
            }
        }
    }
}

/// Whose word the paper's procedure is taken from: its code and its text differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Published {
    /// As its code ran, which gave its figures.
    Code,
    /// As its text says.
    Text,
}

impl Published {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Code, Self::Text];

    /// Its name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Text => "text",
        }
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Code => "As the paper's code ran, which gave its figures",
            Self::Text => "As the paper's text says, where its code did otherwise",
        }
    }
}

/// The kinds of world, each with options of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorldName {
    /// A truth is drawn: bilinear, fourier, mlp and files of that kind.
    Synthetic,
    /// The pendulum in wind.
    Pendulum,
    /// Recorded logs.
    Logs,
    /// A program of one's own.
    Program,
}

impl WorldName {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Synthetic, Self::Pendulum, Self::Logs, Self::Program];

    /// What it is, in a few words.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Synthetic => "synthetic worlds (bilinear, fourier, mlp)",
            Self::Pendulum => "the pendulum",
            Self::Logs => "worlds of logs (drone)",
            Self::Program => "programs as worlds",
        }
    }
}
