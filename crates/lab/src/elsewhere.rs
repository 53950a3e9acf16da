//! Trials that run elsewhere: in other processes or on other machines.
//!
//! One process opens the run ([`OpenRun`]): it alone touches the folder of results. Any number of others prepare
//! the same experiment with the same options ([`TrialRunner`]) and run trials by name, each into an empty folder.
//! The files of that folder travel, as bytes; the open run keeps them, in whatever order they come. A trial has
//! draws of its own, so neither who runs it nor when changes its results.
//!
//! ```
//! # let folder = tempfile::tempdir().unwrap();
//! use std::sync::Arc;
//! use taskscout::registry::Registry;
//! use taskscout_lab::{BuiltIn, Experiment, ExperimentOptions, TrialFile, Watcher};
//!
//! let (registry, nobody): (_, Watcher) = (Registry::new(), Arc::new(()));
//! let options = ExperimentOptions {
//!     seeds: Some(1),
//!     budget_scale: Some(0.1),
//!     n_target: Some(200),
//!     strategies: Some(vec!["passive".into()]),
//!     out: Some(folder.path().join("run")),
//!     ..ExperimentOptions::default()
//! };
//! let experiment = Experiment::built_in(BuiltIn::Bilinear)?;
//! let run = experiment.clone().open(&options, &registry, &nobody)?;
//! // Elsewhere.
//! let runner = experiment.trial_runner(&options, &registry, &nobody)?;
//! for (place, name) in run.pending()?.iter().enumerate() {
//!     let scratch = folder.path().join(place.to_string());
//!     runner.run(name, &scratch)?;
//!     let read = |name: String| TrialFile { bytes: std::fs::read(scratch.join(&name)).unwrap(), name };
//!     run.keep(name, runner.written(name, &scratch)?.into_iter().map(read).collect())?;
//! }
//! let finished = run.finish(&[])?;
//! assert!(finished.folder().join("results.csv").exists());
//! # Ok::<(), taskscout_lab::LabError>(())
//! ```

use std::path::Path;

use taskscout::registry::Registry;
use taskscout_report::write_atomically;

use crate::error::{LabError, Result};
use crate::experiment::{Experiment, Finished, Parts};
use crate::folder::{COLLECTED, RunFolder, model_file, record_files, trial_files};
use crate::options::ExperimentOptions;
use crate::prepare::Prepared;
use crate::publish::publish;
use crate::record::{Trial, TrialRecord};
use crate::trial;
use crate::trials::sort_out;
use crate::watch::Watcher;

/// A file that a trial wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialFile {
    /// Its name, below the folder of the run.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// A trial that gave no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialFailure {
    /// Its name, as [`OpenRun::pending`] says it.
    pub trial: String,
    /// What went wrong, in a sentence.
    pub error: String,
}

/// Runs trials of an experiment, one by one, without its folder.
pub struct TrialRunner {
    prepared: Prepared,
    save_models: bool,
}

/// A run whose trials come from elsewhere. No other process may use its folder until this is dropped.
pub struct OpenRun {
    prepared: Prepared,
    folder: RunFolder,
    options: ExperimentOptions,
}

impl Experiment {
    /// What runs its trials; the options must be those of the open run.
    ///
    /// # Errors
    /// What [`Experiment::check`] refuses.
    pub fn trial_runner(
        self,
        options: &ExperimentOptions,
        registry: &Registry,
        watch: &Watcher,
    ) -> Result<TrialRunner> {
        Ok(TrialRunner {
            prepared: self.prepared(options, registry, watch)?,
            save_models: options.save_models,
        })
    }

    /// Makes the folder of results ready for trials that run elsewhere.
    ///
    /// # Errors
    /// As [`Experiment::run`], before any trial.
    pub fn open(
        self,
        options: &ExperimentOptions,
        registry: &Registry,
        watch: &Watcher,
    ) -> Result<OpenRun> {
        let Parts { prepared, folder } = self.begun(options, registry, watch)?;
        Ok(OpenRun {
            prepared,
            folder,
            options: options.clone(),
        })
    }
}

