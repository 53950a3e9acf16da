//! Shared representations `φ`: a matrix, a network, or the user's own.

mod linear;
mod mlp;
mod phi;
mod stack;

pub use linear::Linear;
pub use mlp::{Activation, Layer, Mlp};
pub use phi::{CustomRepresentation, Phi};
pub(crate) use stack::Stack;

pub use crate::data::Representation;
