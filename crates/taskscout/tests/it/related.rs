//! Collection from tasks related to known targets, in a study.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use crate::common::{bits, normals, on_threads, rng};
use taskscout::data::{Samples, Stage};
use taskscout::features::FeatureMap;
use taskscout::space::Space;
use taskscout::strategy::{Plan, StrategyConfig, StrategyKind};
use taskscout::study::ForecastRequest;
use taskscout::study::{Oracle, Study, StudyConfig};
use taskscout::target::{Target, TargetParameters};
use taskscout::task::Task;
use taskscout::train::{AveragedPredictor, PartialPooling, PredictorKind};

const D: usize = 4;
const WINDS: [f64; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];

/// Vehicle by one-hot, then the wind.
fn task(vehicle: usize, wind: f64) -> Vec<f64> {
    let mut task = vec![0.0, 0.0, wind];
    task[vehicle] = 1.0;
    task
}

fn sample(task: &[f64], n: usize, seed: u64) -> Samples {
    let rng = &mut rng(seed);
    let mut x = normals(n * D, rng);
    x.chunks_mut(D).for_each(|row| row[0] = 1.0);
    let (vehicle, wind) = (task[1], task[2]);
    let y = x.chunks(D).zip(normals(n, rng)).map(|(x, e)| {
        (1.0 - 3.0 * vehicle) * x[1] + wind * (2.0 * x[2] + 1.0) - vehicle * x[3] + 0.2 * e
    });
    Samples::new(x.clone(), D, y.collect(), 1).unwrap()
}

fn config(targets: Vec<Target>) -> StudyConfig {
    let tasks: Vec<Vec<f64>> = (0..2)
        .flat_map(|vehicle| WINDS.map(|wind| task(vehicle, wind)))
        .collect();
    let powers = [[1, 0, 0], [1, 0, 1], [0, 1, 0], [0, 1, 1]];
    let strategy = StrategyConfig::new(StrategyKind::Related);
    StudyConfig {
        task_features: FeatureMap::monomials(3, powers.map(|row| row.to_vec()).to_vec()).unwrap(),
        oracle: Oracle::Pooled(PartialPooling {
            groups: vec![1, 3],
            ..PartialPooling::default()
        }),
        seed: 3,
        ..StudyConfig::new(
            Space::list(&tasks).unwrap(),
            FeatureMap::identity(D).unwrap(),
            targets,
            strategy,
        )
        .unwrap()
    }
}

fn known(name: &str, vehicle: usize, wind: f64) -> Target {
    Target::known(name, task(vehicle, wind))
}

fn tell(study: &mut Study, plan: &Plan) {
    for item in &plan.items {
        study
            .tell(item.id, &sample(&item.task, item.n, 1000 + item.id))
            .unwrap();
    }
}

fn study(targets: Vec<Target>, rows: usize) -> Study {
    let count = targets.len();
    let mut study = Study::new(config(targets)).unwrap();
    for target in 0..count {
        if let TargetParameters::Known { task } = study.config().targets[target].kind.clone() {
            let samples = sample(&task, rows, target as u64);
            study.tell_target(target, &samples).unwrap();
        }
    }
    study
}

fn rows_of(plan: &Plan, vehicle: usize) -> usize {
    let of = plan.items.iter().filter(|item| item.task[vehicle] > 0.5);
    of.map(|item| item.n).sum()
}

#[test]
fn most_rows_come_from_kin_from_the_first_round_on() {
    let mut study = study(vec![known("new", 1, 0.5)], 10);
    for round in 0..4 {
        let plan = study.ask(120).unwrap();
        assert_eq!((plan.round, plan.budget(), plan.short), (round, 120, 0));
        assert!(plan.items.iter().all(|item| item.n > 0));
        assert!(plan.items.iter().all(|item| item.stage != Stage::WarmUp));
        assert!(rows_of(&plan, 1) >= 108, "{plan:?}");
        let explored: usize = plan
            .items
            .iter()
            .filter(|item| item.stage == Stage::Explore)
            .map(|item| item.n)
            .sum();
        assert_eq!(explored, 12);
        tell(&mut study, &plan);
    }
    assert_eq!(study.data().source_rows(), 480);
    // Every task had its turn.
    assert_eq!(study.data().rows_by_task().len(), 12);
    let choice = &study.predictors().unwrap()[0];
    let predictor = choice.predictor().unwrap();
    let truth = [0.5, -2.0, 1.0, -1.0];
    for (found, truth) in predictor.coefficients[0].iter().zip(truth) {
        assert!((found - truth).abs() < 0.15, "{:?}", predictor.coefficients);
    }
}

#[test]
fn budgets_of_any_size_are_planned_exactly() {
    for budget in [1, 2, 9, 10, 11, 19, 101, 1000, 12_345] {
        let mut study = study(vec![known("new", 0, 0.3)], 6);
        for _ in 0..2 {
            let plan = study.ask(budget).unwrap();
            assert_eq!((plan.budget(), plan.short), (budget, 0));
            tell(&mut study, &plan);
        }
    }
}

