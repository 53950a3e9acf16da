//! Studies as events: replay, retraction, what a rig really does, files, and everything that can be
//! wrong with one.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use rand_distr::{Distribution as _, StandardNormal};
use taskscout::data::{FoldSelection, Rows, RowsOrStatistics, Samples, Statistics};
use taskscout::features::FeatureMap;
use taskscout::forecast::{Interval, TheoryQuantityEstimates};
use taskscout::identify::{IdentifiedParameters, Misfit, SuspectedMissingFeature};
use taskscout::metric::count_sampled_tasks;
use taskscout::model::{Model, WarmStart};
use taskscout::rng::{Purpose, derive};
use taskscout::space::{List, Space};
use taskscout::strategy::{StrategyConfig, StrategyKind};
use taskscout::study::{Command, Event, Progress, Study, StudyConfig, StudyFile};
use taskscout::target::Target;
use taskscout::task::Task;
use taskscout::train::{JointRidge, LinearPosterior, TrainContext, Trainer as _, ridge};
use taskscout::{Error, Result};

const D: usize = 3;

fn rows(task: &[f64], n: usize, draw: u64) -> Samples {
    let mut rng = derive(3, Purpose::Collect, &[draw]);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let x: Vec<f64> = (0..D * n).map(|_| normal()).collect();
    let c = task[0] + 0.5 * task.get(1).copied().unwrap_or(0.0);
    let y = x.chunks(D).map(|x| c * (x[0] - x[2]) + 0.1 * normal());
    let y = y.collect();
    Samples::new(x, D, y, 1).unwrap()
}

fn study(space: Space) -> Study {
    let config = StudyConfig::new(
        space,
        FeatureMap::identity(D).unwrap(),
        vec![Target::unknown("tomorrow")],
        StrategyConfig::new(StrategyKind::Aware),
    );
    let config = StudyConfig {
        k: Some(1),
        ..config.unwrap()
    };
    Study::new(config).unwrap()
}

/// A study after its target, a round and an open second plan.
fn begun() -> Study {
    let mut study = study(Space::ball(4, 1.0).unwrap());
    study.tell_target(0, &rows(&[0.6, 0.8], 20, 1000)).unwrap();
    for item in study.ask(60).unwrap().items {
        study
            .tell(item.id, &rows(&item.task, item.n, item.id))
            .unwrap();
    }
    study.ask(60).unwrap();
    study
}

fn open_items(study: &Study) -> Vec<(u64, Task, usize)> {
    let open = study
        .items()
        .iter()
        .filter(|one| one.progress == Progress::Open);
    open.map(|one| (one.item.id, one.item.task.clone(), one.item.n))
        .collect()
}

fn bytes(study: &Study) -> Vec<u8> {
    study.snapshot().unwrap()
}

fn refused<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn a_study_is_what_its_events_make() {
    let study = begun();
    let mut log = Vec::new();
    for (index, event) in study.events().enumerate() {
        if index == 0 {
            let Event::Created { config, .. } = event else {
                panic!("{event:?}")
            };
            log = bytes(&Study::new((**config).clone()).unwrap());
        } else {
            log.extend(event.to_bytes().unwrap());
        }
    }
    assert_eq!(log, bytes(&study));
    let again = Study::restore(&log).unwrap();
    assert_eq!(bytes(&again), log);
    assert_eq!(again.items(), study.items());
    assert_eq!(again.data(), study.data());
    let mut both = [study, again];
    let plans = both.each_mut().map(|study| {
        for (id, task, n) in open_items(study) {
            study.tell(id, &rows(&task, n, id)).unwrap();
        }
        study.ask(80).unwrap()
    });
    assert_eq!(plans[0], plans[1]);
    assert_eq!(bytes(&both[0]), bytes(&both[1]));
    // JSON is for people, and comes back as well.
    let text = serde_json::to_string(&both[0]).unwrap();
    let read: Study = serde_json::from_str(&text).unwrap();
    assert_eq!(bytes(&read), bytes(&both[0]));
}

