//! Strategies on spaces that are not balls: the loop runs, stays in the space and finds the target.
#![allow(clippy::unwrap_used)]

use rand_distr::{Distribution as _, StandardNormal};
use taskscout::data::{Samples, Stage};
use taskscout::features::{FeatureMap, apply_row};
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::space::{LinearConstraint, Space, TaskSpace as _};
use taskscout::strategy::{Plan, StrategyConfig, StrategyKind};
use taskscout::study::{Study, StudyConfig};
use taskscout::target::Target;

/// Inputs.
const D: usize = 12;
const NOISE: f64 = 0.3;

/// `y = x · (C ψ(w)) + noise` with a `D × d` matrix `C` of rank two.
struct World {
    features: FeatureMap,
    coefficients: Vec<Vec<f64>>,
    noise: f64,
}

impl World {
    /// Two task features matter: the first and the last, one to each of two directions of inputs.
    fn new(features: FeatureMap, d: usize) -> Self {
        let mut coefficients = vec![vec![0.0; d]; D];
        coefficients[0][0] = 1.0;
        coefficients[1][0] = -1.0;
        coefficients[2][d - 1] = 1.0;
        coefficients[3][d - 1] = 0.5;
        Self {
            features,
            coefficients,
            noise: NOISE,
        }
    }

    fn truth(&self, task: &[f64]) -> Vec<f64> {
        let features = apply_row(&self.features, task);
        let dot = |row: &Vec<f64>| row.iter().zip(&features).map(|(a, b)| a * b).sum();
        self.coefficients.iter().map(dot).collect()
    }

    fn sample(&self, task: &[f64], n: usize, rng: &mut Rng) -> Samples {
        let truth = self.truth(task);
        let mut normal = || -> f64 { StandardNormal.sample(rng) };
        let inputs: Vec<f64> = (0..n * D).map(|_| normal()).collect();
        let rows = inputs.chunks_exact(D);
        let outputs = rows
            .map(|x| x.iter().zip(&truth).map(|(a, b)| a * b).sum::<f64>() + self.noise * normal())
            .collect();
        Samples::new(inputs, D, outputs, 1).unwrap()
    }
}

/// Runs some rounds and gives the plans and the error of the predictor that is handed back.
fn run(
    space: &Space,
    features: &FeatureMap,
    d: usize,
    kind: StrategyKind,
    target: &[f64],
) -> (Vec<Plan>, f64) {
    let world = World::new(features.clone(), d);
    run_in(&world, 2, space, kind, target)
}

/// The same in a world, with a representation of so many directions.
fn run_in(
    world: &World,
    k: usize,
    space: &Space,
    kind: StrategyKind,
    target: &[f64],
) -> (Vec<Plan>, f64) {
    let mut study = Study::new(StudyConfig {
        task_features: world.features.clone(),
        k: Some(k),
        seed: 3,
        ..StudyConfig::new(
            space.clone(),
            FeatureMap::identity(D).unwrap(),
            vec![Target::unknown("target")],
            StrategyConfig::new(kind),
        )
        .unwrap_or_else(|_| unreachable!())
    })
    .unwrap();
    let mut rng = derive(1, Purpose::Collect, &[]);
    study
        .tell_target(0, &world.sample(target, 60, &mut rng))
        .unwrap();
    let mut plans = Vec::new();
    for _ in 0..4 {
        let plan = study.ask(400).unwrap();
        assert_eq!(plan.budget(), 400, "no sample is lost");
        for item in &plan.items {
            assert!(space.contains(&item.task), "{kind}: {:?}", item.task);
            study
                .tell(item.id, &world.sample(&item.task, item.n, &mut rng))
                .unwrap();
        }
        plans.push(plan);
    }
    let choice = study.predictors().unwrap()[0].clone();
    let predictor = choice.predictor().unwrap();
    let truth = world.truth(target);
    let error = predictor.coefficients[0]
        .iter()
        .zip(&truth)
        .map(|(a, b)| (a - b).powi(2))
        .sum();
    (plans, error)
}

