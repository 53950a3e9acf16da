//! Studies of samples with several outputs: one representation, a map for each output.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use crate::common::family;

use crate::common::{Truth, dot, rng, rows};
use family::World;
use taskscout::data::{Samples, Stage};
use taskscout::design::{Criterion, Need, Problem, solve_space_blocks};
use taskscout::features::FeatureMap;
use taskscout::rng::{Purpose, derive};
use taskscout::space::{List, Space, TaskSpace as _};
use taskscout::strategy::{Exploit, Given, Plan, StrategyConfig, StrategyKind};
use taskscout::study::{Collection, Needs, Study, StudyConfig};
use taskscout::target::Target;
use taskscout::task::Task;
use taskscout::train::PredictorKind;

const D: usize = 12;
const TASKS: usize = 8;
const K: usize = 3;
const OUTPUTS: usize = 3;

/// Three outputs that share a representation; the target's features are those of a task.
fn truth(seed: u64) -> Truth {
    Truth::draw(D, K, TASKS, OUTPUTS, 0.5, &mut rng(seed))
}

fn target() -> Vec<f64> {
    let mut task = vec![0.0; TASKS];
    (task[0], task[1]) = (0.6, 0.8);
    task
}

fn collect(truth: &Truth, task: &[f64], n: usize, draw: u64) -> Samples {
    let rng = &mut derive(5, Purpose::Collect, &[draw]);
    rows(&truth.coefficients(task), n, truth.noise, rng)
}

fn config(space: Space, strategy: StrategyConfig) -> StudyConfig {
    let inputs = FeatureMap::identity(D).unwrap();
    StudyConfig {
        outputs: OUTPUTS,
        k: Some(K),
        ..StudyConfig::new(space, inputs, vec![Target::unknown("t")], strategy).unwrap()
    }
}

fn ball() -> Space {
    Space::ball(TASKS, 1.0).unwrap()
}

fn round(study: &mut Study, truth: &Truth, budget: usize) -> Plan {
    let plan = study.ask(budget).unwrap();
    for item in &plan.items {
        let told = collect(truth, &item.task, item.n, item.id);
        study.tell(item.id, &told).unwrap();
    }
    plan
}

fn run(truth: &Truth, config: StudyConfig, rounds: usize) -> (Study, Vec<Plan>) {
    let mut study = Study::new(config).unwrap();
    study
        .tell_target(0, &collect(truth, &target(), 60, 1000))
        .unwrap();
    let plans = (0..rounds).map(|_| round(&mut study, truth, 600)).collect();
    (study, plans)
}

/// Mean squared error over outputs of what the guard hands back, for standard normal inputs.
fn loss(study: &Study, truth: &Truth) -> f64 {
    let choice = &study.predictors().unwrap()[0];
    let taken = choice.candidate(choice.kind).unwrap();
    assert_eq!(taken.coefficients.len(), OUTPUTS);
    let of = |(found, true_): (&Vec<f64>, &Vec<f64>)| {
        let apart: Vec<f64> = found.iter().zip(true_).map(|(a, b)| a - b).collect();
        dot(&apart, &apart)
    };
    let pairs = taken
        .coefficients
        .iter()
        .zip(&truth.coefficients(&target()))
        .map(of)
        .sum::<f64>();
    pairs / OUTPUTS as f64
}

#[test]
fn active_strategies_plan_for_all_outputs_and_predict_them() {
    for seed in 0..3 {
        let truth = truth(seed);
        let alone = truth.noise * truth.noise * D as f64 / 60.0;
        for kind in [StrategyKind::Aware, StrategyKind::Agnostic] {
            let (study, plans) = run(&truth, config(ball(), StrategyConfig::new(kind)), 4);
            assert!(plans.iter().all(|plan| plan.budget() == 600));
            let stages: Vec<Stage> = plans[3].items.iter().map(|item| item.stage).collect();
            assert!(stages.contains(&Stage::Explore), "{kind}: {stages:?}");
            assert_eq!(
                stages.contains(&Stage::Exploit),
                kind == StrategyKind::Aware
            );
            for item in plans.iter().flat_map(|plan| &plan.items) {
                assert!(ball().contains(&item.task), "{kind}");
            }
            // One design for all outputs: no more tasks than directions for each stage.
            assert!(stages.len() <= 2 * K, "{kind}: {}", stages.len());
            let loss = loss(&study, &truth);
            assert!(loss < 0.5 * alone, "{kind}: {loss} beside {alone}");
        }
    }
}

