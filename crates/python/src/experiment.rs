//! Experiments whose trials run wherever Python has workers.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Deserialize;
use serde_json::{Map, Value};
use taskscout::registry::Registry;
use taskscout_lab::{
    BuiltIn, Experiment, ExperimentOptions, LabError, OpenRun, Published, ScheduleName,
    TrialFailure, TrialFile, Watch, Watcher, WorldName, WorldOptions,
};
use taskscout_report::plain_table;

use crate::errors::{self, Result, json, of_json};
use crate::threads::detached;

/// What an experiment is told from Python; the same as on the command line.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Settings {
    experiment: String,
    seeds: Option<u64>,
    seed: Option<u64>,
    strategies: Option<Vec<String>>,
    save_task: bool,
    as_published: Option<Published>,
    oracle: Option<String>,
    schedule: Option<String>,
    budget_scale: Option<f64>,
    n_target: Option<usize>,
    quick: bool,
    out: Option<PathBuf>,
    resume: bool,
    force: bool,
    save_models: bool,
    /// All else: options of the experiment's world.
    #[serde(flatten)]
    world: Map<String, Value>,
}

impl Settings {
    fn experiment(&self) -> std::result::Result<Experiment, LabError> {
        let names = BuiltIn::ALL.iter();
        match names.clone().find(|known| known.name() == self.experiment) {
            Some(&known) => Experiment::built_in(known),
            None if self.experiment.ends_with(".toml") => {
                Experiment::from_file(self.experiment.as_ref())
            }
            None => {
                let names: Vec<&str> = names.map(|known| known.name()).collect();
                Err(LabError::Input(format!(
                    "there is no experiment `{}`: give one of {}, or the path of a .toml file",
                    self.experiment,
                    names.join(", ")
                )))
            }
        }
    }

    fn options(self, world: WorldName) -> std::result::Result<ExperimentOptions, LabError> {
        Ok(ExperimentOptions {
            seeds: self.seeds,
            seed: self.seed,
            strategies: self.strategies,
            save_task: self.save_task,
            as_published: self.as_published,
            oracle: self.oracle.map(Into::into),
            schedule: self.schedule.as_deref().map(schedule).transpose()?,
            budget_scale: self.budget_scale,
            n_target: self.n_target,
            world: world_options(world, self.world)?,
            quick: self.quick,
            out: self.out,
            resume: self.resume,
            force: self.force,
            save_models: self.save_models,
            ..ExperimentOptions::default()
        })
    }
}

/// The options of a kind of world; those that others have are refused.
fn world_options(
    world: WorldName,
    mut given: Map<String, Value>,
) -> std::result::Result<WorldOptions, LabError> {
    // What nobody has given stands there as nothing.
    let nothing = [Value::Null, Value::Bool(false), Value::Array(Vec::new())];
    given.retain(|_, value| !nothing.contains(value));
    let given = Value::Object(given);
    let read = match world {
        WorldName::Synthetic => serde_json::from_value(given).map(WorldOptions::Synthetic),
        WorldName::Pendulum => serde_json::from_value(given).map(WorldOptions::Pendulum),
        WorldName::Logs => serde_json::from_value(given).map(WorldOptions::Logs),
        WorldName::Program => serde_json::from_value(given).map(WorldOptions::Program),
    };
    read.map_err(|error| {
        let about = world.about();
        LabError::Input(format!(
            "{error}; the experiment has the options of {about}"
        ))
    })
}

fn schedule(name: &str) -> std::result::Result<ScheduleName, LabError> {
    let mut known = ScheduleName::ALL.iter();
    let found = known.find(|schedule| schedule.name() == name).copied();
    found.ok_or_else(|| {
        LabError::Input(format!(
            "`schedule` is `{name}`: give `paper` or `adaptive`"
        ))
    })
}

/// Keeps what a person should read.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Notes {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Watch for Notes {
    fn note(&self, sentence: &str) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.push(sentence.to_owned());
    }
}

/// Runs trials of an experiment, one by one.
#[pyclass(frozen, module = "taskscout._native")]
pub(crate) struct TrialRunner {
    runner: taskscout_lab::TrialRunner,
}

