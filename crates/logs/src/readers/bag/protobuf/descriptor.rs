//! Types of Protocol Buffers, from the bytes of a `FileDescriptorSet`.

use std::collections::{HashMap, VecDeque};

use super::wire::{Bad, Value, Wire};
use crate::ros::join;

/// Bytes of the largest set.
const LARGEST: usize = 16 << 20;

/// Names that are suggested at most.
const MOST_NAMES: usize = 2000;

/// Types inside types.
const DEEPEST: usize = 16;

/// A number as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    Double,
    Float,
    /// Of 64 and 32 bits, and enumerations.
    Int,
    Uint,
    Bool,
    Fixed32,
    Fixed64,
    Sfixed32,
    Sfixed64,
    /// Signs in the lowest bit.
    Zigzag,
}

impl Number {
    pub(super) fn wire_type(self) -> u8 {
        match self {
            Self::Double | Self::Fixed64 | Self::Sfixed64 => 1,
            Self::Float | Self::Fixed32 | Self::Sfixed32 => 5,
            Self::Int | Self::Uint | Self::Bool | Self::Zigzag => 0,
        }
    }

    /// The number of a value.
    pub(super) fn decode(self, value: &Value<'_>) -> Result<f64, Bad> {
        Ok(match (self, *value) {
            (Self::Double, Value::Fixed64(bytes)) => f64::from_le_bytes(bytes),
            (Self::Fixed64, Value::Fixed64(bytes)) => u64::from_le_bytes(bytes) as f64,
            (Self::Sfixed64, Value::Fixed64(bytes)) => i64::from_le_bytes(bytes) as f64,
            (Self::Float, Value::Fixed32(bytes)) => f64::from(f32::from_le_bytes(bytes)),
            (Self::Fixed32, Value::Fixed32(bytes)) => f64::from(u32::from_le_bytes(bytes)),
            (Self::Sfixed32, Value::Fixed32(bytes)) => f64::from(i32::from_le_bytes(bytes)),
            (Self::Int, Value::Varint(value)) => value.cast_signed() as f64,
            (Self::Uint, Value::Varint(value)) => value as f64,
            (Self::Bool, Value::Varint(value)) => f64::from(u8::from(value != 0)),
            (Self::Zigzag, Value::Varint(value)) => {
                ((value >> 1).cast_signed() ^ -((value & 1).cast_signed())) as f64
            }
            _ => return Err(Bad("a number is of another type than its schema says")),
        })
    }
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number(Number),
    /// A message, by its place.
    Message(usize),
    /// Text, bytes, groups.
    Other,
}

#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) repeated: bool,
    /// Whether a message tells that it does not have it.
    pub(super) presence: bool,
}

#[derive(Debug, Default)]
struct Type {
    name: String,
    fields: Vec<Field>,
    /// Numbers of the fields, and their places.
    by_number: HashMap<u32, usize>,
}

/// The types of a schema.
#[derive(Debug, Default)]
pub(super) struct Descriptors {
    types: Vec<Type>,
    by_name: HashMap<String, usize>,
}

/// A field whose type is still a name.
struct Unlinked {
    type_index: usize,
    field: usize,
    name: String,
}

