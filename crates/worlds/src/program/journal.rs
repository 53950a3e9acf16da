//! Every answer of a program in a file, so that it need not be asked again.
//!
//! A line for each request, `{"request": …, "rows": [[x…, y…], …]}`, written as soon as the answer is
//! there, with the number of `crashes` on the way to it if there were any. Answers that failed are kept
//! with their `error` and the rows that had come, for people; they are passed over when the file is
//! read again.
//!
//! A request finds its answer wherever that stands in the file, so that a damaged line costs its own
//! answer and no other. Lines that cannot be read, or must not be used, are moved to a file beside this
//! one ([`set_aside`]): nothing that a program said is thrown away.

use std::collections::{HashMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use taskscout::{Error, Result};

use super::protocol::Request;

/// A journal: what it holds is found by request, what is new goes to its end.
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// Where answers to a request stand that have not been used yet, the oldest first.
    answers: HashMap<String, VecDeque<Place>>,
    /// The length of the file.
    length: u64,
    /// Lines that could not be read, counted from 1.
    damaged: Vec<usize>,
    /// Whether an answer was found to lack rows or numbers.
    unfit: bool,
}

/// A line of the file.
#[derive(Debug, Clone, Copy)]
struct Place {
    start: u64,
    bytes: usize,
}

/// What a line of the journal says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    request: Request,
    rows: Vec<Vec<f64>>,
    /// How often the program crashed on the way to this answer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) crashes: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Entry {
    /// An answer, or as much of it as came; rows have so many numbers.
    pub(super) fn new(request: &Request, rows: &[f64], width: usize, crashes: usize) -> Self {
        Self {
            request: request.clone(),
            rows: rows.chunks(width).map(<[f64]>::to_vec).collect(),
            crashes,
            error: None,
        }
    }

    /// Whether it is the whole answer to a request.
    fn answers(&self, request: &Request, width: usize) -> bool {
        self.request == *request
            && self.rows.len() == request.count
            && self.rows.iter().all(|row| row.len() == width)
    }
}

/// Where lines of a journal go that cannot be used.
#[must_use]
pub fn set_aside(journal: &Path) -> PathBuf {
    let mut name = journal.as_os_str().to_owned();
    name.push(".set-aside");
    name.into()
}

impl Journal {
    /// Opens a journal, or begins one. Lines that cannot be read are set aside.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = |error: std::io::Error| unusable(path, "open", &error);
        let bytes = match std::fs::read(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            read => read.map_err(failed)?,
        };
        let mut journal = Sorted::new(&bytes);
        if journal.sound != bytes {
            if !journal.unsound.is_empty() {
                append(&set_aside(path), &journal.unsound).map_err(failed)?;
            }
            taskscout_io::files::write_atomically(path, &journal.sound)
                .map_err(|error| failed(error.source))?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path);
        Ok(Self {
            path: path.to_owned(),
            file: file.map_err(failed)?,
            answers: std::mem::take(&mut journal.answers),
            length: journal.sound.len() as u64,
            damaged: journal.damaged,
            unfit: false,
        })
    }

    /// Lines that could not be read when it was opened, counted from 1; told once.
    pub(super) fn take_damaged(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.damaged)
    }

    /// The rows of a request, one behind the other, if it has them; rows have so many numbers.
    pub(super) fn find(&mut self, request: &Request, width: usize) -> Result<Option<Vec<f64>>> {
        let key = key(request).map_err(|error| unusable(&self.path, "read", &error))?;
        while let Some(place) = self.answers.get_mut(&key).and_then(VecDeque::pop_front) {
            let entry = self.entry(place);
            let entry = entry.map_err(|error| unusable(&self.path, "read", &error))?;
            if entry.answers(request, width) {
                return Ok(Some(entry.rows.concat()));
            }
            self.unfit = true;
        }
        Ok(None)
    }

    /// Whether an answer was found since to lack rows or numbers; told once.
    pub(super) fn take_unfit(&mut self) -> bool {
        std::mem::take(&mut self.unfit)
    }

    /// Whether it has answers that no request has used.
    pub(super) fn has_unused(&self) -> bool {
        self.answers.values().any(|places| !places.is_empty())
    }

    fn entry(&self, place: Place) -> std::io::Result<Entry> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(place.start))?;
        let mut line = vec![0; place.bytes];
        file.read_exact(&mut line)?;
        Ok(serde_json::from_slice(&line)?)
    }

    /// Keeps an answer, or as much of it as came before an error.
    pub(super) fn keep(&mut self, entry: &Entry) -> Result<()> {
        let mut line = serde_json::to_vec(entry)
            .map_err(|error| unusable(&self.path, "write", &error.into()))?;
        line.push(b'\n');
        if let Err(error) = self.file.write_all(&line) {
            // Half a line would spoil the next one; of two failures the first is the one to tell.
            let _ = self.file.set_len(self.length);
            return Err(unusable(&self.path, "write", &error));
        }
        self.length += line.len() as u64;
        Ok(())
    }

    /// The length of the file.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Sets aside what came after a length.
    pub(super) fn take_back(&mut self, length: u64) -> Result<()> {
        let moved = || -> std::io::Result<()> {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(length))?;
            let mut tail = Vec::new();
            file.read_to_end(&mut tail)?;
            append(&set_aside(&self.path), &tail)?;
            self.file.set_len(length)
        };
        moved().map_err(|error| unusable(&self.path, "write", &error))?;
        self.length = length;
        Ok(())
    }
}

/// The lines of a journal, those that can be read apart from those that cannot.
#[derive(Default)]
struct Sorted {
    sound: Vec<u8>,
    unsound: Vec<u8>,
    answers: HashMap<String, VecDeque<Place>>,
    damaged: Vec<usize>,
}

impl Sorted {
    fn new(bytes: &[u8]) -> Self {
        let mut sorted = Self::default();
        for (index, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
            // The last line may have lost its end.
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let entry = serde_json::from_slice::<Entry>(line);
            let entry = entry.and_then(|entry| Ok((serde_json::to_string(&entry.request)?, entry)));
            let to = match &entry {
                Ok(_) => &mut sorted.sound,
                Err(_) => &mut sorted.unsound,
            };
            let place = Place {
                start: to.len() as u64,
                bytes: line.len(),
            };
            to.extend(line);
            to.push(b'\n');
            match entry {
                Ok((key, entry)) if entry.error.is_none() => {
                    sorted.answers.entry(key).or_default().push_back(place);
                }
                Ok(_) => {}
                Err(_) => sorted.damaged.push(index + 1),
            }
        }
        sorted
    }
}

/// Requests are the same if they are written the same.
fn key(request: &Request) -> std::io::Result<String> {
    Ok(serde_json::to_string(request)?)
}

fn append(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn unusable(path: &Path, verb: &str, error: &std::io::Error) -> Error {
    Error::io(
        format!("keeping the rows of a program in {}", path.display()),
        format!("cannot {verb} it: {error}; check the folder and run again with --resume"),
    )
}
