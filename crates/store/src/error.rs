//! What can go wrong with a store: each error is one sentence with its remedy.

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a store did not do what it was asked for.
///
/// After every error but those whose [`Error::maybe_stored`] is true, nothing of what was asked for was
/// stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Somebody else appended first.
    #[error(
        "the study `{study}` has version {found}, and version {expected} was expected: somebody else wrote to it; load what is new and decide again"
    )]
    Conflict {
        /// The study.
        study: String,
        /// The version that the writer knew.
        expected: u64,
        /// The version that is there.
        found: u64,
    },
    /// A version was seen that is there no longer.
    #[error(
        "the study `{study}` has version {found}, and version {since} was seen before: its database was put back to an earlier state; open the study anew"
    )]
    Behind {
        /// The study.
        study: String,
        /// The version that the reader has seen.
        since: u64,
        /// The version that is there.
        found: u64,
    },
    /// A study of this name is there already.
    #[error("a study `{study}` is there already: choose another name, or go on with that one")]
    Exists {
        /// Its name.
        study: String,
    },
    /// There is no study of this name.
    #[error("there is no study `{study}` {known}")]
    NoStudy {
        /// The name.
        study: String,
        /// What there is instead, as the end of a sentence.
        known: String,
    },
    /// There is no such record.
    #[error(
        "the study `{study}` has no record {version}: its records are 1 to {last}, as `load` lists them"
    )]
    NoRecord {
        /// The study.
        study: String,
        /// The record that was asked for.
        version: u64,
        /// The last one.
        last: u64,
    },
    /// What is stored is not what was written.
    #[error("{place} is damaged: {problem}; {remedy}")]
    Damaged {
        /// The file, study or record.
        place: String,
        /// How that shows.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// A database of a later version of this program.
    #[error(
        "{place} was written by a newer taskscout (version {found} of its tables; this one knows {known}): use that one"
    )]
    Newer {
        /// The file or server.
        place: String,
        /// Its version.
        found: i64,
        /// The latest version known here.
        known: i64,
    },
    /// A file or database of something else.
    #[error("{place} is no taskscout database: {problem}")]
    Foreign {
        /// The file or server.
        place: String,
        /// How that shows, and the remedy.
        problem: String,
    },
    /// Something that a store cannot take.
    #[error("{0}")]
    Invalid(String),
    /// The file cannot be used: it is missing, locked, read-only, or the disk is full.
    #[error("{place}: {problem}")]
    File {
        /// The file.
        place: String,
        /// What is wrong and what to do.
        problem: String,
        /// Whether what was being written may be there all the same.
        maybe_stored: bool,
    },
    /// The server cannot be reached or refuses.
    #[error("{place}: {problem}")]
    Server {
        /// The server, without a password.
        place: String,
        /// What is wrong and what to do.
        problem: String,
        /// Whether what was being written may be there all the same.
        maybe_stored: bool,
    },
    /// The receiver of rows stopped.
    #[error("{0}")]
    Stopped(String),
}

impl Error {
    /// Whether what was being written may have been stored in spite of the error, so that whoever says it
    /// again has to look first.
    #[must_use]
    pub fn maybe_stored(&self) -> bool {
        matches!(
            self,
            Self::File {
                maybe_stored: true,
                ..
            } | Self::Server {
                maybe_stored: true,
                ..
            }
        )
    }

    /// A damaged record of a study.
    pub(crate) fn damaged_record(study: &str, version: u64, problem: impl Into<String>) -> Self {
        Self::Damaged {
            place: format!("record {version} of the study `{study}`"),
            problem: problem.into(),
            remedy: REMEDY.into(),
        }
    }

    /// A damaged head of a study.
    pub(crate) fn damaged_study(study: &str, problem: impl Into<String>) -> Self {
        Self::Damaged {
            place: format!("the study `{study}`"),
            problem: problem.into(),
            remedy: REMEDY.into(),
        }
    }

    /// No study of this name; the names that there are help to find the mistyped letter.
    pub(crate) fn no_study(study: &str, known: &[String]) -> Self {
        let known = match known {
            [] => "here: there is none at all yet".into(),
            names => {
                let shown: Vec<String> = names.iter().take(8).map(|n| format!("`{n}`")).collect();
                let more = if names.len() > shown.len() {
                    format!(" and {} more", names.len() - shown.len())
                } else {
                    String::new()
                };
                format!("here: there is {}{more}", shown.join(", "))
            }
        };
        Self::NoStudy {
            study: study.into(),
            known,
        }
    }
}

/// What to do about damage.
pub(crate) const REMEDY: &str =
    "restore the database from a copy, or recover what is intact into a new file";
