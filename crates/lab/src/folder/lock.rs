//! One process at a time in a folder of results.
//!
//! The lock is the operating system's, on an empty file in the folder: it ends with the process that
//! holds it, however that ends. The file stays, for taking it away could take it from somebody else.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{LabError, Result};
use crate::watch::Watch;

/// The file that is locked.
pub(super) const LOCK: &str = ".lock";

/// A folder that no other process may use until this is dropped.
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Locks a folder that another process has locked before; others nobody can be using.
    pub(super) fn of_known(folder: &Path, watch: &dyn Watch) -> Result<Option<Self>> {
        match open(folder, false) {
            Ok(file) => Self::take(file, folder, watch).map(Some),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Ok(None)
            }
            Err(error) => Err(unusable(folder, &error)),
        }
    }

    /// Locks a folder.
    pub(super) fn of(folder: &Path, watch: &dyn Watch) -> Result<Self> {
        let file = open(folder, true).map_err(|error| unusable(folder, &error))?;
        Self::take(file, folder, watch)
    }

    fn take(file: File, folder: &Path, watch: &dyn Watch) -> Result<Self> {
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(LabError::Input(format!(
                    "{} is in use by another taskscout process: wait until it has ended, or give another --out",
                    folder.display()
                )));
            }
            Err(TryLockError::Error(error)) => watch.note(&format!(
                "warning: {} cannot be locked ({error}): make sure that no other process writes there",
                folder.display()
            )),
        }
        Ok(Self { _file: file })
    }
}

fn open(folder: &Path, create: bool) -> std::io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(create)
        .truncate(false)
        .open(folder.join(LOCK))
}

fn unusable(folder: &Path, error: &std::io::Error) -> LabError {
    LabError::Input(format!(
        "cannot lock {}: {error}; give another --out",
        folder.display()
    ))
}
