//! Vehicles: what one weighs, how its rotors push, and what the air does to it.
//!
//! The residual force of the air, in the world, with `u = Rᵀ(v − wind)` the air speed in body axes,
//! `T` the thrust and `P` the projection on the rotor plane:
//!
//! ```text
//! f = −R (D₁ u + D₂ |u| u + ρ (T / mg) P u)  +  ι T (|P u|² / 100 − u_z / 10) R e₃
//! ```
//!
//! the drag of the body, linear and quadratic with a coefficient for each axis; the drag of the
//! rotors, which grows with their thrust; and a small gain of thrust in moving air, which a climb
//! takes away again.

use serde::{Deserialize, Serialize};
use taskscout::{Error, Result};

use super::frame::{Rotation, add, column, norm, rotation, scale, sub, to_body, to_world};

/// Gravity.
pub const GRAVITY_M_S2: f64 = 9.81;

/// The command at which a rotor stands still, in microseconds.
pub const PWM_IDLE: f64 = 1000.0;

/// What commands span from idle to full thrust, in microseconds.
pub const PWM_RANGE: f64 = 1000.0;

/// A quadrotor with its rotors in the corners of a square.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vehicle {
    /// Its name in file names: letters and digits.
    pub name: String,
    /// Mass.
    pub mass_kg: f64,
    /// Distance of a rotor from each of the two horizontal body axes.
    pub arm_m: f64,
    /// Moments of inertia about the body axes.
    pub inertia_kg_m2: [f64; 3],
    /// Torque about the vertical that a newton of a rotor's thrust brings.
    pub yaw_torque_m: f64,
    /// Largest thrust of a rotor.
    pub rotor_thrust_n: f64,
    /// Linear drag by body axis, newtons for each m/s.
    pub linear_drag: [f64; 3],
    /// Quadratic drag by body axis, newtons for each (m/s)².
    pub quadratic_drag: [f64; 3],
    /// Drag of the rotors at hovering thrust, newtons for each m/s.
    pub rotor_drag: f64,
    /// How much thrust moving air adds: its share at 10 m/s across the rotors.
    pub induced: f64,
    /// Standard deviation of the measured force.
    pub force_noise_n: f64,
    /// Standard deviation of the logged rotor commands, in microseconds.
    pub pwm_noise: f64,
    /// Standard deviation of the pushes that air and motors give the attitude, rad/s².
    pub attitude_jitter: f64,
}

impl Vehicle {
    /// A research quadrotor of 2.6 kg.
    #[must_use]
    pub fn hawk() -> Self {
        Self {
            name: "hawk".into(),
            mass_kg: 2.6,
            arm_m: 0.17,
            inertia_kg_m2: [0.024, 0.026, 0.044],
            yaw_torque_m: 0.02,
            rotor_thrust_n: 20.0,
            linear_drag: [0.25, 0.31, 0.18],
            quadratic_drag: [0.030, 0.038, 0.055],
            rotor_drag: 0.16,
            induced: 0.06,
            force_noise_n: 0.35,
            pwm_noise: 6.0,
            attitude_jitter: 2.5,
        }
    }

    /// A small one of 0.85 kg, quick and quiet.
    #[must_use]
    pub fn wren() -> Self {
        Self {
            name: "wren".into(),
            mass_kg: 0.85,
            arm_m: 0.09,
            inertia_kg_m2: [0.0032, 0.0030, 0.0055],
            yaw_torque_m: 0.013,
            rotor_thrust_n: 4.6,
            linear_drag: [0.06, 0.05, 0.09],
            quadratic_drag: [0.024, 0.017, 0.020],
            rotor_drag: 0.10,
            induced: 0.12,
            force_noise_n: 0.08,
            pwm_noise: 3.0,
            attitude_jitter: 4.0,
        }
    }

