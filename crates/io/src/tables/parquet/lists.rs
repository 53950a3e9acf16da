//! Lists of numbers, as many in each row, as a column for each element.

use ::parquet::basic::Type;
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::schema::types::ColumnDescriptor;

use super::cells::Piece;
use crate::tables::table::{Column, Values};

/// Whether a column holds a list of numbers in each row, and not lists of lists or of structures.
pub(super) fn is_list(column: &ColumnDescriptor) -> bool {
    let number = matches!(
        column.physical_type(),
        Type::BOOLEAN | Type::INT32 | Type::INT64 | Type::FLOAT | Type::DOUBLE
    );
    // The name of the list, and in between the one or two that the format asks for.
    number && column.max_rep_level() == 1 && column.path().parts().len() <= 3
}

/// The elements of all lists of a column in a row group, as its footer has it.
pub(super) fn values(chunk: &ColumnChunkMetaData) -> u64 {
    u64::try_from(chunk.num_values()).unwrap_or(0)
}

/// A column for each element, from the pieces of all row groups; nothing where lists differ in length.
pub(super) fn columns(name: &str, pieces: Vec<Piece>, rows: &[usize]) -> Option<Vec<Column>> {
    let total: usize = rows.iter().sum();
    let mut elements: Vec<Vec<f64>> = Vec::new();
    for (piece, &rows) in pieces.into_iter().zip(rows).filter(|(_, rows)| **rows > 0) {
        let Values::Numbers(numbers) = piece? else {
            return None;
        };
        let width = numbers.len() / rows;
        if elements.is_empty() {
            elements = (0..width).map(|_| Vec::with_capacity(total)).collect();
        }
        if width == 0 || width != elements.len() {
            return None;
        }
        for row in numbers.chunks_exact(width) {
            for (element, &number) in elements.iter_mut().zip(row) {
                element.push(number);
            }
        }
    }
    let named = |(index, numbers)| Column::numbers(format!("{name}[{index}]"), numbers);
    Some(elements.into_iter().enumerate().map(named).collect())
}
