//! What can be saved of a damaged file.

use std::path::{Path, PathBuf};

use serde::Serialize;
use taskscout_store::RecoveredStudy;

use crate::error::{Result, of_store};

/// What was copied from a damaged file into a new one, and what was lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recovery {
    /// The new file.
    pub file: PathBuf,
    /// The studies that were found.
    pub studies: Vec<StudyRecovery>,
    /// Entries that belong to no study that was found.
    pub nameless: usize,
}

/// What is intact of a study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StudyRecovery {
    /// The study.
    pub study: String,
    /// Entries that are intact.
    pub intact: u64,
    /// Entries that are lost.
    pub lost: Vec<u64>,
    /// Entries that are intact without all of their rows.
    pub without_rows: Vec<u64>,
    /// Whether it is known how many entries there were.
    pub end_known: bool,
}

/// Copies what is intact of a damaged file into a new one, and says what was lost.
///
/// # Errors
/// A file of which nothing is intact, or a new one that cannot be written.
pub fn recover(from: &str, to: &Path) -> Result<Recovery> {
    let from = from
        .strip_prefix("sqlite:///")
        .or_else(|| from.strip_prefix("sqlite:"))
        .unwrap_or(from);
    let recovered = taskscout_store::recover(from, to).map_err(of_store)?;
    let study = |study: RecoveredStudy| StudyRecovery {
        study: study.study,
        intact: study.copied,
        lost: study.lost,
        without_rows: study.without_rows,
        end_known: study.end_known,
    };
    Ok(Recovery {
        file: to.to_owned(),
        studies: recovered.studies.into_iter().map(study).collect(),
        nameless: recovered.nameless,
    })
}

impl Recovery {
    /// For a person at a terminal.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{} written\n", self.file.display());
        let versions = |versions: &[u64]| {
            let numbers: Vec<String> = versions.iter().map(u64::to_string).collect();
            numbers.join(", ")
        };
        for study in &self.studies {
            text += &format!(
                "study `{}`: {} entries are intact",
                study.study, study.intact
            );
            if !study.lost.is_empty() {
                text += &format!("; lost are {}", versions(&study.lost));
            }
            if !study.without_rows.is_empty() {
                let some = versions(&study.without_rows);
                text += &format!("; without all of their rows are {some}");
            }
            if !study.end_known {
                text += "; how many there were is not known, so later ones may be lost too";
            }
            text.push('\n');
        }
        if self.nameless > 0 {
            let entries = self.nameless;
            text += &format!("{entries} entries belong to no study that was found\n");
        }
        text
    }
}
