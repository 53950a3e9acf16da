//! Tables as MCAP, so that Foxglove, Rerun and others show them beside a robot's own recording.
//!
//! Every row is a message of Protocol Buffers with a field for each column; the schema comes with the file. The time of a
//! message is that of a column called `time`, `t`, `time_s` or `timestamp`, in seconds; without one, rows are a second
//! apart. Messages are in chunks with an index, as viewers expect.
//!
//! ```
//! use taskscout_io::tables::{Column, write_mcap};
//!
//! let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("predictions.mcap");
//! let columns = [Column::numbers("t", vec![0.0, 0.02]), Column::numbers("force z (N)", vec![-9.7, -9.8])];
//! write_mcap(&path, &columns)?;
//! assert!(std::fs::read(&path).unwrap().ends_with(b"\x89MCAP0\r\n"));
//! # Ok::<(), taskscout_io::tables::Error>(())
//! ```

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::tables::error::{Error, Result};
use crate::tables::table::{Column, Values};
use crate::tables::write::check;

const MAGIC: &[u8; 8] = b"\x89MCAP0\r\n";
/// Bytes of messages gathered before a chunk is written.
const CHUNK: usize = 1 << 20;
/// Columns that tell the time of a row, the likeliest first.
pub const TIME_COLUMNS: [&str; 4] = ["time", "t", "time_s", "timestamp"];
/// The type of a row.
const PACKAGE: &str = "taskscout";
const TYPE: &str = "Row";

/// Kinds of records.
mod opcode {
    pub(super) const HEADER: u8 = 0x01;
    pub(super) const FOOTER: u8 = 0x02;
    pub(super) const SCHEMA: u8 = 0x03;
    pub(super) const CHANNEL: u8 = 0x04;
    pub(super) const MESSAGE: u8 = 0x05;
    pub(super) const CHUNK: u8 = 0x06;
    pub(super) const MESSAGE_INDEX: u8 = 0x07;
    pub(super) const CHUNK_INDEX: u8 = 0x08;
    pub(super) const STATISTICS: u8 = 0x0b;
    pub(super) const DATA_END: u8 = 0x0f;
}

/// Writes columns as an MCAP file with one topic, which has the name of the file, replacing the file in one step.
///
/// # Errors
/// If the columns differ in length, have no or equal names, a time is not finite, or the file cannot be written.
pub fn write_mcap(path: impl AsRef<Path>, columns: &[Column]) -> Result<()> {
    let path = path.as_ref();
    let rows = check(path, columns)?;
    let times = times(path, columns, rows)?;
    let topic = format!(
        "/{}",
        path.file_stem().unwrap_or_default().to_string_lossy()
    );
    crate::files::replace(path, |file| {
        let mut writer = Writer::new(BufWriter::new(file), &topic, columns)?;
        for (row, time) in times.iter().enumerate() {
            writer.message(*time, row, columns)?;
        }
        writer.finish()
    })?;
    Ok(())
}

/// Nanoseconds of each row, none before zero.
fn times(path: &Path, columns: &[Column], rows: usize) -> Result<Vec<u64>> {
    let numbers = |name: &&str| {
        let column = columns.iter().find(|column| column.name == **name)?;
        match &column.values {
            Values::Numbers(numbers) => Some((column, numbers)),
            Values::Text(_) => None,
        }
    };
    let Some((column, seconds)) = TIME_COLUMNS.iter().find_map(numbers) else {
        return Ok((0..rows as u64).map(|row| row * 1_000_000_000).collect());
    };
    if let Some(row) = seconds.iter().position(|time| !time.is_finite()) {
        return Err(Error::Columns {
            path: path.to_owned(),
            problem: format!(
                "row {} has no time in the column `{}`: fill it, or rename the column if it is no time",
                row + 1,
                column.name
            ),
        });
    }
    // A clock that began before zero is moved, since there are no times before it in the format.
    let start = seconds.iter().fold(0.0_f64, |least, time| least.min(*time));
    Ok(seconds
        .iter()
        .map(|time| ((time - start) * 1e9).round() as u64)
        .collect())
}

/// A record while its fields are written.
#[derive(Default)]
struct Record(Vec<u8>);

impl Record {
    fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    fn u16(self, value: u16) -> Self {
        self.bytes(&value.to_le_bytes())
    }

    fn u32(self, value: u32) -> Self {
        self.bytes(&value.to_le_bytes())
    }

    fn u64(self, value: u64) -> Self {
        self.bytes(&value.to_le_bytes())
    }