/// The plan for the target is the optimal design of blocks, not that of the first output.
#[test]
fn the_design_serves_every_output() {
    let truth = truth(7);
    let (mut study, _) = run(
        &truth,
        config(ball(), StrategyConfig::new(StrategyKind::Aware)),
        3,
    );
    let needs = study.needs().unwrap();
    assert_eq!(
        (needs.maps().len(), needs.targets[0].len()),
        (OUTPUTS, K * OUTPUTS)
    );
    let plan = study.ask(100_000).unwrap();
    let value = |needs: &Needs| {
        let mut sum = faer::Mat::<f64>::zeros(K, K);
        let exploit: Vec<_> = (plan.items.iter())
            .filter(|item| item.stage == Stage::Exploit)
            .collect();
        let total: usize = exploit.iter().map(|item| item.n).sum();
        for item in exploit {
            for map in needs.maps() {
                let column = crate::common::apply(map, &item.task);
                for (i, a) in column.iter().enumerate() {
                    for (j, b) in column.iter().enumerate() {
                        sum[(i, j)] += item.n as f64 / total as f64 * a * b;
                    }
                }
            }
        }
        Criterion::Trace
            .value(sum.as_ref(), needs.moment.as_ref())
            .unwrap()
    };
    let features = FeatureMap::identity(TASKS).unwrap();
    let problem = Problem::new(Criterion::Trace, Need::Moment(needs.moment.as_ref()));
    let rng = &mut derive(1, Purpose::Search, &[]);
    let best = solve_space_blocks(&ball(), &features, &needs.maps(), &problem, rng).unwrap();
    assert!(value(&needs) <= 1.02 * best.objective);
    assert!(value(&needs) >= best.lower_bound.unwrap() * (1.0 - 1e-9));
    // The needs of a study are kept with all maps.
    let kept: Needs = serde_json::from_str(&serde_json::to_string(&*needs).unwrap()).unwrap();
    assert_eq!(kept, *needs);
}

#[test]
fn what_is_saved_goes_on_alike_and_what_is_retracted_was_never_there() {
    let truth = truth(3);
    let strategy = StrategyConfig {
        save_task: true,
        given: Given::Collected,
        ..StrategyConfig::new(StrategyKind::Aware)
    };
    let (mut study, _) = run(&truth, config(ball(), strategy), 3);
    let bytes = study.snapshot().unwrap();
    let mut again = Study::restore(&bytes).unwrap();
    assert_eq!(again.snapshot().unwrap(), bytes);
    let old = Task::point(target());
    let wrong = again
        .add(&old, &collect(&truth, &[1.0; TASKS], 200, 77))
        .unwrap();
    assert_ne!(again.needs().unwrap(), study.needs().unwrap());
    again.retract(&wrong).unwrap();
    assert_eq!(again.predictors().unwrap(), study.predictors().unwrap());
    assert_eq!(again.ask(500).unwrap(), study.ask(500).unwrap());
    assert_eq!(again.snapshot().unwrap(), study.snapshot().unwrap());
    let text = serde_json::to_string(&study).unwrap();
    let read: Study = serde_json::from_str(&text).unwrap();
    assert_eq!(read.snapshot().unwrap(), study.snapshot().unwrap());
}

