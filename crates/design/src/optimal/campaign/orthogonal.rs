//! Columns and what they have beside orthonormal others.

use crate::linalg;

/// Part of an embedding, in the frame, below which it counts as nothing.
pub(super) const NOTHING: f64 = 1e-6;
/// The same for a direction that is needed: among millions of sets of tasks some come near by chance.
pub(super) const REACHED: f64 = 1e-10;
/// And where data are given, whose directions are known less exactly.
pub(super) const REACHED_BESIDE_GIVEN: f64 = 1e-7;

/// A column without its part along orthonormal others.
pub(super) fn without(column: &[f64], basis: &[Vec<f64>]) -> Vec<f64> {
    let mut left = column.to_vec();
    // Twice, because once leaves rounding errors behind.
    for _ in 0..2 {
        basis.iter().for_each(|other| subtract(&mut left, other));
    }
    left
}

pub(super) fn subtract(column: &mut [f64], unit: &[f64]) {
    let along = linalg::dot(column, unit);
    for (value, other) in column.iter_mut().zip(unit) {
        *value -= along * other;
    }
}

/// What is new in a column beside orthonormal others, of length one.
pub(super) fn fresh(column: &[f64], basis: &[Vec<f64>]) -> Option<Vec<f64>> {
    unit(&without(column, basis), column)
}

/// What is left of a column, of length one; none if next to nothing is.
pub(super) fn unit(left: &[f64], column: &[f64]) -> Option<Vec<f64>> {
    let size = linalg::norm(left);
    (size > NOTHING * linalg::norm(column)).then(|| left.iter().map(|x| x / size).collect())
}

/// An orthonormal basis of some columns, each as strong as it is.
pub(super) fn independent(columns: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for column in columns {
        let next = fresh(column, &basis);
        basis.extend(next);
    }
    basis
}

/// An orthonormal basis of what columns, of length one at most, have above a size that is nothing.
pub(super) fn orthonormal(columns: &[Vec<f64>], nothing: f64) -> Vec<Vec<f64>> {
    let mut left = columns.to_vec();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    while let Some(largest) = left
        .iter()
        .max_by(|a, b| linalg::dot(a, a).total_cmp(&linalg::dot(b, b)))
    {
        let length = linalg::norm(largest);
        if length <= nothing || basis.len() == columns.len() {
            break;
        }
        let next: Vec<f64> = largest.iter().map(|x| x / length).collect();
        left.iter_mut().for_each(|column| subtract(column, &next));
        basis.push(next);
    }
    basis
}
