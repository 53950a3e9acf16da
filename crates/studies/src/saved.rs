//! The model that a study hands out: complete, with the names and the scaling of its columns.

use taskscout::train::AveragedPredictor;
use taskscout_models::{Parts, SavedModel};

use crate::error::{Error, Result};
use crate::stored::StoredStudy;

impl StoredStudy {
    /// The predictor of a target with the guard's reason; of the only target if none is named.
    ///
    /// # Errors
    /// No such target, none named where there are several, or too little data.
    pub fn predictor(&self, target: Option<&str>) -> Result<AveragedPredictor> {
        let name = self.only_target(target)?;
        let all = self.learner()?.predictors()?;
        let found = all.iter().find(|predictor| predictor.target == name);
        found.cloned().ok_or_else(|| {
            Error::Input(format!(
                "target `{name}` has no rows of its own, so there is nothing to choose a model by: tell some, or, of a distribution, name the member that you want a model of with `target --add` and tell its rows"
            ))
        })
    }

    /// The model of a target: it takes and gives values in the units of the study's columns.
    ///
    /// # Errors
    /// As [`StoredStudy::predictor`]. A model with code of the user's own is handed out, but cannot be saved.
    pub fn model(&self, target: Option<&str>) -> Result<SavedModel> {
        let predictor = self.predictor(target)?;
        let learner = self.learner()?;
        let mut parts = Parts::of_study(&learner, &predictor, self.name())?;
        parts.names = self.definition().names();
        if let Some(scaling) = self.scaling() {
            parts.input_scaling = Some(scaling.inputs.clone());
            parts.output_scaling = Some(scaling.outputs.clone());
        }
        Ok(SavedModel::in_memory(parts)?)
    }
}
