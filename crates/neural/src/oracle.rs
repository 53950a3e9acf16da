//! The oracles of this crate in a study, and back in it after loading.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use taskscout::model::Activation;
use taskscout::study::{External, Oracle, Study};
use taskscout::train::Trainer;
use taskscout::{Error, Result};

use crate::joint_gd::JointGd;
use crate::network::MlpShape;
use crate::neural::Neural;
use crate::settings::NeuralSettings;
use crate::widths::NeuralAuto;

/// The name of variable projection on a network.
const NEURAL: &str = "neural";
/// The name of joint descent.
const JOINT_GD: &str = "joint-gd";

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

/// Gives a study that was loaded from a file its oracle back, if it is one of this crate's.
///
/// # Errors
/// Settings in the file that do not fit.
pub fn attach(study: &mut Study) -> Result<()> {
    let Oracle::External(external) = &study.config().oracle else {
        return Ok(());
    };
    let unreadable = |error: serde_json::Error| {
        Error::setting(
            "oracle.settings",
            format!("cannot be read: {error}; the study may come from another version"),
        )
    };
    let trainer: Arc<dyn Trainer> = match external.name.as_str() {
        NEURAL => serde_json::from_value::<NeuralConfig>(external.settings.clone())
            .map_err(unreadable)?
            .trainer()?,
        JOINT_GD => {
            let joint: JointGd =
                serde_json::from_value(external.settings.clone()).map_err(unreadable)?;
            joint.validate()?;
            Arc::new(joint)
        }
        _ => return Ok(()),
    };
    study.attach_trainer(trainer)
}
