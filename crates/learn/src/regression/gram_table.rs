//! Products with the table of tasks' packed Gram matrices, one column a task, without forming it.
//!
//! The table is the largest thing that a fit reads. It is read once for each product and never copied, in pieces for which
//! the results stay in the cache.

use std::ops::Range;

use faer::{Mat, MatMut, MatRef};

use crate::linalg::columns::{add_combinations, add_inner_products};
use crate::linalg::{mirror, packed};

/// Numbers that belong to one piece, as long as a row of a Gram matrix is not longer: they stay in the second cache.
const RESULTS_PER_PIECE: usize = 40_000;

/// The packed Gram matrices of some tasks.
pub(super) struct GramTable<'a> {
    dim: usize,
    grams: Vec<&'a [f64]>,
}

impl<'a> GramTable<'a> {
    /// Of matrices of so many rows.
    pub(super) fn new(dim: usize, grams: impl Iterator<Item = &'a [f64]>) -> Self {
        Self {
            dim,
            grams: grams.collect(),
        }
    }

    /// Ranges of the matrices' rows with about as many entries each, so that so many results for each entry fit the cache,
    /// and these entries of every matrix.
    fn pieces(&self, results: usize) -> impl Iterator<Item = (Range<usize>, Vec<&'a [f64]>)> {
        let most = RESULTS_PER_PIECE / results.max(1);
        let mut start = 0;
        std::iter::from_fn(move || {
            if start >= self.dim {
                return None;
            }
            let mut end = start + 1;
            while end < self.dim && entries(&(start..end + 1)).len() <= most {
                end += 1;
            }
            let rows = start..end;
            start = end;
            let grams = self.grams.iter().map(|gram| &gram[entries(&rows)]);
            let grams = grams.collect();
            Some((rows, grams))
        })
    }

    /// `Σ_w C_w ⊗ G_w` for symmetric `k × k` weights, one packed row a task, and for as many sets of weights as stand side
    /// by side in these rows: the table is read once for all of them.
    pub(super) fn kronecker_sums(&self, weights: MatRef<'_, f64>, k: usize) -> Vec<Mat<f64>> {
        let (d, pairs) = (self.dim, packed::len(k));
        let sets = weights.ncols() / pairs.max(1);
        let mut matrices: Vec<_> = (0..sets).map(|_| Mat::zeros(k * d, k * d)).collect();
        let mut sums = Vec::new();
        for (rows, grams) in self.pieces(weights.ncols()) {
            sums.clear();
            sums.resize(weights.ncols() * entries(&rows).len(), 0.0);
            add_combinations(&grams, weights, &mut sums);
            let sets = sums.chunks_exact((pairs * entries(&rows).len()).max(1));
            for (sums, matrix) in sets.zip(&mut matrices) {
                place(sums, &rows, d, matrix.as_mut());
            }
        }
        for matrix in &mut matrices {
            for i in 0..k {
                (0..=i).for_each(|j| mirror(matrix.as_mut().submatrix_mut(i * d, j * d, d, d)));
            }
        }
        matrices
    }

    /// The same for one set of weights.
    pub(super) fn kronecker_sum(&self, weights: MatRef<'_, f64>, k: usize) -> Mat<f64> {
        let d = self.dim;
        let mut sums = self.kronecker_sums(weights, k);
        sums.pop().unwrap_or_else(|| Mat::zeros(k * d, k * d))
    }

    /// `B_Xᵀ G_w B_X` for every task: packed lower triangles as columns.
    pub(super) fn project(&self, representation: MatRef<'_, f64>) -> Mat<f64> {
        let pairs = packed::len(representation.ncols());
        let mut small = Mat::zeros(pairs, self.grams.len());
        for (rows, grams) in self.pieces(pairs) {
            let products = symmetric_products(representation, &rows);
            add_inner_products(&grams, &products, small.as_mut());
        }
        small
    }
}

/// The packed entries of some rows.
fn entries(rows: &Range<usize>) -> Range<usize> {
    packed::len(rows.start)..packed::len(rows.end)
}

