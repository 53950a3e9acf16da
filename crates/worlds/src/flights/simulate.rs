//! The simulation of one flight.
//!
//! A step of [`STEP_S`] records what a log would say, asks the controller once, and moves the rigid
//! body in [`SUBSTEPS`] smaller steps, in which the attitude loop closes. The first seconds, in which
//! the vehicle finds its course, are flown but not logged.

use rand_distr::{Distribution as _, StandardNormal};
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::{Error, Result};

use super::control::{Command, Controller, allocate, torque, turning};
use super::course::Course;
use super::frame::{Rotation, Vector, add, column, norm, quaternion, rotation, scale, sub, turn};
use super::log::{LogStyle, Row, SimulatedFlight};
use super::plan::Flight;
use super::vehicle::GRAVITY_M_S2;

/// The time from a row to the next.
pub const STEP_S: f64 = 0.02;

/// How long a vehicle flies before its log begins.
pub const SETTLE_S: f64 = 6.0;

/// Steps of the rigid body in a row.
const SUBSTEPS: usize = 10;

/// The distance from its course at which a flight is lost.
const LOST_M: f64 = 20.0;

/// The state of a rigid body.
#[derive(Debug, Clone, Copy)]
struct Body {
    position: Vector,
    velocity: Vector,
    quaternion: [f64; 4],
    rate: Vector,
}

/// Flies a flight.
pub(super) fn simulate(
    flight: &Flight<'_>,
    rows: usize,
    noise: f64,
    seed: u64,
) -> Result<SimulatedFlight> {
    // A flight is the same whichever others are flown beside it.
    let keys: Vec<u64> = flight.file_name().bytes().map(u64::from).collect();
    let course = Course::new(flight.trajectory, &mut derive(seed, Purpose::World, &keys));
    let mut rng = derive(seed, Purpose::Collect, &keys);
    let settling = (SETTLE_S / STEP_S).round() as usize;
    let zero = match flight.style {
        LogStyle::Rich => settling,
        LogStyle::Compact => 0,
    };
    let time_s = |step: usize| (step as f64 - zero as f64) * STEP_S;
    let start = course.at(time_s(0));
    let mut body = Body {
        position: start.position,
        velocity: start.velocity,
        quaternion: [1.0, 0.0, 0.0, 0.0],
        rate: [0.0; 3],
    };
    let mut pilot = Pilot {
        flight,
        controller: Controller::new(flight.method),
        thrust: flight.vehicle.weight_n(),
        noise,
    };
    let mut log = Vec::with_capacity(rows);
    for step in 0..settling + rows {
        let time_s = time_s(step);
        let row = pilot.step(&mut body, &course, time_s, &mut rng);
        let off = norm(sub(row.position_m, row.wanted_position_m));
        if off.is_nan() || off > LOST_M {
            return Err(Error::source(
                format!("the flight {} at {time_s:.2} s", flight.file_name()),
                format!(
                    "it is {off:.1} m off its course; take a weaker wind or a vehicle of more thrust"
                ),
            ));
        }
        if step >= settling {
            log.push(row);
        }
    }
    Ok(flight.logged(log))
}

/// Who flies, with what is remembered from step to step.
struct Pilot<'a> {
    flight: &'a Flight<'a>,
    controller: Controller,
    /// The thrust at the end of the last step.
    thrust: f64,
    /// Times the noise of the vehicle's instruments.
    noise: f64,
}

impl Pilot<'_> {
    fn step(&mut self, body: &mut Body, course: &Course, time_s: f64, rng: &mut Rng) -> Row {
        let vehicle = self.flight.vehicle;
        let wanted = course.at(time_s);
        let attitude = rotation(body.quaternion);
        let wind = |at: f64| [self.flight.wind.at(at), 0.0, 0.0];
        let mut normal = |deviation: f64| {
            let value: f64 = StandardNormal.sample(rng);
            deviation * value
        };
        let jitter: Vector = std::array::from_fn(|_| normal(vehicle.attitude_jitter));
        let force_noise = std::array::from_fn(|_| normal(self.noise * vehicle.force_noise_n));
        let pwm_noise: [f64; 4] = std::array::from_fn(|_| normal(self.noise * vehicle.pwm_noise));

        // What the controller can know is the force before it changes the thrust.
        let sensed = vehicle.force_in(body.velocity, &attitude, self.thrust, wind(time_s));
        let sensed = add(sensed, force_noise);
        let state = (body.position, body.velocity, &attitude);
        let command = self
            .controller
            .command(vehicle, &wanted, state, sensed, STEP_S);

        let rotors = self.rotors(&command, &attitude, body.rate);
        let thrust = rotors.iter().sum();
        let force = vehicle.force_in(body.velocity, &attitude, thrust, wind(time_s));
        let row = Row {
            time_s,
            position_m: body.position,
            wanted_position_m: wanted.position,
            velocity_m_s: body.velocity,
            wanted_velocity_m_s: wanted.velocity,
            quaternion: body.quaternion,
            rate_rad_s: body.rate,
            thrust_share: command.thrust / (4.0 * vehicle.rotor_thrust_n),
            wanted_quaternion: quaternion(&command.attitude),
            force_n: add(force, force_noise),
            pwm: std::array::from_fn(|rotor| vehicle.pwm(rotors[rotor]) + pwm_noise[rotor]),
        };
        for substep in 0..SUBSTEPS {
            let dt = STEP_S / SUBSTEPS as f64;
            self.advance(
                body,
                &command,
                jitter,
                wind(time_s + substep as f64 * dt),
                dt,
            );
        }
        row
    }

    /// The thrusts of the rotors for a command, with the attitude loop closed.
    fn rotors(&self, command: &Command, attitude: &Rotation, rate: Vector) -> [f64; 4] {
        let vehicle = self.flight.vehicle;
        let turning = turning(&command.attitude, attitude, rate);
        let torque = std::array::from_fn(|axis| vehicle.inertia_kg_m2[axis] * turning[axis]);
        allocate(vehicle, command.thrust, torque)
    }

    /// Moves the body by a small step: velocities first, then places, which keeps energy in check.
    fn advance(
        &mut self,
        body: &mut Body,
        command: &Command,
        jitter: Vector,
        wind: Vector,
        dt: f64,
    ) {
        let vehicle = self.flight.vehicle;
        let attitude = rotation(body.quaternion);
        let rotors = self.rotors(command, &attitude, body.rate);
        self.thrust = rotors.iter().sum();
        let torque = torque(vehicle, rotors);
        let turning: Vector =
            std::array::from_fn(|axis| torque[axis] / vehicle.inertia_kg_m2[axis] + jitter[axis]);
        let air = vehicle.force_in(body.velocity, &attitude, self.thrust, wind);
        let push = add(scale(self.thrust, column(&attitude, 2)), air);
        let acceleration = add(
            scale(1.0 / vehicle.mass_kg, push),
            [0.0, 0.0, -GRAVITY_M_S2],
        );
        body.rate = add(body.rate, scale(dt, turning));
        body.velocity = add(body.velocity, scale(dt, acceleration));
        body.position = add(body.position, scale(dt, body.velocity));
        body.quaternion = turn(body.quaternion, body.rate, dt);
    }
}
