//! What enters and leaves by files: [`files`] that are complete or as they were before, and
//! [`tables`] of named columns in CSV and Parquet. [`time`] writes times as people do.
//!
//! ```
//! use taskscout_io::{files, tables::Table};
//!
//! let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("winds.csv");
//! files::write_atomically(&path, b"speed\n0.5\n22\n")?;
//! assert_eq!(Table::read(&path)?.numbers("speed")?, [0.5, 22.0]);
//! # Ok::<(), taskscout_io::tables::Error>(())
//! ```

pub mod files;
pub mod tables;
pub mod time;
