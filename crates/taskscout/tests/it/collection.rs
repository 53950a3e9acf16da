//! Costs, batches, episodes and limits of a study's plans.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use rand_distr::{Distribution as _, StandardNormal};
use taskscout::data::Samples;
use taskscout::features::FeatureMap;
use taskscout::rng::{Purpose, derive};
use taskscout::space::{List, Space};
use taskscout::strategy::{Plan, StrategyConfig, StrategyKind};
use taskscout::study::{Collection, Study, StudyConfig};
use taskscout::target::Target;
use taskscout::task::TaskId;

const D: usize = 6;

fn rows(task: &[f64], n: usize, draw: u64) -> Samples {
    let mut rng = derive(8, Purpose::Collect, &[draw]);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let x: Vec<f64> = (0..D * n).map(|_| normal()).collect();
    let (w, v) = (task[0], task[1]);
    let y = x
        .chunks(D)
        .map(|x| w * (x[0] - x[2]) + w * w * x[1] + v * x[3] + 0.4 * x[4] + 0.3 * normal());
    let y = y.collect();
    Samples::new(x, D, y, 1).unwrap()
}

fn study(kind: StrategyKind, collection: Collection) -> Study {
    let config = StudyConfig::new(
        Space::boxed(vec![-1.0, -1.0], vec![1.0, 1.0]).unwrap(),
        FeatureMap::identity(D).unwrap(),
        vec![Target::unknown("t")],
        StrategyConfig::new(kind),
    );
    let config = StudyConfig {
        task_features: FeatureMap::polynomial(2, 2, true).unwrap(),
        collection,
        ..config.unwrap()
    };
    Study::new(config).unwrap()
}

fn run(study: &mut Study, rounds: usize, budget: usize) -> Vec<Plan> {
    study.tell_target(0, &rows(&[0.5, 0.3], 40, 999)).unwrap();
    let plans = (0..rounds).map(|_| {
        let plan = study.ask(budget).unwrap();
        for item in &plan.items {
            study
                .tell(item.id, &rows(&item.task, item.n, item.id))
                .unwrap();
        }
        plan
    });
    plans.collect()
}

#[test]
fn plans_cost_what_they_may_and_batches_are_worth_a_switch() {
    let collection = Collection {
        sample_cost: 0.5,
        switch_cost: 40.0,
        smallest_batch: 30,
        ..Collection::default()
    };
    for kind in [
        StrategyKind::Passive,
        StrategyKind::Agnostic,
        StrategyKind::Aware,
    ] {
        let plans = run(&mut study(kind, collection.clone()), 3, 1000);
        for plan in plans {
            let tasks = plan.items.len() as f64;
            let cost = 40.0 * tasks + 0.5 * plan.budget() as f64;
            assert!(cost <= 1000.0 && cost > 900.0, "{kind}: {cost}");
            assert!(plan.items.iter().all(|item| item.n >= 30), "{kind}");
            assert_eq!(plan.short, 0);
        }
    }
}

/// Dear switches make for fewer tasks, and the model is none the worse for the money.
#[test]
fn dear_switches_are_saved() {
    let tasks = |switch_cost: f64| {
        let collection = Collection {
            switch_cost,
            ..Collection::default()
        };
        let mut study = study(StrategyKind::Aware, collection);
        run(&mut study, 3, 1200)
            .iter()
            .map(|plan| plan.items.len())
            .sum::<usize>()
    };
    let counts = [0.0, 20.0, 120.0].map(tasks);
    assert!(
        counts[0] > counts[1] && counts[1] >= counts[2],
        "{counts:?}"
    );
    assert!(counts[2] <= 27, "{counts:?}");
}

#[test]
fn caps_and_episodes_are_kept() {
    let collection = Collection {
        max_tasks: Some(4),
        episode: 25,
        smallest_batch: 30,
        ..Collection::default()
    };
    for kind in [StrategyKind::Passive, StrategyKind::Aware] {
        for plan in run(&mut study(kind, collection.clone()), 3, 1010) {
            assert!(plan.items.len() <= 4, "{kind}: {}", plan.items.len());
            assert!(
                plan.items
                    .iter()
                    .all(|item| item.n.is_multiple_of(25) && item.n >= 50)
            );
            assert!(
                plan.budget() <= 1010 && plan.budget() > 900,
                "{}",
                plan.budget()
            );
        }
    }
}

#[test]
fn tasks_that_are_forbidden_or_used_up_are_not_asked_for() {
    let names = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
    let tasks: Vec<Vec<f64>> = (0..4).map(|i| vec![f64::from(i) / 3.0, 0.5]).collect();
    let list = List::named(names, &tasks).unwrap();
    let config = StudyConfig::new(
        Space::List(list),
        FeatureMap::identity(D).unwrap(),
        vec![Target::unknown("t")],
        StrategyConfig::new(StrategyKind::Passive),
    );
    let config = StudyConfig {
        collection: Collection {
            forbidden: [TaskId::from("b")].into(),
            most_of_a_task: Some(50),
            ..Collection::default()
        },
        ..config.unwrap()
    };
    let mut study = Study::new(config).unwrap();
    let mut total = 0;
    for _ in 0..2 {
        let plan = study.ask(100).unwrap();
        total += plan.budget();
        assert!(plan.items.iter().all(|item| item.task.id.as_str() != "b"));
        for item in plan.items {
            study
                .tell(item.id, &rows(&item.task, item.n, item.id))
                .unwrap();
        }
    }
    assert_eq!(total, 150);
    assert!(study.data().rows_by_task().iter().all(|(_, n)| *n == 50));
    assert!(study.ask(10).is_err());
    let again = Study::restore(&study.snapshot().unwrap()).unwrap();
    assert_eq!(again.config().collection, study.config().collection);
}