    /// Says what is out of range, or that nothing is.
    ///
    /// # Errors
    /// The setting that is out of range.
    pub fn check(&self) -> Result<()> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if self.name.is_empty() || !self.name.chars().all(plain) {
            return Err(Error::setting(
                "vehicle.name",
                format!("is `{}`: use letters, digits and `-`", self.name),
            ));
        }
        let [jx, jy, jz] = self.inertia_kg_m2;
        let positive = [
            ("mass_kg", self.mass_kg),
            ("arm_m", self.arm_m),
            ("inertia_kg_m2", jx.min(jy).min(jz)),
            ("yaw_torque_m", self.yaw_torque_m),
        ];
        for (key, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                return Err(out_of_range(&self.name, key, value, "above 0"));
            }
        }
        let lift = 4.0 * self.rotor_thrust_n / (self.mass_kg * GRAVITY_M_S2);
        if !(lift >= 1.2 && lift.is_finite()) {
            return Err(out_of_range(
                &self.name,
                "rotor_thrust_n",
                self.rotor_thrust_n,
                "enough for four rotors to lift 1.2 times the weight",
            ));
        }
        let coefficients = [self.linear_drag, self.quadratic_drag].concat();
        let others = [
            self.rotor_drag,
            self.induced,
            self.force_noise_n,
            self.pwm_noise,
            self.attitude_jitter,
        ];
        let mut rest = coefficients.into_iter().chain(others);
        match rest.find(|value| !(*value >= 0.0 && value.is_finite())) {
            Some(value) => Err(out_of_range(
                &self.name,
                "drag, induced or noise",
                value,
                "at least 0",
            )),
            None => Ok(()),
        }
    }

    /// The weight in newtons, which is also the thrust of hovering in still air.
    #[must_use]
    pub fn weight_n(&self) -> f64 {
        self.mass_kg * GRAVITY_M_S2
    }

    /// The residual force of the air in the world, in newtons.
    ///
    /// ```
    /// use taskscout_worlds::flights::Vehicle;
    /// let hawk = Vehicle::hawk();
    /// let level = [1.0, 0.0, 0.0, 0.0];
    /// let head_wind = hawk.force([0.0; 3], level, hawk.weight_n(), [-8.0, 0.0, 0.0]);
    /// assert!(head_wind[0] < -3.0 && head_wind[1].abs() < 1e-12);
    /// ```
    #[must_use]
    pub fn force(
        &self,
        velocity_m_s: [f64; 3],
        quaternion: [f64; 4],
        thrust_n: f64,
        wind_m_s: [f64; 3],
    ) -> [f64; 3] {
        self.force_in(velocity_m_s, &rotation(quaternion), thrust_n, wind_m_s)
    }

    pub(super) fn force_in(
        &self,
        velocity: [f64; 3],
        attitude: &Rotation,
        thrust: f64,
        wind: [f64; 3],
    ) -> [f64; 3] {
        let air = to_body(attitude, sub(velocity, wind));
        let speed = norm(air);
        let rotors = self.rotor_drag * thrust / self.weight_n();
        let drag = std::array::from_fn(|axis| {
            let rotors = if axis < 2 { rotors } else { 0.0 };
            -(self.linear_drag[axis] + self.quadratic_drag[axis] * speed + rotors) * air[axis]
        });
        let across = air[0] * air[0] + air[1] * air[1];
        let lift = self.induced * thrust * (across / 100.0 - air[2] / 10.0);
        add(to_world(attitude, drag), scale(lift, column(attitude, 2)))
    }

    /// The command for a rotor's thrust: thrust grows with the square of the speed.
    pub(super) fn pwm(&self, thrust_n: f64) -> f64 {
        PWM_IDLE + PWM_RANGE * (thrust_n / self.rotor_thrust_n).max(0.0).sqrt()
    }
}

fn out_of_range(vehicle: &str, key: &str, value: f64, allowed: &str) -> Error {
    Error::setting(
        format!("vehicle.{key}"),
        format!("of {vehicle} is {value}: it must be {allowed}"),
    )
}
