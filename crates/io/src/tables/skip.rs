//! Tables with bad rows in them, read without these.
//!
//! ```
//! use taskscout_io::tables::Table;
//!
//! let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("log.csv");
//! std::fs::write(&path, "speed,force\n1,10\n2,nan\n3,30\n4\n").unwrap();
//! let (table, bad) = Table::read_skipping(&path, &["speed", "force"], None)?;
//! assert_eq!(table.matrix(&["speed", "force"])?, [1.0, 10.0, 3.0, 30.0]);
//! assert_eq!(bad.iter().filter_map(|row| row.line).collect::<Vec<_>>(), [3, 5]);
//! # Ok::<(), taskscout_io::tables::Error>(())
//! ```

use std::path::Path;

use crate::tables::error::{Error, Result};
use crate::tables::lines::Lines;
use crate::tables::read::{File, Format, ReadOptions};
use crate::tables::table::{Column, Table, Values};
use crate::tables::{csv, number, parquet, visible};

/// A row that was left out.
#[derive(Debug, Clone, PartialEq)]
pub struct BadRow {
    /// Its line in the file, counted from 1; none for Parquet.
    pub line: Option<usize>,
    /// What is wrong with it, with its place.
    pub reason: String,
    /// What it holds in the column of labels, if there is one and the row has its cells.
    pub label: Option<String>,
}

impl Table {
    /// Reads a table without the rows that are bad: of another length than the header, with broken
    /// quotes, or without a finite number in one of these columns.
    ///
    /// The columns hold numbers then, even where a bad cell held text. The column `label` tells what
    /// a bad row was about; its own cells may hold anything.
    ///
    /// # Errors
    /// As [`Table::read`] for all else, if a column is missing, and if no row is left.
    pub fn read_skipping(
        path: impl AsRef<Path>,
        columns: &[&str],
        label: Option<&str>,
    ) -> Result<(Table, Vec<BadRow>)> {
        Table::read_skipping_with(path, columns, label, &ReadOptions::default())
    }

    /// The same with options.
    ///
    /// # Errors
    /// As [`Table::read_skipping`].
    pub fn read_skipping_with(
        path: impl AsRef<Path>,
        columns: &[&str],
        label: Option<&str>,
        options: &ReadOptions<'_>,
    ) -> Result<(Table, Vec<BadRow>)> {
        let mut file = File::load(path.as_ref())?;
        let mut bad = Vec::new();
        let table = match file.format {
            Format::Parquet => parquet::read(file.bytes, &file.name, options)?,
            Format::Csv(separator) => {
                for (line, problem) in csv::mend(&mut file.bytes, separator, options.comment) {
                    bad.push(BadRow {
                        line: Some(line),
                        reason: format!("line {line} of {}: {problem}", visible::name(&file.name)),
                        label: None,
                    });
                }
                match csv::read(&file.bytes, &file.name, separator, csv::CHUNK, options) {
                    Err(Error::Empty { table, .. }) if !bad.is_empty() => {
                        return Err(no_good_row(table, &bad));
                    }
                    other => other?,
                }
            }
        };
        let table = table.without_bad_cells(columns, label, &mut bad)?;
        bad.sort_by_key(|row| row.line);
        if table.rows == 0 {
            return Err(no_good_row(table.name, &bad));
        }
        Ok((table, bad))
    }

    /// The rows that have a finite number in each of these columns.
    fn without_bad_cells(
        mut self,
        columns: &[&str],
        label: Option<&str>,
        bad: &mut Vec<BadRow>,
    ) -> Result<Table> {
        let labels = label.map(|label| self.text(label)).transpose()?;
        let mut reasons: Vec<Option<String>> = vec![None; self.rows];
        for &name in columns {
            let index = self.column_index(name)?;
            let values = std::mem::replace(&mut self.columns[index].values, Values::Text(vec![]));
            let numbers = self.judged(name, values, &mut reasons);
            self.columns[index].values = Values::Numbers(numbers);
        }
        if reasons.iter().all(Option::is_none) {
            return Ok(self);
        }
        let good: Vec<usize> = (0..self.rows).filter(|&r| reasons[r].is_none()).collect();
        let lines = self.lines.as_ref().map(|lines| {
            let mut kept = Lines::default();
            for (row, &old) in good.iter().enumerate() {
                if let Some(line) = lines.of(old) {
                    kept.push(row, line);
                }
            }
            kept
        });
        for (row, reason) in reasons.into_iter().enumerate() {
            bad.extend(reason.map(|reason| BadRow {
                line: self.line_of(row),
                reason,
                label: labels.as_ref().map(|labels| labels[row].clone()),
            }));
        }
        let columns = self.columns.into_iter().map(|column| Column {
            name: column.name,
            values: match column.values {
                Values::Numbers(all) => Values::Numbers(good.iter().map(|&row| all[row]).collect()),
                Values::Text(all) => {
                    Values::Text(good.iter().map(|&row| all[row].clone()).collect())
                }
            },
        });
        Ok(Table {
            name: self.name,
            rows: good.len(),
            columns: columns.collect(),
            skipped: self.skipped,
            names: self.names,
            lines,
        })
    }

