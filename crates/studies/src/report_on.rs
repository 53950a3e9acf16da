//! A report on whatever somebody names: a run, a folder of runs, a study of a store.

use std::path::{Path, PathBuf};

use taskscout::registry::Registry;
use taskscout_io::files::write_atomically;
use taskscout_report::{FigureFiles, SavedReport, file_stem};

use crate::error::{Error, Result};
use crate::place::{default_author, open_store};
use crate::stored::StoredStudy;

/// A page, what it says in sentences, and its figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportOn {
    /// The name of the run or the study.
    pub name: String,
    /// The page.
    pub html: String,
    /// What it says.
    pub verdicts: Vec<String>,
    /// Its figures, as pictures and numbers.
    pub figures: Vec<FigureFiles>,
}

/// Reports on the folder of a run or of runs, on a study of a store (a file or an address), or on a study that is named, in
/// the store `usual`.
///
/// # Errors
/// What is none of these, and what cannot be read.
pub fn report_on(
    what: &str,
    study: Option<&str>,
    usual: &str,
    registry: &Registry,
) -> Result<ReportOn> {
    let path = Path::new(what);
    if path.is_dir() {
        return of_folder(path);
    }
    if what.contains("://") || path.exists() {
        let store = open_store(what, false)?;
        return of_study(StoredStudy::find(
            store,
            study,
            &default_author(),
            registry,
        )?);
    }
    let store = open_store(usual, false).map_err(|error| {
        Error::Input(format!(
            "`{what}` is neither a folder nor a store, and as the name of a study it cannot be looked for: {error}"
        ))
    })?;
    of_study(StoredStudy::open(store, what, &default_author(), registry)?)
}

fn of_folder(folder: &Path) -> Result<ReportOn> {
    let saved = SavedReport::read(folder).map_err(|error| Error::Input(error.to_string()))?;
    // `.` has no name of its own.
    let whole = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let name = whole.file_name().unwrap_or_default().to_string_lossy();
    Ok(ReportOn {
        name: name.into_owned(),
        html: saved.page(),
        verdicts: saved.verdicts(),
        figures: saved.figure_files(),
    })
}

fn of_study(mut study: StoredStudy) -> Result<ReportOn> {
    let answer = study.answer_now()?;
    Ok(ReportOn {
        name: study.status()?.study,
        html: study.report()?,
        verdicts: vec![answer.verdict, answer.sure],
        figures: study.figure_files()?,
    })
}

impl ReportOn {
    /// The file that the page goes to where nobody says.
    #[must_use]
    pub fn usual_file(&self) -> PathBuf {
        PathBuf::from(format!("{}-report.html", file_stem(&self.name)))
    }

    /// Writes every figure as SVG, and its numbers as CSV, into a folder.
    ///
    /// # Errors
    /// A folder that cannot be written to.
    pub fn write_figures(&self, folder: &Path) -> Result<()> {
        let failed = |error: &dyn std::fmt::Display| {
            Error::Input(format!("cannot write to {}: {error}", folder.display()))
        };
        std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        for FigureFiles { name, svg, csv } in &self.figures {
            let stem = file_stem(name);
            for (ending, text) in [("svg", svg), ("csv", csv)] {
                let path = folder.join(format!("{stem}.{ending}"));
                write_atomically(path, text.as_bytes()).map_err(|error| failed(&error))?;
            }
        }
        Ok(())
    }
}
