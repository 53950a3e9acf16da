//! What a representation is, and the kinds that a model can hold.

use std::sync::Arc;

use faer::{Mat, MatRef};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Linear, Mlp};
use crate::data::{Rows, Statistics};
use crate::error::{Error, Result};
use crate::linalg;

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

/// A representation of the user's own, followed by a linear change of coordinates.
#[derive(Debug, Clone)]
pub struct Custom {
    inner: Arc<dyn Representation>,
    mix: Mat<f64>,
}

impl Custom {
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

impl PartialEq for Custom {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner) && self.mix == other.mix
    }
}

/// The representations that a model can hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Phi {
    /// A matrix.
    Linear(Linear),
    /// A multilayer perceptron.
    Mlp(Mlp),
    /// The user's own, which a file cannot hold.
    #[serde(skip)]
    Custom(Custom),
}

impl Phi {
    /// The representation of the user's own.
    #[must_use]
    pub fn custom(representation: Arc<dyn Representation>) -> Self {
        Self::Custom(Custom::new(representation))
    }

    /// The matrix, if it is one.
    #[must_use]
    pub fn linear(&self) -> Option<&Linear> {
        match self {
            Self::Linear(linear) => Some(linear),
            _ => None,
        }
    }

    /// `φ` followed by the linear map `matrixᵀ`, `k' × k`.
    ///
    /// # Errors
    /// A matrix with another number of rows than `φ` has outputs.
    pub fn then(&self, matrix: MatRef<'_, f64>) -> Result<Self> {
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
            Self::Custom(custom) => Self::Custom(Custom {
                inner: Arc::clone(&custom.inner),
                mix: linalg::product(custom.mix.as_ref(), matrix),
            }),
        })
    }
}

impl From<Linear> for Phi {
    fn from(linear: Linear) -> Self {
        Self::Linear(linear)
    }
}

impl From<Mlp> for Phi {
    fn from(mlp: Mlp) -> Self {
        Self::Mlp(mlp)
    }
}

impl Representation for Phi {
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