impl Descriptors {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() > LARGEST {
            return Err(format!(
                "its schema has {} bytes, and {LARGEST} are the most that is read",
                bytes.len()
            ));
        }
        let mut found = Self::default();
        let mut unlinked = Vec::new();
        found
            .files(bytes, &mut unlinked)
            .map_err(|Bad(problem)| format!("its schema is no FileDescriptorSet: {problem}"))?;
        for missing in unlinked {
            let index = found
                .by_name
                .get(missing.name.trim_start_matches('.'))
                .copied();
            let field = &mut found.types[missing.type_index].fields[missing.field];
            field.kind = index.map_or(Kind::Other, Kind::Message);
        }
        Ok(found)
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name.trim_start_matches('.')).copied()
    }

    pub(super) fn fields(&self, type_index: usize) -> &[Field] {
        &self.types[type_index].fields
    }

    /// The place of the field of this number.
    pub(super) fn index(&self, type_index: usize, number: u32) -> Option<usize> {
        self.types[type_index].by_number.get(&number).copied()
    }

    /// The fields that could be asked for, repeated ones by their own name.
    pub(super) fn names(&self, type_index: usize) -> Vec<String> {
        let mut names = Vec::new();
        // Types may contain themselves: the outermost first, as far as names go.
        let mut waiting = VecDeque::from([(type_index, String::new())]);
        while let Some((type_index, outer)) = waiting.pop_front() {
            for field in self.fields(type_index) {
                let name = join(&outer, &field.name);
                match field.kind {
                    _ if names.len() + waiting.len() > MOST_NAMES => return names,
                    Kind::Other => {}
                    Kind::Message(inner) if !field.repeated => waiting.push_back((inner, name)),
                    _ => names.push(name),
                }
            }
        }
        names
    }

    fn files(&mut self, bytes: &[u8], unlinked: &mut Vec<Unlinked>) -> Result<(), Bad> {
        let mut set = Wire::new(bytes);
        while let Some(field) = set.next()? {
            let (1, Value::Bytes(file)) = field else {
                continue;
            };
            let mut package = "";
            let mut syntax = "";
            let mut messages = Vec::new();
            let mut wire = Wire::new(file);
            while let Some(field) = wire.next()? {
                match field {
                    (2, Value::Bytes(name)) => package = text(name)?,
                    (4, Value::Bytes(message)) => messages.push(message),
                    (12, Value::Bytes(name)) => syntax = text(name)?,
                    _ => {}
                }
            }
            for message in messages {
                self.message(message, package, syntax == "proto3", unlinked, 0)?;
            }
        }
        Ok(())
    }

    fn message(
        &mut self,
        bytes: &[u8],
        outer: &str,
        implicit: bool,
        unlinked: &mut Vec<Unlinked>,
        depth: usize,
    ) -> Result<(), Bad> {
        if depth > DEEPEST {
            return Err(Bad("its types are inside each other without end"));
        }
        let mut name = "";
        let mut wire = Wire::new(bytes);
        let (mut fields, mut nested) = (Vec::new(), Vec::new());
        while let Some(field) = wire.next()? {
            match field {
                (1, Value::Bytes(bytes)) => name = text(bytes)?,
                (2, Value::Bytes(bytes)) => fields.push(bytes),
                (3, Value::Bytes(bytes)) => nested.push(bytes),
                _ => {}
            }
        }
        let full = join(outer, name);
        let type_index = self.types.len();
        let mut one = Type {
            name: full.clone(),
            ..Type::default()
        };
        for bytes in fields {
            let (number, field, needed) = read_field(bytes, implicit)?;
            if let Some(name) = needed {
                unlinked.push(Unlinked {
                    type_index,
                    field: one.fields.len(),
                    name: name.to_owned(),
                });
            }
            one.by_number.insert(number, one.fields.len());
            one.fields.push(field);
        }
        self.by_name.insert(one.name.clone(), type_index);
        self.types.push(one);
        nested
            .into_iter()
            .try_for_each(|bytes| self.message(bytes, &full, implicit, unlinked, depth + 1))
    }
}

fn text(bytes: &[u8]) -> Result<&str, Bad> {
    std::str::from_utf8(bytes).map_err(|_| Bad("a name is no text"))
}

/// Number and field of a `FieldDescriptorProto`, and the name of its message type.
fn read_field(bytes: &[u8], implicit: bool) -> Result<(u32, Field, Option<&str>), Bad> {
    let (mut name, mut number, mut kind, mut repeated, mut explicit) = ("", 0, 0, false, false);
    let mut type_name = None;
    let mut wire = Wire::new(bytes);
    while let Some(field) = wire.next()? {
        match field {
            (1, Value::Bytes(bytes)) => name = text(bytes)?,
            (3, Value::Varint(value)) => number = u32::try_from(value).unwrap_or(0),
            (4, Value::Varint(label)) => repeated = label == 3,
            (5, Value::Varint(value)) => kind = value,
            (6, Value::Bytes(bytes)) => type_name = Some(text(bytes)?),
            // Part of a `oneof`, or `optional`, which is one of its own.
            (9, Value::Varint(_)) => explicit = true,
            _ => {}
        }
    }
    let kind_of_number = match kind {
        1 => Some(Number::Double),
        2 => Some(Number::Float),
        3 | 5 | 14 => Some(Number::Int),
        4 | 13 => Some(Number::Uint),
        6 => Some(Number::Fixed64),
        7 => Some(Number::Fixed32),
        8 => Some(Number::Bool),
        15 => Some(Number::Sfixed32),
        16 => Some(Number::Sfixed64),
        17 | 18 => Some(Number::Zigzag),
        _ => None,
    };
    let field = Field {
        name: name.to_owned(),
        kind: kind_of_number.map_or(Kind::Other, Kind::Number),
        repeated,
        presence: explicit || !implicit,
    };
    Ok((number, field, type_name.filter(|_| kind == 11)))
}