impl TrialRunner {
    /// Runs a trial and writes its files into a folder, which is made where it is not there.
    ///
    /// # Errors
    /// A name that no trial has, what the trial says, and a folder that cannot be written.
    pub fn run(&self, name: &str, folder: &Path) -> Result<()> {
        let trial = find(&self.prepared, name)?;
        let unusable = |error: std::io::Error| {
            LabError::Failure(format!("cannot write into {}: {error}", folder.display()))
        };
        let names = self.names(&trial);
        for parent in names.iter().filter_map(|name| Path::new(name).parent()) {
            std::fs::create_dir_all(folder.join(parent)).map_err(unusable)?;
        }
        let models: Option<Vec<_>> = self.save_models.then(|| {
            let path = |stem: &String| folder.join(model_file(stem));
            trial.model_stems().iter().map(path).collect()
        });
        let collected = folder.join(COLLECTED);
        let record = trial::run(
            &self.prepared,
            &trial,
            &collected,
            models.as_deref(),
            &|| (),
        )?;
        for (name, bytes) in record_files(&record)? {
            std::fs::write(folder.join(name), bytes).map_err(unusable)?;
        }
        Ok(())
    }

    /// The files that a trial wrote into a folder, by their names in it.
    ///
    /// # Errors
    /// A name that no trial has.
    pub fn written(&self, name: &str, folder: &Path) -> Result<Vec<String>> {
        let mut names = self.names(&find(&self.prepared, name)?);
        names.retain(|name| folder.join(name).exists());
        Ok(names)
    }

    fn names(&self, trial: &Trial) -> Vec<String> {
        files_of(&self.prepared, trial, self.save_models)
    }
}

impl OpenRun {
    /// The trials that the folder does not hold yet, by their names.
    ///
    /// # Errors
    /// If a file of the folder cannot be read.
    pub fn pending(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for trial in self.prepared.trials() {
            if self.finished(&trial)?.is_none() {
                names.push(trial.file_stem());
            }
        }
        Ok(names)
    }

    /// Keeps a trial that ran elsewhere.
    ///
    /// # Errors
    /// A name that no trial has, files that the trial does not write or that are not whole, and a folder that
    /// cannot be written.
    pub fn keep(&self, name: &str, files: Vec<TrialFile>) -> Result<()> {
        let trial = find(&self.prepared, name)?;
        let names = files_of(&self.prepared, &trial, self.options.save_models);
        let stranger = files.iter().find(|file| !names.contains(&file.name));
        if let Some(file) = stranger {
            return Err(LabError::Input(format!(
                "the trial {name} does not write the file {}: run it with the same version and the same options",
                file.name
            )));
        }
        let journals = self.prepared.data.journals(&trial);
        let details = self.prepared.presentation.wants_details();
        self.folder.take_up(&trial, details, &journals)?;
        // The rows come last: with them the trial is whole.
        let (rows, others): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|file| file.name == names[0]);
        for file in others.into_iter().chain(rows) {
            let path = self.folder.path().join(&file.name);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)
                    .map_err(|error| LabError::Failure(error.to_string()))?;
            }
            write_atomically(path, &file.bytes)
                .map_err(|error| LabError::Failure(error.to_string()))?;
        }
        match self.finished(&trial)? {
            Some(_) => Ok(()),
            None => Err(LabError::Failure(format!(
                "the files of the trial {name} are not whole: run it with the same version and the same options"
            ))),
        }
    }

    /// Writes tables, figures and report; trials that gave no result are named in them.
    ///
    /// # Errors
    /// If no trial has a result, or the folder cannot be written.
    pub fn finish(self, failures: &[TrialFailure]) -> Result<Finished> {
        let trials = self.prepared.trials();
        let mut outcomes = Vec::with_capacity(trials.len());
        for trial in &trials {
            outcomes.push(match self.finished(trial)? {
                Some(record) => Ok(record),
                None => Err(LabError::Failure(why(trial, failures))),
            });
        }
        let (records, failed) = sort_out(&trials, outcomes)?;
        let published = publish(
            &self.prepared,
            &self.folder,
            &records,
            failed,
            &self.options,
        )?;
        let Self {
            prepared, folder, ..
        } = self;
        Ok(Finished::new(Parts { prepared, folder }, published))
    }

    fn finished(&self, trial: &Trial) -> Result<Option<TrialRecord>> {
        self.folder.finished(&self.prepared, trial)
    }
}

fn files_of(prepared: &Prepared, trial: &Trial, save_models: bool) -> Vec<String> {
    let details = prepared.presentation.wants_details();
    trial_files(trial, details, &prepared.data.journals(trial), save_models)
}

fn find(prepared: &Prepared, name: &str) -> Result<Trial> {
    let found = prepared.trials().into_iter();
    let mut found = found.filter(|trial| trial.file_stem() == name);
    found.next().ok_or_else(|| {
        LabError::Input(format!(
            "the experiment {} has no trial {name}: give the options of the run that asks for it",
            prepared.config.name
        ))
    })
}

