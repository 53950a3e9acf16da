//! Saves a matrix as its shape and its columns.

use faer::Mat;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
struct StoredColumns {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

/// Writes a matrix.
///
/// # Errors
/// Those of the format.
pub fn serialize<S: Serializer>(matrix: &Mat<f64>, to: S) -> Result<S::Ok, S::Error> {
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    let values = (0..columns)
        .flat_map(|j| (0..rows).map(move |i| matrix[(i, j)]))
        .collect();
    StoredColumns {
        rows,
        columns,
        values,
    }
    .serialize(to)
}

/// Reads a matrix.
///
/// # Errors
/// Those of the format, or a shape that the values do not fill.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Mat<f64>, D::Error> {
    let StoredColumns {
        rows,
        columns,
        values,
    } = StoredColumns::deserialize(from)?;
    if rows.checked_mul(columns) != Some(values.len()) {
        return Err(D::Error::custom(format!(
            "a {rows} × {columns} matrix needs {} values, found {}",
            rows.saturating_mul(columns),
            values.len()
        )));
    }
    Ok(Mat::from_fn(rows, columns, |i, j| values[j * rows + i]))
}