    /// The cells of a column as numbers, and a reason for each row where there is none.
    fn judged(&self, column: &str, values: Values, reasons: &mut [Option<String>]) -> Vec<f64> {
        let mut refuse = |row: usize, error: Error| {
            reasons[row].get_or_insert_with(|| error.to_string());
        };
        let not_finite = |row: usize, value: f64| Error::NotFinite {
            place: self.place(row),
            column: column.to_owned(),
            value: number::name(value),
        };
        match values {
            Values::Numbers(numbers) => {
                for (row, &value) in numbers.iter().enumerate() {
                    if !value.is_finite() {
                        refuse(row, not_finite(row, value));
                    }
                }
                numbers
            }
            Values::Text(texts) => {
                let number = |(row, text): (usize, &String)| {
                    let value = if text.trim().is_empty() {
                        number::EMPTY
                    } else if let Some(value) = number::parse(text.as_bytes()) {
                        value
                    } else {
                        refuse(row, self.not_number(column, row, text));
                        return number::EMPTY;
                    };
                    if !value.is_finite() {
                        refuse(row, not_finite(row, value));
                    }
                    value
                };
                texts.iter().enumerate().map(number).collect()
            }
        }
    }
}

fn no_good_row(table: String, bad: &[BadRow]) -> Error {
    Error::NoGoodRow {
        table,
        count: bad.len(),
        first: bad
            .first()
            .map_or_else(String::new, |row| row.reason.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<(Table, Vec<BadRow>)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, text).unwrap();
        Table::read_skipping(&path, &["a", "b"], None)
    }

    #[test]
    fn bad_rows_go_and_the_others_keep_their_lines() {
        let text = b"name,a,b\nx,1,2\ny,oops,3\n\nz,4\nu,5,\nv,6,7\n\xff,1,1\nw,8,\"9\n";
        let (table, bad) = read(text).unwrap();
        assert_eq!(table.matrix(&["a", "b"]).unwrap(), [1.0, 2.0, 6.0, 7.0]);
        assert_eq!(table.text("name").unwrap(), ["x", "v"]);
        assert_eq!((table.line_of(0), table.line_of(1)), (Some(2), Some(7)));
        let lines: Vec<_> = bad.iter().filter_map(|row| row.line).collect();
        assert_eq!(lines, [3, 5, 6, 8, 9]);
        for (row, part) in bad.iter().zip([
            "line 3 of t.csv, column a, holds `oops`",
            "line 5 of t.csv: there are 2 cells",
            "line 6 of t.csv, column b, is empty",
            "line 8 of t.csv: this is not UTF-8",
            "line 9 of t.csv: the quotation mark is never closed",
        ]) {
            assert!(row.reason.starts_with(part), "{}", row.reason);
        }
    }

    #[test]
    fn labels_tell_what_bad_rows_were_about() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, "n,a\n7,1\n8,x\n9\n").unwrap();
        let (_, bad) = Table::read_skipping(&path, &["a"], Some("n")).unwrap();
        let labels: Vec<_> = bad.iter().map(|row| row.label.as_deref()).collect();
        assert_eq!(labels, [Some("8"), None]);
    }

    #[test]
    fn a_good_table_is_as_it_was() {
        let text = b"a,b\n1,2\n\n3,4\n";
        let (table, bad) = read(text).unwrap();
        assert_eq!(table, Table::read_csv_text(text, "t.csv").unwrap());
        assert!(bad.is_empty());
    }

    #[test]
    fn nothing_left_is_an_error() {
        for text in [&b"a,b\n1\n2\n"[..], b"a,b\nnan,1\n2,x\n"] {
            let message = read(text).unwrap_err().to_string();
            assert!(
                message
                    .starts_with("t.csv has no row that can be used, 2 are bad; the first: line 2"),
                "{message}"
            );
        }
        let message = read(b"a,c\n1,2\n").unwrap_err().to_string();
        assert!(message.contains("no column `b`"), "{message}");
    }
}