/// Lays rows of packed `d × d` blocks, one block for each pair `j ≤ i`, out as columns: the upper half of every block.
fn place(sums: &[f64], rows: &Range<usize>, d: usize, mut matrix: MatMut<'_, f64>) {
    let k = matrix.ncols() / d;
    let pairs = (0..k).flat_map(|i| (0..=i).map(move |j| (i, j)));
    for ((i, j), mut from) in pairs.zip(sums.chunks_exact(entries(rows).len())) {
        for a in rows.clone() {
            let (row, rest) = from.split_at(a + 1);
            let to = matrix.as_mut().col_mut(j * d + a).subrows_mut(i * d, a + 1);
            if let Some(to) = to.try_as_col_major_mut() {
                to.as_slice_mut().copy_from_slice(row);
            }
            from = rest;
        }
    }
}

/// For each pair `j ≤ i` of columns, some rows of the packed symmetric product whose inner product with a packed Gram
/// matrix `G` is `b_iᵀ G b_j`.
fn symmetric_products(matrix: MatRef<'_, f64>, rows: &Range<usize>) -> Vec<f64> {
    let k = matrix.ncols();
    let columns: Vec<Vec<f64>> = (0..k).map(|i| crate::linalg::column(matrix, i)).collect();
    let mut out = vec![0.0; entries(rows).len() * packed::len(k)];
    let mut rest = out.as_mut_slice();
    for i in 0..k {
        for j in 0..=i {
            let (left, right) = (&columns[i], &columns[j]);
            for a in rows.clone() {
                let (row, next) = rest.split_at_mut(a + 1);
                let (of_left, of_right) = (left[a], right[a]);
                for ((value, l), r) in row.iter_mut().zip(left).zip(right) {
                    *value = of_left * r + of_right * l;
                }
                row[a] = left[a] * right[a];
                rest = next;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::linalg;
    use crate::rng::{Purpose, derive};

    fn gaussian(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
        let mut rng = derive(seed, Purpose::Test, &[]);
        Mat::from_fn(rows, columns, |_, _| StandardNormal.sample(&mut rng))
    }

    /// Several pieces of rows and of tasks, the last ones short.
    #[test]
    fn products_in_pieces_are_those_of_whole_matrices() {
        let (d, k, tasks) = (181, 3, 7);
        assert!(packed::len(d) * packed::len(k) > 2 * RESULTS_PER_PIECE);
        let grams: Vec<Vec<f64>> = (0..tasks)
            .map(|w| linalg::column(gaussian(packed::len(d), 1, w as u64).as_ref(), 0))
            .collect();
        let table = GramTable::new(d, grams.iter().map(Vec::as_slice));
        let representation = gaussian(d, k, 1001);
        let projected = table.project(representation.as_ref());
        let weights = gaussian(tasks, packed::len(k), 1002);
        let mut expected = Mat::<f64>::zeros(k * d, k * d);
        for (w, gram) in grams.iter().enumerate() {
            let gram = packed::unpack(gram, d);
            let half = linalg::product(gram.as_ref(), representation.as_ref());
            let small = linalg::product(representation.transpose(), half.as_ref());
            for i in 0..k {
                for j in 0..=i {
                    let pair = packed::len(i) + j;
                    assert!((small[(i, j)] - projected[(pair, w)]).abs() < 1e-10);
                    let mut block = expected.as_mut().submatrix_mut(i * d, j * d, d, d);
                    block += faer::Scale(weights[(w, pair)]) * &gram;
                }
            }
        }
        let found = table.kronecker_sum(weights.as_ref(), k);
        assert!((&found - expected).norm_max() < 1e-11);
        let twice = Mat::from_fn(tasks, 2 * weights.ncols(), |w, pair| {
            weights[(w, pair % weights.ncols())] * if pair < weights.ncols() { 1.0 } else { -2.0 }
        });
        let both = table.kronecker_sums(twice.as_ref(), k);
        assert_eq!(both.len(), 2);
        assert!((&both[0] - &found).norm_max() < 1e-12);
        assert!((&both[1] + faer::Scale(2.0) * &found).norm_max() < 1e-12);
    }

    #[test]
    fn no_tasks_add_up_to_nothing() {
        let table = GramTable::new(3, std::iter::empty());
        let sum = table.kronecker_sum(Mat::zeros(0, 3).as_ref(), 2);
        assert_eq!(sum, Mat::<f64>::zeros(6, 6));
        assert_eq!(table.project(gaussian(3, 2, 1).as_ref()).ncols(), 0);
    }
}
