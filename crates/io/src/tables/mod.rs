//! Tables of named columns from CSV and Parquet, read fast and with errors that name the line.
//!
//! A file of two hundred wind conditions and one of a million candidate tasks are read by the same
//! call, [`Table::read`]. The table is then asked for what a caller needs: the numbers of a column
//! ([`Table::numbers`]), its text ([`Table::text`]), or several columns as one block
//! ([`Table::matrix`], [`Table::into_matrix`]). Whatever is not a finite number is refused with the
//! file, the line and the column.
//!
//! ```
//! use taskscout_io::tables::{Column, Table, write_csv};
//!
//! let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("winds.csv");
//! write_csv(&path, &[
//!     Column::text("name", vec!["calm".into(), "gale".into()]),
//!     Column::numbers("speed", vec![0.5, 22.0]),
//!     Column::numbers("gust", vec![1.0, 31.5]),
//! ])?;
//!
//! let winds = Table::read(&path)?;
//! assert_eq!(winds.numbers("speed")?, [0.5, 22.0]);
//! assert_eq!(winds.numeric_columns(), ["speed", "gust"]);
//! assert_eq!(winds.matrix(&["speed", "gust"])?, [0.5, 1.0, 22.0, 31.5]);
//! assert_eq!(winds.place(1), "line 3 of winds.csv");
//! assert_eq!(
//!     winds.numbers("sped").unwrap_err().to_string(),
//!     "winds.csv has no column `sped` (did you mean `speed`?): \
//!      the columns are `name`, `speed`, `gust`"
//! );
//! # Ok::<(), taskscout_io::tables::Error>(())
//! ```

mod csv;
mod error;
mod limit;
mod lines;
mod matrix;
mod mcap;
mod names;
mod number;
mod parquet;
mod read;
mod short;
mod skip;
mod table;
mod visible;
mod write;

pub use error::{Error, Result};
pub use limit::MemoryLimit;
pub use mcap::{TIME_COLUMNS, write_mcap};
pub use names::nearest as nearest_name;
pub use number::{leading as leading_number, parse as parse_number};
pub use read::ReadOptions;
pub use short::short;
pub use skip::BadRow;
pub use strsim::levenshtein as edit_distance;
pub use table::{Column, Skipped, Table, Values};
pub use visible::{visible, visible_lines};
pub use write::{csv_text, write_csv, write_parquet};
