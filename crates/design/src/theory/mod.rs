//! The paper's quantities as numbers: what decides how much a target costs, the risk law, and the bounds.
//!
//! All of it is about two matrices: the source part of the task map `B` (`k × d_W`) and what the target needs,
//! `A = E[c_0 c_0ᵀ]` (`k × k`). Source tasks are the unit ball in task features; for a ball of radius `r` pass `r B`.
//!
//! | item | what it gives |
//! |---|---|
//! | [`Quantities`] | `k*`, `κ(B)`, `‖W*_i‖`, `‖ν‖₁` |
//! | [`Allocation`] | `tr(Σ⁻¹A)` of passive, equal `q_1`, L1, L2, the paper's construction and the optimal design |
//! | [`Bounds`] | what the paper proves for each of them, in the same unit |
//! | [`excess_risk`] | the risk law: from `tr(Σ⁻¹A)` to a mean squared error |
//!
//! ```
//! use faer::mat;
//! use taskscout::theory::{Allocation, Bounds, Quantities};
//! // The second direction is four times weaker than the first, and the target needs both.
//! let map = mat![[4.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
//! let need = mat![[0.5, 0.0], [0.0, 0.5]];
//! let known = Quantities::of(map.as_ref(), need.as_ref())?;
//! assert_eq!(known.k_star, 2);
//! assert!((known.condition - 4.0).abs() < 1e-12);
//! let value = |how: Allocation| how.value(map.as_ref(), need.as_ref());
//! let (best, paper) = (value(Allocation::Optimal)?, value(Allocation::Paper)?);
//! assert!(best <= paper && paper <= Bounds::of(&known).construction);
//! # Ok::<(), taskscout::Error>(())
//! ```
//!
//! Reference: Chen, Huang, Du, Jamieson and Shi, "Active representation learning for general task space with
//! applications in robotics", NeurIPS 2023: Theorem 4.1, its comparisons, and appendix D for the agnostic bound.

mod allocation;
mod bounds;
mod quantities;

pub use allocation::Allocation;
pub use bounds::Bounds;
use faer::{Mat, MatRef};
pub use quantities::Quantities;

use crate::error::{Error, Result};
use crate::optimal::Criterion;

/// The shape of a study, as far as the risk law asks for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RiskShape {
    /// Variance of the noise of a label.
    pub noise: f64,
    /// Features of an input, `d_X`.
    pub inputs: usize,
    /// Rows of the target that its head is fitted to.
    pub target_rows: usize,
}

/// The excess risk on a target for isotropic inputs, to leading order:
/// `σ²(d_X − k)·tr(Σ⁻¹A) + σ²k/n_t`.
///
/// `information` is `Σ = Σ_w n_w C_w C_wᵀ + n_t C_t C_tᵀ`, in samples, and not a design of weight one. Infinite where
/// `A` reaches outside of what the information covers, or without rows of the target.
///
/// ```
/// use faer::mat;
/// use taskscout::theory::{RiskShape, excess_risk};
/// let shape = RiskShape { noise: 1.0, inputs: 11, target_rows: 100 };
/// // A thousand samples of a task like the target.
/// let risk = excess_risk(shape, mat![[1000.0]].as_ref(), mat![[1.0]].as_ref())?;
/// assert!((risk - (10.0 / 1000.0 + 1.0 / 100.0)).abs() < 1e-12);
/// # Ok::<(), taskscout::Error>(())
/// ```
///
/// # Errors
/// Matrices that do not fit each other, more directions than inputs, or entries that are not finite.
pub fn excess_risk(
    shape: RiskShape,
    information: MatRef<'_, f64>,
    need: MatRef<'_, f64>,
) -> Result<f64> {
    let k = need.nrows();
    Error::check_length("the information", k, information.nrows())?;
    if k > shape.inputs {
        return Err(Error::value(
            "k",
            k,
            format!("is more than the {} features of an input", shape.inputs),
        ));
    }
    let value = Criterion::Trace.value(information, need)?;
    let head = k as f64 / shape.target_rows as f64;
    Ok(shape.noise * ((shape.inputs - k) as f64 * value + head))
}

/// The need of targets with these embeddings, all alike: `A = (1/m) Σ c_i c_iᵀ`.
///
/// # Errors
/// No target, or embeddings of different lengths.
pub fn need_of(targets: &[Vec<f64>]) -> Result<Mat<f64>> {
    let Some(first) = targets.first() else {
        return Err(Error::setting("targets", "are empty: give at least one"));
    };
    let mut need = Mat::zeros(first.len(), first.len());
    for target in targets {
        Error::check_length("a target's embedding", first.len(), target.len())?;
        for (i, a) in target.iter().enumerate() {
            for (j, b) in target.iter().enumerate() {
                need[(i, j)] += a * b / targets.len() as f64;
            }
        }
    }
    Ok(need)
}

/// A need of `k*` directions: targets that are the first `k*` task features, all alike.
///
/// ```
/// use faer::mat;
/// use taskscout::theory::need_of_first;
/// let map = mat![[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]];
/// assert_eq!(need_of_first(map.as_ref(), 2)?, mat![[0.5, 0.0], [0.0, 0.5]]);
/// let error = need_of_first(map.as_ref(), 3).unwrap_err();
/// assert_eq!(error.to_string(), "`k_star` 3 is more than k = 2: a target has at most as many directions as the representation");
/// # Ok::<(), taskscout::Error>(())
/// ```
///
/// # Errors
/// A `k*` of 0, or above `k` or the number of task features.
pub fn need_of_first(map: MatRef<'_, f64>, k_star: usize) -> Result<Mat<f64>> {
    check_k_star(k_star, map.nrows())?;
    if k_star > map.ncols() {
        let problem = format!("is more than the {} task features", map.ncols());
        return Err(Error::value("k_star", k_star, problem));
    }
    let targets: Vec<Vec<f64>> = (0..k_star).map(|j| crate::linalg::column(map, j)).collect();
    need_of(&targets)
}

/// Whether a target can have so many directions.
///
/// # Errors
/// A `k*` of 0 or above `k`.
pub fn check_k_star(k_star: usize, k: usize) -> Result<()> {
    if k_star == 0 {
        let problem = "is 0: a target has at least one direction";
        return Err(Error::setting("k_star", problem));
    }
    if k_star > k {
        return Err(Error::value(
            "k_star",
            k_star,
            format!(
                "is more than k = {k}: a target has at most as many directions as the representation"
            ),
        ));
    }
    Ok(())
}
