//! Names of tasks: text as the file has it, kept in one block, found again, suggested when misspelt.
//!
//! A name that looks like a number is a name all the same: `007` and `7` are two tasks, and so are two
//! numbers that differ in their nineteenth digit.

use std::path::Path;

use taskscout_io::tables::{ReadOptions, Table, edit_distance, parse_number};

use super::options::PlanOptions;
use crate::error::{LabError, Result};
use crate::options::comment_byte;

/// What a column of names is called where nobody says.
const USUAL: [&str; 3] = ["name", "task", "id"];
/// What stands before the number of a row that is meant whatever names look like.
const ROW: &str = "row:";

fn is_usual(column: &str) -> bool {
    USUAL.iter().any(|usual| column.eq_ignore_ascii_case(usual))
}

/// Reads a table in which some columns hold names.
pub(super) fn read_table(
    path: &Path,
    options: &PlanOptions,
    is_name: &(dyn Fn(&str) -> bool + Sync),
) -> Result<Table> {
    let reading = ReadOptions {
        text: Some(is_name),
        comment: comment_byte(options.comment),
        ..ReadOptions::default()
    };
    Ok(Table::read_with(path, &reading)?)
}

/// Reads the table of candidates; a column that is used as a number holds no names.
pub(super) fn read_candidates(path: &Path, options: &PlanOptions) -> Result<Table> {
    let used = [&options.cost, &options.capacity];
    let is_number = |column: &str| {
        let listed = options.columns.iter().flatten();
        let mut names = listed.chain(used.into_iter().flatten());
        names.any(|name| name == column)
    };
    read_table(path, options, &|column| match &options.name {
        Some(name) => column == name,
        None => is_usual(column) && !is_number(column),
    })
}

/// Reads the table of targets, whose parameters are those of the candidates.
pub(super) fn read_targets(
    path: &Path,
    parameters: &[String],
    options: &PlanOptions,
) -> Result<Table> {
    let weight = options.target_weight.as_deref();
    read_table(path, options, &|column| {
        is_usual(column)
            && weight != Some(column)
            && parameters.iter().all(|parameter| parameter != column)
    })
}

/// The names of the candidates, where they have some.
#[derive(Debug, Clone, Default)]
pub(super) enum Names {
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
}

impl Names {
    /// The names in a column.
    pub(super) fn read(table: &Table, column: &str) -> Result<Self> {
        let texts = table.text(column)?;
        let mut text = String::with_capacity(texts.iter().map(String::len).sum());
        let mut ends = Vec::with_capacity(texts.len());
        for name in texts {
            text.push_str(&name);
            ends.push(text.len());
        }
        Ok(Self::Text { text, ends })
    }

    /// The name of a row, if it has one.
    pub(super) fn get(&self, row: usize) -> Option<String> {
        let name = self.text(row).filter(|name| !name.is_empty());
        name.map(Into::into)
    }

    fn text(&self, row: usize) -> Option<&str> {
        let Self::Text { text, ends } = self else {
            return None;
        };
        let start = row.checked_sub(1).map_or(0, |before| ends[before]);
        text.get(start..*ends.get(row)?)
    }

    /// The row that an option means: a name; `row:7`, the row 7 from 0 whatever names look like; or
    /// else a number from 0, unless names are numbers too.
    pub(super) fn find(&self, option: &str, wanted: &str, table: &Table) -> Result<usize> {
        let rows = table.rows();
        let mut same = (0..rows).filter(|&row| self.text(row) == Some(wanted));
        if let Some(row) = same.next() {
            return match same.next() {
                None => Ok(row),
                Some(other) => Err(LabError::Input(format!(
                    "{option} {wanted} means {} and {}: give the row instead, {ROW}{row} or {ROW}{other}",
                    table.place(row),
                    table.place(other)
                ))),
            };
        }
        let number = wanted.strip_prefix(ROW);
        if let Some(Ok(row)) = number.map(str::parse::<usize>) {
            return within(option, row, table);
        }
        match wanted.parse::<usize>() {
            Ok(_) if self.are_numbers(rows) => Err(LabError::Input(format!(
                "{option} {wanted}: {} has no task of that name; give a name from the file, or {ROW}{wanted} for the row, because names are numbers here",
                table.name()
            ))),
            Ok(row) => within(option, row, table),
            Err(_) => Err(LabError::Input(match (self.nearest(wanted, rows), self) {
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

    /// Whether there are names and all of them look like numbers.
    fn are_numbers(&self, rows: usize) -> bool {
        let mut names = (0..rows)
            .filter_map(|row| self.text(row))
            .filter(|name| !name.is_empty())
            .peekable();
        names.peek().is_some() && names.all(|name| parse_number(name.as_bytes()).is_some())
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

/// A row by its number from 0, if the table has it.
fn within(option: &str, row: usize, table: &Table) -> Result<usize> {
    if row < table.rows() {
        return Ok(row);
    }
    Err(LabError::Input(format!(
        "{option} {row}: {} has rows 0 to {}, so give one of these",
        table.name(),
        table.rows().saturating_sub(1)
    )))
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
        assert!(message("calm").ends_with("give the row instead, row:0 or row:3"));
        assert_eq!(names.find("--require", "row:3", &table).unwrap(), 3);
        assert!(message("clam").ends_with("did you mean `calm`?"));
        assert!(message("hurricane").contains("no such task; give a name"));
        assert!(message("4").contains("rows 0 to 3"));
    }

    fn numbered(cells: &[&str]) -> (Names, Table) {
        let mut text = String::from("name,x\n");
        for cell in cells {
            text += &format!("{cell},1\n");
        }
        let reading = ReadOptions {
            text: Some(&is_usual),
            ..ReadOptions::default()
        };
        let table = Table::read_csv_text_with(text.as_bytes(), "winds.csv", &reading).unwrap();
        (Names::read(&table, "name").unwrap(), table)
    }

    #[test]
    fn numbers_may_be_names() {
        let (names, table) = numbered(&["10", "20"]);
        assert_eq!(names.find("--forbid", "20", &table).unwrap(), 1);
        assert_eq!(names.get(1).as_deref(), Some("20"));
        let message = names.find("--forbid", "1", &table).unwrap_err().to_string();
        assert!(message.contains("has no task of that name"), "{message}");
    }

    #[test]
    fn names_that_look_like_numbers_stay_apart() {
        let cells = [
            "1700000000000000001",
            "1700000000000000002",
            "007",
            "7",
            "7.0",
        ];
        let (names, table) = numbered(&cells);
        for (row, cell) in cells.iter().enumerate() {
            assert_eq!(names.get(row).as_deref(), Some(*cell));
            assert_eq!(names.find("--require", cell, &table).unwrap(), row);
        }
        let (names, table) = numbered(&["7", "7"]);
        let message = names.find("--forbid", "7", &table).unwrap_err().to_string();
        assert!(
            message.ends_with("give the row instead, row:0 or row:1"),
            "{message}"
        );
        assert_eq!(names.find("--forbid", "row:1", &table).unwrap(), 1);
        let message = names.find("--forbid", "row:2", &table).unwrap_err();
        assert!(message.to_string().contains("rows 0 to 1"), "{message}");
        let message = names.find("--forbid", "1", &table).unwrap_err();
        assert!(
            message.to_string().contains("row:1 for the row"),
            "{message}"
        );
    }
}
