//! The root of a Gram matrix: a few rows with the statistics of many, no more rows than features.
//!
//! With `G = FᵀF` by a pivoted Cholesky factorisation and `Fᵀ z = b`, the rows of `F` with labels `z`
//! have the statistics of the rows that they stand for, up to a constant in the squares. Targets with few
//! rows have few of these, so that all that follows is small.

use faer::Mat;

use crate::data::Statistics;
use crate::linalg;

/// Part of a feature's own sum of squares below which what the features before it leave of it is rounding.
const NOTHING: f64 = 1e-12;

/// Rows with the statistics of others.
#[derive(Debug)]
pub(crate) struct GramRoot {
    /// `F`, rank × features.
    pub(crate) root: Mat<f64>,
    /// `z`.
    pub(crate) labels: Vec<f64>,
    /// What no function of the features explains of the squares.
    pub(crate) rest: f64,
    /// The number of rows that they stand for.
    pub(crate) rows: f64,
}

impl GramRoot {
    /// Of all rows, each counted once.
    pub(crate) fn of(rows: &Statistics, output: usize) -> Self {
        let (d, gram) = (rows.dim(), rows.gram_matrix());
        let mut left: Vec<f64> = (0..d).map(|i| gram[(i, i)]).collect();
        let whole = left.clone();
        // Features may have any units, so each is measured by its own size.
        let part = |left: &[f64], i: usize| {
            if whole[i] > 0.0 {
                left[i] / whole[i]
            } else {
                0.0
            }
        };
        let moment = rows.cross_moment(output);
        let (mut factors, mut labels): (Vec<Vec<f64>>, Vec<f64>) = (Vec::new(), Vec::new());
        while factors.len() < rows.count().min(d) {
            let larger = |best: usize, i: usize| {
                if part(&left, i) > part(&left, best) {
                    i
                } else {
                    best
                }
            };
            let pivot = (0..d).fold(0, larger);
            if part(&left, pivot) <= NOTHING {
                break;
            }
            let scale = 1.0 / left[pivot].sqrt();
            let mut known = vec![0.0; d];
            for row in &factors {
                let weight = row[pivot];
                known
                    .iter_mut()
                    .zip(row)
                    .for_each(|(sum, value)| *sum += value * weight);
            }
            let next: Vec<f64> = (0..d)
                .map(|i| scale * (gram[(i, pivot)] - known[i]))
                .collect();
            let known: f64 = factors
                .iter()
                .zip(&labels)
                .map(|(row, z)| row[pivot] * z)
                .sum();
            labels.push(scale * (moment[pivot] - known));
            left.iter_mut()
                .zip(&next)
                .for_each(|(left, value)| *left = (*left - value * value).max(0.0));
            left[pivot] = 0.0;
            factors.push(next);
        }
        Self {
            root: Mat::from_fn(factors.len(), d, |i, j| factors[i][j]),
            rest: (rows.sum_of_squares(output) - linalg::dot(&labels, &labels)).max(0.0),
            labels,
            rows: rows.count() as f64,
        }
    }

    /// The same rows under a linear map of their features.
    pub(crate) fn projected(&self, map: faer::MatRef<'_, f64>) -> Self {
        Self {
            root: linalg::product(self.root.as_ref(), map),
            labels: self.labels.clone(),
            ..*self
        }
    }

    /// Rows of the root.
    pub(crate) fn rank(&self) -> usize {
        self.labels.len()
    }

    /// The labels less what coefficients give.
    pub(crate) fn less(&self, coefficients: &[f64]) -> Vec<f64> {
        let fitted = linalg::apply(self.root.as_ref(), coefficients);
        self.labels
            .iter()
            .zip(&fitted)
            .map(|(z, f)| z - f)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::data::Samples;
    use crate::rng::{Purpose, derive};

    #[test]
    fn features_of_any_unit_are_kept() {
        let rng = &mut derive(5, Purpose::Test, &[]);
        let (n, units) = (20, [1.0, 1e-7, 1e9]);
        let mut draw = || -> f64 { StandardNormal.sample(rng) };
        let x: Vec<f64> = (0..n)
            .flat_map(|_| units.map(|unit| unit * draw()))
            .collect();
        let y: Vec<f64> = x.chunks(3).map(|x| x[0] + 1e7 * x[1]).collect();
        let mut rows = Statistics::new(3, 1);
        rows.accumulate(&Samples::new(x, 3, y, 1).unwrap()).unwrap();
        let found = GramRoot::of(&rows, 0);
        assert_eq!(found.rank(), 3);
        assert!(found.rest < 1e-9 * rows.sum_of_squares(0), "{}", found.rest);
    }

    #[test]
    fn a_root_has_the_statistics_of_its_rows() {
        let rng = &mut derive(4, Purpose::Test, &[]);
        for (n, d, rank) in [(5, 8, 5), (40, 6, 6)] {
            let x: Vec<f64> = (0..n * d).map(|_| StandardNormal.sample(rng)).collect();
            let y: Vec<f64> = (0..n).map(|_| StandardNormal.sample(rng)).collect();
            let mut rows = Statistics::new(d, 1);
            rows.accumulate(&Samples::new(x, d, y, 1).unwrap()).unwrap();
            let found = GramRoot::of(&rows, 0);
            assert_eq!(found.rank(), rank);
            let gram = linalg::product(found.root.transpose(), found.root.as_ref());
            assert!((gram - rows.gram_matrix()).norm_max() < 1e-9);
            let moment = linalg::apply(found.root.transpose(), &found.labels);
            for (a, b) in moment.iter().zip(rows.cross_moment(0)) {
                assert!((a - b).abs() < 1e-9, "{a} {b}");
            }
            let coefficients: Vec<f64> = (0..d).map(|i| 0.1 * i as f64).collect();
            let left = found.less(&coefficients);
            let residual = linalg::dot(&left, &left) + found.rest;
            assert!((residual - rows.residual_sum_of_squares(0, &coefficients)).abs() < 1e-9);
        }
    }
}
