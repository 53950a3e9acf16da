//! How alike two tasks are, whatever units their parameters are in.
//!
//! The cosine is taken in the coordinates in which the tasks that may be chosen have unit second
//! moment: `aᵀ S⁺ b` over the lengths, with `S` the mean of `c cᵀ`. An invertible map of all
//! embeddings, for instance another unit of one parameter, changes nothing.

use faer::linalg::matmul::matmul;
use faer::linalg::solvers::Llt;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatRef, Par, Side};
use rayon::prelude::*;

use crate::error::{LabError, Result};

/// Eigenvalues of the moment below this, relatively, are none.
const RANK_TOLERANCE: f64 = 1e-12;
/// Rows whose information one thread adds up at a time.
const BLOCK: usize = 4096;

/// The metric of some tasks.
#[derive(Debug, Clone)]
pub(super) struct Metric {
    /// `T`, `rank × k`, with `T S Tᵀ = I`.
    to: Mat<f64>,
}

impl Metric {
    /// That of row-major embeddings of `k` values.
    pub(super) fn new(rows: &[f64], k: usize) -> Result<Self> {
        // Values that are none are refused with their place where tasks are.
        if rows.iter().any(|value| !value.is_finite()) {
            return Ok(Self {
                to: Mat::zeros(0, k),
            });
        }
        let units = largest(rows.chunks_exact(k), k);
        let mut transform = Mat::from_fn(k, k, |i, j| if i == j { units[i].recip() } else { 0.0 });
        // Again in the new coordinates: a moment squares the condition.
        for _ in 0..2 {
            let moment = second_moment(rows, k, &transform);
            if let Some(factor) = well_conditioned(&moment) {
                solve_lower_triangular_in_place(factor.L(), transform.as_mut(), Par::Seq);
                break;
            }
            let eigen = moment.self_adjoint_eigen(Side::Lower).map_err(|_| {
                LabError::Failure(
                    "the similarities could not be computed: rescale the parameters".into(),
                )
            })?;
            let (values, vectors) = (eigen.S(), eigen.U());
            let n = transform.nrows();
            let top = (0..n).map(|i| values[i]).fold(0.0, f64::max);
            let kept: Vec<usize> = (0..n)
                .filter(|&i| values[i] > RANK_TOLERANCE * top)
                .collect();
            if kept.is_empty() {
                return Ok(Self {
                    to: Mat::zeros(0, k),
                });
            }
            let turned = vectors.transpose() * &transform;
            transform = Mat::from_fn(kept.len(), k, |i, j| {
                turned[(kept[i], j)] / values[kept[i]].sqrt()
            });
        }
        Ok(Self { to: transform })
    }

    /// Directions that the tasks have.
    pub(super) fn rank(&self) -> usize {
        self.to.nrows()
    }

    /// An embedding in these coordinates, of length one; zero if it has no length.
    pub(super) fn direction(&self, row: &[f64]) -> Vec<f64> {
        let size = row
            .iter()
            .fold(f64::MIN_POSITIVE, |top, x| top.max(x.abs()));
        let mut image = vec![0.0; self.to.nrows()];
        for (j, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            let along = x / size;
            for (value, entry) in image.iter_mut().zip(self.to.col(j).iter()) {
                *value += entry * along;
            }
        }
        let largest = image.iter().fold(0.0_f64, |top, x| top.max(x.abs()));
        if largest > 0.0 {
            image.iter_mut().for_each(|value| *value /= largest);
            let length = image.iter().map(|value| value * value).sum::<f64>().sqrt();
            image.iter_mut().for_each(|value| *value /= length);
        }
        image
    }
}

/// The cosine of two directions of length one.
pub(super) fn cosine(left: &[f64], right: &[f64]) -> f64 {
    let dot: f64 = left.iter().zip(right).map(|(x, y)| x * y).sum();
    dot.clamp(-1.0, 1.0)
}

