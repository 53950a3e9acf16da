//! One experiment from its file to its report.

use std::path::{Path, PathBuf};

use taskscout::registry::Registry;
use taskscout_report::{ExperimentReport, FailedTrial, terminal_table};

use crate::config::{self, ExperimentConfig};
use crate::error::{LabError, Result};
use crate::folder::{Reserved, RunFolder};
use crate::names::{BuiltIn, WorldName};
use crate::options::ExperimentOptions;
use crate::prepare::{Prepared, prepare};
use crate::publish::{Published, pretty, publish};
use crate::trials::run_trials;
use crate::watch::Watcher;

/// Failures to name; `summary.json` has them all.
const NAMED: usize = 20;

/// An experiment: a world, a learner, targets, a schedule and the strategies to compare.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    config: ExperimentConfig,
}

impl Experiment {
    /// One that comes with the crate.
    ///
    /// # Errors
    /// If its file cannot be read.
    pub fn built_in(experiment: BuiltIn) -> Result<Self> {
        config::built_in(experiment).map(|config| Self { config })
    }

    /// One from a file; docs/reference/experiments.md describes its keys.
    ///
    /// # Errors
    /// If the file cannot be read or does not have these keys, with line and column.
    pub fn from_file(path: &Path) -> Result<Self> {
        config::from_file(path).map(|config| Self { config })
    }

    /// Its name, which its folder has if no other is given.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// The kind of its world, which says whose options it takes.
    #[must_use]
    pub fn world(&self) -> WorldName {
        self.config.world.name()
    }

    /// What it is, to be run otherwise.
    pub(crate) fn into_config(self) -> ExperimentConfig {
        self.config
    }

    /// Checks it without running it; what a file leaves to the options, they may leave out.
    ///
    /// # Errors
    /// What is wrong, with its place in the file or the option that it came from.
    pub fn check(
        self,
        options: &ExperimentOptions,
        registry: &Registry,
        watch: &Watcher,
    ) -> Result<()> {
        let config = self.config;
        let mut world = config.world.clone();
        world.apply(&options.world)?;
        if let Some(missing) = world.missing() {
            config.with_options(options, registry)?;
            watch.note(&format!("note: {missing}"));
            return Ok(());
        }
        prepare(config, options, registry, watch).map(|_| ())
    }

    /// Runs it and writes its results. What cannot be run is refused before the folder is touched.
    ///
    /// # Errors
    /// What [`Experiment::check`] refuses, a folder that holds something else or cannot be written, and trials
    /// that failed, if all of them did.
    pub fn run(
        self,
        options: &ExperimentOptions,
        registry: &Registry,
        watch: &Watcher,
    ) -> Result<Finished> {
        let parts = self.begun(options, registry, watch)?;
        let published = run(&parts.prepared, &parts.folder, options)?;
        Ok(Finished::new(parts, published))
    }

    /// What is checked, without a folder.
    pub(crate) fn prepared(
        self,
        options: &ExperimentOptions,
        registry: &Registry,
        watch: &Watcher,
    ) -> Result<Prepared> {
        prepare(self.config, options, registry, watch)
    }

    /// What is checked, and its folder, ready for trials.
    pub(crate) fn begun(
        self,
        options: &ExperimentOptions,
        registry: &Registry,
        watch: &Watcher,
    ) -> Result<Parts> {
        let synthetic = options.world.synthetic();
        if synthetic.is_some_and(|own| own.truths.is_some()) {
            return Err(LabError::Input(
                "several ground truths are several runs: use run_truths, or leave out --truths"
                    .into(),
            ));
        }
        let reserved = Reserved::new(out_folder(&self.config.name, options), watch)?;
        let prepared = self.prepared(options, registry, watch)?;
        let mut folder = reserved.examine(&prepared, options)?;
        folder.begin(options)?;
        Ok(Parts { prepared, folder })
    }
}

/// An experiment that can run, and where its results go.
pub(crate) struct Parts {
    pub(crate) prepared: Prepared,
    pub(crate) folder: RunFolder,
}

/// An experiment that has run. No other process may use its folder until this is dropped.
pub struct Finished {
    prepared: Prepared,
    folder: RunFolder,
    published: Published,
}

impl Finished {
    pub(crate) fn new(parts: Parts, published: Published) -> Self {
        let Parts { prepared, folder } = parts;
        Self {
            prepared,
            folder,
            published,
        }
    }

    /// What came of it.
    #[must_use]
    pub fn report(&self) -> &ExperimentReport {
        &self.published.report
    }

    /// Where its results are.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What `summary.json` holds.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn summary(&self) -> Result<String> {
        pretty(&self.published.report.summary)
    }

    /// The table of losses, and what the world has to say below it.
    #[must_use]
    pub fn in_words(&self) -> String {
        in_words(&self.published)
    }

    /// Names failed trials to the watcher and sums them up; nothing if there are none.
    #[must_use]
    pub fn list_failures(&self) -> Option<String> {
        list_failures(&self.prepared, &self.published.report)
    }
}

/// The table of losses, and what the world has to say below it.
pub(crate) fn in_words(published: &Published) -> String {
    let Published { report, remarks } = published;
    let mut text = terminal_table(&report.summary);
    if !remarks.is_empty() {
        text += &format!("\n{}\n", remarks.join("\n"));
    }
    text
}

/// Where the results of an experiment of this name go.
pub(crate) fn out_folder(name: &str, options: &ExperimentOptions) -> PathBuf {
    let quick = if options.quick { "-quick" } else { "" };
    let default = || PathBuf::from("runs").join(format!("{name}{quick}"));
    options.out.clone().unwrap_or_else(default)
}

/// Runs what is not there yet, and writes tables and report.
pub(crate) fn run(
    prepared: &Prepared,
    folder: &RunFolder,
    options: &ExperimentOptions,
) -> Result<Published> {
    if let Some(note) = prepared.need.note() {
        prepared.watch.note(&note);
    }
    let (records, failed) = run_trials(prepared, folder, options)?;
    publish(prepared, folder, &records, failed, options)
}

/// Names failed trials to the watcher and sums them up.
pub(crate) fn list_failures(prepared: &Prepared, report: &ExperimentReport) -> Option<String> {
    let failed = &report.summary.failed;
    if failed.is_empty() {
        return None;
    }
    for trial in failed.iter().take(NAMED) {
        let FailedTrial { seed, error, .. } = trial;
        prepared.watch.note(&format!(
            "failed: {} seed {seed}: {error}",
            trial.contender()
        ));
    }
    if failed.len() > NAMED {
        let more = failed.len() - NAMED;
        prepared
            .watch
            .note(&format!("failed: {more} more, see summary.json"));
    }
    let trials = prepared.trials().len();
    Some(format!(
        "{} of {trials} trials failed and are left out",
        failed.len()
    ))
}
