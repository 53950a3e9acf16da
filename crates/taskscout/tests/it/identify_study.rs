//! Hidden targets in a study: what is found of them, what the guard makes of it, what is sampled.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use crate::common::family;

use crate::common::{normals, on_threads, rng, rows};
use family::{D, NOISE, World, holds, loss};
use taskscout::data::{Samples, Stage};
use taskscout::features::{FeatureMap, Features as _};
use taskscout::rng::{Purpose, derive};
use taskscout::space::{Space, TaskSpace as _};
use taskscout::strategy::{Exploit, Plan, PlanItem, StrategyConfig, StrategyKind};
use taskscout::study::{Study, StudyConfig};
use taskscout::target::Target;
use taskscout::train::PredictorKind;

fn config(world: &World, kind: StrategyKind, targets: Vec<Target>) -> StudyConfig {
    let inputs = FeatureMap::identity(D).unwrap();
    let strategy = StrategyConfig::new(kind);
    StudyConfig {
        task_features: world.features.clone(),
        ..StudyConfig::new(world.space.clone(), inputs, targets, strategy).unwrap()
    }
}

/// Collects what the study asks for.
fn round(study: &mut Study, world: &World, budget: usize) -> Plan {
    let plan = study.ask(budget).unwrap();
    for item in &plan.items {
        let rng = &mut derive(1, Purpose::Collect, &[item.id]);
        let rows = world.samples(&item.task, item.n, rng);
        study.tell(item.id, &rows).unwrap();
    }
    plan
}

/// A study of one hidden target after a round that looks at the whole space.
fn started(world: &World, config: StudyConfig, target: &Samples) -> Study {
    let mut study = Study::new(config).unwrap();
    study.tell_target(0, target).unwrap();
    round(&mut study, world, 1200);
    study
}

fn passive(world: &World, target: &Samples) -> Study {
    let hidden = vec![Target::unknown("t")];
    started(world, config(world, StrategyKind::Passive, hidden), target)
}

fn exploited(plan: &Plan) -> Vec<&PlanItem> {
    let items = plan.items.iter();
    items.filter(|item| item.stage == Stage::Exploit).collect()
}

#[test]
fn a_member_with_few_rows_is_handed_back() {
    let (mut taken, mut identified, mut alone) = (0, 0.0, 0.0);
    for seed in 0..10 {
        let world = World::plane(seed);
        let rng = &mut rng(seed);
        let task = world.space.sample(rng).unwrap();
        let study = passive(&world, &world.samples(&task, 12, rng));
        let choice = study.predictors().unwrap()[0].clone();
        let found = choice.identified.clone().unwrap();
        assert_eq!(study.identify().unwrap(), [Some(found)]);
        if choice.kind == PredictorKind::Identified {
            taken += 1;
            assert!(choice.reason.contains("source family"), "{}", choice.reason);
        }
        let of = |kind| &choice.candidate(kind).unwrap().coefficients;
        identified += loss(of(PredictorKind::Identified), &world.function(&task));
        alone += loss(of(PredictorKind::TargetOnly), &world.function(&task));
    }
    assert!(taken >= 8, "{taken} of 10");
    // Two numbers are learnt instead of five.
    assert!(identified < 0.6 * alone, "{identified} {alone}");
}

#[test]
fn a_stranger_costs_little() {
    let (mut chosen, mut alone) = (0.0, 0.0);
    for seed in 0..12 {
        let world = World::plane(seed);
        let rng = &mut rng(100 + seed);
        let outsider = vec![normals(D, rng).iter().map(|x| 2.0 * x).collect()];
        let study = passive(&world, &rows(&outsider, 40, NOISE, rng));
        let choice = study.predictors().unwrap()[0].clone();
        let log_odds = choice.identified.as_ref().unwrap().log_odds;
        assert!(log_odds < 0.0, "{seed}: {log_odds}");
        assert_ne!(choice.kind, PredictorKind::Identified, "{seed}");
        chosen += loss(&choice.predictor().unwrap().coefficients, &outsider);
        let only = study.target_only().unwrap()[0].clone();
        alone += loss(&only.predictor().unwrap().coefficients, &outsider);
    }
    assert!(chosen < 1.15 * alone, "{chosen} {alone}");
}

