//! Every answer of a program in a file, so that it need not be asked again.
//!
//! A line for each request, `{"request": …, "rows": [[x…, y], …]}`, written as soon as the answer is
//! there. Answers that failed are kept with their `error` and the rows that had come, for people;
//! they are passed over when the file is read again. A torn last line is cut off.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use taskscout::{Error, Result};

use super::protocol::Request;

/// A journal: first read, then written.
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// Where reading stands; none once it is over.
    reader: Option<BufReader<File>>,
    /// The length of what holds.
    length: u64,
}

/// A line of the journal.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    request: Request,
    rows: Vec<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// What the journal knows of a request.
pub(super) enum Known {
    /// Its rows, one behind the other.
    Rows(Vec<f64>),
    /// Nothing.
    Nothing,
    /// Nothing, and what stood there is another story.
    Otherwise,
}

impl Journal {
    /// Opens a journal, or begins one.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = |error: std::io::Error| unusable(path, "open", &error);
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(failed)?;
        let reader = BufReader::new(File::open(path).map_err(failed)?);
        Ok(Self {
            path: path.to_owned(),
            file,
            reader: Some(reader),
            length: 0,
        })
    }

    /// What it has for the next request, whose rows have so many numbers.
    pub(super) fn next(&mut self, request: &Request, width: usize) -> Result<Known> {
        while let Some(reader) = &mut self.reader {
            let mut line = Vec::new();
            reader
                .read_until(b'\n', &mut line)
                .map_err(|error| unusable(&self.path, "read", &error))?;
            let whole = line.ends_with(b"\n");
            let entry: Option<Entry> = serde_json::from_slice(&line).ok().filter(|_| whole);
            match entry {
                Some(entry) if entry.error.is_some() => self.length += line.len() as u64,
                Some(entry) if entry.answers(request, width) => {
                    self.length += line.len() as u64;
                    return Ok(Known::Rows(entry.rows.concat()));
                }
                other => {
                    self.cut()?;
                    // A torn line is no other story.
                    return Ok(match other {
                        Some(_) => Known::Otherwise,
                        None => Known::Nothing,
                    });
                }
            }
        }
        Ok(Known::Nothing)
    }

    /// Keeps an answer, or as much of it as came before an error.
    pub(super) fn keep(
        &mut self,
        request: &Request,
        rows: &[f64],
        width: usize,
        error: Option<String>,
    ) -> Result<()> {
        let entry = Entry {
            request: request.clone(),
            rows: rows.chunks(width).map(<[f64]>::to_vec).collect(),
            error,
        };
        let mut line = serde_json::to_vec(&entry)
            .map_err(|error| unusable(&self.path, "write", &error.into()))?;
        line.push(b'\n');
        self.file
            .write_all(&line)
            .map_err(|error| unusable(&self.path, "write", &error))?;
        self.length += line.len() as u64;
        Ok(())
    }

    /// How much of it holds.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Takes back what came after a length.
    pub(super) fn take_back(&mut self, length: u64) -> Result<()> {
        self.length = length;
        self.cut()
    }

    /// Ends reading; what does not hold is gone.
    fn cut(&mut self) -> Result<()> {
        self.reader = None;
        let cut = self
            .file
            .set_len(self.length)
            .and_then(|()| self.file.seek(SeekFrom::End(0)));
        cut.map(|_| ())
            .map_err(|error| unusable(&self.path, "write", &error))
    }
}

impl Entry {
    /// Whether it is the whole answer to a request.
    fn answers(&self, request: &Request, width: usize) -> bool {
        self.request == *request
            && self.rows.len() == request.count
            && self.rows.iter().all(|row| row.len() == width)
    }
}

fn unusable(path: &Path, verb: &str, error: &std::io::Error) -> Error {
    Error::numerical(
        format!("keeping the rows of a program in {}", path.display()),
        format!("cannot {verb} it: {error}; check the folder and run again with --resume"),
    )
}
