//! What can go wrong, said so that a user knows where and what to do.

/// Everything this crate can refuse or fail at.
///
/// Each message is one sentence that names the place and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A results table cannot be understood.
    #[error("{table}, line {line}, column `{column}`: {problem}")]
    Csv {
        /// The table's name, normally its path.
        table: String,
        /// The line in the file, counted from 1; the header is line 1.
        line: usize,
        /// The column's name in the header.
        column: String,
        /// What is wrong and what is expected.
        problem: String,
    },
    /// A file or stream cannot be read.
    #[error("cannot read {name}: {source}; check that it exists and is a UTF-8 text file")]
    Read {
        /// The name of what was being read.
        name: String,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A stream cannot be written.
    #[error("cannot write the results table: {source}; check the disk or pipe it goes to")]
    Stream {
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] taskscout_io::files::WriteError),
    /// A folder that no report can be made of, or into.
    #[error("{path}: {problem}")]
    Folder {
        /// The folder, or a file in it.
        path: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// There is nothing to summarise.
    #[error("there are no result rows to report: run the experiment first")]
    NoRows,
    /// Rows of several experiments or oracles were given as one.
    #[error(
        "the rows mix {what} `{first}` and `{other}`: split them with `split_experiments` and report each on its own"
    )]
    Mixed {
        /// `experiment` or `oracle`.
        what: &'static str,
        /// The first value met.
        first: String,
        /// The one that differs.
        other: String,
    },
    /// Something was said about a target that no row has.
    #[error("the summary has no target `{target}`: name one of `{known}`")]
    UnknownTarget {
        /// The name given.
        target: String,
        /// The targets that there are.
        known: String,
    },
    /// The same measurement is there twice.
    #[error(
        "strategy `{strategy}`, seed {seed}, round {round} is there twice{}: remove one of the rows",
        target.as_ref().map(|name| format!(" for target `{name}`")).unwrap_or_default()
    )]
    Duplicate {
        /// The strategy of both rows.
        strategy: String,
        /// The target of both rows.
        target: Option<String>,
        /// The seed of both rows.
        seed: u64,
        /// The round of both rows.
        round: usize,
    },
}

/// The result of anything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;
