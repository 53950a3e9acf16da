//! Tidy results: one row per strategy, seed and round, kept as CSV.
//!
//! Losses and similarities are written in Rust's shortest form that reads back to the same bits;
//! seconds, which nobody compares bit for bit, get four decimals. A value that is not defined is an
//! empty cell, so an empty `target` or `predictor` reads back as `None`.
//!
//! ```
//! use taskscout_report::{read_csv, write_csv};
//!
//! let table = "experiment,oracle,strategy,seed,round,budget,test_loss,returned_loss,predictor,\
//!              subspace_similarity,relevance,tasks,long_term_tasks,collect_s,train_s,design_s\n\
//!              bilinear,exact,aware,1,0,6400,0.081,,,0.93,,79,79,0.1200,0.3000,0.0100\n";
//! let rows = read_csv(table.as_bytes(), "results.csv")?;
//! assert_eq!(rows[0].test_loss, Some(0.081));
//! let mut again = Vec::new();
//! write_csv(&rows, &mut again)?;
//! assert_eq!(again, table.as_bytes());
//! # Ok::<(), taskscout_report::Error>(())
//! ```

use std::io::{Read, Write};
use std::str::FromStr;

use crate::csv::{self, Record};
use crate::error::{Error, Result};
use crate::rows::ResultRow;

/// The columns of `results.csv`; `target` stands after `seed` when any row has a target.
pub const COLUMNS: [&str; 16] = [
    "experiment",
    "oracle",
    "strategy",
    "seed",
    "round",
    "budget",
    "test_loss",
    "returned_loss",
    "predictor",
    "subspace_similarity",
    "relevance",
    "tasks",
    "long_term_tasks",
    "collect_s",
    "train_s",
    "design_s",
];

const TARGET_POSITION: usize = 4;

/// Writes rows as CSV with a header.
///
/// # Errors
/// If the writer fails.
pub fn write_csv(rows: &[ResultRow], mut writer: impl Write) -> Result<()> {
    let with_target = rows.iter().any(|row| row.target.is_some());
    let mut text = header(with_target).join(",");
    text.push('\n');
    for row in rows {
        csv::push_record(&mut text, &cells(row, with_target));
    }
    writer
        .write_all(text.as_bytes())
        .and_then(|()| writer.flush())
        .map_err(|source| Error::Stream { source })
}

/// Reads what [`write_csv`] wrote; `table` names the source in errors.
///
/// # Errors
/// If the reader fails, the header is another one, or a cell cannot be read; the message names line
/// and column.
pub fn read_csv(mut reader: impl Read, table: &str) -> Result<Vec<ResultRow>> {
    let mut text = String::new();
    reader
        .read_to_string(&mut text)
        .map_err(|source| Error::Read {
            name: table.to_owned(),
            source,
        })?;
    let mut records = csv::parse(&text, table)?.into_iter();
    let first = records.next().unwrap_or_default();
    let with_target = first
        .cells
        .get(TARGET_POSITION)
        .is_some_and(|cell| cell == "target");
    let columns = header(with_target);
    check_header(&first, &columns, table)?;
    records
        .map(|record| read_row(&record, &columns, table))
        .collect()
}

fn header(with_target: bool) -> Vec<&'static str> {
    let mut columns = COLUMNS.to_vec();
    if with_target {
        columns.insert(TARGET_POSITION, "target");
    }
    columns
}

fn cells(row: &ResultRow, with_target: bool) -> Vec<String> {
    let float = |value: Option<f64>| {
        let defined = value.filter(|value| !value.is_nan());
        defined
            .map(|value| format!("{value:?}"))
            .unwrap_or_default()
    };
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let mut cells = vec![
        row.experiment.clone(),
        row.oracle.clone(),
        row.strategy.clone(),
        row.seed.to_string(),
        row.round.to_string(),
        row.budget.to_string(),
        float(row.test_loss),
        float(row.returned_loss),
        text(&row.predictor),
        float(row.subspace_similarity),
        float(row.relevance),
        row.tasks.to_string(),
        row.long_term_tasks.to_string(),
        format!("{:.4}", row.collect_s),
        format!("{:.4}", row.train_s),
        format!("{:.4}", row.design_s),
    ];
    if with_target {
        cells.insert(TARGET_POSITION, text(&row.target));
    }
    cells
}