#[test]
fn a_retracted_batch_was_never_seen() {
    let (mut with, mut without) = (begun(), begun());
    let open = open_items(&with);
    let mut wrong = Vec::new();
    for (at, (id, task, n)) in open.iter().enumerate() {
        // Wrong rows come before, between and after right ones, of items and of the target.
        let (garbage, right) = (rows(&[9.0], n / 2 + 1, 77), rows(task, n / 2, *id));
        if at % 2 == 0 {
            wrong.push(with.tell(*id, &garbage).unwrap());
        }
        for study in [&mut with, &mut without] {
            if study.items()[usize::try_from(*id).unwrap()].progress == Progress::Open {
                study.tell(*id, &right).unwrap();
            }
        }
        wrong.push(with.tell_target(0, &garbage).unwrap());
        let late = rows(&[0.6, 0.8], 5 + at, 500 + *id);
        for study in [&mut with, &mut without] {
            study.tell_target(0, &late).unwrap();
        }
    }
    let old = Task::point(vec![0.0, 0.0, 1.0, 0.0]);
    wrong.push(with.add(&old, &rows(&old, 30, 9)).unwrap());
    assert_ne!(bytes(&with), bytes(&without));
    let mut loaded = Study::restore(&bytes(&with)).unwrap();
    for study in [&mut with, &mut loaded] {
        for batch in &wrong {
            study.retract(batch).unwrap();
        }
        assert_eq!(bytes(study), bytes(&without));
        assert_eq!(study.data(), without.data());
        assert_eq!(study.items(), without.items());
        assert_eq!(study.predictors().unwrap(), without.predictors().unwrap());
    }
    let again = refused(with.retract(&wrong[0]));
    assert!(again.contains("was never told, was retracted"), "{again}");
}

/// What was derived from rows goes with them, also where as many come back.
#[test]
fn nothing_of_a_retracted_batch_stays_in_what_is_derived() {
    let mut study = begun();
    let first = study.batches().next().unwrap().0.clone();
    let before = study.target_only().unwrap();
    study.retract(&first).unwrap();
    study.tell_target(0, &rows(&[-3.0], 20, 5)).unwrap();
    assert_ne!(study.target_only().unwrap(), before);
    let fresh = Study::restore(&bytes(&study)).unwrap();
    assert_eq!(study.target_only().unwrap(), fresh.target_only().unwrap());
    assert_eq!(study.predictors().unwrap(), fresh.predictors().unwrap());
}

#[test]
fn items_take_fewer_rows_more_rows_and_rows_of_another_task() {
    let mut study = begun();
    let open = open_items(&study);
    let (id, task, n) = &open[0];
    let before = study.data().source_rows();
    study.tell(*id, &rows(task, n + 7, 1)).unwrap();
    let told = &study.items()[usize::try_from(*id).unwrap()];
    assert_eq!((told.collected, &told.progress), (n + 7, &Progress::Done));
    assert_eq!(study.data().source_rows(), before + n + 7);
    let twice = refused(study.tell(*id, &rows(task, 1, 2)));
    assert!(
        twice.contains("is complete: use `add` for more rows"),
        "{twice}"
    );

    let (id, task, n) = &open[1];
    study.tell(*id, &rows(task, 1, 3)).unwrap();
    study.fail(*id, "the fan broke").unwrap();
    let failed = &study.items()[usize::try_from(*id).unwrap()];
    assert_eq!(failed.collected, 1);
    assert!(*n > 1);

    let mut study = begun();
    let (id, _, n) = open[0].clone();
    let achieved = Task::point(vec![0.1, 0.2, 0.3, 0.4]);
    study
        .tell_achieved(id, &achieved, &rows(&achieved, n, 4))
        .unwrap();
    assert_eq!(study.data().rows_of(&achieved.id), n);
    assert_eq!(study.data().rows_of(&open[0].1.id), 0);
    let outside = Task::point(vec![2.0, 0.0, 0.0, 0.0]);
    let told = refused(study.add(&outside, &rows(&outside, 4, 5)));
    assert!(told.contains("outside the space"), "{told}");
    let narrow = Task::point(vec![0.5]);
    assert!(refused(study.add(&narrow, &rows(&narrow, 4, 5))).contains("1 values where 4"));
    let known = Task::new(achieved.id.clone(), vec![0.4, 0.3, 0.2, 0.1]);
    let told = refused(study.add(&known, &rows(&known, 4, 6)));
    assert!(told.contains("give it another id"), "{told}");
}

