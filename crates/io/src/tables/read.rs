//! Files: which format they are in, what is wanted of them, and what to do when they cannot be read.

use std::io;
use std::path::Path;

use crate::tables::error::{Error, Result};
use crate::tables::limit::MemoryLimit;
use crate::tables::table::Table;
use crate::tables::{csv, parquet};

/// What every Parquet file begins with.
const PARQUET_MARK: &[u8] = b"PAR1";
/// The largest file that is read.
pub(crate) const LARGEST_FILE: u64 = 1 << 30;

/// What is wanted of a table, and how its file is to be read.
///
/// ```
/// use taskscout_io::tables::{ReadOptions, Table};
///
/// let text = b"task,speed\n007,1\n7,2\n";
/// let options = ReadOptions {
///     text: Some(&|column| column == "task"),
///     ..ReadOptions::default()
/// };
/// let table = Table::read_csv_text_with(text, "log.csv", &options)?;
/// assert_eq!(table.text("task")?, ["007", "7"]);
/// # Ok::<(), taskscout_io::tables::Error>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct ReadOptions<'a> {
    /// Which columns are wanted, by name; all if not given. Those that are not wanted take no memory,
    /// and of a Parquet file they are not even decoded.
    pub wanted: Option<&'a (dyn Fn(&str) -> bool + Sync)>,
    /// Which columns hold names and not numbers: their cells are text as the file has them, so that
    /// `007` and `7`, or integers of more digits than a double has, stay apart. None if not given.
    pub text: Option<&'a (dyn Fn(&str) -> bool + Sync)>,
    /// CSV: lines that begin with this character are skipped. None if not given: any line may be a row.
    pub comment: Option<u8>,
    /// Parquet: a column with a list of as many numbers in each row is read as a column for each element, `q[0]`, `q[1]`
    /// and so on; otherwise it is left out.
    pub lists: bool,
    /// How much memory the cells may take; half a gigabyte if not given.
    pub limit: Option<&'a MemoryLimit>,
}

impl std::fmt::Debug for ReadOptions<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ReadOptions")
            .field("wanted", &self.wanted.is_some())
            .field("text", &self.text.is_some())
            .field("comment", &self.comment)
            .field("lists", &self.lists)
            .field("limit", &self.limit)
            .finish()
    }
}

impl ReadOptions<'_> {
    pub(crate) fn wants(&self, column: &str) -> bool {
        self.wanted.is_none_or(|wanted| wanted(column))
    }

    pub(crate) fn is_text(&self, column: &str) -> bool {
        self.text.is_some_and(|text| text(column))
    }

    /// Does something under the limit, or under one of its own.
    pub(crate) fn limited<T>(&self, work: impl FnOnce(&MemoryLimit) -> T) -> T {
        match self.limit {
            Some(limit) => work(limit),
            None => work(&MemoryLimit::default()),
        }
    }
}

/// A file before it is parsed.
pub(crate) struct File {
    pub(crate) bytes: Vec<u8>,
    /// Its name without its folder, for messages.
    pub(crate) name: String,
    pub(crate) format: Format,
}

/// How a file is to be parsed.
pub(crate) enum Format {
    /// With this separator, or the one that is found.
    Csv(Option<u8>),
    Parquet,
}

impl File {
    pub(crate) fn load(path: &Path) -> Result<Self> {
        let bytes = crate::files::read(path, LARGEST_FILE).map_err(|source| Error::Read {
            path: path.to_owned(),
            remedy: remedy(path, &source),
            source,
        })?;
        let name = path.file_name().map_or_else(
            || path.display().to_string(),
            |name| name.to_string_lossy().into_owned(),
        );
        let extension = path
            .extension()
            .map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        let format = match extension.as_deref() {
            Some("csv") => Format::Csv(None),
            Some("tsv") => Format::Csv(Some(b'\t')),
            Some("parquet") => Format::Parquet,
            _ if bytes.starts_with(PARQUET_MARK) => Format::Parquet,
            _ => Format::Csv(None),
        };
        Ok(Self {
            bytes,
            name,
            format,
        })
    }
}

