//! The folder of a run: refuses another run's, keeps finished trials, writes whole files only.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use taskscout_report::{read_csv, write_atomically, write_csv};

use super::config::ExperimentConfig;
use super::trial::{Trial, TrialDetails, TrialRecord};
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
/// Where pictures of a world's own are kept.
const FIGURES: &str = "figures";
/// Where rows are kept that came from outside.
const COLLECTED: &str = "collected";
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
            if lasting(known.get(key)) != lasting(self.settings.get(key)) {
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
        for (name, start, ending) in [
            ("", "loss-t", ".svg"),
            (FIGURES, "", ".svg"),
            (TRIALS, "", ".csv"),
            (TRIALS, "", ".json"),
            (COLLECTED, "", ".jsonl"),
            (MODELS, "", ".safetensors"),
        ] {
            let Ok(entries) = std::fs::read_dir(self.path.join(name)) else {
                continue;
            };
            for entry in entries {
                let entry = entry.map_err(failed)?;
                let file = entry.file_name().to_string_lossy().into_owned();
                if file.starts_with(start) && file.ends_with(ending) {
                    remove(std::fs::remove_file(entry.path())).map_err(failed)?;
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

    fn trial_path(&self, trial: &Trial, ending: &str) -> PathBuf {
        self.path
            .join(TRIALS)
            .join(format!("{}.{ending}", trial.file_stem()))
    }

    /// Where rows are kept that came from outside.
    pub(crate) fn collected(&self) -> PathBuf {
        self.path.join(COLLECTED)
    }

    /// Where the models of a trial are saved, one for each of its targets.
    pub(crate) fn model_paths(&self, trial: &Trial) -> Vec<PathBuf> {
        let path = |stem| self.path.join(MODELS).join(format!("{stem}.safetensors"));
        trial.model_stems().into_iter().map(path).collect()
    }

    /// A trial that had been finished, with its details if they are asked for.
    pub(crate) fn finished(&self, trial: &Trial, details: bool) -> Result<Option<TrialRecord>> {
        let path = self.trial_path(trial, "csv");
        let rows = match std::fs::File::open(&path) {
            Ok(file) => read_csv(std::io::BufReader::new(file), &path.display().to_string())
                .map_err(|error| {
                    CliError::Input(format!("{error}; delete that file to run the trial again"))
                })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.unusable("read", &error)),
        };
        let details = match (details, self.details(trial)) {
            (false, _) => None,
            (true, Some(details)) => Some(details),
            // Rows alone are half a trial.
            (true, None) => return Ok(None),
        };
        Ok(Some(TrialRecord {
            trial: trial.clone(),
            rows,
            details,
        }))
    }

    /// The details of a trial, unless they are missing or damaged.
    fn details(&self, trial: &Trial) -> Option<TrialDetails> {
        let text = std::fs::read_to_string(self.trial_path(trial, "json")).ok()?;
        let details: TrialDetails = serde_json::from_str(&text).ok()?;
        Some(details).filter(|known| known.targets.len() == trial.targets().len())
    }

    /// Keeps a finished trial.
    pub(crate) fn keep(&self, record: &TrialRecord) -> Result<()> {
        let write = |ending, bytes: &[u8]| {
            write_atomically(self.trial_path(&record.trial, ending), bytes)
                .map_err(|error| CliError::Failure(error.to_string()))
        };
        if let Some(details) = &record.details {
            let text = serde_json::to_string(details).map_err(|error| {
                CliError::Failure(format!("cannot write the details of a trial: {error}"))
            })?;
            write("json", (text + "\n").as_bytes())?;
        }
        let mut bytes = Vec::new();
        write_csv(&record.rows, &mut bytes)
            .map_err(|error| CliError::Failure(error.to_string()))?;
        write("csv", &bytes)
    }

    /// Writes a picture of a world's own.
    pub(crate) fn write_figure(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let folder = self.path.join(FIGURES);
        std::fs::create_dir_all(&folder).map_err(|error| self.unusable("create", &error))?;
        write_atomically(folder.join(format!("{name}.svg")), bytes)
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

/// Settings that a run must keep. How a program of the user's is called and how long it may take are
/// what one mends before going on: rows do not depend on them.
fn lasting(settings: Option<&Value>) -> Option<Value> {
    let mut settings = settings?.clone();
    for table in ["source", "world"] {
        if let Some(table) = settings.get_mut(table).and_then(Value::as_object_mut) {
            table.remove("command");
            table.remove("timeout_s");
        }
    }
    Some(settings)
}
