//! What the fields of messages are, and what they are measured in.

use std::collections::HashMap;

use super::super::packed::{Field, Kind, column};

/// What the fields of a type of messages are.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Definition {
    pub(super) name: String,
    /// Bytes of a message with its mark.
    pub(super) length: usize,
    pub(super) fields: Vec<Part>,
}

/// A field.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub(super) name: String,
    /// The letter of its kind.
    letter: u8,
    at: usize,
}

/// Bytes of a field, and what kind of number it is with what it is divided by; none for text and arrays.
fn kind(letter: u8) -> Option<(usize, Option<(Kind, f64)>)> {
    let number = |kind: Kind, divisor| Some((kind.size(), Some((kind, divisor))));
    match letter {
        b'b' | b'M' => number(Kind::I8, 1.0),
        b'B' => number(Kind::U8, 1.0),
        b'h' => number(Kind::I16, 1.0),
        b'H' => number(Kind::U16, 1.0),
        b'i' => number(Kind::I32, 1.0),
        b'I' => number(Kind::U32, 1.0),
        b'q' => number(Kind::I64, 1.0),
        b'Q' => number(Kind::U64, 1.0),
        b'g' => number(Kind::F16, 1.0),
        b'f' => number(Kind::F32, 1.0),
        b'd' => number(Kind::F64, 1.0),
        b'c' => number(Kind::I16, 1e2),
        b'C' => number(Kind::U16, 1e2),
        b'e' => number(Kind::I32, 1e2),
        b'E' => number(Kind::U32, 1e2),
        b'L' => number(Kind::I32, 1e7),
        b'n' => Some((4, None)),
        b'N' => Some((16, None)),
        b'Z' | b'a' => Some((64, None)),
        _ => None,
    }
}