/// Two flights in the same wind are two tasks, in plans, in data and in what is available.
#[test]
fn tasks_of_the_same_parameters_are_told_apart() {
    let names = ["monday", "tuesday", "storm"].map(str::to_owned).to_vec();
    let list = List::named(names, &[vec![1.0], vec![1.0], vec![3.0]]).unwrap();
    let mut study = study(Space::List(list));
    study.tell_target(0, &rows(&[2.0], 20, 1)).unwrap();
    let left = |task: &Task| Some(if task.id.as_str() == "monday" { 4 } else { 50 });
    let plan = study.ask_within(60, &left).unwrap();
    let mut planned: Vec<(String, usize)> = plan
        .items
        .iter()
        .map(|item| (item.task.id.to_string(), item.n))
        .collect();
    planned.sort();
    assert_eq!(planned.iter().map(|(_, n)| n).sum::<usize>(), 60);
    assert!(
        planned.iter().all(|(id, n)| id != "monday" || *n <= 4),
        "{planned:?}"
    );
    for item in plan.items {
        study
            .tell(item.id, &rows(&item.task, item.n, item.id))
            .unwrap();
    }
    let tasks = study.data().rows_by_task();
    assert_eq!(tasks.len(), planned.len());
    let old = Task::new("logs of 2021", vec![1.0]);
    study.add(&old, &rows(&old, 9, 8)).unwrap();
    assert_eq!(study.data().rows_of(&old.id), 9);
    let moved = Task::new("storm", vec![3.5]);
    assert!(refused(study.add(&moved, &rows(&moved, 9, 8))).contains("give it another id"));
}

/// Data that nobody asked for are data like others.
#[test]
fn added_rows_help_as_much_as_rows_that_were_asked_for() {
    let tasks: Vec<Task> = (0..4)
        .map(|i| Task::point((0..4).map(|j| f64::from(u8::from(i == j))).collect()))
        .collect();
    let mut study = study(Space::ball(4, 1.0).unwrap());
    study.tell_target(0, &rows(&[0.6, 0.8], 20, 1)).unwrap();
    for (task, draw) in tasks.iter().zip(10..) {
        study.add(task, &rows(task, 50, draw)).unwrap();
    }
    let model = study.model().unwrap();
    assert_eq!(model.dim(), 1);
    let force = study.predictors().unwrap()[0].returned.coefficients[0].clone();
    assert!((force[0] - 1.0).abs() < 0.1, "{force:?}");
    let plan = study.ask(40).unwrap();
    assert_eq!(plan.budget(), 40);
}

#[test]
fn settling_changes_nothing_but_what_can_be_retracted() {
    let mut study = begun();
    let (id, task, n) = open_items(&study)[0].clone();
    study.tell(id, &rows(&task, n, 4)).unwrap();
    let before = study.predictors().unwrap();
    let batch = study.batches().next().unwrap().0.clone();
    let mut settled = study.clone();
    settled.settle().unwrap();
    assert_eq!(settled.batches().count(), 0);
    assert_eq!(
        (settled.data(), settled.items()),
        (study.data(), study.items())
    );
    assert!(refused(settled.retract(&batch)).contains("is settled"));
    let again = Study::restore(&bytes(&settled)).unwrap();
    assert_eq!(bytes(&again), bytes(&settled));
    assert_eq!(again.predictors().unwrap(), before);
    // Later batches can be.
    let late = settled.tell_target(0, &rows(&[1.0], 8, 2)).unwrap();
    let told = bytes(&settled);
    settled.retract(&late).unwrap();
    assert_eq!(bytes(&settled), bytes(&again));
    assert_ne!(told, bytes(&again));
}

