//! Which training oracle an experiment uses.

use std::sync::Arc;

use taskscout::study::{External, Oracle};
use taskscout::train::Exact;
use taskscout_neural::Neural;

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
        OracleName::Neural | OracleName::JointGd => {
            let shape = learner.network.clone().unwrap_or_default();
            shape.validate()?;
            let settings = learner.neural.clone();
            let trainer = Neural::new(shape.clone(), settings.clone());
            Oracle::External(External::new(
                "neural",
                &(shape, settings),
                Arc::new(trainer),
            )?)
        }
    })
}
