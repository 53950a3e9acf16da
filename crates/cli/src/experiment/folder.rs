//! The folder of a run: refuses another run's, keeps finished trials, writes whole files only.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use taskscout_report::{ResultRow, read_csv, write_atomically, write_csv};

use super::config::ExperimentConfig;
use super::trial::Contender;
use crate::args::ExperimentOptions;
use crate::error::{CliError, Result};

/// What a run writes at its top.
const FILES: [&str; 5] = [
    "settings.json",
    "results.csv",
    "summary.json",
    "loss.svg",
    "report.html",
];
/// Where finished trials are kept, so that a stopped run can go on.
const TRIALS: &str = "trials";
/// Where models are kept.
const MODELS: &str = "models";

/// The folder of a run.
pub(crate) struct RunFolder {
    path: PathBuf,
    settings: Value,
    /// Whether another run's files have to go first.
    replaces: bool,
    save_models: bool,
}

impl RunFolder {
    /// A folder for a run: a new one, one to be emptied with `--force`, or the same run's with
    /// `--resume`. Changes nothing yet.
    pub(crate) fn examine(
        path: PathBuf,
        config: &ExperimentConfig,
        options: &ExperimentOptions,
    ) -> Result<Self> {
        let settings = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "command": std::env::args().skip(1).collect::<Vec<_>>().join(" "),
            "experiment": config,
        });
        let mut folder = Self {
            path,
            settings,
            replaces: false,
            save_models: options.save_models,
        };
        match folder.known_settings()? {
            Some(known) if options.resume => folder.check_same(&known)?,
            Some(_) if !options.force => {
                return Err(CliError::Input(format!(
                    "{} holds a run already: give --resume to go on with it, --force to replace it, or another --out",
                    folder.path.display()
                )));
            }
            Some(_) => folder.replaces = true,
            None => {}
        }
        Ok(folder)
    }

    /// Makes the folder ready and writes the settings.
    pub(crate) fn begin(&self) -> Result<()> {
        if self.replaces {
            self.clear()?;
        }
        let models = self.save_models.then_some(MODELS);
        for name in [TRIALS].into_iter().chain(models) {
            std::fs::create_dir_all(self.path.join(name))
                .map_err(|error| self.unusable("create", &error))?;
        }
        let text = serde_json::to_string_pretty(&self.settings)
            .map_err(|error| CliError::Failure(format!("cannot write the settings: {error}")))?;
        write_atomically(self.path.join(FILES[0]), (text + "\n").as_bytes())
            .map_err(|error| CliError::Input(error.to_string()))
    }

    /// Whether a folder holds the run of an experiment, as only such a run has it.
    pub(crate) fn holds_results(path: &Path) -> bool {
        [FILES[0], FILES[1], TRIALS]
            .iter()
            .any(|file| path.join(file).exists())
    }

    fn known_settings(&self) -> Result<Option<Value>> {
        let path = self.path.join(FILES[0]);
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Some(serde_json::from_str(&text).unwrap_or(Value::Null))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                // Results without settings are somebody's all the same.
                let foreign = FILES
                    .iter()
                    .chain([&TRIALS])
                    .any(|file| self.path.join(file).exists());
                Ok(foreign.then_some(Value::Null))
            }
            Err(error) => Err(self.unusable("read", &error)),
        }
    }

    fn check_same(&self, known: &Value) -> Result<()> {
        for key in ["version", "experiment"] {
            if known.get(key) != self.settings.get(key) {
                return Err(CliError::Input(format!(
                    "{} holds a run with another {key}, which cannot be resumed: give the same options, or another --out",
                    self.path.display()
                )));
            }
        }
        Ok(())
    }

    /// Removes what a run has written, and nothing else.
    fn clear(&self) -> Result<()> {
        let failed = |error: std::io::Error| self.unusable("clear", &error);
        for file in FILES {
            remove(std::fs::remove_file(self.path.join(file))).map_err(failed)?;
        }
        for (name, ending) in [(TRIALS, "csv"), (MODELS, "safetensors")] {
            let Ok(entries) = std::fs::read_dir(self.path.join(name)) else {
                continue;
            };
            for entry in entries {
                let path = entry.map_err(failed)?.path();
                if path.extension().is_some_and(|found| found == ending) {
                    remove(std::fs::remove_file(path)).map_err(failed)?;
                }
            }
        }
        Ok(())
    }

    fn unusable(&self, verb: &str, error: &std::io::Error) -> CliError {
        CliError::Input(format!(
            "cannot {verb} {}: {error}; give another --out",
            self.path.display()
        ))
    }

    /// The folder itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Full configuration, version and command.
    pub(crate) fn settings(&self) -> &Value {
        &self.settings
    }

    fn trial_path(&self, contender: Contender, seed: u64) -> PathBuf {
        self.path
            .join(TRIALS)
            .join(format!("{contender}-{seed}.csv"))
    }

    /// Where the model of a trial is saved.
    pub(crate) fn model_path(&self, contender: Contender, seed: u64) -> PathBuf {
        self.path
            .join(MODELS)
            .join(format!("{contender}-seed{seed}.safetensors"))
    }

    /// The rows of a trial that had been finished.
    pub(crate) fn finished(
        &self,
        contender: Contender,
        seed: u64,
    ) -> Result<Option<Vec<ResultRow>>> {
        let path = self.trial_path(contender, seed);
        match std::fs::File::open(&path) {
            Ok(file) => read_csv(std::io::BufReader::new(file), &path.display().to_string())
                .map(Some)
                .map_err(|error| {
                    CliError::Input(format!("{error}; delete that file to run the trial again"))
                }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.unusable("read", &error)),
        }
    }

    /// Keeps the rows of a finished trial.
    pub(crate) fn keep(&self, contender: Contender, seed: u64, rows: &[ResultRow]) -> Result<()> {
        let mut bytes = Vec::new();
        write_csv(rows, &mut bytes).map_err(|error| CliError::Failure(error.to_string()))?;
        write_atomically(self.trial_path(contender, seed), &bytes)
            .map_err(|error| CliError::Failure(error.to_string()))
    }

    /// Writes a result file, whole or not at all.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        write_atomically(self.path.join(name), bytes)
            .map_err(|error| CliError::Failure(error.to_string()))
    }
}

/// Removing what is not there is fine.
fn remove(outcome: std::io::Result<()>) -> std::io::Result<()> {
    match outcome {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
