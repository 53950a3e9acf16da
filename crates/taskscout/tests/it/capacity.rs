//! Plans within what tasks have left: no sample too many, none too few, and the best use of the rest.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;

use faer::Mat;
use proptest::prelude::*;
use rand_distr::{Distribution as _, StandardNormal};
use taskscout::Error;
use taskscout::data::{Samples, Stage};
use taskscout::design::Criterion;
use taskscout::features::FeatureMap;
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::space::{Space, TaskSpace as _};
use taskscout::strategy::{Exploit, Plan, Split, StrategyConfig, StrategyKind};
use taskscout::study::{Needs, Study, StudyConfig};
use taskscout::target::Target;
use taskscout::task::Task;

/// Inputs.
const D: usize = 8;
const NOISE: f64 = 0.3;

/// `y = x · (C w) + noise` with a matrix `C` of rank two that has something for every parameter.
fn sample(task: &[f64], n: usize, rng: &mut Rng) -> Samples {
    let sum = |f: &dyn Fn(f64) -> f64| -> f64 {
        let parts = task.iter().enumerate().map(|(i, w)| w * f(i as f64));
        parts.sum()
    };
    let c = [sum(&|i| (1.0 + i).cos()), sum(&|i| (0.7 * i).sin() + 0.3)];
    let mut normal = || -> f64 { StandardNormal.sample(rng) };
    let inputs: Vec<f64> = (0..n * D).map(|_| normal()).collect();
    let outputs = inputs
        .chunks_exact(D)
        .map(|x| c[0] * (x[0] - x[3]) + c[1] * (x[1] + 0.5 * x[2]) + NOISE * normal())
        .collect();
    Samples::new(inputs, D, outputs, 1).unwrap()
}

fn list() -> Space {
    let mut rng = derive(0, Purpose::Test, &[]);
    let rows: Vec<Vec<f64>> = (0..15)
        .map(|_| (0..5).map(|_| StandardNormal.sample(&mut rng)).collect())
        .collect();
    Space::list(&rows).unwrap()
}

fn one_hot() -> Space {
    Space::one_hot(6).unwrap()
}

fn study(space: &Space, strategy: StrategyConfig, seed: u64) -> Study {
    let mut study = Study::new(StudyConfig {
        k: Some(2),
        seed,
        ..StudyConfig::new(
            space.clone(),
            FeatureMap::identity(D).unwrap(),
            vec![Target::unknown("target")],
            strategy,
        )
        .unwrap()
    })
    .unwrap();
    let target: Vec<f64> = (0..space.dim()).map(|i| 0.2 + 0.1 * i as f64).collect();
    let mut rng = derive(seed, Purpose::Target, &[]);
    study
        .tell_target(0, &sample(&target, 40, &mut rng))
        .unwrap();
    study
}

fn tell(study: &mut Study, plan: &Plan) {
    for item in &plan.items {
        let mut rng = derive(0, Purpose::Collect, &[item.id]);
        let rows = sample(&item.task, item.n, &mut rng);
        study.tell(item.id, &rows).unwrap();
    }
}

fn key(task: &[f64]) -> Vec<u64> {
    task.iter().map(|value| value.to_bits()).collect()
}

/// What tasks have in all, and what of it has been taken.
#[derive(Debug, Clone)]
struct Stock(HashMap<Vec<u64>, Option<usize>>);

impl Stock {
    fn new(space: &Space, amounts: &[Option<usize>]) -> Self {
        let tasks = space.tasks().unwrap();
        let amounts = amounts.iter().cycle();
        Self(
            tasks
                .iter()
                .map(|task| key(task))
                .zip(amounts.copied())
                .collect(),
        )
    }

    fn left(&self, task: &[f64]) -> Option<usize> {
        self.0[&key(task)]
    }

    fn total(&self) -> usize {
        let left = self.0.values().map(|left| left.unwrap_or(usize::MAX));
        left.fold(0, usize::saturating_add)
    }

