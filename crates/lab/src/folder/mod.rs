//! The folder of a run: refuses another run's, keeps finished trials, writes whole files only.
//!
//! One process at a time uses it ([`lock`]); what it writes is listed ([`manifest`]), with what it was
//! made from ([`inputs`]).

mod changes;
mod contents;
mod kept;
mod lock;
mod manifest;
mod top;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use taskscout_report::{FigureFiles, write_atomically};
use taskscout_worlds::program::Incidents;

pub(crate) use contents::{model_file, record_files, trial_files};
use lock::Lock;
use manifest::Manifest;
pub(crate) use top::TopFolder;

use crate::error::{LabError, Result};
use crate::options::ExperimentOptions;
use crate::prepare::Prepared;
use crate::record::{Trial, TrialRecord};
use crate::run_input::{self, RunInput};
use crate::watch::Watcher;

/// What a run writes at its top.
const FILES: [&str; 6] = [
    "settings.json",
    "results.csv",
    "summary.json",
    "loss.svg",
    "report.html",
    PLANS,
];
/// What the plans of a trial are kept as, behind its name.
const PLANS: &str = "plans.csv";
/// Where finished trials are kept, so that a stopped run can go on.
const TRIALS: &str = "trials";
/// Where pictures of a world's own are kept.
const FIGURES: &str = "figures";
/// Where rows are kept that came from outside.
pub(crate) const COLLECTED: &str = "collected";
/// Where models are kept.
const MODELS: &str = "models";

/// Whether a file is one that the manifest beside it lists.
pub(crate) fn is_of_run(path: &Path) -> Result<bool> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok(false);
    };
    let listed = |known: Manifest| known.files.contains(&*name.to_string_lossy());
    Ok(Manifest::read_ours(folder)?.is_some_and(listed))
}

/// Whether a folder is that of a run, which may still write there.
pub(crate) fn is_run(folder: &Path) -> Result<bool> {
    Ok(Manifest::read_ours(folder)?.is_some())
}

/// The folder of a run.
pub(crate) struct RunFolder {
    path: PathBuf,
    settings: Value,
    /// What the run would be made from now.
    inputs: Vec<RunInput>,
    /// What it lists.
    manifest: Mutex<Manifest>,
    /// Of another run, whose files have to go first.
    replaces: Option<Manifest>,
    save_models: bool,
    /// None until there is a folder to lock.
    lock: Option<Lock>,
    watch: Watcher,
}

/// A folder that no other process uses, nor will while this one does.
pub(crate) struct Reserved {
    path: PathBuf,
    /// None where there is nothing to lock yet.
    lock: Option<Lock>,
    watch: Watcher,
}

impl Reserved {
    /// Reserves a folder, before any work is done for it. Changes nothing.
    pub(crate) fn new(path: PathBuf, watch: &Watcher) -> Result<Self> {
        let lock = Lock::of_known(&path, watch.as_ref())?;
        Ok(Self {
            path,
            lock,
            watch: watch.clone(),
        })
    }

    /// The folder for a run: a new one, one to be emptied with `--force`, or the same run's with
    /// `--resume`. Changes nothing yet.
    pub(crate) fn examine(
        self,
        prepared: &Prepared,
        options: &ExperimentOptions,
    ) -> Result<RunFolder> {
        let settings = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "command": std::env::args().skip(1).collect::<Vec<_>>().join(" "),
            "experiment": prepared.config,
        });
        let mut inputs = prepared.data.made_from()?;
        // Parts of the user's own are part of the command.
        if !prepared.config.own.is_empty() || prepared.config.world.has_own() {
            inputs.push(RunInput::command()?);
        }
        let manifest = Manifest {
            inputs: inputs.clone(),
            ..Manifest::default()
        };
        let mut folder = RunFolder {
            lock: self.lock,
            watch: self.watch,
            path: self.path,
            settings,
            inputs,
            manifest: Mutex::new(manifest),
            replaces: None,
            save_models: options.save_models,
        };
        folder.look(options)?;
        Ok(folder)
    }
}

