//! What the repository may hold: small files, and no flight logs.
//!
//! Logs belong to those who flew them and are read from a folder the user names; large files make
//! every clone slow for ever. Both are easier to keep out than to take out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::Failure;

/// The largest file that may be tracked, in bytes.
const LARGEST_FILE_BYTES: u64 = 1_000_000;

/// How the names of flight logs begin; they end in `.csv`.
const FLIGHT_LOG_PREFIXES: [&str; 2] = ["custom_figure8_", "rflysim_random_"];

/// Checks every file that git tracks below `root`.
///
/// A source archive without git's folder has nothing tracked: it passes with a remark.
pub(crate) fn tracked_files(root: &Path) -> Result<Option<String>, Failure> {
    if !root.join(".git").exists() {
        return Ok(Some(String::from("not a git checkout, nothing to check")));
    }
    let files = list_tracked(root)?;
    let complaints: Vec<String> = files
        .iter()
        // A tracked file that was deleted but not yet committed has no size.
        .filter_map(|file| complaint(file, fs::symlink_metadata(root.join(file)).ok()?.len()))
        .collect();
    if complaints.is_empty() {
        return Ok(Some(format!("{} files", files.len())));
    }
    Err(Failure::new(complaints.join("; "))
        .with_remedy("run `git rm --cached FILE` and keep the data outside the repository"))
}

/// All TOML files in a folder and its subfolders, sorted; none if the folder does not exist.
pub(crate) fn toml_files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    if !folder.exists() {
        return Ok(files);
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(toml_files(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "toml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Asks git for the tracked files, relative to `root`.
fn list_tracked(root: &Path) -> Result<Vec<String>, Failure> {
    let output = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root)
        .output()
        .map_err(|error| Failure::new(format!("could not start git: {error}")))?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(format!(
            "`git ls-files` failed: {}",
            reason.trim()
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout)
        .split_terminator('\0')
        .map(String::from)
        .collect())
}

/// What is wrong with tracking a file of this path and size, if anything.
fn complaint(file: &str, bytes: u64) -> Option<String> {
    let name = file.rsplit('/').next().unwrap_or(file);
    let is_log = FLIGHT_LOG_PREFIXES
        .iter()
        .any(|prefix| name.starts_with(prefix) && name.ends_with(".csv"));
    if is_log {
        Some(format!("{file} is named like a flight log"))
    } else if bytes > LARGEST_FILE_BYTES {
        let megabytes = bytes as f64 / 1e6;
        Some(format!("{file} has {megabytes:.1} MB, 1 MB is the limit"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flight_logs_are_refused_in_any_folder() {
        for file in [
            "custom_figure8_baseline_nowind.csv",
            "data/logs/rflysim_random_35wind.csv",
        ] {
            assert_eq!(
                complaint(file, 10),
                Some(format!("{file} is named like a flight log"))
            );
        }
    }

    #[test]
    fn names_that_only_resemble_logs_are_fine() {
        for file in [
            "docs/custom_figure8_notes.md",
            "my_custom_figure8_x.csv",
            "rflysim_random_logs/readme.txt",
        ] {
            assert_eq!(complaint(file, 10), None);
        }
    }

    #[test]
    fn one_megabyte_is_the_limit() {
        assert_eq!(complaint("a.bin", LARGEST_FILE_BYTES), None);
        let message = complaint("a.bin", 2_340_000).unwrap();
        assert_eq!(message, "a.bin has 2.3 MB, 1 MB is the limit");
    }

    #[test]
    fn toml_files_are_found_sorted_and_in_subfolders() {
        let folder = std::env::temp_dir().join(format!("xtask-toml-{}", std::process::id()));
        fs::create_dir_all(folder.join("inner")).unwrap();
        for file in ["b.toml", "a.toml", "c.txt", "inner/d.toml"] {
            fs::write(folder.join(file), "").unwrap();
        }
        let found = toml_files(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        let expected: Vec<PathBuf> = ["a.toml", "b.toml", "inner/d.toml"]
            .iter()
            .map(|file| folder.join(file))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_folder_that_does_not_exist_has_no_files() {
        assert_eq!(toml_files(Path::new("no/such/folder")), Ok(Vec::new()));
    }
}
