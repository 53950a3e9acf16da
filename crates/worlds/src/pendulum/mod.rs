//! A pendulum in changing wind, gravity and damping: the paper's simulated robot.
//!
//! The pendulum stands upright at `θ = 0` and is driven by a torque `u`. Its controller knows the
//! nominal part of
//!
//! ```text
//! m l² θ̈ − m l ĝ sin θ = u + f(θ, θ̇, w)
//! ```
//!
//! and has to learn the residual torque `f`, which depends on the task `w ∈ [−1, 1]^5`:
//!
//! | | task parameter | physical parameter |
//! |---|---|---|
//! | `w₁, w₂` | wind | `c = 2 (w₁, w₂)` m/s |
//! | `w₃` | gravity | `g = 9 + w₃` m/s² |
//! | `w₄` | linear damping | `α₁ = (w₄ + 1) / 2` N m s |
//! | `w₅` | quadratic damping | `α₂ = (w₅ + 1) / 2` N m s² |
//!
//! ```text
//! f = l (F_x cos θ + F_y sin θ) − α₁ θ̇ − α₂ θ̇|θ̇| + m l (g − ĝ) sin θ
//! F = |R|² R + 0.5 R,   R = c − l θ̇ (cos θ, sin θ)
//! ```
//!
//! The equation is integrated with the classical Runge–Kutta method of order four ([`rk4`]); the
//! torque and the noise are held over a step, as a digital controller holds them.
//!
//! ```
//! use taskscout::rng::{Purpose, derive};
//! use taskscout_worlds::pendulum::{Environment, Policy, Settings, simulate};
//!
//! let windy = Environment::from_task(&[0.6, 0.4, 0.0, 0.0, 0.0])?;
//! let mut rng = derive(0, Purpose::Collect, &[]);
//! let run = simulate(&windy, &Settings::default(), Policy::Random, 1_000, &mut rng)?;
//! assert_eq!(run.len(), 1_000);
//! assert_eq!(run.residuals_nm[0], windy.residual(0.0, 0.0));
//! # Ok::<(), taskscout::Error>(())
//! ```
//!
//! [`Pendulum`] is the world that a study collects from; [`control()`] says what a learnt residual is
//! worth to the controller.

mod control;
mod environment;
mod features;
mod many;
mod motion;
mod policy;
mod rk4;
mod settings;
mod simulate;
mod table;
mod trajectory;
mod world;

pub use control::{CONTROL_SECONDS, ControlRun, STARTS, control, control_with};
pub use environment::{Environment, LENGTH_M, MASS_KG, NOMINAL_GRAVITY_M_S2, TASK_NAMES};
pub use features::{TaskFeatures, space};
pub use many::{generator, simulate_many};
pub use motion::Motion;
pub use policy::{
    DAMPING_GAIN_PER_S, EXCITATION_DEVIATION, EXCITATION_LIMIT, EXCITATION_STEPS,
    EXCITATION_TORQUE_NM, POSITION_GAIN_PER_S2, Policy,
};
pub use rk4::{rk4, rk4_from};
pub use settings::{MAX_STEP_S, Settings, State};
pub use simulate::{RUNAWAY_RAD_S, simulate};
pub use table::columns;
pub use trajectory::Trajectory;
pub use world::{Pendulum, PendulumConfig};
