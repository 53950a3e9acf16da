//! Task sources for taskscout: worlds to learn from and to test with.
//!
//! [`Synthetic`] draws data that follow the model exactly, with the ill-conditioned task map of the
//! paper's experiments, so that every quantity has a known truth.

#![deny(missing_docs)]

mod synthetic;

pub use synthetic::{NetworkTruth, Synthetic, SyntheticConfig};
