//! A table of named columns, and the questions it answers.
//!
//! A table is read once and then asked for the columns that a caller needs. What does not fit is
//! refused at that moment, with the line of the file and the column.
//!
//! ```
//! use taskscout_io::tables::Table;
//!
//! let table = Table::read_csv_text(b"name,speed\ncalm,0.5\ngale,\n", "winds.csv")?;
//! assert_eq!(table.text("name")?, ["calm", "gale"]);
//! assert_eq!(
//!     table.numbers("speed").unwrap_err().to_string(),
//!     "line 3 of winds.csv, column speed, is empty: \
//!      every value must be finite, so repair or remove the row"
//! );
//! # Ok::<(), taskscout_io::tables::Error>(())
//! ```

use std::collections::HashSet;

use crate::tables::error::{Error, Result};
use crate::tables::limit::{EMPTY_TEXT, Exceeded, MemoryLimit, NUMBER};
use crate::tables::lines::Lines;
use crate::tables::{names, number, visible};

/// The cells of one column.
///
/// An empty cell among numbers is stored as a NaN, so that [`Table::numbers`] can name its place.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Every cell is a number, empty, `nan` or `inf`.
    Numbers(Vec<f64>),
    /// Some cell is none of these.
    Text(Vec<String>),
}

impl Values {
    /// The number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Values::Numbers(numbers) => numbers.len(),
            Values::Text(texts) => texts.len(),
        }
    }

    /// The same cells, as text if not one of them is written.
    ///
    /// A column of empty cells is more likely a blank remark than a lost measurement.
    pub(crate) fn settled(self, limit: &MemoryLimit) -> std::result::Result<Self, Exceeded> {
        match self {
            Values::Numbers(numbers) if numbers.iter().all(|&value| number::is_empty(value)) => {
                limit.take(numbers.len() as u64 * (EMPTY_TEXT - NUMBER))?;
                Ok(Values::Text(vec![String::new(); numbers.len()]))
            }
            other => Ok(other),
        }
    }

    /// Whether there is no cell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name in the header; `c1`, `c2`, … where the file has no header.
    pub name: String,
    /// Its cells, one a row.
    pub values: Values,
}

impl Column {
    /// A column of numbers.
    pub fn numbers(name: impl Into<String>, numbers: Vec<f64>) -> Self {
        Self {
            name: name.into(),
            values: Values::Numbers(numbers),
        }
    }

    /// A column of text.
    pub fn text(name: impl Into<String>, texts: Vec<String>) -> Self {
        Self {
            name: name.into(),
            values: Values::Text(texts),
        }
    }
}

/// A column of the file that is left out, because its kind cannot be a column of numbers or text.
#[derive(Debug, Clone, PartialEq)]
pub struct Skipped {
    /// Its name.
    pub name: String,
    /// Why it is left out, and what to do to have it.
    pub reason: String,
}

/// Columns of equal length, with what is needed to say where a cell came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub(crate) name: String,
    pub(crate) rows: usize,
    pub(crate) columns: Vec<Column>,
    pub(crate) skipped: Vec<Skipped>,
    /// The names of all columns that could be read, in the order of the file.
    pub(crate) names: Vec<String>,
    /// Where the rows stand in a text file; none for Parquet, which has no lines.
    pub(crate) lines: Option<Lines>,
}

impl Table {
    /// The name that messages use: the file's name without its folder.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns, in the order of the file.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The columns that the file has and the table leaves out, such as lists in Parquet.
    #[must_use]
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// The names of the columns that the file has and that were not wanted, in the order of the file.
    #[must_use]
    pub fn unwanted(&self) -> Vec<&str> {
        let read = self.columns.iter().map(|column| &column.name);
        let skipped = self.skipped.iter().map(|column| &column.name);
        let known: HashSet<&String> = read.chain(skipped).collect();
        let names = self.names.iter().filter(|name| !known.contains(name));
        names.map(String::as_str).collect()
    }

    /// The names of the columns of numbers, in the order of the file.
    #[must_use]
    pub fn numeric_columns(&self) -> Vec<&str> {
        self.columns
            .iter()
            .filter(|column| matches!(column.values, Values::Numbers(_)))
            .map(|column| column.name.as_str())
            .collect()
    }

    /// The numbers of a column, all of them finite.
    ///
    /// # Errors
    /// If the column is missing, holds text, or holds a value that is empty, NaN or infinite. The
    /// message names the first such place.
    pub fn numbers(&self, column: &str) -> Result<&[f64]> {
        self.numbers_at(self.column_index(column)?)
    }

    /// The numbers of the column at an index that is there, checked as in [`Table::numbers`].
    pub(crate) fn numbers_at(&self, index: usize) -> Result<&[f64]> {
        let Column {
            name: column,
            values,
        } = &self.columns[index];
        let numbers = match values {
            Values::Numbers(numbers) => numbers,
            Values::Text(texts) => return Err(self.not_numbers(column, texts)),
        };
        match numbers.iter().position(|value| !value.is_finite()) {
            None => Ok(numbers),
            Some(row) => Err(Error::NotFinite {
                place: self.place(row),
                column: column.to_owned(),
                value: number::name(numbers[row]),
            }),
        }
    }

