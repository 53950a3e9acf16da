//! What training gives: a shared representation `φ`, a task map `B`, and predictors of targets.

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use crate::data::{Statistics, TaskEntry};
use crate::error::{Error, Result};
use crate::linalg;

/// A shared representation: features in, `k` numbers out.
///
/// All that follows training works on statistics under `φ`, so that is what a representation must
/// be able to give.
pub trait Representation: std::fmt::Debug + Send + Sync {
    /// `k`.
    fn dim(&self) -> usize;

    /// The statistics of a task's data under `φ`: a `k × k` Gram matrix and `k`-vectors.
    ///
    /// # Errors
    /// Data that the representation does not fit.
    fn statistics(&self, entry: &TaskEntry) -> Result<Statistics>;
}

/// A linear representation `φ(ψ) = B_Xᵀ ψ` with orthonormal columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Linear {
    #[serde(with = "linalg::serde_mat")]
    matrix: Mat<f64>,
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
    fn dim(&self) -> usize {
        self.matrix.ncols()
    }

    fn statistics(&self, entry: &TaskEntry) -> Result<Statistics> {
        entry.statistics.project(self.matrix())
    }
}

/// The linear task map `B`: from task features to embeddings, one block of columns an output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskMap {
    #[serde(with = "linalg::serde_mat")]
    matrix: Mat<f64>,
    task_dim: usize,
}

impl TaskMap {
    /// Takes `B`, `k × (outputs · task_dim)`.
    pub(crate) fn new(matrix: Mat<f64>, task_dim: usize) -> Self {
        Self { matrix, task_dim }
    }

    /// `B` with all its columns.
    #[must_use]
    pub fn matrix(&self) -> MatRef<'_, f64> {
        self.matrix.as_ref()
    }

    /// The columns of an output; outputs are counted from 0.
    pub(crate) fn output(&self, output: usize) -> MatRef<'_, f64> {
        self.matrix
            .as_ref()
            .subcols(output * self.task_dim, self.task_dim)
    }

    /// The source part of an output's columns: those of the first `sources` task features.
    pub(crate) fn source(&self, output: usize, sources: usize) -> MatRef<'_, f64> {
        self.output(output).subcols(0, sources)
    }

    /// A task's embedding `c_w = B ψ_W(w)`.
    ///
    /// # Errors
    /// Task features of the wrong length.
    pub fn embedding(&self, features: &[f64], output: usize) -> Result<Vec<f64>> {
        Error::check_length("the task's features", self.task_dim, features.len())?;
        if (output + 1) * self.task_dim > self.matrix.ncols() {
            return Err(Error::State(format!(
                "there is no output {output} in this task map"
            )));
        }
        Ok(linalg::apply(self.output(output), features))
    }
}

/// How a fit went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitReport {
    /// Sweeps over both factors.
    pub iterations: usize,
    /// Whether the objective stopped falling before the limit of sweeps.
    pub converged: bool,
    /// The regularised objective at the end.
    pub objective: f64,
    /// Sum of squared residuals at the end.
    pub residual: f64,
    /// The penalty `λ` on both factors, in units of the summed squared error.
    pub lambda: f64,
    /// Effective number of parameters.
    pub freedom: f64,
    /// Logarithm of the (approximate) marginal likelihood, up to a constant of the data.
    pub evidence: f64,
    /// Estimated condition numbers of the equations for `B_X` and for `B`.
    pub conditions: [f64; 2],
    /// Labels used.
    pub labels: usize,
    /// The objective after each sweep at the final penalty.
    pub trace: Vec<f64>,
}

/// A trained model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// `φ`.
    pub representation: Linear,
    /// `B`, in the coordinates of `φ`.
    pub map: TaskMap,
    /// Singular values of `B_X B`, falling: how much each direction of the representation carries.
    pub spectrum: Vec<f64>,
    /// Noise variance `σ²`.
    pub noise: f64,
    /// How the fit went.
    pub report: FitReport,
}

impl Model {
    /// Brings a fitted pair of factors into normal form: `B_X` orthonormal, the rows of `B`
    /// orthogonal and ordered by how much they carry.
    pub(crate) fn from_factors(
        representation: MatRef<'_, f64>,
        map: MatRef<'_, f64>,
        task_dim: usize,
        noise: f64,
        report: FitReport,
    ) -> Result<Self> {
        let left = linalg::svd(representation, "the representation")?;
        // B_X B = U (S Vᵀ B): a second decomposition of the small factor gives that of the product.
        let scaled = Mat::from_fn(left.s.len(), left.v.nrows(), |i, j| {
            left.s[i] * left.v[(j, i)]
        });
        let small = linalg::product(scaled.as_ref(), map);
        let right = linalg::svd(small.as_ref(), "the task map")?;
        let basis = linalg::product(left.u.as_ref(), right.u.as_ref());
        let rows = Mat::from_fn(right.s.len(), right.v.nrows(), |i, j| {
            right.s[i] * right.v[(j, i)]
        });
        Ok(Self {
            representation: Linear { matrix: basis },
            map: TaskMap::new(rows, task_dim),
            spectrum: right.s,
            noise,
            report,
        })
    }

    /// `k`.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.representation.dim()
    }
}
