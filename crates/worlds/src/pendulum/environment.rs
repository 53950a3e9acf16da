//! The conditions of a task, and the torque that they add.
//!
//! ```
//! use taskscout_worlds::pendulum::Environment;
//!
//! let calm = Environment::from_task(&[0.0, 0.0, 0.81, -1.0, -1.0])?;
//! assert!(calm.residual(0.3, 0.0).abs() < 1e-12); // no wind, no motion, nominal gravity
//! let outside = Environment::from_task(&[0.0, 1.5, 0.0, 0.0, 0.0]).unwrap_err();
//! assert!(outside.to_string().contains("w2 (wind y) is 1.5"));
//! # Ok::<(), taskscout::Error>(())
//! ```

use serde::{Deserialize, Serialize};
use taskscout::{Error, Result};

/// Mass `m` at the end of the rod.
pub const MASS_KG: f64 = 1.0;

/// Length `l` of the rod.
pub const LENGTH_M: f64 = 0.5;

/// The gravity `ĝ` that the controller assumes.
pub const NOMINAL_GRAVITY_M_S2: f64 = 9.81;

/// What the parameters of a task are, in order.
pub const TASK_NAMES: [&str; 5] = [
    "wind x",
    "wind y",
    "gravity",
    "linear damping",
    "quadratic damping",
];

/// Moment of inertia `m l²`.
pub(super) const INERTIA_KG_M2: f64 = MASS_KG * LENGTH_M * LENGTH_M;

/// The largest torque of nominal gravity, `m l ĝ`.
pub(super) const GRAVITY_TORQUE_NM: f64 = MASS_KG * LENGTH_M * NOMINAL_GRAVITY_M_S2;

/// The part of the air's force that is linear in its relative speed, beside the cubic part of 1.
const LINEAR_DRAG: f64 = 0.5;

/// How far a task may lie outside the box by rounding.
const TOLERANCE: f64 = 1e-9;

/// The conditions that a pendulum moves in.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// Wind along x, the direction in which the upright pendulum leaves rest.
    pub wind_x_m_s: f64,
    /// Wind along y.
    pub wind_y_m_s: f64,
    /// Gravity `g`.
    pub gravity_m_s2: f64,
    /// Linear damping `α₁` of the joint.
    pub linear_damping_nms: f64,
    /// Quadratic damping `α₂` of the joint.
    pub quadratic_damping_nms2: f64,
}

impl Environment {
    /// The conditions of a task.
    ///
    /// # Errors
    /// A task that has not five parameters or leaves the box `[−1, 1]^5`, naming the parameter.
    pub fn from_task(task: &[f64]) -> Result<Self> {
        let Ok([w1, w2, w3, w4, w5]) = <[f64; 5]>::try_from(task) else {
            return Err(Error::WrongLength {
                place: "the task of a pendulum".into(),
                expected: TASK_NAMES.len(),
                found: task.len(),
            });
        };
        if let Some(reason) = breach(task) {
            return Err(Error::OutsideSpace {
                task: show(task),
                reason,
            });
        }
        Ok(Self {
            wind_x_m_s: 2.0 * w1,
            wind_y_m_s: 2.0 * w2,
            gravity_m_s2: 9.0 + w3,
            linear_damping_nms: 0.5 * (w4 + 1.0),
            quadratic_damping_nms2: 0.5 * (w5 + 1.0),
        })
    }

    /// The task with these conditions, up to rounding.
    #[must_use]
    pub fn task(&self) -> [f64; 5] {
        [
            0.5 * self.wind_x_m_s,
            0.5 * self.wind_y_m_s,
            self.gravity_m_s2 - 9.0,
            2.0 * self.linear_damping_nms - 1.0,
            2.0 * self.quadratic_damping_nms2 - 1.0,
        ]
    }

    /// The residual torque `f(θ, θ̇)` in newton metres, without noise.
    #[must_use]
    pub fn residual(&self, angle_rad: f64, velocity_rad_s: f64) -> f64 {
        let (sin, cos) = angle_rad.sin_cos();
        self.residual_at(sin, cos, velocity_rad_s)
    }

    /// The angular acceleration under a torque, without noise.
    #[must_use]
    pub fn acceleration(&self, angle_rad: f64, velocity_rad_s: f64, torque_nm: f64) -> f64 {
        let (sin, cos) = angle_rad.sin_cos();
        accelerate(sin, torque_nm + self.residual_at(sin, cos, velocity_rad_s))
    }

    /// The residual torque, for a caller that has the sine and cosine of the angle.
    #[inline]
    pub(super) fn residual_at(&self, sin: f64, cos: f64, velocity_rad_s: f64) -> f64 {
        let tip = LENGTH_M * velocity_rad_s;
        // The relative wind R = c − tip e with e = (cos θ, sin θ): only R·e does work on the pendulum.
        let along = self.wind_x_m_s * cos + self.wind_y_m_s * sin;
        let wind_square = self.wind_x_m_s * self.wind_x_m_s + self.wind_y_m_s * self.wind_y_m_s;
        let square = wind_square - 2.0 * tip * along + tip * tip;
        let air = LENGTH_M * (square + LINEAR_DRAG) * (along - tip);
        let damping = self.linear_damping_nms + self.quadratic_damping_nms2 * velocity_rad_s.abs();
        let weight = MASS_KG * LENGTH_M * (self.gravity_m_s2 - NOMINAL_GRAVITY_M_S2);
        air - damping * velocity_rad_s + weight * sin
    }
}

/// The angular acceleration under nominal gravity and a torque.
#[inline]
pub(super) fn accelerate(sin: f64, torque_nm: f64) -> f64 {
    (GRAVITY_TORQUE_NM * sin + torque_nm) / INERTIA_KG_M2
}

/// Which parameter leaves the box, and how.
pub(super) fn breach(task: &[f64]) -> Option<String> {
    // Asked this way round, a NaN is outside too.
    let inside = |w: &f64| w.abs() <= 1.0 + TOLERANCE;
    let at = task.iter().position(|w| !inside(w))?;
    Some(format!(
        "w{} ({}) is {}, but it must be from -1 to 1",
        at + 1,
        TASK_NAMES.get(at)?,
        task[at]
    ))
}

/// A task in a message, without the noise of rounding.
pub(super) fn show(task: &[f64]) -> String {
    let short = |w: &f64| format!("{}", (w * 1e6).round() / 1e6 + 0.0);
    let values: Vec<String> = task.iter().map(short).collect();
    format!("[{}]", values.join(", "))
}
