//! The models of a run: one file for each strategy, target and seed, of what the last round gave.

use std::path::Path;

use taskscout::study::Study;
use taskscout::train::Choice;
use taskscout_models::SavedModel;

use super::trial::Contender;
use crate::error::{CliError, Result};

/// Saves the predictor that the guard chose last for a target.
pub(crate) fn save(
    path: &Path,
    study: &Study,
    choice: &Choice,
    experiment: &str,
    contender: Contender,
) -> Result<()> {
    let mut parts = SavedModel::from_study(study, choice, experiment)?.into_parts();
    parts.provenance.strategy = contender.to_string();
    SavedModel::new(parts)?
        .save(path)
        .map_err(|error| CliError::Failure(error.to_string()))
}
