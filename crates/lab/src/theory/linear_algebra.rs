//! Matrices to try the theory on.

use faer::{Mat, MatRef};

use crate::error::{LabError, Result};

/// The same row and column spaces with singular values that fall evenly, on a log scale, to a condition number.
pub(super) fn with_condition(map: MatRef<'_, f64>, condition: f64) -> Result<Mat<f64>> {
    let svd = map
        .thin_svd()
        .map_err(|error| LabError::Failure(format!("no singular values were found: {error:?}")))?;
    let k = map.nrows();
    let first = svd.S().column_vector()[0];
    let scale = |i: usize| {
        let share = i as f64 / (k.max(2) - 1) as f64;
        first * condition.powf(-share)
    };
    let u = svd.U();
    let scaled = Mat::from_fn(k, k, |i, j| u[(i, j)] * scale(j));
    Ok(&scaled * svd.V().transpose())
}

/// `I/k` moved by a little, so that its eigenvectors are those of a random matrix.
pub(super) fn nudged(raw: MatRef<'_, f64>, by: f64) -> Mat<f64> {
    let k = raw.nrows();
    let even = 1.0 / k as f64;
    Mat::from_fn(k, k, |i, j| {
        let diagonal = if i == j { even } else { 0.0 };
        diagonal + by * even * (raw[(i, j)] + raw[(j, i)])
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_map_gets_the_condition_number_that_is_asked_for() {
        let map = Mat::from_fn(3, 7, |i, j| ((3 * i + 5 * j) % 7) as f64 - 2.5);
        let wanted = with_condition(map.as_ref(), 10.0).unwrap();
        let values = wanted.singular_values().unwrap();
        assert!((values[0] / values[2] - 10.0).abs() < 1e-9, "{values:?}");
        let before = map.singular_values().unwrap();
        assert!((values[0] - before[0]).abs() < 1e-9);
    }
}
