//! Chunks: records in a row, compressed or not, with a checksum.

use std::io::Read;

use super::Problem;
use super::fields::Fields;
use super::records::Record;

/// Bytes that a chunk may unpack to: so many for each of its own, and some for small ones.
const MOST_EXPANSION: u64 = 256;
const SMALL: u64 = 16 << 20;

/// The records of a chunk, in `buffer` where they are compressed.
///
/// # Errors
/// A chunk that is damaged, or that unpacks to far more than it says or than is sane.
pub(super) fn unpack<'a>(
    record: &Record<'a>,
    buffer: &'a mut Vec<u8>,
) -> Result<&'a [u8], Problem> {
    let mut fields = Fields::new(record.content);
    let (_start, _end) = (fields.u64()?, fields.u64()?);
    let size = fields.u64()?;
    let checksum = fields.u32()?;
    let compression = fields.text()?;
    let length = fields.u64()?;
    let packed = fields.rest();
    let packed = match usize::try_from(length)
        .ok()
        .and_then(|length| packed.get(..length))
    {
        Some(packed) => packed,
        None if record.cut => packed,
        None => return Err(format!("a chunk says that it has {length} bytes")),
    };
    let most = SMALL + MOST_EXPANSION * packed.len() as u64;
    if size > most {
        return Err(format!(
            "a chunk of {} bytes that says it unpacks to {size}",
            packed.len()
        ));
    }
    buffer.clear();
    let outcome = match compression {
        "" => return check(packed, size, checksum, record.cut),
        "zstd" => {
            let decoder = zstd::Decoder::with_buffer(packed).map_err(|error| error.to_string())?;
            decoder.take(size.saturating_add(1)).read_to_end(buffer)
        }
        "lz4" => {
            let decoder = lz4_flex::frame::FrameDecoder::new(packed);
            decoder.take(size.saturating_add(1)).read_to_end(buffer)
        }
        other => {
            return Err(format!(
                "a chunk in the compression `{other}`, and zstd and lz4 are those that are read"
            ));
        }
    };
    match outcome {
        Err(error) if !record.cut => Err(format!("a chunk that cannot be unpacked ({error})")),
        _ => check(buffer, size, checksum, record.cut),
    }
}

/// The records, if they are as long as they should be and have the right checksum.
fn check(records: &[u8], size: u64, checksum: u32, cut: bool) -> Result<&[u8], Problem> {
    if cut {
        return Ok(records);
    }
    if records.len() as u64 != size {
        return Err(format!(
            "a chunk that unpacks to another size than {size} bytes"
        ));
    }
    if checksum != 0 && crc32fast::hash(records) != checksum {
        return Err("a chunk with a wrong checksum".into());
    }
    Ok(records)
}