    /// Takes a plan out; fails where there is too little.
    fn take(&mut self, plan: &Plan) {
        for item in &plan.items {
            assert!(item.n > 0, "{item:?}");
            if let Some(left) = self.0.get_mut(&key(&item.task)).unwrap() {
                let rest = left.checked_sub(item.n);
                *left = rest.unwrap_or_else(|| unreachable!("{item:?} of {left} left"));
            }
        }
    }
}

fn counts(plan: &Plan) -> HashMap<Vec<u64>, usize> {
    let mut counts = HashMap::new();
    for item in &plan.items {
        *counts.entry(key(&item.task)).or_default() += item.n;
    }
    counts
}

/// The strategies, and two with settings that plan in ways of their own.
fn strategies() -> Vec<StrategyConfig> {
    let aware = StrategyConfig::new(StrategyKind::Aware);
    // Sampling related tasks has tests of its own.
    let hidden = |kind: &StrategyKind| !kind.needs_known_targets();
    let kinds = StrategyKind::ALL.into_iter().filter(hidden);
    let mut all: Vec<StrategyConfig> = kinds.map(StrategyConfig::new).collect();
    all.push(StrategyConfig {
        save_task: true,
        ..aware
    });
    all.push(StrategyConfig {
        exploit: Exploit::Nearest,
        exploit_criterion: Criterion::MaxEigenvalue,
        ..aware
    });
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn every_sample_there_is_and_none_more(
        amounts in prop::collection::vec(prop::option::weighted(0.9, 0_usize..70), 15),
        budgets in prop::collection::vec(24_usize..150, 4),
        seed in 0_u64..1000,
    ) {
        for space in [one_hot(), list()] {
            for strategy in strategies() {
                let mut study = study(&space, strategy, seed);
                let mut stock = Stock::new(&space, &amounts);
                for &budget in &budgets {
                    let total = stock.total();
                    if total == 0 {
                        break;
                    }
                    let again = study.clone().ask_within(budget, &|task| stock.left(task));
                    let plan = study.ask_within(budget, &|task| stock.left(task)).unwrap();
                    prop_assert_eq!(&again.unwrap(), &plan, "same seed, same plan");
                    prop_assert_eq!(plan.budget(), budget.min(total), "{:?}", strategy);
                    prop_assert_eq!(plan.short, budget - plan.budget());
                    stock.take(&plan);
                    tell(&mut study, &plan);
                }
            }
        }
    }
}

#[test]
fn a_study_uses_up_all_there_is_and_says_so() {
    for space in [one_hot(), list()] {
        for strategy in strategies() {
            let mut study = study(&space, strategy, 1);
            let amounts = [13, 0, 90, 41, 200, 7, 64].map(Some);
            let mut stock = Stock::new(&space, &amounts);
            let (all, mut got) = (stock.total(), 0);
            while stock.total() > 0 {
                let plan = study.ask_within(60, &|task| stock.left(task)).unwrap();
                assert_eq!(plan.short == 0, plan.budget() == 60);
                stock.take(&plan);
                tell(&mut study, &plan);
                got += plan.budget();
            }
            assert_eq!((got, study.data().source_rows()), (all, all));
            let error = study.ask_within(60, &|task| stock.left(task)).unwrap_err();
            let Error::State(message) = &error else {
                unreachable!("{error:?}")
            };
            assert!(
                message.starts_with("no task has rows left: none of the"),
                "{message}"
            );
            study.predictors().unwrap();
        }
    }
}

#[test]
fn with_room_enough_the_plan_is_that_without_limits() {
    for space in [one_hot(), list()] {
        for strategy in strategies() {
            let mut study = study(&space, strategy, 2);
            for _ in 0..4 {
                let mut free = study.clone();
                let plan = free.ask(80).unwrap();
                assert_eq!(study.clone().ask_within(80, &|_| None).unwrap(), plan);
                // Exactly what the plan takes, and one to spare elsewhere.
                let taken = counts(&plan);
                let left = |task: &Task| Some(taken.get(&key(task)).copied().unwrap_or(1));
                assert_eq!(study.ask_within(80, &left).unwrap(), plan);
                let bytes = |study: &Study| serde_json::to_string(study).unwrap();
                assert_eq!(bytes(&study), bytes(&free));
                tell(&mut study, &plan);
            }
        }
    }
}