#[test]
fn events_that_do_not_follow_are_refused_whole() {
    let study = begun();
    let events: Vec<Event> = study.events().cloned().collect();
    let mut fresh = Study::restore(&bytes(&study)).unwrap();
    for event in &events {
        if matches!(event, Event::TargetTold { .. }) {
            continue; // rows of the target may come at any time
        }
        let told = refused(fresh.apply(event.clone()));
        assert!(
            told.contains("does not follow") || told.contains("is complete"),
            "{told}"
        );
        assert_eq!(bytes(&fresh), bytes(&study));
    }
    let ask = study.decide(&Command::Fail {
        item: 999,
        reason: "",
    });
    assert!(refused(ask).contains("there is no item 999"));
    let unknown = "0123456789abcdef".into();
    let told = refused(fresh.retract(&unknown));
    assert!(
        told.contains("there is no batch 0123456789abcdef"),
        "{told}"
    );
}

/// Whatever happens to the bytes, one sentence says so: no byte can change unnoticed.
#[test]
fn cut_flipped_and_newer_bytes_are_told_in_one_sentence() {
    let study = begun();
    let whole = bytes(&study);
    for length in 0..whole.len() {
        let result = Study::restore(&whole[..length]);
        match &result {
            // A snapshot that ends between two events is that of an earlier moment.
            Ok(earlier) => assert_eq!(bytes(earlier), &whole[..length]),
            Err(error) => assert!(matches!(error, Error::Unreadable { .. }), "{error}"),
        }
        if let Ok((recovered, used)) = Study::recover(&whole[..length]) {
            assert_eq!(bytes(&recovered), &whole[..used]);
        }
    }
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        let error = Study::restore(&flipped).unwrap_err().to_string();
        assert!(!error.contains('\n') && error.len() < 400, "{error}");
    }
    let mut newer = whole;
    newer["taskscout study ".len()] = 9;
    let told = refused(Study::restore(&newer));
    assert!(
        told.contains("format 9") && told.contains("use a newer taskscout"),
        "{told}"
    );
    for nothing in [&b""[..], b"{}", b"{\"events\":[]}", b"hello"] {
        let told = refused(Study::restore(nothing));
        assert!(!told.is_empty() && !told.contains('\n'), "{told}");
    }
}

/// A tell into a study with the features of the paper's largest experiment.
#[test]
fn saving_a_batch_takes_little_more_than_its_statistics() {
    let d = 200;
    let config = StudyConfig::new(
        Space::ball(79, 1.0).unwrap(),
        FeatureMap::identity(d).unwrap(),
        vec![Target::unknown("t")],
        StrategyConfig::new(StrategyKind::Passive),
    );
    let study = Study::new(config.unwrap()).unwrap();
    let x: Vec<f64> = (0..d * 1000).map(|i| f64::from(i as u32).sin()).collect();
    let samples = Samples::new(x, d, vec![1.0; 1000], 1).unwrap();
    let task = Task::point(vec![0.1; 79]);
    let event = study.decide(&Command::Add {
        task: &task,
        samples: &samples,
    });
    let statistics = 8 * (d * (d + 1) / 2 + d + 1);
    let size = event.unwrap().to_bytes().unwrap().len();
    assert!(size < statistics + 4_000, "{size} against {statistics}");
    // A few rows take the space of a few rows.
    let few = Samples::new(samples.inputs()[..5 * d].to_vec(), d, vec![1.0; 5], 1).unwrap();
    let event = study.decide(&Command::Add {
        task: &task,
        samples: &few,
    });
    let size = event.unwrap().to_bytes().unwrap().len();
    assert!(size < 8 * 5 * (d + 1) + 4_000, "{size}");
}

