//! Task sources for taskscout: worlds to learn from and to test with.
//!
//! [`Synthetic`] draws data that follow the model exactly, with the ill-conditioned task map of the
//! paper's experiments, so that every quantity has a known truth. [`Pendulum`] simulates a robot in
//! changing wind, gravity and damping; the module [`pendulum`] has its parts. The module [`logs`]
//! reads what real robots have recorded, and [`Recorded`] makes tasks of it; [`flights`] are logs of
//! our own, of quadrotors in wind. [`program`] makes a source of any program that answers requests
//! for rows.

#![deny(missing_docs)]

pub mod flights;
pub mod logs;
pub mod pendulum;
pub mod program;
mod recorded;
mod synthetic;
mod wind;

pub use pendulum::{Pendulum, PendulumConfig};
pub use recorded::{Recorded, RecordedConfig, RecordedTask, Scaling, TaskKnowledge};
pub use synthetic::{NetworkTruth, Synthetic, SyntheticConfig};
