//! Units in which the columns of embeddings are alike, before anything is compared with anything.
//!
//! What is too small to be more than rounding shows only beside numbers of its own unit.

use faer::MatRef;

use crate::error::{Error, Result};

/// The units of the columns: how large candidates are there, or what is given where they are
/// smaller. A few rows may have nothing in a column that the data given have much in; in the unit of
/// another column, those data would be lost to rounding, or the others beside them.
pub(super) fn units(
    largest: &[f64],
    whole: &[f64],
    given: Option<MatRef<'_, f64>>,
) -> Result<Vec<f64>> {
    let top = largest.iter().copied().fold(0.0, f64::max);
    let known = match given {
        None => vec![0.0; largest.len()],
        Some(given) => sizes_of(given, whole)?,
    };
    let unit = |(&own, &known): (&f64, &f64)| {
        let size = own.max(known);
        power_of_two(if size < f64::MIN_POSITIVE { top } else { size })
    };
    Ok(largest.iter().zip(&known).map(unit).collect())
}

/// The roots of the information given by column, in units of the budget, as far as they go with the
/// candidates of a table: made as large in one column at least, and not larger in all. The units are
/// then those of all information, given and planned, and more data alone do not change them.
fn sizes_of(given: MatRef<'_, f64>, whole: &[f64]) -> Result<Vec<f64>> {
    Error::check_length("the information given", whole.len(), given.nrows())?;
    Error::check_length("a row of the information given", whole.len(), given.ncols())?;
    let roots: Vec<f64> = (0..whole.len())
        .map(|j| given[(j, j)].max(0.0).sqrt())
        .collect();
    let both = roots.iter().zip(whole);
    let ratios: Vec<f64> = both
        .filter(|&(&root, &size)| root > 0.0 && size > 0.0)
        .map(|(root, size)| size / root)
        .collect();
    let largest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let factor = if ratios.is_empty() {
        // Nothing in common: the largest are made alike.
        largest(whole) / largest(&roots).max(f64::MIN_POSITIVE)
    } else {
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        largest(&ratios).min(1.0).max(least)
    };
    let size = |root: &f64| Some(root * factor).filter(|size| size.is_finite());
    Ok(roots.iter().map(|root| size(root).unwrap_or(0.0)).collect())
}

/// The power of two at or below a positive number: scaling by it is exact.
fn power_of_two(value: f64) -> f64 {
    value.log2().floor().exp2().max(f64::MIN_POSITIVE)
}