fn scratch(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("taskscout-events-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn a_file_holds_all_that_took_effect() {
    let path = scratch("campaign.study");
    let mut file = StudyFile::create(&path, study(Space::ball(4, 1.0).unwrap())).unwrap();
    assert!(refused(StudyFile::create(&path, begun())).contains("creating "));
    file.tell_target(0, &rows(&[0.6, 0.8], 20, 1000)).unwrap();
    let mut batches = Vec::new();
    for item in file.ask(60).unwrap().items {
        batches.push(
            file.tell(item.id, &rows(&item.task, item.n, item.id))
                .unwrap(),
        );
        assert_eq!(
            bytes(&Study::restore(&std::fs::read(&path).unwrap()).unwrap()),
            bytes(&file)
        );
    }
    assert!(file.tell(0, &rows(&[1.0], 2, 1)).is_err());
    assert_eq!(file.add_target(&Target::unknown("next week")).unwrap(), 1);
    file.tell_target(1, &rows(&[0.2, 0.1], 6, 1001)).unwrap();
    file.note("the second fan is loud").unwrap();
    file.retract(&batches[1]).unwrap();
    let expected = bytes(&file);
    drop(file);
    let mut file = StudyFile::open(&path).unwrap();
    assert_eq!((bytes(&file), file.dropped()), (expected.clone(), 0));
    assert_eq!(file.notes(), ["the second fan is loud"]);
    let item = &file.items()[1].item.clone();
    file.tell(item.id, &rows(&item.task, item.n, 40)).unwrap();
    drop(file);
    // The program was killed while it wrote the last event.
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 3]).unwrap();
    let mut file = StudyFile::open(&path).unwrap();
    assert!(file.dropped() > 0);
    assert_eq!(bytes(&file), expected);
    file.tell(item.id, &rows(&item.task, item.n, 40)).unwrap();
    let expected = bytes(&file);
    file.settle().unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() < whole.len() as u64 + 5_000);
    drop(file);
    let mut copy = Study::restore(&expected).unwrap();
    copy.settle().unwrap();
    assert_eq!(bytes(&StudyFile::open(&path).unwrap()), bytes(&copy));
    let missing = refused(StudyFile::open(path.with_extension("not")));
    assert!(missing.starts_with("opening "), "{missing}");
    std::fs::write(&path, "no study at all").unwrap();
    let error = refused(StudyFile::open(&path));
    assert!(
        error.contains("campaign.study: the study is no saved study"),
        "{error}"
    );
}

/// What 0.1.0 saved goes on as if it had never been closed.
#[test]
fn studies_of_version_0_1_0_open() {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let cases: [(&str, usize, &[&[f64]]); 3] = [
        (
            "ball",
            8,
            &[&[
                1.006_015_460_285_043_7,
                -0.002_738_587_824_970_894_3,
                -1.018_186_822_832_903_4,
            ]],
        ),
        (
            "list",
            10,
            &[&[
                1.497_572_873_097_602_3,
                0.000_893_237_591_925_940_4,
                -1.508_506_821_937_979,
            ]],
        ),
        (
            "outputs",
            3,
            &[
                &[
                    1.536_953_216_969_101,
                    -0.048_910_278_489_529_43,
                    -1.538_562_503_740_853_2,
                ],
                &[
                    1.494_065_230_009_363_5,
                    1.024_533_478_191_021_4,
                    -1.506_778_080_681_545,
                ],
            ],
        ),
    ];
    for (name, items, coefficients) in cases {
        let path = fixtures.join(format!("study-0.1.0-{name}.json"));
        let study = Study::restore(&std::fs::read(&path).unwrap()).unwrap();
        assert!(
            study.items().len() >= items,
            "{name}: {}",
            study.items().len()
        );
        let ours = study.predictors().unwrap()[0].returned.coefficients.clone();
        for (ours, theirs) in ours
            .iter()
            .flatten()
            .zip(coefficients.iter().copied().flatten())
        {
            // What this version makes of the statistics that 0.1.0 saved.
            let close = if name == "list" { 1e-6 } else { 1e-9 };
            assert!((ours - theirs).abs() < close, "{name}: {ours} {theirs}");
        }
        assert_eq!(
            bytes(&Study::restore(&bytes(&study)).unwrap()),
            bytes(&study)
        );
        // In a file of its own it goes on.
        let copy = scratch(&format!("{name}.study"));
        std::fs::copy(&path, &copy).unwrap();
        let mut file = StudyFile::open(&copy).unwrap();
        for (id, task, n) in open_items(&file) {
            let told = rows(&task, n, id);
            file.tell(id, &told).unwrap();
        }
        assert!(file.ask(50).unwrap().budget() > 0);
        let expected = bytes(&file);
        drop(file);
        assert_eq!(bytes(&StudyFile::open(&copy).unwrap()), expected);
    }
    let text = std::fs::read_to_string(fixtures.join("study-0.1.0-ball.json")).unwrap();
    for (from, to) in [
        ("\"id\":3", "\"id\":4"),
        ("\"collected\":3", "\"collected\":3000"),
        ("\"task_dim\":5", "\"task_dim\":6"),
        ("\"rounds\":", "\"rounds\":\"no\",\"x\":"),
    ] {
        assert!(text.contains(from), "{from}");
        let told = refused(Study::restore(text.replacen(from, to, 1).as_bytes()));
        assert!(!told.contains('\n'), "{told}");
    }
}