/// Text up to its first zero.
fn until_zero(bytes: &[u8]) -> String {
    let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

impl Definition {
    /// The definition of definitions.
    pub(super) fn of_definitions() -> Self {
        Self {
            name: "FMT".into(),
            length: super::FMT_LENGTH,
            fields: Vec::new(),
        }
    }

    /// What a message says of a type; none where it makes no sense.
    pub(super) fn parse(bytes: &[u8]) -> Option<(u8, Self)> {
        let (&[kind_of, length], rest) = bytes.split_first_chunk()?;
        let (name, rest) = rest.split_at_checked(4)?;
        let (letters, names) = rest.split_at_checked(16)?;
        let (letters, names) = (until_zero(letters), until_zero(names));
        let mut at = 0;
        let mut fields = Vec::new();
        for (letter, name) in letters.bytes().zip(names.split(',')) {
            let (size, _) = kind(letter)?;
            let name = name.trim().to_owned();
            fields.push(Part { name, letter, at });
            at += size;
        }
        let length = usize::from(length);
        let name = until_zero(name);
        let sound = length >= 3 + at && at > 0 && !name.is_empty();
        sound.then_some((
            kind_of,
            Self {
                name,
                length,
                fields,
            },
        ))
    }

    /// All numbers; the elements of an array are numbers of their own.
    pub(super) fn numbers(&self) -> Vec<Field> {
        let mut numbers = Vec::new();
        for part in &self.fields {
            let field = |name, at, kind, divisor| Field {
                name,
                unit: None,
                at,
                kind,
                divisor,
            };
            if part.letter == b'a' {
                let element = |index: usize| {
                    field(
                        format!("{}[{index}]", part.name),
                        part.at + 2 * index,
                        Kind::I16,
                        1.0,
                    )
                };
                numbers.extend((0..32).map(element));
            } else if let Some((_, Some((kind, divisor)))) = kind(part.letter) {
                numbers.push(field(part.name.clone(), part.at, kind, divisor));
            }
        }
        numbers
    }

    /// The fields of text.
    pub(super) fn texts(&self) -> Vec<String> {
        let is_text = |part: &&Part| matches!(part.letter, b'n' | b'N' | b'Z');
        self.fields
            .iter()
            .filter(is_text)
            .map(|part| part.name.clone())
            .collect()
    }

    /// The field of time, in seconds.
    pub(super) fn time(&self) -> Option<Field> {
        let mut numbers = self.numbers().into_iter();
        let mut time = numbers.find(|field| matches!(field.name.as_str(), "TimeUS" | "TimeMS"))?;
        time.divisor = if time.name == "TimeUS" { 1e6 } else { 1e3 };
        Some(time)
    }

    /// Whether a field may count instances.
    pub(super) fn may_count(&self, name: &str) -> bool {
        let mut fields = self.fields.iter();
        fields.any(|part| part.letter == b'B' && part.name == name)
    }

    /// The time of a message, in seconds.
    pub(super) fn time_of(&self, message: &[u8]) -> Option<f64> {
        // Almost every log has its time in microseconds at the beginning of a message.
        let first = self.fields.first()?;
        if first.name == "TimeUS" && first.letter == b'Q' {
            let bytes = message.first_chunk()?;
            return Some(u64::from_le_bytes(*bytes) as f64 / 1e6);
        }
        let time = self.time()?;
        let mut values = Vec::new();
        column(message, message.len(), &time, &mut values);
        values.first().copied()
    }

    fn part(&self, name: &str) -> Option<&Part> {
        self.fields.iter().find(|part| part.name == name)
    }

    /// The text of a field of a message.
    pub(super) fn text(&self, message: &[u8], name: &str) -> Option<String> {
        let part = self.part(name)?;
        let (size, number) = kind(part.letter)?;
        let bytes = message.get(part.at..part.at + size)?;
        number.is_none().then(|| until_zero(bytes))
    }

    /// The number in a field of a message.
    pub(super) fn number(&self, message: &[u8], name: &str) -> Option<f64> {
        let mut numbers = self.numbers().into_iter();
        let field = numbers.find(|field| field.name == name)?;
        let mut values = Vec::new();
        column(message, message.len(), &field, &mut values);
        values.first().copied()
    }

    /// The number in a field of single precision, in its own digits.
    pub(super) fn single(&self, message: &[u8], name: &str) -> Option<f32> {
        self.number(message, name).map(|value| value as f32)
    }
}

/// What fields are measured in.
#[derive(Debug, Default)]
pub(super) struct Units {
    /// Letters for units and for multiples, of each type.
    of_types: HashMap<u8, (String, String)>,
    labels: HashMap<char, String>,
    multiples: HashMap<char, f64>,
}

impl Units {
    /// Adds what a message says.
    pub(super) fn add(&mut self, definition: &Definition, message: &[u8]) {
        let text = |name| definition.text(message, name);
        let number = |name| definition.number(message, name);
        let letter = || Some(char::from(number("Id")? as u8));
        match definition.name.as_str() {
            "UNIT" => self.labels.extend(letter().zip(text("Label"))),
            "MULT" => self.multiples.extend(letter().zip(number("Mult"))),
            _ => {
                let letters = text("UnitIds").zip(text("MultIds"));
                let kind = number("FmtType").map(|kind| kind as u8);
                self.of_types.extend(kind.zip(letters));
            }
        }
    }

    /// The letters for units and multiples of a type.
    pub(super) fn of(&self, kind: u8) -> Option<&(String, String)> {
        self.of_types.get(&kind)
    }

    /// The unit of a field with these letters; a multiple is part of it where the field is stored as it is.
    pub(super) fn unit(&self, unit: char, multiple: Option<char>, part: &Part) -> Option<String> {
        let label = self.labels.get(&unit).filter(|label| !label.is_empty())?;
        let scaled = matches!(kind(part.letter), Some((_, Some((_, divisor)))) if divisor > 1.0);
        let multiple = multiple
            .and_then(|letter| self.multiples.get(&letter))
            .copied();
        let Some(multiple) = multiple.filter(|_| !scaled) else {
            return Some(label.clone());
        };
        // Stored as single precision and written as double.
        let near = |value: f64| (multiple / value - 1.0).abs() < 1e-6;
        let prefixes = [
            (1e-1, "d"),
            (1e-2, "c"),
            (1e-3, "m"),
            (1e-6, "µ"),
            (1e-9, "n"),
        ];
        let prefix = prefixes.iter().find(|(value, _)| near(*value));
        Some(match prefix {
            Some((_, prefix)) => format!("{prefix}{label}"),
            None if multiple.abs() < f64::MIN_POSITIVE || near(1.0) => label.clone(),
            None => format!("{multiple} {label}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_no_definition() {
        let message = |length: u8, letters: &str, names: &str| {
            let mut bytes = vec![7, length];
            for (text, size) in [("ABC", 4), (letters, 16), (names, 64)] {
                let mut text = text.as_bytes().to_vec();
                text.resize(size, 0);
                bytes.extend(text);
            }
            Definition::parse(&bytes)
        };
        let (kind, good) = message(14, "QBc", "TimeUS,I,Angle").unwrap();
        assert_eq!((kind, good.length, good.numbers().len()), (7, 14, 3));
        assert_eq!(good.numbers()[2].at, 9);
        for bad in [
            message(13, "QBc", "a,b,c"),
            message(14, "Q?", "a,b"),
            message(3, "", ""),
        ] {
            assert_eq!(bad, None);
        }
        assert_eq!(Definition::parse(&[1, 2, 3]), None);
    }
}