fn why(trial: &Trial, failures: &[TrialFailure]) -> String {
    let name = trial.file_stem();
    let known = failures.iter().find(|failure| failure.trial == name);
    known.map_or_else(
        || "it has not been run".to_owned(),
        |failure| failure.error.clone(),
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use taskscout_report::{ResultRow, read_csv};

    use super::*;
    use crate::names::BuiltIn;

    fn options(out: &Path) -> ExperimentOptions {
        ExperimentOptions {
            seeds: Some(2),
            budget_scale: Some(0.1),
            n_target: Some(200),
            strategies: Some(vec!["passive".into(), "aware".into()]),
            out: Some(out.to_owned()),
            ..ExperimentOptions::default()
        }
    }

    fn files(runner: &TrialRunner, name: &str, scratch: &Path) -> Vec<TrialFile> {
        runner.run(name, scratch).unwrap();
        let written = runner.written(name, scratch).unwrap().into_iter();
        let read = |name: String| TrialFile {
            bytes: std::fs::read(scratch.join(&name)).unwrap(),
            name,
        };
        written.map(read).collect()
    }

    /// What does not depend on the clock.
    fn rows(folder: &Path) -> Vec<ResultRow> {
        let table = std::fs::read(folder.join("results.csv")).unwrap();
        let timeless = |row: ResultRow| ResultRow {
            collect_s: 0.0,
            train_s: 0.0,
            design_s: 0.0,
            ..row
        };
        let rows = read_csv(&table[..], "results.csv").unwrap().into_iter();
        rows.map(timeless).collect()
    }

    #[test]
    fn trials_that_run_elsewhere_give_the_same_results() {
        let place = tempfile::tempdir().unwrap();
        let (here, there) = (place.path().join("here"), place.path().join("there"));
        let (registry, nobody): (_, Watcher) = (Registry::new(), Arc::new(()));
        let experiment = Experiment::built_in(BuiltIn::Bilinear).unwrap();
        let one = experiment
            .clone()
            .run(&options(&here), &registry, &nobody)
            .unwrap();
        let run = experiment
            .clone()
            .open(&options(&there), &registry, &nobody)
            .unwrap();
        let runner = experiment
            .trial_runner(&options(Path::new("unused")), &registry, &nobody)
            .unwrap();
        let mut pending = run.pending().unwrap();
        assert_eq!(pending.len(), 6);
        // In another order than planned.
        pending.reverse();
        for name in &pending {
            let scratch = tempfile::tempdir_in(place.path()).unwrap();
            run.keep(name, files(&runner, name, scratch.path()))
                .unwrap();
        }
        assert!(run.pending().unwrap().is_empty());
        let other = run.finish(&[]).unwrap();
        assert_eq!(rows(one.folder()), rows(other.folder()));
        let plans = |folder: &Path| std::fs::read(folder.join("plans.csv")).unwrap();
        assert_eq!(plans(&here), plans(&there));
    }

    #[test]
    fn files_that_are_not_whole_are_no_trial() {
        let place = tempfile::tempdir().unwrap();
        let (registry, nobody): (_, Watcher) = (Registry::new(), Arc::new(()));
        let out = place.path().join("run");
        let experiment = Experiment::built_in(BuiltIn::Bilinear).unwrap();
        let run = experiment
            .clone()
            .open(&options(&out), &registry, &nobody)
            .unwrap();
        let runner = experiment
            .trial_runner(&options(&out), &registry, &nobody)
            .unwrap();
        let name = "target-only-0";
        let whole = files(&runner, name, &place.path().join("scratch"));
        let mut cut = whole.clone();
        cut[0].bytes.truncate(40);
        let error = run.keep(name, cut).unwrap_err().to_string();
        assert!(error.contains("are not whole"), "{error}");
        let stranger = TrialFile {
            name: "../settings.json".into(),
            bytes: Vec::new(),
        };
        let error = run.keep(name, vec![stranger]).unwrap_err().to_string();
        assert!(error.contains("does not write the file"), "{error}");
        assert!(!place.path().join("settings.json").exists());
        let error = run.keep("aware-9", Vec::new()).unwrap_err().to_string();
        assert!(error.contains("has no trial aware-9"), "{error}");
        run.keep(name, whole).unwrap();
        let failure = TrialFailure {
            trial: "aware-1".into(),
            error: "no power".into(),
        };
        let finished = run.finish(&[failure]).unwrap();
        let failed = &finished.report().summary.failed;
        assert_eq!(failed.len(), 5);
        let aware = failed
            .iter()
            .find(|one| one.contender() == "aware" && one.seed == 1);
        assert_eq!(aware.unwrap().error, "no power");
    }
}
