//! Files that commands read beside tables: never more than they can use.

use std::io;
use std::path::Path;

/// Bytes of the largest settings file.
pub(crate) const LARGEST_SETTINGS: u64 = 16 << 20;
/// Bytes of the largest saved study.
pub(crate) const LARGEST_STUDY: u64 = 256 << 20;

/// The text of a file of at most so many bytes.
pub(crate) fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let bytes = taskscout_io::files::read(path, most)?;
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}
