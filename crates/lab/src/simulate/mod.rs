//! Worlds on their own, simulated into tables and logs.

mod flights;
mod pendulum;
pub mod words;

pub use flights::{AskedFlights, simulate_flight_logs};
pub use pendulum::{AskedPendulum, PolicyKind, simulate_pendulum};

/// Who hears a note before the work begins.
pub type Tell<'a> = &'a dyn Fn(&str);