impl RunFolder {
    /// Looks at what is there, and decides what to do about it.
    fn look(&mut self, options: &ExperimentOptions) -> Result<()> {
        match Manifest::read(&self.path)? {
            Some(known) if options.resume => self.take_over(known, options),
            Some(_) if !options.force => self.refuse(
                "holds a run already: give --resume to go on with it, --force to replace it, or another --out",
            ),
            Some(known) => {
                self.replaces = Some(known);
                Ok(())
            }
            // Whatever is there, no manifest says whose it is.
            None if options.force && !manifest::is_blank(&self.path) => self.refuse(
                "holds files but no manifest.json, which lists the files of a run, so --force removes nothing: \
                 move them away, or give another --out",
            ),
            None if self.has_results() => self.refuse(match options.resume {
                true => "holds a run without a manifest.json, which lists the data and programs of the run, so it cannot be resumed: give another --out",
                false => "holds a run already, without a manifest.json: move it away, or give another --out",
            }),
            None => Ok(()),
        }
    }

    fn refuse(&self, problem: &str) -> Result<()> {
        let folder = self.path.display();
        Err(LabError::Input(format!("{folder} {problem}")))
    }

    /// Goes on with a run: the same settings, made from the same.
    fn take_over(&mut self, mut known: Manifest, options: &ExperimentOptions) -> Result<()> {
        if let Some(settings) = self.known_settings()? {
            self.check_same(&settings)?;
        }
        let changes = run_input::changes(&known.inputs, &self.inputs);
        if !changes.is_empty() && !options.accept_changes {
            return Err(LabError::Input(format!(
                "the data or programs of {} have changed: {}; undo the change, start again with --force or another --out, or, \
                 if results do not depend on the change, go on with --resume --accept-changes",
                self.path.display(),
                run_input::listed(&changes)
            )));
        }
        if !changes.is_empty() {
            known.accepted.extend(changes);
            known.inputs = run_input::accepted(&known.inputs, self.inputs.clone());
        }
        self.manifest = Mutex::new(known);
        Ok(())
    }

    /// Makes the folder ready and writes the settings.
    pub(crate) fn begin(&mut self, options: &ExperimentOptions) -> Result<()> {
        std::fs::create_dir_all(&self.path).map_err(|error| self.unusable("create", &error))?;
        if self.lock.is_none() {
            self.lock = Some(Lock::of(&self.path, self.watch.as_ref())?);
            // Somebody may have come and gone since the first look.
            self.look(options)?;
        }
        if let Some(known) = self.replaces.take() {
            known.sweep(&self.path);
            known.clear(&self.path)?;
        }
        {
            let mut manifest = self.listed();
            manifest.claim(&self.path, &[FILES[0].into()])?;
            manifest.write(&self.path)?;
            manifest.sweep(&self.path);
        }
        let text = serde_json::to_string_pretty(&self.settings)
            .map_err(|error| LabError::Failure(format!("cannot write the settings: {error}")))?;
        write_atomically(self.path.join(FILES[0]), (text + "\n").as_bytes())
            .map_err(|error| LabError::Input(error.to_string()))?;
        let models = self.save_models.then_some(MODELS);
        for name in [TRIALS].into_iter().chain(models) {
            std::fs::create_dir_all(self.path.join(name))
                .map_err(|error| self.unusable("create", &error))?;
        }
        Ok(())
    }

    /// Whether a folder holds the run of an experiment, as only such a run has it.
    pub(crate) fn holds_results(path: &Path) -> bool {
        [FILES[0], FILES[1], TRIALS]
            .iter()
            .any(|file| path.join(file).exists())
    }

    /// Whether there is anything that a run writes.
    fn has_results(&self) -> bool {
        let mut names = FILES.iter().chain([&TRIALS]);
        names.any(|file| self.path.join(file).exists())
    }