#[test]
fn a_plan_without_limits_is_written_as_before() {
    let plan = study(&one_hot(), StrategyConfig::new(StrategyKind::Passive), 0)
        .ask_within(80, &|_| Some(5))
        .unwrap();
    assert_eq!((plan.budget(), plan.short), (30, 50));
    let text = serde_json::to_string(&plan).unwrap();
    assert!(text.ends_with(r#","short":50}"#), "{text}");
    let whole = Plan { short: 0, ..plan };
    let text = serde_json::to_string(&whole).unwrap();
    assert!(!text.contains("short"));
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), whole);
}

/// The nearest task that has anything left, and what it cannot give from the next.
#[test]
fn the_nearest_task_with_rows_left_serves_the_target() {
    let space = one_hot();
    let strategy = StrategyConfig {
        exploit: Exploit::Nearest,
        ..StrategyConfig::new(StrategyKind::Aware)
    };
    let mut study = study(&space, strategy, 3);
    let plan = study.ask(300).unwrap();
    tell(&mut study, &plan);
    let exploited = |study: &Study, left: &dyn Fn(&Task) -> Option<usize>| {
        let plan = study.clone().ask_within(100, left).unwrap();
        let serves = |item: &&taskscout::strategy::PlanItem| item.stage == Stage::Exploit;
        let items = plan.items.iter().filter(serves);
        items
            .map(|item| (item.task.clone(), item.n))
            .collect::<Vec<_>>()
    };
    let first = exploited(&study, &|_| None)[0].0.clone();
    let gone = exploited(&study, &|task| Some(if *task == first { 0 } else { 500 }));
    let second = gone[0].0.clone();
    assert_ne!(second, first);
    let few = exploited(&study, &|task| Some(if *task == first { 4 } else { 500 }));
    assert_eq!(few[0], (first, 4));
    assert_eq!(few[1].0, second);
}

#[test]
fn a_budget_too_small_is_still_refused_but_the_last_rows_are_not() {
    let mut study = study(&one_hot(), StrategyConfig::new(StrategyKind::Aware), 0);
    let refused = |result| matches!(result, Err(Error::BudgetTooSmall { .. }));
    assert!(refused(study.ask(4)));
    assert!(refused(study.ask_within(4, &|_| Some(50))));
    // Two tasks that have anything left need no more than two samples.
    let two = |task: &Task| Some(if task[0] + task[1] > 0.5 { 50 } else { 0 });
    assert_eq!(study.clone().ask_within(4, &two).unwrap().items.len(), 2);
    let one = |task: &Task| Some(if task[0] + task[1] > 0.5 { 1 } else { 0 });
    let plan = study.ask_within(4, &one).unwrap();
    assert_eq!((plan.budget(), plan.short), (2, 2));
}

#[test]
fn in_an_infinite_space_the_other_tasks_of_the_plan_take_over() {
    let space = Space::ball(4, 1.0).unwrap();
    for kind in [StrategyKind::Passive, StrategyKind::Aware] {
        let mut study = study(&space, StrategyConfig::new(kind), 5);
        for _ in 0..2 {
            let free = study.clone().ask(100).unwrap();
            let wanted = counts(&free);
            let first = &free.items[0].task;
            let few = |task: &Task| (task == first).then_some(3);
            let plan = study.clone().ask_within(100, &few).unwrap();
            assert_eq!((plan.budget(), plan.short), (100, 0));
            for (task, n) in counts(&plan) {
                if task == key(first) {
                    assert_eq!(n, 3);
                } else {
                    assert!(n >= wanted[&task], "{n} of {}", wanted[&task]);
                }
            }
            let two = study.clone().ask_within(100, &|_| Some(2)).unwrap();
            assert_eq!(two.budget() + two.short, 100);
            assert!(counts(&two).values().all(|&n| n == 2));
            let none = study.clone().ask_within(100, &|_| Some(0)).unwrap_err();
            assert!(
                none.to_string().contains("tasks of the plan can give"),
                "{none}"
            );
            assert_eq!(study.ask_within(100, &|_| Some(100)).unwrap(), free);
            tell(&mut study, &free);
        }
    }
}

