//! The study that plans and learns: with the features that predict best, where nobody said which.
//!
//! The choice follows from the rows alone: it is made anew when rows come, and is never stored.

use std::ops::Deref;
use std::sync::Arc;

use taskscout::model::Model;
use taskscout::study::Study;

use crate::error::Result;
use crate::feature_choice::FeaturesInUse;
use crate::stored::StoredStudy;

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
                None => {
                    let mut copy = known.copy_with_models();
                    copy.follow(study);
                    *known = Arc::new(copy);
                }
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
