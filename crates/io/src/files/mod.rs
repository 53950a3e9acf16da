//! Files that are either complete or as they were before, and that are read within bounds.
//!
//! ```
//! let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("plan.json");
//! taskscout_io::files::write_atomically(&path, b"{}")?;
//! assert_eq!(std::fs::read(&path).unwrap(), b"{}");
//! # Ok::<(), taskscout_io::files::WriteError>(())
//! ```

mod read;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

pub use read::{open, read, read_from, read_text};

/// A file cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}; {remedy}", path.display())]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// What to do about it.
    pub remedy: &'static str,
    /// The operating system's reason.
    pub source: io::Error,
}

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Replaces a file in one step: a temporary file in the same folder is written, synchronised with
/// the disk and renamed, so that a reader or a crash sees the old bytes or the new ones.
///
/// # Errors
/// If the folder is missing or not writable, or the disk is full; the message names the path and
/// the remedy, and the temporary file is removed.
pub fn write_atomically(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), WriteError> {
    replace(path.as_ref(), |mut file| file.write_all(bytes))
}

/// The same for what is written piece by piece.
///
/// # Errors
/// As [`write_atomically`], and whatever the writing itself fails with.
pub fn replace(path: &Path, write: impl FnOnce(&File) -> io::Result<()>) -> Result<(), WriteError> {
    let path = &replaceable(path)?;
    let temporary = temporary_beside(path);
    let written = File::create_new(&temporary).and_then(|file| {
        write(&file)?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        synchronise_folder(path);
        Ok(())
    });
    written.map_err(|source| {
        // The first failure is what the user needs to hear about.
        let _ = fs::remove_file(&temporary);
        WriteError {
            path: path.to_owned(),
            remedy: remedy(path, &source),
            source,
        }
    })
}

/// The file itself: behind a link what it points to. A device or a pipe is no file that could be replaced.
fn replaceable(path: &Path) -> Result<PathBuf, WriteError> {
    let Ok(known) = fs::symlink_metadata(path) else {
        return Ok(path.to_owned());
    };
    let real = if known.is_symlink() {
        // A link to nowhere is replaced itself.
        fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
    } else {
        path.to_owned()
    };
    let kind = fs::symlink_metadata(&real).map(|known| known.file_type());
    match kind {
        Ok(kind) if !(kind.is_file() || kind.is_dir() || kind.is_symlink()) => Err(WriteError {
            path: path.to_owned(),
            remedy: "name another file",
            source: io::Error::new(io::ErrorKind::InvalidInput, "it is a device or a pipe"),
        }),
        _ => Ok(real),
    }
}

fn temporary_beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    name.push(format!(".{}-{count}.tmp", std::process::id()));
    path.with_file_name(name)
}

/// The name of the file that a temporary file was to become, if it is one that [`replace`] makes: a
/// process that is killed leaves it behind.
///
/// ```
/// assert_eq!(taskscout_io::files::temporary_of(".plan.json.4711-0.tmp"), Some("plan.json"));
/// assert_eq!(taskscout_io::files::temporary_of("plan.json.tmp"), None);
/// ```
#[must_use]
pub fn temporary_of(name: &str) -> Option<&str> {
    let (name, numbers) = name
        .strip_prefix('.')?
        .strip_suffix(".tmp")?
        .rsplit_once('.')?;
    let (process, count) = numbers.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (!name.is_empty() && is_number(process) && is_number(count)).then_some(name)
}

/// Makes the rename itself durable, where the system can open folders as files.
fn synchronise_folder(path: &Path) {
    if let Some(Ok(folder)) = path.parent().map(File::open) {
        let _ = folder.sync_all();
    }
}

fn remedy(path: &Path, error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "create its folder first",
        io::ErrorKind::NotADirectory => "a part of the path is a file, choose another folder",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "make its folder writable or choose another"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space on the disk and try again"
        }
        _ if path.is_dir() => "a folder has that name, choose another file name",
        _ => "check the folder and try again",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("summary.json");
        write_atomically(&path, b"old").unwrap();
        write_atomically(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_not_replaced_and_links_stay_links() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket.csv");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let message = write_atomically(&socket, b"new").unwrap_err().to_string();
        assert!(message.contains("a device or a pipe"), "{message}");
        assert!(!fs::metadata(&socket).unwrap().is_file());
        let (real, link) = (
            folder.path().join("real.csv"),
            folder.path().join("link.csv"),
        );
        fs::write(&real, b"old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_atomically(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
    }

    #[test]
    fn temporary_files_are_known_by_their_exact_names() {
        let temporary = temporary_beside(Path::new("folder/aware-t0-1.csv"));
        let name = temporary.file_name().unwrap().to_str().unwrap();
        assert_eq!(temporary_of(name), Some("aware-t0-1.csv"));
        for other in [
            "aware.csv",
            ".aware.csv.tmp",
            ".aware.csv.12.tmp",
            ".aware.csv.12-.tmp",
            ".aware.csv.12-x.tmp",
            ".aware.csv.12-3.tmp2",
            "aware.csv.12-3.tmp",
            "..12-3.tmp",
        ] {
            assert_eq!(temporary_of(other), None, "{other}");
        }
    }

    #[test]
    fn names_path_and_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing").join("report.html");
        let message = write_atomically(&missing, b"x").unwrap_err().to_string();
        assert!(message.contains("report.html") && message.contains("create its folder first"));

        fs::create_dir(folder.path().join("taken")).unwrap();
        let message = write_atomically(folder.path().join("taken"), b"x")
            .unwrap_err()
            .to_string();
        assert!(message.contains("a folder has that name"), "{message}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
