//! A linear representation.

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use super::{Representation, same};
use crate::data::{Rows, Statistics};
use crate::error::{Error, Result};
use crate::linalg;

/// A linear representation `φ(ψ) = B_Xᵀ ψ`, with orthonormal columns unless it was taken [as it is](Linear::from_matrix).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Linear {
    #[serde(with = "linalg::serde_mat")]
    matrix: Mat<f64>,
}

impl PartialEq for Linear {
    fn eq(&self, other: &Self) -> bool {
        same(self.matrix.as_ref(), other.matrix.as_ref())
    }
}

impl Linear {
    /// Takes `B_X`, `d × k`, and makes its columns orthonormal.
    ///
    /// # Errors
    /// Columns that are linearly dependent or not finite.
    pub fn new(matrix: MatRef<'_, f64>) -> Result<Self> {
        let svd = linalg::svd(matrix, "the representation")?;
        let rank = svd.s.iter().filter(|&&s| s > 1e-12 * svd.s[0]).count();
        if rank < matrix.ncols() {
            return Err(Error::RankDeficient {
                what: "the representation".into(),
                rank,
                needed: matrix.ncols(),
                remedy: "use a smaller k".into(),
            });
        }
        Ok(Self {
            matrix: linalg::product(svd.u.as_ref(), svd.v.transpose()),
        })
    }

    /// Takes a matrix as it is, bit for bit: for a representation that was saved.
    ///
    /// # Errors
    /// A matrix without entries, or one that is not finite.
    pub fn from_matrix(matrix: Mat<f64>) -> Result<Self> {
        if matrix.nrows() == 0 || matrix.ncols() == 0 {
            return Err(Error::setting(
                "representation",
                "has a size of 0: give at least 1",
            ));
        }
        if !linalg::is_finite(matrix.as_ref()) {
            return Err(Error::NotFinite {
                place: "an entry of the representation".into(),
                value: f64::NAN,
            });
        }
        Ok(Self { matrix })
    }

    /// Takes `B_X` with columns that are orthonormal already.
    pub(crate) fn from_basis(matrix: Mat<f64>) -> Self {
        Self { matrix }
    }

    /// `B_X`, `d × k`.
    #[must_use]
    pub fn matrix(&self) -> MatRef<'_, f64> {
        self.matrix.as_ref()
    }

    /// The coefficients `B_X c` on features of the predictor with embedding `c`.
    #[must_use]
    pub fn coefficients(&self, embedding: &[f64]) -> Vec<f64> {
        linalg::apply(self.matrix(), embedding)
    }
}

impl Representation for Linear {
    fn input_dim(&self) -> usize {
        self.matrix.nrows()
    }

    fn dim(&self) -> usize {
        self.matrix.ncols()
    }

    fn apply(&self, features: MatRef<'_, f64>) -> Result<Mat<f64>> {
        Error::check_length("a feature row", self.matrix.nrows(), features.ncols())?;
        Ok(linalg::product(features, self.matrix()))
    }

    /// From statistics alone: no row is looked at.
    fn statistics(&self, statistics: &Statistics, _rows: &Rows) -> Result<Statistics> {
        statistics.project(self.matrix())
    }
}
