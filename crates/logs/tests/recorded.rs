//! Recordings as tasks: what is drawn, what judges, and what neither may see of the other.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::PathBuf;

use taskscout::features::{FeatureMap, apply_row};
use taskscout::rng::{Purpose, derive};
use taskscout::space::TaskSpace as _;
use taskscout::train::{Predictor, PredictorKind};
use taskscout_logs::{FlightName, Logs, Recording, Wind};
use taskscout_logs::{Recorded, RecordedConfig, TaskKnowledge};

const SHARE: f64 = 0.7;

/// A flight whose labels tell recording, row and axis apart: `1000 · recording + row`, and the same
/// with a half.
fn flight(number: usize, vehicle: &str, wind: Option<f64>, rows: usize) -> Recording {
    let size = if vehicle == "big" { 50.0 } else { 2.0 };
    let x = (0..rows).flat_map(|row| {
        let t = row as f64;
        [size + size * (0.3 * t).sin(), t * t, 4.0]
    });
    let label = |row: usize| (1000 * number + row) as f64;
    Recording {
        name: format!("{vehicle}_{number}"),
        path: PathBuf::from(format!("{vehicle}_{number}.csv")),
        flight: Some(FlightName {
            vehicle: vehicle.into(),
            trajectory: "line".into(),
            method: "pid".into(),
            condition: "some".into(),
        }),
        wind: wind.map(|mean_m_s| Wind {
            mean_m_s,
            gust_m_s: 0.0,
        }),
        outputs: vec!["x".into(), "z".into()],
        x: x.collect(),
        y: (0..rows)
            .flat_map(|row| [label(row), label(row) + 0.5])
            .collect(),
        ..Recording::default()
    }
}

fn logs() -> Logs {
    Logs {
        inputs: ["speed", "height", "constant"].map(str::to_owned).to_vec(),
        recordings: vec![
            flight(0, "big", Some(0.0), 40),
            flight(1, "big", Some(2.5), 31),
            flight(2, "big", Some(5.0), 20),
            flight(3, "small", Some(0.0), 50),
            flight(4, "small", Some(5.0), 10),
            flight(5, "lost", Some(1.0), 10),
            flight(6, "lost", None, 10),
        ],
        ..Logs::default()
    }
}

fn config(knowledge: TaskKnowledge) -> RecordedConfig {
    RecordedConfig {
        input_features: FeatureMap::identity(3).unwrap(),
        knowledge,
        train_share: SHARE,
    }
}

fn world(logs: Logs, knowledge: TaskKnowledge) -> Recorded {
    Recorded::new(logs, &[(1, 1), (3, 0)], config(knowledge)).unwrap()
}

/// The rows that samples came from, by their labels.
fn origin(world: &Recorded, task: usize, labels: &[f64]) -> Vec<usize> {
    let (recording, axis) = (task / 2, 0.5 * (task % 2) as f64);
    assert_eq!(world.tasks()[task].axis, ["x", "z"][task % 2]);
    let taken = world.offset(task) - axis - 1000.0 * recording as f64;
    let row = |label: &f64| (label + taken).round() as usize;
    labels.iter().map(row).collect()
}

#[test]
fn draws_are_disjoint_complete_and_never_of_the_last_part() {
    let world = world(logs(), TaskKnowledge::Wind);
    for (task, known) in world.tasks().iter().enumerate() {
        let all = world.logs().recordings[task / 2].rows();
        assert_eq!(known.rows, (SHARE * all as f64) as usize);
        let (mut seen, mut before) = (BTreeSet::new(), 0);
        for n in [0, 3, 1, known.rows - 4] {
            let samples = world.draw(task, before, n, 9).unwrap();
            assert_eq!(samples.len(), n);
            let rows = origin(&world, task, samples.outputs());
            for (at, row) in rows.iter().enumerate() {
                assert!(seen.insert(*row), "row {row} of task {task} came twice");
                // Inputs and labels are of the same row.
                let scaling = world.scaling(task);
                let height = samples.inputs()[3 * at + 1] * scaling.scale[1] + scaling.mean[1];
                assert!((height - (row * row) as f64).abs() < 1e-6);
            }
            before += n;
        }
        assert_eq!(seen, (0..known.rows).collect());
        let message = world.draw(task, before, 1, 9).unwrap_err().to_string();
        assert!(
            message.contains(&known.name) && message.contains("at most 0"),
            "{message}"
        );
        assert!(world.draw(task, usize::MAX, 1, 9).is_err());
    }
}

