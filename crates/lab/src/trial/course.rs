//! A trial under way: its study, and what has been written down of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use taskscout::data::Samples;
use taskscout::rng::{Purpose, derive};
use taskscout::strategy::StrategyKind;
use taskscout::study::Study;
use taskscout::train::AveragedPredictor;
use taskscout_report::{PlanRow, ResultRow};

use crate::error::Result;
use crate::models;
use crate::prepare::{Prepared, study_config};
use crate::record::{Contender, Trial, TrialDetails, TrialRecord};
use crate::scenario::Open;
use crate::strategy_run::StrategyRun;

/// A trial under way.
pub(super) struct Course<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) trial: &'a Trial,
    /// Where it collects from and what judges it.
    pub(super) world: Open<'a>,
    pub(super) study: Study,
    pub(super) rows: Vec<ResultRow>,
    pub(super) plans: Vec<PlanRow>,
    pub(super) details: TrialDetails,
    /// What the last round handed back, target by target.
    pub(super) choices: Arc<Vec<AveragedPredictor>>,
    /// When the trial began.
    pub(super) began: Instant,
}

impl<'a> Course<'a> {
    /// A study that has the samples of its targets and nothing else.
    pub(super) fn open(prepared: &'a Prepared, trial: &'a Trial, collected: &Path) -> Result<Self> {
        let world = prepared.data.open(collected, trial)?;
        let began = Instant::now();
        // Contenders that never plan need a strategy all the same.
        let unused = StrategyRun::plain(StrategyKind::Passive);
        let run = match &trial.contender {
            Contender::Strategy(run) => run,
            Contender::TargetOnly | Contender::TargetData => &unused,
        };
        let study = Study::new(study_config(prepared, run, trial.targets(), trial.seed)?)?;
        let mut course = Self {
            prepared,
            trial,
            world,
            study,
            rows: Vec::new(),
            plans: Vec::new(),
            details: TrialDetails::new(trial.targets().len()),
            choices: Arc::default(),
            began,
        };
        let shares = course.target_shares();
        for ((slot, target), samples) in trial.targets().enumerate().zip(shares) {
            let rows = course.target_rows(target, samples, &[])?;
            course.study.tell_target(slot, &rows)?;
        }
        Ok(course)
    }

    /// Rows of a target; `keys` tell several draws apart.
    pub(super) fn target_rows(&mut self, target: usize, n: usize, keys: &[u64]) -> Result<Samples> {
        let keys = [&[target as u64], keys].concat();
        let mut rng = derive(self.trial.seed, Purpose::Target, &keys);
        Ok(self.world.source.sample_target(target, n, &mut rng)?)
    }

    /// A row of results without any.
    pub(super) fn blank_row(&self, target: usize) -> ResultRow {
        let config = &self.prepared.config;
        ResultRow {
            experiment: config.name.clone(),
            oracle: config.learner.oracle.name().into(),
            strategy: self.trial.contender.to_string(),
            target: self.prepared.scenario.targets[target].name.clone(),
            seed: self.trial.seed,
            ..ResultRow::default()
        }
    }

    /// The loss of what a choice hands back.
    pub(super) fn returned_loss(
        &self,
        target: usize,
        choice: &AveragedPredictor,
    ) -> Result<Option<f64>> {
        let loss = |predictor| self.world.judge.loss(target, predictor);
        Ok(choice.predictor().map(loss).transpose()?)
    }

    /// Saves the last models, if paths are given, and hands over what was written down.
    pub(super) fn finish(mut self, paths: Option<&[PathBuf]>) -> Result<TrialRecord> {
        let choices = self.trial.targets().zip(self.choices.iter());
        for (path, (target, choice)) in paths.unwrap_or_default().iter().zip(choices) {
            let origin = models::Origin {
                experiment: &self.prepared.config.name,
                contender: &self.trial.contender,
                scaling: self.prepared.scenario.targets[target].input_scaling.clone(),
                names: self.prepared.scenario.targets[target].names.clone(),
                offset: self.world.source.output_offset(target),
            };
            models::save(path, &self.study, choice, origin)?;
        }
        self.details.end(&self.choices);
        let wanted = self.prepared.presentation.wants_details();
        Ok(TrialRecord {
            trial: self.trial.clone(),
            rows: self.rows,
            plans: self.plans,
            details: wanted.then_some(self.details),
        })
    }
}
