//! A campaign through a store: what is told counts once, whoever tells it and however often a program is killed.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use taskscout::data::Samples;
use taskscout::prelude::*;
use taskscout::rng::{Purpose, derive};
use taskscout_store::{Memory, Store, open};
use taskscout_studies::{
    AskOptions, Column, Definition, FeatureChoices, ItemState, Measured, RowsOf, StoredStudy,
    WhatIf,
};

const INPUTS: usize = 3;

fn rows(task: &[f64], n: usize, draw: u64) -> Measured {
    let mut rng = derive(5, Purpose::Collect, &[draw]);
    let x: Vec<f64> = (0..INPUTS * n).map(|_| 2.0 + normal(&mut rng)).collect();
    let (w, v) = (task[0], task[1]);
    let y = x
        .chunks(INPUTS)
        .map(|x| 30.0 + w * x[0] + v * (x[1] - x[2]) + 0.2 * normal(&mut rng));
    let y = y.collect();
    Measured::new(Samples::new(x, INPUTS, y, 1).unwrap())
}

fn definition() -> Definition {
    let named = |names: &[&str]| names.iter().map(|name| Column::named(name)).collect();
    Definition {
        parameters: named(&["wind", "payload"]),
        inputs: named(&["vx", "vy", "pwm"]),
        outputs: named(&["force"]),
        ..Definition::default()
    }
}

fn new_study() -> Study {
    let mut config = Study::builder(Space::boxed(vec![-1.0, -1.0], vec![1.0, 1.0]).unwrap())
        .inputs(INPUTS)
        .target(Target::unknown("tomorrow"))
        .build()
        .unwrap()
        .config()
        .clone();
    config.task_features = FeatureMap::polynomial(2, 1, true).unwrap();
    config.input_features = FeatureMap::polynomial(INPUTS, 1, true).unwrap();
    Study::new(config).unwrap()
}

fn create(store: Box<dyn Store>) -> StoredStudy {
    StoredStudy::create(store, "tunnel", definition(), &new_study(), "ada").unwrap()
}

/// Three rounds, told item by item; `between` is called after every step and may reopen the study.
fn campaign(
    mut study: StoredStudy,
    between: &mut dyn FnMut(StoredStudy) -> StoredStudy,
) -> StoredStudy {
    study
        .tell_target("tomorrow", &rows(&[0.4, -0.2], 40, 900))
        .unwrap();
    study = between(study);
    for _ in 0..3 {
        let plan = study.ask(&AskOptions::budget(200)).unwrap().plan;
        study = between(study);
        for item in plan.items {
            study.start(Some(item.id), Duration::from_secs(60)).unwrap();
            study
                .tell(item.id, None, &rows(&item.task, item.n, item.id))
                .unwrap();
            study = between(study);
        }
    }
    study
}

/// The prediction of the model that the study hands out.
fn prediction(study: &StoredStudy) -> [u64; 2] {
    let model = study.model(None).unwrap();
    let one = model.predict(&[2.5, 1.0, 3.0]).unwrap()[0];
    [one.mean.to_bits(), one.std.to_bits()]
}

#[test]
fn a_study_that_is_opened_anew_after_every_step_ends_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let whole = campaign(create(open(&path("a.db")).unwrap()), &mut |study| study);
    let file = path("b.db");
    let reopened = campaign(create(open(&file).unwrap()), &mut |study| {
        drop(study);
        let store = open(&file).unwrap();
        StoredStudy::open(store, "tunnel", "ada", &Registry::new()).unwrap()
    });
    assert_eq!(prediction(&whole), prediction(&reopened));
    assert_eq!(
        whole.study().snapshot().unwrap(),
        reopened.study().snapshot().unwrap()
    );
    let model = reopened.model(Some("tomorrow")).unwrap();
    assert_eq!(model.parts().names.inputs, ["vx", "vy", "pwm"]);
    let truth = 30.0 + 0.4 * 2.5 - 0.2 * (1.0 - 3.0);
    let one = model.predict(&[2.5, 1.0, 3.0]).unwrap()[0];
    assert!((one.mean - truth).abs() < 0.2, "{one:?} {truth}");
}

