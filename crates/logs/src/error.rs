//! What can be wrong with logs, said so that a user knows where and what to do.

use std::path::PathBuf;

use taskscout_io::tables::visible;

/// Everything that reading logs can refuse or fail at.
///
/// Each message is one sentence that names the place and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder cannot be read.
    #[error("cannot read {}: {source}; check the path and that your user may read it", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A folder holds nothing of the kind that is asked for.
    #[error("{} has no logs: looked in it and its subfolders for {looked_for}", path.display())]
    NoLogs {
        /// The folder.
        path: PathBuf,
        /// The names of files that were looked for, and what to do about it.
        looked_for: &'static str,
    },
    /// A log of a robot cannot be used.
    #[error("{} {problem}", path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to do about it.
        problem: String,
    },
    /// A folder has logs of several formats.
    #[error(
        "{} has logs of {} ({}) and of {} ({}): put them into folders of their own and name one",
        path.display(), first.0, first.1.display(), second.0, second.1.display()
    )]
    MixedFormats {
        /// The folder.
        path: PathBuf,
        /// A format and one of its files.
        first: (&'static str, PathBuf),
        /// Another one and one of its files.
        second: (&'static str, PathBuf),
    },
    /// An input or output makes no sense.
    #[error(transparent)]
    Expression(#[from] crate::expression::ExpressionError),
    /// A flight log's name does not tell what was flown.
    #[error(
        "{} is not named like a flight log: rename it to VEHICLE_TRAJECTORY_METHOD_CONDITION.csv (four parts, `-` inside a part), or move it elsewhere",
        path.display()
    )]
    FileName {
        /// The file.
        path: PathBuf,
    },
    /// Two files hold the same bytes.
    #[error(
        "{} and {} are the same file under two names: remove one, or its rows would count twice",
        first.display(), second.display()
    )]
    Repeated {
        /// The one whose name comes first.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// Two files have the same name in different folders.
    #[error(
        "{} and {} would both be called {name}: rename one of them",
        first.display(), second.display()
    )]
    SameName {
        /// The name of both recordings.
        name: String,
        /// The one whose path comes first.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// A file holds no rows.
    #[error("{} {problem}", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// What is missing and what to do about it.
        problem: &'static str,
    },
    /// The first line of a file cannot be understood.
    #[error("line {line} of {}, the header, {problem}", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong and what to do about it.
        problem: String,
    },
    /// A column that is needed is not there.
    #[error(
        "{} has no column `{column}`: flight logs need t, v, q, fa and pwm, and its columns are {columns}",
        path.display()
    )]
    MissingColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: &'static str,
        /// The columns that are there.
        columns: String,
    },
    /// A line is not a row: cut off, too long, or with broken quotes.
    #[error("line {line} of {} {problem}", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong and what to do about it.
        problem: String,
    },
    /// A cell does not hold what it should.
    #[error("line {line} of {}, column {column}, {problem}", path.display())]
    Cell {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The column's name.
        column: &'static str,
        /// What is wrong and what to do about it.
        problem: String,
    },
    /// Bad rows are to be skipped, and nothing is left.
    #[error("{what} has no row that can be used, {count} are bad; the first: {first}")]
    NoGoodRow {
        /// The file, or the task and its file.
        what: String,
        /// The number of bad rows.
        count: usize,
        /// What is wrong with the first of them.
        first: String,
    },
    /// A row of a table does not say which task it belongs to.
    #[error(
        "{place}, column {}, is empty: every row needs a task, so fill it or remove the row",
        visible(column)
    )]
    NoTask {
        /// The line or row, with the table's name.
        place: String,
        /// The column of tasks.
        column: String,
    },
    /// A table cannot be read or lacks a column.
    #[error(transparent)]
    Table(#[from] taskscout_io::tables::Error),
    /// Tables would take more memory than they may.
    #[error(
        "the tables of {} take more than {megabytes} MB of memory, the most that is read at once: move some of them elsewhere, or name fewer columns",
        path.display()
    )]
    TooLarge {
        /// The folder.
        path: PathBuf,
        /// What they may take.
        megabytes: u64,
    },
    /// The columns asked for make no sense.
    #[error("{0}")]
    Columns(String),
    /// A pattern of names cannot be understood.
    #[error("the pattern of names `{}` {problem}", visible(pattern))]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong and what to do about it.
        problem: String,
    },
    /// Labels or parameters of recordings cannot be used.
    #[error("{0}")]
    Facts(String),
    /// A task is asked for that is not there.
    #[error("there is no task `{}`{}", visible(name), hint(nearest))]
    UnknownTask {
        /// The name.
        name: String,
        /// The names most like it, the likeliest first.
        nearest: Vec<String>,
    },
    /// A recording of ROS or MCAP is damaged or cannot be understood.
    #[error("{} {problem}", path.display())]
    Bag {
        /// The file or the folder of a bag.
        path: PathBuf,
        /// What is wrong, where, and what to do about it.
        problem: String,
    },
    /// A topic or field is asked for that a recording does not have.
    #[error("{} has no `{}`{}", path.display(), visible(name), hint(nearest))]
    UnknownField {
        /// The file or the folder of a bag.
        path: PathBuf,
        /// What was asked for.
        name: String,
        /// The names most like it, the likeliest first.
        nearest: Vec<String>,
    },
}

/// The result of anything about logs that can fail.
pub type Result<T> = std::result::Result<T, Error>;

fn hint(nearest: &[String]) -> String {
    let quoted: Vec<String> = nearest
        .iter()
        .map(|name| format!("`{}`", visible(name)))
        .collect();
    match quoted.as_slice() {
        [] => ": the logs hold none".into(),
        [one] => format!(": did you mean {one}?"),
        [others @ .., last] => format!(": did you mean {} or {last}?", others.join(", ")),
    }
}
