//! One trial: a strategy and a seed, from the first plan to the last loss.

use std::path::Path;
use std::time::Instant;

use taskscout::data::Stage;
use taskscout::metric;
use taskscout::rng::{Purpose, derive};
use taskscout::source::TaskSource as _;
use taskscout::strategy::{Plan, StrategyConfig, StrategyKind};
use taskscout::study::{Study, StudyConfig};
use taskscout::target::Target;
use taskscout::train::{Choice, PredictorKind};
use taskscout_report::{ResultRow, TARGET_ONLY};
use taskscout_worlds::Synthetic;

use super::config::{ExperimentConfig, StrategyRun};
use super::models;
use super::schedule::Rounds;
use crate::error::Result;

/// Rows collected at a time, so that memory does not grow with the budget.
const BATCH_ROWS: usize = 2048;

/// A strategy to run, or the target's samples on their own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Contender {
    /// What the oracle makes of the target samples.
    TargetOnly,
    /// A strategy.
    Strategy(StrategyRun),
}

impl std::fmt::Display for Contender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TargetOnly => f.write_str(TARGET_ONLY),
            Self::Strategy(run) => run.fmt(f),
        }
    }
}

/// Runs a trial, and saves its last model if a path is given; `on_round` hears of every finished
/// round.
pub(crate) fn run(
    config: &ExperimentConfig,
    world: &Synthetic,
    rounds: &Rounds,
    contender: Contender,
    seed: u64,
    model: Option<&Path>,
    on_round: impl Fn(),
) -> Result<Vec<ResultRow>> {
    match contender {
        Contender::TargetOnly => {
            target_only(config, world, rounds, seed, model).map(|row| vec![row])
        }
        Contender::Strategy(run) => Trial {
            config,
            world: world.clone(),
            seed,
            run,
        }
        .strategy(rounds, model, on_round),
    }
}

/// The study that a strategy runs as.
pub(crate) fn study_config(
    config: &ExperimentConfig,
    world: &Synthetic,
    rounds: &Rounds,
    run: StrategyRun,
    seed: u64,
) -> Result<StudyConfig> {
    let learner = &config.learner;
    Ok(StudyConfig {
        space: world.space().clone(),
        task_features: world.task_features().clone(),
        input_features: world.config().input_features.clone(),
        outputs: 1,
        targets: vec![Target::unknown("target")],
        k: learner.k,
        strategy: StrategyConfig {
            kind: run.kind,
            save_task: run.save_task,
            explore_criterion: learner.explore_criterion,
            exploit_criterion: learner.exploit_criterion,
            split: learner.split(),
        },
        warm_up: rounds.warm_up,
        stable_model: learner.stable_model,
        oracle: super::oracle::build(learner)?,
        seed,
    })
}

fn blank_row(config: &ExperimentConfig, strategy: String, seed: u64) -> ResultRow {
    ResultRow {
        experiment: config.name.clone(),
        oracle: config.learner.oracle.name().into(),
        strategy,
        seed,
        ..ResultRow::default()
    }
}

/// What the target samples alone give.
fn target_only(
    config: &ExperimentConfig,
    world: &Synthetic,
    rounds: &Rounds,
    seed: u64,
    model: Option<&Path>,
) -> Result<ResultRow> {
    let started = Instant::now();
    let passive = StrategyRun::plain(StrategyKind::Passive);
    let mut study = Study::new(study_config(config, world, rounds, passive, seed)?)?;
    let mut rng = derive(seed, Purpose::Target, &[0]);
    study.tell_target(0, &world.sample_target(config.target.samples, &mut rng)?)?;
    let choices = study.target_only()?;
    let train_s = started.elapsed().as_secs_f64();
    let (choice, contender) = (choices.first(), Contender::TargetOnly);
    models::save(model, &study, choice, &config.name, contender)?;
    let predictor = choice.and_then(Choice::predictor);
    Ok(ResultRow {
        returned_loss: predictor
            .map(|predictor| world.target_loss(predictor))
            .transpose()?,
        predictor: Some(PredictorKind::TargetOnly.to_string()),
        train_s,
        ..blank_row(config, TARGET_ONLY.into(), seed)
    })
}