/// A study that does not say how tasks are related and how the force depends on inputs.
fn create_choosing(store: Box<dyn Store>) -> StoredStudy {
    let mut config = new_study().config().clone();
    let polynomial = |dim, degree| FeatureMap::polynomial(dim, degree, true).unwrap();
    config.input_features = polynomial(INPUTS, 2);
    config.strategy.explore = taskscout::strategy::Explore::Spread;
    let definition = Definition {
        feature_choices: FeatureChoices {
            tasks: vec![polynomial(2, 1), polynomial(2, 2)],
            inputs: vec![polynomial(INPUTS, 1), polynomial(INPUTS, 2)],
        },
        ..definition()
    };
    let study = Study::new(config).unwrap();
    StoredStudy::create(store, "tunnel", definition, &study, "ada").unwrap()
}

#[test]
fn features_are_chosen_by_what_was_measured_and_need_no_entry_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("b.db").display().to_string();
    let whole = campaign(create_choosing(Box::new(Memory::new())), &mut |study| study);
    let reopened = campaign(create_choosing(open(&file).unwrap()), &mut |study| {
        drop(study);
        let store = open(&file).unwrap();
        StoredStudy::open(store, "tunnel", "ada", &Registry::new()).unwrap()
    });
    assert_eq!(prediction(&whole), prediction(&reopened));
    let features = reopened.features_in_use().unwrap();
    // The force is affine in the inputs, and its slopes are affine in the parameters.
    assert_eq!((features.tasks.dim(), features.inputs.dim()), (3, 4));
    let truth = 30.0 + 0.4 * 2.5 - 0.2 * (1.0 - 3.0);
    let one = reopened
        .model(None)
        .unwrap()
        .predict(&[2.5, 1.0, 3.0])
        .unwrap()[0];
    assert!((one.mean - truth).abs() < 0.2, "{one:?} {truth}");
    // Nothing is chosen before there are rows.
    let empty = create_choosing(Box::new(Memory::new()));
    assert_eq!(empty.features_in_use().unwrap().inputs.dim(), 10);
}

/// A state is kept after every single entry: whatever the moment, it is the state of the log.
#[test]
fn a_state_that_is_kept_at_any_moment_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let whole = campaign(create(open(&path("a.db")).unwrap()), &mut |study| study);
    let file = path("b.db");
    let first = create(open(&file).unwrap()).keeping_state_after(0);
    let kept = campaign(first, &mut |study| {
        drop(study);
        let store = open(&file).unwrap();
        let study = StoredStudy::open(store, "tunnel", "ada", &Registry::new()).unwrap();
        study.keeping_state_after(0)
    });
    assert_eq!(prediction(&whole), prediction(&kept));
    assert_eq!(whole.batches().len(), kept.batches().len());
}

/// Rows that workers tell in another order than they were planned in make the same model, bit for bit.
#[test]
fn the_order_of_telling_changes_nothing() {
    let told = |backwards: bool| {
        let mut study = create(Box::new(Memory::new()));
        study
            .tell_target("tomorrow", &rows(&[0.4, -0.2], 40, 900))
            .unwrap();
        for _ in 0..3 {
            let mut items = study.ask(&AskOptions::budget(200)).unwrap().plan.items;
            if backwards {
                items.reverse();
            }
            for item in items {
                let measured = rows(&item.task, item.n, item.id);
                study.tell(item.id, None, &measured).unwrap();
            }
        }
        prediction(&study)
    };
    assert_eq!(told(false), told(true));
}

