//! Logs of PX4 vehicles (ULog, `.ulg`).
//!
//! A file is a header of 16 bytes and messages, each with its length (16 bits), a letter for its kind and its content:
//! definitions (`F`), what is said of the log (`I`), parameters (`P`), subscriptions (`A`), data (`D`), dropouts (`O`)
//! and marks to find the way again after damage (`S`). Every subscription is a series. A log whose last message is cut
//! off is normal: the vehicle was switched off.

mod definition;
mod facts;
mod faults;

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::Path;

use memchr::memmem;

use self::definition::Definitions;
use self::faults::Faults;
use super::packed::Packed;
use super::stream::Stream;
use crate::error::{Error, Result};
use crate::series::{RawRecording, Selection};

/// What every file begins with.
pub(super) const MARK: &[u8] = b"ULog\x01\x12\x35";
const HEADER: usize = 16;
/// What a mark of synchronisation holds.
const SYNC: [u8; 8] = [0x2f, 0x73, 0x13, 0x20, 0x25, 0x0c, 0xbb, 0x12];
/// Bytes of a message of an unknown kind beyond which it is taken for damage.
const LARGEST_UNKNOWN: usize = 10_000;
/// Columns of a log: messages of thousands of bytes cannot make them take much more memory than the file.
const MOST_COLUMNS: usize = 1 << 18;
/// Series of a log; what each consists of has to be found out.
const MOST_SERIES: usize = 1 << 12;

/// A log while it is read.
struct Reader<'a> {
    selection: &'a Selection,
    definitions: Definitions,
    /// What the data of each number belong to.
    subscriptions: Vec<Subscription>,
    /// The wanted series: name, fields of text, messages.
    series: Vec<(String, Vec<String>, Messages)>,
    places: HashMap<String, usize>,
    metadata: BTreeMap<String, String>,
    faults: Faults,
    columns: usize,
    /// Series met so far, wanted or not.
    met: usize,
    /// Where parts begin that were appended later; what is before them may be cut.
    appended: Vec<u64>,
    has_data: bool,
}

/// Messages of a series, and how long each is.
struct Messages {
    packed: Packed,
    size: usize,
    full: usize,
}

/// What the data of a number belong to.
#[derive(Clone)]
enum Subscription {
    /// Nothing was said of it.
    Unknown,
    /// A message and its series, whose first data are still to come.
    Named { message: String, series: String },
    /// The series at this place.
    Series(usize),
    /// Nobody asked for it.
    Unwanted,
}

