//! Tables from Parquet.
//!
//! Flat columns become columns of numbers or text; fields of structures are columns named by their
//! path, such as `wind.speed`. Times and dates are the numbers the file holds, in its unit; integers
//! beyond 2⁵³ are rounded. What cannot be a column, such as a list, is left out and said so when it
//! is asked for.
//!
//! Every column of every row group is read on its own, in parallel.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ::parquet::basic::{ConvertedType, Type};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{ByteArray, DataType};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;
use bytes::Bytes;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::table::{Column, Skipped, Table, Values};
use crate::{names, number};

/// Values decoded at a time, so that they stay in the cache until they are converted.
const BATCH: usize = 1 << 14;

/// Reads a table from the bytes of a file.
pub(crate) fn read(bytes: Vec<u8>, name: &str) -> Result<Table> {
    // The decoder promises errors, but a damaged file must not take the program with it.
    let outcome = catch_unwind(AssertUnwindSafe(|| table(bytes, name)));
    outcome.unwrap_or_else(|_| {
        let problem = ParquetError::General("its parts contradict each other".into());
        Err(unreadable(name, problem))
    })
}

fn unreadable(table: &str, error: ParquetError) -> Error {
    let problem = match error {
        ParquetError::General(problem)
        | ParquetError::EOF(problem)
        | ParquetError::NYI(problem) => problem,
        other => other.to_string(),
    };
    let (problem, remedy) = match problem.strip_prefix("Disabled feature at compile time: ") {
        Some(codec) => (
            format!("its compression {codec} is not supported"),
            "write it again with snappy, zstd or gzip",
        ),
        None => (
            problem,
            "check that it was copied completely, or write it again",
        ),
    };
    Error::Parquet {
        table: table.to_owned(),
        problem,
        remedy,
    }
}

fn table(bytes: Vec<u8>, name: &str) -> Result<Table> {
    let file = SerializedFileReader::new(Bytes::from(bytes));
    let file = file.map_err(|error| unreadable(name, error))?;
    let schema = file.metadata().file_metadata().schema_descr();
    let mut skipped: Vec<Skipped> = Vec::new();
    let mut wanted: Vec<(usize, String)> = Vec::new();
    for (leaf, descriptor) in schema.columns().iter().enumerate() {
        let path = descriptor.path().parts();
        match refusal(descriptor) {
            None => wanted.push((leaf, path.join("."))),
            // All parts of a list carry the name by which a user knows it.
            Some(reason) => note(&mut skipped, path[0].clone(), reason),
        }
    }
    names::check(wanted.iter().map(|(_, column)| &**column), name)?;

    let leaves: Vec<usize> = wanted.iter().map(|&(leaf, _)| leaf).collect();
    let (rows, pieces) = read_pieces(&file, &leaves).map_err(|error| unreadable(name, error))?;
    drop(file);
    let mut columns = Vec::new();
    let mut pieces = pieces.into_iter();
    for (_, column) in wanted {
        let groups = pieces.by_ref().take(rows.len());
        match join(groups) {
            Some(values) => columns.push(Column {
                name: column,
                values: values.settled(),
            }),
            None => note(
                &mut skipped,
                column,
                "it holds bytes that are not UTF-8 text; write it as text or numbers".into(),
            ),
        }
    }
    let rows = rows.iter().sum();
    if rows == 0 || columns.is_empty() {
        return Err(Error::Empty {
            table: name.to_owned(),
            problem: if rows == 0 {
                "has no rows: write at least one"
            } else {
                "has no column of numbers or text: write at least one"
            },
        });
    }
    Ok(Table {
        name: name.to_owned(),
        rows,
        columns,
        skipped,
        lines: None,
    })
}

fn note(skipped: &mut Vec<Skipped>, name: String, reason: String) {
    if skipped.iter().all(|known| known.name != name) {
        skipped.push(Skipped { name, reason });
    }
}

/// Why a column cannot be read, if it cannot.
fn refusal(column: &ColumnDescriptor) -> Option<String> {
    if column.max_rep_level() > 0 {
        return Some("it holds a list in each row; give every element a column of its own".into());
    }
    // Pandas stores the row labels of a filtered or sorted frame in this way.
    if column.name().starts_with("__index_level_") {
        return Some(
            "it is the index of a data frame; name the index to have it as a column".into(),
        );
    }
    let decimal = column.converted_type() == ConvertedType::DECIMAL;
    match column.physical_type() {
        Type::INT96 => Some("its type is INT96, an old form of time; write it as seconds".into()),
        Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY if decimal => {
            Some("its type is decimal; write it as double".into())
        }
        Type::FIXED_LEN_BYTE_ARRAY => Some("its type is bytes; write it as double or text".into()),
        _ => None,
    }
}

/// One column of one row group; nothing where bytes are not text.
type Piece = Option<Values>;

