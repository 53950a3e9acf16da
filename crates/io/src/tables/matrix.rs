//! Several columns as one block of numbers, row after row.
//!
//! ```
//! use taskscout_io::tables::Table;
//!
//! let table = Table::read_csv_text(b"x,y,name\n1,2,a\n3,4,b\n", "points.csv")?;
//! assert_eq!(table.matrix(&["y", "x"])?, [2.0, 1.0, 4.0, 3.0]);
//! # Ok::<(), taskscout_io::tables::Error>(())
//! ```

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use crate::tables::error::Result;
use crate::tables::table::{Table, Values};

/// Rows copied at a time, so that the strided writes stay in the cache.
const TILE: usize = 256;
/// Parts in which [`Table::into_matrix`] gives its memory back.
const PARTS: usize = 32;

impl Table {
    /// Where columns stand; one look at all names, because a table may have very many.
    fn indices(&self, columns: &[&str]) -> Result<Vec<usize>> {
        let mut places: HashMap<&str, usize> = HashMap::with_capacity(self.columns.len());
        for (index, column) in self.columns.iter().enumerate() {
            places.entry(&column.name).or_insert(index);
        }
        let find = |name: &&str| match places.get(name) {
            Some(&index) => Ok(index),
            None => self.column_index(name),
        };
        columns.iter().map(find).collect()
    }

    /// The numbers of several columns, row-major: row `i` of `k` columns stands at `i * k`.
    ///
    /// # Errors
    /// As [`Table::numbers`], for each column.
    pub fn matrix(&self, columns: &[&str]) -> Result<Vec<f64>> {
        let sources = self
            .indices(columns)?
            .into_iter()
            .map(|index| self.numbers_at(index))
            .collect::<Result<Vec<_>>>()?;
        let mut matrix = vec![0.0; self.rows * columns.len()];
        interleave(&sources, &mut matrix);
        Ok(matrix)
    }

    /// As [`Table::matrix`], but the table is used up and the peak of memory stays near the size of
    /// the result.
    ///
    /// Rows move from the end, and columns are cut as they move: a fresh block of zeros takes no
    /// memory until it is written, and a column that is cut gives its memory back.
    ///
    /// # Errors
    /// As [`Table::numbers`], for each column.
    pub fn into_matrix(mut self, columns: &[&str]) -> Result<Vec<f64>> {
        let indices = self.indices(columns)?;
        for &index in &indices {
            self.numbers_at(index)?;
        }
        let (rows, width) = (self.rows, columns.len());
        let used: HashSet<usize> = indices.iter().copied().collect();
        for (index, column) in self.columns.iter_mut().enumerate() {
            if !used.contains(&index) {
                column.values = Values::Text(Vec::new());
            }
        }
        let mut matrix = vec![0.0; rows * width];
        let part = rows.div_ceil(PARTS).max(TILE);
        let mut end = rows;
        while end > 0 {
            let start = end.saturating_sub(part);
            let sources: Vec<&[f64]> = indices
                .iter()
                .map(|&index| match &self.columns[index].values {
                    Values::Numbers(numbers) => &numbers[start..end],
                    Values::Text(_) => &[],
                })
                .collect();
            interleave(&sources, &mut matrix[start * width..end * width]);
            for column in &mut self.columns {
                if let Values::Numbers(numbers) = &mut column.values {
                    numbers.truncate(start);
                    numbers.shrink_to_fit();
                }
            }
            end = start;
        }
        Ok(matrix)
    }
}

fn interleave(sources: &[&[f64]], matrix: &mut [f64]) {
    let width = sources.len().max(1);
    matrix
        .par_chunks_mut(TILE * width)
        .enumerate()
        .for_each(|(tile, block)| {
            for (index, source) in sources.iter().enumerate() {
                let cells = block[index..].iter_mut().step_by(width);
                for (cell, value) in cells.zip(&source[tile * TILE..]) {
                    *cell = *value;
                }
            }
        });
}

#[cfg(test)]
mod tests {
    use crate::tables::table::{Column, Table};

    fn table(rows: usize) -> Table {
        let column = |scale: f64| (0..rows).map(|row| row as f64 * scale).collect();
        Table {
            name: "t".into(),
            rows,
            columns: vec![
                Column::numbers("a", column(1.0)),
                Column::text("b", vec!["x".into(); rows]),
                Column::numbers("c", column(-2.0)),
            ],
            skipped: Vec::new(),
            names: ["a", "b", "c"].map(String::from).to_vec(),
            lines: None,
        }
    }

    #[test]
    fn both_ways_give_the_same_block() {
        for rows in [1, 255, 256, 257, 5000, 20_000] {
            let expected: Vec<f64> = (0..rows)
                .map(|row| row as f64)
                .flat_map(|row| [-2.0 * row, row, -2.0 * row])
                .collect();
            assert_eq!(table(rows).matrix(&["c", "a", "c"]).unwrap(), expected);
            assert_eq!(table(rows).into_matrix(&["c", "a", "c"]).unwrap(), expected);
        }
        assert!(table(3).matrix(&[]).unwrap().is_empty());
        assert!(table(3).into_matrix(&[]).unwrap().is_empty());
    }

    #[test]
    fn text_and_missing_columns_are_refused() {
        for wrong in ["b", "d"] {
            let asked = table(2).matrix(&["a", wrong]).unwrap_err().to_string();
            let used_up = table(2).into_matrix(&["a", wrong]).unwrap_err().to_string();
            assert_eq!(asked, used_up);
        }
    }
}
