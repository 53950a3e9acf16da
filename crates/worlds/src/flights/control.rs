//! Who flies: controllers of position and attitude.
//!
//! Both ask for the acceleration `a_d + K_P (p_d − p) + K_V (v_d − v)` and differ in how they meet
//! the air: `pid` sums up the position error, `adaptive` feeds back the force that it measured,
//! smoothed.

use serde::{Deserialize, Serialize};

use super::course::Waypoint;
use super::frame::{
    Rotation, Vector, add, attitude_error, column, dot, norm, pointing, scale, sub,
};
use super::vehicle::{GRAVITY_M_S2, Vehicle};

/// A kind of controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Proportional, integral, derivative.
    Pid,
    /// Softer gains, with the measured force compensated.
    Adaptive,
}

/// The gains of a method.
struct Gains {
    position_per_s2: f64,
    velocity_per_s: f64,
    integral_per_s3: f64,
    /// How fast the measured force is believed.
    force_per_s: f64,
}

impl Method {
    /// Its name in file names.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pid => "pid",
            Self::Adaptive => "adaptive",
        }
    }

    fn gains(self) -> Gains {
        match self {
            Self::Pid => Gains {
                position_per_s2: 7.0,
                velocity_per_s: 4.5,
                integral_per_s3: 3.0,
                force_per_s: 0.0,
            },
            Self::Adaptive => Gains {
                position_per_s2: 4.5,
                velocity_per_s: 3.5,
                integral_per_s3: 0.0,
                force_per_s: 2.5,
            },
        }
    }
}

/// The steepest tilt asked for, as the tangent of its angle: 45°.
const STEEPEST: f64 = 1.0;

/// The largest position error that is summed up.
const LARGEST_ERROR_M: f64 = 1.0;

/// Attitude gains.
const ATTITUDE_PER_S2: f64 = 180.0;
const RATE_PER_S: f64 = 22.0;

/// A controller of position at work.
#[derive(Debug, Clone)]
pub(super) struct Controller {
    method: Method,
    integral: Vector,
    force: Vector,
}

/// What a controller asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Command {
    /// The wanted attitude.
    pub(super) attitude: Rotation,
    /// The wanted thrust in newtons.
    pub(super) thrust: f64,
}

impl Controller {
    pub(super) fn new(method: Method) -> Self {
        Self {
            method,
            integral: [0.0; 3],
            force: [0.0; 3],
        }
    }

    /// Takes in a measured force and the state, and says what to do for a step.
    pub(super) fn command(
        &mut self,
        vehicle: &Vehicle,
        wanted: &Waypoint,
        (position, velocity, attitude): (Vector, Vector, &Rotation),
        measured_force: Vector,
        step_s: f64,
    ) -> Command {
        let gains = self.method.gains();
        let error = sub(wanted.position, position);
        let bounded = error.map(|value| value.clamp(-LARGEST_ERROR_M, LARGEST_ERROR_M));
        self.integral = add(self.integral, scale(step_s, bounded));
        let news = sub(measured_force, self.force);
        self.force = add(self.force, scale(gains.force_per_s * step_s, news));

        let mut acceleration = add(wanted.acceleration, [0.0, 0.0, GRAVITY_M_S2]);
        acceleration = add(acceleration, scale(gains.position_per_s2, error));
        let velocity_error = sub(wanted.velocity, velocity);
        acceleration = add(acceleration, scale(gains.velocity_per_s, velocity_error));
        acceleration = add(acceleration, scale(gains.integral_per_s3, self.integral));
        let push = sub(scale(vehicle.mass_kg, acceleration), self.force);
        let push = upright(push, vehicle);
        Command {
            attitude: pointing(push),
            thrust: dot(push, column(attitude, 2)).clamp(0.0, 4.0 * vehicle.rotor_thrust_n),
        }
    }
}

/// A push that the vehicle can give: upwards, and not too far to the side.
fn upright([x, y, z]: Vector, vehicle: &Vehicle) -> Vector {
    let z = z.max(0.3 * vehicle.weight_n());
    let side = norm([x, y, 0.0]);
    let most = STEEPEST * z;
    let shrink = if side > most { most / side } else { 1.0 };
    [shrink * x, shrink * y, z]
}

/// The angular acceleration that brings an attitude to the wanted one.
pub(super) fn turning(wanted: &Rotation, actual: &Rotation, rate: Vector) -> Vector {
    let error = attitude_error(wanted, actual);
    sub(scale(-ATTITUDE_PER_S2, error), scale(RATE_PER_S, rate))
}

/// Where rotors stand (in arms, ahead and to the left) and which way they turn.
const ROTORS: [[f64; 3]; 4] = [
    [1.0, -1.0, 1.0],
    [-1.0, 1.0, 1.0],
    [1.0, 1.0, -1.0],
    [-1.0, -1.0, -1.0],
];

/// The thrust of each rotor for a thrust and torques in all, as far as the rotors can.
pub(super) fn allocate(vehicle: &Vehicle, thrust: f64, torque: Vector) -> [f64; 4] {
    ROTORS.map(|[ahead, left, spin]| {
        let roll = left * torque[0] / vehicle.arm_m;
        let pitch = -ahead * torque[1] / vehicle.arm_m;
        let yaw = spin * torque[2] / vehicle.yaw_torque_m;
        (0.25 * (thrust + roll + pitch + yaw)).clamp(0.0, vehicle.rotor_thrust_n)
    })
}

/// The torques that rotors give.
pub(super) fn torque(vehicle: &Vehicle, thrusts: [f64; 4]) -> Vector {
    let sum = |weight: fn([f64; 3]) -> f64| -> f64 {
        let terms = ROTORS.into_iter().zip(thrusts);
        terms.map(|(rotor, thrust)| weight(rotor) * thrust).sum()
    };
    [
        vehicle.arm_m * sum(|[_, left, _]| left),
        -vehicle.arm_m * sum(|[ahead, ..]| ahead),
        vehicle.yaw_torque_m * sum(|[_, _, spin]| spin),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotors_give_what_is_asked_of_them() {
        let vehicle = Vehicle::hawk();
        let asked = [0.2, -0.3, 0.05];
        let thrusts = allocate(&vehicle, vehicle.weight_n(), asked);
        assert!((thrusts.iter().sum::<f64>() - vehicle.weight_n()).abs() < 1e-12);
        let given = torque(&vehicle, thrusts);
        assert!(norm(sub(given, asked)) < 1e-12, "{given:?}");
        let most = allocate(&vehicle, 1e6, asked);
        let full = |thrust: &f64| (thrust - vehicle.rotor_thrust_n).abs() < 1e-12;
        assert!(most.iter().all(full), "{most:?}");
    }
}
