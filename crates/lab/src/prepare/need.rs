//! The memory that an experiment will need.
//!
//! A trial keeps a Gram matrix for every source task and stage and for every fold of a target, and its
//! oracle works on dense matrices of the same features; as many trials run side by side as there are
//! jobs. Worlds know what they keep themselves ([`WorldSettings::need`]).
//!
//! [`WorldSettings::need`]: crate::scenario::WorldSettings::need

use taskscout::data::TARGET_FOLD_COUNT;
use taskscout::features::{FeatureMap, Features as _, apply_row};
use taskscout::source::BATCH_ROWS;
use taskscout::space::{Space, TaskSpace as _};
use taskscout_worlds::Synthetic;

use super::Prepared;
use crate::error::Result;
use crate::memory::{self, NUMBER, Need};
use crate::names::OracleName;
use crate::options::ExperimentOptions;
use crate::pooling_need::{self, Pooled};
use crate::scenario::judging;

/// Directions of a representation that nobody gave a number of, as far as memory is concerned.
const SOME_DIRECTIONS: usize = 8;
/// Most tasks of a finite space that are all sampled in a round.
const MOST_LISTED: usize = 4096;
/// Dense matrices of features by features that an oracle has at the same time.
const DENSE: f64 = 16.0;
/// A vector that grows may take so many times what it holds.
const GROWING: f64 = 2.0;
/// A row of results, in memory and as text.
const RESULT_ROW: f64 = 1000.0;
/// A weight of a network in training: itself, its gradient, and what optimisers and starts keep.
const WEIGHT: f64 = 64.0;

/// How many trials run at a time, and what they need. Unless the user says how many, there are as many as the machine has
/// processors, or as the memory that is allowed has room for.
pub(super) fn of(
    prepared: &Prepared,
    options: &ExperimentOptions,
    own: &Need,
) -> Result<(usize, Need)> {
    let with = |jobs: usize| running(prepared, jobs).and(own.clone());
    if let Some(jobs) = options.jobs {
        let jobs = usize::from(jobs).max(1);
        return Ok((jobs, with(jobs)));
    }
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    let room = memory::allowed()?.min(memory::available().unwrap_or(f64::INFINITY));
    let jobs = (1..=most).rev().find(|jobs| with(*jobs).total() <= room);
    let jobs = jobs.unwrap_or(1);
    Ok((jobs, with(jobs)))
}

/// What all trials of an experiment need, so many at a time.
fn running(prepared: &Prepared, jobs: usize) -> Need {
    let config = &prepared.config;
    let served = if config.target.together() {
        1
    } else {
        prepared.scenario.targets.len()
    };
    let trials = config.seeds as f64 * (served * prepared.contenders.len()) as f64;
    let rounds = prepared.rounds.budgets.len() as f64;
    let mut results = Need::default();
    results.add("the results of all trials", trials * rounds * RESULT_ROW);
    trial(prepared).times(trials.min(jobs as f64)).and(results)
}

/// What one trial needs.
fn trial(prepared: &Prepared) -> Need {
    let (scenario, config) = (&prepared.scenario, &prepared.config);
    let (inputs, features) = (
        scenario.input_features.input_dim(),
        scenario.input_features.dim(),
    );
    let targets = if config.target.together() {
        prepared.scenario.targets.len()
    } else {
        1
    };
    let d = features as f64;
    let outputs = scenario.outputs as f64;
    let triangle = 0.5 * d * (d + 1.0) + outputs * (d + 1.0);
    let tasks = tasks(prepared);
    let mut need = Need::default();
    let kept = tasks + (2 * targets * TARGET_FOLD_COUNT) as f64;
    need.add(
        format!("the statistics of about {tasks:.0} tasks with {features} features"),
        NUMBER * kept * triangle,
    );
    let dense = format!("training with {features} features");
    need.add(dense, NUMBER * (DENSE * d * d + bilinear(prepared)));
    let rows = config.target.samples as f64;
    need.add(
        format!(
            "{} target samples of {features} features",
            config.target.samples
        ),
        GROWING * NUMBER * rows.max(BATCH_ROWS as f64) * (2.0 * inputs as f64 + d + 1.0 + outputs),
    );
    if keeps_rows(prepared) {
        let budget: f64 = prepared.rounds.budgets.iter().map(|&n| n as f64).sum();
        // Single precision, but kept, gathered and split.
        let rows = budget + rows * targets as f64;
        need.add(
            format!("the rows of a budget of {budget:.0}"),
            3.0 * 0.5 * NUMBER * rows * (d + 1.0 + outputs),
        );
        need.add("the network", WEIGHT * weights(prepared));
        // Predictors with a network have no loss in closed form.
        need = need.and(judging(Synthetic::TEST_ROWS, &scenario.input_features));
    }
    need = need.and(pooling(prepared, tasks));
    let drawn = drawn(&scenario.input_features) + drawn(&scenario.task_features);
    need.add("random features", NUMBER * 2.0 * drawn);
    need.and(space(prepared))
}