impl Table {
    /// Reads a table from a file.
    ///
    /// The format follows from the extension: `.csv`, `.tsv` or `.parquet`; any other file is told
    /// by its content.
    ///
    /// # Errors
    /// If the file cannot be read, or its content is not a table: ragged rows, names that are empty
    /// or repeated, no rows, open quotes, text that is not UTF-8, a damaged Parquet file; or if it is
    /// too large.
    pub fn read(path: impl AsRef<Path>) -> Result<Table> {
        Table::read_with(path, &ReadOptions::default())
    }

    /// Reads what is wanted of a table from a file.
    ///
    /// # Errors
    /// As [`Table::read`].
    pub fn read_with(path: impl AsRef<Path>, options: &ReadOptions<'_>) -> Result<Table> {
        let file = File::load(path.as_ref())?;
        match file.format {
            Format::Csv(separator) => {
                csv::read(&file.bytes, &file.name, separator, csv::CHUNK, options)
            }
            Format::Parquet => parquet::read(file.bytes, &file.name, options),
        }
    }

    /// Reads a table from the bytes of a CSV file; the name is for messages.
    ///
    /// # Errors
    /// As [`Table::read`].
    pub fn read_csv_text(text: &[u8], name: &str) -> Result<Table> {
        Table::read_csv_text_with(text, name, &ReadOptions::default())
    }

    /// Reads what is wanted of a table from the bytes of a CSV file; the name is for messages.
    ///
    /// # Errors
    /// As [`Table::read`].
    pub fn read_csv_text_with(text: &[u8], name: &str, options: &ReadOptions<'_>) -> Result<Table> {
        csv::read(text, name, None, csv::CHUNK, options)
    }

    /// Reads a table from the bytes of a Parquet file; the name is for messages.
    ///
    /// # Errors
    /// As [`Table::read`].
    pub fn read_parquet_bytes(bytes: Vec<u8>, name: &str) -> Result<Table> {
        Table::read_parquet_bytes_with(bytes, name, &ReadOptions::default())
    }

    /// Reads what is wanted of a table from the bytes of a Parquet file; the name is for messages.
    ///
    /// # Errors
    /// As [`Table::read`].
    pub fn read_parquet_bytes_with(
        bytes: Vec<u8>,
        name: &str,
        options: &ReadOptions<'_>,
    ) -> Result<Table> {
        parquet::read(bytes, name, options)
    }
}

fn remedy(path: &Path, error: &io::Error) -> &'static str {
    match error.kind() {
        // Reading a folder fails in a different way on each system.
        _ if path.is_dir() => "it is a folder, name a file inside it",
        io::ErrorKind::NotFound => "check the spelling and the folder you are in",
        io::ErrorKind::NotADirectory => "a part of the path is a file, check the path",
        io::ErrorKind::PermissionDenied => "make the file readable for your user",
        io::ErrorKind::OutOfMemory => "the file does not fit in memory, split it",
        io::ErrorKind::InvalidInput => "write the table to a file and name that",
        io::ErrorKind::FileTooLarge => "split the table",
        _ => "check the disk and try again",
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn names_file_and_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let refusal = |path: &Path| Table::read(path).unwrap_err().to_string();
        let message = refusal(&folder.path().join("winds.csv"));
        assert!(message.contains("winds.csv"), "{message}");
        assert!(message.ends_with("check the spelling and the folder you are in"));
        assert!(refusal(folder.path()).ends_with("it is a folder, name a file inside it"));
        let file = folder.path().join("file");
        fs::write(&file, "a\n1\n").unwrap();
        assert!(refusal(&file.join("x.csv")).ends_with("check the path"));
    }

    #[test]
    fn extension_and_content_decide() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            Table::read(path)
        };
        let table = write("a.TSV", b"x,1\ty\n1\t2\n").unwrap();
        assert_eq!(table.numeric_columns(), ["x,1", "y"]);
        assert_eq!(table.name(), "a.TSV");
        let table = write("winds", b"x,y\n1,2\n").unwrap();
        assert_eq!(table.numeric_columns(), ["x", "y"]);
        for name in ["log", "log.parquet"] {
            let message = write(name, b"PAR1 and no more").unwrap_err().to_string();
            assert!(
                message.contains(" cannot be read as Parquet: "),
                "{message}"
            );
        }
    }
}
