//! Tables to files, which are either complete or as they were before.
//!
//! ```
//! use taskscout_io::tables::{Column, Table, write_csv, write_parquet};
//!
//! let folder = tempfile::tempdir().unwrap();
//! let columns = [
//!     Column::text("name", vec!["calm".into(), "gale, north".into()]),
//!     Column::numbers("speed", vec![0.1, 22.0]),
//! ];
//! let (csv, parquet) = (folder.path().join("w.csv"), folder.path().join("w.parquet"));
//! write_csv(&csv, &columns)?;
//! write_parquet(&parquet, &columns)?;
//! assert_eq!(Table::read(&csv)?.columns(), columns);
//! assert_eq!(Table::read(&parquet)?.columns(), columns);
//! # Ok::<(), taskscout_io::tables::Error>(())
//! ```

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use ::parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::{ColumnPath, Type};

use crate::tables::error::{Error, Result};
use crate::tables::table::{Column, Values};
use crate::tables::{names, number};

/// Bytes of text gathered before they are written.
const BUFFER: usize = 1 << 16;
/// Rows of a row group: enough to compress, few enough to be read in parallel.
const GROUP: usize = 1 << 18;

/// Writes columns as CSV with a header line, replacing the file in one step.
///
/// Numbers are written in the shortest form that reads back bit for bit.
///
/// # Errors
/// If the columns differ in length, have no or equal names, or the file cannot be written.
pub fn write_csv(path: impl AsRef<Path>, columns: &[Column]) -> Result<()> {
    let path = path.as_ref();
    let rows = check(path, columns)?;
    crate::files::replace(path, |mut file| {
        let mut text = String::new();
        push_header(&mut text, columns);
        for row in 0..rows {
            push_row(&mut text, columns, row);
            if text.len() > BUFFER {
                file.write_all(text.as_bytes())?;
                text.clear();
            }
        }
        file.write_all(text.as_bytes())
    })?;
    Ok(())
}

/// Columns as the text of a CSV file.
///
/// # Errors
/// If the columns differ in length, or have no or equal names.
pub fn csv_text(columns: &[Column]) -> Result<String> {
    let rows = check(Path::new("standard output"), columns)?;
    let mut text = String::new();
    push_header(&mut text, columns);
    for row in 0..rows {
        push_row(&mut text, columns, row);
    }
    Ok(text)
}

fn push_header(text: &mut String, columns: &[Column]) {
    for (index, column) in columns.iter().enumerate() {
        push_separator(text, index);
        push_cell(text, &column.name, columns.len() == 1);
    }
    text.push('\n');
}

fn push_row(text: &mut String, columns: &[Column], row: usize) {
    let alone = columns.len() == 1;
    for (index, column) in columns.iter().enumerate() {
        push_separator(text, index);
        match &column.values {
            // A line without a cell would be skipped as blank.
            Values::Numbers(numbers) if alone && number::is_empty(numbers[row]) => {
                text.push_str("\"\"");
            }
            Values::Numbers(numbers) => number::push(text, numbers[row]),
            Values::Text(texts) => push_cell(text, &texts[row], alone),
        }
    }
    text.push('\n');
}

/// Writes columns as Parquet with Snappy compression, replacing the file in one step.
///
/// Numbers are doubles, an empty cell among them is a null; text is UTF-8.
///
/// # Errors
/// If the columns differ in length, have no or equal names, or the file cannot be written.
pub fn write_parquet(path: impl AsRef<Path>, columns: &[Column]) -> Result<()> {
    let path = path.as_ref();
    let rows = check(path, columns)?;
    crate::files::replace(path, |file| {
        write_groups(file, columns, rows).map_err(|error| match error {
            ParquetError::External(error) => match error.downcast::<io::Error>() {
                Ok(error) => *error,
                Err(error) => io::Error::other(error),
            },
            error => io::Error::other(error),
        })
    })?;
    Ok(())
}

fn push_separator(text: &mut String, index: usize) {
    if index > 0 {
        text.push(',');
    }
}

/// Quotes whatever a reader could take for something else: separators, comments, blank lines.
fn push_cell(text: &mut String, cell: &str, alone: bool) {
    let special = cell.contains([',', ';', '\t', '"', '\n', '\r'])
        || cell.starts_with(['#', '\u{feff}'])
        || cell.trim_ascii().len() != cell.len()
        || (alone && cell.is_empty());
    if special {
        text.push('"');
        text.push_str(&cell.replace('"', "\"\""));
        text.push('"');
    } else {
        text.push_str(cell);
    }
}

/// The number of rows, if the columns are a table.
pub(super) fn check(path: &Path, columns: &[Column]) -> Result<usize> {
    names::check(
        columns.iter().map(|column| &*column.name),
        &path.display().to_string(),
    )?;
    let refuse = |problem| {
        Err(Error::Columns {
            path: path.to_owned(),
            problem,
        })
    };
    let Some(first) = columns.first() else {
        return refuse("there are no columns, give at least one".into());
    };
    let rows = first.values.len();
    match columns.iter().find(|column| column.values.len() != rows) {
        None => Ok(rows),
        Some(other) => refuse(format!(
            "column {} has {rows} values but {} has {}, give each the same number",
            first.name,
            other.name,
            other.values.len()
        )),
    }
}

