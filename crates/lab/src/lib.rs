//! Experiments as a library: strategies × targets × seeds on one world, with results that survive a crash.
//!
//! An [`Experiment`] comes from a file, or is one that comes with the crate ([`BuiltIn`]). It is checked as a
//! whole before anything runs; its results go into a folder that a stopped run can go on with. Whoever started
//! it hears of its progress as a [`Watch`].
//!
//! ```
//! use std::sync::Arc;
//! use taskscout::registry::Registry;
//! use taskscout_lab::{BuiltIn, Experiment, ExperimentOptions, Watcher};
//!
//! let options = ExperimentOptions { seeds: Some(0), ..ExperimentOptions::default() };
//! let nobody: Watcher = Arc::new(());
//! let refusal = Experiment::built_in(BuiltIn::Bilinear)?
//!     .check(&options, &Registry::new(), &nobody)
//!     .unwrap_err();
//! assert_eq!(refusal.to_string(), "--seeds is 0: run 1 to 100000");
//! assert_eq!(refusal.code(), 2);
//! # Ok::<(), taskscout_lab::LabError>(())
//! ```
//!
//! Trials know a `World` and nothing else of where rows come from; `config` reads files, `prepare` checks,
//! `trial` runs, `folder` keeps and `publish` writes tables, figures and the report. [`plan`] stands apart: a
//! plan of collection outside of any experiment.

// Whoever watches is told instead.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod all;
mod config;
pub mod error;
mod experiment;
mod folder;
pub mod memory;
mod models;
pub mod names;
mod need;
pub mod options;
mod oracle;
pub mod parts;
pub mod plan;
mod prepare;
mod publish;
mod schedule;
#[cfg(test)]
mod tests;
mod trial;
mod trials;
pub mod watch;
mod world;

pub use all::{Together, run_all};
pub use config::{MOST_SEEDS, Places};
pub use error::{LabError, Result};
pub use experiment::{Experiment, Finished, MEND};
pub use names::{BuiltIn, OracleChoice, OracleName, ScheduleName, TaskFeaturesName};
pub use options::{ExperimentOptions, LogOptions};
pub use publish::QUICK;
pub use watch::{Watch, Watcher};
pub use world::LogFeatures;
