//! Task sources for taskscout: worlds to learn from and to test with.
//!
//! [`Synthetic`] draws data that follow the model exactly, with the ill-conditioned task map of the
//! paper's experiments, so that every quantity has a known truth. [`Pendulum`] simulates a robot in
//! changing wind, gravity and damping; the module [`pendulum`] has its parts. [`flights`] simulates
//! quadrotors in wind and writes their logs, which [`taskscout_logs`] reads as those of real ones.
//! [`program`] makes a source of any program that answers requests for rows.

#![deny(missing_docs)]

pub mod flights;
pub mod pendulum;
pub mod program;
mod synthetic;

pub use pendulum::{Pendulum, PendulumConfig};
pub use synthetic::{InputDistribution, NetworkTruth, Synthetic, SyntheticConfig, Targets};