fn write_groups(
    file: &File,
    columns: &[Column],
    rows: usize,
) -> std::result::Result<(), ParquetError> {
    let fields = columns.iter().map(|column| Ok(Arc::new(field(column)?)));
    let fields = fields.collect::<std::result::Result<_, ParquetError>>()?;
    let schema = Type::group_type_builder("table")
        .with_fields(fields)
        .build()?;
    let mut properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
    for column in columns {
        if matches!(column.values, Values::Numbers(_)) {
            // Measurements hardly repeat, so that a dictionary of them is built in vain.
            let path = ColumnPath::new(vec![column.name.clone()]);
            properties = properties.set_column_dictionary_enabled(path, false);
        }
    }
    let mut writer =
        SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties.build()))?;
    for start in (0..rows).step_by(GROUP) {
        let range = start..(start + GROUP).min(rows);
        let mut group = writer.next_row_group()?;
        for column in columns {
            write_column(&mut group, column, range.clone())?;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

fn has_empty(numbers: &[f64]) -> bool {
    numbers.iter().any(|&value| number::is_empty(value))
}

fn field(column: &Column) -> std::result::Result<Type, ParquetError> {
    let (physical, logical, repetition) = match &column.values {
        Values::Numbers(numbers) if has_empty(numbers) => {
            (PhysicalType::DOUBLE, None, Repetition::OPTIONAL)
        }
        Values::Numbers(_) => (PhysicalType::DOUBLE, None, Repetition::REQUIRED),
        Values::Text(_) => (
            PhysicalType::BYTE_ARRAY,
            Some(LogicalType::String),
            Repetition::REQUIRED,
        ),
    };
    Type::primitive_type_builder(&column.name, physical)
        .with_logical_type(logical)
        .with_repetition(repetition)
        .build()
}

fn write_column(
    group: &mut SerializedRowGroupWriter<'_, &File>,
    column: &Column,
    rows: std::ops::Range<usize>,
) -> std::result::Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else {
        return Err(ParquetError::General("the schema lacks a column".into()));
    };
    match &column.values {
        Values::Numbers(numbers) if has_empty(numbers) => {
            let present = |value: &f64| !number::is_empty(*value);
            let cells = &numbers[rows];
            let levels: Vec<i16> = cells.iter().map(|cell| present(cell).into()).collect();
            let values: Vec<f64> = cells.iter().copied().filter(present).collect();
            let typed = writer.typed::<DoubleType>();
            typed.write_batch(&values, Some(&levels), None)?;
        }
        Values::Numbers(numbers) => {
            let typed = writer.typed::<DoubleType>();
            typed.write_batch(&numbers[rows], None, None)?;
        }
        Values::Text(texts) => {
            let values: Vec<ByteArray> = texts[rows].iter().map(|text| (&**text).into()).collect();
            let typed = writer.typed::<ByteArrayType>();
            typed.write_batch(&values, None, None)?;
        }
    }
    writer.close()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn quotes_what_needs_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let texts = ["a", "#b", "c,d", "e\"f", " g", "", "h\ni"];
        let columns = [Column::text("x;y", texts.map(String::from).to_vec())];
        write_csv(&path, &columns).unwrap();
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "\"x;y\"\na\n\"#b\"\n\"c,d\"\n\"e\"\"f\"\n\" g\"\n\"\"\n\"h\ni\"\n"
        );
        assert_eq!(
            crate::tables::Table::read(&path).unwrap().columns(),
            columns
        );
    }

    #[test]
    fn replaces_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        for value in [1.0, 2.0] {
            write_csv(&path, &[Column::numbers("x", vec![value])]).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "x\n2\n");
        fs::create_dir(folder.path().join("taken")).unwrap();
        let columns = [Column::numbers("x", vec![1.0])];
        for write in [write_csv, write_parquet] as [fn(PathBuf, &[Column]) -> Result<()>; 2] {
            let message = |name: &str| {
                let path = folder.path().join(name);
                write(path, &columns).unwrap_err().to_string()
            };
            assert!(message("taken").ends_with("choose another file name"));
            assert!(message("none/t.csv").ends_with("create its folder first"));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn refuses_what_is_no_table() {
        let one = || Column::numbers("x", vec![1.0]);
        let two = Column::numbers("y", vec![1.0, 2.0]);
        let message = |columns: &[Column]| write_csv("t.csv", columns).unwrap_err().to_string();
        assert!(message(&[one(), two]).contains("column x has 1 values but y has 2"));
        assert!(message(&[one(), one()]).contains("both called `x`"));
        assert!(message(&[]).contains("there are no columns"));
    }
}
