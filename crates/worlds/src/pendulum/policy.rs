//! Who chooses the torque.
//!
//! Policies with a model `f̂` of the residual cancel it and pull the pendulum upright:
//! `u = −m l ĝ sin θ − f̂(θ, θ̇) − m l² (K_P θ + K_D θ̇)`. With the true residual the closed loop is
//! `θ̈ + K_D θ̇ + K_P θ = 0`. The random policy has no model; it adds pushes of `40 ε` instead, so
//! that data show more than the upright position.

use rand_distr::{Distribution as _, StandardNormal};
use taskscout::rng::Rng;

use super::environment::{GRAVITY_TORQUE_NM, INERTIA_KG_M2};

/// `K_P`, on the angle.
pub const POSITION_GAIN_PER_S2: f64 = 2.25;

/// `K_D`, on the velocity.
pub const DAMPING_GAIN_PER_S: f64 = 3.0;

/// Torque of a push `ε` of one.
pub const EXCITATION_TORQUE_NM: f64 = 40.0;

/// Standard deviation of a push `ε`.
pub const EXCITATION_DEVIATION: f64 = 0.1;

/// Where pushes are clipped, in standard deviations.
pub const EXCITATION_LIMIT: f64 = 3.0;

/// Steps over which a push is held.
pub const EXCITATION_STEPS: usize = 10;

/// Who chooses the torque.
#[derive(Clone, Copy)]
pub enum Policy<'a> {
    /// Upright with random pushes, for collecting data.
    Random,
    /// The controller with a model of the residual: angle and velocity in, torque out.
    Model(&'a (dyn Fn(f64, f64) -> f64 + Sync)),
    /// The controller with the true residual as its model: the best there is.
    True,
    /// The controller without a model, `f̂ = 0`.
    NoModel,
}

impl std::fmt::Debug for Policy<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Random => "Random",
            Self::Model(_) => "Model",
            Self::True => "True",
            Self::NoModel => "NoModel",
        })
    }
}

/// What a controller sees at the beginning of a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sight {
    pub(super) angle_rad: f64,
    pub(super) velocity_rad_s: f64,
    pub(super) sin: f64,
    /// The true residual.
    pub(super) residual_nm: f64,
    /// The push in force.
    pub(super) excitation: f64,
}

impl Policy<'_> {
    /// Whether pushes are drawn.
    pub(super) fn pushes(&self) -> bool {
        matches!(self, Self::Random)
    }

    /// The torque for a step.
    #[inline]
    pub(super) fn torque(&self, sight: &Sight) -> f64 {
        match self {
            Self::Random => cancel(sight, 0.0) + EXCITATION_TORQUE_NM * sight.excitation,
            Self::Model(model) => cancel(sight, model(sight.angle_rad, sight.velocity_rad_s)),
            Self::True => cancel(sight, sight.residual_nm),
            Self::NoModel => cancel(sight, 0.0),
        }
    }
}

/// The torque that cancels gravity and a residual, and pulls upright.
#[inline]
pub(super) fn cancel(sight: &Sight, residual_nm: f64) -> f64 {
    let pull = POSITION_GAIN_PER_S2 * sight.angle_rad + DAMPING_GAIN_PER_S * sight.velocity_rad_s;
    -GRAVITY_TORQUE_NM * sight.sin - residual_nm - INERTIA_KG_M2 * pull
}

/// Draws a push `ε`.
#[inline]
pub(super) fn push(rng: &mut Rng) -> f64 {
    let normal: f64 = StandardNormal.sample(rng);
    EXCITATION_DEVIATION * normal.clamp(-EXCITATION_LIMIT, EXCITATION_LIMIT)
}