/// Spaces with features, their number, and a target in each.
fn spaces() -> Vec<(&'static str, Space, FeatureMap, usize, Vec<f64>)> {
    let mut rng = derive(0, Purpose::Test, &[]);
    let rows: Vec<Vec<f64>> = (0..60)
        .map(|_| (0..5).map(|_| StandardNormal.sample(&mut rng)).collect())
        .collect();
    let cube = Space::boxed(vec![-1.0; 2], vec![1.0; 2]).unwrap();
    let cut = LinearConstraint {
        normal: vec![1.0, 1.0],
        bound: 1.0,
    };
    let quadratic = FeatureMap::polynomial(2, 2, true).unwrap();
    vec![
        (
            "list",
            Space::list(&rows).unwrap(),
            FeatureMap::identity(5).unwrap(),
            5,
            rows[7].clone(),
        ),
        (
            "one-hot",
            Space::one_hot(6).unwrap(),
            FeatureMap::identity(6).unwrap(),
            6,
            unit(6, 5),
        ),
        ("box", cube.clone(), quadratic.clone(), 6, vec![0.5, -0.5]),
        (
            "cut",
            Space::constrained(cube, vec![cut]).unwrap(),
            quadratic,
            6,
            vec![0.2, 0.6],
        ),
    ]
}

fn unit(dim: usize, index: usize) -> Vec<f64> {
    (0..dim)
        .map(|i| if i == index { 1.0 } else { 0.0 })
        .collect()
}

#[test]
fn every_strategy_plans_on_every_space_and_beats_noise() {
    for (name, space, features, d, target) in spaces() {
        // Sampling related tasks has tests of its own.
        let hidden = |kind: &StrategyKind| !kind.needs_known_targets();
        for kind in StrategyKind::ALL.into_iter().filter(hidden) {
            if kind.needs_finite_space() && space.count().is_none() {
                continue;
            }
            let (_, error) = run(&space, &features, d, kind, &target);
            // 60 target samples alone have an expected error of 12 · 0.09 / 48 = 0.0225.
            assert!(error < 0.02, "{name} {kind}: {error}");
        }
    }
}

#[test]
fn exploitation_goes_where_the_target_is() {
    let (_, space, features, d, target) = spaces().remove(1);
    for kind in [
        StrategyKind::Aware,
        StrategyKind::DiscreteL1,
        StrategyKind::DiscreteL2,
    ] {
        let (plans, _) = run(&space, &features, d, kind, &target);
        let last = plans.last().unwrap();
        let exploit = last
            .items
            .iter()
            .filter(|item| item.stage == Stage::Exploit);
        let most = exploit.max_by_key(|item| item.n).unwrap();
        assert_eq!(most.task.parameters(), target, "{kind}: {}", most.reason);
        assert!(most.similarity.unwrap() > 0.95);
        assert!(!most.reason.is_empty());
    }
}

/// Without noise an estimate of more directions than there are holds rounding alone in the others.
#[test]
fn data_without_noise_is_sampled_by_relevance() {
    for (name, space, features, d, target) in spaces().into_iter().take(2) {
        let world = World {
            noise: 0.0,
            ..World::new(features, d)
        };
        for kind in [StrategyKind::DiscreteL1, StrategyKind::DiscreteL2] {
            for k in 1..=4 {
                let (_, error) = run_in(&world, k, &space, kind, &target);
                assert!(k == 1 || error < 1e-6, "{name} {kind} {k}: {error}");
            }
        }
    }
}

#[test]
fn warm_ups_look_at_every_direction() {
    for (name, space, features, d, target) in spaces() {
        let (plans, _) = run(&space, &features, d, StrategyKind::Aware, &target);
        let tasks: Vec<Vec<f64>> = plans[0]
            .items
            .iter()
            .map(|item| apply_row(&features, &item.task))
            .collect();
        let matrix = faer::Mat::from_fn(tasks.len(), d, |i, j| tasks[i][j]);
        let values = matrix.singular_values().unwrap();
        assert!(
            values.len() == d && values[d - 1] > 0.1,
            "{name}: {values:?}"
        );
    }
}

