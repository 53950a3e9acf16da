//! Which training oracle an experiment uses.

use taskscout::study::Oracle;
use taskscout::train::{Exact, Staged};
use taskscout_neural::{DescentSettings, JointGd, MlpShape, NeuralConfig, PooledNetwork};

use super::config::LearnerConfig;
use super::world::World;
use crate::args::OracleName;

/// The oracle that an experiment's file and options ask for.
pub(crate) fn build(learner: &LearnerConfig, world: &dyn World) -> taskscout::Result<Oracle> {
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
        OracleName::JointGd => joint_gd(learner).oracle()?,
        OracleName::Pooled if world.wants_network() => {
            let network = NeuralConfig {
                network: Some(learner.network.clone().unwrap_or_default()),
                training: learner.neural.clone(),
            };
            let pooled = world.pooled();
            PooledNetwork { pooled, network }.oracle()?
        }
        OracleName::Pooled => Oracle::Pooled(world.pooled()),
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
        descent: published.with(&learner.descent),
        network,
    }
}
