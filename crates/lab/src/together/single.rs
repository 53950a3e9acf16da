//! One run among several, and where its results go.

use std::path::PathBuf;

use taskscout::registry::Registry;

use crate::config::ExperimentConfig;
use crate::error::Result;
use crate::experiment::{list_failures, run};
use crate::folder::{Reserved, RunFolder};
use crate::options::ExperimentOptions;
use crate::prepare::{Prepared, prepare};
use crate::publish::Published;
use crate::watch::Watcher;

/// One run.
pub(super) struct Single {
    prepared: Prepared,
    folder: RunFolder,
    options: ExperimentOptions,
}

impl Single {
    /// Checks all that can be checked without running. Changes nothing.
    pub(super) fn new(
        config: ExperimentConfig,
        path: PathBuf,
        options: ExperimentOptions,
        registry: &Registry,
        watch: &Watcher,
    ) -> Result<Self> {
        let reserved = Reserved::new(path, watch)?;
        let prepared = prepare(config, &options, registry, watch)?;
        let folder = reserved.examine(&prepared, &options)?;
        Ok(Self {
            prepared,
            folder,
            options,
        })
    }

    /// Makes the folder ready.
    pub(super) fn begin(&mut self) -> Result<()> {
        self.folder.begin(&self.options)
    }

    /// Runs what is not there yet, and writes tables and report.
    pub(super) fn run(&self) -> Result<Published> {
        run(&self.prepared, &self.folder, &self.options)
    }

    /// Names failed trials to the watcher and sums them up.
    pub(super) fn failures(&self, published: &Published) -> Option<String> {
        list_failures(&self.prepared, &published.report)
    }
}
