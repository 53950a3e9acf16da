//! What the pages of a file take, known before one of them is decoded.
//!
//! The footer of a Parquet file and the headers of its pages claim sizes, and the decoder reserves
//! memory for whatever they claim. So the headers are read first; a page of gzip, which may hold more
//! than it claims, is decompressed once into nothing.

use std::io::Read as _;

use ::parquet::basic::{Compression, Encoding, Type};
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::ColumnChunkMetaData;
use flate2::read::MultiGzDecoder;

use super::header::PageHeader;

/// The most that gzip compresses.
const GZIP_RATIO: u64 = 1032;
/// Bytes of a page beyond which it is worth a look at what it really holds.
const LARGE_PAGE: u64 = 64 << 20;
/// Bytes that the decoder keeps of a text in a dictionary.
const DICTIONARY_TEXT: u64 = 40;
/// Bytes that it may keep of a dictionary.
const LARGEST_DICTIONARY: u64 = 256 << 20;

/// What the pages of some columns take when they are decompressed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Sizes {
    /// All of them, in bytes.
    pub(super) total: u64,
    /// The largest.
    pub(super) largest: u64,
}

impl Sizes {
    /// Adds the pages of one column in one row group of so many rows; a column of lists has as many values as its chunk
    /// claims, and not one more.
    pub(super) fn add(
        &mut self,
        file: &[u8],
        chunk: &ColumnChunkMetaData,
        rows: Option<u64>,
    ) -> Result<()> {
        let damaged = || ParquetError::General("the header of a page is damaged".into());
        let bytes = chunk_bytes(file, chunk)?;
        let (mut at, mut seen) = (0, 0u64);
        while rows.is_none_or(|rows| seen < rows) && at < bytes.len() {
            let header = PageHeader::read(&bytes[at..]).ok_or_else(damaged)?;
            let start = at + header.length;
            let length = usize::try_from(header.compressed).map_err(|_| damaged())?;
            let end = start.checked_add(length).ok_or_else(damaged)?;
            let page = bytes.get(start..end).ok_or_else(damaged)?;
            if matches!(chunk.compression(), Compression::GZIP(_)) {
                check_gzip(page, &header)?;
            }
            self.total = self.total.saturating_add(header.uncompressed);
            self.largest = self.largest.max(header.uncompressed);
            seen = seen.saturating_add(header.rows);
            at = end;
        }
        if rows.is_none() && seen != super::lists::values(chunk) {
            return Err(damaged());
        }
        Ok(())
    }
}

/// The bytes of one column in one row group.
fn chunk_bytes<'a>(file: &'a [u8], chunk: &ColumnChunkMetaData) -> Result<&'a [u8]> {
    let start = chunk
        .dictionary_page_offset()
        .unwrap_or(chunk.data_page_offset());
    let range = || {
        let start = usize::try_from(start).ok()?;
        let end = start.checked_add(usize::try_from(chunk.compressed_size()).ok()?)?;
        file.get(start..end)
    };
    range().ok_or_else(|| ParquetError::EOF("a column lies outside of the file".into()))
}

/// Refuses a page of gzip that holds more than it claims.
fn check_gzip(page: &[u8], header: &PageHeader) -> Result<()> {
    if (page.len() as u64).saturating_mul(GZIP_RATIO) <= LARGE_PAGE {
        return Ok(());
    }
    let claimed = header.uncompressed.saturating_sub(header.levels);
    let levels = usize::try_from(header.levels).unwrap_or(usize::MAX);
    let packed = page.get(levels..).unwrap_or_default();
    let mut content = MultiGzDecoder::new(packed).take(claimed.saturating_add(1));
    match std::io::copy(&mut content, &mut std::io::sink()) {
        Ok(found) if found > claimed => Err(ParquetError::General(format!(
            "a page holds more than the {claimed} bytes that it claims"
        ))),
        // Whatever else is wrong with it, the decoder says better.
        _ => Ok(()),
    }
}

/// Pages that are looked at before they are decoded.
pub(super) struct Checked {
    pub(super) pages: Box<dyn PageReader>,
    pub(super) kind: Type,
    /// Whether cells may be missing.
    pub(super) nullable: bool,
}

impl Iterator for Checked {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Checked {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            self.check(page)?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}

impl Checked {
    /// Refuses counts for which the decoder would reserve more than the page can hold.
    fn check(&self, page: &Page) -> Result<()> {
        let contradiction = |what: &str| {
            Err(ParquetError::General(format!(
                "{what} holds fewer values than it claims"
            )))
        };
        match page {
            Page::DictionaryPage {
                buf, num_values, ..
            } => {
                let width = match self.kind {
                    Type::INT64 | Type::DOUBLE => 8,
                    Type::BOOLEAN => 0,
                    _ => 4,
                };
                let count = u64::from(*num_values);
                if count * width > buf.len() as u64 {
                    return contradiction("a dictionary");
                }
                if count * DICTIONARY_TEXT > LARGEST_DICTIONARY {
                    return Err(ParquetError::General(format!(
                        "a dictionary has {count} values, more than are read"
                    )));
                }
            }
            _ => {
                if let Some(values) = self.delta_values(page) {
                    let strings = page.encoding() == Encoding::DELTA_BYTE_ARRAY;
                    if !delta_counts(values, u64::from(page.num_values()), strings) {
                        return contradiction("a page of text");
                    }
                }
            }
        }
        Ok(())
    }

