//! What a learnt residual is worth: how far from upright the controller leaves the pendulum.
//!
//! ```
//! use taskscout_worlds::pendulum::{CONTROL_SECONDS, Environment, STARTS, control};
//! let windy = Environment::from_task(&[0.6, 0.4, 0.0, 0.0, 0.0])?;
//! let known = control(&windy, &|a, v| windy.residual(a, v), STARTS[0], CONTROL_SECONDS)?;
//! let ignored = control(&windy, &|_, _| 0.0, STARTS[0], CONTROL_SECONDS)?;
//! assert!(known.mean_angle_rad < 0.2 * ignored.mean_angle_rad);
//! # Ok::<(), taskscout::Error>(())
//! ```

use serde::{Deserialize, Serialize};
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::{Error, Result};

use super::environment::{Environment, show};
use super::motion::Motion;
use super::policy::{Sight, cancel};
use super::settings::{Settings, State};
use super::simulate::Course;
use super::trajectory::Trajectory;

/// How long a run is by default.
pub const CONTROL_SECONDS: f64 = 20.0;

/// The longest run: an hour of the pendulum's time.
const MAX_SECONDS: f64 = 3600.0;

/// Starts away from rest, from which controllers are compared: far enough out that what counts is
/// the way back, not the last hundredth of a radian.
pub const STARTS: [State; 8] = [
    start(2.5, 0.0),
    start(-2.5, 0.0),
    start(2.5, 3.0),
    start(-2.5, -3.0),
    start(2.0, 3.0),
    start(-2.0, -3.0),
    start(2.5, 1.5),
    start(-2.5, -1.5),
];

const fn start(angle_rad: f64, velocity_rad_s: f64) -> State {
    State {
        angle_rad,
        velocity_rad_s,
    }
}

/// A run under control, and how good it was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ControlRun {
    /// Mean of `|θ|` over the run.
    pub mean_angle_rad: f64,
    /// Root mean square of the state `(θ, θ̇)`.
    pub rms: f64,
    /// The run itself.
    pub trajectory: Trajectory,
}

/// Controls a pendulum with a model of its residual, without noise, in steps of 0.01 s.
///
/// # Errors
/// A start or a time out of range; a motion that runs away.
pub fn control(
    environment: &Environment,
    model: &dyn Fn(f64, f64) -> f64,
    start: State,
    seconds: f64,
) -> Result<ControlRun> {
    let settings = Settings {
        noise: 0.0,
        start,
        ..Settings::default()
    };
    // Nothing is random without noise, whatever the generator.
    let mut rng = derive(0, Purpose::Test, &[]);
    control_with(environment, model, &settings, seconds, &mut rng)
}

/// The same with settings of one's own.
///
/// # Errors
/// Settings or a time out of range; a motion that runs away.
pub fn control_with(
    environment: &Environment,
    model: &dyn Fn(f64, f64) -> f64,
    settings: &Settings,
    seconds: f64,
    rng: &mut Rng,
) -> Result<ControlRun> {
    settings.check()?;
    if !(seconds >= settings.step_s && seconds <= MAX_SECONDS) {
        return Err(Error::setting(
            "seconds",
            format!(
                "is {seconds}: it must be from a step of {} to {MAX_SECONDS}",
                settings.step_s
            ),
        ));
    }
    let steps = (seconds / settings.step_s).round() as usize;
    let mut trajectory = Trajectory::with_capacity(settings.step_s, steps);
    let torque = |sight: &Sight| cancel(sight, model(sight.angle_rad, sight.velocity_rad_s));
    Course::new(environment, settings, false)
        .run(
            &mut Motion::new(settings.start),
            steps,
            rng,
            torque,
            |instant| trajectory.push(instant),
        )
        .map_err(|runaway| runaway.error(&format!("task {}", show(&environment.task()))))?;
    Ok(ControlRun::of(trajectory))
}

impl ControlRun {
    /// Measures a run of at least one step.
    fn of(trajectory: Trajectory) -> Self {
        let n = trajectory.len() as f64;
        let angles: f64 = trajectory.angles_rad.iter().map(|a| a.abs()).sum();
        let states = trajectory
            .angles_rad
            .iter()
            .zip(&trajectory.velocities_rad_s);
        let squares: f64 = states.map(|(a, v)| a * a + v * v).sum();
        Self {
            mean_angle_rad: angles / n,
            rms: (squares / n).sqrt(),
            trajectory,
        }
    }
}
