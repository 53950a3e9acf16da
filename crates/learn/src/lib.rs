//! Learning one shared representation from many tasks: statistics, models, trainers, the guard, identification.
//!
//! The crate `taskscout` re-exports all of it; depend on that one. Here it stands by itself so that the compiler keeps learning
//! free of studies and strategies.
//!
//! | module | what it holds |
//! |---|---|
//! | [`data`] | rows as sufficient statistics |
//! | [`regression`] | least squares on statistics: one task, many tasks, and what is known afterwards |
//! | [`representation`] | `φ`: a matrix, a network, or the user's own |
//! | [`hierarchy`] | families of tasks, for partial pooling |
//! | [`model`] | task maps and models |
//! | [`train`] | trainers, what they propose, and the guard that judges it |
//! | [`identify`] | a hidden target's parameters, with a region, inside the source space |
//! | [`forecast`] | what more rows would buy: the expected loss on targets, with an interval |
//! | [`target`] | the tasks that one cares about |
//! | [`metric`] | measures of success |

pub mod data;
pub mod forecast;
pub mod hierarchy;
pub mod identify;
pub mod metric;
pub mod model;
pub mod regression;
pub mod representation;
pub mod target;
pub mod train;

pub(crate) use taskscout_design::{error, features, linalg, rng, space, task, theory};

pub use error::{Error, Result};