#[test]
fn kin_that_are_exhausted_leave_the_rest_to_others() {
    for limit in [1, 7, 40] {
        let mut study = study(vec![known("new", 0, 0.5)], 10);
        let mut given: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
        let total = 12 * limit;
        let mut asked = 0;
        while asked < total {
            let left = |task: &Task| Some(limit - given.get(&bits(task)).copied().unwrap_or(0));
            let plan = study.ask_within(90, &left).unwrap();
            assert_eq!(plan.budget(), 90.min(total - asked));
            assert_eq!(plan.budget() + plan.short, 90);
            if asked == 0 && limit == 40 {
                assert!(rows_of(&plan, 0) >= 81, "{plan:?}");
            }
            for item in &plan.items {
                let given = given.entry(bits(&item.task)).or_default();
                *given += item.n;
                assert!(*given <= limit, "{item:?}");
            }
            asked += plan.budget();
            tell(&mut study, &plan);
        }
        assert!(given.values().all(|&n| n == limit));
        let message = study.ask_within(1, &|_| Some(0)).unwrap_err().to_string();
        assert!(message.contains("no task has rows left"), "{message}");
    }
}

#[test]
fn limits_that_do_not_bind_change_nothing() {
    let plans = [None, Some(100_000)].map(|limit| {
        let mut study = study(vec![known("new", 1, 0.5)], 10);
        let plan = study.ask(200).unwrap();
        tell(&mut study, &plan);
        study.ask_within(200, &|_| limit).unwrap()
    });
    assert_eq!(plans[0], plans[1]);
}

#[test]
fn several_targets_all_get_related_tasks() {
    let mut study = study(vec![known("one", 0, 0.5), known("other", 1, 0.5)], 10);
    for _ in 0..3 {
        let plan = study.ask(200).unwrap();
        assert_eq!(plan.budget(), 200);
        for vehicle in 0..2 {
            assert!(rows_of(&plan, vehicle) >= 50, "{plan:?}");
        }
        tell(&mut study, &plan);
    }
    assert_eq!(study.predictors().unwrap().len(), 2);
}

#[test]
fn targets_without_rows_can_be_planned_for() {
    let mut study = Study::new(config(vec![known("new", 1, 0.5)])).unwrap();
    for _ in 0..2 {
        let plan = study.ask(60).unwrap();
        assert!(rows_of(&plan, 1) >= 54, "{plan:?}");
        tell(&mut study, &plan);
    }
}

#[test]
fn the_same_study_plans_the_same_on_any_number_of_threads_and_from_a_file() {
    let run = || {
        let mut study = study(vec![known("new", 0, 0.9), known("other", 1, 0.1)], 12);
        let plan = study.ask(150).unwrap();
        tell(&mut study, &plan);
        study
    };
    let mut one = on_threads(1, run);
    let mut four = on_threads(4, run);
    let text = serde_json::to_string(&one).unwrap();
    let mut back: Study = serde_json::from_str(&text).unwrap();
    assert_eq!(back.config(), one.config());
    let choices = on_threads(1, || one.predictors().unwrap());
    assert_eq!(choices, on_threads(4, || four.predictors().unwrap()));
    assert_eq!(choices, back.predictors().unwrap());
    let next = on_threads(1, || one.ask(150).unwrap());
    assert_eq!(next, on_threads(4, || four.ask(150).unwrap()));
    assert_eq!(next, back.ask(150).unwrap());
}

/// What a target's rows give is kept while they stay, and no longer.
#[test]
fn new_rows_of_a_target_are_noticed() {
    let mut study = study(vec![known("new", 0, 0.5)], 8);
    let before = study.target_only().unwrap();
    assert_eq!(before, study.target_only().unwrap());
    study.tell_target(0, &sample(&task(0, 0.5), 8, 77)).unwrap();
    let mut fresh = Study::new(config(vec![known("new", 0, 0.5)])).unwrap();
    fresh.tell_target(0, &sample(&task(0, 0.5), 8, 0)).unwrap();
    fresh.tell_target(0, &sample(&task(0, 0.5), 8, 77)).unwrap();
    assert_ne!(before, study.target_only().unwrap());
    assert_eq!(fresh.target_only().unwrap(), study.target_only().unwrap());
}