#[test]
fn an_outlook_speaks_in_the_units_of_the_study() {
    let study = campaign(create(Box::new(Memory::new())), &mut |study| study);
    let request = taskscout::study::ForecastRequest::further(&[100, 400]);
    let outlook = study.outlook(&request).unwrap();
    let target = &outlook.targets[0];
    assert_eq!(
        (target.name.as_str(), target.further.len()),
        ("tomorrow", 2)
    );
    // The labels have a noise of 0.2; the error without noise is below it, and falls.
    let errors = [
        target.now,
        target.further[0].design,
        target.further[1].design,
    ];
    assert!(errors[0].mean < 0.2 && errors[0].mean > 1e-4, "{errors:?}");
    assert!(
        errors.windows(2).all(|pair| pair[1].mean < pair[0].mean),
        "{errors:?}"
    );
    let text = outlook.to_text();
    assert!(
        text.contains("units of force") && text.contains("100  samples"),
        "{text}"
    );
    assert!(outlook.to_svg().unwrap().contains("tomorrow"));
}

/// What a copy does is not stored, and follows from the same rows as it would in the study itself.
#[test]
fn a_copy_does_all_that_the_study_would_and_stores_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db").display().to_string();
    let mut study = campaign(create(open(&path).unwrap()), &mut |study| study);
    let version = study.version();
    let wanted = WhatIf {
        switch_cost: Some(10.0),
        max_tasks: Some(2),
        ..WhatIf::budget(90)
    };
    let supposed = study.what_if(&wanted).unwrap();
    assert!(
        supposed.items.len() <= 2 && supposed.cost <= 90.0,
        "{supposed:?}"
    );
    let error = &supposed.errors[0];
    assert!(error.then.mean < error.now.mean, "{error:?}");
    let plan = study
        .imagine(false)
        .unwrap()
        .ask(&AskOptions::budget(120))
        .unwrap();
    let mut copy = study.imagine(true).unwrap();
    let last = copy.batches().last().unwrap().id.clone();
    let rows = copy.study().data().source_rows();
    copy.retract(&last).unwrap();
    assert!(copy.study().data().source_rows() < rows);
    copy.undo().unwrap();
    assert_eq!(copy.study().data().source_rows(), rows);
    assert_eq!(study.version(), version);
    // The study itself asks for the same.
    assert_eq!(study.ask(&AskOptions::budget(120)).unwrap().plan, plan.plan);
}

#[test]
fn the_past_is_what_was_said_then() {
    let mut study = create(Box::new(Memory::new()));
    let first = rows(&[0.4, -0.2], 40, 900);
    study.tell_target("tomorrow", &first).unwrap();
    let mut said = Vec::new();
    for _ in 0..2 {
        for item in study.ask(&AskOptions::budget(200)).unwrap().plan.items {
            let measured = rows(&item.task, item.n, item.id);
            study.tell(item.id, None, &measured).unwrap();
        }
        let budget = study.usual_budgets()[0];
        let request = taskscout::study::ForecastRequest::further(&[budget]);
        let now = study.outlook(&request).unwrap().targets[0].now;
        said.push((study.version(), study.study().spent(), now));
    }
    let points = study.turning_points(10);
    assert_eq!(points.len(), 3);
    for (version, spent, now) in said {
        assert!(points.contains(&version));
        let past = study.past(version).unwrap();
        assert!((past.spent - spent).abs() < 1e-9);
        assert_eq!(past.errors[0].error, now);
    }
    // Before there was a source row, nothing could be said.
    assert!(study.past(points[0]).unwrap().errors.is_empty());
}

#[test]
fn the_same_key_gives_the_same_plan() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db").display().to_string();
    let mut study = create(open(&path).unwrap());
    let monday = AskOptions::budget(200).with_key("monday");
    let first = study.ask(&monday).unwrap();
    let mut other =
        StoredStudy::open(open(&path).unwrap(), "tunnel", "bob", &Registry::new()).unwrap();
    let again = other.ask(&monday).unwrap();
    assert!(again.already && !first.already);
    assert_eq!(first.plan, again.plan);
    assert_eq!(study.study().rounds(), 1);
}

