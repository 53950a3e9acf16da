//! Measured rows from the bytes of a table that somebody sends, with what would be taken of it.
//!
//! ```
//! use taskscout_studies::{Column, Definition, Upload};
//!
//! let definition = Definition {
//!     inputs: vec![Column::named("speed")],
//!     outputs: vec![Column::named("drag")],
//!     ..Definition::default()
//! };
//! let upload = Upload::read(b"t,speed,drag\n0,1.5,0.2\n1,2.5,0.6\n".to_vec(), "run.csv", &definition)?;
//! assert_eq!((upload.rows, upload.passed_over), (2, vec!["t".to_owned()]));
//! # Ok::<(), taskscout_studies::Error>(())
//! ```

use std::collections::BTreeMap;

use serde::Serialize;
use taskscout_io::tables::{MemoryLimit, ReadOptions, Table};

use crate::definition::{Column, Definition};
use crate::error::Result;
use crate::tables::{ITEM, item_numbers, rows_of, some_rows};
use crate::told::Measured;

/// Rows that are shown before they are taken.
const SHOWN: usize = 5;
/// Bytes that the cells of a table may take.
const CELLS: u64 = 512 << 20;
/// What Parquet files begin with.
const PARQUET: &[u8] = b"PAR1";

/// A table that somebody sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Upload {
    /// What it is called.
    pub name: String,
    /// Its rows.
    pub rows: usize,
    /// The columns that are taken, inputs first, with their units.
    pub taken: Vec<String>,
    /// The columns that are passed over.
    pub passed_over: Vec<String>,
    /// The first rows of the columns that are taken.
    pub first: Vec<Vec<f64>>,
    /// The items that a column `item` names, with the number of their rows; empty where there is no such column.
    pub items: BTreeMap<u64, usize>,
    #[serde(skip)]
    all: Measured,
    #[serde(skip)]
    places: BTreeMap<u64, Vec<usize>>,
}

impl Upload {
    /// Reads a table, CSV or Parquet as its first bytes say.
    ///
    /// # Errors
    /// Bytes that are no table, a column that is missing, or a cell that is no finite number, with its line.
    pub fn read(bytes: Vec<u8>, name: &str, definition: &Definition) -> Result<Self> {
        let limit = MemoryLimit::new(CELLS);
        let options = ReadOptions {
            limit: Some(&limit),
            ..ReadOptions::default()
        };
        let table = match bytes.starts_with(PARQUET) {
            true => Table::read_parquet_bytes_with(bytes, name, &options)?,
            false => Table::read_csv_text_with(&bytes, name, &options)?,
        };
        let all = rows_of(&table, definition)?;
        let names: Vec<&str> = table.columns().iter().map(|c| c.name.as_str()).collect();
        let places = match names.contains(&ITEM) {
            false => BTreeMap::new(),
            true => {
                let mut places: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
                for (row, item) in item_numbers(&table)?.into_iter().enumerate() {
                    places.entry(item).or_default().push(row);
                }
                places
            }
        };
        let measured = || definition.inputs.iter().chain(&definition.outputs);
        let known = |name: &str| name == ITEM || measured().any(|column| column.name == name);
        let passed_over = names.iter().filter(|name| !known(name));
        Ok(Self {
            name: name.to_owned(),
            rows: table.rows(),
            taken: measured().map(Column::label).collect(),
            passed_over: passed_over.map(|name| (*name).to_owned()).collect(),
            first: first_rows(&all),
            items: places
                .iter()
                .map(|(item, rows)| (*item, rows.len()))
                .collect(),
            all,
            places,
        })
    }

    /// All rows.
    #[must_use]
    pub fn measured(&self) -> &Measured {
        &self.all
    }

    /// The rows of each item that a column `item` names.
    ///
    /// # Errors
    /// None that is known.
    pub fn by_item(&self) -> Result<BTreeMap<u64, Measured>> {
        let places = self.places.iter();
        places
            .map(|(item, rows)| Ok((*item, some_rows(&self.all, rows)?)))
            .collect()
    }
}

fn first_rows(all: &Measured) -> Vec<Vec<f64>> {
    let samples = &all.samples;
    let inputs = samples.inputs().chunks(samples.input_dim().max(1));
    let outputs = samples.outputs().chunks(samples.output_dim().max(1));
    let both = inputs.zip(outputs).take(SHOWN);
    both.map(|(x, y)| [x, y].concat()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    fn definition() -> Definition {
        Definition {
            inputs: vec![Column::named("vx"), Column::named("vy")],
            outputs: vec![Column {
                unit: Some("N".into()),
                ..Column::named("force")
            }],
            ..Definition::default()
        }
    }

    #[test]
    fn what_is_taken_is_said_before_it_is_taken() {
        let text = b"item,vy,vx,force,note\n3,2,1,9,a\n4,5,4,8,b\n3,8,7,7,c\n";
        let upload = Upload::read(text.to_vec(), "day.csv", &definition()).unwrap();
        assert_eq!(upload.taken, ["vx", "vy", "force (N)"]);
        assert_eq!(upload.passed_over, ["note"]);
        assert_eq!(upload.first[0], [1.0, 2.0, 9.0]);
        assert_eq!(upload.items, [(3, 2), (4, 1)].into());
        let rows = upload.by_item().unwrap();
        assert_eq!(rows[&3].samples.outputs(), [9.0, 7.0]);
        assert_eq!(rows[&3].source.as_deref(), Some("day.csv"));
    }

    #[test]
    fn what_is_no_table_is_refused_in_a_sentence() {
        for bytes in [
            &b"\x89PNG\r\n\x1a\n\0\0"[..],
            b"",
            b"PAR1nonsense",
            b"vx,vy\n1,2\n",
        ] {
            let refused = Upload::read(bytes.to_vec(), "x.csv", &definition());
            let sentence = refused.unwrap_err().to_string();
            assert!(sentence.contains("x.csv"), "{sentence}");
        }
    }
}
