//! Bytes of a message, read from front to back.

use super::definition::Primitive;

/// How messages are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// The CDR of ROS 2: numbers at multiples of their size, byte order told by the first four bytes.
    Cdr,
    /// ROS 1: little-endian, one after the other.
    Ros1,
}

/// How wide letters are written, which depends on the middleware and is not told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wide {
    /// Four bytes each, counted in letters.
    Four,
    /// Two bytes each, counted in letters.
    Two,
    /// Counted in bytes.
    Bytes,
}

/// The message ends before its definition does.
#[derive(Debug)]
pub(super) struct Short;

/// A place in a message.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    big_endian: bool,
    wire: Wire,
    pub(super) wide: Wide,
}

/// Calls `$each` with index and value of every number in `$bytes`.
macro_rules! convert {
    ($bytes:expr, $big:expr, $number:ty, $each:expr) => {{
        const SIZE: usize = size_of::<$number>();
        let (numbers, _) = $bytes.as_chunks::<SIZE>();
        if $big {
            for (index, number) in numbers.iter().enumerate() {
                $each(index, <$number>::from_be_bytes(*number) as f64);
            }
        } else {
            for (index, number) in numbers.iter().enumerate() {
                $each(index, <$number>::from_le_bytes(*number) as f64);
            }
        }
    }};
}

impl<'a> Cursor<'a> {
    /// The beginning of a message.
    ///
    /// # Errors
    /// A message without the bytes that say how it is written, or one in another form than CDR.
    pub(super) fn new(message: &'a [u8], wire: Wire) -> Result<Self, String> {
        let (bytes, big_endian) = match (wire, message) {
            (Wire::Ros1, _) => (message, false),
            (Wire::Cdr, [0, order @ (0 | 1), _, _, rest @ ..]) => (rest, *order == 0),
            (Wire::Cdr, [_, _, _, _, ..]) => {
                return Err(format!(
                    "is not in plain CDR but begins with the bytes {:02x} {:02x}",
                    message[0], message[1]
                ));
            }
            (Wire::Cdr, _) => return Err("has fewer than 4 bytes".into()),
        };
        Ok(Self {
            bytes,
            at: 0,
            big_endian,
            wire,
            wide: Wide::Four,
        })
    }

    /// Bytes that are left.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The bytes of so many numbers.
    #[inline]
    fn take(&mut self, size: usize, count: usize) -> Result<&'a [u8], Short> {
        if count == 0 {
            return Ok(&[]);
        }
        let start = match self.wire {
            Wire::Cdr => self.at.next_multiple_of(size),
            Wire::Ros1 => self.at,
        };
        let length = size.checked_mul(count).ok_or(Short)?;
        let end = start.checked_add(length).ok_or(Short)?;
        let taken = self.bytes.get(start..end).ok_or(Short)?;
        self.at = end;
        Ok(taken)
    }

    /// A number.
    #[inline]
    pub(super) fn number(&mut self, kind: Primitive) -> Result<f64, Short> {
        let mut read = f64::NAN;
        self.numbers(kind, 1, |_, value| read = value)?;
        Ok(read)
    }

    /// Numbers, each handed out with its index.
    #[inline]
    pub(super) fn numbers(
        &mut self,
        kind: Primitive,
        count: usize,
        mut each: impl FnMut(usize, f64),
    ) -> Result<(), Short> {
        let bytes = self.take(kind.size(), count)?;
        let big = self.big_endian;
        match kind {
            Primitive::Bool => {
                for (index, byte) in bytes.iter().enumerate() {
                    each(index, f64::from(u8::from(*byte != 0)));
                }
            }
            Primitive::I8 => convert!(bytes, big, i8, each),
            Primitive::U8 => convert!(bytes, big, u8, each),
            Primitive::I16 => convert!(bytes, big, i16, each),
            Primitive::U16 => convert!(bytes, big, u16, each),
            Primitive::I32 => convert!(bytes, big, i32, each),
            Primitive::U32 => convert!(bytes, big, u32, each),
            Primitive::I64 => convert!(bytes, big, i64, each),
            Primitive::U64 => convert!(bytes, big, u64, each),
            Primitive::F32 => convert!(bytes, big, f32, each),
            Primitive::F64 => convert!(bytes, big, f64, each),
        }
        Ok(())
    }

    /// Passes over numbers.
    #[inline]
    pub(super) fn skip_numbers(&mut self, kind: Primitive, count: usize) -> Result<(), Short> {
        self.take(kind.size(), count).map(drop)
    }

    /// How many of something come next.
    #[inline]
    pub(super) fn length(&mut self) -> Result<usize, Short> {
        let bytes = self.take(4, 1)?;
        let bytes = bytes.first_chunk::<4>().ok_or(Short)?;
        let length = match self.big_endian {
            true => u32::from_be_bytes(*bytes),
            false => u32::from_le_bytes(*bytes),
        };
        usize::try_from(length).map_err(|_| Short)
    }

    /// Passes over text.
    #[inline]
    pub(super) fn skip_text(&mut self) -> Result<(), Short> {
        let length = self.length()?;
        self.take(1, length).map(drop)
    }

    /// Passes over text of wide letters.
    pub(super) fn skip_wide_text(&mut self) -> Result<(), Short> {
        let length = self.length()?;
        let size = match self.wide {
            Wide::Four => 4,
            Wide::Two => 2,
            Wide::Bytes => 1,
        };
        self.take(size, length).map(drop)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::float_cmp)] // numbers are read exactly

    use super::*;

    #[test]
    fn numbers_stand_at_multiples_of_their_size_in_either_order() {
        let little = [
            0, 1, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 1, 0, 2, 0,
        ];
        let mut cursor = Cursor::new(&little, Wire::Cdr).unwrap();
        assert_eq!(cursor.number(Primitive::U8).unwrap(), 7.0);
        assert_eq!(cursor.number(Primitive::F64).unwrap(), 1.0);
        assert_eq!(cursor.number(Primitive::U16).unwrap(), 1.0);
        assert_eq!(cursor.number(Primitive::I16).unwrap(), 2.0);
        assert!(cursor.left() == 0 && cursor.number(Primitive::Bool).is_err());
        let big = [0, 0, 0, 0, 0xff, 0, 0x01, 0x02];
        let mut cursor = Cursor::new(&big, Wire::Cdr).unwrap();
        assert_eq!(cursor.number(Primitive::I8).unwrap(), -1.0);
        assert_eq!(cursor.number(Primitive::U16).unwrap(), 258.0);
        let mut cursor = Cursor::new(&big[4..], Wire::Ros1).unwrap();
        assert_eq!(cursor.number(Primitive::I8).unwrap(), -1.0);
        assert_eq!(cursor.number(Primitive::U16).unwrap(), 256.0);
    }

    #[test]
    fn lengths_beyond_the_message_take_nothing() {
        let message = [0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 1];
        let mut cursor = Cursor::new(&message, Wire::Cdr).unwrap();
        assert!(cursor.clone().skip_text().is_err());
        assert!(cursor.clone().skip_wide_text().is_err());
        let length = cursor.length().unwrap();
        assert!(cursor.skip_numbers(Primitive::F64, length).is_err());
        assert!(cursor.skip_numbers(Primitive::F64, usize::MAX).is_err());
        let problem = Cursor::new(&[0, 9, 0, 0], Wire::Cdr).unwrap_err();
        assert!(problem.contains("00 09"), "{problem}");
    }
}
