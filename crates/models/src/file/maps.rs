//! Feature maps in files: JSON, with what random features drew as tensors beside it.
//!
//! Draws are repeated from the seed on loading; the tensors are for other programs, and for a
//! check. A map within a map has its place in their names: `features.inner.matrix` of a
//! standardised map, `features.0.matrix` of the first of stacked ones.

use faer::MatRef;
use serde_json::Value;
use taskscout::features::{FeatureMap, Features as _, Fourier};

use super::tensors::{Reader, Writer, wrong};
use crate::error::{Error, Result};

/// Random features drawn on two machines may differ by this, relatively.
const ROUNDING: f64 = 1e-12;

/// Describes a map and hands what it drew to the writer.
pub(super) fn write_map(map: &FeatureMap, prefix: &str, writer: &mut Writer) -> Result<Value> {
    for (prefix, fourier) in draws(map, prefix) {
        let (d, p) = (fourier.dim(), fourier.input_dim());
        let matrix = MatRef::from_row_major_slice(fourier.matrix(), d, p);
        writer.matrix(format!("{prefix}.matrix"), matrix);
        writer.vector(format!("{prefix}.offset"), fourier.offset());
    }
    serde_json::to_value(map).map_err(Error::description)
}

/// Reads a map and compares what it draws with what was saved.
pub(super) fn read_map(value: Value, prefix: &str, reader: &Reader<'_>) -> Result<FeatureMap> {
    check_shapes(&value, prefix, reader)?;
    let map: FeatureMap = serde_json::from_value(value).map_err(Error::description)?;
    for (prefix, fourier) in draws(&map, prefix) {
        check_draws(fourier, &prefix, reader)?;
    }
    Ok(map)
}

/// Where tensors of the map inside a standardised one are.
fn inside(prefix: &str) -> String {
    format!("{prefix}.inner")
}

/// Where tensors of a part of stacked maps are.
fn part(prefix: &str, index: usize) -> String {
    format!("{prefix}.{index}")
}

/// All random features of a map, each with the place of its tensors.
fn draws<'a>(map: &'a FeatureMap, prefix: &str) -> Vec<(String, &'a Fourier)> {
    match map {
        FeatureMap::Fourier(fourier) => vec![(prefix.to_owned(), fourier)],
        FeatureMap::Standardised(map) => draws(map.inner(), &inside(prefix)),
        FeatureMap::Stacked(map) => {
            let parts = map.parts().iter().enumerate();
            parts
                .flat_map(|(index, map)| draws(map, &part(prefix, index)))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Checks the sizes that a description claims for random features, before any is drawn.
fn check_shapes(value: &Value, prefix: &str, reader: &Reader<'_>) -> Result<()> {
    match value.get("kind").and_then(Value::as_str) {
        Some("fourier") => {
            let name = format!("{prefix}.matrix");
            let matrix = reader.matrix(&name)?;
            let claimed = |key: &str| value.get(key).and_then(Value::as_u64);
            let shape = [matrix.nrows(), matrix.ncols()];
            if [claimed("dim"), claimed("input_dim")] != shape.map(|size| Some(size as u64)) {
                return Err(wrong(&name, &shape, "the shape of the description"));
            }
            Ok(())
        }
        Some("standardised") => match value.get("inner") {
            Some(inner) => check_shapes(inner, &inside(prefix), reader),
            None => Ok(()),
        },
        Some("stacked") => {
            let parts = value.get("parts").and_then(Value::as_array);
            let mut parts = parts.into_iter().flatten().enumerate();
            parts.try_for_each(|(index, map)| check_shapes(map, &part(prefix, index), reader))
        }
        _ => Ok(()),
    }
}

/// Compares what was drawn with what was saved, whose shape has been checked.
fn check_draws(drawn: &Fourier, prefix: &str, reader: &Reader<'_>) -> Result<()> {
    let matrix = reader.matrix(&format!("{prefix}.matrix"))?;
    let offset = reader.vector(&format!("{prefix}.offset"))?;
    let (d, p) = (drawn.dim(), drawn.input_dim());
    if (matrix.nrows(), matrix.ncols(), offset.len()) != (d, p, d) {
        return Err(Error::OtherFeatures);
    }
    let saved = (0..d).flat_map(|i| (0..p).map(move |j| (i, j)));
    let saved = saved.map(|at| matrix[at]).chain(offset.iter().copied());
    let drawn = drawn.matrix().iter().chain(drawn.offset());
    let same =
        |(saved, drawn): (f64, &f64)| (saved - drawn).abs() <= ROUNDING * drawn.abs().max(1.0);
    if !saved.zip(drawn).all(same) {
        return Err(Error::OtherFeatures);
    }
    Ok(())
}
