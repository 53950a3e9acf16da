//! An experiment on several ground truths, each a run of its own, and what they say together.

use std::path::{Path, PathBuf};

use taskscout::registry::Registry;
use taskscout_report::{
    ExperimentReport, REPORT_FILE, SavedReport, terminal_table, write_atomically,
};

use super::part::Done;
use super::single::Single;
use super::truths_report::{self, OfTruth};
use crate::config::ExperimentConfig;
use crate::error::{LabError, Result};
use crate::experiment::{Experiment, out_folder};
use crate::folder::TopFolder;
use crate::names::WorldName;
use crate::options::{ExperimentOptions, SyntheticOptions, WorldOptions};
use crate::publish::{pretty, written};
use crate::watch::Watcher;

const REPORT: &str = "report.html";
const SUMMARY: &str = "summary.json";
/// The figures of every ground truth.
const TABLE: &str = "truths.csv";
const FILES: [&str; 4] = [REPORT, REPORT_FILE, SUMMARY, TABLE];
/// Most ground truths.
pub const MOST_TRUTHS: u64 = 1000;

/// An experiment on several ground truths.
pub(crate) struct Truths {
    path: PathBuf,
    runs: Vec<(u64, Single)>,
    options: ExperimentOptions,
    top: Option<TopFolder>,
}

impl Truths {
    /// Checks all that can be checked without running. Changes nothing.
    pub(super) fn new(
        config: &ExperimentConfig,
        path: PathBuf,
        options: &ExperimentOptions,
        registry: &Registry,
        watch: &Watcher,
    ) -> Result<Self> {
        let synthetic = options.world.synthetic().cloned().unwrap_or_default();
        let truths = synthetic.truths.unwrap_or(1);
        let Some(drawn) = config.world.matrix_seed() else {
            return Err(LabError::Input(format!(
                "several ground truths are for {} only: leave them out here",
                WorldName::Synthetic.about()
            )));
        };
        let first = synthetic.matrix_seed.unwrap_or(drawn);
        let last = first.checked_add(truths);
        let Some(last) = last.filter(|_| (1..=MOST_TRUTHS).contains(&truths)) else {
            return Err(LabError::Input(format!(
                "--truths is {truths}: give 1 to {MOST_TRUTHS}, and a --matrix-seed that leaves room for them"
            )));
        };
        TopFolder::check(&path, &FILES, options, watch.as_ref())?;
        let run = |matrix_seed: u64| {
            let own = ExperimentOptions {
                world: WorldOptions::Synthetic(SyntheticOptions {
                    matrix_seed: Some(matrix_seed),
                    truths: None,
                    ..synthetic.clone()
                }),
                ..options.clone()
            };
            let folder = path.join(format!("truth-{matrix_seed}"));
            let run = Single::new(config.clone(), folder, own, registry, watch)?;
            Ok((matrix_seed, run))
        };
        Ok(Self {
            runs: (first..last).map(run).collect::<Result<_>>()?,
            options: options.clone(),
            path,
            top: None,
        })
    }

    /// Makes folders ready.
    pub(super) fn begin(&mut self, watch: &Watcher) -> Result<()> {
        self.top = Some(TopFolder::open(
            &self.path,
            &FILES,
            &self.options,
            watch.as_ref(),
        )?);
        self.runs.iter_mut().try_for_each(|(_, run)| run.begin())
    }

    /// Runs what is not there yet, and writes a table, a summary and a page on all.
    pub(super) fn run(&self, watch: &Watcher) -> Result<Done> {
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for (index, (matrix_seed, run)) in self.runs.iter().enumerate() {
            let count = self.runs.len();
            watch.note(&format!(
                "ground truth {matrix_seed} ({} of {count})",
                index + 1
            ));
            let published = run.run()?;
            let failures = run.failures(&published);
            missing.extend(failures.map(|text| format!("on ground truth {matrix_seed}, {text}")));
            found.push(OfTruth {
                matrix_seed: *matrix_seed,
                report: published.report,
            });
        }
        let mut report = truths_report::over(&found)?;
        report.written = Some(written());
        self.write(&found, &report)?;
        Ok(Done {
            words: format!(
                "{}\n{}",
                terminal_table(&report.summary),
                truths_report::words(&found)
            ),
            missing: (!missing.is_empty()).then(|| missing.join("; ")),
            report,
        })
    }

    fn write(&self, found: &[OfTruth], report: &ExperimentReport) -> Result<()> {
        let saved = SavedReport::of(report);
        let (page, kept) = (saved.page(), saved.to_json());
        let kept = kept.map_err(|error| LabError::Failure(error.to_string()))?;
        let summary = pretty(&report.summary)?;
        let table = truths_report::table(found);
        for (file, text) in [
            (REPORT, &page),
            (REPORT_FILE, &kept),
            (SUMMARY, &summary),
            (TABLE, &table),
        ] {
            write_atomically(self.path.join(file), text.as_bytes())
                .map_err(|error| LabError::Failure(error.to_string()))?;
        }
        Ok(())
    }
}

/// An experiment that has run on several ground truths. No other process may use its folders until this is dropped.
pub struct OverTruths {
    truths: Truths,
    summary: String,
    words: String,
    verdicts: Vec<String>,
    missing: Option<String>,
}

impl OverTruths {
    /// The summary over all of them, as JSON.
    #[must_use]
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// The table of losses over all of them, and their budgets one by one.
    #[must_use]
    pub fn in_words(&self) -> &str {
        &self.words
    }

    /// What they say together, in a sentence for each target.
    #[must_use]
    pub fn verdicts(&self) -> &[String] {
        &self.verdicts
    }

    /// Where the results are: a folder for each ground truth, and what they say together.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.truths.path
    }

    /// What is missing, in words; nothing if all trials gave results.
    #[must_use]
    pub fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }
}

/// Runs an experiment on as many ground truths as the options say, one after the other, and sums up over truths and seeds.
///
/// # Errors
/// A world without a drawn truth, what [`Experiment::run`] refuses, and trials that failed, if all of a truth's did.
pub fn run_truths(
    experiment: Experiment,
    options: &ExperimentOptions,
    registry: &Registry,
    watch: &Watcher,
) -> Result<OverTruths> {
    let config = experiment.into_config();
    let path = out_folder(&format!("{}-truths", config.name), options);
    let mut truths = Truths::new(&config, path, options, registry, watch)?;
    truths.begin(watch)?;
    let Done {
        report,
        words,
        missing,
    } = truths.run(watch)?;
    Ok(OverTruths {
        summary: pretty(&report.summary)?,
        verdicts: report.verdicts(),
        words,
        missing,
        truths,
    })
}
