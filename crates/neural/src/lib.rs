//! Neural representations.
mod dataset;
mod flat;
mod lbfgs;
mod network;
mod neural;
mod projection;

pub use network::{Architecture, MlpShape, Network, Perceptron};
pub use neural::{Neural, NeuralSettings};
