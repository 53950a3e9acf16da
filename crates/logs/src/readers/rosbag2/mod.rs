//! Bags of ROS 2: a file or a folder of files, SQLite (`.db3`) or MCAP.
//!
//! A recorder that splits its files leaves a folder with `metadata.yaml`, which is one recording here.

mod sqlite;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::bag::Bag;
use super::mcap;
use crate::error::{Error, Result};
use crate::series::{RawRecording, Selection};

/// Endings of files of bags.
pub(super) const ENDINGS: [&str; 2] = ["mcap", "db3"];

/// What these files begin with, in the same order.
pub(super) const MARKS: [&[u8]; 2] = [b"\x89MCAP0\r\n", b"SQLite format 3\0"];

/// Whether a folder is a bag: one recording, whose files belong together.
#[must_use]
pub fn is_bag(folder: &Path) -> bool {
    folder.is_dir() && folder.join("metadata.yaml").is_file()
}

/// Reads an MCAP file, a rosbag2 database, or a folder of these that is one recording.
///
/// Every topic is a series, and every number in its messages a column. The time of a row is when the message was
/// recorded, in seconds after the first message of the recording.
///
/// # Errors
/// A file that cannot be read, is damaged or of another kind; a topic or field that was asked for and is not there (the
/// error suggests the nearest) or cannot be read (the error says why); more numbers than fit.
pub fn read_bag(path: &Path, selection: &Selection) -> Result<RawRecording> {
    let mut bag = Bag::new(selection);
    for file in files(path)? {
        match is_database(&file)? {
            true => sqlite::read_into(&file, &mut bag)?,
            false => mcap::read_into(&file, &mut bag)?,
        }
    }
    bag.finish(path)
}

/// Whether a file is a database: by its first bytes, or where these are damaged by its ending.
fn is_database(file: &Path) -> Result<bool> {
    let failed = |source| Error::Read {
        path: file.to_owned(),
        source,
    };
    let mut start = Vec::new();
    let opened = taskscout_io::files::open(file).map_err(failed)?;
    opened.take(16).read_to_end(&mut start).map_err(failed)?;
    let told = MARKS.iter().position(|mark| start.starts_with(mark));
    let ending = file.extension().unwrap_or_default();
    Ok(told.map_or_else(|| ending.eq_ignore_ascii_case("db3"), |kind| kind == 1))
}

/// The file itself, or the files of a folder in the order of their names.
pub(super) fn files(path: &Path) -> Result<Vec<PathBuf>> {
    let found = super::files::paths(path, &ENDINGS)?;
    if found.is_empty() {
        return Err(Error::NoLogs {
            path: path.to_owned(),
            looked_for: "*.mcap and *.db3; name the folder of the bag",
        });
    }
    Ok(found)
}
