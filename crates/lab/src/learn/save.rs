//! The files of what was learnt: model, summary, plan and report.

use std::path::{Path, PathBuf};

use taskscout_io::files::write_atomically;
use taskscout_io::tables::{Column, write_csv};

use super::{Learnt, PlannedRecording};
use crate::error::{LabError, Result};
use crate::files::{check_free, is_there};
use crate::folder;

/// Where what was learnt is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearnFiles {
    /// The model.
    pub model: PathBuf,
    /// What was found, as JSON.
    pub summary: PathBuf,
    /// The next recordings.
    pub plan: PathBuf,
    /// All of it as one HTML file.
    pub report: PathBuf,
}

impl LearnFiles {
    /// The files in a folder; refuses those that are there unless they may be replaced.
    ///
    /// # Errors
    /// A file that is there and may not be replaced.
    pub fn open(folder: &Path, force: bool) -> Result<Self> {
        let files = Self {
            model: folder.join("model.safetensors"),
            summary: folder.join("summary.json"),
            plan: folder.join("plan.csv"),
            report: folder.join("report.html"),
        };
        let refused = |problem: &str| {
            let problem = format!("{} {problem}, or give another --out", folder.display());
            Err(LabError::Input(problem))
        };
        if folder::is_run(folder)? {
            return refused("holds the run of an experiment: move it away");
        }
        let all = [&files.model, &files.summary, &files.plan, &files.report];
        for path in all {
            check_free(path, force)?;
        }
        if all.iter().any(|path| is_there(path)) && !is_of_learn(&files.summary) {
            return refused(
                "holds files that `taskscout learn` did not write, so --force replaces nothing: move them away",
            );
        }
        Ok(files)
    }
}

/// Whether a summary is one that was written here.
fn is_of_learn(summary: &Path) -> bool {
    let text = std::fs::read(summary).unwrap_or_default();
    let found: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    ["target_rows", "recordings", "verdict"]
        .iter()
        .all(|key| found.get(key).is_some())
}

/// Writes everything, each file in one step; first the summary, which says whose the others are.
///
/// # Errors
/// A folder or file that cannot be written.
pub fn save(learnt: &Learnt, files: &LearnFiles) -> Result<()> {
    if let Some(folder) = files.model.parent() {
        std::fs::create_dir_all(folder).map_err(|error| {
            LabError::Input(format!(
                "cannot create {}: {error}; give another --out",
                folder.display()
            ))
        })?;
    }
    let write = |path: &Path, bytes: &[u8]| {
        write_atomically(path, bytes).map_err(|error| LabError::Failure(error.to_string()))
    };
    write(&files.summary, learnt.json()?.as_bytes())?;
    learnt.model.save(&files.model)?;
    write_csv(&files.plan, &plan(&learnt.summary.plan))?;
    write(&files.report, learnt.html().as_bytes())
}

impl Learnt {
    /// What was found, as JSON.
    ///
    /// # Errors
    /// Numbers that JSON does not have.
    pub fn json(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(&self.summary);
        text.map(|text| text + "\n")
            .map_err(|error| LabError::Failure(format!("cannot write what was found: {error}")))
    }
}

/// The plan as columns: labels and parameters by their names, then the rest.
fn plan(plan: &[PlannedRecording]) -> Vec<Column> {
    let names: Vec<&str> = plan.first().map_or_else(Vec::new, |first| {
        first
            .condition
            .iter()
            .map(|fact| fact.name.as_str())
            .collect()
    });
    let cell = |one: &PlannedRecording, name: &str| {
        let fact = one.condition.iter().find(|fact| fact.name == name);
        fact.map_or_else(String::new, |fact| fact.value.clone())
    };
    let mut columns: Vec<Column> = names
        .iter()
        .map(|name| Column::text(*name, plan.iter().map(|one| cell(one, name)).collect()))
        .collect();
    let numbers =
        |value: fn(&PlannedRecording) -> f64| plan.iter().map(value).collect::<Vec<f64>>();
    columns.push(Column::numbers("rows", numbers(|one| one.rows as f64)));
    columns.push(Column::numbers(
        "variance_left",
        numbers(|one| one.variance_left),
    ));
    columns.push(Column::text(
        "reason",
        plan.iter().map(|one| one.reason.clone()).collect(),
    ));
    columns
}
