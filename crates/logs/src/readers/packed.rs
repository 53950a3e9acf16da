//! Messages of one kind, whose fields stand at fixed places, as columns.
//!
//! Messages are gathered into a block, and a full block is decoded column by column: each loop then has one kind of
//! number, and only what is wanted is ever decoded.

use crate::series::{Column, Series};

/// Bytes of messages that are gathered before they are decoded; they stay in the cache.
const BLOCK: usize = 1 << 15;

/// Kinds of numbers, all with the least byte first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
}

impl Kind {
    /// Bytes of a number.
    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }
}

/// A number in a message.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) unit: Option<String>,
    /// Where it begins in the message.
    pub(super) at: usize,
    pub(super) kind: Kind,
    /// What the number is divided by: 100 for hundredths.
    pub(super) divisor: f64,
}

/// Messages of one kind.
#[derive(Debug)]
pub(super) struct Packed {
    /// Bytes of a message.
    size: usize,
    time: Option<(Field, Vec<f64>)>,
    columns: Vec<(Field, Vec<f64>)>,
    block: Vec<u8>,
}

impl Packed {
    /// Messages of so many bytes, of which these fields are wanted, all of them inside.
    pub(super) fn new(size: usize, time: Option<Field>, fields: Vec<Field>) -> Self {
        let empty = |field| (field, Vec::new());
        Self {
            size,
            time: time.map(empty),
            columns: fields.into_iter().map(empty).collect(),
            block: Vec::new(),
        }
    }

    /// Adds a message; it has at least as many bytes as a message must have, which the caller has seen to.
    #[inline]
    pub(super) fn push(&mut self, message: &[u8]) {
        let Some(message) = message.get(..self.size) else {
            return;
        };
        self.block.extend_from_slice(message);
        if self.block.len() + self.size > BLOCK {
            self.decode();
        }
    }

    fn decode(&mut self) {
        for (field, values) in self.time.iter_mut().chain(&mut self.columns) {
            column(&self.block, self.size, field, values);
        }
        self.block.clear();
    }

    /// All of it as a series; times are those of the field of time, or those given.
    pub(super) fn finish(mut self, name: String, times: Option<Vec<f64>>) -> Series {
        self.decode();
        let own = self.time.map(|(_, values)| values);
        let columns = self.columns.into_iter().map(|(field, mut values)| {
            values.shrink_to_fit();
            Column {
                name: field.name,
                unit: field.unit,
                values,
            }
        });
        Series::new(name, own.or(times).unwrap_or_default(), columns.collect())
    }
}

/// Decodes one field of all messages of a block.
pub(super) fn column(block: &[u8], size: usize, field: &Field, values: &mut Vec<f64>) {
    macro_rules! numbers {
        ($number:ty, $convert:expr) => {
            extend::<{ size_of::<$number>() }>(block, size, field, values, |bytes| {
                $convert(<$number>::from_le_bytes(bytes))
            })
        };
    }
    match field.kind {
        Kind::I8 => numbers!(i8, f64::from),
        Kind::U8 => numbers!(u8, f64::from),
        Kind::I16 => numbers!(i16, f64::from),
        Kind::U16 => numbers!(u16, f64::from),
        Kind::I32 => numbers!(i32, f64::from),
        Kind::U32 => numbers!(u32, f64::from),
        Kind::I64 => numbers!(i64, |value| value as f64),
        Kind::U64 => numbers!(u64, |value| value as f64),
        Kind::F16 => numbers!(u16, half),
        Kind::F32 => numbers!(f32, f64::from),
        Kind::F64 => numbers!(f64, f64::from),
    }
}

#[inline]
fn extend<const N: usize>(
    block: &[u8],
    size: usize,
    field: &Field,
    values: &mut Vec<f64>,
    convert: impl Fn([u8; N]) -> f64,
) {
    let messages = block.chunks_exact(size.max(1));
    let number = |message: &[u8]| {
        let bytes = message.get(field.at..).and_then(|rest| rest.first_chunk());
        bytes.map_or(f64::NAN, |bytes| convert(*bytes))
    };
    if field.divisor > 1.0 {
        values.extend(messages.map(|message| number(message) / field.divisor));
    } else {
        values.extend(messages.map(number));
    }
}

/// A number of half precision: sign, 5 bits of exponent, 10 of fraction.
pub(super) fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction > 0.0 => f64::NAN,
        31 => f64::INFINITY,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp)] // what is read is exact

    use super::*;

    fn field(name: &str, at: usize, kind: Kind, divisor: f64) -> Field {
        Field {
            name: name.into(),
            unit: None,
            at,
            kind,
            divisor,
        }
    }

    #[test]
    fn blocks_give_the_same_as_single_messages() {
        let time = field("t", 0, Kind::U64, 1e6);
        let fields = vec![
            field("a", 8, Kind::I16, 100.0),
            field("b", 10, Kind::F32, 1.0),
        ];
        let mut packed = Packed::new(14, Some(time), fields);
        let count = 3 * BLOCK / 14;
        for index in 0..count {
            let mut message = (2000 * index as u64).to_le_bytes().to_vec();
            message.extend((index as i16).wrapping_neg().to_le_bytes());
            message.extend((index as f32 * 0.5).to_le_bytes());
            packed.push(&message);
            packed.push(&message[..13]); // too short to be one
        }
        let series = packed.finish("s".into(), None);
        assert_eq!(series.rows(), count);
        let (a, b) = (series.column("a").unwrap(), series.column("b").unwrap());
        for index in 0..count {
            assert_eq!(series.time[index], 2000.0 * index as f64 / 1e6);
            assert_eq!(a[index], f64::from((index as i16).wrapping_neg()) / 100.0);
            assert_eq!(b[index], index as f64 * 0.5);
        }
    }

    #[test]
    fn half_precision() {
        for (bits, value) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 2f64.powi(-24)),
            (0x3555, 0.333251953125),
            (0x7c00, f64::INFINITY),
        ] {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7e00).is_nan());
    }
}
