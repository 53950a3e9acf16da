//! The task map for a given representation, `O^W`.
//!
//! Each task's head `ĉ_w` is least squares on `φ`-features; `B` then minimises
//! `Σ_w ‖ĉ_w − B ψ_W(w)‖²` in the metric `B_Xᵀ G_w B_X`. That is the joint least-squares problem for
//! `B` itself, so the heads need not be formed; for an orthonormal set of equal counts and
//! isotropic inputs it is the paper's `Σ_w ĉ_w ψ_W(w)ᵀ`.

use faer::{Mat, MatRef};

use super::kronecker::Problem;
use crate::data::{Stage, TargetRows, TaskData};
use crate::error::{Error, Result};
use crate::linalg;
use crate::model::{Linear, TaskMap};

/// Fits the task map of a representation to data of the given stages (all if `None`) and targets.
///
/// # Errors
/// No data, or tasks that do not span the task features.
pub fn task_map(
    data: &TaskData,
    representation: &Linear,
    stages: Option<&[Stage]>,
    targets: TargetRows,
) -> Result<TaskMap> {
    let problem = Problem::new(data, stages, targets)?;
    let matrix = fit(&problem, representation.matrix())?;
    Ok(TaskMap::new(matrix, problem.task_dim))
}

fn fit(problem: &Problem<'_>, representation: MatRef<'_, f64>) -> Result<Mat<f64>> {
    let (k, p) = (representation.ncols(), problem.task_dim);
    let tasks = linalg::svd(problem.design_matrix().as_ref(), "the task features")?;
    let rank = tasks.s.iter().filter(|&&s| s > 1e-10 * tasks.s[0]).count();
    if rank < p {
        return Err(Error::RankDeficient {
            what: "the set of tasks".into(),
            rank,
            needed: p,
            remedy: "collect from more directions of the task space".into(),
        });
    }
    let projected = problem.project(representation);
    let (matrix, rhs) = problem.map_equations(&projected, k);
    let solver = linalg::cholesky(matrix.as_ref(), "the equations of the task map")?;
    let solution = solver.solve(rhs.as_ref());
    Ok(Mat::from_fn(k, problem.map_dim(), |i, column| {
        solution[(i * p + column % p, column / p)]
    }))
}
