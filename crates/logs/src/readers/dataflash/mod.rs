//! Logs of ArduPilot vehicles (dataflash, `.bin`).
//!
//! A file is messages, each of two bytes that mark it, a byte for its type and the fields of that type. Messages of type
//! `FMT` say what the fields of the others are; `FMTU`, `UNIT` and `MULT` say what they are measured in and which field
//! counts the instances of a sensor. Every type is a series, and every instance after the first one of its own: `IMU`,
//! `IMU#1`.

mod definition;
mod finish;

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::Path;

use memchr::memmem;

use self::definition::{Definition, Units};
use super::packed::Packed;
use super::stream::Stream;
use crate::error::{Error, Result};
use crate::series::{RawRecording, Selection};

/// What every message begins with.
const HEAD: [u8; 2] = [0xa3, 0x95];
/// What every file begins with: the message that describes its own kind.
pub(super) const MARK: &[u8] = &[0xa3, 0x95, FMT];
/// The type of messages that describe types, and their length.
const FMT: u8 = 0x80;
const FMT_LENGTH: usize = 89;
/// Texts of `MSG` that are kept.
const MOST_TEXTS: usize = 50;
/// Bytes without a message that the end of a log may have: it is written in blocks.
const BLOCK: u64 = 528;

/// A log while it is read.
struct Reader<'a> {
    /// What is wanted, whatever the instance.
    selection: &'a Selection,
    /// Messages by their types.
    types: Vec<Option<Type>>,
    units: Units,
    metadata: BTreeMap<String, String>,
    texts: usize,
    warnings: Vec<String>,
    /// The last time that a message had, for those that have none.
    now: f64,
    /// Bytes that are no messages: how many, and where the first is.
    lost: Option<(u64, u64)>,
    cut: bool,
    messages: usize,
}

/// Messages of one type.
struct Type {
    definition: Definition,
    /// What is kept of them, once the first has come; nothing where nobody asked.
    kept: Option<Kept>,
    begun: bool,
}

/// Messages that are kept.
struct Kept {
    packed: Packed,
    /// The times of messages that have none of their own.
    times: Option<Vec<f64>>,
}

/// Reads a log.
pub(super) fn read(path: &Path, source: impl Read, selection: &Selection) -> Result<RawRecording> {
    let any_instance = selection.any_instance();
    let mut reader = Reader {
        selection: &any_instance,
        types: (0..256).map(|_| None).collect(),
        units: Units::default(),
        metadata: BTreeMap::new(),
        texts: 0,
        warnings: Vec::new(),
        now: 0.0,
        lost: None,
        cut: false,
        messages: 0,
    };
    reader.types[usize::from(FMT)] = Some(Type {
        definition: Definition::of_definitions(),
        kept: None,
        begun: true,
    });
    reader.run(path, &mut Stream::new(source))?;
    if reader.messages == 0 {
        return Err(refused(
            path,
            "has no data: it is cut off before the first, so copy it again or leave it out",
        ));
    }
    Ok(reader.finish(path, selection))
}