#[test]
fn the_same_rows_count_once_and_a_retraction_takes_them_back() {
    let mut study = create(Box::new(Memory::new()));
    let first = rows(&[0.4, -0.2], 40, 900);
    study.tell_target("tomorrow", &first).unwrap();
    assert!(study.tell_target("tomorrow", &first).unwrap().already);
    let version = study.version();
    assert!(study.tell_target("tomorrow", &first).unwrap().already);
    assert_eq!(study.version(), version);
    let before = study.study().snapshot().unwrap();
    let wrong = rows(&[0.4, -0.2], 10, 901);
    let receipt = study.tell_target("tomorrow", &wrong).unwrap();
    assert_eq!(receipt.batch.of, RowsOf::Target("tomorrow".into()));
    study.retract(&receipt.batch.id).unwrap();
    assert_eq!(study.study().snapshot().unwrap(), before);
    // Retracted rows may be told again: the retraction may have been the mistake.
    assert!(!study.tell_target("tomorrow", &wrong).unwrap().already);
    let missing = study.retract(&"nothing".into()).unwrap_err().to_string();
    assert!(missing.contains("no batch nothing"), "{missing}");
}

#[test]
fn leases_end_and_late_rows_are_taken_once() {
    let now = Arc::new(AtomicI64::new(1_000_000));
    let clock = {
        let now = Arc::clone(&now);
        Arc::new(move || now.load(Ordering::Relaxed))
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db").display().to_string();
    let mut ada = create(open(&path).unwrap()).with_clock(clock.clone());
    let join = |author: &str| {
        let store = open(&path).unwrap();
        StoredStudy::open(store, "tunnel", author, &Registry::new())
            .unwrap()
            .with_clock(clock.clone())
    };
    ada.ask(&AskOptions::budget(200)).unwrap();
    let minute = Duration::from_secs(60);
    let mut bob = join("bob");
    let first = ada.start(None, minute).unwrap().unwrap().item;
    let second = bob.start(None, minute).unwrap().unwrap().item;
    assert_ne!(first.id, second.id);
    let taken = bob.start(Some(first.id), minute).unwrap_err().to_string();
    assert!(taken.contains("is being measured by ada"), "{taken}");
    // A sign of life keeps the lease, silence ends it.
    now.fetch_add(50_000_000, Ordering::Relaxed);
    ada.heartbeat(first.id, minute).unwrap();
    now.fetch_add(40_000_000, Ordering::Relaxed);
    let mut eve = join("eve");
    let state = |study: &mut StoredStudy, item: u64| {
        study.refresh().unwrap();
        study.item_state(study.item(item).unwrap())
    };
    assert_eq!(state(&mut eve, first.id), ItemState::Running);
    assert_eq!(state(&mut eve, second.id), ItemState::Lost);
    assert_eq!(
        eve.start(Some(second.id), minute).unwrap().unwrap().item.id,
        second.id
    );
    // Bob was slow, and is first all the same.
    bob.tell(second.id, None, &rows(&second.task, second.n, 1))
        .unwrap();
    let late = eve
        .tell(second.id, None, &rows(&second.task, second.n, 2))
        .unwrap_err();
    assert!(late.to_string().contains("is complete"), "{late}");
    assert_eq!(state(&mut ada, second.id), ItemState::Told);
    // Given back, it is free at once.
    ada.fail(first.id, "the battery was empty", true).unwrap();
    assert_eq!(state(&mut eve, first.id), ItemState::Proposed);
    eve.fail(first.id, "the rig is broken", false).unwrap();
    assert_eq!(state(&mut ada, first.id), ItemState::Failed);
}

#[test]
fn the_last_change_can_be_taken_back() {
    let mut study = create(Box::new(Memory::new()));
    study
        .tell_target("tomorrow", &rows(&[0.4, -0.2], 40, 900))
        .unwrap();
    let plan = study.ask(&AskOptions::budget(60)).unwrap().plan;
    let (one, two) = (&plan.items[0], &plan.items[1]);
    study
        .tell(one.id, None, &rows(&one.task, one.n, 1))
        .unwrap();
    let before = study.study().snapshot().unwrap();
    study.fail(two.id, "a mistake", false).unwrap();
    assert_eq!(study.undo().unwrap().kind, "failed");
    assert_eq!(study.study().snapshot().unwrap(), before);
    assert_eq!(study.undo().unwrap().kind, "told");
    assert_eq!(study.study().items()[0].collected, 0);
    // Rows that were retracted by hand come back.
    let again = study
        .tell(one.id, None, &rows(&one.task, one.n, 1))
        .unwrap();
    study.retract(&again.batch.id).unwrap();
    assert_eq!(study.undo().unwrap().kind, "retracted");
    assert_eq!(study.study().items()[0].collected, one.n);
    // A plan that is taken back keeps its numbers: they may be on paper.
    let second = study.ask(&AskOptions::budget(60)).unwrap().plan;
    assert_eq!(study.undo().unwrap().kind, "planned");
    let items = study.items();
    for item in &second.items {
        assert_eq!(
            items[usize::try_from(item.id).unwrap()].state,
            ItemState::Failed
        );
    }
    let next = study.ask(&AskOptions::budget(60)).unwrap().plan;
    assert_eq!(next.items[0].id, second.items.last().unwrap().id + 1);
}

#[test]
fn a_kept_state_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db").display().to_string();
    let mut study = create(open(&path).unwrap());
    study
        .tell_target("tomorrow", &rows(&[0.4, -0.2], 40, 900))
        .unwrap();
    let plan = study.ask(&AskOptions::budget(100)).unwrap().plan;
    let item = &plan.items[0];
    // Notes of a megabyte each, so that a state is kept in between.
    for round in 0..6 {
        study.note(&"x".repeat(1 << 20)).unwrap();
        study
            .tell(item.id, None, &rows(&item.task, 3, round))
            .unwrap();
    }
    let again = StoredStudy::open(open(&path).unwrap(), "tunnel", "bob", &Registry::new()).unwrap();
    assert_eq!(again.version(), study.version());
    assert!(again.study().events().len() < study.study().events().len());
    assert_eq!(again.batches(), study.batches());
    assert_eq!(prediction(&again), prediction(&study));
    // What was merged can still be retracted.
    let mut again = again;
    let batch = again.batches()[2].id.clone();
    again.retract(&batch).unwrap();
    study.refresh().unwrap();
    assert_eq!(prediction(&again), prediction(&study));
    assert_eq!(study.batches().len(), 6);
}