/// Reads a log.
pub(super) fn read(path: &Path, source: impl Read, selection: &Selection) -> Result<RawRecording> {
    let mut reader = Reader {
        selection,
        definitions: Definitions::default(),
        subscriptions: Vec::new(),
        series: Vec::new(),
        places: HashMap::new(),
        metadata: BTreeMap::new(),
        faults: Faults::default(),
        columns: 0,
        met: 0,
        appended: Vec::new(),
        has_data: false,
    };
    reader.run(path, &mut Stream::new(source))?;
    if !reader.has_data {
        return Err(refused(
            path,
            "has no data: it is cut off before the first, so copy it again or leave it out",
        ));
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut series: Vec<_> = reader
        .series
        .into_iter()
        .map(|(name, text, messages)| messages.packed.finish(name, None).with_text(text))
        .collect();
    series.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(RawRecording {
        name: name.into_owned(),
        path: path.to_owned(),
        metadata: reader.metadata,
        series,
        warnings: reader.faults.warnings(path),
    })
}

fn refused(path: &Path, problem: impl Into<String>) -> Error {
    Error::Log {
        path: path.to_owned(),
        problem: problem.into(),
    }
}

impl Reader<'_> {
    fn run<R: Read>(&mut self, path: &Path, stream: &mut Stream<R>) -> Result<()> {
        let unreadable = |source| Error::Read {
            path: path.to_owned(),
            source,
        };
        let head = stream.peek(HEADER).map_err(unreadable)?;
        if head.len() < HEADER || !head.starts_with(MARK) {
            return Err(refused(
                path,
                "is no PX4 log: it does not begin as one, so copy it again or leave it out",
            ));
        }
        stream.consume(HEADER);
        loop {
            let at = stream.position();
            let limit = self.appended.first().map(|&end| end.saturating_sub(at));
            let next = stream.peek(3).map_err(unreadable)?;
            if next.is_empty() {
                return Ok(());
            }
            let length = next.first_chunk::<3>().map(|head| {
                let [low, high, _] = *head;
                3 + usize::from(u16::from_le_bytes([low, high]))
            });
            // What was being written when the vehicle stopped ends where the appended part begins.
            if let Some(limit) = limit.filter(|&limit| length.is_none_or(|it| it as u64 > limit)) {
                self.appended.remove(0);
                let skipped = usize::try_from(limit).unwrap_or(usize::MAX);
                skip(stream, skipped).map_err(unreadable)?;
                continue;
            }
            let Some(length) = length else {
                self.faults.cut = true;
                return Ok(());
            };
            let message = stream.peek(length).map_err(unreadable)?;
            let Some(message) = message.get(..length) else {
                self.faults.cut = true;
                return Ok(());
            };
            if self.message(path, message[2], &message[3..], at)? {
                stream.consume(length);
            } else {
                stream.consume(1);
                let found = resume(stream).map_err(unreadable)?;
                self.faults.lost(at, stream.position(), found);
                if !found {
                    return Ok(());
                }
            }
        }
    }

    /// Takes in a message; false where it is none.
    fn message(&mut self, path: &Path, kind: u8, content: &[u8], at: u64) -> Result<bool> {
        match kind {
            b'D' => self.data(path, content, at)?,
            b'A' => self.subscribe(content, at),
            b'F' => match std::str::from_utf8(content) {
                Ok(text) => {
                    let added = self.definitions.add(text);
                    self.faults.note(added.err());
                }
                Err(_) => self.faults.odd(at),
            },
            b'I' | b'P' if !facts::add(kind, content, &mut self.metadata) => self.faults.odd(at),
            b'O' => match content.first_chunk() {
                Some(duration) => self.faults.dropout(u16::from_le_bytes(*duration)),
                None => self.faults.odd(at),
            },
            b'B' => self.flags(path, content)?,
            b'I' | b'P' | b'M' | b'Q' | b'R' | b'L' | b'C' | b'S' => {}
            kind => {
                let damaged = kind == 0 || content.is_empty() || content.len() > LARGEST_UNKNOWN;
                return Ok(!damaged);
            }
        }
        Ok(true)
    }

    #[inline]
    fn data(&mut self, path: &Path, content: &[u8], at: u64) -> Result<()> {
        let Some((number, values)) = content.split_first_chunk() else {
            self.faults.odd(at);
            return Ok(());
        };
        let number = usize::from(u16::from_le_bytes(*number));
        if matches!(
            self.subscriptions.get(number),
            Some(Subscription::Named { .. })
        ) {
            self.first(path, number)?;
        }
        match self.subscriptions.get(number) {
            Some(&Subscription::Series(place)) => {
                let (_, _, messages) = &mut self.series[place];
                if (messages.size..=messages.full).contains(&values.len()) {
                    messages.packed.push(values);
                    self.has_data = true;
                } else {
                    self.faults.odd(at);
                }
            }
            Some(Subscription::Unwanted) => self.has_data = true,
            _ => self.faults.odd(at),
        }
        Ok(())
    }

    /// What the data of a number belong to, which is known when the first come.
    fn first(&mut self, path: &Path, number: usize) -> Result<()> {
        let slot = std::mem::replace(&mut self.subscriptions[number], Subscription::Unwanted);
        let Subscription::Named { message, series } = slot else {
            return Ok(());
        };
        if !self.places.contains_key(&series) {
            self.begin(path, &message, &series)?;
        }
        if let Some(&place) = self.places.get(&series) {
            self.subscriptions[number] = Subscription::Series(place);
        }
        Ok(())
    }

    /// Makes room for the messages of a series, unless nobody asked for it.
    fn begin(&mut self, path: &Path, message: &str, series: &str) -> Result<()> {
        self.met += 1;
        if self.met > MOST_SERIES {
            let problem = format!(
                "has more than {MOST_SERIES} series: it is damaged, so copy it again or leave it out"
            );
            return Err(refused(path, problem));
        }
        let layout = self.definitions.layout(message);
        let found = layout.and_then(|layout| {
            let mut fields = layout.fields.iter();
            let time = fields.position(|field| field.name == "timestamp");
            Ok((time.ok_or("it has no field `timestamp`")?, layout))
        });
        let (time, layout) = match found {
            Ok(found) => found,
            Err(problem) => {
                let remark = format!("{series} is left out: {problem}");
                self.faults.note(Some(remark));
                return Ok(());
            }
        };
        let mut fields = layout.fields;
        let mut time = fields.remove(time);
        time.divisor = 1e6;
        let wanted = |name: &str| self.selection.column(series, name);
        fields.retain(|field| wanted(&field.name));
        let text: Vec<String> = layout
            .text
            .into_iter()
            .filter(|name| wanted(name))
            .collect();
        if fields.is_empty() && text.is_empty() && !self.selection.series(series) {
            return Ok(());
        }
        self.columns += fields.len() + text.len();
        if self.columns > MOST_COLUMNS {
            return Err(refused(
                path,
                format!("has more than {MOST_COLUMNS} columns: name fewer of them"),
            ));
        }
        let messages = Messages {
            packed: Packed::new(layout.size, Some(time), fields),
            size: layout.size,
            full: layout.full,
        };
        self.places.insert(series.to_owned(), self.series.len());
        self.series.push((series.to_owned(), text, messages));
        Ok(())
    }

    fn subscribe(&mut self, content: &[u8], at: u64) {
        let Some((&[instance, low, high], name)) = content.split_first_chunk() else {
            return self.faults.odd(at);
        };
        let Ok(message) = std::str::from_utf8(name) else {
            return self.faults.odd(at);
        };
        let number = usize::from(u16::from_le_bytes([low, high]));
        if self.subscriptions.len() <= number {
            self.subscriptions.resize(number + 1, Subscription::Unknown);
        }
        self.subscriptions[number] = Subscription::Named {
            message: message.to_owned(),
            series: match instance {
                0 => message.to_owned(),
                instance => format!("{message}#{instance}"),
            },
        };
    }

    /// What a reader must know to read the log at all.
    fn flags(&mut self, path: &Path, content: &[u8]) -> Result<()> {
        let (flags, offsets) = content.split_at(content.len().min(16));
        let unknown = flags.iter().skip(8).enumerate();
        if unknown
            .into_iter()
            .any(|(index, &flag)| flag & !u8::from(index == 0) != 0)
        {
            return Err(refused(
                path,
                "was written by a newer PX4 in a way that cannot be read: export it with its own tools",
            ));
        }
        if flags.get(8).is_some_and(|flag| flag & 1 == 1) {
            let offsets = offsets
                .chunks_exact(8)
                .filter_map(|bytes| bytes.first_chunk());
            self.appended = offsets.map(|bytes| u64::from_le_bytes(*bytes)).collect();
            self.appended.retain(|&offset| offset > 0);
            self.appended.sort_unstable();
        }
        Ok(())
    }
}

/// Goes on behind so many bytes.
fn skip<R: Read>(stream: &mut Stream<R>, mut bytes: usize) -> std::io::Result<()> {
    while bytes > 0 {
        let seen = stream.peek(1)?.len().min(bytes);
        if seen == 0 {
            break;
        }
        stream.consume(seen);
        bytes -= seen;
    }
    Ok(())
}

/// Goes on behind the next mark of synchronisation; false if there is none.
fn resume<R: Read>(stream: &mut Stream<R>) -> std::io::Result<bool> {
    let mark = memmem::Finder::new(&SYNC);
    loop {
        let seen = stream.peek(1 << 16)?;
        match mark.find(seen) {
            Some(place) => {
                stream.consume(place + SYNC.len());
                return Ok(true);
            }
            None if seen.len() < SYNC.len() => {
                let rest = seen.len();
                stream.consume(rest);
                return Ok(false);
            }
            None => {
                let passed = seen.len() + 1 - SYNC.len();
                stream.consume(passed);
            }
        }
    }
}