fn keys(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap();
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(|k| &**k).collect();
    keys.sort_unstable();
    keys.join(" ")
}

fn posterior() -> LinearPosterior {
    LinearPosterior {
        mean: vec![0.0],
        covariance: faer::Mat::identity(1, 1),
        noise: 1.0,
        degrees_of_freedom: 3.0,
    }
}

/// Files are read by their keys: these do not follow the names in code.
#[test]
fn what_files_hold_keeps_its_keys() {
    let batch = RowsOrStatistics::StatisticsAndRows {
        statistics: std::sync::Arc::new(Statistics::new(1, 1)),
        rows: Rows::default(),
    };
    assert_eq!(keys(&batch), "Kept");
    let target = Target::distribution("all", vec![vec![1.0]]);
    assert_eq!(
        serde_json::to_string(&target).unwrap(),
        r#"{"name":"all","weight":1.0,"kind":"second-moment","moment":[[1.0]]}"#
    );
    assert_eq!(keys(&posterior()), "covariance freedom mean noise");

    let study = begun();
    let context = TrainContext {
        k: Some(1),
        candidate_targets: vec![0],
        ..TrainContext::default()
    };
    let fit = JointRidge::default().fit(study.data(), &context).unwrap();
    let model = Model {
        warm_start: Some(WarmStart {
            representation: fit.model.representation.clone(),
            map: None,
        }),
        ..fit.model
    };
    assert_eq!(
        keys(&model),
        "map noise report representation spectrum start structure"
    );
    assert_eq!(
        serde_json::to_string(&model.structure).unwrap(),
        r#""factored""#
    );
    assert_eq!(
        keys(&model.report),
        "conditions converged evidence freedom iterations labels lambda notes objective residual trace"
    );
    let candidate = &fit.candidates[0][0];
    assert_eq!(keys(candidate), "beliefs held_out odds predictor");
    assert_eq!(keys(&candidate.predictor), "coefficients held_out kind");
    assert_eq!(
        keys(&candidate.held_out[0]),
        "coefficients fold log_density squares variances"
    );
    assert_eq!(
        keys(&study.predictors().unwrap()[0]),
        "beliefs candidates kind reason returned target weights"
    );
}

/// The same for what is derived from a study and written into run folders.
#[test]
fn what_run_folders_hold_keeps_its_keys() {
    let data = begun();
    let alone = data
        .data()
        .target_statistics(0, FoldSelection::All)
        .unwrap();
    assert_eq!(
        keys(&ridge(&alone, 0).unwrap()),
        "coefficients freedom lambda log_evidence noise"
    );
    assert_eq!(keys(&count_sampled_tasks(data.data())), "long_term tasks");
    let found = IdentifiedParameters {
        task: vec![0.0],
        low: vec![0.0],
        high: vec![0.0],
        confidence: 0.9,
        posterior_samples: Vec::new(),
        coefficients: vec![vec![0.0]],
        log_odds: 0.0,
        noise: 1.0,
    };
    assert_eq!(
        keys(&found),
        "coefficients confidence draws high log_odds low noise task"
    );
    let missing = SuspectedMissingFeature {
        feature: "1".into(),
        exponents: vec![0],
        residual_variance: 1.0,
    };
    assert_eq!(keys(&missing), "exponents feature residual");
    let misfit = Misfit {
        noise: 1.0,
        residual_variance: 2.0,
        expected_variance: 1.0,
        standard_error: 0.1,
        tasks: 5,
        remedies: vec![missing],
    };
    assert_eq!(keys(&misfit), "blur expected noise remedies residual tasks");
    let one = Interval::of(&[1.0]);
    let quantities = TheoryQuantityEstimates {
        k: 1,
        k_star: one,
        condition_number: one,
        largest_l2_norm: one,
        largest_l1_norm: one,
    };
    assert_eq!(keys(&quantities), "condition k k_star l1 longest");
}
