//! The life of a study: what it plans, what it refuses, and that it never forgets.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]

use crate::common::{Truth, apply, dot, on_threads, rng, unit};
use serde_json::{Value, json};
use taskscout::data::{Samples, Stage};
use taskscout::metric::cosine;
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::source::TaskSource;
use taskscout::strategy::{Plan, PlanItem};
use taskscout::study::{Progress, Study, StudyConfig};
use taskscout::target::Target;
use taskscout::task::Task;
use taskscout::{Error, Result};

const D: usize = 20;
const SOURCES: usize = 10;
const K: usize = 2;

/// `y = xᵀ B_X B w + noise` with a target of its own column, the last.
struct World {
    truth: Truth,
}

impl World {
    fn new(seed: u64) -> Self {
        Self {
            truth: Truth::draw(D, K, SOURCES + 1, 1, 0.5, &mut rng(seed)),
        }
    }

    fn embedding(&self, task: &[f64]) -> Vec<f64> {
        apply(self.truth.map.as_ref().subcols(0, SOURCES), task)
    }

    fn target_embedding(&self) -> Vec<f64> {
        apply(self.truth.map.as_ref(), &unit(SOURCES + 1, SOURCES))
    }

    fn target_rows(&self, n: usize) -> Samples {
        let rng = &mut derive(0, Purpose::Target, &[0, 0]);
        self.truth.rows(&unit(SOURCES + 1, SOURCES), n, rng)
    }
}

impl TaskSource for World {
    fn sample(&mut self, task: &Task, n: usize, rng: &mut Rng) -> Result<Samples> {
        let mut features = task.to_vec();
        features.push(0.0);
        Ok(self.truth.rows(&features, n, rng))
    }
}

/// Settings as a file would give them, changed at some keys.
fn settings(changes: &Value) -> Value {
    let mut settings = json!({
        "space": {"kind": "ball", "dim": SOURCES},
        "task_features": {"kind": "identity", "dim": SOURCES},
        "input_features": {"kind": "identity", "dim": D},
        "targets": [],
        "k": K,
        "strategy": {"kind": "aware"},
        "seed": 3,
    });
    for (key, value) in changes.as_object().unwrap() {
        settings[key] = value.clone();
    }
    settings
}

fn config(changes: &Value) -> StudyConfig {
    with_targets(changes, vec![Target::unknown("t")])
}

fn with_targets(changes: &Value, targets: Vec<Target>) -> StudyConfig {
    let config: StudyConfig = serde_json::from_value(settings(changes)).unwrap();
    StudyConfig { targets, ..config }
}

/// A study of the world whose target has been sampled.
fn study(world: &World, changes: &Value) -> Study {
    sampled(world, config(changes))
}

fn sampled(world: &World, config: StudyConfig) -> Study {
    let mut study = Study::new(config).unwrap();
    for target in 0..study.config().targets.len() {
        if study.config().targets[target].can_have_samples() {
            study.tell_target(target, &world.target_rows(200)).unwrap();
        }
    }
    study
}

fn collect(world: &mut World, item: &PlanItem) -> Samples {
    world
        .sample(
            &item.task,
            item.n,
            &mut derive(9, Purpose::Collect, &[item.id]),
        )
        .unwrap()
}

fn tell_all(study: &mut Study, world: &mut World, plan: &Plan) {
    for item in &plan.items {
        study.tell(item.id, &collect(world, item)).unwrap();
    }
}

/// Asks, collects and tells, so many rounds.
fn run(study: &mut Study, world: &mut World, rounds: usize, budget: usize) -> Vec<Plan> {
    let mut plans = Vec::new();
    for _ in 0..rounds {
        let plan = study.ask(budget).unwrap();
        tell_all(study, world, &plan);
        plans.push(plan);
    }
    plans
}

/// Everything that a study is, bit for bit: numbers are written so that they come back the same.
fn state(study: &Study) -> String {
    serde_json::to_string(study).unwrap()
}

fn reloaded(study: &Study) -> Study {
    serde_json::from_str(&state(study)).unwrap()
}

fn zeros(n: usize) -> Samples {
    Samples::new(vec![0.0; n * D], D, vec![0.0; n], 1).unwrap()
}