/// `tr(Σ⁻¹ A)` of a sample, for exploit counts by one-hot index.
fn value(needs: &Needs, counts: &[usize]) -> f64 {
    let k = needs.map.nrows();
    let total: usize = counts.iter().sum();
    let mut information = Mat::<f64>::zeros(k, k);
    for (task, &n) in counts.iter().enumerate() {
        for i in 0..k {
            for j in 0..k {
                let c = needs.map[(i, task)] * needs.map[(j, task)];
                information[(i, j)] += n as f64 / total as f64 * c;
            }
        }
    }
    let value = Criterion::Trace.value(information.as_ref(), needs.moment.as_ref());
    value.unwrap_or(f64::INFINITY)
}

fn exploited(plan: &Plan) -> Vec<usize> {
    let mut counts = vec![0; plan.items[0].task.len()];
    for item in plan
        .items
        .iter()
        .filter(|item| item.stage == Stage::Exploit)
    {
        counts[item.task.iter().position(|&w| w > 0.5).unwrap()] += item.n;
    }
    counts
}

/// Cuts counts to what there is and gives the rest to the others in proportion.
fn cut_and_renormalise(counts: &[usize], left: &[usize]) -> Vec<usize> {
    let total: usize = counts.iter().sum();
    let mut out: Vec<f64> = counts.iter().map(|&n| n as f64).collect();
    for _ in 0..counts.len() {
        let full = |i: &usize| out[*i] >= left[*i] as f64;
        let (full, free): (Vec<usize>, Vec<usize>) = (0..out.len()).partition(full);
        let fixed: f64 = full.iter().map(|&i| left[i] as f64).sum();
        let rest: f64 = free.iter().map(|&i| out[i]).sum();
        full.iter().for_each(|&i| out[i] = left[i] as f64);
        free.iter()
            .for_each(|&i| out[i] *= (total as f64 - fixed) / rest.max(1e-9));
    }
    out.iter().map(|n| n.round() as usize).collect()
}

#[test]
fn exploitation_makes_the_best_of_what_is_left() {
    let (space, mut better, mut compared) = (one_hot(), 0, 0);
    for seed in 0..30 {
        let strategy = StrategyConfig {
            split: Split::Share { explore: 0.25 },
            ..StrategyConfig::new(StrategyKind::Aware)
        };
        let mut study = study(&space, strategy, seed);
        let plan = study.ask(240).unwrap();
        tell(&mut study, &plan);
        let needs = study.needs().unwrap();
        let free = exploited(&study.clone().ask(800).unwrap());
        let main = (0..6).max_by_key(|&i| free[i]).unwrap();
        let mut rng = derive(seed, Purpose::Test, &[]);
        let left: Vec<usize> = (0..6)
            .map(|i| {
                if i == main {
                    free[i] / rng.random_range(2..20)
                } else {
                    700
                }
            })
            .collect();
        let available = |task: &Task| Some(left[task.iter().position(|&w| w > 0.5).unwrap()]);
        let ours = exploited(&study.ask_within(800, &available).unwrap());
        assert_eq!(ours.iter().sum::<usize>(), free.iter().sum::<usize>());
        assert!(ours[main] <= left[main]);
        let cut = cut_and_renormalise(&free, &left);
        let (ours, cut) = (value(&needs, &ours), value(&needs, &cut));
        // A percent for whole samples and the solver's gap.
        assert!(ours <= 1.01 * cut, "seed {seed}: {ours} against {cut}");
        compared += 1;
        better += usize::from(ours < 0.9 * cut);
    }
    assert!(
        2 * better > compared,
        "solving again pays: {better} of {compared}"
    );
}