/// Information that is under way counts for all outputs: a second ask is not the first again.
#[test]
fn what_is_under_way_counts() {
    let truth = truth(11);
    let strategy = StrategyConfig::new(StrategyKind::Aware);
    let (mut study, _) = run(&truth, config(ball(), strategy), 3);
    let (first, second) = (study.ask(400).unwrap(), study.ask(400).unwrap());
    assert_eq!((first.budget(), second.budget()), (400, 400));
    let tasks = |plan: &Plan| -> Vec<Task> { plan.items.iter().map(|i| i.task.clone()).collect() };
    assert_ne!(tasks(&first), tasks(&second));
}

/// Lists, with and without limits, costs and relevance.
#[test]
fn finite_spaces_are_planned_within_what_they_have() {
    let truth = truth(5);
    let mut draws = rng(8);
    let tasks: Vec<Vec<f64>> = (0..40)
        .map(|_| ball().sample(&mut draws).unwrap())
        .collect();
    let space = Space::List(List::new(&tasks).unwrap());
    for kind in [
        StrategyKind::Aware,
        StrategyKind::Agnostic,
        StrategyKind::DiscreteL1,
        StrategyKind::DiscreteL2,
    ] {
        let (mut study, _) = run(&truth, config(space.clone(), StrategyConfig::new(kind)), 3);
        let plan = study.ask_within(500, &|_| Some(40)).unwrap();
        assert_eq!(plan.budget(), 500, "{kind}");
        for task in space.tasks().unwrap() {
            let of_task = plan.items.iter().filter(|item| item.task.to_vec() == task);
            assert!(of_task.map(|item| item.n).sum::<usize>() <= 40, "{kind}");
        }
        assert!(
            plan.items.iter().any(|item| item.similarity.is_some()),
            "{kind}"
        );
    }
    let collection = Collection {
        switch_cost: 30.0,
        smallest_batch: 20,
        ..Collection::default()
    };
    let strategy = StrategyConfig::new(StrategyKind::Aware);
    let config = StudyConfig {
        collection,
        ..config(space, strategy)
    };
    let (_, plans) = run(&truth, config, 4);
    for plan in plans {
        let cost = 30.0 * plan.items.len() as f64 + plan.budget() as f64;
        assert!(cost <= 600.0 && cost > 500.0, "{cost}");
        assert!(plan.items.iter().all(|item| item.n >= 20));
    }
}

/// A hidden target on a box with polynomial features: all outputs tell of its parameters.
#[test]
fn targets_are_found_by_all_outputs() {
    let space = Space::boxed(vec![-1.0, -1.0], vec![1.0, 1.0]).unwrap();
    let features = FeatureMap::polynomial(2, 2, true).unwrap();
    for exploit in [Exploit::Auto, Exploit::Nearest, Exploit::Design] {
        let world = World::new(space.clone(), features.clone(), OUTPUTS, &mut rng(4));
        let strategy = StrategyConfig {
            exploit,
            ..StrategyConfig::new(StrategyKind::Aware)
        };
        let inputs = FeatureMap::identity(family::D).unwrap();
        let hidden = vec![Target::unknown("t")];
        let mut study = Study::new(StudyConfig {
            task_features: features.clone(),
            outputs: OUTPUTS,
            ..StudyConfig::new(space.clone(), inputs, hidden, strategy).unwrap()
        })
        .unwrap();
        let task = [0.4, -0.3];
        let few = world.samples(&task, 12, &mut rng(9));
        study.tell_target(0, &few).unwrap();
        for _ in 0..3 {
            for item in study.ask(900).unwrap().items {
                let rng = &mut derive(1, Purpose::Collect, &[item.id]);
                let told = world.samples(&item.task, item.n, rng);
                study.tell(item.id, &told).unwrap();
            }
        }
        let found = study.identify().unwrap()[0].clone().unwrap();
        assert!(family::holds(&found, &task), "{:?}", found.task);
        let choice = &study.predictors().unwrap()[0];
        let identified = choice.candidate(PredictorKind::Identified).unwrap();
        assert_eq!(identified.coefficients.len(), OUTPUTS);
        let chosen = choice.candidate(choice.kind).unwrap();
        assert_eq!(chosen.coefficients.len(), OUTPUTS);
    }
}
