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
//! A `scenario` says what an experiment is about, where its rows come from, how it is judged and presented;
//! `config` reads files, `prepare` checks, `trial` runs, `folder` keeps and `publish` writes tables, figures and
//! the report. Modules use those before them in this list, never the other way round. [`learn`], [`plan`], [`simulate`]
//! and [`deploy`] stand apart: one model from a folder of logs, a plan of collection, worlds on their own, and saved models at work.

// Whoever watches is told instead.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod config;
pub mod deploy;
mod elsewhere;
pub mod error;
mod experiment;
pub mod files;
mod folder;
mod known_truth;
pub mod learn;
mod log_features;
mod log_inputs;
pub mod memory;
mod models;
pub mod names;
pub mod options;
pub mod parts;
pub mod plan;
mod pooling_need;
mod prepare;
mod publish;
mod record;
mod run_input;
mod scenario;
mod schedule;
pub mod simulate;
mod strategy_run;
#[cfg(test)]
mod tests;
pub mod theory;
mod together;
mod trial;
mod trials;
pub mod watch;

pub use config::{MOST_SEEDS, Places, in_file};
pub use elsewhere::{OpenRun, TrialFailure, TrialFile, TrialRunner};
pub use error::{LabError, Result};
pub use experiment::{Experiment, Finished};
pub use names::{
    BuiltIn, LogFeatures, OracleChoice, OracleName, Published, ScheduleName, TaskFeaturesName,
    WorldName,
};
pub use options::{
    AllOptions, ExperimentOptions, LogOptions, LogWorldOptions, PendulumOptions, ProgramOptions,
    SyntheticOptions, WorldOptions,
};
pub use publish::QUICK;
pub use theory::{TheoryReport, run_theory};
pub use together::{MOST_TRUTHS, OverTruths, Together, run_all, run_truths};
pub use trials::MEND;
pub use watch::{Watch, Watcher};