struct Trial<'a> {
    config: &'a ExperimentConfig,
    world: Synthetic,
    seed: u64,
    run: StrategyRun,
}

impl Trial<'_> {
    fn strategy(
        mut self,
        rounds: &Rounds,
        model: Option<&Path>,
        on_round: impl Fn(),
    ) -> Result<Vec<ResultRow>> {
        let mut study = Study::new(study_config(
            self.config,
            &self.world,
            rounds,
            self.run,
            self.seed,
        )?)?;
        let mut rng = derive(self.seed, Purpose::Target, &[0]);
        study.tell_target(
            0,
            &self
                .world
                .sample_target(self.config.target.samples, &mut rng)?,
        )?;
        let mut rows = Vec::with_capacity(rounds.budgets.len());
        let mut last = None;
        for &budget in &rounds.budgets {
            let clock = Instant::now();
            let plan = study.ask(budget)?;
            let design_s = clock.elapsed().as_secs_f64();
            let clock = Instant::now();
            self.collect(&mut study, &plan)?;
            let collect_s = clock.elapsed().as_secs_f64();
            let clock = Instant::now();
            let choices = study.predictors()?;
            let train_s = clock.elapsed().as_secs_f64();
            let row = self.measure(&study, &plan, choices.first())?;
            rows.push(ResultRow {
                collect_s,
                train_s,
                design_s,
                ..row
            });
            last = choices.into_iter().next();
            on_round();
        }
        let contender = Contender::Strategy(self.run);
        models::save(model, &study, last.as_ref(), &self.config.name, contender)?;
        Ok(rows)
    }

    fn collect(&mut self, study: &mut Study, plan: &Plan) -> Result<()> {
        for item in &plan.items {
            let mut left = item.n;
            for batch in 0.. {
                if left == 0 {
                    break;
                }
                let n = left.min(BATCH_ROWS);
                let mut rng = derive(
                    self.seed,
                    Purpose::Collect,
                    &[plan.round as u64, item.id, batch],
                );
                study.tell(item.id, &self.world.sample(&item.task, n, &mut rng)?)?;
                left -= n;
            }
        }
        Ok(())
    }

    /// One row of results: how good is what is known after this round?
    fn measure(&self, study: &Study, plan: &Plan, choice: Option<&Choice>) -> Result<ResultRow> {
        let loss = |kind: Option<PredictorKind>| -> Result<Option<f64>> {
            let predictor = kind.and_then(|kind| choice?.candidate(kind));
            Ok(predictor
                .map(|predictor| self.world.target_loss(predictor))
                .transpose()?)
        };
        let similarity = match study.model() {
            // The study goes on without a model, and so does the trial.
            Err(taskscout::Error::Diverged { .. }) => None,
            model => Some(self.world.similarity(&model?.representation)?),
        };
        let exploited = plan
            .items
            .iter()
            .filter(|item| item.stage == Stage::Exploit)
            .max_by_key(|item| item.n);
        let relevance = exploited.map(|item| {
            metric::relevance(
                &self.world.embedding(&item.task),
                &self.world.target_embedding(),
            )
        });
        let count = metric::task_count(study.data());
        Ok(ResultRow {
            round: plan.round,
            budget: study.data().source_rows(),
            test_loss: loss(Some(PredictorKind::Shared))?,
            returned_loss: loss(choice.map(|choice| choice.kind))?,
            predictor: choice.map(|choice| choice.kind.to_string()),
            subspace_similarity: similarity,
            relevance,
            tasks: count.tasks,
            long_term_tasks: count.long_term,
            ..blank_row(self.config, self.run.to_string(), self.seed)
        })
    }
}
