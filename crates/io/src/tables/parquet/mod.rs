//! Tables from Parquet.
//!
//! Flat columns become columns of numbers or text; fields of structures are columns named by their
//! path, such as `wind.speed`. Times and dates are the numbers the file holds, in its unit; integers
//! beyond 2⁵³ are rounded, unless they are wanted as names. Lists of as many numbers in each row become a
//! column for each element where that is wanted. What cannot be a column is left out and said so when it is
//! asked for.
//!
//! Every column of every row group is read on its own, in parallel. What they will take is counted
//! before, from the footer and the headers of the pages: a file of a few hundred kilobytes can hold
//! billions of empty cells.

mod cells;
mod header;
mod lists;
mod pages;
mod quiet;

use ::parquet::basic::{ConvertedType, Type};
use ::parquet::column::reader::get_column_reader;
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;
use bytes::Bytes;
use rayon::prelude::*;

use self::cells::{Piece, Wanted};
use self::pages::{Checked, Sizes};
use self::quiet::quietly;
use crate::tables::error::{Error, Result};
use crate::tables::limit::{Exceeded, MemoryLimit};
use crate::tables::names;
use crate::tables::read::{LARGEST_FILE, ReadOptions};
use crate::tables::table::{Column, Skipped, Table, Values};

/// Bytes of the largest footer; what it describes takes some fifty times as much.
const LARGEST_FOOTER: u32 = 16 << 20;
/// Bytes of a page beyond which columns are read one after the other.
const LARGE_PAGE: u64 = 16 << 20;

/// Why a column is not read.
pub(crate) enum Refusal {
    Damaged(ParquetError),
    TooLarge(Exceeded),
}

impl From<ParquetError> for Refusal {
    fn from(error: ParquetError) -> Self {
        Self::Damaged(error)
    }
}

impl From<Exceeded> for Refusal {
    fn from(exceeded: Exceeded) -> Self {
        Self::TooLarge(exceeded)
    }
}

impl Refusal {
    fn of(self, table: &str) -> Error {
        match self {
            Self::Damaged(error) => unreadable(table, error),
            Self::TooLarge(exceeded) => Error::TooLarge {
                table: table.to_owned(),
                problem: exceeded.problem("its cells"),
            },
        }
    }
}

/// A column that is read: where it stands in the file, what it is called, and whether as text.
struct Chosen {
    leaf: usize,
    name: String,
    as_text: bool,
    /// Whether each row holds a list of numbers.
    is_list: bool,
}

impl Chosen {
    /// Its cells in a row group, as the footer has it.
    fn values(&self, group: &::parquet::file::metadata::RowGroupMetaData) -> u64 {
        match self.is_list {
            true => lists::values(group.column(self.leaf)),
            false => u64::try_from(group.num_rows()).unwrap_or(0),
        }
    }
}

/// Reads what is wanted of a table from the bytes of a file.
pub(crate) fn read(bytes: Vec<u8>, name: &str, options: &ReadOptions<'_>) -> Result<Table> {
    check_footer(&bytes, name)?;
    let bytes = Bytes::from(bytes);
    let file = quietly(|| SerializedFileReader::new(bytes.clone()))
        .map_err(|error| unreadable(name, error))?;
    let mut skipped: Vec<Skipped> = Vec::new();
    let mut all: Vec<String> = Vec::new();
    let mut chosen: Vec<Chosen> = Vec::new();
    let schema = file.metadata().file_metadata().schema_descr();
    for (leaf, descriptor) in schema.columns().iter().enumerate() {
        let path = descriptor.path().parts();
        let is_list = options.lists && lists::is_list(descriptor);
        let column = if is_list {
            path[0].clone()
        } else {
            path.join(".")
        };
        let as_text = options.is_text(&column);
        match refusal(descriptor, as_text) {
            // All parts of a list carry the name by which a user knows it.
            Some(reason) if !is_list => note(&mut skipped, path[0].clone(), reason),
            _ => {
                if options.wants(&column) {
                    chosen.push(Chosen {
                        leaf,
                        as_text,
                        name: column.clone(),
                        is_list,
                    });
                }
                all.push(column);
            }
        }
    }
    names::check(all.iter().map(String::as_str), name)?;
    let read = options.limited(|limit| -> std::result::Result<_, Refusal> {
        let (rows, pieces) = read_pieces(&file, &bytes, &chosen, limit)?;
        let columns = joined(chosen, pieces, &rows, &mut skipped, limit)?;
        Ok((rows.iter().sum(), columns))
    });
    let (rows, columns): (usize, _) = read.map_err(|refusal| refusal.of(name))?;
    if rows == 0 || (columns.is_empty() && all.is_empty()) {
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
        names: all,
        lines: None,
    })
}