#[test]
fn what_related_tasks_cannot_be_looked_for_is_refused_at_the_door() {
    let hidden = config(vec![known("seen", 0, 0.5), Target::unknown("hidden")]);
    let endless = StudyConfig {
        space: Space::ball(3, 1.0).unwrap(),
        ..config(vec![known("new", 0, 0.5)])
    };
    for (config, expected) in [
        (
            hidden,
            "is `related`, but the parameters of target `hidden` are not known: name them, or use `aware`",
        ),
        (endless, "is `related`, which needs a finite task space"),
    ] {
        let message = Study::new(config).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

/// Each output is its own function of the tasks; what is known of one says nothing of the other, but both share rows.
#[test]
fn several_outputs_are_pooled_side_by_side() {
    let both = |task: &[f64], n: usize, seed: u64| {
        let first = sample(task, n, seed);
        let second: Vec<f64> = first
            .inputs()
            .chunks(D)
            .map(|x| 5.0 - task[2] * x[1] + 0.5 * x[2])
            .collect();
        let labels = first.outputs().iter().zip(&second);
        let labels = labels.flat_map(|(a, b)| [*a, *b]).collect();
        Samples::new(first.inputs().to_vec(), D, labels, 2).unwrap()
    };
    let one = |rows: &Samples, output: usize| {
        let labels = rows.outputs().iter().skip(output).step_by(2).copied();
        Samples::new(rows.inputs().to_vec(), D, labels.collect(), 1).unwrap()
    };
    let open = |outputs: usize| {
        let config = config(vec![known("new", 1, 0.5)]);
        Study::new(StudyConfig { outputs, ..config }).unwrap()
    };
    let (mut study, mut alone) = (open(2), [open(1), open(1)]);
    let target = both(&task(1, 0.5), 12, 50);
    study.tell_target(0, &target).unwrap();
    for (output, study) in alone.iter_mut().enumerate() {
        study.tell_target(0, &one(&target, output)).unwrap();
    }
    for round in 0..2 {
        let plan = study.ask(200).unwrap();
        assert!(
            plan.items
                .iter()
                .any(|item| item.reason.starts_with("related"))
        );
        for item in &plan.items {
            let told = both(&item.task, item.n, 100 * round + item.id);
            study.tell(item.id, &told).unwrap();
            for (output, study) in alone.iter_mut().enumerate() {
                study.add(&item.task, &one(&told, output)).unwrap();
            }
        }
    }
    let together = study.predictors().unwrap();
    assert_eq!(together[0].kind, PredictorKind::Shared);
    for (output, study) in alone.iter().enumerate() {
        let alone = study.predictors().unwrap();
        let of = |choice: &AveragedPredictor, at: usize| {
            let shared = choice.candidate(PredictorKind::Shared).unwrap();
            shared.coefficients[at].clone()
        };
        for (a, b) in of(&together[0], output).iter().zip(of(&alone[0], 0)) {
            assert!((a - b).abs() < 1e-9, "output {output}: {a} and {b}");
        }
    }
    let truth = [[0.5, -2.0, 1.0, -1.0], [5.0, -0.5, 0.5, 0.0]];
    for (found, truth) in together[0].returned.coefficients.iter().zip(truth) {
        for (a, b) in found.iter().zip(truth) {
            assert!((a - b).abs() < 0.25, "{found:?} is not {truth:?}");
        }
    }
}

#[test]
fn forecasts_say_what_rows_of_kin_and_of_the_target_bring() {
    let mut study = study(vec![known("new", 1, 0.5)], 10);
    let plan = study.ask(60).unwrap();
    tell(&mut study, &plan);
    let forecast = study
        .forecast(&ForecastRequest::further(&[60, 600]))
        .unwrap();
    let target = &forecast.targets[0];
    assert!(target.now.low < target.now.mean && target.now.mean < target.now.high);
    for way in [&target.by_design, &target.passive, &target.target_rows] {
        let means: Vec<f64> = way.iter().map(|point| point.loss.mean).collect();
        assert!(
            means[0] <= target.now.mean && means[1] <= means[0],
            "{means:?}"
        );
    }
    // Kin first: 600 rows that are planned bring more than rows of all tasks alike.
    assert!(target.by_design[1].loss.mean < target.passive[1].loss.mean);
    // n rows of a linear function of four inputs leave σ² 4 / n at most.
    let last = target.target_rows[1].loss.mean;
    assert!(last < 1.5 * 0.04 * 4.0 / 610.0, "{last}");
    // There are no embeddings that the theory's quantities could be taken of.
    let refused = study.quantities(100).unwrap_err().to_string();
    assert!(refused.contains("oracle `exact`"), "{refused}");
}

#[test]
fn a_target_without_rows_is_foreseen_by_its_family() {
    let mut study = study(vec![known("new", 1, 0.5)], 10);
    let plan = study.ask(600).unwrap();
    tell(&mut study, &plan);
    let request = ForecastRequest::further(&[600]);
    let one = study.forecast(&request).unwrap();
    // Added after forecasts were made, and without rows of its own.
    study.add_target(&known("other", 0, 0.3)).unwrap();
    let both = study.forecast(&request).unwrap();
    assert_eq!((one.targets.len(), both.targets.len()), (1, 2));
    let other = &both.targets[1];
    assert_eq!(other.name, "other");
    // Its vehicle was hardly flown: more is open than of the other target, and rows of its own help.
    assert!(other.now.mean > both.targets[0].now.mean, "{other:?}");
    assert!(
        other.target_rows[0].loss.mean < 0.2 * other.now.mean,
        "{other:?}"
    );
}
