//! Task spaces, feature maps, and optimal designs over them, with the linear algebra and the generator that they share.
//!
//! The crate `taskscout` re-exports all of it; depend on that one. Here it stands by itself so that the compiler keeps designs
//! free of everything that learns.
//!
//! | module | what it holds |
//! |---|---|
//! | [`task`], [`space`] | what a task is, and where tasks live |
//! | [`features`], [`columns`] | feature maps, and the moments of columns that scale them |
//! | [`optimal`] | optimal designs with certificates, and campaigns of whole samples |
//! | [`theory`] | the quantities, bounds and the risk law of the paper |
//! | [`extension`] | parts of the user's own, by name |
//! | [`linalg`], [`rng`], [`error`] | what all of taskscout computes with |

pub mod columns;
pub mod error;
pub mod extension;
pub mod features;
pub mod linalg;
pub mod optimal;
pub mod rng;
pub mod space;
pub mod task;
pub mod theory;

pub use error::{Error, Result};
