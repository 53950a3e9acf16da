//! Numbers in JSON, which has none that are not finite: they are written as null, and read as not a number.

use serde::{Deserialize, Deserializer};

fn known(value: Option<f64>) -> f64 {
    value.unwrap_or(f64::NAN)
}

/// One number.
pub(crate) fn number<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Option::deserialize(from).map(known)
}

/// Rows of numbers.
pub(crate) fn rows<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Vec<f64>>, D::Error> {
    let rows: Vec<Vec<Option<f64>>> = Vec::deserialize(from)?;
    let row = |row: Vec<Option<f64>>| row.into_iter().map(known).collect();
    Ok(rows.into_iter().map(row).collect())
}

/// Points.
pub(crate) fn pairs<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(f64, f64)>, D::Error> {
    let points: Vec<(Option<f64>, Option<f64>)> = Vec::deserialize(from)?;
    let point = |(x, y)| (known(x), known(y));
    Ok(points.into_iter().map(point).collect())
}

/// Places with two edges.
pub(crate) fn triples<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<(f64, f64, f64)>, D::Error> {
    let points: Vec<(Option<f64>, Option<f64>, Option<f64>)> = Vec::deserialize(from)?;
    let point = |(x, low, high)| (known(x), known(low), known(high));
    Ok(points.into_iter().map(point).collect())
}
