//! taskscout
pub mod data;
pub mod design;
pub mod error;
pub mod features;
mod linalg;
pub mod metric;
pub mod model;
pub mod rng;
pub mod source;
pub mod space;
pub mod strategy;
pub mod study;
pub mod target;
pub mod train;

pub use error::{Error, Result};