    /// The values of a page whose encoding counts them on its own.
    fn delta_values<'a>(&self, page: &'a Page) -> Option<&'a [u8]> {
        let counted = [
            Encoding::DELTA_BYTE_ARRAY,
            Encoding::DELTA_LENGTH_BYTE_ARRAY,
        ];
        if !counted.contains(&page.encoding()) {
            return None;
        }
        let levels = match page {
            Page::DataPageV2 {
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            } => *def_levels_byte_len as usize + *rep_levels_byte_len as usize,
            _ if self.nullable => {
                let length = page.buffer().first_chunk::<4>()?;
                4 + u32::from_le_bytes(*length) as usize
            }
            _ => 0,
        };
        // Without its values a page is refused by the decoder, which reserves nothing for it.
        Some(page.buffer().get(levels..).unwrap_or_default())
    }
}

/// Whether the counts that a page of text begins with are at most its number of values: those of the
/// lengths, and before them, where strings begin as the one before, those of the prefixes.
fn delta_counts(values: &[u8], most: u64, strings: bool) -> bool {
    let mut input = Deltas { bytes: values };
    if strings && !input.pass_block(most) {
        return false;
    }
    input.header().is_none_or(|(_, _, count)| count <= most)
}

/// Numbers packed by their differences.
struct Deltas<'a> {
    bytes: &'a [u8],
}

impl Deltas<'_> {
    fn number(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Values of a block, its parts, and all values; the first of them is passed over.
    fn header(&mut self) -> Option<(u64, u64, u64)> {
        let header = (self.number()?, self.number()?, self.number()?);
        self.number()?;
        Some(header)
    }

    /// Passes over all blocks; true if there are at most so many values, or bytes that the decoder
    /// will refuse before it reserves anything.
    fn pass_block(&mut self, most: u64) -> bool {
        let Some((block, parts, count)) = self.header() else {
            return true;
        };
        if count > most {
            return false;
        }
        let Some(in_part) = block.checked_div(parts).filter(|&values| values > 0) else {
            return true;
        };
        let mut left = count.saturating_sub(1);
        while left > 0 {
            let Some(length) = self.block_length(parts, in_part, left) else {
                self.bytes = &[];
                return true;
            };
            self.bytes = self.bytes.get(length..).unwrap_or_default();
            left = left.saturating_sub(block);
        }
        true
    }

    /// Passes over the head of a block; the bytes of its body.
    fn block_length(&mut self, parts: u64, in_part: u64, mut left: u64) -> Option<usize> {
        self.number()?;
        let parts = usize::try_from(parts).ok()?;
        let widths = self.bytes.get(..parts)?;
        self.bytes = &self.bytes[parts..];
        let mut length = 0u64;
        for &width in widths {
            if left == 0 {
                break;
            }
            left = left.saturating_sub(in_part);
            length = length.checked_add(u64::from(width).checked_mul(in_part)? / 8)?;
        }
        usize::try_from(length).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of numbers that are all equal: 128 values in 4 parts, none of which takes a bit.
    fn equal(count: u8, value: u8) -> Vec<u8> {
        let mut bytes = vec![0x80, 0x01, 4, count, value * 2];
        if count > 1 {
            bytes.extend([0, 0, 0, 0, 0]);
        }
        bytes
    }

    #[test]
    fn counts_are_checked_in_both_places() {
        for (count, fits) in [(0, true), (1, true), (5, true), (6, false), (100, false)] {
            assert_eq!(delta_counts(&equal(count, 3), 5, false), fits, "{count}");
            let first = [equal(count, 0), equal(5, 1)].concat();
            assert_eq!(delta_counts(&first, 5, true), fits, "{count}");
            let second = [equal(5, 0), equal(count, 1)].concat();
            assert_eq!(delta_counts(&second, 5, true), fits, "{count}");
        }
    }

    #[test]
    fn gzip_that_holds_more_than_it_claims_is_refused() {
        use std::io::Write as _;
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        for _ in 0..100 {
            packed.write_all(&vec![0; 1 << 20]).unwrap();
        }
        let packed = packed.finish().unwrap();
        let header = |uncompressed| PageHeader {
            uncompressed,
            ..PageHeader::default()
        };
        assert!(check_gzip(&packed, &header(100 << 20)).is_ok());
        let message = check_gzip(&packed, &header(1 << 20))
            .unwrap_err()
            .to_string();
        assert!(message.contains("more than the 1048576 bytes"), "{message}");
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_judged(bytes in proptest::collection::vec(0u8.., 0..60), strings: bool) {
            delta_counts(&bytes, 5, strings);
        }
    }
}
