//! A trial under way: its study, and what has been written down of it.

use std::path::PathBuf;
use std::sync::Arc;

use taskscout::data::Samples;
use taskscout::features::Features as _;
use taskscout::rng::{Purpose, derive};
use taskscout::strategy::{StrategyConfig, StrategyKind};
use taskscout::study::{Collection, Study, StudyConfig};
use taskscout::target::Target;
use taskscout::train::Choice;
use taskscout_report::ResultRow;

use super::details::TrialDetails;
use super::{Scene, Trial, TrialRecord};
use crate::config::StrategyRun;
use crate::error::Result;
use crate::prepare::Prepared;
use crate::world::World;
use crate::{models, oracle};

/// A trial under way.
pub(super) struct Course<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) world: &'a dyn World,
    pub(super) trial: &'a Trial,
    pub(super) study: Study,
    pub(super) rows: Vec<ResultRow>,
    pub(super) details: TrialDetails,
    /// What the last round handed back, target by target.
    pub(super) choices: Arc<Vec<Choice>>,
}

/// The study that a strategy runs as, for some of the world's targets.
pub(crate) fn study_config(
    prepared: &Prepared,
    run: &StrategyRun,
    targets: std::ops::Range<usize>,
    seed: u64,
) -> taskscout::Result<StudyConfig> {
    let (world, learner) = (prepared.world.as_ref(), &prepared.config.learner);
    let own = &prepared.config.own;
    let hidden = |target: usize| {
        let own = &prepared.targets[target];
        let name = own.name.as_deref().unwrap_or("target");
        match &own.known {
            Some(task) => Target::known(name, task.clone()),
            None => Target::unknown(name),
        }
    };
    let (kind, save_task) = match *run {
        StrategyRun::BuiltIn { kind, save_task } => (kind, save_task),
        // A registered one plans in its place.
        StrategyRun::Own(_) => (StrategyKind::Passive, false),
    };
    Ok(StudyConfig {
        space: world.space_of(targets.clone())?,
        task_features: world.task_features().clone(),
        input_features: world.input_features().clone(),
        outputs: world.outputs(),
        targets: targets.map(hidden).collect(),
        k: learner.k,
        strategy: StrategyConfig {
            kind: learner.strategy(kind),
            save_task,
            explore_criterion: learner.explore_criterion,
            exploit_criterion: learner.exploit_criterion,
            split: learner.split(),
            exploit: learner.exploit(world.task_features().is_identity()),
            given: learner.given,
        },
        own_strategy: own.strategy(run).cloned(),
        warm_up: prepared.rounds.warm_up,
        stable_model: learner.stable_model,
        oracle: oracle::build(learner, own, world)?,
        identify: learner.identify(),
        collection: Collection::default(),
        seed,
    })
}

impl<'a> Course<'a> {
    /// A study that has the samples of its targets and nothing else.
    pub(super) fn open(scene: Scene<'a>, run: &StrategyRun) -> Result<Self> {
        let Scene {
            prepared,
            world,
            trial,
        } = scene;
        let study = Study::new(study_config(prepared, run, trial.targets(), trial.seed)?)?;
        let mut course = Self {
            prepared,
            world,
            trial,
            study,
            rows: Vec::new(),
            details: TrialDetails::new(trial.targets().len()),
            choices: Arc::default(),
        };
        let samples = prepared.config.target.samples;
        for (slot, target) in trial.targets().enumerate() {
            let rows = course.target_rows(target, samples, &[])?;
            course.study.tell_target(slot, &rows)?;
        }
        Ok(course)
    }

    /// Rows of a target; `keys` tell several draws apart.
    pub(super) fn target_rows(&self, target: usize, n: usize, keys: &[u64]) -> Result<Samples> {
        let keys = [&[target as u64], keys].concat();
        let mut rng = derive(self.trial.seed, Purpose::Target, &keys);
        Ok(self.world.sample_target(target, n, &mut rng)?)
    }

    /// A row of results without any.
    pub(super) fn blank_row(&self, target: usize) -> ResultRow {
        let config = &self.prepared.config;
        ResultRow {
            experiment: config.name.clone(),
            oracle: config.learner.oracle.name().into(),
            strategy: self.trial.contender.to_string(),
            target: self.prepared.targets[target].name.clone(),
            seed: self.trial.seed,
            ..ResultRow::default()
        }
    }

    /// The loss of what a choice hands back.
    pub(super) fn returned_loss(&self, target: usize, choice: &Choice) -> Result<Option<f64>> {
        let loss = |predictor| self.world.target_loss(target, predictor);
        Ok(choice.predictor().map(loss).transpose()?)
    }

    /// Saves the last models, if paths are given, and hands over what was written down.
    pub(super) fn finish(mut self, paths: Option<&[PathBuf]>) -> Result<TrialRecord> {
        let choices = self.trial.targets().zip(self.choices.iter());
        for (path, (target, choice)) in paths.unwrap_or_default().iter().zip(choices) {
            let origin = models::Origin {
                experiment: &self.prepared.config.name,
                contender: &self.trial.contender,
                scaling: self.world.input_scaling(target),
                names: self.world.names(target),
                offset: self.world.output_offset(target),
            };
            models::save(path, &self.study, choice, origin)?;
        }
        self.details.end(&self.choices);
        Ok(TrialRecord {
            trial: self.trial.clone(),
            rows: self.rows,
            details: self.world.wants_details().then_some(self.details),
        })
    }
}
