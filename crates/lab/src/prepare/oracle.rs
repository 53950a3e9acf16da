//! Which training oracle an experiment uses.

use taskscout::features::Features as _;
use taskscout::study::Oracle;
use taskscout::train::{AlternatingMinimizationThenErm, JointRidge};
use taskscout_neural::{DescentSettings, JointGd, MlpShape, NeuralConfig, PooledNetwork};

use crate::config::{LearnerConfig, OwnParts};
use crate::names::{OracleChoice, OracleName};
use crate::scenario::Scenario;

/// The oracle that an experiment's file and options ask for.
pub(crate) fn build(
    learner: &LearnerConfig,
    own: &OwnParts,
    scenario: &Scenario,
) -> taskscout::Result<Oracle> {
    match (&learner.oracle, own.trainer()) {
        (OracleChoice::BuiltIn(oracle), _) => built_in(*oracle, learner, scenario),
        (OracleChoice::Own(_), Some(trainer)) => Ok(Oracle::External(trainer.clone())),
        (OracleChoice::Own(name), None) => {
            let problem = format!("`{name}` has not been made: register it");
            Err(taskscout::Error::State(problem))
        }
    }
}

/// An oracle that comes with the command.
fn built_in(
    oracle: OracleName,
    learner: &LearnerConfig,
    scenario: &Scenario,
) -> taskscout::Result<Oracle> {
    Ok(match oracle {
        OracleName::Exact => Oracle::Exact(exact(learner)),
        OracleName::Mllam => Oracle::Mllam(AlternatingMinimizationThenErm {
            mllam: learner.mllam.clone().unwrap_or_default(),
        }),
        OracleName::Neural => NeuralConfig {
            network: learner.network.clone(),
            training: learner.neural.clone(),
        }
        .oracle()?,
        OracleName::JointGd => joint_gd(learner, scenario).oracle()?,
        OracleName::Pooled if scenario.wants_network => {
            let network = NeuralConfig {
                network: Some(learner.network.clone().unwrap_or_default()),
                training: learner.neural.clone(),
            };
            let pooled = scenario.pooled.clone();
            PooledNetwork { pooled, network }.oracle()?
        }
        OracleName::Pooled => Oracle::Pooled(scenario.pooled.clone()),
    })
}

fn exact(learner: &LearnerConfig) -> JointRidge {
    let default = JointRidge::default();
    JointRidge {
        lambda: learner.lambda,
        tolerance: learner.tolerance.unwrap_or(default.tolerance),
        ..default
    }
}

/// Descent as published: Adam for a matrix, plain gradient steps for a network. A network that the world asks for and nobody
/// describes has one hidden layer, as wide as the inputs.
fn joint_gd(learner: &LearnerConfig, scenario: &Scenario) -> JointGd {
    let hidden = scenario
        .wants_network
        .then(|| scenario.input_features.input_dim());
    let network = learner.network.clone().unwrap_or(MlpShape {
        hidden: hidden.into_iter().collect(),
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