    /// The settings of the run that is there; none if it was stopped before it wrote any.
    fn known_settings(&self) -> Result<Option<Value>> {
        let path = self.path.join(FILES[0]);
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Some(serde_json::from_str(&text).unwrap_or(Value::Null))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                // Results without settings are some other run's.
                Ok(self.has_results().then_some(Value::Null))
            }
            Err(error) => Err(self.unusable("read", &error)),
        }
    }

    fn listed(&self) -> std::sync::MutexGuard<'_, Manifest> {
        self.manifest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists files before they are made.
    fn claim(&self, names: &[String]) -> Result<()> {
        let mut manifest = self.listed();
        if manifest.claim(&self.path, names)? {
            manifest.write(&self.path)?;
        }
        Ok(())
    }

    /// Changes of data or programs that the run went on in spite of, in words.
    pub(crate) fn accepted_changes(&self) -> Option<String> {
        let accepted = &self.listed().accepted;
        (!accepted.is_empty()).then(|| run_input::listed(accepted))
    }

    fn check_same(&self, known: &Value) -> Result<()> {
        for key in ["version", "experiment"] {
            let (had, wanted) = (lasting(known.get(key)), lasting(self.settings.get(key)));
            if had != wanted {
                let change = changes::first(key, had.as_ref(), wanted.as_ref());
                return Err(LabError::Input(format!(
                    "{} holds a run with another {key}{}, which cannot be resumed: give the same options, or another --out",
                    self.path.display(),
                    change.map_or_else(String::new, |change| format!(" ({change})"))
                )));
            }
        }
        let seeds = |settings: &Value| {
            settings
                .pointer("/experiment/seeds")
                .and_then(Value::as_u64)
        };
        match (seeds(known), seeds(&self.settings)) {
            (Some(had), Some(wanted)) if wanted < had => Err(LabError::Input(format!(
                "{} holds a run of {had} seeds, and --resume only adds to them: give --seeds {had} or more, or another --out",
                self.path.display()
            ))),
            _ => Ok(()),
        }
    }

    fn unusable(&self, verb: &str, error: &std::io::Error) -> LabError {
        LabError::Input(format!(
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
        let path = |stem: &String| self.path.join(model_file(stem));
        trial.model_stems().iter().map(path).collect()
    }

    /// Lists the files of a trial that is about to run; the world says which journals it keeps.
    pub(crate) fn take_up(&self, trial: &Trial, details: bool, journals: &[String]) -> Result<()> {
        self.claim(&trial_files(trial, details, journals, self.save_models))
    }

    /// Keeps a finished trial.
    pub(crate) fn keep(&self, record: &TrialRecord) -> Result<()> {
        for (name, bytes) in record_files(record)? {
            write_atomically(self.path.join(name), &bytes)
                .map_err(|error| LabError::Failure(error.to_string()))?;
        }
        Ok(())
    }

    /// Writes a picture of a world's own, and its numbers.
    pub(crate) fn write_figure(&self, figure: &FigureFiles) -> Result<()> {
        let folder = self.path.join(FIGURES);
        std::fs::create_dir_all(&folder).map_err(|error| self.unusable("create", &error))?;
        let FigureFiles { name, svg, csv } = figure;
        self.write(&format!("{FIGURES}/{name}.svg"), svg.as_bytes())?;
        self.write(&format!("{FIGURES}/{name}.csv"), csv.as_bytes())
    }

    /// Where models are saved, if they are.
    pub(crate) fn models(&self) -> Option<String> {
        let folder = self.path.join(MODELS);
        self.save_models.then(|| folder.display().to_string())
    }

    /// How often the program crashed whose answers are kept here.
    pub(crate) fn incidents(&self) -> Result<Incidents> {
        let mut incidents = Incidents::default();
        let listed: Vec<String> = self.listed().files.iter().cloned().collect();
        let journals = listed.iter().filter(|name| name.starts_with(COLLECTED));
        for path in journals.map(|name| self.path.join(name)) {
            match incidents.add(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(self.unusable("read", &error));
                }
                _ => {}
            }
        }
        Ok(incidents)
    }

    /// Writes a result file, whole or not at all.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.claim(&[name.to_owned()])?;
        write_atomically(self.path.join(name), bytes)
            .map_err(|error| LabError::Failure(error.to_string()))
    }
}

/// Settings that a run must keep. It may get more seeds. How long a program of the user's may take is what one mends before
/// going on: rows do not depend on it. How it is called stands among what the run is made from.
fn lasting(settings: Option<&Value>) -> Option<Value> {
    let mut settings = settings?.clone();
    if let Some(settings) = settings.as_object_mut() {
        settings.remove("seeds");
    }
    for table in ["source", "world"] {
        if let Some(table) = settings.get_mut(table).and_then(Value::as_object_mut) {
            table.remove("command");
            table.remove("timeout_s");
        }
    }
    Some(settings)
}
