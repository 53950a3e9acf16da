//! Several plans at once, studies without a target, and what is derived once.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use std::collections::BTreeMap;

use rand_distr::{Distribution as _, StandardNormal};
use taskscout::data::{Samples, Stage};
use taskscout::features::FeatureMap;
use taskscout::rng::{Purpose, derive};
use taskscout::space::Space;
use taskscout::strategy::{Given, StrategyConfig, StrategyKind};
use taskscout::study::{Progress, Study, StudyConfig};
use taskscout::target::Target;
use taskscout::task::Task;

const D: usize = 4;

/// Two directions of the space matter, the second much less often seen.
fn rows(task: &[f64], n: usize, draw: u64) -> Samples {
    let mut rng = derive(5, Purpose::Collect, &[draw]);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let x: Vec<f64> = (0..D * n).map(|_| normal()).collect();
    let (a, b) = (task[0] + 0.3 * task[1], task[2] - 0.2 * task[3]);
    let y = x
        .chunks(D)
        .map(|x| a * (x[0] - x[2]) + b * (x[1] + x[3]) + 0.2 * normal());
    let y = y.collect();
    Samples::new(x, D, y, 1).unwrap()
}

fn study(kind: StrategyKind, targets: Vec<Target>, given: Given) -> Study {
    let strategy = StrategyConfig {
        given,
        ..StrategyConfig::new(kind)
    };
    let config = StudyConfig::new(
        Space::ball(5, 1.0).unwrap(),
        FeatureMap::identity(D).unwrap(),
        targets,
        strategy,
    );
    let config = StudyConfig {
        k: Some(2),
        ..config.unwrap()
    };
    Study::new(config).unwrap()
}

fn warm(kind: StrategyKind, given: Given) -> Study {
    let mut study = study(kind, vec![Target::unknown("t")], given);
    study
        .tell_target(0, &rows(&[0.5, 0.0, 0.8, 0.0], 40, 999))
        .unwrap();
    collect(&mut study, 100);
    study
}

fn collect(study: &mut Study, budget: usize) {
    for item in study.ask(budget).unwrap().items {
        study
            .tell(item.id, &rows(&item.task, item.n, item.id))
            .unwrap();
    }
}

/// What the model's directions get out of some items, `Σ n c cᵀ`, by its trace and its least eigenvalue.
fn information(study: &Study, items: &[(Task, usize)]) -> (f64, f64) {
    let model = study.model().unwrap();
    let (mut a, mut b, mut c) = (0.0, 0.0, 0.0);
    for (task, n) in items {
        let mut features = task.to_vec();
        features.push(0.0);
        let e = model.map.embedding(&features, 0).unwrap();
        let n = *n as f64;
        a += n * e[0] * e[0];
        b += n * e[0] * e[1];
        c += n * e[1] * e[1];
    }
    let mean = 0.5 * (a + c);
    (
        2.0 * mean,
        mean - (mean * mean - (a * c - b * b)).max(0.0).sqrt(),
    )
}

/// Two people who ask one after the other, before anything came back, get together what one would
/// have got who asks for all of it.
#[test]
fn plans_that_are_open_together_serve_like_one() {
    for kind in [StrategyKind::Agnostic, StrategyKind::Aware] {
        let before = warm(kind, Given::UnderWay);
        let items = |plan: &taskscout::strategy::Plan| -> Vec<(Task, usize)> {
            plan.items
                .iter()
                .map(|item| (item.task.clone(), item.n))
                .collect()
        };
        let whole = items(&before.clone().ask(200).unwrap());
        let mut twice = before.clone();
        let mut parts = items(&twice.ask(100).unwrap());
        let second = twice.ask(100).unwrap();
        assert_eq!((second.round, second.budget()), (2, 100));
        parts.extend(items(&second));
        let (one, both) = (information(&before, &whole), information(&before, &parts));
        assert!(both.1 > 0.8 * one.1, "{kind}: {both:?} {one:?}");
    }
}