/// The rows of each row group, and the pieces of each column in the order of the groups.
fn read_pieces(
    file: &SerializedFileReader<Bytes>,
    leaves: &[usize],
) -> std::result::Result<(Vec<usize>, Vec<Piece>), ParquetError> {
    let rows: Vec<usize> = file
        .metadata()
        .row_groups()
        .iter()
        .map(|group| usize::try_from(group.num_rows()))
        .collect::<std::result::Result<_, _>>()
        .map_err(|_| ParquetError::General("a row group has fewer than no rows".into()))?;
    let tasks: Vec<(usize, usize)> = leaves
        .iter()
        .flat_map(|&leaf| (0..rows.len()).map(move |group| (leaf, group)))
        .collect();
    let pieces: Vec<_> = tasks
        .into_par_iter()
        .map(|(leaf, group)| {
            let reader = file.get_row_group(group)?.get_column_reader(leaf)?;
            let schema = file.metadata().file_metadata().schema_descr();
            piece(reader, &schema.column(leaf), rows[group])
        })
        .collect();
    // In the order of the file, so that the first fault is the one reported.
    let pieces = pieces.into_iter().collect::<std::result::Result<_, _>>()?;
    Ok((rows, pieces))
}

/// Puts the pieces of one column behind each other.
fn join(pieces: impl Iterator<Item = Piece>) -> Option<Values> {
    let mut whole: Option<Values> = None;
    // Every piece is taken even after a refusal: the next column's come after them.
    let pieces: Vec<Piece> = pieces.collect();
    for piece in pieces {
        match (&mut whole, piece?) {
            (Some(Values::Numbers(all)), Values::Numbers(more)) => all.extend_from_slice(&more),
            (Some(Values::Text(all)), Values::Text(more)) => all.extend(more),
            (whole, first) => *whole = Some(first),
        }
    }
    Some(whole.unwrap_or(Values::Numbers(Vec::new())))
}

fn piece(
    reader: ColumnReader,
    column: &ColumnDescriptor,
    rows: usize,
) -> std::result::Result<Piece, ParquetError> {
    use ColumnReader as Reader;
    let unsigned = matches!(
        column.converted_type(),
        ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64
    );
    let unit = match column.converted_type() {
        ConvertedType::DECIMAL => 10f64.powi(column.type_scale()),
        _ => 1.0,
    };
    let most = column.max_def_level();
    let numbers = match reader {
        Reader::ByteArrayColumnReader(reader) => return text(reader, most, rows),
        Reader::BoolColumnReader(reader) => cells(reader, most, rows, number::EMPTY, |&value| {
            f64::from(u8::from(value))
        }),
        Reader::Int32ColumnReader(reader) if unsigned => {
            cells(reader, most, rows, number::EMPTY, |value| {
                f64::from(value.cast_unsigned())
            })
        }
        Reader::Int32ColumnReader(reader) => cells(reader, most, rows, number::EMPTY, |&value| {
            f64::from(value) / unit
        }),
        Reader::Int64ColumnReader(reader) if unsigned => {
            cells(reader, most, rows, number::EMPTY, |value| {
                value.cast_unsigned() as f64
            })
        }
        Reader::Int64ColumnReader(reader) => cells(reader, most, rows, number::EMPTY, |&value| {
            value as f64 / unit
        }),
        Reader::FloatColumnReader(reader) => {
            cells(reader, most, rows, number::EMPTY, |&value| f64::from(value))
        }
        Reader::DoubleColumnReader(reader) => {
            cells(reader, most, rows, number::EMPTY, |&value| value)
        }
        Reader::Int96ColumnReader(_) | Reader::FixedLenByteArrayColumnReader(_) => {
            Err(ParquetError::General("a column changes its type".into()))
        }
    };
    numbers.map(|numbers| Some(Values::Numbers(numbers)))
}

fn text(
    reader: ColumnReaderImpl<::parquet::data_type::ByteArrayType>,
    most: i16,
    rows: usize,
) -> std::result::Result<Piece, ParquetError> {
    let utf8 = |value: &ByteArray| String::from_utf8(value.data().to_vec()).ok();
    let texts = cells(reader, most, rows, Some(String::new()), utf8)?;
    let texts: Option<Vec<String>> = texts.into_iter().collect();
    Ok(texts.map(Values::Text))
}

/// Reads all rows of one column in one row group; `null` stands where the file has no value.
///
/// Nothing is reserved beyond what has been decoded: the number of rows that a damaged file claims
/// may be anything.
fn cells<T: DataType, V: Clone>(
    mut reader: ColumnReaderImpl<T>,
    most: i16,
    rows: usize,
    null: V,
    convert: impl Fn(&T::T) -> V,
) -> std::result::Result<Vec<V>, ParquetError> {
    let mut cells: Vec<V> = Vec::with_capacity(rows.min(1 << 20));
    let mut values = Vec::with_capacity(BATCH.min(rows));
    let mut levels: Vec<i16> = Vec::new();
    while cells.len() < rows {
        values.clear();
        levels.clear();
        let batch = BATCH.min(rows - cells.len());
        let (read, present, _) =
            reader.read_records(batch, Some(&mut levels), None, &mut values)?;
        if read == 0 {
            return Err(ParquetError::EOF(format!(
                "a column ends after {} of {rows} rows",
                cells.len()
            )));
        }
        if present == read {
            cells.extend(values.iter().map(&convert));
        } else {
            let mut values = values.iter();
            cells.extend(levels.iter().map(|&level| {
                let value = if level == most { values.next() } else { None };
                value.map_or_else(|| null.clone(), &convert)
            }));
        }
    }
    Ok(cells)
}