/// The Cholesky factor of a moment of many directions that is well conditioned: eigenvalues would
/// take thirty times as long.
pub(super) fn well_conditioned(moment: &Mat<f64>) -> Option<Llt<f64>> {
    const WIDE: usize = 64;
    const CONDITION: f64 = 1e6;
    if moment.nrows() < WIDE {
        return None;
    }
    // The number of threads must not show.
    faer::set_global_parallelism(Par::Seq);
    let factor = moment.llt(Side::Lower).ok()?;
    let diagonal = factor.L().diagonal().column_vector();
    let values = (0..moment.nrows()).map(|i| diagonal[i]);
    let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    ((high / low).powi(2) < CONDITION).then_some(factor)
}

/// The mean of `(T c)(T c)ᵀ` over rows of `k` values; sums are joined in the order of the rows.
fn second_moment(rows: &[f64], k: usize, transform: &Mat<f64>) -> Mat<f64> {
    let size = transform.nrows();
    let blocks: Vec<Mat<f64>> = rows
        .par_chunks(BLOCK * k)
        .map(|rows| {
            let n = rows.len() / k;
            let block = MatRef::from_column_major_slice(rows, k, n);
            let (mut images, mut sum) = (Mat::zeros(size, n), Mat::zeros(size, size));
            let new = Accum::Replace;
            matmul(
                images.as_mut(),
                new,
                transform.as_ref(),
                block,
                1.0,
                Par::Seq,
            );
            matmul(
                sum.as_mut(),
                new,
                images.as_ref(),
                images.transpose(),
                1.0,
                Par::Seq,
            );
            sum
        })
        .collect();
    let total = blocks
        .into_iter()
        .fold(Mat::zeros(size, size), |a, b| a + b);
    let count = (rows.len() / k).max(1) as f64;
    Mat::from_fn(size, size, |i, j| {
        (total[(i, j)] + total[(j, i)]) / (2.0 * count)
    })
}

/// The largest magnitude of each value, one where there is none.
pub(super) fn largest<'a>(rows: impl Iterator<Item = &'a [f64]>, k: usize) -> Vec<f64> {
    let mut top = vec![0.0_f64; k];
    for row in rows {
        for (top, value) in top.iter_mut().zip(row) {
            *top = top.max(value.abs());
        }
    }
    let usable = |value: f64| if value > 0.0 { value } else { 1.0 };
    top.into_iter().map(usable).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn alike(metric: &Metric, left: &[f64], right: &[f64]) -> f64 {
        cosine(&metric.direction(left), &metric.direction(right))
    }

    #[test]
    fn units_and_mixtures_do_not_show() {
        let rows = [1.0, 5000.0, 2.0, 5200.0, -1.0, 4700.0, 0.5, 4900.0];
        let (a, b) = ([1.5, 5100.0], [-0.5, 4800.0]);
        let metric = Metric::new(&rows, 2).unwrap();
        let cosine = alike(&metric, &a, &b);
        assert!(
            cosine < 0.9,
            "{cosine}: as numbers they are all but parallel"
        );
        let mix = |row: &[f64]| [1e-3 * row[0] + 7.0 * row[1], 1e6 * row[0] - 2.0 * row[1]];
        let mixed: Vec<f64> = rows.chunks_exact(2).flat_map(mix).collect();
        let other = alike(&Metric::new(&mixed, 2).unwrap(), &mix(&a), &mix(&b));
        assert!((cosine - other).abs() < 1e-6, "{cosine} {other}");
        assert!((alike(&metric, &a, &a) - 1.0).abs() < 1e-12);
        assert!((alike(&metric, &a, &a.map(|x| -x)) + 1.0).abs() < 1e-12);
    }

    #[test]
    fn directions_that_no_task_has_are_left_out() {
        let rows = [1.0, 1.0, 2.0, 2.0, -3.0, -3.0];
        let metric = Metric::new(&rows, 2).unwrap();
        assert_eq!(metric.rank(), 1);
        assert!((alike(&metric, &[1.0, 1.0], &[4.0, 4.0]) - 1.0).abs() < 1e-12);
    }
}