/// Refuses a footer that would take more memory than any table.
fn check_footer(bytes: &[u8], name: &str) -> Result<()> {
    let length = bytes
        .len()
        .checked_sub(8)
        .and_then(|at| bytes[at..].first_chunk::<4>())
        .map_or(0, |length| u32::from_le_bytes(*length));
    if length > LARGEST_FOOTER && (length as usize) < bytes.len() {
        return Err(Error::TooLarge {
            table: name.to_owned(),
            problem: format!(
                "its footer has {length} bytes, and {LARGEST_FOOTER} is the most: write it with fewer and larger row groups"
            ),
        });
    }
    Ok(())
}

/// The columns from their pieces.
fn joined(
    chosen: Vec<Chosen>,
    pieces: Vec<Piece>,
    rows: &[usize],
    skipped: &mut Vec<Skipped>,
    limit: &MemoryLimit,
) -> std::result::Result<Vec<Column>, Refusal> {
    let mut columns = Vec::new();
    let mut pieces = pieces.into_iter();
    for column in chosen {
        let own = pieces.by_ref().take(rows.len());
        let reason = if column.is_list {
            match lists::columns(&column.name, own.collect(), rows) {
                Some(elements) => {
                    columns.extend(elements);
                    continue;
                }
                None => {
                    "its lists are not all of the same length; give every element a column of its own"
                }
            }
        } else {
            match join(own) {
                Some(values) => {
                    columns.push(Column {
                        name: column.name,
                        values: values.settled(limit)?,
                    });
                    continue;
                }
                None => "it holds bytes that are not UTF-8 text; write it as text or numbers",
            }
        };
        note(skipped, column.name, reason.into());
    }
    Ok(columns)
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

fn note(skipped: &mut Vec<Skipped>, name: String, reason: String) {
    if skipped.iter().all(|known| known.name != name) {
        skipped.push(Skipped { name, reason });
    }
}

/// Why a column cannot be read, if it cannot; one that is asked for as text is wanted under its own name.
fn refusal(column: &ColumnDescriptor, as_text: bool) -> Option<String> {
    if column.max_rep_level() > 0 {
        return Some("it holds a list in each row; give every element a column of its own".into());
    }
    // Pandas stores the row labels of a filtered or sorted frame in this way.
    if column.name().starts_with("__index_level_") && !as_text {
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

/// The rows of each row group, and the pieces of each column in the order of the groups.
fn read_pieces(
    file: &SerializedFileReader<Bytes>,
    bytes: &[u8],
    chosen: &[Chosen],
    limit: &MemoryLimit,
) -> std::result::Result<(Vec<usize>, Vec<Piece>), Refusal> {
    let groups = file.metadata().row_groups();
    let rows = rows_of(groups)?;
    let sizes = check_pages(file, bytes, chosen, &rows)?;
    let schema = file.metadata().file_metadata().schema_descr();
    let tasks: Vec<(&Chosen, usize)> = chosen
        .iter()
        .flat_map(|column| (0..rows.len()).map(move |group| (column, group)))
        .collect();
    let wanted = |&(column, group): &(&Chosen, usize)| Wanted {
        column: schema.columns()[column.leaf].as_ref(),
        rows: rows[group],
        values: column.values(&groups[group]),
        as_text: column.as_text,
        largest_page: sizes.largest,
        limit,
    };
    tasks.iter().try_for_each(|task| wanted(task).take())?;
    let read = |task: &(&Chosen, usize)| -> std::result::Result<Piece, Refusal> {
        let mut refused = None;
        let piece = quietly(|| {
            let pages = file
                .get_row_group(task.1)?
                .get_column_page_reader(task.0.leaf)?;
            let descriptor = schema.column(task.0.leaf);
            let pages = Checked {
                pages,
                kind: descriptor.physical_type(),
                nullable: descriptor.max_def_level() > 0,
            };
            match wanted(task).read(get_column_reader(descriptor, Box::new(pages))) {
                Ok(piece) => Ok(piece),
                Err(Refusal::Damaged(error)) => Err(error),
                Err(Refusal::TooLarge(exceeded)) => {
                    refused = Some(exceeded);
                    Ok(None)
                }
            }
        });
        match refused {
            Some(exceeded) => Err(Refusal::TooLarge(exceeded)),
            None => Ok(piece?),
        }
    };
    let pieces: Vec<_> = if sizes.largest > LARGE_PAGE {
        tasks.iter().map(read).collect()
    } else {
        tasks.par_iter().map(read).collect()
    };
    // In the order of the file, so that the first fault is the one reported.
    let pieces = pieces.into_iter().collect::<std::result::Result<_, _>>()?;
    Ok((rows, pieces))
}

/// The rows of each row group.
fn rows_of(
    groups: &[::parquet::file::metadata::RowGroupMetaData],
) -> std::result::Result<Vec<usize>, Refusal> {
    let rows = groups.iter().map(|group| usize::try_from(group.num_rows()));
    let rows = rows.collect::<std::result::Result<_, _>>();
    rows.map_err(|_| ParquetError::General("a row group has fewer than no rows".into()).into())
}

/// Looks at the headers of all pages that will be read.
fn check_pages(
    file: &SerializedFileReader<Bytes>,
    bytes: &[u8],
    chosen: &[Chosen],
    rows: &[usize],
) -> std::result::Result<Sizes, Refusal> {
    let mut sizes = Sizes::default();
    let mut packed = 0u64;
    for column in chosen {
        for (group, &rows) in file.metadata().row_groups().iter().zip(rows) {
            let chunk = quietly(|| Ok(group.column(column.leaf)))?;
            packed = packed.saturating_add(u64::try_from(chunk.compressed_size()).unwrap_or(0));
            // Columns that share their bytes could be made to take any time.
            if packed > bytes.len() as u64 {
                return Err(Refusal::Damaged(ParquetError::General(
                    "its columns overlap".into(),
                )));
            }
            sizes.add(
                bytes,
                chunk,
                if column.is_list {
                    None
                } else {
                    Some(rows as u64)
                },
            )?;
            if sizes.total > LARGEST_FILE {
                return Err(Refusal::TooLarge(Exceeded {
                    wanted: sizes.total,
                    most: LARGEST_FILE,
                }));
            }
        }
    }
    Ok(sizes)
}

/// Puts the pieces of one column behind each other.
fn join(pieces: impl Iterator<Item = Piece>) -> Option<Values> {
    // Every piece is taken even after a refusal: the next column's come after them.
    let pieces: Vec<Piece> = pieces.collect();
    let rows: usize = pieces.iter().flatten().map(Values::len).sum();
    let mut whole: Option<Values> = None;
    for piece in pieces {
        match (&mut whole, piece?) {
            (Some(Values::Numbers(all)), Values::Numbers(more)) => all.extend_from_slice(&more),
            (Some(Values::Text(all)), Values::Text(more)) => all.extend(more),
            (whole, mut first) => {
                // Exactly as much as is needed: a doubled column could be half of what there is.
                match &mut first {
                    Values::Numbers(all) => all.reserve_exact(rows - all.len()),
                    Values::Text(all) => all.reserve_exact(rows - all.len()),
                }
                *whole = Some(first);
            }
        }
    }
    Some(whole.unwrap_or(Values::Numbers(Vec::new())))
}
