//! The folder above those of several runs: a report on all of them.

use std::path::Path;

use super::RunFolder;
use super::lock::Lock;
use super::manifest::Manifest;
use crate::error::{LabError, Result};
use crate::options::ExperimentOptions;
use crate::watch::Watch;

/// A folder with a report on the runs below it; no other process may use it until this is dropped.
pub(crate) struct TopFolder {
    _lock: Lock,
}

impl TopFolder {
    /// Refuses somebody else's folder. Changes nothing.
    pub(crate) fn check(
        path: &Path,
        names: &[&str],
        options: &ExperimentOptions,
        watch: &dyn Watch,
    ) -> Result<()> {
        examine(path, names, options, watch).map(|_| ())
    }

    /// Opens a folder for a report whose files have these names, and refuses somebody else's.
    pub(crate) fn open(
        path: &Path,
        names: &[&str],
        options: &ExperimentOptions,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let (known, known_lock) = examine(path, names, options, watch)?;
        std::fs::create_dir_all(path).map_err(|error| {
            LabError::Input(format!(
                "cannot create {}: {error}; give another --out",
                path.display()
            ))
        })?;
        let lock = match known_lock {
            Some(lock) => lock,
            None => Lock::of(path, watch)?,
        };
        let mut manifest = known.unwrap_or_default();
        manifest.sweep(path);
        if options.force {
            manifest.clear(path)?;
        }
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        manifest.claim(path, &names)?;
        manifest.write(path)?;
        Ok(Self { _lock: lock })
    }
}

/// What is known of a folder that may be used, and its lock if it has one.
fn examine(
    path: &Path,
    names: &[&str],
    options: &ExperimentOptions,
    watch: &dyn Watch,
) -> Result<(Option<Manifest>, Option<Lock>)> {
    let refuse = |problem: &str| Err(LabError::Input(format!("{} {problem}", path.display())));
    if RunFolder::holds_results(path) {
        return refuse("holds the run of a single experiment: give another --out");
    }
    let lock = Lock::of_known(path, watch)?;
    let there = names.iter().any(|file| path.join(file).exists());
    let known = Manifest::read(path)?;
    if there && !options.force && !options.resume {
        return refuse(
            "holds a report already: give --resume to go on with its runs, --force to replace them, or another --out",
        );
    }
    if there && known.is_none() {
        return refuse(
            "holds a report, but no manifest.json that lists it as a run's own: move it away, or give another --out",
        );
    }
    Ok((known, lock))
}
