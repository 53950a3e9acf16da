//! Recordings as data: first parts to learn from, last parts to judge with, and what a report says of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use taskscout::data::Samples;
use taskscout::rng::Rng;
use taskscout::source::{TaskSource, Tell, Visit, batches};
use taskscout::study::Study;
use taskscout::task::Task;
use taskscout::train::{AveragedPredictor, Predictor};
use taskscout_logs::Recorded;
use taskscout_report::ExperimentReport;

use super::{relevance, report};
use crate::error::Result;
use crate::record::{TargetRelevance, Trial, TrialRecord};
use crate::run_input::RunInput;
use crate::scenario::{Data, Judge, Open, Presentation, TrialSource};

/// Recordings as a source of rows.
pub(super) struct LogData {
    /// Where they were read from.
    pub(super) files: Vec<PathBuf>,
    pub(super) recorded: Arc<Recorded>,
}

impl Data for LogData {
    fn open<'a>(&'a self, _collected: &Path, trial: &Trial) -> taskscout::Result<Open<'a>> {
        let recorded = self.recorded.as_ref();
        Ok(Open {
            source: Box::new(LogSource {
                recorded,
                seed: trial.seed,
            }),
            judge: Box::new(LastParts(recorded)),
        })
    }

    fn made_from(&self) -> Result<Vec<RunInput>> {
        let input = |path: &PathBuf| RunInput::file(path.display().to_string(), path);
        self.files.par_iter().map(input).collect()
    }
}

/// The first parts of recordings, in the order of a seed.
struct LogSource<'a> {
    recorded: &'a Recorded,
    seed: u64,
}

impl LogSource<'_> {
    fn rows(&self, task: &Task, before: usize, n: usize) -> taskscout::Result<Samples> {
        let task = self.recorded.find(&task.id).ok_or_else(|| {
            taskscout::Error::State("a task was asked for that no recording has".into())
        })?;
        self.recorded.draw(task, before, n, self.seed)
    }
}

impl TaskSource for LogSource<'_> {
    fn sample(&mut self, task: &Task, n: usize, _rng: &mut Rng) -> taskscout::Result<Samples> {
        self.rows(task, 0, n)
    }

    /// Rows that the study has not had yet.
    fn collect(&mut self, visit: &Visit<'_>, tell: Tell<'_>) -> taskscout::Result<()> {
        let mut before = visit.before;
        for n in batches(visit.missing()) {
            tell(&self.rows(&visit.item.task, before, n)?)?;
            before += n;
        }
        Ok(())
    }

    fn available(&self, task: &Task) -> Option<usize> {
        let rows = |task: usize| self.recorded.tasks()[task].rows;
        Some(self.recorded.find(&task.id).map_or(0, rows))
    }
}

impl TrialSource for LogSource<'_> {
    fn sample_target(
        &mut self,
        target: usize,
        n: usize,
        rng: &mut Rng,
    ) -> taskscout::Result<Samples> {
        self.recorded.sample_target(target, n, rng)
    }

    fn output_offset(&self, target: usize) -> Vec<f64> {
        vec![self.recorded.offset(self.recorded.targets()[target])]
    }
}

/// The last parts of the targets, which no learner sees.
struct LastParts<'a>(&'a Recorded);

impl Judge for LastParts<'_> {
    fn loss(&self, target: usize, predictor: &Predictor) -> taskscout::Result<f64> {
        self.0.target_loss(target, predictor)
    }
}

/// Which recordings help, and how much of the force is explained.
pub(super) struct LogPresentation(pub(super) Arc<Recorded>);

impl Presentation for LogPresentation {
    fn wants_details(&self) -> bool {
        true
    }

    /// Every recording has a part of its own that no feature tells.
    fn judges_task_features(&self) -> bool {
        false
    }

    fn relevant(
        &self,
        study: &Study,
        target: usize,
        choice: &AveragedPredictor,
        all_pairs: bool,
    ) -> taskscout::Result<Option<TargetRelevance>> {
        relevance::of(&self.0, study, target, choice, all_pairs).map(Some)
    }

    fn report(&self, trials: &[TrialRecord], report: &mut ExperimentReport) -> Result<Vec<String>> {
        report::add(&self.0, trials, report)
    }
}
