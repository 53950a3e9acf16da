//! Products and factors of matrices that are large enough for several threads to pay off.
//!
//! Blocks of columns have a fixed size and each is computed by one thread, so that the number of
//! threads does not show. Small matrices are left to the calling thread.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use super::{Cholesky, cholesky, product};

/// Columns from which decompositions into eigenvalues are avoided: they take thirty times as long as
/// a Cholesky factor.
pub const WIDE: usize = 64;
/// Columns that one thread computes at a time.
const BLOCK: usize = 128;
/// Multiplications from which other threads pay off.
const LARGE: f64 = 1e8;
/// The condition up to which a Cholesky factor loses no digits that matter.
const WELL_CONDITIONED: f64 = 1e6;

/// `lhs · rhs`.
pub fn multiply(lhs: MatRef<'_, f64>, rhs: MatRef<'_, f64>) -> Mat<f64> {
    let (n, m) = (lhs.nrows(), rhs.ncols());
    if (n as f64) * (m as f64) * (lhs.ncols() as f64) < LARGE {
        return product(lhs, rhs);
    }
    let mut out = Mat::zeros(n, m);
    out.as_mut()
        .par_col_chunks_mut(BLOCK)
        .zip(rhs.par_col_chunks(BLOCK))
        .for_each(|(out, rhs)| matmul(out, Accum::Replace, lhs, rhs, 1.0, Par::Seq));
    out
}

/// `L⁻¹ · rhs` for a factor `L Lᵀ`.
pub fn whiten(factor: &Cholesky, rhs: MatRef<'_, f64>) -> Mat<f64> {
    let (n, m) = (rhs.nrows(), rhs.ncols());
    if (n as f64) * (n as f64) * (m as f64) < LARGE {
        return factor.whiten(rhs);
    }
    let mut out = rhs.to_owned();
    out.as_mut()
        .par_col_chunks_mut(BLOCK)
        .for_each(|columns| solve_lower_triangular_in_place(factor.0.as_ref(), columns, Par::Seq));
    out
}

/// The Cholesky factor of a wide matrix that is well conditioned, as far as its diagonal tells; none
/// for others, which need a decomposition into eigenvalues.
pub fn well_conditioned(matrix: MatRef<'_, f64>) -> Option<Cholesky> {
    if matrix.nrows() < WIDE || !super::is_finite(matrix) {
        return None;
    }
    let factor = cholesky(matrix, "a wide matrix").ok()?;
    (factor.condition() < WELL_CONDITIONED).then_some(factor)
}

/// The squared lengths of the columns of `factor · columns`.
pub fn squared_images(factor: MatRef<'_, f64>, columns: MatRef<'_, f64>) -> Vec<f64> {
    let images = multiply(factor, columns);
    (0..images.ncols())
        .map(|j| images.col(j).squared_norm_l2())
        .collect()
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::rng::{Purpose, derive};

    #[test]
    fn large_matrices_are_multiplied_and_solved_like_small_ones() {
        let mut rng = derive(1, Purpose::Test, &[]);
        let mut gaussian = |n: usize, m: usize| -> Mat<f64> {
            Mat::from_fn(n, m, |_, _| StandardNormal.sample(&mut rng))
        };
        let (a, b) = (gaussian(300, 700), gaussian(700, 900));
        assert!((multiply(a.as_ref(), b.as_ref()) - &a * &b).norm_max() < 1e-11);
        let gram = &a * a.transpose();
        let factor = well_conditioned(gram.as_ref()).unwrap();
        let wide = gaussian(300, 1500);
        let whitened = whiten(&factor, wide.as_ref());
        assert!((whitened - factor.whiten(wide.as_ref())).norm_max() < 1e-11);
        let inverse = whiten(&factor, Mat::<f64>::identity(300, 300).as_ref());
        let half = multiply(inverse.as_ref(), gram.as_ref());
        let unit = multiply(half.as_ref(), inverse.transpose());
        assert!((unit - Mat::<f64>::identity(300, 300)).norm_max() < 1e-9);
    }

    #[test]
    fn singular_and_small_matrices_have_no_factor_here() {
        assert!(well_conditioned(Mat::<f64>::identity(3, 3).as_ref()).is_none());
        let mut singular = Mat::<f64>::identity(100, 100);
        singular[(7, 7)] = 1e-9;
        assert!(well_conditioned(singular.as_ref()).is_none());
        singular[(7, 7)] = f64::NAN;
        assert!(well_conditioned(singular.as_ref()).is_none());
    }
}