#[pymethods]
impl TrialRunner {
    /// An experiment from settings as JSON.
    #[new]
    fn new(py: Python<'_>, settings: &str) -> PyResult<Self> {
        let runner: Result<_> = detached(py, || {
            let settings: Settings = of_json(settings)?;
            let experiment = settings.experiment().map_err(errors::of_lab)?;
            let options = settings
                .options(experiment.world())
                .map_err(errors::of_lab)?;
            let nobody: Watcher = Arc::new(());
            experiment
                .trial_runner(&options, &Registry::new(), &nobody)
                .map_err(errors::of_lab)
        });
        let runner = runner.map_err(errors::raised)?;
        Ok(Self { runner })
    }

    /// Runs a trial into a folder; the names of the files that it wrote there.
    fn run(&self, py: Python<'_>, name: &str, folder: PathBuf) -> PyResult<Vec<String>> {
        let written = detached(py, || {
            self.runner.run(name, &folder)?;
            self.runner.written(name, &folder)
        });
        written.map_err(|error| errors::raised(errors::of_lab(error)))
    }
}

/// A run that takes trials from elsewhere; nobody else may use its folder until it is finished or dropped.
#[pyclass(frozen, module = "taskscout._native")]
pub(crate) struct ExperimentRun {
    /// None once it is finished.
    open: Mutex<Option<OpenRun>>,
    notes: Arc<Notes>,
}

impl ExperimentRun {
    fn lock(&self) -> MutexGuard<'_, Option<OpenRun>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&OpenRun) -> std::result::Result<T, LabError> + Send,
    ) -> PyResult<T> {
        let done = detached(py, || match self.lock().as_ref() {
            Some(open) => work(open),
            None => Err(over()),
        });
        done.map_err(|error| errors::raised(errors::of_lab(error)))
    }
}

#[pymethods]
impl ExperimentRun {
    /// Makes the folder ready.
    #[new]
    fn new(py: Python<'_>, settings: &str) -> PyResult<Self> {
        let notes = Arc::new(Notes::default());
        let watcher: Watcher = notes.clone();
        let open: Result<OpenRun> = detached(py, || {
            let settings: Settings = of_json(settings)?;
            let experiment = settings.experiment().map_err(errors::of_lab)?;
            let options = settings
                .options(experiment.world())
                .map_err(errors::of_lab)?;
            experiment
                .open(&options, &Registry::new(), &watcher)
                .map_err(errors::of_lab)
        });
        let open = Mutex::new(Some(open.map_err(errors::raised)?));
        Ok(Self { open, notes })
    }

    /// The trials that have not run yet.
    fn pending(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, OpenRun::pending)
    }

    /// Keeps the files of a trial, by name.
    fn keep(
        &self,
        py: Python<'_>,
        name: &str,
        files: Vec<(String, Bound<'_, PyBytes>)>,
    ) -> PyResult<()> {
        let file = |(name, bytes): (String, Bound<'_, PyBytes>)| TrialFile {
            name,
            bytes: bytes.as_bytes().to_vec(),
        };
        let files = files.into_iter().map(file).collect();
        self.with(py, |open| open.keep(name, files))
    }

    /// Leaves the folder to others; what was kept stays there.
    fn close(&self, py: Python<'_>) {
        detached(py, || drop(self.lock().take()));
    }

    /// Writes tables, figures and report; what came of it as JSON.
    fn finish(&self, py: Python<'_>, failures: Vec<(String, String)>) -> PyResult<String> {
        let failure = |(trial, error)| TrialFailure { trial, error };
        let failures: Vec<TrialFailure> = failures.into_iter().map(failure).collect();
        let said: Result<String> = detached(py, || {
            let open = self.lock().take();
            let open = open.ok_or_else(|| errors::of_lab(over()))?;
            let finished = open.finish(&failures).map_err(errors::of_lab)?;
            let summary = &finished.report().summary;
            json(&serde_json::json!({
                "folder": finished.folder(),
                "summary": summary,
                "table": plain_table(summary),
                "notes": self.notes.take(),
            }))
        });
        said.map_err(errors::raised)
    }
}

fn over() -> LabError {
    LabError::Input("the run is over: begin another one".into())
}
