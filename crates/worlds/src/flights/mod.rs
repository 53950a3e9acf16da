//! Flights of quadrotors in wind, in the format of the Neural-Fly logs: data for tests, and for
//! users who have no flights of their own.
//!
//! A [`Vehicle`] with mass, rotors and drag follows a [`Trajectory`] under a controller ([`Method`])
//! in a [`Wind`] along x. Its rotors turn a rigid body, whose attitude they tilt to push it about;
//! the air pushes too, with the residual force that a learner has to find:
//!
//! ```text
//! m v̇ = T R e₃ − m g e₃ + f(v, q, T, wind)
//! ```
//!
//! The force ([`Vehicle::force`]) bends with the air speed, depends on the attitude, and grows
//! smoothly with the wind; vehicles differ in all coefficients. Logs say it with noise.
//!
//! ```
//! use taskscout_worlds::flights::{FlightsConfig, Programme, simulate_flights, write};
//! let config = FlightsConfig {
//!     programmes: vec![Programme::wren()],
//!     rows: 50,
//!     ..FlightsConfig::default()
//! };
//! let flights = simulate_flights(&config)?;
//! let folder = tempfile::tempdir().unwrap();
//! write(folder.path(), &flights).unwrap();
//! assert!(folder.path().join("wren_random_pid_30wind.csv").exists());
//! # Ok::<(), taskscout::Error>(())
//! ```

mod control;
mod course;
mod frame;
mod log;
mod plan;
mod simulate;
mod vehicle;

pub use control::Method;
pub use course::Trajectory;
pub use log::{LogStyle, Row, SimulatedFlight};
pub use plan::{FlightsConfig, MAX_ROWS, Programme, simulate_flights, write};
pub use simulate::{SETTLE_S, STEP_S};
pub use taskscout_logs::Wind;
pub use vehicle::{GRAVITY_M_S2, PWM_IDLE, PWM_RANGE, Vehicle};
