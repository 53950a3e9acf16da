//! MCAP files: the messages of all channels, in one pass from front to back.
//!
//! ```text
//! magic · header · (schema · channel · message | chunk of these | …) · data end · summary · footer · magic
//! ```
//!
//! Nothing of the summary is needed, so a file whose writer was killed is read as far as it goes, with a warning.
//! Damage inside a complete file is an error: its chunks have checksums.

mod chunk;
mod fields;
mod records;

use std::collections::HashMap;
use std::path::Path;

use self::fields::Fields;
use self::records::{Record, Records};
use super::bag::{Bag, Declared, TopicId};
use crate::error::{Error, Result};

/// Kinds of records.
mod opcode {
    pub(super) const HEADER: u8 = 0x01;
    pub(super) const FOOTER: u8 = 0x02;
    pub(super) const SCHEMA: u8 = 0x03;
    pub(super) const CHANNEL: u8 = 0x04;
    pub(super) const MESSAGE: u8 = 0x05;
    pub(super) const CHUNK: u8 = 0x06;
    pub(super) const METADATA: u8 = 0x0c;
    pub(super) const DATA_END: u8 = 0x0f;
}

/// What is wrong with a record.
type Problem = String;

/// Reads all messages of a file into a bag.
///
/// # Errors
/// A file that cannot be read, is no MCAP file, or is damaged.
pub(super) fn read_into(path: &Path, bag: &mut Bag<'_>) -> Result<()> {
    let refuse = |problem: Problem| Error::Bag {
        path: path.to_owned(),
        problem,
    };
    let mut records = Records::open(path)?;
    let mut file = File::default();
    bag.metadata.insert("format".into(), "MCAP".into());
    while let Some(record) = records.next()? {
        let at = record.at;
        let read = match record.opcode {
            opcode::DATA_END | opcode::FOOTER => break,
            opcode::CHUNK => file.chunk(&record, bag),
            _ => file.record(record.opcode, record.content, bag),
        };
        match read {
            Ok(()) => {}
            Err(_) if record.cut => break,
            Err(problem) => {
                return Err(refuse(format!(
                    "is damaged at byte {at}: {problem}; `mcap recover` may save what is intact"
                )));
            }
        }
    }
    if let Some(warning) = records.cut_warning() {
        bag.warnings.push(warning);
    }
    if file.undeclared > 0 {
        bag.warnings.push(format!(
            "{} messages of channels that the file does not declare are left out",
            file.undeclared
        ));
    }
    Ok(())
}

#[derive(Debug)]
struct Schema {
    name: String,
    encoding: String,
    data: Vec<u8>,
}

/// What a file has declared so far.
#[derive(Debug, Default)]
struct File {
    schemas: HashMap<u16, Schema>,
    channels: HashMap<u16, TopicId>,
    undeclared: usize,
    /// Bytes of the last chunk, for the next.
    unpacked: Vec<u8>,
}

impl File {
    /// Takes what a record outside or inside a chunk says.
    fn record(
        &mut self,
        kind: u8,
        content: &[u8],
        bag: &mut Bag<'_>,
    ) -> std::result::Result<(), Problem> {
        let mut fields = Fields::new(content);
        match kind {
            opcode::MESSAGE => {
                let channel = fields.u16()?;
                let _sequence = fields.u32()?;
                let log_time = fields.u64()?;
                let _publish_time = fields.u64()?;
                match self.channels.get(&channel) {
                    Some(topic) => bag.message(*topic, nanoseconds(log_time), fields.rest())?,
                    None => self.undeclared += 1,
                }
            }
            opcode::SCHEMA => {
                let id = fields.u16()?;
                let schema = Schema {
                    name: fields.text()?.to_owned(),
                    encoding: fields.text()?.to_owned(),
                    data: fields.bytes()?.to_vec(),
                };
                self.schemas.insert(id, schema);
            }
            opcode::CHANNEL => self.channel(&mut fields, bag)?,
            opcode::HEADER => {
                for key in ["profile", "library"] {
                    let text = fields.text()?;
                    if !text.is_empty() {
                        bag.metadata.insert(key.into(), text.to_owned());
                    }
                }
            }
            opcode::METADATA => {
                let name = fields.text()?;
                for (key, value) in fields.map()? {
                    bag.metadata
                        .insert(format!("{name}.{key}"), value.to_owned());
                }
            }
            0 => return Err("a record of kind 0, which does not exist".into()),
            _ => {}
        }
        Ok(())
    }

    fn channel(
        &mut self,
        fields: &mut Fields<'_>,
        bag: &mut Bag<'_>,
    ) -> std::result::Result<(), Problem> {
        let id = fields.u16()?;
        let schema_id = fields.u16()?;
        let topic = fields.text()?;
        let encoding = fields.text()?;
        let schema = self.schemas.get(&schema_id);
        let topic = bag.topic(&Declared {
            topic,
            type_name: schema.map_or("", |schema| &schema.name),
            encoding,
            schema_encoding: schema.map_or("", |schema| &schema.encoding),
            schema: schema.map_or(&[], |schema| &schema.data),
        });
        self.channels.insert(id, topic);
        Ok(())
    }

    fn chunk(
        &mut self,
        record: &Record<'_>,
        bag: &mut Bag<'_>,
    ) -> std::result::Result<(), Problem> {
        let mut unpacked = std::mem::take(&mut self.unpacked);
        let records = chunk::unpack(record, &mut unpacked)?;
        let mut rest = records;
        let outcome = loop {
            if rest.is_empty() {
                break Ok(());
            }
            let Some((kind, content, after)) = fields::split_record(rest) else {
                break Err("a record in a chunk is longer than the chunk".to_owned());
            };
            if let Err(problem) = self.record(kind, content, bag) {
                break Err(problem);
            }
            rest = after;
        };
        self.unpacked = unpacked;
        outcome
    }
}

/// Nanoseconds as SQLite has them too; times past the year 2262 are as good as none.
fn nanoseconds(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}
