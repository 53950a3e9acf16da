//! What the paper proves, in units of `tr(Σ⁻¹A)` for a design of one sample.

use serde::{Deserialize, Serialize};

use super::Quantities;

/// The paper's bounds. A bound `b` says that `N = σ² k d_X b / ε²` source samples bring the excess risk to `ε²`, up to
/// constants and logarithms ([`Bounds::samples`]).
///
/// ```
/// use faer::mat;
/// use taskscout::theory::{Bounds, Quantities};
/// let map = mat![[2.0, 0.0], [0.0, 1.0]];
/// let known = Quantities::of(map.as_ref(), mat![[1.0, 0.0], [0.0, 1.0]].as_ref())?;
/// let bounds = Bounds::of(&known);
/// // k*² max ‖W*‖² with ‖W*_2‖ = 1, and κ² = 4 > k* = 2 in the printed one.
/// assert!((bounds.construction - 4.0).abs() < 1e-9 && (bounds.aware - 8.0).abs() < 1e-9);
/// assert!((Bounds::samples(bounds.aware, 1.0, (2, 10), 0.1) - 1600.0).abs() < 1e-6);
/// # Ok::<(), taskscout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// Of the paper's construction of `q_2` where `A` is known: `k*² max_i ‖W*_i‖²`.
    pub construction: f64,
    /// Theorem 4.1 as printed, with the factor for an eigenbasis of an estimated `A`:
    /// `k*² min{k*, κ²} max_i ‖W*_i‖²`.
    pub aware: f64,
    /// Target-agnostic, for equal weights on the right singular vectors: `k tr(A) / σ_k²(B)`.
    pub agnostic: f64,
    /// Passive over the task features, as the paper cites it: `d_W ‖A‖ / σ_min²(B)`. For a target of several directions
    /// the trace itself may be up to `k*` times as large.
    pub passive: f64,
    /// The discrete active bound for one target, `‖ν‖₁²`; for several directions the sum over them, times `k*`.
    pub l1: f64,
}

impl Bounds {
    /// All bounds from the quantities that they are made of.
    #[must_use]
    pub fn of(known: &Quantities) -> Self {
        let k_star = known.k_star as f64;
        let construction = (k_star * known.longest()).powi(2);
        let weakest = known.weakest * known.weakest;
        let l1: f64 = known.l1_norms.iter().map(|norm| norm * norm).sum();
        Self {
            construction,
            aware: construction * k_star.min(known.condition * known.condition),
            agnostic: known.k as f64 * known.strength / weakest,
            passive: known.task_features as f64 * known.largest / weakest,
            l1: k_star * l1,
        }
    }

    /// The source samples that a bound, or a value of `tr(Σ⁻¹A)`, asks for: `σ² k d_X b / ε²`.
    #[must_use]
    pub fn samples(bound: f64, noise: f64, (k, inputs): (usize, usize), risk: f64) -> f64 {
        noise * (k * inputs) as f64 * bound / risk
    }
}
