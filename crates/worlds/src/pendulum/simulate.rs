//! The simulation of one pendulum.
//!
//! Each step draws the noise `ξ` (and, every tenth step of the random policy, a push), records what
//! is seen, and integrates `θ̈ = (m l ĝ sin θ + u + f(θ, θ̇, w)) / (m l²) + ξ` with `u` and `ξ` held.

use rand_distr::{Distribution as _, StandardNormal};
use taskscout::rng::Rng;
use taskscout::{Error, Result};

use super::environment::{Environment, accelerate, show};
use super::motion::Motion;
use super::policy::{EXCITATION_STEPS, Policy, Sight, push};
use super::rk4::rk4_from;
use super::settings::Settings;
use super::trajectory::Trajectory;

/// The velocity beyond which a simulation has left reality.
pub const RUNAWAY_RAD_S: f64 = 1e4;

/// Simulates a pendulum for so many steps. All randomness comes from `rng`.
///
/// # Errors
/// Settings out of range; a motion that runs away, with its step, task and remedy.
pub fn simulate(
    environment: &Environment,
    settings: &Settings,
    policy: Policy<'_>,
    steps: usize,
    rng: &mut Rng,
) -> Result<Trajectory> {
    settings.check()?;
    trace(environment, settings, policy, steps, rng)
        .map_err(|runaway| runaway.error(&format!("task {}", show(&environment.task()))))
}

/// The same for settings that have been checked.
pub(super) fn trace(
    environment: &Environment,
    settings: &Settings,
    policy: Policy<'_>,
    steps: usize,
    rng: &mut Rng,
) -> std::result::Result<Trajectory, Runaway> {
    let mut motion = Motion::new(settings.start);
    let mut trajectory = Trajectory::with_capacity(settings.step_s, steps);
    let course = Course::new(environment, settings, policy.pushes());
    let torque = |sight: &Sight| policy.torque(sight);
    course.run(&mut motion, steps, rng, torque, |instant| {
        trajectory.push(instant);
    })?;
    Ok(trajectory)
}

/// What is recorded of a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instant {
    pub(super) angle_rad: f64,
    pub(super) velocity_rad_s: f64,
    pub(super) control_nm: f64,
    pub(super) residual_nm: f64,
    pub(super) label_nm: f64,
}

/// A motion that cannot go on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Runaway {
    step: usize,
    time_s: f64,
    velocity_rad_s: f64,
    /// The torque, where it is to blame.
    torque_nm: Option<f64>,
}

impl Runaway {
    /// The error, for a task that the caller names.
    pub(super) fn error(&self, task: &str) -> Error {
        let what = format!(
            "the simulation of {task} at step {} ({:.3} s)",
            self.step, self.time_s
        );
        let remedy = match self.torque_nm {
            Some(torque) => format!(
                "the torque of the policy is {torque}, so repair the model that it controls with"
            ),
            None => format!(
                "the velocity is {:.3e} rad/s, beyond the limit of {RUNAWAY_RAD_S}; take a smaller step, a weaker wind or a slower start",
                self.velocity_rad_s
            ),
        };
        Error::numerical(what, remedy)
    }
}

/// Everything about a run that stays the same.
#[derive(Debug, Clone, Copy)]
pub(super) struct Course<'a> {
    environment: &'a Environment,
    step_s: f64,
    noise: f64,
    pushes: bool,
}

impl<'a> Course<'a> {
    /// Takes settings that have been checked.
    pub(super) fn new(environment: &'a Environment, settings: &Settings, pushes: bool) -> Self {
        Self {
            environment,
            step_s: settings.step_s,
            noise: settings.noise,
            pushes,
        }
    }

    /// Goes on for so many steps from where a run stands.
    pub(super) fn run(
        &self,
        motion: &mut Motion,
        steps: usize,
        rng: &mut Rng,
        torque: impl Fn(&Sight) -> f64,
        mut record: impl FnMut(&Instant),
    ) -> std::result::Result<(), Runaway> {
        for _ in 0..steps {
            if self.pushes && motion.step.is_multiple_of(EXCITATION_STEPS) {
                motion.excitation = push(rng);
            }
            let normal: f64 = StandardNormal.sample(rng);
            record(&self.step(motion, self.noise * normal, &torque)?);
        }
        Ok(())
    }

    /// One step under the noise `xi`.
    #[inline]
    fn step(
        &self,
        motion: &mut Motion,
        xi: f64,
        torque: impl Fn(&Sight) -> f64,
    ) -> std::result::Result<Instant, Runaway> {
        let [angle_rad, velocity_rad_s] = [motion.state.angle_rad, motion.state.velocity_rad_s];
        let (sin, cos) = angle_rad.sin_cos();
        let residual_nm = self.environment.residual_at(sin, cos, velocity_rad_s);
        let control_nm = torque(&Sight {
            angle_rad,
            velocity_rad_s,
            sin,
            residual_nm,
            excitation: motion.excitation,
        });
        let k1 = [
            velocity_rad_s,
            accelerate(sin, control_nm + residual_nm) + xi,
        ];
        let [angle, velocity] = rk4_from([angle_rad, velocity_rad_s], k1, self.step_s, |[a, v]| {
            [v, self.environment.acceleration(a, v, control_nm) + xi]
        });
        // Asked this way round, a NaN is a runaway too.
        if !(velocity.abs() <= RUNAWAY_RAD_S && angle.is_finite()) {
            return Err(Runaway {
                step: motion.step,
                time_s: motion.step as f64 * self.step_s,
                velocity_rad_s: velocity,
                torque_nm: (!control_nm.is_finite()).then_some(control_nm),
            });
        }
        motion.state.angle_rad = angle;
        motion.state.velocity_rad_s = velocity;
        motion.step += 1;
        Ok(Instant {
            angle_rad,
            velocity_rad_s,
            control_nm,
            residual_nm,
            label_nm: residual_nm + xi,
        })
    }
}
