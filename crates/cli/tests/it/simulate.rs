//! `taskscout simulate pendulum`, end to end with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use faer::Mat;
use taskscout::features::FeatureMap;
use taskscout::train::{Predictor, PredictorKind};
use taskscout_io::tables::Table;
use taskscout_models::{Basis, Names, Parts, Provenance, SavedModel, Uncertainty};
use taskscout_worlds::pendulum::{Environment, Policy, Settings, generator, simulate};

use crate::common::{Scratch, failed, stdout, succeeded};

const NAMES: [&str; 12] = [
    "task",
    "w1",
    "w2",
    "w3",
    "w4",
    "w5",
    "time_s",
    "angle_rad",
    "velocity_rad_s",
    "control_nm",
    "residual_nm",
    "label_nm",
];

fn command(line: &str) -> String {
    format!("simulate pendulum {line}")
}

/// The table that a command writes.
fn table_of(scratch: &Scratch, line: &str, out: &str) -> Table {
    scratch.done(&command(&format!("{line} --out {out}")));
    Table::read(scratch.path(out)).unwrap()
}

fn refused(scratch: &Scratch, line: &str, parts: &[&str]) {
    scratch.refused(&command(line), parts);
}

/// A model of the residual in still air with nominal gravity and linear damping alone.
fn still_air(inputs: usize) -> SavedModel {
    let mut powers = vec![vec![0; inputs]; 2];
    powers[0][inputs - 1] = 1;
    powers[1][inputs - 1] = 3;
    SavedModel::new(Parts {
        input_features: FeatureMap::monomials(inputs, powers).unwrap(),
        representation: None,
        predictor: Predictor {
            kind: PredictorKind::TargetOnly,
            coefficients: vec![vec![-0.625, -0.0625]],
            head: None,
            held_out_error: None,
        },
        uncertainty: Uncertainty {
            basis: Basis::Features,
            noise: vec![0.0],
            roots: vec![Mat::zeros(2, 2)],
        },
        input_scaling: None,
        output_scaling: None,
        tasks: None,
        provenance: Provenance::default(),
        names: Names::default(),
    })
    .unwrap()
}

#[test]
fn a_table_holds_what_the_library_simulates() {
    let scratch = Scratch::new();
    let tasks = [[-0.5, 0.0, 1.0, 0.0, 0.0], [0.25, -1.0, 0.5, 0.0, 0.5]];
    let line = "--w -0.5,0,1,0,0 --w 0.25,-1,0.5,0,0.5 --steps 50 --seed 3";
    let table = table_of(&scratch, line, "runs.csv");
    let names: Vec<&str> = table.columns().iter().map(|column| &*column.name).collect();
    assert_eq!(names, NAMES);
    for (index, task) in tasks.iter().enumerate() {
        let rows = 50 * index..50 * (index + 1);
        let column = |name: &str| table.numbers(name).unwrap()[rows.clone()].to_vec();
        let environment = Environment::from_task(task).unwrap();
        let (settings, mut rng) = (Settings::default(), generator(3, index));
        let run = simulate(&environment, &settings, Policy::Random, 50, &mut rng).unwrap();
        assert_eq!(column("task"), [index as f64; 50]);
        for (parameter, &value) in task.iter().enumerate() {
            assert_eq!(column(&format!("w{}", parameter + 1)), [value; 50]);
        }
        let times: Vec<f64> = (0..50).map(|step| run.time_s(step)).collect();
        assert_eq!(column("time_s"), times);
        assert_eq!(column("angle_rad"), run.angles_rad);
        assert_eq!(column("velocity_rad_s"), run.velocities_rad_s);
        assert_eq!(column("control_nm"), run.controls_nm);
        assert_eq!(column("residual_nm"), run.residuals_nm);
        assert_eq!(column("label_nm"), run.labels_nm);
    }
    let parquet = table_of(&scratch, line, "runs.parquet");
    assert_eq!(parquet.columns(), table.columns());
}

#[test]
fn one_line_says_what_was_done() {
    let scratch = Scratch::new();
    let line = "--w 0,0,0,0,0 --steps 1000 --out a.csv";
    let output = scratch.taskscout(&command(line));
    let said = succeeded(&output);
    let text = stdout(&output);
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(
        text.starts_with("1000 rows of 1 task written to a.csv: "),
        "{text}"
    );
    assert!(text.ends_with(" million steps a second\n"), "{text}");
    assert!(said.is_empty(), "{said}");
}

