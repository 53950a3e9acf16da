//! The records of an MCAP file, one at a time.

use std::fs::{self, File};
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::opcode;
use crate::error::{Error, Result};

/// Bytes at the beginning and at the end of a file.
const MAGIC: [u8; 8] = *b"\x89MCAP0\r\n";

/// Bytes before the content of a record.
const HEAD: u64 = 9;

/// Bytes of the largest record, which is in memory at once.
const LARGEST: u64 = 1 << 30;

/// A record.
#[derive(Debug)]
pub(super) struct Record<'a> {
    pub(super) opcode: u8,
    /// Where it begins.
    pub(super) at: u64,
    pub(super) content: &'a [u8],
    /// Whether the file ends before the record does.
    pub(super) cut: bool,
}

/// A file whose records are read from front to back.
#[derive(Debug)]
pub(super) struct Records {
    path: PathBuf,
    file: BufReader<File>,
    at: u64,
    length: u64,
    /// Whether the file has its end.
    complete: bool,
    content: Vec<u8>,
}

impl Records {
    /// Opens a file.
    ///
    /// # Errors
    /// A file that cannot be read or is no MCAP file.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = |source| Error::Read {
            path: path.to_owned(),
            source,
        };
        let about = fs::metadata(path).map_err(failed)?;
        if !about.is_file() {
            let what = io::Error::new(io::ErrorKind::InvalidInput, "it is no file");
            return Err(failed(what));
        }
        let length = about.len();
        let mut file = File::open(path).map_err(failed)?;
        let mut magic = |from: u64| -> io::Result<bool> {
            let mut bytes = [0; MAGIC.len()];
            file.seek(SeekFrom::Start(from))?;
            let whole = length >= from + MAGIC.len() as u64;
            Ok(whole && file.read_exact(&mut bytes).is_ok() && bytes == MAGIC)
        };
        let size = MAGIC.len() as u64;
        let complete = length >= 2 * size && magic(length - size).map_err(failed)?;
        if !magic(0).map_err(failed)? {
            return Err(Error::Bag {
                path: path.to_owned(),
                problem: "is not an MCAP file: it does not begin as one, so check that it was copied whole".into(),
            });
        }
        Ok(Self {
            path: path.to_owned(),
            file: BufReader::with_capacity(1 << 18, file),
            at: size,
            length: if complete { length - size } else { length },
            complete,
            content: Vec::new(),
        })
    }

    /// The next record; those that nobody needs are passed over.
    ///
    /// # Errors
    /// A file that cannot be read, or a record of a complete file that does not fit into it.
    pub(super) fn next(&mut self) -> Result<Option<Record<'_>>> {
        let failed = |source| Error::Read {
            path: self.path.clone(),
            source,
        };
        loop {
            let at = self.at;
            if self.length - at < HEAD {
                return Ok(None);
            }
            let mut head = [0; HEAD as usize];
            self.file.read_exact(&mut head).map_err(failed)?;
            let [opcode, length @ ..] = head;
            let length = u64::from_le_bytes(length);
            let left = self.length - at - HEAD;
            let cut = length > left;
            let needed = is_needed(opcode);
            if (cut && self.complete) || (needed && length.min(left) > LARGEST) {
                return Err(Error::Bag {
                    path: self.path.clone(),
                    problem: format!(
                        "is damaged at byte {at}: a record says that it has {length} bytes; `mcap recover` may save what is intact"
                    ),
                });
            }
            let length = length.min(left);
            self.at = at + HEAD + length;
            if !needed {
                let skipped = i64::try_from(length).unwrap_or(i64::MAX);
                self.file.seek_relative(skipped).map_err(failed)?;
                continue;
            }
            // Only a chunk of which a part is there has messages in that part.
            if cut && opcode != opcode::CHUNK {
                return Ok(None);
            }
            self.content.clear();
            let file = &mut self.file;
            file.take(length)
                .read_to_end(&mut self.content)
                .map_err(failed)?;
            return Ok(Some(Record {
                opcode,
                at,
                content: &self.content,
                cut,
            }));
        }
    }

    /// What to say of a file without its end.
    pub(super) fn cut_warning(&self) -> Option<String> {
        (!self.complete).then(|| {
            format!(
                "the file is cut off at byte {}: what is intact before that was read",
                self.length
            )
        })
    }
}

/// Whether messages depend on a record; indexes and attachments are passed over.
fn is_needed(kind: u8) -> bool {
    use opcode::{CHANNEL, CHUNK, DATA_END, FOOTER, HEADER, MESSAGE, METADATA, SCHEMA};
    matches!(
        kind,
        0 | HEADER | FOOTER | SCHEMA | CHANNEL | MESSAGE | CHUNK | METADATA | DATA_END
    )
}
