//! What the types of messages consist of.

use std::collections::HashMap;

use super::{idl, msg, standard};

/// Bytes of the largest text of definitions.
const LARGEST_TEXT: usize = 4 << 20;

/// Messages inside messages.
const DEEPEST: usize = 32;

/// Fields of all types that a text defines.
const MOST_FIELDS: usize = 1 << 16;

/// Numbers as they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Primitive {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Primitive {
    /// Bytes of one.
    pub(super) fn size(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }
}

/// The type of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Number(Primitive),
    Text,
    /// Text of wide letters.
    WideText,
    /// A message, by its short name.
    Message(String),
}

/// How many of them a field has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    One,
    Fixed(usize),
    Sequence,
}

/// A field of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) count: Count,
}

/// Types by their short names, `geometry_msgs/Vector3`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Definitions {
    types: HashMap<String, Vec<Field>>,
    /// Whether there is a number in a type, once its parts are known to be there.
    numbers: HashMap<String, bool>,
}

/// `package/Type` of `package/msg/Type` and `package::msg::Type`.
pub(crate) fn short_name(name: &str) -> String {
    let name = name.replace("::", "/");
    match (name.split('/').next(), name.rsplit('/').next()) {
        (Some(package), Some(last)) if name.contains('/') => format!("{package}/{last}"),
        _ => name,
    }
}

impl Definitions {
    /// The types of a text as MCAP and rosbag2 keep it: the type `root` first, then those it needs, each after a line of
    /// `=` and its name.
    ///
    /// # Errors
    /// What is wrong, with the line.
    pub(crate) fn parse(root: &str, text: &str, idl: bool) -> Result<Self, String> {
        if text.len() > LARGEST_TEXT {
            return Err(format!(
                "its definition has {} bytes, and {LARGEST_TEXT} are the most that is read",
                text.len()
            ));
        }
        let mut found = Self::default();
        for section in sections(text) {
            let name = section.name.map_or_else(|| short_name(root), short_name);
            if section.idl.unwrap_or(idl) {
                idl::parse(&section, &mut found)?;
            } else {
                msg::parse(&name, &section, &mut found)?;
            }
            let fields: usize = found.types.values().map(Vec::len).sum();
            if fields > MOST_FIELDS {
                return Err(format!("its definition has more than {MOST_FIELDS} fields"));
            }
        }
        Ok(found)
    }

    /// Adds a type; the first definition of a name counts.
    pub(super) fn add(&mut self, name: String, fields: Vec<Field>) {
        self.types.entry(name).or_insert(fields);
    }

    /// The fields of a type that is there.
    pub(crate) fn fields(&self, name: &str) -> &[Field] {
        self.types.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether there is a type of this short name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.types.contains_key(name)
    }

    /// Whether there is a number anywhere in a type.
    pub(crate) fn has_numbers(&self, kind: &Kind) -> bool {
        match kind {
            Kind::Number(_) => true,
            Kind::Text | Kind::WideText => false,
            Kind::Message(name) => self.numbers.get(name).copied().unwrap_or(false),
        }
    }

    /// Looks for all types that `root` needs, among the standard ones where the text has none.
    ///
    /// # Errors
    /// A type that is nowhere, or that contains itself.
    pub(crate) fn resolve(&mut self, root: &str) -> Result<(), String> {
        self.resolve_inside(&short_name(root), &mut Vec::new())
            .map(drop)
    }

    fn resolve_inside(&mut self, name: &str, outer: &mut Vec<String>) -> Result<bool, String> {
        if let Some(&known) = self.numbers.get(name) {
            return Ok(known);
        }
        if outer.iter().any(|known| known == name) || outer.len() > DEEPEST {
            let inside = outer.join(" in ");
            return Err(format!("its definition has {name} in {inside} without end"));
        }
        if !self.has(name) {
            standard::add(name, self)?;
        }
        let needed: Vec<Kind> = self
            .fields(name)
            .iter()
            .map(|field| field.kind.clone())
            .collect();
        outer.push(name.to_owned());
        let mut any = false;
        for kind in needed {
            any |= match kind {
                Kind::Number(_) => true,
                Kind::Text | Kind::WideText => false,
                Kind::Message(inner) => self.resolve_inside(&inner, outer)?,
            };
        }
        outer.pop();
        self.numbers.insert(name.to_owned(), any);
        Ok(any)
    }
}

/// The text of one type.
#[derive(Debug)]
pub(super) struct Section<'a> {
    /// What the line after the separator says.
    pub(super) name: Option<&'a str>,
    /// Whether it says that this is IDL.
    pub(super) idl: Option<bool>,
    /// The line of the whole text that comes before.
    pub(super) before: usize,
    pub(super) lines: Vec<&'a str>,
}

fn sections(text: &str) -> Vec<Section<'_>> {
    let empty = |before| Section {
        name: None,
        idl: None,
        before,
        lines: Vec::new(),
    };
    let mut found = vec![empty(0)];
    let mut fresh = false;
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        let separator = trimmed.len() >= 3 && trimmed.bytes().all(|byte| byte == b'=');
        if separator {
            found.push(empty(index + 1));
            fresh = true;
            continue;
        }
        let Some(section) = found.last_mut() else {
            continue;
        };
        let header = fresh.then(|| trimmed.split_once(':')).flatten();
        match header {
            Some((kind @ ("MSG" | "IDL"), name)) => {
                section.name = Some(name.trim());
                section.idl = Some(kind == "IDL");
                section.before = index + 1;
            }
            _ => section.lines.push(line),
        }
        fresh &= trimmed.is_empty();
    }
    // A text that begins with a separator has nothing before it.
    found.retain(|section| section.name.is_some() || section.before == 0);
    let blank = |section: &Section<'_>| section.lines.iter().all(|line| line.trim().is_empty());
    if found.len() > 1 && found.first().is_some_and(blank) && text.trim_start().starts_with('=') {
        found.remove(0);
    }
    found
}
