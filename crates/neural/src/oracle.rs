//! The oracles of this crate in a study, and back in it after loading.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use taskscout::model::Activation;
use taskscout::registry::Registry;
use taskscout::study::{External, Oracle, Study};
use taskscout::train::{PartialPooling, PartialPoolingOnNetwork, Trainer};
use taskscout::{Error, Result};

use crate::joint_gd::JointGd;
use crate::neural::Neural;
use crate::settings::NeuralSettings;
use crate::shape::MlpShape;
use crate::widths::NeuralAuto;

/// The name of variable projection on a network.
const NEURAL: &str = "neural";
/// The name of joint descent.
const JOINT_GD: &str = "joint-gd";
/// The name of partial pooling beside a network.
const POOLED_NETWORK: &str = "pooled-network";

/// The `neural` oracle, as files know it.
///
/// ```
/// use taskscout_neural::{MlpShape, NeuralConfig};
/// let oracle = NeuralConfig {
///     network: Some(MlpShape { hidden: vec![16, 16], ..MlpShape::default() }),
///     ..NeuralConfig::default()
/// }
/// .oracle()?;
/// assert_eq!(oracle.name(), "neural");
/// # Ok::<(), taskscout::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NeuralConfig {
    /// The network; its size comes from the data if not given.
    pub network: Option<MlpShape>,
    /// How it is trained.
    pub training: NeuralSettings,
}

impl NeuralConfig {
    /// The oracle for a study.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn oracle(&self) -> Result<Oracle> {
        External::new(NEURAL, self, self.trainer()?).map(Oracle::External)
    }

    /// The oracle on its own.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn trainer(&self) -> Result<Arc<dyn Trainer>> {
        self.training.validate()?;
        let training = self.training.clone();
        Ok(match &self.network {
            Some(shape) => {
                shape.validate()?;
                Arc::new(Neural::new(shape.clone(), training))
            }
            None => Arc::new(NeuralAuto::new(Activation::Relu, training)),
        })
    }
}

impl JointGd {
    /// The oracle for a study.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn oracle(&self) -> Result<Oracle> {
        self.validate()?;
        External::new(JOINT_GD, self, Arc::new(self.clone())).map(Oracle::External)
    }
}

/// Partial pooling over the features and a network's outputs, as files know it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PooledNetwork {
    /// How tasks are pooled.
    pub pooled: PartialPooling,
    /// The network.
    pub network: NeuralConfig,
}

impl PooledNetwork {
    /// The oracle for a study.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn oracle(&self) -> Result<Oracle> {
        External::new(POOLED_NETWORK, self, self.trainer()?).map(Oracle::External)
    }

    fn trainer(&self) -> Result<Arc<dyn Trainer>> {
        Ok(Arc::new(PartialPoolingOnNetwork {
            pooled: self.pooled.clone(),
            network: self.network.trainer()?,
        }))
    }
}

/// Registers the oracles of this crate, so that studies which use them can be opened.
///
/// ```
/// use taskscout::prelude::*;
/// let mut registry = Registry::new();
/// taskscout_neural::register(&mut registry)?;
/// let oracle = registry.make_trainer("neural", &serde_json::json!({}))?;
/// let study = Study::builder(Space::ball(6, 1.0)?).inputs(3).trainer(oracle).k(2).build()?;
/// assert_eq!(Study::restore_with(&study.snapshot()?, &registry)?.config().oracle.name(), "neural");
/// # Ok::<(), taskscout::Error>(())
/// ```
///
/// # Errors
/// A name that is taken.
pub fn register(registry: &mut Registry) -> Result<()> {
    registry.trainer_with(NEURAL, |settings| read::<NeuralConfig>(settings)?.trainer())?;
    registry.trainer_with(JOINT_GD, |settings| {
        let joint: JointGd = read(settings)?;
        joint.validate()?;
        Ok(Arc::new(joint))
    })?;
    registry.trainer_with(POOLED_NETWORK, |settings| {
        read::<PooledNetwork>(settings)?.trainer()
    })?;
    // The name and the settings of version 0.1.0.
    registry.trainer_with("pooled", |settings| {
        let (pooled, network) = read(settings)?;
        PooledNetwork { pooled, network }.trainer()
    })?;
    Ok(())
}

fn read<P: serde::de::DeserializeOwned>(settings: &serde_json::Value) -> Result<P> {
    serde_json::from_value(settings.clone()).map_err(|error| {
        Error::setting(
            "oracle.settings",
            format!("cannot be read: {error}; the study may come from another version"),
        )
    })
}

/// Gives a study that was loaded from a file its oracle back.
///
/// # Errors
/// Settings in the file that do not fit, or an oracle that is not one of this crate's.
pub fn attach(study: &mut Study) -> Result<()> {
    let Oracle::External(external) = &study.config().oracle else {
        return Ok(());
    };
    let mut registry = Registry::new();
    register(&mut registry)?;
    let made = registry.make_trainer(&external.name, &external.settings)?;
    study.attach_trainer(made.part()?)
}