#[test]
fn the_order_of_draws_follows_the_seed() {
    let world = world(logs(), TaskKnowledge::Wind);
    let draw = |seed| world.draw(0, 0, 20, seed).unwrap().outputs().to_vec();
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
    let mut sorted = draw(1);
    sorted.sort_by(f64::total_cmp);
    assert_ne!(sorted, draw(1));
}

#[test]
fn targets_are_sampled_without_replacement() {
    let world = world(logs(), TaskKnowledge::OneHot);
    assert_eq!(world.targets(), [3, 6]);
    for (target, &task) in world.targets().iter().enumerate() {
        let n = world.tasks()[task].rows;
        let mut rng = derive(4, Purpose::Target, &[target as u64]);
        let few = world.sample_target(target, n / 2, &mut rng).unwrap();
        let times = origin(&world, task, few.outputs());
        assert!(times.is_sorted() && times.len() == n / 2, "{times:?}");
        let samples = world.sample_target(target, n, &mut rng).unwrap();
        let rows: BTreeSet<usize> = origin(&world, task, samples.outputs())
            .into_iter()
            .collect();
        assert_eq!(rows, (0..n).collect());
        let message = world
            .sample_target(target, n + 1, &mut rng)
            .unwrap_err()
            .to_string();
        assert!(message.contains("ask for fewer"), "{message}");
    }
}

fn constant(value: f64) -> Predictor {
    Predictor {
        kind: PredictorKind::TargetOnly,
        // The third input is a constant, and so zero: a label cannot hang on it.
        coefficients: vec![vec![value, 0.0, 1e9]],
        head: None,
        held_out_error: None,
    }
}

#[test]
fn the_last_part_judges() {
    let world = world(logs(), TaskKnowledge::Wind);
    // The first target has 31 rows, of which 21 may be learnt from.
    let labels: Vec<f64> = (21..31).map(|row| f64::from(1000 + row) + 0.5).collect();
    let squares = labels.iter().map(|y| y * y).sum::<f64>() / 10.0;
    let loss = world.target_loss(0, &constant(0.0)).unwrap();
    assert!((loss / squares - 1.0).abs() < 1e-12, "{loss} {squares}");
    let mean = labels.iter().sum::<f64>() / 10.0;
    let variance = labels.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / 10.0;
    assert!((world.target_variance(0) - variance).abs() < 1e-6);
    // Its inputs are standardised as those that are drawn.
    let slope = world.target_loss(0, &constant(1.0)).unwrap();
    let scaling = world.scaling(3);
    let expected: f64 = (21..31)
        .zip(&labels)
        .map(|(row, y)| {
            let speed = 50.0 + 50.0 * (0.3 * f64::from(row)).sin();
            ((speed - scaling.mean[0]) / scaling.scale[0] - y).powi(2) / 10.0
        })
        .sum();
    assert!((slope / expected - 1.0).abs() < 1e-12, "{slope} {expected}");
    let short = Predictor {
        coefficients: vec![vec![1.0]],
        ..constant(0.0)
    };
    assert!(world.target_loss(0, &short).is_err());
}

#[test]
fn scaling_is_of_the_vehicles_first_parts_only() {
    let plain = world(logs(), TaskKnowledge::Wind);
    // Mean and deviation over the first parts of all flights of a vehicle.
    for (task, flights) in [(0, 0..3), (2, 0..3), (7, 3..5)] {
        let mut speeds = Vec::new();
        for recording in &plain.logs().recordings[flights] {
            let first = (SHARE * recording.rows() as f64) as usize;
            speeds.extend(recording.x.chunks(3).take(first).map(|row| row[0]));
        }
        let n = speeds.len() as f64;
        let mean = speeds.iter().sum::<f64>() / n;
        let variance = speeds.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        let scaling = plain.scaling(task);
        assert!((scaling.mean[0] - mean).abs() < 1e-9);
        assert!((scaling.scale[0] - variance.sqrt()).abs() < 1e-9);
        assert!(
            (scaling.scale[2] - 1.0).abs() < 1e-12,
            "a constant is not blown up"
        );
    }
    // Rows that judge have no say in anything that is learnt from.
    let mut changed = logs();
    for recording in &mut changed.recordings {
        let first = (SHARE * recording.rows() as f64) as usize;
        recording.x[3 * first..]
            .iter_mut()
            .for_each(|x| *x = 1e6 - *x);
        recording.y[2 * first..].iter_mut().for_each(|y| *y = -7.0);
    }
    let changed = world(changed, TaskKnowledge::Wind);
    assert_eq!(plain.tasks(), changed.tasks());
    for (task, known) in plain.tasks().iter().enumerate() {
        assert_eq!(plain.scaling(task), changed.scaling(task));
        let draw = |world: &Recorded| world.draw(task, 0, known.rows, 5).unwrap();
        assert_eq!(draw(&plain), draw(&changed));
        let features = |world: &Recorded| world.features_as(task, 0, 100);
        assert_eq!(features(&plain), features(&changed));
    }
    let nothing = Predictor {
        coefficients: vec![vec![0.0; 3]],
        ..constant(0.0)
    };
    let loss = |world: &Recorded| world.target_loss(0, &nothing).unwrap();
    assert!((loss(&changed) - 49.0).abs() < 1e-9 && loss(&plain) > 1e5);
}

