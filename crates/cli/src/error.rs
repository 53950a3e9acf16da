//! One clear sentence and an exit code.

/// What ends the command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// Bad input: exit code 2.
    #[error("{0}")]
    Input(String),
    /// A failure on the way: exit code 1.
    #[error("{0}")]
    Failure(String),
    /// Whoever read standard output has gone away, as `head` does: the exit code that a shell gives
    /// to programs which end on this signal.
    #[error("standard output is closed")]
    Closed,
}

pub(crate) type Result<T> = std::result::Result<T, CliError>;

impl CliError {
    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Input(_) => 2,
            Self::Failure(_) => 1,
            Self::Closed => 141,
        }
    }

    /// The same with words put before it, for instance the place.
    pub(crate) fn after(self, words: &str) -> Self {
        match self {
            Self::Input(sentence) => Self::Input(format!("{words}{sentence}")),
            Self::Failure(sentence) => Self::Failure(format!("{words}{sentence}")),
            Self::Closed => Self::Closed,
        }
    }

    /// The same with words put behind it, for instance the remedy.
    pub(crate) fn before(self, words: &str) -> Self {
        match self {
            Self::Input(sentence) => Self::Input(format!("{sentence}{words}")),
            Self::Failure(sentence) => Self::Failure(format!("{sentence}{words}")),
            Self::Closed => Self::Closed,
        }
    }
}

impl From<taskscout::Error> for CliError {
    fn from(error: taskscout::Error) -> Self {
        match error {
            taskscout::Error::Numerical { .. } => Self::Failure(error.to_string()),
            _ => Self::Input(error.to_string()),
        }
    }
}

impl From<taskscout_models::Error> for CliError {
    fn from(error: taskscout_models::Error) -> Self {
        match error {
            taskscout_models::Error::Library(error) => error.into(),
            taskscout_models::Error::Write(_) => Self::Failure(error.to_string()),
            _ => Self::Input(error.to_string()),
        }
    }
}

impl From<taskscout_tables::Error> for CliError {
    fn from(error: taskscout_tables::Error) -> Self {
        Self::Input(error.to_string())
    }
}

impl From<taskscout_worlds::logs::Error> for CliError {
    fn from(error: taskscout_worlds::logs::Error) -> Self {
        Self::Input(error.to_string())
    }
}
