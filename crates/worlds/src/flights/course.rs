//! Where a vehicle is meant to fly.

use std::f64::consts::TAU;

use rand_distr::{Distribution as _, StandardUniform};
use serde::{Deserialize, Serialize};
use taskscout::rng::Rng;

use super::frame::{Vector, add};

/// A kind of course.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trajectory {
    /// A lying eight, three metres long, every four and a half seconds.
    Figure8,
    /// A smooth sum of sines of random frequency and phase, another one for every flight.
    Random,
}

impl Trajectory {
    /// Its name in file names.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Figure8 => "figure8",
            Self::Random => "random",
        }
    }
}

/// Where a vehicle should be at some time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Waypoint {
    pub(super) position: Vector,
    pub(super) velocity: Vector,
    pub(super) acceleration: Vector,
}

/// The height that courses lie around.
const HEIGHT_M: f64 = 4.0;

/// Angular frequency of the eight.
const EIGHT_RAD_S: f64 = 1.4;

/// Sines of each axis of a random course.
const SINES: usize = 4;

/// The speed of each by axis: less up and down, so that no course meets the ground.
const SINE_SPEED_M_S: [f64; 3] = [0.7, 0.7, 0.35];

/// A sine along an axis.
#[derive(Debug, Clone, Copy)]
struct Sine {
    axis: usize,
    amplitude_m: f64,
    rad_s: f64,
    phase: f64,
}

/// A course: sines around a point.
#[derive(Debug, Clone)]
pub(super) struct Course {
    sines: Vec<Sine>,
}

impl Course {
    /// Draws a course.
    pub(super) fn new(trajectory: Trajectory, rng: &mut Rng) -> Self {
        let mut between = |low: f64, high: f64| {
            let share: f64 = StandardUniform.sample(rng);
            low + (high - low) * share
        };
        let sines = match trajectory {
            Trajectory::Figure8 => {
                let start = between(0.0, TAU);
                [(0, 1.5, 1.0), (1, 0.7, 2.0), (2, 0.3, 1.0)]
                    .map(|(axis, amplitude_m, times)| Sine {
                        axis,
                        amplitude_m,
                        rad_s: times * EIGHT_RAD_S,
                        // Height leads by a quarter, so that the eight is tilted, not folded.
                        phase: times * start + if axis == 2 { 0.25 * TAU } else { 0.0 },
                    })
                    .to_vec()
            }
            Trajectory::Random => (0..3 * SINES)
                .map(|index| {
                    let (axis, rad_s) = (index % 3, between(0.4, 2.0));
                    Sine {
                        axis,
                        amplitude_m: SINE_SPEED_M_S[axis] / rad_s,
                        rad_s,
                        phase: between(0.0, TAU),
                    }
                })
                .collect(),
        };
        Self { sines }
    }

    pub(super) fn at(&self, time_s: f64) -> Waypoint {
        let mut point = Waypoint {
            position: [0.0, 0.0, HEIGHT_M],
            velocity: [0.0; 3],
            acceleration: [0.0; 3],
        };
        for sine in &self.sines {
            let (sin, cos) = (sine.rad_s * time_s + sine.phase).sin_cos();
            let along = |value: f64| {
                let mut vector = [0.0; 3];
                vector[sine.axis] = sine.amplitude_m * value;
                vector
            };
            point.position = add(point.position, along(sin));
            point.velocity = add(point.velocity, along(sine.rad_s * cos));
            let curve = -sine.rad_s * sine.rad_s * sin;
            point.acceleration = add(point.acceleration, along(curve));
        }
        point
    }
}

#[cfg(test)]
mod tests {
    use taskscout::rng::{Purpose, derive};

    use super::*;

    #[test]
    fn velocity_and_acceleration_are_derivatives() {
        for trajectory in [Trajectory::Figure8, Trajectory::Random] {
            let course = Course::new(trajectory, &mut derive(3, Purpose::World, &[]));
            let h = 1e-4;
            for t in [0.0, 1.7, 20.3] {
                let (before, at, after) = (course.at(t - h), course.at(t), course.at(t + h));
                for axis in 0..3 {
                    let velocity = (after.position[axis] - before.position[axis]) / (2.0 * h);
                    let curve = (after.velocity[axis] - before.velocity[axis]) / (2.0 * h);
                    assert!((velocity - at.velocity[axis]).abs() < 1e-5);
                    assert!((curve - at.acceleration[axis]).abs() < 1e-5);
                }
            }
        }
    }
}