fn check_header(found: &Record, columns: &[&str], table: &str) -> Result<()> {
    let wrong = |column: &str, problem: String| {
        Err(Error::Csv {
            table: table.to_owned(),
            line: 1,
            column: column.to_owned(),
            problem,
        })
    };
    for (index, &column) in columns.iter().enumerate() {
        match found.cells.get(index) {
            Some(cell) if cell == column => {}
            Some(cell) => return wrong(column, format!("the header has `{cell}` in its place")),
            None => return wrong(column, "the header lacks it".to_owned()),
        }
    }
    match found.cells.get(columns.len()) {
        Some(extra) => wrong(extra, "the header has one column too many".to_owned()),
        None => Ok(()),
    }
}

fn read_row(record: &Record, columns: &[&str], table: &str) -> Result<ResultRow> {
    let reader = RowReader {
        record,
        columns,
        table,
    };
    reader.check_length()?;
    Ok(ResultRow {
        experiment: reader.text("experiment").to_owned(),
        oracle: reader.text("oracle").to_owned(),
        strategy: reader.text("strategy").to_owned(),
        target: reader.optional_text("target"),
        seed: reader.number("seed", "a whole number from 0")?,
        round: reader.number("round", "a whole number from 0")?,
        budget: reader.number("budget", "a whole number from 0")?,
        test_loss: reader.optional_float("test_loss")?,
        returned_loss: reader.optional_float("returned_loss")?,
        predictor: reader.optional_text("predictor"),
        subspace_similarity: reader.optional_float("subspace_similarity")?,
        relevance: reader.optional_float("relevance")?,
        tasks: reader.number("tasks", "a whole number from 0")?,
        long_term_tasks: reader.number("long_term_tasks", "a whole number from 0")?,
        collect_s: reader.number("collect_s", "a number")?,
        train_s: reader.number("train_s", "a number")?,
        design_s: reader.number("design_s", "a number")?,
    })
}

/// One record's cells by column name.
struct RowReader<'a> {
    record: &'a Record,
    columns: &'a [&'a str],
    table: &'a str,
}

