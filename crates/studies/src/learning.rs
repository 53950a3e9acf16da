//! The study that plans and learns: with the features that predict best, where nobody said which.
//!
//! How tasks are related by their parameters, and how outputs depend on inputs, is seldom known before there is data.
//! Too poor a map is wrong with confidence; too rich a one wastes rows. So a study may have several of each to choose
//! from, and the pair that predicts new rows of the same tasks best ([`Study::feature_score`]) serves. The choice
//! follows from the rows alone: it is made anew when rows come, and is never stored.

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use taskscout::features::FeatureMap;
use taskscout::model::Model;
use taskscout::study::Study;

use crate::error::Result;
use crate::stored::StoredStudy;

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
    fn of(study: &Study) -> Self {
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
    fn lock(&self) -> MutexGuard<'_, Option<Arc<Study>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The study that plans and learns.
pub(crate) enum Learner<'a> {
    /// The study itself.
    Own(&'a Study),
    /// One in other features.
    Other(Arc<Study>),
}

impl Deref for Learner<'_> {
    type Target = Study;

    fn deref(&self) -> &Study {
        match self {
            Self::Own(study) => study,
            Self::Other(study) => study,
        }
    }
}

impl StoredStudy {
    /// The study that plans and learns: this one, or the same in the features that predict best.
    pub(crate) fn learner(&self) -> Result<Learner<'_>> {
        let choices = &self.definition().feature_choices;
        let study = self.study();
        if choices.is_empty() || study.data().source_rows() == 0 || study.data().keeps_rows() {
            return Ok(Learner::Own(study));
        }
        let mut known = self.learning.lock();
        if let Some(known) = known.as_mut()
            && known.data().version() == study.data().version()
        {
            match Arc::get_mut(known) {
                Some(copy) => copy.follow(study),
                None => *known = Arc::new(FeaturesInUse::of(known).applied_to(study)?),
            }
            return Ok(Learner::Other(Arc::clone(known)));
        }
        let chosen = Arc::new(study.with_best_features(&choices.tasks, &choices.inputs)?);
        *known = Some(Arc::clone(&chosen));
        Ok(Learner::Other(chosen))
    }

    /// The features that plans and models are made with now: those that predict best of what there is to choose from,
    /// or the study's own.
    ///
    /// # Errors
    /// A breakdown of the numerics.
    pub fn features_in_use(&self) -> Result<FeaturesInUse> {
        Ok(FeaturesInUse::of(&*self.learner()?))
    }

    /// The features of a learner, where they are chosen.
    pub(crate) fn features_of(&self, learner: &Study) -> Option<FeaturesInUse> {
        let chosen = !self.definition().feature_choices.is_empty();
        chosen.then(|| FeaturesInUse::of(learner))
    }

    /// The model of the newest data, where it was trained already.
    pub(crate) fn trained(&self) -> Option<Arc<Model>> {
        if self.definition().feature_choices.is_empty() {
            return self.study().trained();
        }
        let known = self.learning.lock();
        let current = known.as_ref()?;
        let is_new = current.data().version() == self.study().data().version();
        is_new.then(|| current.trained()).flatten()
    }
}