#[test]
fn settings_that_make_no_sense_are_refused_by_name() {
    let refused = |collection: Collection| {
        let config = study(StrategyKind::Passive, Collection::default())
            .config()
            .clone();
        let config = StudyConfig {
            collection,
            ..config
        };
        Study::new(config).unwrap_err().to_string()
    };
    let plain = Collection::default;
    for (key, collection) in [
        (
            "collection.sample_cost",
            Collection {
                sample_cost: 0.0,
                ..plain()
            },
        ),
        (
            "collection.switch_cost",
            Collection {
                switch_cost: f64::NAN,
                ..plain()
            },
        ),
        (
            "collection.smallest_batch",
            Collection {
                smallest_batch: 0,
                ..plain()
            },
        ),
        (
            "collection.episode",
            Collection {
                episode: 0,
                ..plain()
            },
        ),
        (
            "collection.max_tasks",
            Collection {
                max_tasks: Some(0),
                ..plain()
            },
        ),
    ] {
        assert!(refused(collection).contains(key), "{key}");
    }
    let mut dear = study(
        StrategyKind::Passive,
        Collection {
            switch_cost: 100.0,
            smallest_batch: 20,
            ..plain()
        },
    );
    let told = dear.ask(110).unwrap_err().to_string();
    assert!(told.contains("one task costs at least 120"), "{told}");
}

/// Two winds teach the same, and one costs a tenth: it is the one to fly, although the strategy named either.
#[test]
fn cheap_tasks_are_preferred_where_they_teach_as_much() {
    let tasks: Vec<Vec<f64>> = (0..12)
        .map(|i| vec![f64::from(i / 2) / 3.0 - 1.0, f64::from(i / 2 % 3) / 2.0])
        .collect();
    let names: Vec<String> = (0..12).map(|i| format!("w{i}")).collect();
    let costs = |dear: f64| -> Collection {
        let cost = |i: usize| if i.is_multiple_of(2) { dear } else { 1.0 };
        let task_costs = (0..12).map(|i| (TaskId::from(format!("w{i}").as_str()), cost(i)));
        Collection {
            task_costs: task_costs.collect(),
            ..Collection::default()
        }
    };
    for kind in [StrategyKind::Agnostic, StrategyKind::Aware] {
        let config = study(kind, costs(10.0)).config().clone();
        let list = List::named(names.clone(), &tasks).unwrap();
        let config = StudyConfig {
            space: Space::List(list),
            task_features: FeatureMap::polynomial(2, 1, true).unwrap(),
            ..config
        };
        let mut study = Study::new(config).unwrap();
        let plans = run(&mut study, 3, 600);
        for plan in &plans {
            let cost = |id: &TaskId| study.config().collection.cost_of(id);
            let dear = plan.items.iter().filter(|item| cost(&item.task.id) > 1.0);
            assert_eq!(dear.count(), 0, "{kind}: {plan:#?}");
            let spent: f64 = plan
                .items
                .iter()
                .map(|i| cost(&i.task.id) * i.n as f64)
                .sum();
            assert!(spent <= 600.0 && spent > 540.0, "{kind}: {spent}");
        }
        assert!(study.spent() > 1600.0 && study.spent() <= 1800.0);
    }
    let message = Study::new(StudyConfig {
        collection: costs(-1.0),
        ..study(StrategyKind::Aware, Collection::default())
            .config()
            .clone()
    })
    .unwrap_err()
    .to_string();
    assert!(message.contains("collection.task_costs.w0"), "{message}");
}

/// A plan with a model of earlier data trains nothing, and is the plan that the model gives.
#[test]
fn a_plan_can_be_made_with_the_model_of_earlier_data() {
    let mut study = study(StrategyKind::Aware, Collection::default());
    run(&mut study, 2, 400);
    let model = study.planning_model().unwrap();
    let same = study.planning_with(std::sync::Arc::clone(&model)).unwrap();
    let ask = taskscout::study::Command::Ask {
        budget: 300,
        available: None,
    };
    assert_eq!(same.decide(&ask).unwrap(), study.decide(&ask).unwrap());
    study
        .add(
            &taskscout::task::Task::new("late", vec![0.2, 0.1]),
            &rows(&[0.2, 0.1], 30, 77),
        )
        .unwrap();
    let event = study.planning_with(model).unwrap().decide(&ask).unwrap();
    study.apply(event).unwrap();
    let other = self::study(StrategyKind::Aware, Collection::default());
    let wide = Study::new(StudyConfig {
        task_features: FeatureMap::polynomial(2, 1, true).unwrap(),
        ..other.config().clone()
    });
    let wide = wide.unwrap();
    assert!(wide.planning_with(study.planning_model().unwrap()).is_err());
}
