//! Neural representations.
mod dataset;
mod descent;
mod flat;
mod joint_gd;
mod lbfgs;
mod network;
mod neural;
mod optimiser;
mod projection;
mod trained;

pub use descent::{DescentSettings, EarlyStopping};
pub use joint_gd::JointGd;
pub use network::{Architecture, MlpShape, Network, Perceptron};
pub use neural::{Neural, NeuralSettings};
pub use optimiser::{Decay, Optimiser};
pub use trained::Trained;
