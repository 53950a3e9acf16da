//! The files of a trial, by their names in the folder of its run.

use std::path::Path;

use taskscout_report::{write_csv, write_plans};
use taskscout_worlds::program::set_aside;

use super::{COLLECTED, MODELS, PLANS, TRIALS};
use crate::error::{LabError, Result};
use crate::record::{Trial, TrialRecord};

/// The files of a trial by their names in the folder; the world says which journals it keeps.
pub(crate) fn trial_files(
    trial: &Trial,
    details: bool,
    journals: &[String],
    save_models: bool,
) -> Vec<String> {
    let stem = trial.file_stem();
    let mut names = vec![format!("{TRIALS}/{stem}.csv")];
    if trial.contender.plans() {
        names.push(format!("{TRIALS}/{stem}.{PLANS}"));
    }
    if details {
        names.push(format!("{TRIALS}/{stem}.json"));
    }
    if save_models {
        names.extend(trial.model_stems().iter().map(|stem| model_file(stem)));
    }
    for journal in journals {
        names.push(format!("{COLLECTED}/{journal}"));
        let aside = set_aside(Path::new(journal));
        names.push(format!("{COLLECTED}/{}", aside.display()));
    }
    names
}

/// What a finished trial is kept as, by name in the folder; the last of them makes it whole.
pub(crate) fn record_files(record: &TrialRecord) -> Result<Vec<(String, Vec<u8>)>> {
    let name = |ending: &str| format!("{TRIALS}/{}.{ending}", record.trial.file_stem());
    let mut files = Vec::new();
    if let Some(details) = &record.details {
        let text = serde_json::to_string(details).map_err(|error| {
            LabError::Failure(format!("cannot write the details of a trial: {error}"))
        })?;
        files.push((name("json"), (text + "\n").into_bytes()));
    }
    if record.trial.contender.plans() {
        files.push((name(PLANS), write_plans(&record.plans).into_bytes()));
    }
    let mut rows = Vec::new();
    write_csv(&record.rows, &mut rows).map_err(|error| LabError::Failure(error.to_string()))?;
    files.push((name("csv"), rows));
    Ok(files)
}

/// Where a model is saved, by name in the folder.
pub(crate) fn model_file(stem: &str) -> String {
    format!("{MODELS}/{stem}.safetensors")
}
