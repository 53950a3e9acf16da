//! Features that a study chooses by what was measured, where nobody said which.
//!
//! How tasks are related by their parameters, and how outputs depend on inputs, is seldom known before there is data.
//! Too poor a map is wrong with confidence; too rich a one wastes rows. So a study may have several of each to choose
//! from, and the pair that predicts new rows of the same tasks best ([`Study::feature_score`]) serves.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use taskscout::features::{FeatureMap, Features as _};
use taskscout::study::Study;

use crate::error::Result;

/// Maps that a study chooses from; none where its own are given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureChoices {
    /// Of tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<FeatureMap>,
    /// Of inputs: each is the beginning of the study's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<FeatureMap>,
}

impl FeatureChoices {
    /// Whether there is nothing to choose.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.inputs.is_empty()
    }
}

/// A pair of maps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeaturesInUse {
    /// Of tasks.
    pub tasks: FeatureMap,
    /// Of inputs.
    pub inputs: FeatureMap,
}

impl FeaturesInUse {
    pub(crate) fn of(study: &Study) -> Self {
        let config = study.config();
        Self {
            tasks: config.task_features.clone(),
            inputs: config.input_features.clone(),
        }
    }

    /// A study with these features.
    pub(crate) fn applied_to(&self, study: &Study) -> Result<Study> {
        let (tasks, inputs) = (&self.tasks, &self.inputs);
        Ok(study.with_best_features(std::slice::from_ref(tasks), std::slice::from_ref(inputs))?)
    }
}

/// The study in its features, of the newest data that were looked at.
#[derive(Debug, Default)]
pub(crate) struct Learning(Mutex<Option<Arc<Study>>>);

impl Learning {
    /// The same study again, for a copy that goes its own way.
    pub(crate) fn copied(&self) -> Self {
        Self(Mutex::new(self.lock().clone()))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Option<Arc<Study>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a feature map is, in words, or what it is chosen from.
pub(crate) fn described(map: &FeatureMap, choices: &[FeatureMap]) -> String {
    if choices.len() > 1 {
        let counts: Vec<String> = choices.iter().map(|map| map.dim().to_string()).collect();
        return format!(
            "polynomials of {} features, chosen by what was measured",
            counts.join(" or ")
        );
    }
    let words = match map {
        FeatureMap::Standardised(_) => " of centred and scaled values",
        FeatureMap::Identity(_) => ": the values themselves",
        FeatureMap::Polynomial(_) => ": polynomials with a constant",
        _ => " of your own",
    };
    format!("{} features{words}", map.dim())
}
