//! The source family: one function of the input for every task parameter `w`.
//!
//! `y = φ(x)ᵀ M ψ_W(w) + ξ` with `M` unknown and a Gaussian prior on its entries: after the source
//! tasks, `M` has a Gaussian posterior, in closed form from statistics. The penalty comes from the
//! evidence. Nothing of the targets enters, so what the family says of a target is a prediction.

use faer::{Mat, MatRef};

use crate::data::{Stage, TargetRows, TaskData};
use crate::error::Result;
use crate::linalg;
use crate::train::{Problem, Spectrum};

/// Most unknowns of `M` that are solved for densely.
const MOST_UNKNOWNS: usize = 1000;

/// Whether a family of so many features and task features can be solved for.
pub(crate) fn is_solvable(features: usize, task_features: usize) -> bool {
    features.saturating_mul(task_features) <= MOST_UNKNOWNS
}

/// The functions that source tasks can have, as far as the source rows tell.
#[derive(Debug, Clone)]
pub struct Family {
    /// `M` of each output, `d × p`.
    matrices: Vec<Mat<f64>>,
    noise: f64,
    lambda: f64,
    /// Eigenvalues and eigenvectors of `Σ_w ψ_Wψ_Wᵀ ⊗ G_w`, ordered task feature, then feature.
    values: Vec<f64>,
    vectors: Mat<f64>,
}

impl Family {
    /// Fits the family to the source rows of some stages (all, if none are named), over the first
    /// `sources` task features; nothing where there are no rows or too many unknowns.
    ///
    /// # Errors
    /// A breakdown of the numerics.
    pub fn fit(data: &TaskData, sources: usize, stages: Option<&[Stage]>) -> Result<Option<Self>> {
        let problem = Problem::new(data, stages, TargetRows::None)?;
        let d = data.feature_dim();
        if problem.labels() == 0 || !is_solvable(d, sources) {
            return Ok(None);
        }
        let (matrix, rhs) = problem.full_equations(sources);
        let (values, vectors) = linalg::eigen(matrix.as_ref(), "the equations of the family")?;
        let values: Vec<f64> = values.into_iter().map(|value| value.max(0.0)).collect();
        let rotated = linalg::product(vectors.transpose(), rhs.as_ref());
        let spectrum = Spectrum {
            values: values.repeat(problem.outputs),
            moments_squared: (0..problem.outputs)
                .flat_map(|output| linalg::column(rotated.as_ref(), output))
                .map(|moment| moment * moment)
                .collect(),
            square: problem.squares(),
            labels: problem.labels(),
        };
        let lambda = spectrum.best_lambda();
        let matrices = (0..problem.outputs)
            .map(|output| {
                let shrunk: Vec<f64> = (0..values.len())
                    .map(|i| rotated[(i, output)] / (values[i] + lambda))
                    .collect();
                let flat = linalg::apply(vectors.as_ref(), &shrunk);
                Mat::from_fn(d, sources, |a, i| flat[i * d + a])
            })
            .collect();
        Ok(Some(Self {
            matrices,
            noise: spectrum.unbiased_noise(lambda),
            lambda,
            values,
            vectors,
        }))
    }

    /// Features of an input that the functions are linear in.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.matrices.first().map_or(0, Mat::nrows)
    }

    /// Outputs of a function.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.matrices.len()
    }

    /// `M` of an output.
    #[must_use]
    pub fn matrix(&self, output: usize) -> MatRef<'_, f64> {
        self.matrices[output].as_ref()
    }

    /// Noise variance of the source rows.
    #[must_use]
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// The coefficients `M ψ_W` of an output's function.
    #[must_use]
    pub fn coefficients(&self, task_features: &[f64], output: usize) -> Vec<f64> {
        linalg::apply(self.matrix(output), task_features)
    }

    /// The covariance of these coefficients: what the source rows leave open. The same for every
    /// output.
    #[must_use]
    pub fn covariance(&self, task_features: &[f64]) -> Mat<f64> {
        let d = self.dim();
        // Row e of (ψ ⊗ I)ᵀ V: the eigenvectors folded with the task's features.
        let folded = Mat::from_fn(d, self.values.len(), |a, e| {
            let entry = |(i, psi): (usize, &f64)| psi * self.vectors[(i * d + a, e)];
            let scale = (self.noise / (self.values[e] + self.lambda)).sqrt();
            scale * task_features.iter().enumerate().map(entry).sum::<f64>()
        });
        linalg::product(folded.as_ref(), folded.transpose())
    }
}
