//! Which training oracle an experiment uses.

use taskscout::study::Oracle;
use taskscout::train::{Exact, Staged};
use taskscout_neural::{DescentSettings, JointGd, MlpShape, NeuralConfig};

use super::config::LearnerConfig;
use crate::args::OracleName;
use crate::error::Result;

/// The oracle that an experiment's file and options ask for.
pub(crate) fn build(learner: &LearnerConfig) -> Result<Oracle> {
    Ok(match learner.oracle {
        OracleName::Exact => Oracle::Exact(Exact {
            lambda: learner.lambda,
            ..Exact::default()
        }),
        OracleName::Mllam => Oracle::Mllam(Staged {
            mllam: learner.mllam.clone().unwrap_or_default(),
        }),
        OracleName::Neural => NeuralConfig {
            network: learner.network.clone(),
            training: learner.neural.clone(),
        }
        .oracle()?,
        OracleName::JointGd => joint_gd(learner)?.oracle()?,
    })
}

/// Descent as published: Adam for a matrix, plain gradient steps for a network.
fn joint_gd(learner: &LearnerConfig) -> Result<JointGd> {
    let network = learner.network.clone().unwrap_or(MlpShape {
        hidden: Vec::new(),
        bias: false,
        ..MlpShape::default()
    });
    let published = if network.hidden.is_empty() {
        DescentSettings::default()
    } else {
        DescentSettings::for_networks()
    };
    Ok(JointGd {
        descent: published.with(&learner.descent)?,
        network,
    })
}
