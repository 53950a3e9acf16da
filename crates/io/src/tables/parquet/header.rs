//! Headers of pages: the little of Thrift's compact protocol that they need.
//!
//! The decoder believes what a header says and reserves memory for it. Here the sizes are read
//! beforehand. See <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>
//! and `PageHeader` in <https://github.com/apache/parquet-format>.

/// Structures inside structures; those of a page are two deep.
const DEEPEST: usize = 8;

/// What a page says of itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PageHeader {
    /// Bytes of the header.
    pub(super) length: usize,
    /// Bytes of the page as it stands in the file.
    pub(super) compressed: u64,
    /// Bytes of the page as it is decoded.
    pub(super) uncompressed: u64,
    /// Bytes at its start that are never compressed.
    pub(super) levels: u64,
    /// Rows of a page of data; 0 for others.
    pub(super) rows: u64,
}

impl PageHeader {
    /// The header that the bytes begin with, if they do.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut input = Input { bytes, at: 0 };
        let mut header = Self::default();
        let mut id = 0;
        while let Some((field, kind)) = input.field(&mut id)? {
            match (field, kind) {
                (2, INTEGER) => header.uncompressed = input.size()?,
                (3, INTEGER) => header.compressed = input.size()?,
                (5, STRUCT) => header.rows = input.sizes(&[1])?,
                (8, STRUCT) => {
                    let start = input.at;
                    header.rows = input.sizes(&[1])?;
                    input.at = start;
                    header.levels = input.sizes(&[5, 6])?;
                }
                _ => input.skip(kind, 0)?,
            }
        }
        header.length = input.at;
        Some(header)
    }
}

/// A whole number of 32 bits.
const INTEGER: u8 = 5;
const STRUCT: u8 = 12;

/// Bytes and how far they have been read.
struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Input<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn pass(&mut self, count: u64) -> Option<()> {
        let end = self.at.checked_add(usize::try_from(count).ok()?)?;
        self.at = (end <= self.bytes.len()).then_some(end)?;
        Some(())
    }

    fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let value = self.unsigned()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// A number that cannot be negative.
    fn size(&mut self) -> Option<u64> {
        u64::try_from(self.signed()?).ok()
    }

    /// The next field of a structure and its type; nothing inside at the structure's end.
    fn field(&mut self, id: &mut i64) -> Option<Option<(i64, u8)>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        *id = match byte >> 4 {
            0 => self.signed()?,
            step => id.checked_add(i64::from(step))?,
        };
        Some(Some((*id, byte & 0x0f)))
    }

    /// The sum of some fields of a structure.
    fn sizes(&mut self, wanted: &[i64]) -> Option<u64> {
        let (mut sum, mut id) = (0u64, 0);
        while let Some((field, kind)) = self.field(&mut id)? {
            if kind == INTEGER && wanted.contains(&field) {
                sum = sum.checked_add(self.size()?)?;
            } else {
                self.skip(kind, 1)?;
            }
        }
        Some(sum)
    }

    /// Passes over a value.
    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        match kind {
            1 | 2 => Some(()),
            3 => self.pass(1),
            4..=6 => self.unsigned().map(drop),
            7 => self.pass(8),
            8 => {
                let length = self.unsigned()?;
                self.pass(length)
            }
            9 | 10 => {
                let byte = self.byte()?;
                let count = match byte >> 4 {
                    15 => self.unsigned()?,
                    count => u64::from(count),
                };
                self.skip_all(count, &[byte & 0x0f], depth)
            }
            11 => match self.unsigned()? {
                0 => Some(()),
                count => {
                    let kinds = self.byte()?;
                    self.skip_all(count, &[kinds >> 4, kinds & 0x0f], depth)
                }
            },
            STRUCT => {
                let mut id = 0;
                while let Some((_, kind)) = self.field(&mut id)? {
                    self.skip(kind, depth + 1)?;
                }
                Some(())
            }
            _ => None,
        }
    }

    fn skip_all(&mut self, count: u64, kinds: &[u8], depth: usize) -> Option<()> {
        // Truth values inside a list take a byte each, as no field header carries them.
        let kind = |kind: u8| if matches!(kind, 1 | 2) { 3 } else { kind };
        for _ in 0..count {
            for &each in kinds {
                self.skip(kind(each), depth + 1)?;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_found_among_other_fields() {
        // type 0, sizes 200 and 100, a checksum; a data page of 7 rows with other numbers after it.
        let page = [
            0x15, 0x00, 0x15, 0x90, 0x03, 0x15, 0xc8, 0x01, 0x15, 0x02, 0x1c, 0x15, 0x0e, 0x15,
            0x00, 0x15, 0x06, 0x00, 0x00, 0xff,
        ];
        let header = PageHeader::read(&page).unwrap();
        let sizes = (header.uncompressed, header.compressed, header.rows);
        assert_eq!(sizes, (200, 100, 7));
        assert_eq!((header.length, header.levels), (19, 0));
        for length in 0..19 {
            assert_eq!(PageHeader::read(&page[..length]), None);
        }
    }

    #[test]
    fn negative_sizes_and_deep_nesting_are_no_headers() {
        assert_eq!(PageHeader::read(&[0x25, 0x01, 0x00]), None);
        let mut deep = vec![0x1c; 100];
        deep.extend([0; 101]);
        assert_eq!(PageHeader::read(&deep), None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_within_their_length(bytes in proptest::collection::vec(0u8.., 0..60)) {
            if let Some(header) = PageHeader::read(&bytes) {
                proptest::prop_assert!(header.length <= bytes.len());
            }
        }
    }
}
