//! The models of a run: one file for each strategy, target and seed, of what the last round gave.

use std::path::Path;

use taskscout::study::Study;
use taskscout::train::AveragedPredictor;
use taskscout_models::{Affine, Names, SavedModel};

use crate::error::{LabError, Result};
use crate::record::Contender;
use crate::scenario::InputScaling;

/// Where a model comes from.
pub(crate) struct Origin<'a> {
    pub(crate) experiment: &'a str,
    pub(crate) contender: &'a Contender,
    /// How inputs were standardised before the study saw them.
    pub(crate) scaling: Option<InputScaling>,
    /// What inputs and outputs are called.
    pub(crate) names: Names,
    /// What was taken off each output before the study saw them; empty if nothing.
    pub(crate) offset: Vec<f64>,
}

/// Saves the predictor that the guard chose last for a target.
pub(crate) fn save(
    path: &Path,
    study: &Study,
    choice: &AveragedPredictor,
    origin: Origin<'_>,
) -> Result<()> {
    let mut parts = SavedModel::from_study(study, choice, origin.experiment)?.into_parts();
    parts.provenance.strategy = origin.contender.to_string();
    parts.input_scaling = origin.scaling.map(|scaling| Affine {
        mean: scaling.mean,
        scale: scaling.scale,
    });
    parts.names = origin.names;
    if origin.offset.iter().any(|offset| offset.abs() > 0.0) {
        parts.output_scaling = Some(Affine {
            scale: vec![1.0; origin.offset.len()],
            mean: origin.offset,
        });
    }
    SavedModel::new(parts)?
        .save(path)
        .map_err(|error| LabError::Failure(error.to_string()))
}