#[test]
fn items_of_several_plans_are_told_in_any_order() {
    let mut study = warm(StrategyKind::Aware, Given::UnderWay);
    let first = study.ask(60).unwrap();
    let second = study.ask(60).unwrap();
    for item in second.items.iter().chain(&first.items).rev() {
        study
            .tell(item.id, &rows(&item.task, item.n, item.id))
            .unwrap();
    }
    assert!(
        study
            .items()
            .iter()
            .all(|one| one.progress == Progress::Done)
    );
    assert_eq!(study.data().source_rows(), 220);
    let mut again = Study::restore(&study.snapshot().unwrap()).unwrap();
    assert_eq!(again.ask(60).unwrap(), study.ask(60).unwrap());
}

/// While the warm-up is under way there is nothing to aim with.
#[test]
fn asking_during_the_warm_up_goes_on_with_it() {
    let mut study = study(
        StrategyKind::Aware,
        vec![Target::unknown("t")],
        Given::UnderWay,
    );
    study
        .tell_target(0, &rows(&[0.5, 0.0, 0.8, 0.0], 40, 999))
        .unwrap();
    let first = study.ask(50).unwrap();
    for _ in 0..2 {
        let plan = study.ask(50).unwrap();
        assert!(plan.items.iter().all(|item| item.stage == Stage::WarmUp));
    }
    for item in &first.items[..2] {
        study
            .tell(item.id, &rows(&item.task, item.n, item.id))
            .unwrap();
    }
    assert_eq!(study.ask(50).unwrap().items[0].stage, Stage::WarmUp);
    let waiting: Vec<_> = study
        .items()
        .iter()
        .filter(|one| one.progress == Progress::Open)
        .map(|one| one.item.clone())
        .collect();
    for item in waiting {
        study
            .tell(item.id, &rows(&item.task, item.n, item.id))
            .unwrap();
    }
    assert_ne!(study.ask(50).unwrap().items[0].stage, Stage::WarmUp);
}

/// What is under way is no longer left.
#[test]
fn no_task_is_promised_twice() {
    let config = StudyConfig::new(
        Space::one_hot(4).unwrap(),
        FeatureMap::identity(D).unwrap(),
        vec![Target::unknown("t")],
        StrategyConfig::new(StrategyKind::Passive),
    );
    let mut study = Study::new(config.unwrap()).unwrap();
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    let mut short = 0;
    for _ in 0..3 {
        let plan = study.ask_within(20, &|_| Some(12)).unwrap();
        short += plan.short;
        for item in plan.items {
            *asked.entry(item.task.id.to_string()).or_default() += item.n;
        }
    }
    assert!(asked.values().all(|&n| n == 12), "{asked:?}");
    assert_eq!(short, 60 - 48);
    assert!(study.ask_within(20, &|_| Some(12)).is_err());
}

/// Directions that were collected get less where that counts.
#[test]
fn collected_data_count_where_the_strategy_says_so() {
    let mut studies = [Given::UnderWay, Given::Collected].map(|given| {
        let mut study = warm(StrategyKind::Agnostic, given);
        // One direction is known very well already.
        let known = Task::point(vec![1.0, 0.0, 0.0, 0.0, 0.0]);
        study.add(&known, &rows(&known, 3000, 7)).unwrap();
        study
    });
    let weak = studies.each_mut().map(|study| {
        let plan = study.ask(100).unwrap();
        let along = |item: &taskscout::strategy::PlanItem| {
            item.n as f64 * (item.task[2].powi(2) + item.task[3].powi(2))
        };
        plan.items.iter().map(along).sum::<f64>()
    });
    assert!(weak[1] > 1.5 * weak[0], "{weak:?}");
}

