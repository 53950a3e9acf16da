//! What ends a run or a check: one clear sentence with place and remedy, and an exit code.

/// What ends a run, or the command that asked for it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// Bad input: exit code 2.
    #[error("{0}")]
    Input(String),
    /// A setting of an experiment that cannot be: exit code 2. Where it was given is added where the
    /// file and the options are known.
    #[error("{0}")]
    Setting(Box<WrongSetting>),
    /// Bad input in a file, with the line that it is about: exit code 2.
    #[error("{sentence}")]
    InFile {
        /// What is wrong, with file, line and column.
        sentence: String,
        /// The line, with a mark below.
        snippet: String,
    },
    /// A failure on the way: exit code 1.
    #[error("{0}")]
    Failure(String),
    /// Whoever read standard output has gone away, as `head` does: the exit code that a shell gives
    /// to programs which end on this signal.
    #[error("standard output is closed")]
    Closed,
}

/// What is wrong with a setting of an experiment.
#[derive(Debug)]
pub struct WrongSetting {
    /// Which one, as in the file: names of tables and key, joined by dots.
    pub path: String,
    /// Words before it, for instance the table.
    pub lead: String,
    /// What the sentence calls it; empty where the problem is a sentence of its own.
    pub subject: String,
    /// What is wrong and what to do.
    pub problem: String,
}

impl std::fmt::Display for WrongSetting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let gap = if self.subject.is_empty() { "" } else { " " };
        write!(f, "{}{}{gap}{}", self.lead, self.subject, self.problem)
    }
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, LabError>;

impl LabError {
    /// A setting by its path, and what is wrong with it.
    #[must_use]
    pub fn setting(path: &str, problem: impl Into<String>) -> Self {
        Self::Setting(Box::new(WrongSetting {
            path: path.to_owned(),
            lead: String::new(),
            subject: format!("`{path}`"),
            problem: problem.into(),
        }))
    }

    /// A setting by its path, and a sentence on what is wrong with it.
    #[must_use]
    pub fn about(path: &str, sentence: impl Into<String>) -> Self {
        Self::Setting(Box::new(WrongSetting {
            path: path.to_owned(),
            lead: String::new(),
            subject: String::new(),
            problem: sentence.into(),
        }))
    }

    /// What the library says of settings in a table of an experiment file; `words` follow its name.
    #[must_use]
    pub fn in_table(table: &str, words: &str, error: taskscout::Error) -> Self {
        let lead = format!("in [{table}], {words}");
        let (path, subject, problem) = match error {
            taskscout::Error::Setting { key, problem } => {
                (format!("{table}.{key}"), format!("`{key}`"), problem)
            }
            other => (table.to_owned(), String::new(), other.to_string()),
        };
        Self::Setting(Box::new(WrongSetting {
            path,
            lead,
            subject,
            problem,
        }))
    }

    /// The line of a file that it is about, with a mark below; none where it is about no file.
    #[must_use]
    pub fn snippet(&self) -> Option<&str> {
        match self {
            Self::InFile { snippet, .. } => Some(snippet),
            _ => None,
        }
    }

    /// The exit code.
    #[must_use]
    pub fn code(&self) -> u8 {
        match self {
            Self::Input(_) | Self::Setting(_) | Self::InFile { .. } => 2,
            Self::Failure(_) => 1,
            Self::Closed => 141,
        }
    }

    /// The same with words put before it, for instance the place.
    #[must_use]
    pub fn after(self, words: &str) -> Self {
        match self {
            Self::Input(sentence) => Self::Input(format!("{words}{sentence}")),
            Self::Setting(mut wrong) => {
                wrong.lead.insert_str(0, words);
                Self::Setting(wrong)
            }
            Self::InFile { sentence, snippet } => Self::InFile {
                sentence: format!("{words}{sentence}"),
                snippet,
            },
            Self::Failure(sentence) => Self::Failure(format!("{words}{sentence}")),
            Self::Closed => Self::Closed,
        }
    }

    /// The same with words put behind it, for instance the remedy.
    #[must_use]
    pub fn before(self, words: &str) -> Self {
        match self {
            Self::Input(sentence) => Self::Input(format!("{sentence}{words}")),
            Self::Setting(mut wrong) => {
                wrong.problem += words;
                Self::Setting(wrong)
            }
            Self::InFile { sentence, snippet } => Self::InFile {
                sentence: format!("{sentence}{words}"),
                snippet,
            },
            Self::Failure(sentence) => Self::Failure(format!("{sentence}{words}")),
            Self::Closed => Self::Closed,
        }
    }
}

impl From<taskscout::Error> for LabError {
    fn from(error: taskscout::Error) -> Self {
        match error {
            taskscout::Error::Numerical { .. }
            | taskscout::Error::Io { .. }
            | taskscout::Error::Source { .. } => Self::Failure(error.to_string()),
            _ => Self::Input(error.to_string()),
        }
    }
}

impl From<taskscout_models::Error> for LabError {
    fn from(error: taskscout_models::Error) -> Self {
        match error {
            taskscout_models::Error::Library(error) => error.into(),
            taskscout_models::Error::Write(_) | taskscout_models::Error::Json(_) => {
                Self::Failure(error.to_string())
            }
            _ => Self::Input(error.to_string()),
        }
    }
}

impl From<taskscout_io::tables::Error> for LabError {
    fn from(error: taskscout_io::tables::Error) -> Self {
        Self::Input(error.to_string())
    }
}

impl From<taskscout_logs::Error> for LabError {
    fn from(error: taskscout_logs::Error) -> Self {
        Self::Input(error.to_string())
    }
}
