//! Neural representations.
mod dataset;
mod descent;
mod flat;
mod joint_gd;
mod lbfgs;
mod network;
mod neural;
mod optimiser;
mod oracle;
mod projection;
mod trained;
mod widths;

pub use descent::{DescentSettings, EarlyStopping};
pub use joint_gd::JointGd;
pub use network::{Architecture, MlpShape, Network, Perceptron};
pub use neural::{Neural, NeuralSettings};
pub use optimiser::{Decay, Optimiser};
pub use oracle::{NeuralConfig, attach};
pub use trained::Trained;
pub use widths::NeuralAuto;
