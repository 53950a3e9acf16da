//! The PostgreSQL that tests start servers of their own with, installed where it can be.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::apt;

/// Makes sure that PostgreSQL is there; if not, says why the tests go without it.
///
/// One thread at a time; a second one finds it installed.
pub(crate) fn provide() -> Result<(), String> {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock();
    if installed() {
        return Ok(());
    }
    apt::install("postgresql")?;
    if installed() {
        return Ok(());
    }
    Err(String::from(
        "it was installed, and its programs were not found",
    ))
}

/// Whether the programs that make and start a server are there. Debian keeps them out of the path.
fn installed() -> bool {
    let debian = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten();
    let debian = debian.flatten().map(|entry| entry.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = debian.collect();
    folders.extend(std::env::split_paths(&path));
    folders.iter().any(|folder| complete(folder))
}

fn complete(folder: &Path) -> bool {
    ["initdb", "pg_ctl"]
        .iter()
        .all(|name| folder.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_the_programs_is_not_complete() {
        assert!(!complete(Path::new("no/such/folder")));
    }
}
