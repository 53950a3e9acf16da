//! A SQLite file as it lies on the disk, page by page: for files that SQLite itself refuses.
//!
//! Rows lie in leaves: pages that hold rows and nothing that points to other leaves. So every row that is whole
//! can be found by looking at all pages, whatever happened to the pages that lead to it. Checksums of records
//! say which rows are what was written. Layout: <https://www.sqlite.org/fileformat2.html>.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::beside;

/// Bytes of a page of our files: SQLite's own choice, which we leave.
const PAGE: usize = 4096;
/// Bytes at the beginning of a write-ahead log, and before each of its pages.
const WAL_HEAD: u64 = 32;
const FRAME_HEAD: u64 = 24;

/// A leaf of a table, a leaf of an index.
const TABLE: u8 = 0x0d;
const INDEX: u8 = 0x0a;

/// The columns of the longest of our rows, with room.
const COLUMNS: usize = 16;

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Integer(i64),
    Bytes(Vec<u8>),
    Text(Vec<u8>),
}

/// Where a row lies: which copy of which page, and at which byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    page: usize,
    offset: usize,
}

/// All pages of a file and of the log beside it.
pub(super) struct Pages {
    file: File,
    wal: Option<File>,
    /// Where each page lies: the file's own (false) or the log's (true), and from which byte.
    places: Vec<(bool, u64)>,
    /// The latest copy of a page by its number, with the log's and without.
    newest: HashMap<u32, usize>,
    count: usize,
}

impl Pages {
    pub(super) fn open(path: &Path) -> std::io::Result<Self> {
        let file = File::open(path)?;
        // What is left of a last page that was cut is looked at too.
        let count = usize::try_from(file.metadata()?.len())
            .unwrap_or(0)
            .div_ceil(PAGE);
        let mut pages = Self {
            file,
            wal: File::open(beside(path, "-wal")).ok(),
            places: (0..count)
                .map(|page| (false, (page * PAGE) as u64))
                .collect(),
            newest: HashMap::new(),
            count,
        };
        pages.read_wal();
        Ok(pages)
    }

