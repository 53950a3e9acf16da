//! The study that a strategy of an experiment runs as.

use taskscout::features::Features as _;
use taskscout::rng::{Purpose, derive};
use taskscout::strategy::{StrategyConfig, StrategyKind};
use taskscout::study::{Collection, StudyConfig};
use taskscout::target::Target;

use super::{Prepared, oracle};
use crate::strategy_run::StrategyRun;

/// Tells the draw of a list from the draws of rounds.
const LIST: u64 = 1;

/// Whether a strategy chooses from a list although the world's tasks are none.
pub(crate) fn chooses_from_list(prepared: &Prepared, run: &StrategyRun) -> bool {
    let by_relevance = |kind| matches!(kind, StrategyKind::DiscreteL1 | StrategyKind::DiscreteL2);
    let listed = matches!(run, StrategyRun::BuiltIn { kind, .. } if by_relevance(*kind));
    listed && prepared.scenario.space.count().is_none()
}

/// The study that a strategy runs as, for some of the world's targets.
pub(crate) fn study_config(
    prepared: &Prepared,
    run: &StrategyRun,
    targets: std::ops::Range<usize>,
    seed: u64,
) -> taskscout::Result<StudyConfig> {
    let (scenario, learner) = (&prepared.scenario, &prepared.config.learner);
    let own = &prepared.config.own;
    let hidden = |target: usize| {
        let own = &scenario.targets[target];
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
    let mut space = scenario.space_for(targets.clone())?;
    if chooses_from_list(prepared, run) {
        // A list of its own for each seed, so that no result hangs on a lucky one.
        let mut rng = derive(seed, Purpose::Plan, &[0, LIST]);
        space = space.discretised(learner.list(), &mut rng)?;
    }
    Ok(StudyConfig {
        space,
        task_features: scenario.task_features.clone(),
        input_features: scenario.input_features.clone(),
        outputs: scenario.outputs,
        targets: targets.map(hidden).collect(),
        k: learner.k,
        strategy: StrategyConfig {
            kind: learner.strategy(kind),
            save_task,
            saving: learner.saving,
            explore: learner.explore,
            explore_criterion: learner.explore_criterion,
            exploit_criterion: learner.exploit_criterion,
            split: learner.split(),
            exploit: learner.exploit(scenario.task_features.is_identity()),
            given: learner.given,
            serve: learner.serve,
        },
        own_strategy: own.strategy(run).cloned(),
        warm_up: prepared.rounds.warm_up,
        stable_model: learner.stable_model,
        oracle: oracle::build(learner, own, scenario)?,
        identify: learner.identify(),
        collection: Collection::default(),
        seed,
    })
}