/// What partial pooling knows of the tasks of a trial.
fn pooling(prepared: &Prepared, tasks: f64) -> Need {
    if prepared.config.learner.oracle.built_in() != Some(OracleName::Pooled) {
        return Need::default();
    }
    let scenario = &prepared.scenario;
    // Of a list any task may be picked, as long as there are rows to pay for.
    let budget: f64 = prepared.rounds.budgets.iter().map(|&n| n as f64).sum();
    let count = scenario.space.count();
    let most = count.map_or(tasks, |count| budget.min(count as f64));
    let outputs = scenario.outputs as f64;
    let pooled = Pooled {
        tasks: related(prepared, most),
        shared: 1.0,
        outputs,
        at_once: outputs.min(1.0),
    };
    let features = scenario.input_features.dim();
    pooling_need::need(&pooling_need::sets(&scenario.pooled, features), pooled)
}

/// Of so many source tasks those that are pooled for a target: hardly any where no two have a feature in common.
fn related(prepared: &Prepared, tasks: f64) -> f64 {
    let (space, features) = (&prepared.scenario.space, &prepared.scenario.task_features);
    let of = |row| Some(apply_row(features, &space.task_at(row)?));
    match of(0).zip(of(1)) {
        Some((a, b)) if !a.iter().zip(&b).any(|(a, b)| (a * b).abs() > 0.0) => tasks.min(1.0),
        _ => tasks,
    }
}

/// Numbers of the two normal equations of a bilinear model, and of what they are assembled from.
fn bilinear(prepared: &Prepared) -> f64 {
    let oracle = prepared.config.learner.oracle.built_in();
    // Of one that nobody here knows the most is assumed.
    if oracle.is_some_and(|oracle| !matches!(oracle, OracleName::Exact | OracleName::Mllam)) {
        return 0.0;
    }
    let d = prepared.scenario.input_features.dim();
    let q = prepared.scenario.task_features.dim() + prepared.scenario.targets.len();
    let q = prepared.scenario.outputs * q;
    let k = prepared.config.learner.k.unwrap_or(SOME_DIRECTIONS);
    let (d, q, k) = (d as f64, q as f64, k.min(d).min(q) as f64);
    0.25 * d * (d + 1.0) * k * (k + 1.0)
        + 4.0 * (k * d).powi(2)
        + 4.0 * (k * q).powi(2)
        + 4.0 * d * q
}

/// Source tasks, by stage, that a trial may end up with.
fn tasks(prepared: &Prepared) -> f64 {
    let (space, features) = (&prepared.scenario.space, &prepared.scenario.task_features);
    let spread = |budget: usize| match (space, space.count()) {
        (Space::Ball(ball), _) if features.is_identity() => ball.dim(),
        (_, Some(count)) if count <= budget.min(MOST_LISTED) => count,
        (_, count) => (2 * features.dim())
            .min(budget)
            .min(count.unwrap_or(usize::MAX)),
    };
    let budgets = prepared.rounds.budgets.iter();
    let most = budgets.map(|&budget| spread(budget) as f64).sum::<f64>();
    // Every stage keeps a task on its own.
    space
        .count()
        .map_or(most, |count| most.min(3.0 * count as f64))
}

/// What the space takes: a basis of a ball, a list of all tasks where there is one.
fn space(prepared: &Prepared) -> Need {
    let (space, features) = (&prepared.scenario.space, &prepared.scenario.task_features);
    let (w, q) = (space.dim() as f64, features.dim() as f64);
    let mut need = Need::default();
    match space.count() {
        Some(count) => need.add(
            format!("a list of {count} tasks"),
            NUMBER * 2.0 * count as f64 * (w + q),
        ),
        None => need.add(
            format!("designs of {q:.0} task features"),
            NUMBER * (4.0 * w * w.min(q) + 6.0 * q * q),
        ),
    }
    need
}

/// Random numbers that a map holds.
fn drawn(map: &FeatureMap) -> f64 {
    match map {
        FeatureMap::Fourier(map) => map.input_dim() as f64 * map.dim() as f64,
        FeatureMap::Standardised(map) => drawn(map.inner()),
        FeatureMap::Stacked(map) => map.parts().iter().map(drawn).sum(),
        _ => 0.0,
    }
}

/// Whether trials keep rows beside statistics.
fn keeps_rows(prepared: &Prepared) -> bool {
    let own = prepared.config.own.trainer();
    match prepared.config.learner.oracle.built_in() {
        Some(OracleName::Neural | OracleName::JointGd) => true,
        Some(OracleName::Pooled) => prepared.scenario.wants_network,
        Some(_) => false,
        None => own.is_some_and(|own| own.get().is_ok_and(|trainer| trainer.needs().rows)),
    }
}

/// Weights of the network that is learnt.
fn weights(prepared: &Prepared) -> f64 {
    let learner = &prepared.config.learner;
    let hidden = learner
        .network
        .as_ref()
        .map_or(&[64, 64][..], |n| &n.hidden);
    let k = learner.k.unwrap_or(SOME_DIRECTIONS);
    let mut widths = vec![prepared.scenario.input_features.dim()];
    widths.extend(hidden);
    widths.push(k);
    let pairs = widths.windows(2);
    pairs.map(|pair| pair[0] as f64 * pair[1] as f64).sum()
}