fn state_error(result: Result<impl std::fmt::Debug>) -> String {
    match result {
        Err(Error::State(message)) => message,
        other => panic!("{other:?}"),
    }
}

fn setting_error(config: StudyConfig) -> String {
    match Study::new(config) {
        Err(Error::Setting { key, .. }) => key,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_plan_asks_for_exactly_the_budget() {
    for kind in ["passive", "passive-fixed", "agnostic", "aware"] {
        let mut world = World::new(1);
        let mut study = study(&world, &json!({"strategy": {"kind": kind}}));
        let mut collected = 0;
        for (round, budget) in [(0, 203), (1, 57), (2, 1001), (3, 40)] {
            let plan = study.ask(budget).unwrap();
            assert_eq!((plan.round, plan.budget()), (round, budget), "{kind}");
            assert!(plan.items.iter().all(|item| item.n > 0));
            assert!(
                plan.items
                    .iter()
                    .all(|item| dot(&item.task, &item.task) <= 1.0 + 1e-9)
            );
            tell_all(&mut study, &mut world, &plan);
            collected += budget;
            assert_eq!(study.data().source_rows(), collected);
        }
        let ids: Vec<u64> = study
            .items()
            .iter()
            .map(|tracked| tracked.item.id)
            .collect();
        assert_eq!(ids, (0..ids.len() as u64).collect::<Vec<_>>());
        assert!(
            study
                .items()
                .iter()
                .all(|tracked| tracked.progress == Progress::Done)
        );
        assert_eq!(study.rounds(), 4);
    }
}

#[test]
fn stages_follow_each_other() {
    let mut world = World::new(1);
    let mut study = study(&world, &json!({}));
    let plans = run(&mut study, &mut world, 2, 400);
    assert_eq!(plans[0].items.len(), SOURCES);
    assert!(
        plans[0]
            .items
            .iter()
            .all(|item| item.stage == Stage::WarmUp)
    );
    let samples = |stage| {
        plans[1]
            .items
            .iter()
            .filter(|item| item.stage == stage)
            .map(|item| item.n)
            .sum::<usize>()
    };
    // 0.7 · 400 = 280, more than the paper's min(400^0.75 · 2, 400/2) = 178.
    assert_eq!(
        (
            samples(Stage::WarmUp),
            samples(Stage::Explore),
            samples(Stage::Exploit)
        ),
        (0, 280, 120)
    );
    assert!(plans[1].items.iter().all(|item| !item.reason.is_empty()));
}

#[test]
fn one_unknown_target_needs_one_exploit_task() {
    for seed in 0..5 {
        let mut world = World::new(seed);
        let mut study = study(&world, &json!({}));
        for plan in &run(&mut study, &mut world, 3, 300)[1..] {
            let exploit = plan
                .items
                .iter()
                .filter(|item| item.stage == Stage::Exploit);
            let counts: Vec<usize> = exploit.map(|item| item.n).collect();
            assert_eq!(counts.len(), 1, "seed {seed}: {counts:?}");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let mut world = World::new(2);
    let mut study = study(&world, &json!({}));
    assert!(state_error(study.tell(0, &zeros(1))).contains("there is no item 0"));
    let plan = study.ask(100).unwrap();
    let before = state(&study);
    let item = &plan.items[3];
    assert!(state_error(study.tell(999, &zeros(1))).contains("there is no item 999"));
    assert!(state_error(study.tell(u64::MAX, &zeros(1))).contains("there is no item"));
    assert!(state_error(study.fail(999, "no")).contains("there is no item 999"));
    let narrow = Samples::new(vec![0.0; 3], 3, vec![0.0], 1).unwrap();
    assert!(matches!(
        study.tell(item.id, &narrow),
        Err(Error::WrongLength { .. })
    ));
    assert!(matches!(
        study.tell_target(0, &narrow),
        Err(Error::WrongLength { .. })
    ));
    let outputs = Samples::new(vec![0.0; D], D, vec![0.0; 2], 2).unwrap();
    assert!(matches!(
        study.tell(item.id, &outputs),
        Err(Error::WrongLength { .. })
    ));
    assert!(state_error(study.tell_target(1, &zeros(1))).contains("there is no target 1"));
    assert_eq!(state(&study), before);

    // Two batches close an item.
    let rows = collect(&mut world, item);
    let cut = |from: usize, to: usize| {
        Samples::new(
            rows.inputs()[from * D..to * D].to_vec(),
            D,
            rows.outputs()[from..to].to_vec(),
            1,
        )
        .unwrap()
    };
    study.tell(item.id, &cut(0, 4)).unwrap();
    let tracked = &study.items()[3];
    assert_eq!((tracked.collected, &tracked.progress), (4, &Progress::Open));
    study.tell(item.id, &cut(4, item.n)).unwrap();
    assert_eq!(study.items()[3].progress, Progress::Done);
    let before = state(&study);
    assert!(state_error(study.tell(item.id, &zeros(1))).contains("is complete"));
    assert!(state_error(study.fail(item.id, "no")).contains("is complete"));
    assert_eq!(state(&study), before);
    assert_eq!(study.data().source_rows(), item.n);
}

/// Raw rows are finite, but their cubes are not.
#[test]
fn values_that_break_under_the_features_change_nothing() {
    let mut study = Study::new(config(
        &json!({"input_features": {"kind": "polynomial", "input_dim": 2, "degree": 3}}),
    ))
    .unwrap();
    let plan = study.ask(50).unwrap();
    let before = state(&study);
    let rows = Samples::new(vec![1.0, 2.0, 1e200, 3.0], 2, vec![1.0, 2.0], 1).unwrap();
    let told = study.tell(plan.items[0].id, &rows);
    assert!(
        matches!(&told, Err(Error::NotFinite { place, .. }) if place.starts_with("row 1,")),
        "{told:?}"
    );
    assert!(matches!(
        study.tell_target(0, &rows),
        Err(Error::NotFinite { .. })
    ));
    assert_eq!(state(&study), before);
    assert!(Samples::new(vec![f64::NAN, 0.0], 2, vec![1.0], 1).is_err());
}

/// Finite rows, but their squares are not: the place is named before anything is added.
#[test]
fn values_too_large_to_square_are_refused_by_row_and_column() {
    let mut study = Study::new(config(&json!({}))).unwrap();
    let plan = study.ask(50).unwrap();
    let before = state(&study);
    let d = D;
    let mut inputs = vec![1.0; 3 * d];
    let rows = Samples::new(inputs.clone(), d, vec![1.0, 2.0, -1e160], 1).unwrap();
    let told = study.tell(plan.items[0].id, &rows).unwrap_err().to_string();
    assert!(told.contains("row 2, whose output 0 is -1.0e160"), "{told}");
    assert!(told.contains("rescale that column"), "{told}");
    inputs[d + 1] = 1e155;
    let rows = Samples::new(inputs, d, vec![1.0; 3], 1).unwrap();
    let told = study.tell_target(0, &rows).unwrap_err().to_string();
    assert!(told.contains("row 1, whose feature 1 is 1.0e155"), "{told}");
    assert_eq!(state(&study), before);
}

#[test]
fn a_failed_item_makes_way_and_keeps_what_came() {
    let mut world = World::new(3);
    let mut study = study(&world, &json!({}));
    let plan = study.ask(200).unwrap();
    let (first, rest) = plan.items.split_first().unwrap();
    let rows = world.sample(&first.task, 5, &mut rng(1)).unwrap();
    study.tell(first.id, &rows).unwrap();
    for item in rest {
        study.tell(item.id, &collect(&mut world, item)).unwrap();
    }
    study.fail(first.id, "rotor broke").unwrap();
    assert_eq!(study.items()[0].collected, 5);
    let failed = Progress::Failed {
        reason: "rotor broke".to_owned(),
    };
    assert_eq!(study.items()[0].progress, failed);
    assert!(state_error(study.tell(first.id, &rows)).contains("given up (rotor broke)"));
    assert_eq!(study.data().source_rows(), 200 - first.n + 5);
    assert_eq!(study.ask(200).unwrap().round, 1);

    // Nothing at all came back: the warm-up goes on.
    let mut empty = Study::new(config(&json!({}))).unwrap();
    for item in empty.ask(50).unwrap().items {
        empty.fail(item.id, "no power").unwrap();
    }
    let plan = empty.ask(50).unwrap();
    assert!(plan.items.iter().all(|item| item.stage == Stage::WarmUp));
}

#[test]
fn a_budget_too_small_is_refused_and_changes_nothing() {
    let mut world = World::new(4);
    let mut study = study(&world, &json!({}));
    let before = state(&study);
    assert_eq!(
        study.ask(SOURCES - 1),
        Err(Error::BudgetTooSmall {
            budget: SOURCES - 1,
            tasks: SOURCES
        })
    );
    assert!(matches!(study.ask(0), Err(Error::Setting { key, .. }) if key == "budget"));
    assert_eq!(state(&study), before);
    run(&mut study, &mut world, 1, 100);
    let before = state(&study);
    // Two tasks to explore and one to exploit.
    let too_small = Error::BudgetTooSmall {
        budget: 2,
        tasks: 3,
    };
    assert_eq!(study.ask(2), Err(too_small));
    assert_eq!(state(&study), before);
    assert_eq!(study.ask(SOURCES).unwrap().budget(), SOURCES);
}

/// Saved and loaded between any two steps, half-told items included.
#[test]
fn a_campaign_goes_on_after_a_reload_as_without() {
    for changes in [
        json!({}),
        json!({"strategy": {"kind": "agnostic", "save_task": true}}),
        json!({"k": null}),
    ] {
        let mut world = World::new(5);
        let mut whole = study(&world, &changes);
        let expected = run(&mut whole, &mut world, 4, 150);

        let mut broken = study(&world, &changes);
        let mut plans = Vec::new();
        for _ in 0..4 {
            broken = reloaded(&broken);
            let plan = broken.ask(150).unwrap();
            for item in &plan.items {
                broken = reloaded(&broken);
                broken.tell(item.id, &collect(&mut world, item)).unwrap();
            }
            plans.push(plan);
        }
        assert_eq!(
            serde_json::to_string(&plans).unwrap(),
            serde_json::to_string(&expected).unwrap()
        );
        assert_eq!(state(&broken), state(&whole));
    }
}

#[test]
fn plans_do_not_depend_on_threads() {
    let campaign = |threads| {
        on_threads(threads, || {
            let mut world = World::new(6);
            let mut study = study(&world, &json!({"k": null}));
            let plans = run(&mut study, &mut world, 4, 300);
            let predictors = study.predictors().unwrap();
            (
                serde_json::to_string(&plans).unwrap(),
                serde_json::to_string(&*predictors).unwrap(),
                state(&study),
            )
        })
    };
    assert_eq!(campaign(1), campaign(4));
}

#[test]
fn another_seed_gives_other_tasks() {
    let first = |seed: u64| {
        Study::new(config(&json!({"seed": seed})))
            .unwrap()
            .ask(50)
            .unwrap()
    };
    assert_eq!(first(1), first(1));
    assert_ne!(first(1), first(2));
}

#[test]
fn settings_that_do_not_fit_are_refused_by_name() {
    let changed = |changes| setting_error(config(&changes));
    assert_eq!(changed(json!({"k": 0})), "k");
    // No source task reaches the direction beyond, which a passive strategy need not.
    assert_eq!(changed(json!({"k": SOURCES + 1})), "k");
    let passive = json!({"k": SOURCES + 1, "strategy": {"kind": "passive"}});
    assert!(Study::new(config(&passive)).is_ok());
    assert_eq!(
        changed(json!({"strategy": {"kind": "discrete-l1"}})),
        "strategy"
    );
    assert_eq!(
        changed(json!({"input_features": {"kind": "identity", "dim": 1}, "k": 2})),
        "k"
    );
    assert_eq!(
        changed(json!({"task_features": {"kind": "identity", "dim": 4}})),
        "task_features"
    );
    assert_eq!(changed(json!({"outputs": 0})), "outputs");
    let aimed = |targets| setting_error(with_targets(&json!({}), targets));
    assert_eq!(aimed(vec![]), "targets");
    assert_eq!(
        aimed(vec![
            Target::unknown("a"),
            Target::unknown("b"),
            Target::unknown("a")
        ]),
        "targets"
    );
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(
            aimed(vec![Target::unknown("a").with_weight(weight)]),
            "targets.a.weight"
        );
    }
    let lopsided = (0..SOURCES)
        .map(|i| unit(SOURCES, (i + 1) % SOURCES))
        .collect();
    assert_eq!(
        aimed(vec![Target::distribution("a", lopsided)]),
        "targets.a.moment"
    );
    let negative = scaled_identity(-1.0);
    assert_eq!(
        aimed(vec![Target::distribution("a", negative)]),
        "targets.a.moment"
    );
    let refused = |target| Study::new(with_targets(&json!({}), vec![target])).map(|_| ());
    assert!(matches!(
        refused(Target::known("a", vec![1.0])),
        Err(Error::WrongLength { .. })
    ));
    assert!(matches!(
        refused(Target::known("a", vec![f64::NAN; SOURCES])),
        Err(Error::NotFinite { .. })
    ));
    assert!(matches!(
        refused(Target::distribution("a", vec![vec![1.0]])),
        Err(Error::WrongLength { .. })
    ));
    let misspelt = serde_json::from_value::<StudyConfig>(settings(&json!({"sede": 1})));
    assert!(misspelt.unwrap_err().to_string().contains("sede"));
}

fn scaled_identity(scale: f64) -> Vec<Vec<f64>> {
    (0..SOURCES)
        .map(|i| unit(SOURCES, i).iter().map(|value| scale * value).collect())
        .collect()
}

#[test]
fn all_kinds_of_targets_give_plans() {
    let known = || Target::known("known", unit(SOURCES, 2)).with_weight(0.5);
    let spread = || Target::distribution("spread", scaled_identity(0.1));
    let kinds = [
        vec![Target::unknown("a").with_weight(3.0), Target::unknown("b")],
        vec![known()],
        vec![spread()],
        vec![Target::unknown("a"), known(), spread()],
    ];
    for targets in kinds {
        let mut world = World::new(7);
        let mut study = sampled(&world, with_targets(&json!({}), targets.clone()));
        for plan in &run(&mut study, &mut world, 3, 300)[1..] {
            assert_eq!(plan.budget(), 300);
            assert!(
                plan.items.iter().any(|item| item.stage == Stage::Exploit),
                "{targets:?}"
            );
        }
        let with_samples = targets
            .iter()
            .filter(|target| target.can_have_samples())
            .count();
        assert_eq!(study.predictors().unwrap().len(), with_samples);
    }
}

#[test]
fn a_known_target_is_planned_for_without_samples_of_it() {
    let mut world = World::new(8);
    let task = unit(SOURCES, 4);
    let known = vec![Target::known("a", task.clone())];
    let mut study = Study::new(with_targets(&json!({}), known)).unwrap();
    run(&mut study, &mut world, 2, 600);
    let plan = study.ask(600).unwrap();
    let exploit = plan
        .items
        .iter()
        .filter(|item| item.stage == Stage::Exploit)
        .max_by_key(|item| item.n)
        .unwrap();
    let cosine = cosine(&world.embedding(&exploit.task), &world.embedding(&task));
    assert!(cosine > 0.95, "{cosine}");
    let spread = vec![Target::distribution("a", scaled_identity(1.0))];
    let mut study = Study::new(with_targets(&json!({}), spread)).unwrap();
    assert!(state_error(study.tell_target(0, &zeros(1))).contains("distribution over tasks"));
}

/// The heavier of two targets gets the larger share of exploitation.
#[test]
fn weights_of_targets_count() {
    let (first, second) = (unit(SOURCES, 0), unit(SOURCES, 1));
    let share = |weight: f64| {
        let mut world = World::new(9);
        world.truth.map = faer::Mat::from_fn(K, SOURCES + 1, |i, j| f64::from(i == j));
        let targets = vec![
            Target::known("a", first.clone()).with_weight(weight),
            Target::known("b", second.clone()),
        ];
        let mut study = Study::new(with_targets(&json!({}), targets)).unwrap();
        run(&mut study, &mut world, 1, 2000);
        let plan = study.ask(2000).unwrap();
        let exploit: Vec<&PlanItem> = plan
            .items
            .iter()
            .filter(|item| item.stage == Stage::Exploit)
            .collect();
        let total: usize = exploit.iter().map(|item| item.n).sum();
        let towards = |item: &&PlanItem| item.n as f64 * dot(&item.task, &first).powi(2);
        exploit.iter().map(towards).sum::<f64>() / total as f64
    };
    // The trace design weighs by the root of the need: √1 to √1, √9 to √1.
    let (even, heavy) = (share(1.0), share(9.0));
    assert!(
        (even - 0.5).abs() < 0.05 && (heavy - 0.75).abs() < 0.05,
        "{even} {heavy}"
    );
}

#[test]
fn save_task_keeps_the_exploration_tasks() {
    let explored = |save: bool| {
        let mut world = World::new(10);
        let mut study = study(
            &world,
            &json!({"strategy": {"kind": "aware", "save_task": save}}),
        );
        let plans = run(&mut study, &mut world, 5, 400);
        let tasks = |plan: &Plan| -> Vec<Vec<f64>> {
            let explore = plan
                .items
                .iter()
                .filter(|item| item.stage == Stage::Explore);
            explore.map(|item| item.task.to_vec()).collect()
        };
        plans[1..].iter().map(tasks).collect::<Vec<_>>()
    };
    let kept = explored(true);
    assert!(
        kept[0].len() == K && kept.iter().all(|tasks| *tasks == kept[0]),
        "{kept:?}"
    );
    let fresh = explored(false);
    assert_eq!(fresh[0], kept[0]);
    assert!(
        fresh[1..].iter().all(|tasks| *tasks != fresh[0]),
        "{fresh:?}"
    );
}

#[test]
fn predictors_need_target_rows_and_name_their_reasons() {
    let mut world = World::new(11);
    let mut study = Study::new(config(&json!({}))).unwrap();
    run(&mut study, &mut world, 1, 300);
    assert!(state_error(study.predictors()).contains("`t` has no samples"));
    study.tell_target(0, &world.target_rows(60)).unwrap();
    let choices = study.predictors().unwrap();
    assert_eq!((choices.len(), choices[0].target.as_str()), (1, "t"));
    assert!(
        choices[0].reason.contains(&choices[0].kind.to_string()),
        "{}",
        choices[0].reason
    );
    assert!(state_error(Study::new(config(&json!({}))).unwrap().model()).contains("needs data"));
}

/// A target's rows alone, before anything was collected, already give a predictor.
#[test]
fn a_study_without_sources_predicts_from_the_target() {
    let world = World::new(12);
    let mut study = Study::new(config(&json!({"k": 1}))).unwrap();
    study.tell_target(0, &world.target_rows(200)).unwrap();
    let choice = study.predictors().unwrap()[0].clone();
    let truth = world
        .truth
        .coefficients(&unit(SOURCES + 1, SOURCES))
        .remove(0);
    let learnt = &choice.predictor().unwrap().coefficients[0];
    let loss: f64 = learnt
        .iter()
        .zip(&truth)
        .map(|(a, b)| (a - b).powi(2))
        .sum();
    // σ² d / n = 0.025.
    assert!(loss < 0.06, "{loss}");
}

#[test]
fn aware_finds_the_tasks_that_the_target_needs() {
    for seed in 20..25 {
        let mut world = World::new(seed);
        let mut study = study(&world, &json!({"seed": seed}));
        run(&mut study, &mut world, 2, 600);
        let plan = study.ask(600).unwrap();
        let exploit = plan
            .items
            .iter()
            .filter(|item| item.stage == Stage::Exploit)
            .max_by_key(|item| item.n)
            .unwrap();
        let cosine = cosine(&world.embedding(&exploit.task), &world.target_embedding());
        assert!(cosine >= 0.95, "seed {seed}: {cosine}");
        assert!(
            exploit
                .similarity
                .is_some_and(|similarity| similarity > 0.95),
            "{:?}",
            exploit.similarity
        );
    }
}

/// With `k` at least half the task features, exploration is a spread that has no value of its own.
#[test]
fn a_study_with_a_large_k_can_be_saved() {
    let mut world = World::new(13);
    let mut study = study(&world, &json!({"k": 5}));
    run(&mut study, &mut world, 2, 300);
    let mut again = reloaded(&study);
    assert_eq!(again.ask(300).unwrap(), study.ask(300).unwrap());
}
