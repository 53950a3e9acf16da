//! What can go wrong, said so that a user knows where and what to do.

/// Everything this crate can refuse or fail at.
///
/// Each message is one sentence that names the place and the remedy.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value is NaN or infinite.
    #[error("{place} is {value}: every value must be finite, so remove or repair it")]
    NotFinite {
        /// Where, for instance `row 3, input 1`.
        place: String,
        /// The offending value.
        value: f64,
    },
    /// A row, vector or matrix has the wrong length.
    #[error("{place} has {found} values where {expected} are needed")]
    WrongLength {
        /// Where, for instance `row 3`.
        place: String,
        /// How many were needed.
        expected: usize,
        /// How many there were.
        found: usize,
    },
    /// A task does not lie in its task space.
    #[error("task {task} lies outside the space: {reason}")]
    OutsideSpace {
        /// The task's parameters, shortened.
        task: String,
        /// Which bound it breaks and by how much.
        reason: String,
    },
    /// A budget cannot give every task of a plan a sample.
    #[error(
        "a budget of {budget} samples is too small for {tasks} tasks: give at least {tasks}, or use fewer tasks"
    )]
    BudgetTooSmall {
        /// The samples on offer.
        budget: usize,
        /// The tasks that each need one.
        tasks: usize,
    },
    /// Tasks, data or a matrix do not span what is asked of them.
    #[error("{what} has rank {rank} where {needed} is needed: {remedy}")]
    RankDeficient {
        /// What is deficient.
        what: String,
        /// The rank found.
        rank: usize,
        /// The rank needed.
        needed: usize,
        /// What to do about it.
        remedy: String,
    },
    /// A target needs something that no source task can teach.
    #[error(
        "{} % of what the target needs lies out of reach of the source tasks, which span {rank} of {needed} directions; missing most is {}: add tasks that differ along it, or leave it out of the target",
        crate::error::percent(*share),
        crate::error::combination(direction, |index| format!("value {index}"))
    )]
    Unreachable {
        /// The part of the need that is missed.
        share: f64,
        /// The direction in which it is missed most, each value in units of the largest found.
        direction: Vec<f64>,
        /// Directions that are reached.
        rank: usize,
        /// Directions there are.
        needed: usize,
    },
    /// Training by descent left all bounds.
    #[error("training diverged at step {step}: {remedy}")]
    Diverged {
        /// The step at which the loss was no longer finite, or far above where it began.
        step: usize,
        /// What to do about it.
        remedy: String,
    },
    /// A setting is out of range or does not fit another.
    #[error("`{key}` {problem}")]
    Setting {
        /// The setting's name, as in a TOML file.
        key: String,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// A setting's value is in range, but not enough or too much for the case at hand.
    #[error("`{key}` {value} {problem}")]
    Value {
        /// The setting's name, as in a TOML file.
        key: String,
        /// Its value.
        value: String,
        /// What is wrong and what would do.
        problem: String,
    },
    /// A call came at the wrong time or for something that is not there.
    #[error("{0}")]
    State(String),
    /// A file or folder could not be read or written.
    #[error("{place} failed: {message}")]
    Io {
        /// Which, and what was being done.
        place: String,
        /// What the system said, and what to do about it.
        message: String,
    },
    /// Where data come from did not give them: a simulator, a program, a log.
    #[error("{place} failed: {message}")]
    Source {
        /// The source, and the task where it matters.
        place: String,
        /// What happened, and what to do about it.
        message: String,
    },
    /// Something saved cannot be read: cut, damaged, or of another version.
    #[error("{what} {problem}")]
    Unreadable {
        /// What.
        what: String,
        /// Why, and what to do about it.
        problem: String,
    },
    /// A computation broke down.
    #[error("{what} failed: {remedy}")]
    Numerical {
        /// Which computation.
        what: String,
        /// What to do about it.
        remedy: String,
    },
}

/// The result of anything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A setting that is out of range.
    pub fn setting(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Setting {
            key: key.into(),
            problem: problem.into(),
        }
    }

    /// A value that does not do in the case at hand.
    pub fn value(
        key: impl Into<String>,
        value: impl std::fmt::Display,
        problem: impl Into<String>,
    ) -> Self {
        Self::Value {
            key: key.into(),
            value: value.to_string(),
            problem: problem.into(),
        }
    }

    /// A computation that broke down.
    pub fn numerical(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Numerical {
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    /// Something saved that cannot be read.
    pub fn unreadable(what: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Unreadable {
            what: what.into(),
            problem: problem.into(),
        }
    }

    /// A file or folder that could not be read or written.
    pub fn io(place: impl Into<String>, message: impl std::fmt::Display) -> Self {
        Self::Io {
            place: place.into(),
            message: message.to_string(),
        }
    }

    /// Data that did not come.
    pub fn source(place: impl Into<String>, message: impl std::fmt::Display) -> Self {
        Self::Source {
            place: place.into(),
            message: message.to_string(),
        }
    }

    /// Checks a length.
    pub fn check_length(place: &str, expected: usize, found: usize) -> Result<()> {
        if expected == found {
            return Ok(());
        }
        Err(Self::WrongLength {
            place: place.to_owned(),
            expected,
            found,
        })
    }

    /// Checks that all values are finite; `place` names the value at an index.
    pub fn check_finite(values: &[f64], place: impl Fn(usize) -> String) -> Result<()> {
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(index) => Err(Self::NotFinite {
                place: place(index),
                value: values[index],
            }),
        }
    }
}

/// A share in percent, with digits enough not to look like nothing.
#[must_use]
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent >= 0.1 {
        format!("{percent:.1}")
    } else {
        format!("{percent:.1e}")
    }
}

/// A direction in words: its largest values, with the names of what they belong to.
#[must_use]
pub fn combination(direction: &[f64], name: impl Fn(usize) -> String) -> String {
    let mut order: Vec<usize> = (0..direction.len()).collect();
    order.sort_by(|&a, &b| direction[b].abs().total_cmp(&direction[a].abs()));
    let largest = order.first().map_or(0.0, |&index| direction[index].abs());
    let shown: Vec<String> = order
        .iter()
        .take(4)
        .take_while(|&&index| direction[index].abs() > 0.1 * largest)
        .map(|&index| format!("{:.2}·{}", direction[index] + 0.0, name(index)))
        .collect();
    shown.join(" + ").replace("+ -", "− ")
}
