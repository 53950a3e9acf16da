//! Targets: the tasks we care about.

use faer::Mat;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// One target.
///
/// ```
/// use taskscout::target::Target;
/// let hidden = Target::unknown("tomorrow's wind");
/// let known = Target::known("3.7 m/s", vec![3.7]).with_weight(2.0);
/// assert!(hidden.has_own_task_feature() && !known.has_own_task_feature());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw")]
pub struct Target {
    /// Its name.
    pub name: String,
    /// Its weight among the targets.
    pub weight: f64,
    /// What is known of its parameters.
    #[serde(flatten)]
    pub kind: TargetParameters,
}

/// What is known of a target's parameters.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TargetParameters {
    /// Nothing: it gets a task feature of its own, learnt from its samples alone.
    Unknown,
    /// Its parameters `w`.
    Known {
        /// `w`.
        task: Vec<f64>,
    },
    /// A distribution over tasks, by its second moment `E[ψ ψᵀ]` in task features.
    #[serde(rename = "second-moment")]
    Distribution {
        /// The rows of the second moment.
        #[serde(rename = "moment")]
        second_moment: Vec<Vec<f64>>,
    },
}

/// A target as a file has it: the kind decides which of the other keys belong.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: String,
    #[serde(default = "one")]
    weight: f64,
    kind: RawKind,
    task: Option<Vec<f64>>,
    moment: Option<Vec<Vec<f64>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RawKind {
    Unknown,
    Known,
    SecondMoment,
}

fn one() -> f64 {
    1.0
}

impl TryFrom<Raw> for Target {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        let kind = match (raw.kind, raw.task, raw.moment) {
            (RawKind::Unknown, None, None) => TargetParameters::Unknown,
            (RawKind::Known, Some(task), None) => TargetParameters::Known { task },
            (RawKind::SecondMoment, None, Some(second_moment)) => {
                TargetParameters::Distribution { second_moment }
            }
            _ => {
                return Err(Error::setting(
                    format!("targets.{}", raw.name),
                    "needs `task` with kind `known`, `moment` with kind `second-moment`, and neither with `unknown`",
                ));
            }
        };
        Ok(Self {
            name: raw.name,
            weight: raw.weight,
            kind,
        })
    }
}

impl Target {
    /// A target whose parameters are unknown.
    #[must_use]
    pub fn unknown(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            weight: 1.0,
            kind: TargetParameters::Unknown,
        }
    }

    /// A target with known parameters.
    #[must_use]
    pub fn known(name: &str, task: Vec<f64>) -> Self {
        Self {
            name: name.to_owned(),
            weight: 1.0,
            kind: TargetParameters::Known { task },
        }
    }

    /// A distribution over tasks, by its second moment `E[ψ ψᵀ]` in task features.
    #[must_use]
    pub fn distribution(name: &str, second_moment: Vec<Vec<f64>>) -> Self {
        Self {
            name: name.to_owned(),
            weight: 1.0,
            kind: TargetParameters::Distribution { second_moment },
        }
    }

    /// The same target with another weight.
    #[must_use]
    pub fn with_weight(mut self, weight: f64) -> Self {
        self.weight = weight;
        self
    }

    /// Whether it has a task feature of its own.
    #[must_use]
    pub fn has_own_task_feature(&self) -> bool {
        matches!(self.kind, TargetParameters::Unknown)
    }

    /// Whether its parameters are known.
    pub fn is_known(&self) -> bool {
        matches!(self.kind, TargetParameters::Known { .. })
    }

    /// Whether it can have samples: a distribution has none.
    #[must_use]
    pub fn can_have_samples(&self) -> bool {
        !matches!(self.kind, TargetParameters::Distribution { .. })
    }

    /// Checks the target against the number of parameters and of features of a task.
    pub fn validate(&self, parameters: usize, features: usize) -> Result<()> {
        let name = &self.name;
        if !(self.weight > 0.0 && self.weight.is_finite()) {
            return Err(Error::setting(
                format!("targets.{name}.weight"),
                format!("is {}: it must be positive and finite", self.weight),
            ));
        }
        match &self.kind {
            TargetParameters::Unknown => Ok(()),
            TargetParameters::Known { task } => {
                Error::check_length(&format!("target `{name}`"), parameters, task.len())?;
                Error::check_finite(task, |i| format!("target `{name}`, parameter {i}"))
            }
            TargetParameters::Distribution {
                second_moment: moment,
            } => {
                Error::check_length(
                    &format!("the second moment of target `{name}`"),
                    features,
                    moment.len(),
                )?;
                for (i, row) in moment.iter().enumerate() {
                    Error::check_length(
                        &format!("row {i} of the second moment of `{name}`"),
                        features,
                        row.len(),
                    )?;
                    Error::check_finite(row, |j| {
                        format!("entry ({i}, {j}) of the second moment of `{name}`")
                    })?;
                }
                check_semidefinite(name, moment)
            }
        }
    }
}

fn check_semidefinite(name: &str, moment: &[Vec<f64>]) -> Result<()> {
    let n = moment.len();
    let scale = moment.iter().flatten().fold(0.0_f64, |a, b| a.max(b.abs()));
    let symmetric =
        (0..n).all(|i| (0..i).all(|j| (moment[i][j] - moment[j][i]).abs() <= 1e-9 * scale));
    let matrix = Mat::from_fn(n, n, |i, j| moment[i][j]);
    let (values, _) = crate::linalg::eigen(matrix.as_ref(), "the second moment")?;
    if symmetric && values.last().copied().unwrap_or(0.0) >= -1e-9 * scale {
        return Ok(());
    }
    Err(Error::setting(
        format!("targets.{name}.moment"),
        "is not a second moment: it must be symmetric and positive semidefinite",
    ))
}
