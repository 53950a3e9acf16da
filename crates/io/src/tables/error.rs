//! What can go wrong, said so that a user knows where and what to do.

use std::path::PathBuf;

use crate::tables::visible::name as shown;

/// Everything this crate can refuse or fail at.
///
/// Each message is one sentence that names the place and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be opened or read.
    #[error("cannot read {}: {source}; {remedy}", shown(&path.display().to_string()))]
    Read {
        /// The file.
        path: PathBuf,
        /// What to do about it.
        remedy: &'static str,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] crate::files::WriteError),
    /// A line of a CSV file cannot be understood.
    #[error("line {line} of {}: {problem}", shown(table))]
    Line {
        /// The table's name, normally its file name.
        table: String,
        /// The line in the file, counted from 1.
        line: usize,
        /// What is wrong and what to do about it.
        problem: String,
    },
    /// A row has more or fewer cells than there are columns.
    #[error(
        "line {line} of {} has {found} cells but the first line has {expected}: {remedy}",
        shown(table)
    )]
    Ragged {
        /// The table's name.
        table: String,
        /// The line in the file, counted from 1.
        line: usize,
        /// The number of cells in the row.
        found: usize,
        /// The number of columns.
        expected: usize,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A file holds no table at all, or one without rows.
    #[error("{} {problem}", shown(table))]
    Empty {
        /// The table's name.
        table: String,
        /// What is missing and what to do about it.
        problem: &'static str,
    },
    /// The names of the columns cannot be used.
    #[error("{}: {problem}", shown(table))]
    Names {
        /// The table's name.
        table: String,
        /// What is wrong and what to do about it.
        problem: String,
    },
    /// A column is asked for that is not there.
    #[error("{} has no column `{}`{}: the columns are {columns}", shown(table), shown(column), hint(nearest.as_deref()))]
    MissingColumn {
        /// The table's name.
        table: String,
        /// The column asked for.
        column: String,
        /// The column whose name is most alike, if any is.
        nearest: Option<String>,
        /// The columns that are there, for the message.
        columns: String,
    },
    /// A column is there but of a kind that this crate does not read.
    #[error(
        "column {} of {} cannot be read: {reason}",
        shown(column),
        shown(table)
    )]
    SkippedColumn {
        /// The table's name.
        table: String,
        /// The column.
        column: String,
        /// Why, and what to do about it.
        reason: String,
    },
    /// Numbers are asked for where there is text.
    #[error(
        "{place}, column {}, holds `{cell}`, which is not a number: {remedy}",
        shown(column)
    )]
    NotNumber {
        /// The line or row, with the table's name.
        place: String,
        /// The column.
        column: String,
        /// The first cell that is not a number, shortened if it is long.
        cell: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// Numbers are asked for and one of them is missing, not a number or infinite.
    #[error(
        "{place}, column {}, is {value}: every value must be finite, so repair or remove the row",
        shown(column)
    )]
    NotFinite {
        /// The line or row, with the table's name.
        place: String,
        /// The column.
        column: String,
        /// `empty`, `nan`, `inf` or `-inf`.
        value: &'static str,
    },
    /// Bad rows are to be left out, and nothing is left.
    #[error(
        "{} has no row that can be used, {count} are bad; the first: {first}",
        shown(table)
    )]
    NoGoodRow {
        /// The table's name.
        table: String,
        /// The number of bad rows.
        count: usize,
        /// What is wrong with the first of them.
        first: String,
    },
    /// A table would take more memory than it may.
    #[error("{} is too large: {problem}", shown(table))]
    TooLarge {
        /// The table's name.
        table: String,
        /// What it would take, and what to do about it.
        problem: String,
    },
    /// A Parquet file is damaged or uses what this crate cannot read.
    #[error("{} cannot be read as Parquet: {problem}; {remedy}", shown(table))]
    Parquet {
        /// The table's name.
        table: String,
        /// What the reader met.
        problem: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// The columns to be written are not a table.
    #[error("cannot write {}: {problem}", shown(&path.display().to_string()))]
    Columns {
        /// The file.
        path: PathBuf,
        /// What is wrong with the columns.
        problem: String,
    },
}

/// The result of anything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| {
        format!(" (did you mean `{}`?)", shown(name))
    })
}
