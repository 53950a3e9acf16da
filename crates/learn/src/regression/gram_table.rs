//! Products with the table of tasks' packed Gram matrices, one column a task, without forming it.
//!
//! The table is the largest thing that a fit reads. It is read once for each product, in pieces that stay in the
//! cache while they are multiplied.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};

use crate::linalg::packed;

/// Tasks in one piece.
pub(super) const TASKS_PER_PIECE: usize = 64;
/// Entries of each Gram matrix in one piece, as long as one of its rows is not longer.
const ENTRIES_PER_PIECE: usize = 512;
/// Rows and columns of a matrix that are mirrored together.
const TILE: usize = 16;

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

    /// Calls `work` with ranges of the matrices' rows and, for each, all pieces of the table: the first task, and one
    /// column a task.
    fn for_each_piece(&self, mut work: impl FnMut(&Range<usize>, usize, MatRef<'_, f64>)) {
        let mut buffer = Vec::new();
        let mut start = 0;
        while start < self.dim {
            let mut end = start + 1;
            while end < self.dim && entries(&(start..end + 1)).len() <= ENTRIES_PER_PIECE {
                end += 1;
            }
            let rows = start..end;
            for (piece, grams) in self.grams.chunks(TASKS_PER_PIECE).enumerate() {
                buffer.clear();
                for gram in grams {
                    buffer.extend_from_slice(&gram[entries(&rows)]);
                }
                let (length, tasks) = (entries(&rows).len(), grams.len());
                let values = MatRef::from_column_major_slice(&buffer, length, tasks);
                work(&rows, piece * TASKS_PER_PIECE, values);
            }
            start = end;
        }
    }

    /// `Σ_w C_w ⊗ G_w` for symmetric `k × k` weights, one packed row a task, and for as many sets of weights as stand side
    /// by side in these rows: the table is read once for all of them.
    pub(super) fn kronecker_sums(&self, weights: MatRef<'_, f64>, k: usize) -> Vec<Mat<f64>> {
        let (d, pairs) = (self.dim, packed::len(k));
        let sets = weights.ncols() / pairs.max(1);
        let mut matrices: Vec<_> = (0..sets).map(|_| Mat::zeros(k * d, k * d)).collect();
        let mut sums = Mat::<f64>::zeros(0, 0);
        self.for_each_piece(|rows, first, grams| {
            let accumulate = match first {
                0 => {
                    sums.resize_with(grams.nrows(), weights.ncols(), |_, _| 0.0);
                    Accum::Replace
                }
                _ => Accum::Add,
            };
            let weights = weights.subrows(first, grams.ncols());
            matmul(sums.as_mut(), accumulate, grams, weights, 1.0, Par::Seq);
            if first + grams.ncols() == self.grams.len() {
                for (set, matrix) in matrices.iter_mut().enumerate() {
                    let sums = sums.as_ref().subcols(set * pairs, pairs);
                    place(sums, rows, d, matrix.as_mut());
                }
            }
        });
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
        let mut products = Mat::<f64>::zeros(0, 0);
        self.for_each_piece(|rows, first, grams| {
            if first == 0 {
                products = symmetric_products(representation, rows);
            }
            let to = small.as_mut().subcols_mut(first, grams.ncols());
            matmul(to, Accum::Add, products.transpose(), grams, 1.0, Par::Seq);
        });
        small
    }
}

/// The packed entries of some rows.
fn entries(rows: &Range<usize>) -> Range<usize> {
    packed::len(rows.start)..packed::len(rows.end)
}

/// Lays rows of packed `d × d` blocks, one block for each pair `j ≤ i`, out as columns: the upper half of every block.
fn place(sums: MatRef<'_, f64>, rows: &Range<usize>, d: usize, mut matrix: MatMut<'_, f64>) {
    let k = matrix.ncols() / d;
    for i in 0..k {
        for j in 0..=i {
            let from = sums.col(packed::len(i) + j);
            for a in rows.clone() {
                let start = packed::len(a) - packed::len(rows.start);
                matrix
                    .as_mut()
                    .col_mut(j * d + a)
                    .subrows_mut(i * d, a + 1)
                    .copy_from(from.subrows(start, a + 1));
            }
        }
    }
}

/// Copies the upper half of a square matrix to its lower half.
fn mirror(mut block: MatMut<'_, f64>) {
    let d = block.ncols();
    for left in (0..d).step_by(TILE) {
        for top in (left..d).step_by(TILE) {
            for b in left..d.min(left + TILE) {
                for a in top.max(b + 1)..d.min(top + TILE) {
                    block[(a, b)] = block[(b, a)];
                }
            }
        }
    }
}

/// For each pair `j ≤ i` of columns, some rows of the packed symmetric product whose inner product with a packed Gram
/// matrix `G` is `b_iᵀ G b_j`.
fn symmetric_products(matrix: MatRef<'_, f64>, rows: &Range<usize>) -> Mat<f64> {
    let k = matrix.ncols();
    let columns: Vec<Vec<f64>> = (0..k).map(|i| crate::linalg::column(matrix, i)).collect();
    let mut out = Mat::zeros(entries(rows).len(), packed::len(k));
    for i in 0..k {
        for j in 0..=i {
            let (left, right) = (&columns[i], &columns[j]);
            let mut rest = out.col_as_slice_mut(packed::len(i) + j);
            for a in rows.clone() {
                let (row, next) = rest.split_at_mut(a + 1);
                for ((value, l), r) in row.iter_mut().zip(left).zip(right) {
                    *value = left[a] * r + right[a] * l;
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
        let (d, k, tasks) = (47, 3, 2 * TASKS_PER_PIECE + 5);
        assert!(packed::len(d) > 2 * ENTRIES_PER_PIECE);
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