#[test]
fn rows_come_back_as_they_were_told() {
    let mut study = create(Box::new(Memory::new()));
    let told = rows(&[0.4, -0.2], 40, 900);
    let receipt = study.tell_target("tomorrow", &told).unwrap();
    assert_eq!(study.rows(&receipt.batch).unwrap(), told.samples);
    let narrow = Measured::new(Samples::new(vec![1.0, 2.0], 2, vec![1.0], 1).unwrap());
    let refused = study
        .tell_target("tomorrow", &narrow)
        .unwrap_err()
        .to_string();
    assert!(refused.contains("`vx`, `vy`, `pwm`"), "{refused}");
    let nobody = study.tell_target("today", &told).unwrap_err().to_string();
    assert!(nobody.contains("the targets are tomorrow"), "{nobody}");
}

#[test]
fn rows_told_for_something_else_before_are_taken_with_a_warning() {
    let mut study = create(Box::new(Memory::new()));
    let told = rows(&[0.4, -0.2], 40, 900);
    assert_eq!(study.tell_target("tomorrow", &told).unwrap().same_as, None);
    assert_eq!(study.tell_target("tomorrow", &told).unwrap().same_as, None);
    let items = study.ask(&AskOptions::budget(200)).unwrap().plan.items;
    let receipt = study.tell(items[0].id, None, &told).unwrap();
    assert_eq!(receipt.same_as.as_deref(), Some("target tomorrow"));
    let other = rows(&[0.4, -0.2], items[1].n, 901);
    let receipt = study.tell(items[1].id, None, &other).unwrap();
    assert_eq!(receipt.same_as, None);
    let refused = study.fail(items[1].id, "wrong", false).unwrap_err();
    assert!(
        refused.to_string().contains("retract --item 1"),
        "{refused}"
    );
}
