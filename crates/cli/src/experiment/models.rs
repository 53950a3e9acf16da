//! The models of a run: one file for each strategy and seed, of what the last round gave.

use std::path::Path;

use taskscout::study::Study;
use taskscout::train::Choice;
use taskscout_models::SavedModel;

use super::trial::Contender;
use crate::error::{CliError, Result};

/// Saves the predictor that the guard chose last; does nothing where no model is asked for.
pub(crate) fn save(
    path: Option<&Path>,
    study: &Study,
    choice: Option<&Choice>,
    experiment: &str,
    contender: Contender,
) -> Result<()> {
    let (Some(path), Some(choice)) = (path, choice) else {
        return Ok(());
    };
    let mut parts = SavedModel::from_study(study, choice, experiment)?.into_parts();
    parts.provenance.strategy = contender.to_string();
    SavedModel::new(parts)?
        .save(path)
        .map_err(|error| CliError::Failure(error.to_string()))
}
