//! Neural representations for taskscout, and training by descent.
//!
//! | oracle | what it does |
//! |---|---|
//! | [`Neural`] | a network as `φ`: descent on its weights, the task map solved exactly |
//! | [`NeuralAuto`] | the same, with the network's size chosen on held-out rows |
//! | [`NetworkRegression`] | a network of rows alone, without tasks, as a feature map |
//! | [`JointGd`] | a matrix or network and its task map together, by mini-batch steps, as published |
//!
//! A study takes them through [`NeuralConfig::oracle`] and [`JointGd::oracle`]; a study loaded from
//! a file gets them back with [`register`] and [`taskscout::registry`], or with [`attach`].
//!
//! A network of one's own is trained by implementing [`Differentiable`] and [`Architecture`] for it.
//! With the feature `burn`, any Burn module will do: `Network` asks for its forward pass alone.
//!
//! ```
//! use taskscout::features::FeatureMap;
//! use taskscout::space::Space;
//! use taskscout::strategy::{StrategyConfig, StrategyKind};
//! use taskscout::study::{Study, StudyConfig};
//! use taskscout::target::Target;
//! use taskscout_neural::{MlpShape, NeuralConfig};
//!
//! let config = StudyConfig::new(
//!     Space::ball(6, 1.0)?,
//!     FeatureMap::identity(3)?,
//!     vec![Target::unknown("tomorrow")],
//!     StrategyConfig::new(StrategyKind::Aware),
//! )?;
//! let network = MlpShape { hidden: vec![16], ..MlpShape::default() };
//! let oracle = NeuralConfig { network: Some(network), ..NeuralConfig::default() }.oracle()?;
//! let mut study = Study::new(StudyConfig { k: Some(2), oracle, ..config })?;
//! assert!(study.data().keeps_rows()); // networks learn from rows
//! assert_eq!(study.ask(60)?.budget(), 60);
//! # Ok::<(), taskscout::Error>(())
//! ```

mod dataset;
mod descent;
mod gradient;
mod joint_gd;
mod lbfgs;
#[cfg(feature = "burn")]
mod module;
mod network;
mod neural;
mod optimiser;
mod oracle;
mod perceptron;
mod projection;
mod regression;
mod settings;
mod shape;
#[cfg(feature = "burn")]
mod trained;
mod widths;

pub use joint_gd::JointGd;
#[cfg(feature = "burn")]
pub use module::{ModuleTape, Network, device};
pub use network::{Architecture, Differentiable};
pub use neural::Neural;
pub use optimiser::{Decay, Optimiser};
pub use oracle::{NeuralConfig, PooledNetwork, attach, register};
pub use perceptron::{Perceptron, PerceptronTape};
pub use regression::NetworkRegression;
pub use settings::{DescentChanges, DescentSettings, EarlyStopping, NeuralSettings, TargetHead};
pub use shape::MlpShape;
#[cfg(feature = "burn")]
pub use trained::Trained;
pub use widths::NeuralAuto;
