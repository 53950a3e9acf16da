//! Which training oracle an experiment uses.

use std::sync::Arc;

use taskscout::study::{External, Oracle};
use taskscout::train::{Exact, Staged};
use taskscout_neural::{DescentSettings, JointGd, MlpShape, Neural};

use super::config::LearnerConfig;
use crate::args::OracleName;
use crate::error::Result;

/// The oracle that an experiment's file and options ask for.
pub(crate) fn build(learner: &LearnerConfig) -> Result<Oracle> {
    let name = learner.oracle.name();
    Ok(match learner.oracle {
        OracleName::Exact => Oracle::Exact(Exact {
            lambda: learner.lambda,
            ..Exact::default()
        }),
        OracleName::Mllam => Oracle::Mllam(Staged {
            mllam: learner.mllam.clone().unwrap_or_default(),
        }),
        OracleName::Neural => {
            let shape = learner.network.clone().unwrap_or_default();
            shape.validate()?;
            let settings = learner.neural.clone();
            let trainer = Neural::new(shape.clone(), settings.clone());
            Oracle::External(External::new(name, &(shape, settings), Arc::new(trainer))?)
        }
        OracleName::JointGd => {
            let trainer = joint_gd(learner);
            trainer.validate()?;
            Oracle::External(External::new(name, &trainer, Arc::new(trainer.clone()))?)
        }
    })
}

/// Descent as published: Adam for a matrix, plain gradient steps for a network.
fn joint_gd(learner: &LearnerConfig) -> JointGd {
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
    JointGd {
        descent: learner.descent.clone().unwrap_or(published),
        network,
    }
}
