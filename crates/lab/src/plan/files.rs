//! plan.csv and plan.json.

use std::path::{Path, PathBuf};

use taskscout_io::tables::{Column, write_csv};

use super::Planned;
use super::outcome::Row;
use crate::error::{LabError, Result};
use crate::files::check_free;

/// Where a plan is written.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanFiles {
    csv: PathBuf,
    json: PathBuf,
}

impl PlanFiles {
    /// Takes a folder, or a prefix if it ends in `-`, `_` or `.`; refuses files that are there
    /// unless they may be replaced.
    ///
    /// # Errors
    /// If a file is there and may not be replaced.
    pub fn open(out: &Path, force: bool) -> Result<Self> {
        let text = out.as_os_str().to_string_lossy();
        let is_name = out
            .file_name()
            .is_some_and(|name| name != "." && name != "..");
        let prefix = is_name && text.ends_with(['-', '_', '.']) && !out.is_dir();
        let file = |name: &str| {
            if prefix {
                let mut path = out.as_os_str().to_owned();
                path.push(name);
                PathBuf::from(path)
            } else {
                out.join(name)
            }
        };
        let files = Self {
            csv: file("plan.csv"),
            json: file("plan.json"),
        };
        for path in [&files.csv, &files.json] {
            check_free(path, force)?;
        }
        Ok(files)
    }

    /// Writes both files, each in one step.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn write(&self, planned: &Planned) -> Result<()> {
        let folder = self
            .csv
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder {
            std::fs::create_dir_all(folder).map_err(|error| {
                LabError::Input(format!(
                    "cannot create {}: {error}; give another --out",
                    folder.display()
                ))
            })?;
        }
        write_csv(
            &self.csv,
            &table(&planned.outcome.plan, &planned.setting.columns),
        )?;
        taskscout_io::files::write_atomically(&self.json, planned.json.as_bytes())
            .map_err(|error| LabError::Input(error.to_string()))
    }

    /// Where the plan went, for a person.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!(
            "written to {} and {}",
            self.csv.display(),
            self.json.display()
        )
    }
}

/// The plan as columns: the parameters by their names, then the rest.
fn table(plan: &[Row], columns: &[String]) -> Vec<Column> {
    let numbers = |value: &dyn Fn(&Row) -> f64| plan.iter().map(value).collect::<Vec<f64>>();
    let texts = |value: &dyn Fn(&Row) -> String| plan.iter().map(value).collect::<Vec<String>>();
    let mut all: Vec<Column> = columns
        .iter()
        .enumerate()
        .map(|(index, name)| Column::numbers(name, numbers(&|row| row.task[index])))
        .collect();
    // A parameter keeps its name; what the plan adds gives way.
    let own = |name: &str| {
        if columns.iter().any(|column| column == name) {
            format!("plan_{name}")
        } else {
            name.to_owned()
        }
    };
    let cell = |value: Option<String>| value.unwrap_or_default();
    all.push(Column::text(own("task"), texts(&|row| cell(row.label()))));
    all.push(Column::text(
        own("row"),
        texts(&|row| cell(row.row.map(|row| row.to_string()))),
    ));
    all.push(Column::numbers(own("weight"), numbers(&|row| row.weight)));
    all.push(Column::numbers(own("n"), numbers(&|row| row.n as f64)));
    let similarity = |row: &Row| cell(row.similarity.map(|value| value.to_string()));
    all.push(Column::text(own("similarity"), texts(&similarity)));
    all.push(Column::numbers(
        own("risk_share"),
        numbers(&|row| row.risk_share),
    ));
    all.push(Column::numbers(own("cost"), numbers(&|row| row.cost)));
    all.push(Column::text(
        own("reason"),
        texts(&|row| row.reason.clone()),
    ));
    all
}