/// What a study says, does and hands back over some rounds, saved and loaded after each or not.
fn life(saved: bool) -> String {
    let world = World::plane(4);
    let hidden = vec![Target::unknown("t")];
    let config = config(&world, StrategyKind::Aware, hidden);
    let mut study = Study::new(config).unwrap();
    let target = world.samples(&[0.5, -0.2], 10, &mut rng(4));
    study.tell_target(0, &target).unwrap();
    let mut story = Vec::new();
    for _ in 0..3 {
        story.push(serde_json::to_value(round(&mut study, &world, 200)).unwrap());
        if saved {
            let text = serde_json::to_string(&study).unwrap();
            study = serde_json::from_str(&text).unwrap();
        }
        story.push(serde_json::to_value(study.identify().unwrap()).unwrap());
    }
    story.push(serde_json::to_value(&*study.predictors().unwrap()).unwrap());
    serde_json::to_string(&story).unwrap()
}

#[test]
fn neither_threads_nor_files_matter() {
    let plain = on_threads(1, || life(false));
    assert!(plain.contains("near target `t`"));
    assert_eq!(on_threads(2, || life(false)), plain);
    assert_eq!(life(true), plain);
}

#[test]
fn nothing_is_looked_for_where_it_cannot_be_told() {
    let world = World::plane(5);
    let task = vec![0.1, 0.2];
    let target = world.samples(&task, 20, &mut rng(5));
    let none = |config: StudyConfig| {
        let study = started(&world, config, &target);
        let choice = study.predictors().unwrap()[0].clone();
        assert!(choice.candidate(PredictorKind::Identified).is_none());
        study.identify().unwrap() == [None] && choice.identified.is_none()
    };
    let hidden = || config(&world, StrategyKind::Passive, vec![Target::unknown("t")]);
    assert!(!hidden().task_features.is_identity() && study_finds(&world, hidden(), &target));
    assert!(none(StudyConfig {
        identify: false,
        ..hidden()
    }));
    let known = vec![Target::known("t", task)];
    assert!(none(config(&world, StrategyKind::Passive, known)));
    let mut untold = Study::new(hidden()).unwrap();
    round(&mut untold, &world, 200);
    assert_eq!(untold.identify().unwrap(), [None]);
    let ball = World::new(
        Space::ball(3, 1.0).unwrap(),
        FeatureMap::identity(3).unwrap(),
        1,
        &mut rng(6),
    );
    let target = ball.samples(&[0.1, 0.2, 0.3], 20, &mut rng(6));
    assert_eq!(passive(&ball, &target).identify().unwrap(), [None]);
}

fn study_finds(world: &World, config: StudyConfig, target: &Samples) -> bool {
    let study = started(world, config, target);
    study.identify().unwrap()[0].is_some()
}

/// The second round's plan of an aware study of one hidden target.
fn planned(world: &World, task: &[f64], exploit: Exploit, identify: bool, budget: usize) -> Plan {
    let hidden = vec![Target::unknown("t")];
    let mut config = config(world, StrategyKind::Aware, hidden);
    config.strategy.exploit = exploit;
    config.identify = identify;
    let target = world.samples(task, 30, &mut rng(7));
    let mut study = started(world, config, &target);
    round(&mut study, world, budget)
}

#[test]
fn modes_sample_what_they_say() {
    let world = World::plane(7);
    let task = [0.3, -0.4];
    let reasons = |plan: &Plan, start: &str| {
        let items = exploited(plan);
        assert!(!items.is_empty());
        for item in items {
            assert!(item.reason.starts_with(start), "{}", item.reason);
        }
    };
    for exploit in [Exploit::Auto, Exploit::Nearest] {
        let plan = planned(&world, &task, exploit, true, 200);
        reasons(&plan, "near target `t`: found within ±");
        let first = &exploited(&plan)[0].task;
        let apart = first.iter().zip(&task).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) < 0.15, "{first:?}");
    }
    reasons(
        &planned(&world, &task, Exploit::Design, true, 200),
        "serves the target",
    );
    reasons(
        &planned(&world, &task, Exploit::Auto, false, 200),
        "serves the target",
    );
    let plan = planned(&world, &task, Exploit::Nearest, false, 200);
    reasons(&plan, "near target `t`: by the distance of embeddings");
    assert_eq!(exploited(&plan).len(), 1);
}

#[test]
fn a_finite_space_is_designed_for_unless_asked() {
    let rng = &mut rng(8);
    let tasks: Vec<Vec<f64>> = (0..20).map(|_| normals(2, rng)).collect();
    let features = FeatureMap::polynomial(2, 2, true).unwrap();
    let world = World::new(Space::list(&tasks).unwrap(), features, 1, rng);
    let plan = planned(&world, &tasks[3], Exploit::Auto, true, 200);
    assert!(exploited(&plan)[0].reason.starts_with("serves"));
    let plan = planned(&world, &tasks[3], Exploit::Nearest, true, 200);
    let items = exploited(&plan);
    assert_eq!(
        (items.len(), items[0].task.parameters()),
        (1, tasks[3].as_slice())
    );
}

