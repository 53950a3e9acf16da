//! Bytes of Protocol Buffers: fields by their numbers.

/// What is wrong with a message.
#[derive(Debug)]
pub(super) struct Bad(pub(super) &'static str);

/// A value as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value<'a> {
    Varint(u64),
    Fixed64([u8; 8]),
    Bytes(&'a [u8]),
    Fixed32([u8; 4]),
}

const CUT: Bad = Bad("it ends inside a field");

/// The wire types that begin and end a group.
const GROUP: u8 = 3;
const GROUP_END: u8 = 4;

/// Fields from front to back.
#[derive(Debug, Clone)]
pub(super) struct Wire<'a> {
    rest: &'a [u8],
}

impl<'a> Wire<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next field, groups passed over; none at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u32, Value<'a>)>, Bad> {
        let mut groups = 0_usize;
        while !self.rest.is_empty() {
            let tag = self.varint()?;
            let number =
                u32::try_from(tag >> 3).map_err(|_| Bad("a field has too large a number"))?;
            if number == 0 {
                return Err(Bad("a field has the number 0"));
            }
            match (tag & 7) as u8 {
                GROUP => groups += 1,
                GROUP_END => {
                    groups = groups
                        .checked_sub(1)
                        .ok_or(Bad("a group ends that never began"))?;
                }
                wire_type => {
                    let value = self.value(wire_type)?;
                    if groups == 0 {
                        return Ok(Some((number, value)));
                    }
                }
            }
        }
        if groups > 0 {
            return Err(CUT);
        }
        Ok(None)
    }

    /// A value of a wire type.
    pub(super) fn value(&mut self, wire_type: u8) -> Result<Value<'a>, Bad> {
        match wire_type {
            0 => Ok(Value::Varint(self.varint()?)),
            1 => Ok(Value::Fixed64(self.fixed()?)),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| CUT)?;
                let (bytes, rest) = self.rest.split_at_checked(length).ok_or(CUT)?;
                self.rest = rest;
                Ok(Value::Bytes(bytes))
            }
            5 => Ok(Value::Fixed32(self.fixed()?)),
            _ => Err(Bad("a field is of a type that does not exist")),
        }
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Bad> {
        let (bytes, rest) = self.rest.split_first_chunk::<N>().ok_or(CUT)?;
        self.rest = rest;
        Ok(*bytes)
    }

    fn varint(&mut self) -> Result<u64, Bad> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.rest.split_first().ok_or(CUT)?;
            self.rest = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Bad("a number has more than ten bytes"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn fields_come_one_by_one_and_groups_are_passed_over() {
        // 1: 150; a group 3 with 1: 1; 2: "hi"; 4: fixed32
        let bytes = [
            8, 0x96, 1, 0x1b, 8, 1, 0x1c, 0x12, 2, b'h', b'i', 0x25, 1, 0, 0, 0,
        ];
        let mut wire = Wire::new(&bytes);
        assert_eq!(wire.next().unwrap(), Some((1, Value::Varint(150))));
        assert_eq!(wire.next().unwrap(), Some((2, Value::Bytes(b"hi"))));
        assert_eq!(
            wire.next().unwrap(),
            Some((4, Value::Fixed32([1, 0, 0, 0])))
        );
        assert_eq!(wire.next().unwrap(), None);
        for end in 1..bytes.len() {
            let mut wire = Wire::new(&bytes[..end]);
            while let Ok(Some(_)) = wire.next() {}
        }
        assert!(
            Wire::new(&[
                0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1
            ])
            .next()
            .is_err()
        );
    }
}