#[test]
fn the_model_controls_as_the_truth_does() {
    let scratch = Scratch::new();
    still_air(2)
        .save(scratch.path("still.safetensors"))
        .unwrap();
    let line = "--w 0,0,0.81,0,-1 --steps 500 --noise 0 --start -1,0.5";
    let truth = table_of(&scratch, &format!("{line} --policy true"), "true.csv");
    let model = table_of(
        &scratch,
        &format!("{line} --model still.safetensors"),
        "model.csv",
    );
    let none = table_of(&scratch, &format!("{line} --policy none"), "none.csv");
    let angles = |table: &Table| table.numbers("angle_rad").unwrap().to_vec();
    let apart = |a: &Table, b: &Table| {
        let pairs = angles(a).into_iter().zip(angles(b));
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    assert_eq!(angles(&truth).first(), Some(&-1.0));
    assert!(apart(&truth, &model) < 1e-9);
    assert!(apart(&truth, &none) > 0.01);
    assert_eq!(
        truth.numbers("label_nm").unwrap(),
        truth.numbers("residual_nm").unwrap()
    );
}

#[test]
fn a_file_is_replaced_only_by_force() {
    let scratch = Scratch::new();
    scratch.file("a.csv", "mine");
    let line = "--w 0,0,0,0,0 --steps 3 --out a.csv";
    refused(&scratch, line, &["a.csv is there already", "--force"]);
    assert_eq!(scratch.text("a.csv"), "mine");
    scratch.done(&command(&format!("{line} --force")));
    assert!(scratch.text("a.csv").starts_with("task,w1"));
}

#[test]
fn bad_input_is_refused_in_one_sentence() {
    let scratch = Scratch::new();
    let calm = "--w 0,0,0,0,0 --steps 3";
    let out = "--steps 3 --out a.csv";
    refused(
        &scratch,
        &format!("--w 0,-1.5,0,0,0 {out}"),
        &["--w 0,-1.5,0,0,0", "w2 (wind y) is -1.5"],
    );
    refused(
        &scratch,
        &format!("--w 0,0,0 {out}"),
        &["has 3 values", "give 5 numbers"],
    );
    refused(
        &scratch,
        &format!("--w 0,0,x,0,0 {out}"),
        &["has `x`, which is not a number"],
    );
    refused(
        &scratch,
        &format!("{calm} --out a.txt"),
        &[".csv nor .parquet"],
    );
    refused(
        &scratch,
        &format!("{calm} --out a.csv --step 0"),
        &["--step is 0"],
    );
    refused(
        &scratch,
        &format!("{calm} --out a.csv --noise -1"),
        &["--noise is -1"],
    );
    refused(
        &scratch,
        &format!("{calm} --out a.csv --start 1"),
        &["--start 1 has 1 values"],
    );
    refused(
        &scratch,
        "--w 0,0,0,0,0 --steps 0 --out a.csv",
        &["at least 1 step"],
    );
    refused(
        &scratch,
        "--w 0,0,0,0,0 --steps 99999999999 --out a.csv",
        &["at most 50000000 rows"],
    );
    assert!(!scratch.path("a.csv").exists());
}

#[test]
fn policies_and_models_must_fit() {
    let scratch = Scratch::new();
    still_air(3)
        .save(scratch.path("three.safetensors"))
        .unwrap();
    let line = "--w 0,0,0,0,0 --steps 3 --out a.csv";
    refused(
        &scratch,
        &format!("{line} --policy model"),
        &["name it with --model"],
    );
    refused(
        &scratch,
        &format!("{line} --policy true --model three.safetensors"),
        &["--model belongs to --policy model"],
    );
    refused(
        &scratch,
        &format!("{line} --model three.safetensors"),
        &["takes 3 inputs"],
    );
    refused(
        &scratch,
        &format!("{line} --model absent.safetensors"),
        &["absent.safetensors"],
    );
}

#[test]
fn a_runaway_is_a_failure_with_a_remedy() {
    let scratch = Scratch::new();
    let line = "--w 0.5,0,0,0,0 --steps 30 --start 0,500 --out a.csv";
    let parts = ["task 0 [0.5, 0, 0, 0, 0]", "step 0", "smaller step"];
    failed(&scratch.taskscout(&command(line)), 1, &parts);
    assert!(!scratch.path("a.csv").exists());
}
