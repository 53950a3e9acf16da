//! What a simulation records.

use serde::{Deserialize, Serialize};

use super::simulate::Instant;

/// A run, one entry a step: the state at its beginning and what was in force during it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Trajectory {
    /// Length of a step in seconds.
    pub step_s: f64,
    /// Angles `θ`.
    pub angles_rad: Vec<f64>,
    /// Velocities `θ̇`.
    pub velocities_rad_s: Vec<f64>,
    /// Torques `u` of the policy.
    pub controls_nm: Vec<f64>,
    /// Residual torques `f(θ, θ̇, w)` without noise.
    pub residuals_nm: Vec<f64>,
    /// Residual torques with noise: what a learner sees.
    pub labels_nm: Vec<f64>,
}

impl Trajectory {
    /// An empty one with room for so many steps.
    pub(super) fn with_capacity(step_s: f64, steps: usize) -> Self {
        let room = || Vec::with_capacity(steps);
        Self {
            step_s,
            angles_rad: room(),
            velocities_rad_s: room(),
            controls_nm: room(),
            residuals_nm: room(),
            labels_nm: room(),
        }
    }

    #[inline]
    pub(super) fn push(&mut self, instant: &Instant) {
        self.angles_rad.push(instant.angle_rad);
        self.velocities_rad_s.push(instant.velocity_rad_s);
        self.controls_nm.push(instant.control_nm);
        self.residuals_nm.push(instant.residual_nm);
        self.labels_nm.push(instant.label_nm);
    }

    /// Number of steps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.angles_rad.len()
    }

    /// Whether there are no steps.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.angles_rad.is_empty()
    }

    /// When a step begins, in seconds.
    #[must_use]
    pub fn time_s(&self, step: usize) -> f64 {
        step as f64 * self.step_s
    }
}
