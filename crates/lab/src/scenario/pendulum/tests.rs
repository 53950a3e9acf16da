//! Reports on runs in which something went wrong.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use serde_json::json;
use taskscout::features::FeatureMap;
use taskscout::train::{Predictor, PredictorKind};
use taskscout_report::{ExperimentReport, ResultRow};
use taskscout_worlds::pendulum::{Environment, Pendulum, PendulumConfig, TaskFeatures};

use super::{control, name, report};
use crate::record::{Contender, Serves, TargetDetails, Trial, TrialDetails, TrialRecord};

const TARGETS: [[f64; 5]; 3] = [
    [0.0, 0.0, 1.0, 0.5, 0.0],
    [0.0, 0.0, 0.5, 0.0, 0.5],
    [0.0, 0.0, 1.0, 1.0, -1.0],
];

fn world() -> Pendulum {
    Pendulum::new(PendulumConfig {
        input_features: FeatureMap::identity(2).unwrap(),
        task_features: TaskFeatures::Affine,
        noise: 0.5,
        targets: TARGETS.map(Vec::from).to_vec(),
        episode_steps: None,
        start_range: [0.0; 2],
    })
    .unwrap()
}

/// A finished trial for one of the targets.
fn record(index: usize) -> TrialRecord {
    let name = name(&TARGETS[index]);
    TrialRecord {
        rows: vec![ResultRow {
            strategy: "target-only".into(),
            target: Some(name.clone()),
            returned_loss: Some(1.0),
            ..ResultRow::default()
        }],
        plans: Vec::new(),
        details: Some(TrialDetails {
            targets: vec![TargetDetails::default()],
            misfit: None,
        }),
        trial: Trial {
            contender: Contender::TargetOnly,
            seed: 0,
            serves: Serves::One { index, name },
        },
    }
}

fn reported(records: &[TrialRecord]) -> ExperimentReport {
    let rows = records.iter().flat_map(|one| one.rows.clone()).collect();
    let mut report = ExperimentReport::new(rows, json!({}), json!({})).unwrap();
    report::add(&world(), records, &mut report).unwrap();
    report
}

#[test]
fn a_target_whose_trials_all_failed_is_left_out() {
    let two = reported(&[record(0), record(2)]);
    for target in &two.summary.targets {
        assert!(target.extra.contains_key("control"), "{}", target.target);
    }
    assert_eq!(two.tables.len(), 2);
    // A single one left stands at the top, with its own figures and no other's.
    let one = reported(&[record(0)]);
    assert_eq!(one.tables.len(), 1);
    let of_two = &two.summary.targets[0].extra["control"];
    assert_eq!(&one.summary.extra["control"], of_two);
}

#[test]
fn a_controller_that_always_fails_has_no_score() {
    // Pushes with the motion, harder than anything brakes.
    let wild = Predictor {
        kind: PredictorKind::TargetOnly,
        coefficients: vec![vec![0.0, -1e6]],
        head: None,
        held_out_error: None,
    };
    let environment = Environment::from_task(&TARGETS[0]).unwrap();
    let features = FeatureMap::identity(2).unwrap();
    let controllers = vec![("wild".to_owned(), vec![&wild])];
    let scores = control::scores(&environment, &features, &controllers).unwrap();
    let (_, score) = &scores[1];
    assert!(score.lost > 0 && score.mean_angle.is_nan(), "{score:?}");
}
