//! Names of tasks: kept in one block of text, found again, suggested when misspelt.

use taskscout_tables::{Table, Values, edit_distance};

use crate::error::{CliError, Result};

/// The names of the candidates, where they have some.
#[derive(Debug, Clone, Default)]
pub(crate) enum Names {
    /// Rows are their numbers.
    #[default]
    None,
    /// Text, one name after the other, and where each ends: a million names are two allocations.
    Text {
        /// All names.
        text: String,
        /// Where each ends.
        ends: Vec<usize>,
    },
    /// Numbers that serve as names.
    Numbers(Vec<f64>),
}

impl Names {
    /// The names in a column.
    pub(crate) fn read(table: &Table, column: &str) -> Result<Self> {
        let found = table.columns().iter().find(|found| found.name == column);
        match found.map(|found| &found.values) {
            Some(Values::Text(texts)) => {
                let mut text = String::with_capacity(texts.iter().map(String::len).sum());
                let mut ends = Vec::with_capacity(texts.len());
                for name in texts {
                    text.push_str(name);
                    ends.push(text.len());
                }
                Ok(Self::Text { text, ends })
            }
            Some(Values::Numbers(numbers)) => Ok(Self::Numbers(numbers.clone())),
            // Not there: the table says so best.
            None => {
                table.numbers(column)?;
                Ok(Self::None)
            }
        }
    }

    /// The name of a row, if it has one.
    pub(crate) fn get(&self, row: usize) -> Option<String> {
        match self {
            Self::None => None,
            Self::Text { .. } => self
                .text(row)
                .filter(|name| !name.is_empty())
                .map(Into::into),
            Self::Numbers(numbers) => numbers
                .get(row)
                .filter(|number| number.is_finite())
                .map(ToString::to_string),
        }
    }

    fn text(&self, row: usize) -> Option<&str> {
        let Self::Text { text, ends } = self else {
            return None;
        };
        let start = row.checked_sub(1).map_or(0, |before| ends[before]);
        text.get(start..*ends.get(row)?)
    }

    /// The row that an option means: a name, or else a number from 0.
    pub(crate) fn find(&self, option: &str, wanted: &str, table: &Table) -> Result<usize> {
        let rows = table.rows();
        let mut same = (0..rows).filter(|&row| self.is(row, wanted));
        if let Some(row) = same.next() {
            return match same.next() {
                None => Ok(row),
                Some(other) => Err(CliError::Input(format!(
                    "{option} {wanted} means {} and {}: give the row instead, {row} or {other}",
                    table.place(row),
                    table.place(other)
                ))),
            };
        }
        match wanted.parse::<usize>() {
            Ok(row) if row < rows => Ok(row),
            Ok(row) => Err(CliError::Input(format!(
                "{option} {row}: {} has rows 0 to {}, so give one of these",
                table.name(),
                rows - 1
            ))),
            Err(_) => Err(CliError::Input(match (self.nearest(wanted, rows), self) {
                (Some(name), _) => format!(
                    "{option} {wanted}: {} has no such task; did you mean `{name}`?",
                    table.name()
                ),
                (None, Self::None) => format!(
                    "{option} {wanted}: the tasks of {} have no names; give a row from 0, or the column of names with --name",
                    table.name()
                ),
                (None, _) => format!(
                    "{option} {wanted}: {} has no such task; give a name from the file, or a row from 0",
                    table.name()
                ),
            })),
        }
    }

    fn is(&self, row: usize, wanted: &str) -> bool {
        match self {
            Self::None => false,
            Self::Text { .. } => self.text(row) == Some(wanted),
            Self::Numbers(_) => self.get(row).as_deref() == Some(wanted),
        }
    }

    fn nearest(&self, wanted: &str, rows: usize) -> Option<String> {
        let most = wanted.chars().count().div_ceil(3);
        (0..rows)
            .filter_map(|row| self.get(row))
            .map(|name| {
                (
                    edit_distance(&wanted.to_lowercase(), &name.to_lowercase()),
                    name,
                )
            })
            .filter(|(edits, _)| *edits <= most)
            .min_by_key(|(edits, _)| *edits)
            .map(|(_, name)| name)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn names(text: &str) -> (Names, Table) {
        let table = Table::read_csv_text(text.as_bytes(), "winds.csv").unwrap();
        (Names::read(&table, "name").unwrap(), table)
    }

    #[test]
    fn names_come_before_numbers() {
        let (names, table) = names("name,x\ncalm,1\n0,2\n,3\ncalm,4\n");
        assert_eq!(names.get(0).as_deref(), Some("calm"));
        assert_eq!(names.get(2), None);
        assert_eq!(names.find("--require", "0", &table).unwrap(), 1);
        assert_eq!(names.find("--require", "2", &table).unwrap(), 2);
        let message = |wanted: &str| {
            let error = names.find("--require", wanted, &table).unwrap_err();
            error.to_string()
        };
        assert!(message("calm").contains("line 2 of winds.csv and line 5 of winds.csv"));
        assert!(message("clam").ends_with("did you mean `calm`?"));
        assert!(message("hurricane").contains("no such task; give a name"));
        assert!(message("4").contains("rows 0 to 3"));
    }

    #[test]
    fn numbers_may_be_names() {
        let (names, table) = names("name,x\n10,1\n20,2\n");
        assert_eq!(names.find("--forbid", "20", &table).unwrap(), 1);
        assert_eq!(names.get(1).as_deref(), Some("20"));
    }
}