#[test]
fn targets_share_by_weight() {
    let world = World::plane(9);
    let own = vec![-0.6, 0.8];
    let targets = vec![
        Target::unknown("hidden").with_weight(3.0),
        Target::known("open", own.clone()),
    ];
    let config = config(&world, StrategyKind::Aware, targets);
    let target = world.samples(&[0.3, -0.4], 30, &mut rng(9));
    let mut study = started(&world, config, &target);
    let plan = round(&mut study, &world, 400);
    let items = exploited(&plan);
    let (open, hidden): (Vec<&PlanItem>, Vec<&PlanItem>) = items
        .into_iter()
        .partition(|item| item.task.parameters() == own);
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].reason, "near target `open`: its own parameters");
    assert!(hidden.iter().all(|item| item.reason.contains("`hidden`")));
    let samples: usize = hidden.iter().map(|item| item.n).sum();
    // Every item is rounded to whole samples.
    assert!(
        samples.abs_diff(3 * open[0].n) <= 2 * hidden.len() + 3,
        "{samples} {}",
        open[0].n
    );
}

/// Where few samples are left, one task for a target is enough.
#[test]
fn a_small_budget_is_not_refused() {
    let world = World::line(10);
    let hidden = vec![Target::unknown("t")];
    let target = world.samples(&[0.6], 8, &mut rng(10));
    let config = config(&world, StrategyKind::Aware, hidden);
    let study = started(&world, config, &target);
    let tasks = |budget: usize| {
        let plan = study.clone().ask(budget).unwrap();
        assert_eq!(plan.budget(), budget);
        exploited(&plan).len()
    };
    // Three tasks explore, one is near the target, three more may be.
    assert_eq!((tasks(100), tasks(6)), (4, 1));
}

/// A target outside the space, with no rows yet: the task of the nearest function.
#[test]
fn a_known_target_outside_the_space_has_a_nearest_task() {
    let world = World::line(11);
    let beyond = [1.3];
    let targets = vec![Target::known("beyond", beyond.to_vec())];
    let mut config = config(&world, StrategyKind::Aware, targets);
    config.strategy.exploit = Exploit::Nearest;
    let mut study = Study::new(config).unwrap();
    round(&mut study, &world, 3000);
    let plan = round(&mut study, &world, 100);
    let items = exploited(&plan);
    let distance = |w: f64| loss(&world.function(&[w]), &world.function(&beyond));
    let grid = (0..=100).map(|i| f64::from(i) / 100.0);
    let best = grid.min_by(|a, b| distance(*a).total_cmp(&distance(*b)));
    let found = items[0].task[0];
    assert!((found - best.unwrap()).abs() < 0.1, "{found} {best:?}");
}

#[test]
fn a_target_without_rows_is_an_error() {
    let world = World::plane(12);
    let hidden = vec![Target::unknown("t")];
    let mut study = Study::new(config(&world, StrategyKind::Passive, hidden)).unwrap();
    round(&mut study, &world, 200);
    let error = study.predictors().unwrap_err().to_string();
    assert!(error.contains("`t` has no samples"), "{error}");
    study
        .tell_target(0, &world.samples(&[0.0, 0.5], 30, &mut rng(12)))
        .unwrap();
    let found = study.identify().unwrap().remove(0).unwrap();
    assert!(holds(&found, &[0.0, 0.5]), "{found:?}");
}

/// A sensor that is not plugged in: nothing can be learnt of the family, and the study goes on.
#[test]
fn source_labels_of_zero_identify_nothing() {
    let world = World::plane(6);
    let target = world.samples(&[0.3, 0.1], 20, &mut rng(6));
    for kind in [StrategyKind::Passive, StrategyKind::Aware] {
        let hidden = vec![Target::unknown("t")];
        let mut study = Study::new(config(&world, kind, hidden)).unwrap();
        study.tell_target(0, &target).unwrap();
        for _ in 0..2 {
            for item in study.ask(600).unwrap().items {
                let told = world.samples(&item.task, item.n, &mut rng(item.id));
                let silent = vec![0.0; told.len()];
                let told = Samples::new(told.inputs().to_vec(), D, silent, 1).unwrap();
                study.tell(item.id, &told).unwrap();
            }
            assert_eq!(study.identify().unwrap(), [None], "{kind}");
            let choice = study.predictors().unwrap()[0].clone();
            assert!(choice.identified.is_none() && choice.predictor().is_some());
        }
    }
}
