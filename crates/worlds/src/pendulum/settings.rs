//! How a pendulum is simulated.

use serde::{Deserialize, Serialize};
use taskscout::{Error, Result};

use super::simulate::RUNAWAY_RAD_S;

/// The longest step: beyond it no pendulum of this size is integrated with any accuracy.
pub const MAX_STEP_S: f64 = 0.1;

/// Angle and velocity of the pendulum; upright and at rest by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// The angle `θ` from upright.
    pub angle_rad: f64,
    /// The velocity `θ̇`.
    pub velocity_rad_s: f64,
}

/// How a pendulum is simulated; the paper's settings by default.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Length of a step in seconds.
    pub step_s: f64,
    /// Standard deviation of the noise: on labels in newton metres, and, the same draw, on the
    /// acceleration in rad/s².
    pub noise: f64,
    /// Where the pendulum starts.
    pub start: State,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            step_s: 0.01,
            noise: 0.5,
            start: State::default(),
        }
    }
}

impl Settings {
    /// Says what is out of range, or that nothing is.
    ///
    /// # Errors
    /// The setting that is out of range.
    pub fn check(&self) -> Result<()> {
        if !(self.step_s > 0.0 && self.step_s <= MAX_STEP_S) {
            return Err(Error::setting(
                "step_s",
                format!(
                    "is {}: it must be above 0 and at most {MAX_STEP_S} seconds",
                    self.step_s
                ),
            ));
        }
        check_noise(self.noise)?;
        let State {
            angle_rad,
            velocity_rad_s,
        } = self.start;
        if !(angle_rad.is_finite() && velocity_rad_s.abs() <= RUNAWAY_RAD_S) {
            return Err(Error::setting(
                "start",
                format!(
                    "is ({angle_rad}, {velocity_rad_s}): the angle must be finite and the velocity at most {RUNAWAY_RAD_S} rad/s"
                ),
            ));
        }
        Ok(())
    }
}

/// Checks a standard deviation of noise.
pub(super) fn check_noise(noise: f64) -> Result<()> {
    if noise >= 0.0 && noise.is_finite() {
        return Ok(());
    }
    Err(Error::setting(
        "noise",
        format!("is {noise}: it must be at least 0 and finite"),
    ))
}
