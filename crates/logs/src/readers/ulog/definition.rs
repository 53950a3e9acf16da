//! What a message of a PX4 log is made of: `esc_status:uint64_t timestamp;esc_report[8] esc;`.

use std::collections::HashMap;

use super::super::packed::{Field, Kind};

/// Bytes that a message has at most: its length stands in 16 bits.
const LARGEST: usize = 1 << 16;
/// Kinds inside kinds inside kinds.
const DEEPEST: usize = 16;
/// Letters of the longest name.
const LONGEST: usize = 256;

/// The parts of the messages of a log, by their names.
#[derive(Debug, Default)]
pub(super) struct Definitions(HashMap<String, Vec<Part>>);

/// A field as the definition has it.
#[derive(Debug, Clone, PartialEq)]
struct Part {
    kind: String,
    /// The number of elements, if it is an array.
    count: Option<usize>,
    name: String,
}

/// The numbers of a message, at their places.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Layout {
    /// Bytes of a message, without what fills it up.
    pub(super) size: usize,
    /// Bytes of a message with it.
    pub(super) full: usize,
    pub(super) fields: Vec<Field>,
    /// Fields of letters.
    pub(super) text: Vec<String>,
    /// Parts met so far: a few definitions can stand for any number of them.
    parts: usize,
}

impl Definitions {
    /// Adds a definition; says what is wrong with one that makes no sense.
    pub(super) fn add(&mut self, text: &str) -> Result<(), String> {
        let odd = || format!("the definition `{text}` makes no sense");
        let (name, parts) = text.split_once(':').ok_or_else(odd)?;
        let parts = parts.split(';').filter(|part| !part.trim().is_empty());
        let parts: Option<Vec<Part>> = parts.map(Part::parse).collect();
        self.0.insert(name.to_owned(), parts.ok_or_else(odd)?);
        Ok(())
    }

    /// The numbers of a message.
    pub(super) fn layout(&self, message: &str) -> Result<Layout, String> {
        let mut layout = Layout::default();
        let mut at = 0;
        self.place(message, "", &mut at, 0, &mut layout)?;
        layout.full = at;
        Ok(layout)
    }

    fn place(
        &self,
        message: &str,
        before: &str,
        at: &mut usize,
        depth: usize,
        layout: &mut Layout,
    ) -> Result<(), String> {
        let parts = self.0.get(message);
        let parts = parts.ok_or_else(|| format!("no definition says what `{message}` is"))?;
        if depth > DEEPEST {
            return Err(format!("`{message}` is part of itself"));
        }
        for part in parts {
            let full = format!("{before}{}", part.name);
            if full.len() > LONGEST {
                return Err(format!(
                    "a field of `{message}` has a name that is too long"
                ));
            }
            if part.kind == "char" {
                *at += part.count.unwrap_or(1);
                layout.text.push(full);
                layout.size = *at;
                layout.check(message, *at)?;
                continue;
            }
            for index in 0..part.count.unwrap_or(1) {
                let full = match part.count {
                    Some(_) => format!("{full}[{index}]"),
                    None => full.clone(),
                };
                let start = *at;
                match number(&part.kind) {
                    Some(kind) => layout.number(full, at, kind),
                    None => self.place(&part.kind, &format!("{full}."), at, depth + 1, layout)?,
                }
                layout.check(message, *at)?;
                if *at == start {
                    break; // a kind without fields
                }
            }
        }
        Ok(())
    }
}

impl Layout {
    /// Counts a part, and refuses more than a message can have.
    fn check(&mut self, message: &str, at: usize) -> Result<(), String> {
        self.parts += 1;
        if at >= LARGEST || self.parts >= 2 * LARGEST {
            return Err(format!("`{message}` is longer than a message can be"));
        }
        Ok(())
    }

    fn number(&mut self, name: String, at: &mut usize, kind: Kind) {
        let start = *at;
        *at += kind.size();
        let last = name.rsplit('.').next().unwrap_or_default();
        if last.starts_with("_padding") {
            return; // may be missing at the end of a message
        }
        self.size = *at;
        self.fields.push(Field {
            name,
            unit: None,
            at: start,
            kind,
            divisor: 1.0,
        });
    }
}

impl Part {
    fn parse(text: &str) -> Option<Self> {
        let (kind, name) = text.trim().split_once(' ')?;
        let name = name.trim();
        let (kind, count) = match kind.split_once('[') {
            Some((kind, count)) => {
                let count: usize = count.strip_suffix(']')?.parse().ok()?;
                (kind, Some(count))
            }
            None => (kind, None),
        };
        let sound = !name.is_empty() && !kind.is_empty() && count.is_none_or(|it| it < LARGEST);
        sound.then(|| Self {
            kind: kind.to_owned(),
            count,
            name: name.to_owned(),
        })
    }
}

/// The kind of number that a name stands for.
pub(super) fn number(name: &str) -> Option<Kind> {
    Some(match name {
        "int8_t" => Kind::I8,
        "uint8_t" | "bool" => Kind::U8,
        "int16_t" => Kind::I16,
        "uint16_t" => Kind::U16,
        "int32_t" => Kind::I32,
        "uint32_t" => Kind::U32,
        "int64_t" => Kind::I64,
        "uint64_t" => Kind::U64,
        "float" => Kind::F32,
        "double" => Kind::F64,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(layout: &Layout) -> Vec<(&str, usize)> {
        let field = |field: &'_ Field| field.at;
        let names = layout.fields.iter().map(|one| one.name.as_str());
        names.zip(layout.fields.iter().map(field)).collect()
    }

    #[test]
    fn arrays_and_nested_kinds_have_places() {
        let mut known = Definitions::default();
        known
            .add("esc:uint64_t timestamp;esc_report[2] esc;char[3] id;uint8_t[5] _padding0;")
            .unwrap();
        known
            .add("esc_report:float rpm;uint8_t[3] _padding0;bool on;")
            .unwrap();
        let layout = known.layout("esc").unwrap();
        assert_eq!(
            places(&layout),
            [
                ("timestamp", 0),
                ("esc[0].rpm", 8),
                ("esc[0].on", 15),
                ("esc[1].rpm", 16),
                ("esc[1].on", 23)
            ]
        );
        assert_eq!((layout.size, layout.text), (27, vec!["id".to_owned()]));
    }

    #[test]
    fn nonsense_is_named() {
        let mut known = Definitions::default();
        for text in [
            "a",
            "a:float",
            "a:float[ x;",
            "a:float[-1] x;",
            "a:float[99999999] x;",
        ] {
            let refusal = known.add(text).unwrap_err();
            assert_eq!(refusal, format!("the definition `{text}` makes no sense"));
        }
        known.add("a:b[9] x;").unwrap();
        assert!(known.layout("a").unwrap_err().contains("`b`"));
        known.add("b:a[9] x;").unwrap();
        assert!(known.layout("a").unwrap_err().contains("part of itself"));
        known.add("b:double[9000] x;").unwrap();
        assert!(
            known
                .layout("a")
                .unwrap_err()
                .contains("longer than a message")
        );
        known.add("b:").unwrap();
        assert_eq!(known.layout("a").unwrap().size, 0);
    }
}
