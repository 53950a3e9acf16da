//! Cholesky factorisations, with what follows from a factor.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::{Mat, MatRef, Par};

use super::mirror;
use crate::error::{Error, Result};

/// A Cholesky factorisation of a symmetric positive definite matrix, lower half given.
pub fn cholesky(matrix: MatRef<'_, f64>, what: &str) -> Result<Cholesky> {
    factorise(matrix.to_owned(), what)
}

/// The same in the memory of the matrix.
pub fn factorise(mut matrix: Mat<f64>, what: &str) -> Result<Cholesky> {
    let params = faer::Spec::default();
    let scratch = llt::factor::cholesky_in_place_scratch::<f64>(matrix.nrows(), Par::Seq, params);
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    let (exact, whole) = (llt::factor::LltRegularization::default(), matrix.as_mut());
    llt::factor::cholesky_in_place(whole, exact, Par::Seq, stack, params)
        .map_err(|_| not_definite(what))?;
    Ok(Cholesky(matrix))
}

fn not_definite(what: &str) -> Error {
    Error::numerical(
        format!("factorising {what}"),
        "it is not positive definite to working precision; add regularisation, or rescale the features",
    )
}

/// A factorised symmetric positive definite matrix: the lower half of the factor, above it anything.
pub struct Cholesky(pub(super) Mat<f64>);

impl Cholesky {
    /// Solves for a right-hand side.
    pub fn solve(&self, rhs: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = rhs.to_owned();
        let scratch = llt::solve::solve_in_place_scratch::<f64>(rhs.nrows(), rhs.ncols(), Par::Seq);
        let mut memory = MemBuffer::new(scratch);
        let stack = MemStack::new(&mut memory);
        llt::solve::solve_in_place(self.0.as_ref(), out.as_mut(), Par::Seq, stack);
        out
    }

    /// The factor `L` of `L Lᵀ`.
    pub fn lower(&self) -> Mat<f64> {
        let n = self.0.nrows();
        Mat::from_fn(n, n, |i, j| if i >= j { self.0[(i, j)] } else { 0.0 })
    }

    /// `L⁻¹ · rhs` for the factor `L Lᵀ`.
    pub fn whiten(&self, rhs: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = rhs.to_owned();
        faer::linalg::triangular_solve::solve_lower_triangular_in_place(
            self.0.as_ref(),
            out.as_mut(),
            Par::Seq,
        );
        out
    }

    /// The inverse.
    pub fn inverse(&self) -> Mat<f64> {
        let n = self.0.nrows();
        let mut out = Mat::zeros(n, n);
        let scratch = llt::inverse::inverse_scratch::<f64>(n, Par::Seq);
        let mut memory = MemBuffer::new(scratch);
        let stack = MemStack::new(&mut memory);
        llt::inverse::inverse(out.as_mut(), self.0.as_ref(), Par::Seq, stack);
        mirror(out.as_mut().transpose_mut());
        out
    }

    /// Trace of the inverse.
    pub fn inverse_trace(&self) -> f64 {
        self.inverse_diagonal().iter().sum()
    }

    /// The diagonal of the inverse.
    pub fn inverse_diagonal(&self) -> Vec<f64> {
        // (L Lᵀ)⁻¹ has the squared lengths of the columns of L⁻¹ on its diagonal: half the work of the inverse.
        let n = self.0.nrows();
        let mut inverse = Mat::zeros(n, n);
        faer::linalg::triangular_inverse::invert_lower_triangular(
            inverse.as_mut(),
            self.0.as_ref(),
            Par::Seq,
        );
        (0..n)
            .map(|j| {
                let column: f64 = (j..n).map(|i| inverse[(i, j)] * inverse[(i, j)]).sum();
                column
            })
            .collect()
    }

    /// Logarithm of the determinant.
    pub fn log_det(&self) -> f64 {
        let diagonal = self.0.as_ref().diagonal().column_vector();
        (0..diagonal.nrows()).map(|i| 2.0 * diagonal[i].ln()).sum()
    }

    /// A cheap estimate of the condition number, from the factor's diagonal.
    pub fn condition(&self) -> f64 {
        let diagonal = self.0.as_ref().diagonal().column_vector();
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for i in 0..diagonal.nrows() {
            low = low.min(diagonal[i].abs());
            high = high.max(diagonal[i].abs());
        }
        (high / low).powi(2)
    }
}