#[test]
fn a_list_of_many_tasks_is_no_trouble() {
    let mut rng = derive(5, Purpose::Test, &[]);
    let rows: Vec<f64> = (0..50_000 * 5)
        .map(|_| StandardNormal.sample(&mut rng))
        .collect();
    let list = taskscout::space::List::from_rows(5, rows).unwrap();
    let target = list.get(123).unwrap().to_vec();
    let features = FeatureMap::identity(5).unwrap();
    for kind in [StrategyKind::Passive, StrategyKind::Aware] {
        let (plans, error) = run(&Space::List(list.clone()), &features, 5, kind, &target);
        assert!(plans.iter().all(|plan| plan.items.len() <= 60), "{kind}");
        assert!(error < 0.02, "{kind}: {error}");
    }
}

#[test]
fn the_same_seed_gives_the_same_plans() {
    for (name, space, features, d, target) in spaces() {
        let (one, _) = run(&space, &features, d, StrategyKind::Aware, &target);
        let (other, _) = run(&space, &features, d, StrategyKind::Aware, &target);
        assert_eq!(one, other, "{name}");
    }
}

/// With the worst target in view, no target fares worse than the worst does under the mean.
#[test]
fn the_worst_of_several_targets_can_be_served() {
    use taskscout::prelude::*;
    use taskscout::strategy::Serve;
    let map = |task: &[f64]| {
        [
            task[0] + 0.1 * task[3],
            0.4 * task[1],
            0.2 * task[2] - 0.1 * task[4],
        ]
    };
    let rows = |task: &[f64], n: usize, draw: u64| {
        let mut rng = derive(3, Purpose::Collect, &[draw]);
        let x: Vec<f64> = (0..8 * n).map(|_| normal(&mut rng)).collect();
        let c = map(task);
        let y = x
            .chunks(8)
            .map(|x| c[0] * x[0] + c[1] * x[1] + c[2] * x[2] + 0.1 * normal(&mut rng));
        let y = y.collect();
        Samples::new(x, 8, y, 1).unwrap()
    };
    let targets = [[1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 3.0, 0.0, 0.0]];
    let exploited = |serve: Serve| {
        let mut config = Study::builder(Space::ball(5, 1.0).unwrap())
            .inputs(8)
            .target(Target::unknown("near"))
            .target(Target::unknown("far"))
            .k(3)
            .build()
            .unwrap()
            .config()
            .clone();
        config.strategy.serve = serve;
        let text = serde_json::to_string(&config.strategy).unwrap();
        assert_eq!(config.strategy, serde_json::from_str(&text).unwrap());
        let mut study = Study::new(config).unwrap();
        for (index, target) in targets.iter().enumerate() {
            study
                .tell_target(index, &rows(target, 400, 50 + index as u64))
                .unwrap();
        }
        for item in study.ask(2000).unwrap().items {
            study
                .tell(item.id, &rows(&item.task, item.n, item.id))
                .unwrap();
        }
        let plan = study.ask(2000).unwrap();
        let far: usize = plan
            .items
            .iter()
            .filter(|item| item.stage == Stage::Exploit && item.task[2].abs() > 0.7)
            .map(|item| item.n)
            .sum();
        let all: usize = plan
            .items
            .iter()
            .filter(|item| item.stage == Stage::Exploit)
            .map(|item| item.n)
            .sum();
        far as f64 / all as f64
    };
    // The second target is three times as long as the tasks, so a share q of the samples leaves it the error 9/q: the
    // mean gives it 3/4 of them, and the worst case, in which both errors are the same, 9/10.
    let (mean, worst) = (exploited(Serve::Mean), exploited(Serve::Worst));
    assert!(
        (mean - 0.75).abs() < 0.05 && (worst - 0.9).abs() < 0.05,
        "{mean} {worst}"
    );
}