    /// The cells of a column as text.
    ///
    /// Of a column that was read as numbers they are written in their shortest form: `007` has become
    /// `7`. Columns of names are read as text ([`crate::tables::ReadOptions::text`]). An empty cell stays empty.
    ///
    /// # Errors
    /// If the column is missing.
    pub fn text(&self, column: &str) -> Result<Vec<String>> {
        Ok(match &self.column(column)?.values {
            Values::Numbers(numbers) => numbers.iter().map(|&value| number::text(value)).collect(),
            Values::Text(texts) => texts.clone(),
        })
    }

    /// The line of a row in its file, counted from 1 with the header; none for Parquet.
    #[must_use]
    pub fn line_of(&self, row: usize) -> Option<usize> {
        self.lines.as_ref()?.of(row)
    }

    /// Where a row stands, for messages: `line 17 of winds.csv`, or `row 15 of winds.parquet` with
    /// rows counted from 0 as in a data frame.
    #[must_use]
    pub fn place(&self, row: usize) -> String {
        match self.line_of(row) {
            Some(line) => format!("line {line} of {}", visible::name(&self.name)),
            None => format!("row {row} of {}", visible::name(&self.name)),
        }
    }

    pub(crate) fn column(&self, name: &str) -> Result<&Column> {
        Ok(&self.columns[self.column_index(name)?])
    }

    pub(crate) fn column_index(&self, name: &str) -> Result<usize> {
        if let Some(index) = self.columns.iter().position(|column| column.name == name) {
            return Ok(index);
        }
        if let Some(skipped) = self.skipped.iter().find(|skipped| skipped.name == name) {
            return Err(Error::SkippedColumn {
                table: self.name.clone(),
                column: name.to_owned(),
                reason: skipped.reason.clone(),
            });
        }
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        Err(names::missing(&self.name, name, &names))
    }

    fn not_numbers(&self, column: &str, texts: &[String]) -> Error {
        let first = texts
            .iter()
            .position(|text| !text.trim().is_empty() && number::parse(text.as_bytes()).is_none());
        let Some(row) = first else {
            if texts.iter().any(|text| !text.trim().is_empty()) {
                return Error::SkippedColumn {
                    table: self.name.clone(),
                    column: column.to_owned(),
                    reason: "it holds names and cannot be numbers too; name another column".into(),
                };
            }
            // A column without a single number counts as text even where every cell is empty.
            return Error::NotFinite {
                place: self.place(0),
                column: column.to_owned(),
                value: "empty",
            };
        };
        self.not_number(column, row, &texts[row])
    }

    pub(crate) fn not_number(&self, column: &str, row: usize, cell: &str) -> Error {
        Error::NotNumber {
            place: self.place(row),
            column: column.to_owned(),
            cell: visible::cell(cell),
            remedy: if number::parse(cell.replace(',', ".").as_bytes()).is_some() {
                "write decimals with a point"
            } else {
                "correct the cell or choose another column"
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        Table::read_csv_text(text.as_bytes(), "winds.csv").unwrap()
    }

    fn refusal(text: &str, column: &str) -> String {
        table(text).numbers(column).unwrap_err().to_string()
    }

    #[test]
    fn gives_numbers_and_text() {
        let table = table("name,speed\na,1\nb,2.5\n");
        assert_eq!(table.numbers("speed").unwrap(), [1.0, 2.5]);
        assert_eq!(table.text("speed").unwrap(), ["1", "2.5"]);
        assert_eq!(table.text("name").unwrap(), ["a", "b"]);
        assert_eq!(table.numeric_columns(), ["speed"]);
        assert_eq!((table.name(), table.rows()), ("winds.csv", 2));
        assert_eq!(table.columns().len(), 2);
    }

    #[test]
    fn names_the_place_of_what_is_not_finite() {
        let start = "line 3 of winds.csv, column speed, is ";
        for (cell, value) in [
            ("", "empty"),
            ("  ", "empty"),
            ("nan", "nan"),
            ("NaN", "nan"),
            ("-nan", "nan"),
            ("inf", "inf"),
            ("-inf", "-inf"),
            ("1e999", "inf"),
        ] {
            let message = refusal(&format!("speed,x\n1,1\n{cell},1\n"), "speed");
            assert!(
                message.starts_with(&format!("{start}{value}: every value")),
                "{message}"
            );
        }
    }

    #[test]
    fn names_the_place_of_text() {
        assert_eq!(
            refusal("a\n1\n\nx y\n", "a"),
            "line 4 of winds.csv, column a, holds `x y`, which is not a number: correct the cell or choose another column"
        );
        assert!(refusal("a;b\n1;1\n1,5;2\n", "a").ends_with("write decimals with a point"));
        assert!(
            refusal("a,b\n,1\n,2\n", "a").starts_with("line 2 of winds.csv, column a, is empty")
        );
    }

    #[test]
    fn long_cells_are_cut_in_messages() {
        let message = refusal(&format!("a\n\"{}\n\"\n", "é".repeat(100)), "a");
        assert!(
            message.contains(&format!("`{}…`", "é".repeat(40))),
            "{message}"
        );
    }

    #[test]
    fn suggests_the_column_that_was_meant() {
        assert_eq!(
            refusal("speed,gust\n1,2\n", "sped"),
            "winds.csv has no column `sped` (did you mean `speed`?): the columns are `speed`, `gust`"
        );
    }
}