fn refused(path: &Path, problem: &str) -> Error {
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
        if !stream.peek(3).map_err(unreadable)?.starts_with(MARK) {
            return Err(refused(
                path,
                "is no ArduPilot log: it does not begin as one, so copy it again or leave it out (a text log, `.log`, is to be converted to `.bin`)",
            ));
        }
        loop {
            let next = stream.peek(3).map_err(unreadable)?;
            let Some(&[first, second, kind]) = next.first_chunk() else {
                self.cut |= !next.is_empty();
                return Ok(());
            };
            let known = self.types[usize::from(kind)].as_ref();
            let length = known.map(|known| known.definition.length);
            let Some(length) = length.filter(|_| [first, second] == HEAD) else {
                self.pass(stream).map_err(unreadable)?;
                continue;
            };
            let message = stream.peek(length).map_err(unreadable)?;
            let Some(message) = message.get(3..length) else {
                self.cut = true;
                return Ok(());
            };
            self.message(kind, message);
            stream.consume(length);
        }
    }

    /// Goes on at the next mark of a message.
    fn pass<R: Read>(&mut self, stream: &mut Stream<R>) -> std::io::Result<()> {
        let start = stream.position();
        stream.consume(1);
        let rest = stream.peek(1 << 16)?;
        let found = memmem::find(rest, &HEAD).unwrap_or(
            rest.len()
                .saturating_sub(1)
                .max(usize::from(rest.len() == 1)),
        );
        stream.consume(found);
        let (_, lost) = self.lost.get_or_insert((start, 0));
        *lost += stream.position() - start;
        Ok(())
    }

    fn message(&mut self, kind: u8, fields: &[u8]) {
        if kind == FMT {
            self.define(fields);
            return;
        }
        let Some(known) = &mut self.types[usize::from(kind)] else {
            return;
        };
        self.messages += 1;
        if let Some(time) = known.definition.time_of(fields) {
            self.now = time;
        }
        if !known.begun {
            known.begun = true;
            known.kept = begin(&known.definition, self.selection);
        }
        if let Some(kept) = &mut known.kept {
            kept.packed.push(fields);
            if let Some(times) = &mut kept.times {
                times.push(self.now);
            }
        }
        match known.definition.name.as_str() {
            "FMTU" | "UNIT" | "MULT" => self.units.add(&known.definition, fields),
            "PARM" => {
                let name = known.definition.text(fields, "Name");
                let value = known.definition.single(fields, "Value");
                if let (Some(name), Some(value)) = (name, value) {
                    let key = format!("parameter.{name}");
                    self.metadata.entry(key).or_insert(value.to_string());
                }
            }
            "MSG" if self.texts < MOST_TEXTS => {
                if let Some(text) = known.definition.text(fields, "Message") {
                    self.metadata
                        .insert(format!("message.{:02}", self.texts), text);
                    self.texts += 1;
                }
            }
            _ => {}
        }
    }

    fn define(&mut self, fields: &[u8]) {
        let Some((kind, definition)) = Definition::parse(fields) else {
            return;
        };
        let slot = &mut self.types[usize::from(kind)];
        match slot {
            Some(known) if known.definition == definition || kind == FMT => {}
            Some(known) if known.kept.is_some() => {
                self.warnings.push(format!(
                    "{} is defined a second time and differently; what comes after it is left out",
                    known.definition.name
                ));
                known.definition.length = definition.length;
                known.definition.fields.clear();
            }
            slot => {
                *slot = Some(Type {
                    definition,
                    kept: None,
                    begun: false,
                });
            }
        }
    }

    fn finish(mut self, path: &Path, selection: &Selection) -> RawRecording {
        if let Some((start, bytes)) = self.lost.filter(|&(_, bytes)| bytes >= BLOCK) {
            self.warnings.push(format!("{bytes} bytes are no messages and left out, the first at byte {start}: the log is damaged"));
        }
        if self.cut {
            self.warnings
                .push("the last message is cut off; everything before it was read".into());
        }
        let mut all = HashMap::new();
        for (kind, slot) in self.types.into_iter().enumerate() {
            let Some(Type {
                definition,
                kept: Some(kept),
                ..
            }) = slot
            else {
                continue;
            };
            let about = self.units.of(kind as u8);
            let series = kept.packed.finish(definition.name.clone(), kept.times);
            let series = series.with_text(definition.texts());
            for part in finish::parts(series, &definition, about, &self.units, selection) {
                all.entry(part.name.clone()).or_insert(part);
            }
        }
        let mut series: Vec<_> = all.into_values().collect();
        series.sort_by(|a, b| a.name.cmp(&b.name));
        let place = path.display();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        RawRecording {
            name: name.into_owned(),
            path: path.to_owned(),
            metadata: self.metadata,
            series,
            warnings: self
                .warnings
                .iter()
                .map(|text| format!("{place}: {text}"))
                .collect(),
        }
    }
}

/// What is kept of messages of a type: the wanted fields, and those that may count instances.
fn begin(definition: &Definition, selection: &Selection) -> Option<Kept> {
    let wanted = |name: &str| selection.column(&definition.name, name);
    let mut fields = definition.numbers();
    let time = definition.time();
    fields.retain(|field| time.as_ref().is_none_or(|time| time.name != field.name));
    let any = fields.iter().any(|field| wanted(&field.name));
    let any = any || definition.texts().iter().any(|name| wanted(name));
    if !any && !selection.series(&definition.name) {
        return None;
    }
    fields.retain(|field| wanted(&field.name) || definition.may_count(&field.name));
    Some(Kept {
        times: time.is_none().then(Vec::new),
        packed: Packed::new(definition.length - 3, time, fields),
    })
}
