//! What training gives: a shared representation `φ`, a task map `B`, and predictors of targets.

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::hierarchy::HierarchicalModel;
use crate::linalg;
pub use crate::representation::{
    Activation, AnyRepresentation, CustomRepresentation, Layer, Linear, Mlp, Representation,
};

/// The linear task map `B`: from task features to embeddings, one block of columns an output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskEmbeddingMap {
    #[serde(with = "linalg::serde_mat")]
    matrix: Mat<f64>,
    task_dim: usize,
}

impl TaskEmbeddingMap {
    /// Takes `B`, `k × (outputs · task_dim)`.
    #[must_use]
    pub fn new(matrix: Mat<f64>, task_dim: usize) -> Self {
        Self { matrix, task_dim }
    }

    /// `B` with all its columns.
    #[must_use]
    pub fn matrix(&self) -> MatRef<'_, f64> {
        self.matrix.as_ref()
    }

    /// Number of features of a task, targets' own task features included.
    #[must_use]
    pub fn task_dim(&self) -> usize {
        self.task_dim
    }

    /// The columns of an output; outputs are counted from 0.
    pub(crate) fn output(&self, output: usize) -> MatRef<'_, f64> {
        self.matrix
            .as_ref()
            .subcols(output * self.task_dim, self.task_dim)
    }

    /// The source part of an output's columns: those of the first `sources` task features.
    #[must_use]
    pub fn source_part(&self, output: usize, sources: usize) -> MatRef<'_, f64> {
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

/// Initial values of a fit, taken from an earlier one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WarmStart {
    /// `φ`.
    pub representation: AnyRepresentation,
    /// `B`, where it is part of what is trained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<TaskEmbeddingMap>,
}

/// How a fit went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitReport {
    /// Sweeps over both factors.
    pub iterations: usize,
    /// Whether the objective stopped falling before the limit of sweeps.
    pub converged: bool,
    /// The regularised objective at the end.
    #[serde(deserialize_with = "number")]
    pub objective: f64,
    /// Sum of squared residuals at the end.
    #[serde(deserialize_with = "number")]
    #[serde(rename = "residual")]
    pub residual_sum_of_squares: f64,
    /// The penalty `λ` on both factors, in units of the summed squared error.
    #[serde(deserialize_with = "number")]
    pub lambda: f64,
    /// Effective number of parameters.
    #[serde(deserialize_with = "number")]
    #[serde(rename = "freedom")]
    pub degrees_of_freedom: f64,
    /// Logarithm of the (approximate) marginal likelihood, up to a constant of the data.
    #[serde(deserialize_with = "number")]
    #[serde(rename = "evidence")]
    pub log_evidence: f64,
    /// Estimated condition numbers of the equations for `B_X` and for `B`.
    #[serde(deserialize_with = "numbers")]
    #[serde(rename = "conditions")]
    pub condition_numbers: [f64; 2],
    /// Labels used.
    pub labels: usize,
    /// The objective after each sweep at the final penalty.
    #[serde(rename = "trace")]
    pub objective_history: Vec<f64>,
    /// What a user should know of the fit: steps taken again, settings chosen from the data.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A number that a trainer may not have: JSON writes NaN as null.
fn number<'de, D: serde::Deserializer<'de>>(input: D) -> std::result::Result<f64, D::Error> {
    Ok(Option::deserialize(input)?.unwrap_or(f64::NAN))
}

/// Two of them.
fn numbers<'de, D: serde::Deserializer<'de>>(input: D) -> std::result::Result<[f64; 2], D::Error> {
    let known = <[Option<f64>; 2]>::deserialize(input)?;
    Ok(known.map(|value| value.unwrap_or(f64::NAN)))
}

/// A trained model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// `φ`.
    pub representation: AnyRepresentation,
    /// `B`, in the coordinates of `φ`.
    pub map: TaskEmbeddingMap,
    /// Singular values of `B_X B`, falling: how much each direction of the representation carries.
    pub spectrum: Vec<f64>,
    /// Noise variance `σ²`.
    #[serde(deserialize_with = "number")]
    pub noise: f64,
    /// How the fit went.
    pub report: FitReport,
    /// What a later fit may start from; for trainers that can use it.
    #[serde(rename = "start", default, skip_serializing_if = "Option::is_none")]
    pub warm_start: Option<WarmStart>,
    /// What ties tasks together.
    #[serde(default)]
    pub structure: ModelStructure,
}

/// How the functions of tasks are modelled together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelStructure {
    /// A matrix `φ` and a linear task map: predictions are linear in each.
    #[default]
    #[serde(rename = "factored")]
    Bilinear,
    /// Families of tasks that share task features, and what each task has of its own: one hierarchical model an output.
    Hierarchical(Vec<HierarchicalModel>),
    /// A network or a user's own `φ` and a linear task map.
    Network,
}

impl ModelStructure {
    /// The families of tasks, one hierarchical model an output; none where the structure is another.
    #[must_use]
    pub fn hierarchical_models(&self) -> &[HierarchicalModel] {
        match self {
            Self::Hierarchical(models) => models,
            Self::Bilinear | Self::Network => &[],
        }
    }

    /// Whether tasks are families.
    #[must_use]
    pub fn is_hierarchical(&self) -> bool {
        matches!(self, Self::Hierarchical(_))
    }
}

impl Model {
    /// Brings a fitted pair of factors into normal form: `B_X` orthonormal, the rows of `B`
    /// orthogonal and ordered by how much they carry.
    /// # Errors
    /// Factors that do not fit each other or are not finite.
    pub fn from_factors(
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
            representation: AnyRepresentation::Linear(Linear::from_basis(basis)),
            map: TaskEmbeddingMap::new(rows, task_dim),
            spectrum: right.s,
            noise,
            report,
            warm_start: None,
            structure: ModelStructure::Bilinear,
        })
    }

    /// `k`.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.representation.dim()
    }
}
