//! SQLite's errors in a user's words.

use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::error::{Error, REMEDY, Result};

/// The file that errors are about.
#[derive(Debug, Clone)]
pub(super) struct Place(PathBuf);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.display())
    }
}

impl Place {
    pub(super) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Damage of the file as a whole.
    pub(super) fn damaged(&self, problem: impl Into<String>) -> Error {
        Error::Damaged {
            place: self.to_string(),
            problem: problem.into(),
            remedy: REMEDY.into(),
        }
    }

    /// Something about the file, and what to do.
    pub(super) fn problem(&self, problem: impl Into<String>) -> Error {
        Error::File {
            place: self.to_string(),
            problem: problem.into(),
            maybe_stored: false,
        }
    }

    /// An error while the file was being opened, when it may still be anything.
    pub(super) fn opening(&self, error: &rusqlite::Error) -> Error {
        if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) {
            return Error::Foreign {
                place: self.to_string(),
                problem: format!("it does not begin as one does; name another file, or {REMEDY}"),
            };
        }
        self.reading(error)
    }

    /// An error while reading.
    pub(super) fn reading(&self, error: &rusqlite::Error) -> Error {
        self.explain(error, "")
    }

    /// An error while writing, before the commit.
    pub(super) fn writing(&self, error: &rusqlite::Error) -> Error {
        self.explain(error, "nothing was stored; ")
    }

    /// An error of the commit itself: if the disk fails there, nobody knows.
    pub(super) fn committing(&self, error: &rusqlite::Error) -> Error {
        if error.sqlite_error_code() != Some(ErrorCode::SystemIoFailure) {
            return self.writing(error);
        }
        Error::File {
            place: self.to_string(),
            problem: format!(
                "the disk is full or failed at the end of a write ({error}): make room, and look whether it is there before it is said again"
            ),
            maybe_stored: true,
        }
    }

    fn explain(&self, error: &rusqlite::Error, stored: &str) -> Error {
        use rusqlite::Error as E;
        let E::SqliteFailure(..) = error else {
            return match error {
                E::InvalidColumnType(..)
                | E::FromSqlConversionFailure(..)
                | E::IntegralValueOutOfRange(..)
                | E::Utf8Error(..) => {
                    self.damaged("a value has another type than it was written with")
                }
                other => self.problem(format!("SQLite says: {other}")),
            };
        };
        let sentence = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                return self.damaged(format!("SQLite says: {error}"));
            }
            Some(ErrorCode::ConstraintViolation) => {
                return self.damaged("an index does not fit to its table");
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                "another program has been writing to it for longer than 30 s: try again, or end that program".into()
            }
            Some(ErrorCode::DiskFull) => "the disk is full: make room and say it again".into(),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                "it may not be written: make the file and its folder writable".into()
            }
            Some(ErrorCode::CannotOpen) => self.closed(),
            Some(ErrorCode::SystemIoFailure) => {
                format!("the disk failed ({error}): make room, look after the disk, and try again")
            }
            _ => format!("SQLite says: {error}"),
        };
        self.problem(format!("{stored}{sentence}"))
    }

    /// Why a file cannot be opened.
    fn closed(&self) -> String {
        let folder = self
            .0
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        match folder {
            Some(folder) if !folder.is_dir() => {
                format!("there is no folder {}: make it first", folder.display())
            }
            _ if self.0.is_dir() => "it is a folder: name a file in it".into(),
            _ => "it cannot be opened: make the file and its folder readable and writable".into(),
        }
    }

    /// Refuses a path where no file is.
    pub(super) fn must_exist(&self) -> Result<()> {
        if self.0.is_file() {
            return Ok(());
        }
        if self.0.exists() {
            return Err(self.problem(self.closed()));
        }
        Err(Error::Invalid(format!(
            "{self}: there is no such file: check the path, or begin a study in it"
        )))
    }
}
