//! Fields of MCAP records: little-endian numbers, texts and maps with their lengths before them.

use super::Problem;

/// The fields of a record from front to back.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(content: &'a [u8]) -> Self {
        Self { rest: content }
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Problem> {
        let (bytes, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or("a record is too short")?;
        self.rest = rest;
        Ok(*bytes)
    }

    pub(super) fn u16(&mut self) -> Result<u16, Problem> {
        Ok(u16::from_le_bytes(self.fixed()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32, Problem> {
        Ok(u32::from_le_bytes(self.fixed()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64, Problem> {
        Ok(u64::from_le_bytes(self.fixed()?))
    }

    /// Bytes with their length of four bytes before them.
    pub(super) fn bytes(&mut self) -> Result<&'a [u8], Problem> {
        let length = self.u32()? as usize;
        let too_short = || {
            format!(
                "a field of {length} bytes in a record with {}",
                self.rest.len()
            )
        };
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or_else(too_short)?;
        self.rest = rest;
        Ok(bytes)
    }

    pub(super) fn text(&mut self) -> Result<&'a str, Problem> {
        std::str::from_utf8(self.bytes()?).map_err(|_| "a text that is not UTF-8".into())
    }

    /// Pairs of texts.
    pub(super) fn map(&mut self) -> Result<Vec<(&'a str, &'a str)>, Problem> {
        let mut inside = Fields::new(self.bytes()?);
        let mut pairs = Vec::new();
        while !inside.rest.is_empty() {
            pairs.push((inside.text()?, inside.text()?));
        }
        Ok(pairs)
    }

    /// All that is left.
    pub(super) fn rest(self) -> &'a [u8] {
        self.rest
    }
}

/// Kind and content of the record at the beginning of these bytes, and what comes after it.
pub(super) fn split_record(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (kind, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (content, after) = rest.split_at_checked(length)?;
    Some((*kind, content, after))
}