    /// The pages in the log. Whether they were committed does not matter here: a record whose checksum fits was
    /// meant to be there.
    fn read_wal(&mut self) {
        let Some(wal) = &mut self.wal else { return };
        let length = wal.metadata().map_or(0, |data| data.len());
        let mut at = WAL_HEAD;
        while at + FRAME_HEAD < length {
            let mut number = [0; 4];
            let read = wal
                .seek(SeekFrom::Start(at))
                .and_then(|_| wal.read_exact(&mut number));
            if read.is_err() {
                break;
            }
            self.newest
                .insert(u32::from_be_bytes(number), self.places.len());
            self.places.push((true, at + FRAME_HEAD));
            at += FRAME_HEAD + PAGE as u64;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// One page; what is beyond the end of the file is zero.
    fn page(&mut self, place: usize) -> Option<Vec<u8>> {
        let (in_wal, at) = *self.places.get(place)?;
        let file = if in_wal {
            self.wal.as_mut()?
        } else {
            &mut self.file
        };
        file.seek(SeekFrom::Start(at)).ok()?;
        let mut page = Vec::with_capacity(PAGE);
        file.take(PAGE as u64).read_to_end(&mut page).ok()?;
        page.resize(PAGE, 0);
        Some(page)
    }

    /// The rows that lie on a page, if it is a leaf, and whether it is one of an index.
    pub(super) fn cells(&mut self, place: usize) -> (Vec<Cell>, bool) {
        let none = (Vec::new(), false);
        let Some(page) = self.page(place) else {
            return none;
        };
        let start = if place == 0 { 100 } else { 0 };
        let kind = page[start];
        if kind != TABLE && kind != INDEX {
            return none;
        }
        let count = usize::from(u16::from_be_bytes([page[start + 3], page[start + 4]]));
        let pointers = page[start + 8..].chunks_exact(2).take(count.min(PAGE / 2));
        let offsets = pointers.map(|two| usize::from(u16::from_be_bytes([two[0], two[1]])));
        let inside = offsets.filter(|offset| (start + 8..PAGE).contains(offset));
        let cells = inside
            .map(|offset| Cell {
                page: place,
                offset,
            })
            .collect();
        (cells, kind == INDEX)
    }

    /// The row at a place: its number (0 in an index) and its values, with overflow pages from the log if
    /// `newest`, else from the file.
    pub(super) fn row(
        &mut self,
        cell: Cell,
        index: bool,
        newest: bool,
    ) -> Option<(i64, Vec<Value>)> {
        let page = self.page(cell.page)?;
        let mut rest = page.get(cell.offset..)?;
        let length = usize::try_from(varint(&mut rest)?).ok()?;
        let number = if index { 0 } else { varint(&mut rest)? as i64 };
        let most = if index {
            (PAGE - 12) * 64 / 255 - 23
        } else {
            PAGE - 35
        };
        if length <= most {
            return Some((number, values(rest.get(..length)?)?));
        }
        let least = (PAGE - 12) * 32 / 255 - 23;
        let local = least + (length - least) % (PAGE - 4);
        let local = if local <= most { local } else { least };
        // Not more than the file could hold: a wrong length asks for no memory.
        if length > self.places.len() * PAGE {
            return None;
        }
        let mut payload = rest.get(..local)?.to_vec();
        let mut next = next_page(rest.get(local..local + 4)?);
        while payload.len() < length {
            let from = self.copy(next, newest)?;
            let page = self.page(from)?;
            let wanted = (length - payload.len()).min(PAGE - 4);
            payload.extend_from_slice(&page[4..4 + wanted]);
            next = next_page(&page[..4]);
        }
        Some((number, values(&payload)?))
    }

    /// Where the copy of a page with this number lies.
    fn copy(&self, number: u32, newest: bool) -> Option<usize> {
        if newest && let Some(place) = self.newest.get(&number) {
            return Some(*place);
        }
        let place = usize::try_from(number).ok()?.checked_sub(1)?;
        (place < self.count).then_some(place)
    }
}

fn next_page(bytes: &[u8]) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[..4]);
    u32::from_be_bytes(word)
}

/// A number of one to nine bytes.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for place in 0..9 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if place == 8 {
            return Some(value << 8 | u64::from(byte));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(value)
}

/// The values of a row from its bytes.
fn values(payload: &[u8]) -> Option<Vec<Value>> {
    let mut head = payload;
    let length = usize::try_from(varint(&mut head)?).ok()?;
    let used = payload.len() - head.len();
    let mut kinds = payload.get(used..length)?;
    let mut rest = payload.get(length..)?;
    let mut found = Vec::new();
    while !kinds.is_empty() {
        let kind = varint(&mut kinds)?;
        found.push(value(kind, &mut rest)?);
        if found.len() > COLUMNS {
            return None;
        }
    }
    Some(found)
}

fn value(kind: u64, rest: &mut &[u8]) -> Option<Value> {
    let mut take = |count: usize| {
        let (taken, after) = rest.split_at_checked(count)?;
        *rest = after;
        Some(taken)
    };
    let integer = |bytes: &[u8]| {
        let negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
        let start = if negative { -1_i64 } else { 0 };
        bytes
            .iter()
            .fold(start, |all, byte| all << 8 | i64::from(*byte))
    };
    match kind {
        0 => Some(Value::Null),
        1..=4 => Some(Value::Integer(integer(take(usize::try_from(kind).ok()?)?))),
        5 => Some(Value::Integer(integer(take(6)?))),
        6 => Some(Value::Integer(integer(take(8)?))),
        8 | 9 => Some(Value::Integer(i64::from(kind == 9))),
        12.. => {
            let bytes = take(usize::try_from((kind - 12) / 2).ok()?)?.to_vec();
            let text = kind % 2 == 1;
            Some(if text {
                Value::Text(bytes)
            } else {
                Value::Bytes(bytes)
            })
        }
        _ => None,
    }
}
