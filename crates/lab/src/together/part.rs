//! A part of the whole: a run, the same on several ground truths, or the theory.

use std::path::PathBuf;

use taskscout_report::ExperimentReport;

use super::single::Single;
use super::truths::Truths;
use crate::error::Result;
use crate::experiment::in_words;
use crate::options::{AllOptions, ExperimentOptions, WorldOptions};
use crate::theory::{check_theory, theory_report};
use crate::watch::Watcher;

/// A part with its name, which is that of its folder too.
pub(super) struct Part {
    pub(super) name: String,
    /// What of the paper it shows, in words.
    pub(super) shows: &'static str,
    work: Work,
}

enum Work {
    Single(Box<Single>),
    Truths(Box<Truths>),
    Theory(Box<ExperimentOptions>),
}

/// What came of a part.
pub(super) struct Done {
    pub(super) report: ExperimentReport,
    /// For a terminal.
    pub(super) words: String,
    /// What is missing, in words.
    pub(super) missing: Option<String>,
}

impl Part {
    pub(super) fn single(name: String, shows: &'static str, run: Single) -> Self {
        let work = Work::Single(Box::new(run));
        Self { name, shows, work }
    }

    pub(super) fn truths(name: String, shows: &'static str, runs: Truths) -> Self {
        let work = Work::Truths(Box::new(runs));
        Self { name, shows, work }
    }

    /// The theory, whose options say where its results go.
    pub(super) fn theory(
        shows: &'static str,
        path: PathBuf,
        all: &AllOptions,
        watch: &Watcher,
    ) -> Result<Self> {
        let options = &all.common;
        let options = ExperimentOptions {
            world: WorldOptions::Synthetic(all.synthetic.clone()),
            quick: options.quick,
            force: options.force,
            resume: options.resume,
            out: Some(path),
            ..ExperimentOptions::default()
        };
        check_theory(&options, watch)?;
        Ok(Self {
            name: "theory".into(),
            shows,
            work: Work::Theory(Box::new(options)),
        })
    }

    /// Makes folders ready.
    pub(super) fn begin(&mut self, watch: &Watcher) -> Result<()> {
        match &mut self.work {
            Work::Single(run) => run.begin(),
            Work::Truths(runs) => runs.begin(watch),
            Work::Theory(_) => Ok(()),
        }
    }

    /// Runs what is not there yet, and writes tables and report.
    pub(super) fn run(&self, watch: &Watcher) -> Result<Done> {
        match &self.work {
            Work::Single(run) => {
                let published = run.run()?;
                Ok(Done {
                    words: in_words(&published),
                    missing: run.failures(&published),
                    report: published.report,
                })
            }
            Work::Truths(runs) => runs.run(watch),
            Work::Theory(options) => {
                let (theory, report) = theory_report(options, watch)?;
                Ok(Done {
                    words: theory.in_words().to_owned(),
                    missing: None,
                    report,
                })
            }
        }
    }
}