    /// Bytes with their length before them.
    fn sized(self, bytes: &[u8]) -> Self {
        self.u32(bytes.len() as u32).bytes(bytes)
    }

    /// The whole record.
    fn finish(self, opcode: u8) -> Vec<u8> {
        let mut record = vec![opcode];
        record.extend((self.0.len() as u64).to_le_bytes());
        record.extend(self.0);
        record
    }
}

/// What the index says of a chunk.
struct Chunk {
    first: u64,
    last: u64,
    at: u64,
    length: u64,
    index_at: u64,
    index_length: u64,
    size: u64,
}

struct Writer<W> {
    file: W,
    at: u64,
    /// Schema and channel, which stand before the messages and again in the summary.
    declarations: Vec<u8>,
    gathered: Vec<u8>,
    /// Time and place of each message gathered.
    places: Vec<(u64, u64)>,
    chunks: Vec<Chunk>,
    messages: u64,
    message: Vec<u8>,
}

impl<W: Write> Writer<W> {
    fn new(file: W, topic: &str, columns: &[Column]) -> io::Result<Self> {
        let schema = Record::default()
            .u16(1)
            .sized(format!("{PACKAGE}.{TYPE}").as_bytes())
            .sized(b"protobuf")
            .sized(&descriptors(columns));
        let channel = Record::default()
            .u16(0)
            .u16(1)
            .sized(topic.as_bytes())
            .sized(b"protobuf")
            .u32(0);
        let declarations = [
            schema.finish(opcode::SCHEMA),
            channel.finish(opcode::CHANNEL),
        ]
        .concat();
        let mut writer = Self {
            file,
            at: 0,
            gathered: declarations.clone(),
            declarations,
            places: Vec::new(),
            chunks: Vec::new(),
            messages: 0,
            message: Vec::new(),
        };
        let library = concat!("taskscout ", env!("CARGO_PKG_VERSION"));
        let header = Record::default().u32(0).sized(library.as_bytes());
        writer.put(MAGIC)?;
        writer.put(&header.finish(opcode::HEADER))?;
        Ok(writer)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    fn message(&mut self, time: u64, row: usize, columns: &[Column]) -> io::Result<()> {
        self.message.clear();
        for (index, column) in columns.iter().enumerate() {
            let number = index as u64 + 1;
            match &column.values {
                Values::Numbers(numbers) => {
                    varint(&mut self.message, number << 3 | 1);
                    self.message.extend(numbers[row].to_le_bytes());
                }
                Values::Text(texts) => field(&mut self.message, number, texts[row].as_bytes()),
            }
        }
        self.places.push((time, self.gathered.len() as u64));
        let record = Record::default()
            .u16(0)
            .u32(self.messages as u32)
            .u64(time)
            .u64(time)
            .bytes(&self.message);
        self.gathered.extend(record.finish(opcode::MESSAGE));
        self.messages += 1;
        match self.gathered.len() >= CHUNK {
            true => self.chunk(),
            false => Ok(()),
        }
    }

    /// Writes what is gathered, with its index.
    fn chunk(&mut self) -> io::Result<()> {
        let gathered = std::mem::take(&mut self.gathered);
        let places = std::mem::take(&mut self.places);
        let times = || places.iter().map(|(time, _)| *time);
        let (first, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
        let size = gathered.len() as u64;
        let chunk = Record::default()
            .u64(first)
            .u64(last)
            .u64(size)
            .u32(crc32fast::hash(&gathered))
            .u32(0)
            .u64(size)
            .bytes(&gathered);
        let at = self.at;
        self.put(&chunk.finish(opcode::CHUNK))?;
        let index_at = self.at;
        let mut pairs = Record::default();
        for (time, place) in places {
            pairs = pairs.u64(time).u64(place);
        }
        let index = Record::default().u16(0).sized(&pairs.0);
        self.put(&index.finish(opcode::MESSAGE_INDEX))?;
        self.chunks.push(Chunk {
            first,
            last,
            at,
            length: index_at - at,
            index_at,
            index_length: self.at - index_at,
            size,
        });
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        if !self.gathered.is_empty() {
            self.chunk()?;
        }
        self.put(&Record::default().u32(0).finish(opcode::DATA_END))?;
        let summary = self.at;
        let declarations = std::mem::take(&mut self.declarations);
        self.put(&declarations)?;
        let chunks = std::mem::take(&mut self.chunks);
        let first = chunks.iter().map(|chunk| chunk.first).min().unwrap_or(0);
        let last = chunks.iter().map(|chunk| chunk.last).max().unwrap_or(0);
        let counts = Record::default().u16(0).u64(self.messages);
        let statistics = Record::default()
            .u64(self.messages)
            .u16(1)
            .u32(1)
            .u32(0)
            .u32(0)
            .u32(chunks.len() as u32)
            .u64(first)
            .u64(last)
            .sized(&counts.0);
        self.put(&statistics.finish(opcode::STATISTICS))?;
        for chunk in &chunks {
            let offsets = Record::default().u16(0).u64(chunk.index_at);
            let index = Record::default()
                .u64(chunk.first)
                .u64(chunk.last)
                .u64(chunk.at)
                .u64(chunk.length)
                .sized(&offsets.0)
                .u64(chunk.index_length)
                .u32(0)
                .u64(chunk.size)
                .u64(chunk.size);
            self.put(&index.finish(opcode::CHUNK_INDEX))?;
        }
        let footer = Record::default().u64(summary).u64(0).u32(0);
        self.put(&footer.finish(opcode::FOOTER))?;
        self.put(MAGIC)?;
        self.file.flush()
    }
}

fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// A field of bytes.
fn field(bytes: &mut Vec<u8>, number: u64, content: &[u8]) {
    varint(bytes, number << 3 | 2);
    varint(bytes, content.len() as u64);
    bytes.extend(content);
}

/// A field of a whole number.
fn number(bytes: &mut Vec<u8>, field: u64, value: u64) {
    varint(bytes, field << 3);
    varint(bytes, value);
}

/// The type of a row as a `FileDescriptorSet`: doubles and texts, each once.
fn descriptors(columns: &[Column]) -> Vec<u8> {
    const OPTIONAL: u64 = 1;
    const DOUBLE: u64 = 1;
    const STRING: u64 = 9;
    let mut message = Vec::new();
    field(&mut message, 1, TYPE.as_bytes());
    for (index, (column, name)) in columns.iter().zip(field_names(columns)).enumerate() {
        let kind = match column.values {
            Values::Numbers(_) => DOUBLE,
            Values::Text(_) => STRING,
        };
        let mut one = Vec::new();
        field(&mut one, 1, name.as_bytes());
        number(&mut one, 3, index as u64 + 1);
        number(&mut one, 4, OPTIONAL);
        number(&mut one, 5, kind);
        field(&mut one, 10, name.as_bytes());
        field(&mut message, 2, &one);
    }
    let mut file = Vec::new();
    field(&mut file, 1, b"row.proto");
    field(&mut file, 2, PACKAGE.as_bytes());
    field(&mut file, 4, &message);
    field(&mut file, 12, b"proto3");
    let mut set = Vec::new();
    field(&mut set, 1, &file);
    set
}

/// Names of columns as names of fields: letters, digits and `_`, none twice.
fn field_names(columns: &[Column]) -> Vec<String> {
    let mut taken = HashSet::new();
    let name = |column: &Column| {
        let plain = |letter: char| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '_'
            }
        };
        let mut name: String = column.name.chars().map(plain).collect();
        while name.contains("__") {
            name = name.replace("__", "_");
        }
        name = name.trim_end_matches('_').to_owned();
        if !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
            name.insert(0, '_');
        }
        let mut unique = name.clone();
        let mut count = 1;
        // Tools tell names apart without their case and without `_`.
        while !taken.insert(unique.to_ascii_lowercase().replace('_', "")) {
            count += 1;
            unique = format!("{name}_{count}");
        }
        unique
    };
    columns.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_fields_are_plain_and_unique() {
        let names = ["force z (N)", "force_z_N", "q[0]", "2nd", "", "é"];
        let columns = names.map(|name| Column::numbers(name, vec![]));
        assert_eq!(
            field_names(&columns),
            ["force_z_N", "force_z_N_2", "q_0", "_2nd", "_", "__2"]
        );
    }

    #[test]
    fn times_are_those_of_the_column_and_never_before_zero() {
        let path = Path::new("a.mcap");
        let column = |times: &[f64]| [Column::numbers("t", times.to_vec())];
        assert_eq!(
            times(path, &column(&[0.5, 2.0]), 2).unwrap(),
            [500_000_000, 2_000_000_000]
        );
        assert_eq!(
            times(path, &column(&[-0.5, 2.0]), 2).unwrap(),
            [0, 2_500_000_000]
        );
        assert_eq!(
            times(path, &[Column::numbers("x", vec![7.0; 2])], 2).unwrap(),
            [0, 1_000_000_000]
        );
        let message = times(path, &column(&[0.0, f64::NAN]), 2)
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("row 2 has no time in the column `t`"),
            "{message}"
        );
    }
}