#[test]
fn features_of_one_task_in_anothers_scale() {
    let world = world(logs(), TaskKnowledge::Wind);
    let all = world.features_as(0, 6, 1000);
    assert_eq!((all.nrows(), all.ncols()), (28, 3));
    let scaling = world.scaling(6);
    for row in 0..28 {
        let height = (row * row) as f64;
        assert!((all[(row, 1)] - (height - scaling.mean[1]) / scaling.scale[1]).abs() < 1e-9);
    }
    let some = world.features_as(0, 6, 5);
    assert!((1..=5).contains(&some.nrows()));
    assert_eq!(world.features_as(0, 6, 0).nrows(), 1);
}

#[test]
fn one_hot_tasks_know_nothing_of_each_other() {
    let world = world(logs(), TaskKnowledge::OneHot);
    for (index, task) in world.tasks().iter().enumerate() {
        let features = apply_row(world.task_features(), task.vector());
        let expected: Vec<f64> = (0..14).map(|i| f64::from(u8::from(i == index))).collect();
        assert_eq!(features, expected);
        assert_eq!(world.find(&task.name.as_str().into()), Some(index));
    }
    assert_eq!(world.find(&"no such flight".into()), None);
}

#[test]
fn tasks_in_wind_share_features_with_their_vehicle_and_axis() {
    let world = world(logs(), TaskKnowledge::Wind);
    let features: Vec<Vec<f64>> = world
        .tasks()
        .iter()
        .map(|task| apply_row(world.task_features(), task.vector()))
        .collect();
    // Three winds give a square, two a line, and an unknown one a constant.
    for (task, powers, wind) in [
        (0, 3, 0.0),
        (2, 3, 0.25),
        (5, 3, 0.5),
        (8, 2, 0.5),
        (10, 1, 0.1),
        (13, 1, 0.0),
    ] {
        let found: Vec<f64> = features[task]
            .iter()
            .copied()
            .filter(|f| f.abs() > 0.0)
            .collect();
        let expected: Vec<f64> = (0..powers)
            .map(|power| f64::powi(wind, power))
            .filter(|f| f.abs() > 0.0)
            .collect();
        assert_eq!(found.len(), expected.len(), "task {task}: {found:?}");
        assert!(
            found
                .iter()
                .zip(&expected)
                .all(|(a, b)| (a - b).abs() < 1e-12),
            "{found:?}"
        );
    }
    let meet = |a: usize, b: usize| {
        features[a]
            .iter()
            .zip(&features[b])
            .any(|(a, b)| (a * b).abs() > 0.0)
    };
    assert!(meet(0, 2) && meet(1, 5) && meet(6, 8) && meet(10, 12));
    assert!(!meet(0, 1) && !meet(0, 6) && !meet(7, 10));
    // Flights that are alike in all that is known are still different tasks.
    let vectors: BTreeSet<String> = world
        .tasks()
        .iter()
        .map(|t| format!("{:?}", t.vector()))
        .collect();
    assert_eq!(vectors.len(), 14);
}

#[test]
fn spaces_leave_tasks_out() {
    let world = world(logs(), TaskKnowledge::Wind);
    let space = world.space_without(world.targets()).unwrap();
    assert_eq!(space.count(), Some(12));
    for (index, task) in world.tasks().iter().enumerate() {
        assert_eq!(
            space.contains(task.vector()),
            !world.targets().contains(&index)
        );
    }
    let all: Vec<usize> = (0..14).collect();
    assert!(world.space_without(&all).is_err());
}