impl RowReader<'_> {
    fn check_length(&self) -> Result<()> {
        let (found, needed) = (self.record.cells.len(), self.columns.len());
        if found == needed {
            return Ok(());
        }
        let column = self.columns.get(found).or(self.columns.last());
        Err(self.error(
            column.copied().unwrap_or_default(),
            format!("the line has {found} cells where the header has {needed}"),
        ))
    }

    fn error(&self, column: &str, problem: String) -> Error {
        Error::Csv {
            table: self.table.to_owned(),
            line: self.record.line,
            column: column.to_owned(),
            problem,
        }
    }

    fn text(&self, column: &str) -> &str {
        let index = self.columns.iter().position(|&name| name == column);
        index
            .and_then(|index| self.record.cells.get(index))
            .map_or("", String::as_str)
    }

    fn optional_text(&self, column: &str) -> Option<String> {
        Some(self.text(column).to_owned()).filter(|text| !text.is_empty())
    }

    fn number<T: FromStr>(&self, column: &str, expected: &str) -> Result<T> {
        let text = self.text(column);
        text.trim()
            .parse()
            .map_err(|_| self.error(column, format!("`{text}` is not {expected}")))
    }

    fn optional_float(&self, column: &str) -> Result<Option<f64>> {
        if self.text(column).is_empty() {
            return Ok(None);
        }
        self.number(column, "a number or empty").map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> ResultRow {
        ResultRow {
            experiment: "bilinear".to_owned(),
            oracle: "exact".to_owned(),
            strategy: "aware".to_owned(),
            seed: u64::MAX,
            round: 3,
            budget: 12_345,
            test_loss: Some(0.1 + 0.2),
            tasks: 7,
            long_term_tasks: 4,
            collect_s: 0.5,
            train_s: 1.25,
            design_s: 2.0,
            ..ResultRow::default()
        }
    }

    fn round_trip(rows: &[ResultRow]) -> (String, Vec<ResultRow>) {
        let mut bytes = Vec::new();
        write_csv(rows, &mut bytes).unwrap();
        let back = read_csv(bytes.as_slice(), "results.csv").unwrap();
        (String::from_utf8(bytes).unwrap(), back)
    }

    #[test]
    fn header_is_exactly_the_documented_one() {
        let (text, _) = round_trip(&[row()]);
        assert_eq!(
            text.lines().next().unwrap(),
            "experiment,oracle,strategy,seed,round,budget,test_loss,returned_loss,predictor,subspace_similarity,relevance,tasks,long_term_tasks,collect_s,train_s,design_s"
        );
        assert_eq!(
            text.lines().nth(1).unwrap(),
            "bilinear,exact,aware,18446744073709551615,3,12345,0.30000000000000004,,,,,7,4,0.5000,1.2500,2.0000"
        );
    }

    #[test]
    fn floats_come_back_bit_for_bit() {
        let values = [
            0.1 + 0.2,
            f64::MIN_POSITIVE / 3.0,
            -0.0,
            1e300,
            f64::MAX,
            1.0 / 3.0,
            4.0,
            f64::INFINITY,
        ];
        let rows: Vec<_> = values
            .iter()
            .map(|&value| ResultRow {
                test_loss: Some(value),
                relevance: Some(-value),
                ..row()
            })
            .collect();
        let (_, back) = round_trip(&rows);
        for (value, read) in values.iter().zip(&back) {
            assert_eq!(read.test_loss.unwrap().to_bits(), value.to_bits());
            assert_eq!(read.relevance.unwrap().to_bits(), (-value).to_bits());
        }
    }

    #[test]
    fn quoting_survives_and_target_column_appears() {
        let rows = vec![
            ResultRow {
                target: Some("0,0,1,0.5,0".to_owned()),
                strategy: "say \"hi\"".to_owned(),
                predictor: Some("two\nlines\r\n".to_owned()),
                ..row()
            },
            ResultRow {
                strategy: " padded ".to_owned(),
                ..row()
            },
        ];
        let (text, back) = round_trip(&rows);
        assert!(text.starts_with("experiment,oracle,strategy,seed,target,round,"));
        assert!(text.contains("\"0,0,1,0.5,0\"") && text.contains("\"say \"\"hi\"\"\""));
        assert_eq!(back, rows);
    }

    #[test]
    fn what_is_not_defined_is_empty() {
        let undefined = ResultRow {
            test_loss: Some(f64::NAN),
            ..row()
        };
        let (text, back) = round_trip(&[undefined]);
        assert!(!text.contains("NaN"), "{text}");
        assert_eq!(back[0].test_loss, None);
    }

    #[test]
    fn no_rows_is_a_header_alone() {
        let (text, back) = round_trip(&[]);
        assert_eq!(text.lines().count(), 1);
        assert!(back.is_empty());
    }

    fn read_error(edit: impl Fn(&str) -> String) -> String {
        let (text, _) = round_trip(&[row(), row()]);
        read_csv(edit(&text).as_bytes(), "runs/results.csv")
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn errors_name_line_and_column() {
        let message = read_error(|text| {
            let line = text.lines().nth(2).unwrap();
            text.replacen(
                &format!("\n{line}\n{line}"),
                &format!("\n{line}\n{}", line.replace("12345", "many")),
                1,
            )
        });
        assert_eq!(
            message,
            "runs/results.csv, line 3, column `budget`: `many` is not a whole number from 0"
        );
        let message = read_error(|text| text.replace("0.30000000000000004", "low"));
        assert!(
            message.contains("line 2, column `test_loss`: `low` is not a number or empty"),
            "{message}"
        );
    }

    #[test]
    fn errors_for_header_and_length() {
        let message = read_error(|text| text.replace("relevance", "importance"));
        assert!(
            message.contains("line 1, column `relevance`: the header has `importance`"),
            "{message}"
        );
        let message = read_error(|text| text.replacen(",2.0000\n", "\n", 1));
        assert!(
            message
                .contains("line 2, column `design_s`: the line has 15 cells where the header has"),
            "{message}"
        );
        assert!(read_error(|_| String::new()).contains("column `experiment`"));
        assert!(read_error(|text| text.replacen("design_s", "design_s,x", 1)).contains("too many"));
    }
}
