//! Files: which format they are in, and what to do when they cannot be read.

use std::fs;
use std::io;
use std::path::Path;

use crate::error::{Error, Result};
use crate::table::Table;
use crate::{csv, parquet};

/// What every Parquet file begins with.
const PARQUET_MARK: &[u8] = b"PAR1";

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
        let bytes = fs::read(path).map_err(|source| Error::Read {
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
    /// or repeated, no rows, open quotes, text that is not UTF-8, a damaged Parquet file.
    pub fn read(path: impl AsRef<Path>) -> Result<Table> {
        let file = File::load(path.as_ref())?;
        match file.format {
            Format::Csv(separator) => csv::read(&file.bytes, &file.name, separator, csv::CHUNK),
            Format::Parquet => parquet::read(file.bytes, &file.name),
        }
    }

    /// Reads a table from the bytes of a CSV file; the name is for messages.
    ///
    /// # Errors
    /// As [`Table::read`].
    pub fn read_csv_text(text: &[u8], name: &str) -> Result<Table> {
        csv::read(text, name, None, csv::CHUNK)
    }

    /// Reads a table from the bytes of a Parquet file; the name is for messages.
    ///
    /// # Errors
    /// As [`Table::read`].
    pub fn read_parquet_bytes(bytes: Vec<u8>, name: &str) -> Result<Table> {
        parquet::read(bytes, name)
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
        _ => "check the disk and try again",
    }
}

#[cfg(test)]
mod tests {
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
