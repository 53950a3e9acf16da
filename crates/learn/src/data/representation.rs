//! What a representation is to data: a way to see rows, and statistics of what it sees.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::{Rows, Statistics};
use crate::error::{Error, Result};

/// Rows taken through a representation at a time.
const CHUNK_ROWS: usize = 2048;

/// A shared representation: features in, `k` numbers out.
///
/// All that follows training works on statistics under `φ`, so a representation must be able to
/// give those; from rows it does so by itself.
///
/// ```
/// use faer::{Mat, MatRef};
/// use taskscout::model::Representation;
///
/// /// The length of the input, whatever its direction.
/// #[derive(Debug)]
/// struct Length(usize);
///
/// impl Representation for Length {
///     fn input_dim(&self) -> usize { self.0 }
///     fn dim(&self) -> usize { 1 }
///     fn apply(&self, features: MatRef<'_, f64>) -> taskscout::Result<Mat<f64>> {
///         Ok(Mat::from_fn(features.nrows(), 1, |i, _| features.row(i).norm_l2()))
///     }
/// }
/// ```
pub trait Representation: std::fmt::Debug + Send + Sync {
    /// Number of features `ψ_X` that it takes.
    fn input_dim(&self) -> usize;

    /// `k`.
    fn dim(&self) -> usize;

    /// `φ` of every row of a matrix of features.
    ///
    /// # Errors
    /// Rows of the wrong length.
    fn apply(&self, features: MatRef<'_, f64>) -> Result<Mat<f64>>;

    /// The statistics of a task's data under `φ`: a `k × k` Gram matrix and `k`-vectors.
    ///
    /// # Errors
    /// Data that the representation does not fit, or that lack the rows it needs.
    fn statistics(&self, statistics: &Statistics, rows: &Rows) -> Result<Statistics> {
        statistics_of_rows(self, statistics, rows)
    }
}

/// Statistics under `φ`, from rows, in chunks of fixed size on all cores.
pub(crate) fn statistics_of_rows(
    phi: &(impl Representation + ?Sized),
    statistics: &Statistics,
    rows: &Rows,
) -> Result<Statistics> {
    if rows.len() != statistics.count() {
        return Err(Error::State(format!(
            "this representation needs the {} rows of a task, but {} were kept: \
                 collect with a study whose oracle keeps rows",
            statistics.count(),
            rows.len()
        )));
    }
    let outputs = statistics.outputs();
    let parts: Vec<Statistics> = rows
        .chunks(CHUNK_ROWS, statistics.dim(), outputs)
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|(inputs, labels)| {
            let n = labels.len() / outputs.max(1);
            let values = phi.apply(MatRef::from_row_major_slice(&inputs, n, statistics.dim()))?;
            let flat = row_major(values.as_ref());
            Error::check_finite(&flat, |i| {
                format!("the representation of row {}", i / phi.dim().max(1))
            })?;
            let mut part = Statistics::new(phi.dim(), outputs);
            part.add_rows(&flat, &labels);
            Ok(part)
        })
        .collect::<Result<_>>()?;
    Statistics::sum(phi.dim(), outputs, &parts)
}

/// The entries of a matrix, row by row.
pub(crate) fn row_major(matrix: MatRef<'_, f64>) -> Vec<f64> {
    let mut out = Vec::with_capacity(matrix.nrows() * matrix.ncols());
    for i in 0..matrix.nrows() {
        out.extend((0..matrix.ncols()).map(|j| matrix[(i, j)]));
    }
    out
}
