//! Files that a user names for results: whether they may be written, and in which format.

use std::path::Path;

use taskscout_io::tables::{Column, write_csv, write_mcap, write_parquet};

use crate::error::{LabError, Result};
use crate::folder;

/// Writes columns to a file.
pub type Write = fn(&Path, &[Column]) -> taskscout_io::tables::Result<()>;

/// Whether there is a file, a folder or a link, which may point to nothing.
pub(crate) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Refuses to replace a file that is there unless it may be; never replaces a file of a run.
///
/// # Errors
/// A file that is there and may not be replaced.
pub fn check_free(path: &Path, force: bool) -> Result<()> {
    let problem = if !is_there(path) {
        return Ok(());
    } else if !force {
        "is there already: give --force to replace it, or another --out"
    } else if folder::is_of_run(path)? {
        "is a file of a run, which needs it: give another --out"
    } else {
        return Ok(());
    };
    Err(LabError::Input(format!("{} {problem}", path.display())))
}

/// How to write a table, by the ending of its file.
///
/// # Errors
/// An ending that no format has.
pub fn writer(out: &Path) -> Result<Write> {
    let ending = out
        .extension()
        .map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    match ending.as_deref() {
        Some("csv") => Ok(|path, columns| write_csv(path, columns)),
        Some("parquet") => Ok(|path, columns| write_parquet(path, columns)),
        Some("mcap") => Ok(|path, columns| write_mcap(path, columns)),
        _ => Err(LabError::Input(format!(
            "--out {} ends in neither .csv nor .parquet nor .mcap: give it one of these endings",
            out.display()
        ))),
    }
}
