//! Task sources for taskscout: worlds to learn from and to test with.
//!
//! [`Synthetic`] draws data that follow the model exactly, with the ill-conditioned task map of the
//! paper's experiments, so that every quantity has a known truth. [`Pendulum`] simulates a robot in
//! changing wind, gravity and damping; the module [`pendulum`] has its parts. The module [`logs`]
//! reads what real robots have recorded, and [`Recorded`] makes tasks of it.

#![deny(missing_docs)]

pub mod logs;
pub mod pendulum;
mod recorded;
mod synthetic;

pub use pendulum::{Pendulum, PendulumConfig};
pub use recorded::{Recorded, RecordedConfig, RecordedTask, Scaling, TaskKnowledge};
pub use synthetic::{NetworkTruth, Synthetic, SyntheticConfig};