#[test]
fn what_cannot_be_a_world_is_named() {
    let make = |logs: Logs, target: (usize, usize), share: f64, inputs: usize| {
        let config = RecordedConfig {
            input_features: FeatureMap::identity(inputs).unwrap(),
            train_share: share,
            ..config(TaskKnowledge::Wind)
        };
        Recorded::new(logs, &[target], config)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    let mut single = logs();
    single.recordings.truncate(1);
    single.recordings[0].outputs.truncate(1);
    single.recordings[0].y.truncate(40);
    let mut short = logs();
    short.recordings[4] = flight(4, "small", Some(5.0), 5);
    for (message, expected) in [
        (make(logs(), (0, 0), 0.0, 3), "`train_share` is 0"),
        (make(logs(), (0, 0), 1.0, 3), "`train_share` is 1"),
        (make(logs(), (0, 0), f64::NAN, 3), "`train_share` is NaN"),
        (
            make(logs(), (0, 0), SHARE, 2),
            "take 2 inputs, but the logs have 3",
        ),
        (make(logs(), (7, 0), SHARE, 3), "no output 0 of recording 7"),
        (make(logs(), (0, 2), SHARE, 3), "no output 2 of recording 0"),
        (
            make(single, (0, 0), SHARE, 3),
            "no recording beside the target",
        ),
        (make(short, (0, 0), 0.9, 3), "small_4 has 5 rows, too few"),
    ] {
        assert!(message.contains(expected), "{message}");
    }
}

/// Flights of one vehicle whose outputs lie within a few units of zero.
fn gentle() -> Logs {
    let flights = (0..3).map(|number| {
        let mut flight = flight(number, "big", Some(number as f64), 40);
        flight.y.iter_mut().for_each(|y| *y = (0.37 * *y).sin());
        flight
    });
    Logs {
        recordings: flights.collect(),
        ..logs()
    }
}

#[test]
fn an_offset_of_outputs_or_the_size_of_inputs_changes_nothing() {
    let target = [(1, 0)];
    let make = |change: &dyn Fn(&mut Recording)| {
        let mut logs = gentle();
        logs.recordings.iter_mut().for_each(change);
        Recorded::new(logs, &target, config(TaskKnowledge::Wind)).unwrap()
    };
    let plain = make(&|_| {});
    let moved = make(&|recording| recording.y.iter_mut().for_each(|y| *y += 1_048_576.0));
    let tiny = make(&|recording| recording.x.iter_mut().for_each(|x| *x *= 2e-15));
    let predictor = constant(0.3);
    for task in 0..6 {
        let draw = |world: &Recorded| world.draw(task, 0, 28, 5).unwrap();
        let (a, b, c) = (draw(&plain), draw(&moved), draw(&tiny));
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(plain.offset(task).abs() <= 0.0);
        assert!((moved.offset(task) - 1_048_576.0).abs() <= 8.0);
        let shift = moved.offset(task) - 1_048_576.0;
        let back: Vec<f64> = b.outputs().iter().map(|y| y + shift).collect();
        assert!(near(a.outputs(), &back), "task {task}");
        assert!(near(a.inputs(), c.inputs()), "task {task}");
    }
    let shift =
        plain.target_loss(0, &predictor).unwrap() - moved.target_loss(0, &predictor).unwrap();
    assert!(shift.abs() < 1e-6, "{shift}");
    assert!((plain.target_variance(0) / moved.target_variance(0) - 1.0).abs() < 1e-9);
    assert!(plain.warnings().is_empty() && moved.warnings().is_empty());
}

/// Labels of a target are few: what is taken off comes from the others.
#[test]
fn offsets_come_from_the_source_tasks() {
    let mut logs = gentle();
    logs.recordings[1].y.iter_mut().for_each(|y| *y += 5e4);
    let world = Recorded::new(logs, &[(1, 0), (1, 1)], config(TaskKnowledge::Wind)).unwrap();
    assert!((0..6).all(|task| world.offset(task).abs() <= 0.0));
}

#[test]
fn columns_that_precision_cannot_tell_are_named() {
    let mut logs = gentle();
    for recording in &mut logs.recordings {
        recording.x.iter_mut().step_by(3).for_each(|x| *x += 1e15);
    }
    logs.recordings[2].y.iter_mut().for_each(|y| *y += 1e9);
    let world = Recorded::new(logs, &[(1, 0)], config(TaskKnowledge::Wind)).unwrap();
    let all = world.warnings().join("\n");
    assert!(
        all.contains("input `speed` of big is 1e15") || all.contains("input `speed` of big is 1.0"),
        "{all}"
    );
    assert!(all.contains("of big_2_x lies"), "{all}");
    assert!(!all.contains("constant`"), "{all}");
}