#[test]
fn without_a_target_the_representation_is_learnt_all_the_same() {
    for (kind, targets) in [
        (StrategyKind::Agnostic, vec![]),
        (StrategyKind::Passive, vec![]),
        (StrategyKind::Agnostic, vec![Target::unknown("later")]),
        (StrategyKind::Aware, vec![Target::unknown("later")]),
    ] {
        let named = !targets.is_empty();
        let mut study = study(kind, targets, Given::UnderWay);
        for _ in 0..3 {
            collect(&mut study, 80);
        }
        let model = study.model().unwrap();
        assert_eq!(model.dim(), 2);
        if kind != StrategyKind::Passive {
            let last = study.items().last().unwrap();
            assert_eq!(last.item.stage, Stage::Explore);
        }
        let mut study = Study::restore(&study.snapshot().unwrap()).unwrap();
        if !named {
            assert!(study.predictors().unwrap().is_empty());
            assert_eq!(study.add_target(&Target::unknown("later")).unwrap(), 0);
            let again = study.add_target(&Target::unknown("later")).unwrap_err();
            assert!(again.to_string().contains("two named `later`"), "{again}");
        }
        let batch = study
            .tell_target(0, &rows(&[0.5, 0.0, 0.8, 0.0], 12, 99))
            .unwrap();
        let force = study.predictors().unwrap()[0].returned.coefficients[0].clone();
        let truth = [0.5, 0.8, -0.5, 0.8];
        let off: f64 = force.iter().zip(truth).map(|(a, b)| (a - b).powi(2)).sum();
        assert!(off < 0.1, "{kind}: {force:?}");
        // What came later can go again, and the target stays.
        let mut settled = study.clone();
        study.retract(&batch).unwrap();
        assert_eq!(study.data().target_rows(0), 0);
        settled.settle().unwrap();
        let read = Study::restore(&settled.snapshot().unwrap()).unwrap();
        assert_eq!(read.predictors().unwrap(), settled.predictors().unwrap());
    }
    let none = StudyConfig::new(
        Space::ball(5, 1.0).unwrap(),
        FeatureMap::identity(D).unwrap(),
        vec![],
        StrategyConfig::new(StrategyKind::Aware),
    );
    let refused = Study::new(none.unwrap()).unwrap_err().to_string();
    assert!(refused.contains("or use `agnostic`"), "{refused}");
}

#[test]
fn what_is_derived_is_derived_once_and_again_after_news() {
    let mut study = warm(StrategyKind::Aware, Given::UnderWay);
    let first = study.predictors().unwrap();
    assert!(std::sync::Arc::ptr_eq(&first, &study.predictors().unwrap()));
    collect(&mut study, 60);
    let second = study.predictors().unwrap();
    assert_ne!(first, second);
    assert!(std::sync::Arc::ptr_eq(
        &second,
        &study.predictors().unwrap()
    ));
}

/// A design beside what is given is better for the sum than one that ignores it, on a ball of many
/// parameters.
#[test]
fn designs_beside_what_is_given_are_best_for_the_sum() {
    use faer::Mat;
    use taskscout::design::{Criterion, Need, Problem, ball, solve_space};
    let (k, d) = (4, 30);
    let mut rng = derive(9, Purpose::Test, &[]);
    let map = Mat::from_fn(k, d, |i, _| {
        let z: f64 = StandardNormal.sample(&mut rng);
        z / (1.0 + 3.0 * i as f64)
    });
    let mut given = Mat::<f64>::zeros(k, k);
    for i in 0..k {
        given[(i, i)] = [8.0, 2.0, 0.05, 0.01][i];
    }
    let need = Mat::<f64>::identity(k, k);
    let features = FeatureMap::identity(d).unwrap();
    let problem = Problem {
        given: Some(given.as_ref()),
        ..Problem::new(Criterion::Trace, Need::Moment(need.as_ref()))
    };
    let space = Space::ball(d, 1.0).unwrap();
    let beside = solve_space(&space, &features, Some(map.as_ref()), &problem, &mut rng).unwrap();
    let alone = ball::optimal(map.as_ref(), need.as_ref(), Criterion::Trace, 1.0).unwrap();
    let value = |information: Mat<f64>| {
        let sum = information + &given;
        Criterion::Trace.value(sum.as_ref(), need.as_ref()).unwrap()
    };
    let (ours, theirs) = (value(beside.information()), value(alone.information()));
    assert!(ours < theirs, "{ours} {theirs}");
    assert!(
        (ours - beside.objective).abs() < 1e-6 * ours,
        "{ours} {}",
        beside.objective
    );
    assert!(
        beside.gap().is_some_and(|gap| gap < 1e-3),
        "{:?}",
        beside.gap()
    );
}
