//! A table beside the logs that says what is known of each recording: a row a recording, its name first.

use std::collections::BTreeMap;
use std::path::Path;

use taskscout_io::tables::{Table, edit_distance, visible};

use crate::error::{Error, Result};
use crate::facts::{Facts, Known, Parameter, name_and_unit};
use crate::recording::Logs;

/// What a table says, by the names of recordings.
#[derive(Debug)]
pub(super) struct SideTable {
    rows: BTreeMap<String, Facts>,
    place: String,
}

impl SideTable {
    /// Reads a table. A column is of labels if it is named among them, or if some cell is no number, no range and no
    /// word for what is unknown.
    ///
    /// # Errors
    /// A table that cannot be read, without columns beside the first, with a recording named twice, or with text in a
    /// column that is said to be of numbers.
    pub(super) fn read(path: &Path, labels: &[String], parameters: &[String]) -> Result<Self> {
        let everything = taskscout_io::tables::ReadOptions {
            text: Some(&|_| true),
            ..Default::default()
        };
        let table = Table::read_with(path, &everything)?;
        let refuse = |problem: String| Err(Error::Facts(format!("{} {problem}", path.display())));
        let headers: Vec<String> = table.columns().iter().map(|c| c.name.clone()).collect();
        let Some((first, others)) = headers.split_first().filter(|(_, rest)| !rest.is_empty())
        else {
            return refuse("has no column beside the first: the first names recordings, each other is a label or a parameter of them".into());
        };
        let names = table.text(first)?;
        let mut rows = empty_rows(&table, &names, path)?;
        for header in others {
            let (name, unit) = name_and_unit(header);
            let cells = table.text(header)?;
            let known: Vec<Option<Known>> = cells.iter().map(|cell| Known::parse(cell)).collect();
            let wrong = known.iter().position(Option::is_none);
            let is_parameter = parameters.contains(&name);
            if let (Some(row), true) = (wrong, is_parameter) {
                return refuse(format!(
                    "has `{}` as {name} of {}, which is a parameter: give a number, a range as 3..5, or leave it empty",
                    visible(&cells[row]),
                    visible(&names[row])
                ));
            }
            let is_label = !is_parameter && (labels.contains(&name) || wrong.is_some());
            for (row, recording) in names.iter().enumerate() {
                let Some(facts) = rows.get_mut(recording.trim()) else {
                    continue;
                };
                match (is_label, cells[row].trim()) {
                    (false, _) => {
                        let value = known[row].unwrap_or(Known::Unknown);
                        let unit = unit.clone();
                        let parameter = Parameter { value, unit };
                        facts.parameters.insert(name.clone(), parameter);
                    }
                    (true, "") => {}
                    (true, cell) => {
                        facts.labels.insert(name.clone(), cell.to_owned());
                    }
                }
            }
        }
        Ok(Self {
            rows,
            place: path.display().to_string(),
        })
    }

    /// What it says of a recording of this name.
    pub(super) fn facts(&self, recording: &str) -> Option<&Facts> {
        self.rows.get(recording)
    }

    /// Refuses a table of other recordings, and says which are missing on either side.
    pub(super) fn check(&self, logs: &Logs) -> Result<Vec<String>> {
        let known: Vec<&str> = logs
            .recordings
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        let strangers: Vec<&String> = self
            .rows
            .keys()
            .filter(|name| !known.contains(&name.as_str()))
            .collect();
        let mut warnings = Vec::new();
        if let Some(first) = strangers.first() {
            let nearest = known.iter().min_by_key(|name| edit_distance(name, first));
            let hint = nearest.map_or_else(String::new, |name| {
                format!(", the nearest name is {}", visible(name))
            });
            let sentence = format!(
                "{} names {} recordings that are not there, the first is {}{hint}",
                self.place,
                strangers.len(),
                visible(first)
            );
            if strangers.len() == self.rows.len() {
                return Err(Error::Facts(format!(
                    "{sentence}: its first column must hold names of recordings"
                )));
            }
            warnings.push(sentence);
        }
        let missing: Vec<&&str> = known
            .iter()
            .filter(|name| !self.rows.contains_key(**name))
            .collect();
        if let Some(first) = missing.first() {
            warnings.push(format!(
                "{} says nothing of {} recordings, the first is {}; add their rows to have their labels and parameters",
                self.place, missing.len(), visible(first)
            ));
        }
        Ok(warnings)
    }
}

/// The recordings that a table names, of which nothing is known yet.
fn empty_rows(table: &Table, names: &[String], path: &Path) -> Result<BTreeMap<String, Facts>> {
    let refuse = |problem: String| Err(Error::Facts(format!("{} {problem}", path.display())));
    let mut rows: BTreeMap<String, Facts> = BTreeMap::new();
    for (row, name) in names.iter().enumerate() {
        if name.trim().is_empty() {
            return refuse(format!(
                "names no recording in its first column at {}: fill it or remove the row",
                table.place(row)
            ));
        }
        let known = rows.insert(name.trim().to_owned(), Facts::default());
        if known.is_some() {
            return refuse(format!(
                "names {} twice: keep one row a recording",
                visible(name)
            ));
        }
    }
    Ok(rows)
}
