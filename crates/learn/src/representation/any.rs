//! The kinds of representation that a model can hold.

use std::sync::Arc;

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use super::{Linear, Mlp, Representation};
use crate::data::{Rows, Statistics};
use crate::error::{Error, Result};
use crate::linalg;

/// A representation of the user's own, followed by a linear change of coordinates.
#[derive(Debug, Clone)]
pub struct CustomRepresentation {
    inner: Arc<dyn Representation>,
    mix: Mat<f64>,
}

impl CustomRepresentation {
    /// Takes a representation as it is.
    #[must_use]
    pub fn new(inner: Arc<dyn Representation>) -> Self {
        let k = inner.dim();
        Self {
            inner,
            mix: Mat::identity(k, k),
        }
    }
}

impl PartialEq for CustomRepresentation {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner) && self.mix == other.mix
    }
}

/// The representations that a model can hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AnyRepresentation {
    /// A matrix.
    Linear(Linear),
    /// A multilayer perceptron.
    Mlp(Mlp),
    /// The user's own, which a file cannot hold.
    #[serde(skip)]
    Custom(CustomRepresentation),
}

impl AnyRepresentation {
    /// The representation of the user's own.
    #[must_use]
    pub fn custom(representation: Arc<dyn Representation>) -> Self {
        Self::Custom(CustomRepresentation::new(representation))
    }

    /// The matrix, if it is one.
    #[must_use]
    pub fn as_linear(&self) -> Option<&Linear> {
        match self {
            Self::Linear(linear) => Some(linear),
            _ => None,
        }
    }

    /// `φ` followed by the linear map `matrixᵀ`, `k' × k`.
    ///
    /// # Errors
    /// A matrix with another number of rows than `φ` has outputs.
    pub fn followed_by_matrix(&self, matrix: MatRef<'_, f64>) -> Result<Self> {
        Error::check_length(
            "the rows of the change of coordinates",
            self.dim(),
            matrix.nrows(),
        )?;
        Ok(match self {
            Self::Linear(linear) => {
                Self::Linear(Linear::from_basis(linalg::product(linear.matrix(), matrix)))
            }
            Self::Mlp(mlp) => Self::Mlp(mlp.then(matrix)),
            Self::Custom(custom) => Self::Custom(CustomRepresentation {
                inner: Arc::clone(&custom.inner),
                mix: linalg::product(custom.mix.as_ref(), matrix),
            }),
        })
    }
}

impl From<Linear> for AnyRepresentation {
    fn from(linear: Linear) -> Self {
        Self::Linear(linear)
    }
}

impl From<Mlp> for AnyRepresentation {
    fn from(mlp: Mlp) -> Self {
        Self::Mlp(mlp)
    }
}

impl Representation for AnyRepresentation {
    fn input_dim(&self) -> usize {
        match self {
            Self::Linear(linear) => linear.input_dim(),
            Self::Mlp(mlp) => mlp.input_dim(),
            Self::Custom(custom) => custom.inner.input_dim(),
        }
    }

    fn dim(&self) -> usize {
        match self {
            Self::Linear(linear) => linear.dim(),
            Self::Mlp(mlp) => mlp.dim(),
            Self::Custom(custom) => custom.mix.ncols(),
        }
    }

    fn apply(&self, features: MatRef<'_, f64>) -> Result<Mat<f64>> {
        Error::check_length("a feature row", self.input_dim(), features.ncols())?;
        match self {
            Self::Linear(linear) => linear.apply(features),
            Self::Mlp(mlp) => mlp.apply(features),
            Self::Custom(custom) => {
                let inner = custom.inner.apply(features)?;
                Error::check_length("the representation's rows", features.nrows(), inner.nrows())?;
                Error::check_length("the representation", custom.mix.nrows(), inner.ncols())?;
                Ok(linalg::product(inner.as_ref(), custom.mix.as_ref()))
            }
        }
    }

    fn statistics(&self, statistics: &Statistics, rows: &Rows) -> Result<Statistics> {
        match self {
            Self::Linear(linear) => linear.statistics(statistics, rows),
            Self::Mlp(mlp) => mlp.statistics(statistics, rows),
            Self::Custom(custom) => custom
                .inner
                .statistics(statistics, rows)?
                .project(custom.mix.as_ref()),
        }
    }
}
