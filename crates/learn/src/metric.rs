//! How good is what was learnt, where the truth is known?

mod functions;

use faer::MatRef;
use serde::{Deserialize, Serialize};

use crate::data::TaskData;
use crate::error::{Error, Result};
use crate::linalg;

pub use functions::{BasisValues, TaskFunctionValues};

/// Share of the source samples above which tasks are counted apart.
const ONE_PERCENT: f64 = 0.01;

/// How much of a true subspace an estimate catches, direction by direction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SubspaceSimilarity {
    /// Smallest squared cosine between the subspaces: the direction caught worst.
    pub min: f64,
    /// Mean squared cosine.
    pub mean: f64,
}

/// Compares the column spaces of two matrices with orthonormal columns, the learnt one first.
///
/// ```
/// use faer::mat;
/// use taskscout::metric::subspace_similarity;
/// let truth = mat![[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]];
/// let learnt = mat![[1.0, 0.0], [0.0, 0.6], [0.0, 0.8]];
/// let similarity = subspace_similarity(learnt.as_ref(), truth.as_ref())?;
/// assert!((similarity.min - 0.36).abs() < 1e-12);
/// assert!((similarity.mean - 0.68).abs() < 1e-12);
/// # Ok::<(), taskscout::Error>(())
/// ```
///
/// # Errors
/// Matrices of different heights, or without columns.
pub fn subspace_similarity(
    learnt: MatRef<'_, f64>,
    truth: MatRef<'_, f64>,
) -> Result<SubspaceSimilarity> {
    Error::check_length("the true representation", learnt.nrows(), truth.nrows())?;
    if learnt.ncols() == 0 || truth.ncols() == 0 {
        return Err(Error::setting(
            "k",
            "is 0: a subspace needs at least one direction",
        ));
    }
    let cosines = linalg::svd(
        linalg::product(learnt.transpose(), truth).as_ref(),
        "the overlap of subspaces",
    )?
    .s;
    // Directions that a smaller learnt space cannot hold are missed altogether.
    let squares: Vec<f64> = (0..truth.ncols())
        .map(|i| cosines.get(i).map_or(0.0, |c| (c * c).min(1.0)))
        .collect();
    Ok(SubspaceSimilarity {
        min: squares.iter().copied().fold(1.0, f64::min),
        mean: squares.iter().sum::<f64>() / squares.len() as f64,
    })
}

/// Compares what two representations say of the same rows, the learnt one first: the squared
/// canonical correlations (not centred) of their values. For linear representations of isotropic
/// inputs this is [`subspace_similarity`].
///
/// # Errors
/// Values of different numbers of rows, or without columns.
pub fn squared_canonical_correlations(
    learnt: MatRef<'_, f64>,
    truth: MatRef<'_, f64>,
) -> Result<SubspaceSimilarity> {
    let basis = |values: MatRef<'_, f64>| -> Result<faer::Mat<f64>> {
        let svd = linalg::svd(values, "the values of a representation")?;
        let rank = svd.s.iter().filter(|&&s| s > 1e-9 * svd.s[0]).count();
        Ok(svd.u.as_ref().subcols(0, rank).to_owned())
    };
    subspace_similarity(basis(learnt)?.as_ref(), basis(truth)?.as_ref())
}

/// Cosine between two embeddings of the same length: how relevant a source task is to a target.
///
/// ```
/// assert!((taskscout::metric::cosine(&[1.0, 0.0], &[1.0, 1.0]) - 0.5_f64.sqrt()).abs() < 1e-12);
/// ```
#[must_use]
pub fn cosine(embedding: &[f64], target: &[f64]) -> f64 {
    linalg::cosine(embedding, target)
}

/// Mean squared error of predictor coefficients against the true ones, `(β̂ − β)ᵀ E[ψψᵀ] (β̂ − β)`.
///
/// # Errors
/// Lengths that differ.
pub fn target_loss(learnt: &[f64], truth: &[f64], second_moment: MatRef<'_, f64>) -> Result<f64> {
    Error::check_length("the learnt coefficients", truth.len(), learnt.len())?;
    Error::check_length("the second moment", truth.len(), second_moment.nrows())?;
    Error::check_length("the second moment", truth.len(), second_moment.ncols())?;
    let difference: Vec<f64> = learnt.iter().zip(truth).map(|(a, b)| a - b).collect();
    Ok(linalg::quadratic(second_moment, &difference))
}

/// How many source tasks a study has used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampledTaskSummary {
    /// Distinct source tasks.
    pub tasks: usize,
    /// Those holding at least 1 % of the source samples so far.
    #[serde(rename = "long_term")]
    pub above_one_percent: usize,
}

/// Counts the source tasks of a study.
#[must_use]
pub fn count_sampled_tasks(data: &TaskData) -> SampledTaskSummary {
    let rows = data.rows_by_task();
    let enough = ONE_PERCENT * data.source_rows() as f64;
    SampledTaskSummary {
        tasks: rows.len(),
        above_one_percent: rows.iter().filter(|(_, n)| *n as f64 >= enough).count(),
    }
}
