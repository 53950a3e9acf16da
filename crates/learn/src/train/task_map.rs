//! The task map for a given representation, `O^W`.
//!
//! Each task's head `ĉ_w` is least squares on `φ`-features; `B` then minimises
//! `Σ_w ‖ĉ_w − B ψ_W(w)‖²` in the metric `B_Xᵀ G_w B_X`. That is the joint least-squares problem for
//! `B` itself, so the heads need not be formed; for an orthonormal set of equal counts and
//! isotropic inputs it is the paper's `Σ_w ĉ_w ψ_W(w)ᵀ`.

use faer::{Mat, MatRef};

use crate::data::{FoldSelection, Stage, TaskData};
use crate::error::{Error, Result};
use crate::linalg;
use crate::model::{Linear, TaskEmbeddingMap};
use crate::regression::BilinearProblem;

/// Fits the task map of a representation to data of the given stages (all if `None`) and targets.
///
/// # Errors
/// No data, or tasks that do not span the task features.
pub fn fit_task_embedding_map(
    data: &TaskData,
    representation: &Linear,
    stages: Option<&[Stage]>,
    targets: FoldSelection,
) -> Result<TaskEmbeddingMap> {
    let problem = BilinearProblem::new(data, stages, targets)?;
    let matrix = fit(&problem, representation.matrix())?;
    Ok(TaskEmbeddingMap::new(matrix, problem.task_dim))
}

/// Directions that no task has shown are held at 0 by this share of the largest information.
const UNSEEN: f64 = 1e-10;

/// A fitted map, and the estimated condition number of its equations.
pub(super) struct MapFit {
    pub(super) matrix: Mat<f64>,
    pub(super) condition: f64,
}

fn fit(problem: &BilinearProblem<'_>, representation: MatRef<'_, f64>) -> Result<Mat<f64>> {
    let (rank, needed) = (spanned(problem)?, problem.task_dim);
    if rank < needed {
        return Err(Error::RankDeficient {
            what: "the set of tasks".into(),
            rank,
            needed,
            remedy: "collect from more directions of the task space".into(),
        });
    }
    Ok(solve(problem, representation, 0.0)?.matrix)
}

/// The map of the tasks that there are, whether or not they span the task features: what no task
/// has shown is 0.
pub(super) fn fit_any(
    problem: &BilinearProblem<'_>,
    representation: MatRef<'_, f64>,
) -> Result<MapFit> {
    let complete = spanned(problem)? == problem.task_dim;
    solve(problem, representation, if complete { 0.0 } else { UNSEEN })
}

/// Dimensions of the task features that the tasks span.
fn spanned(problem: &BilinearProblem<'_>) -> Result<usize> {
    let tasks = linalg::svd(problem.design_matrix().as_ref(), "the task features")?;
    Ok(tasks.s.iter().filter(|&&s| s > 1e-10 * tasks.s[0]).count())
}

fn solve(
    problem: &BilinearProblem<'_>,
    representation: MatRef<'_, f64>,
    share: f64,
) -> Result<MapFit> {
    let (k, p) = (representation.ncols(), problem.task_dim);
    let projected = problem.project(representation);
    let (mut matrix, rhs) = problem.map_equations(&projected, k);
    let largest = (0..k * p).map(|i| matrix[(i, i)]).fold(0.0, f64::max);
    (0..k * p).for_each(|i| matrix[(i, i)] += share * largest);
    let solver = linalg::cholesky(matrix.as_ref(), "the equations of the task map")?;
    let solution = solver.solve(rhs.as_ref());
    Ok(MapFit {
        matrix: Mat::from_fn(k, problem.map_dim(), |i, column| {
            solution[(i * p + column % p, column / p)]
        }),
        condition: solver.condition(),
    })
}
