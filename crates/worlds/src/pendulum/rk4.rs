//! The classical Runge–Kutta method of order four.
//!
//! ```text
//! s⁺ = s + h (k₁ + 2 k₂ + 2 k₃ + k₄) / 6
//! k₁ = d(s),  k₂ = d(s + h/2 k₁),  k₃ = d(s + h/2 k₂),  k₄ = d(s + h k₃)
//! ```
//!
//! ```
//! use taskscout_worlds::pendulum::rk4;
//! let grown = rk4([1.0], 0.1, |[x]| [x]); // x' = x
//! assert!((grown[0] - 0.1_f64.exp()).abs() < 1e-7);
//! ```

/// One step of `h` from a state with the derivative `d`.
#[inline]
pub fn rk4<const N: usize>(
    state: [f64; N],
    h: f64,
    derivative: impl Fn([f64; N]) -> [f64; N],
) -> [f64; N] {
    rk4_from(state, derivative(state), h, derivative)
}

/// The same for a caller who knows the derivative `k1` at the state already.
#[inline]
pub fn rk4_from<const N: usize>(
    state: [f64; N],
    k1: [f64; N],
    h: f64,
    derivative: impl Fn([f64; N]) -> [f64; N],
) -> [f64; N] {
    let along = |h: f64, k: [f64; N]| std::array::from_fn(|i| state[i] + h * k[i]);
    let k2 = derivative(along(0.5 * h, k1));
    let k3 = derivative(along(0.5 * h, k2));
    let k4 = derivative(along(h, k3));
    std::array::from_fn(|i| state[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]))
}
