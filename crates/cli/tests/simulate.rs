//! `taskscout simulate pendulum`, end to end with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::path::PathBuf;
use std::process::{Command, Output};

use faer::Mat;
use taskscout::features::FeatureMap;
use taskscout::train::{Predictor, PredictorKind};
use taskscout_io::tables::Table;
use taskscout_models::{Basis, Names, Parts, Provenance, SavedModel, Uncertainty};
use taskscout_worlds::pendulum::{Environment, Policy, Settings, generator, simulate};

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

struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn simulate(&self, line: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_taskscout"))
            .args(["simulate", "pendulum"])
            .args(line.split_whitespace())
            .current_dir(self.0.path())
            .output()
            .unwrap()
    }

    /// The table that a command writes.
    fn table(&self, line: &str, out: &str) -> Table {
        let output = self.simulate(&format!("{line} --out {out}"));
        assert!(output.status.success(), "{}", stderr(&output));
        Table::read(self.path(out)).unwrap()
    }

    fn refused(&self, line: &str, parts: &[&str]) {
        self.ends_with(2, line, parts);
    }

    fn ends_with(&self, code: i32, line: &str, parts: &[&str]) {
        let output = self.simulate(line);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{line}: {message}");
        assert!(output.stdout.is_empty(), "{line}");
        assert_eq!(message.trim().lines().count(), 1, "one sentence: {message}");
        for part in parts {
            assert!(message.contains(part), "`{part}` in: {message}");
        }
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
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
            held_out: None,
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
    let table = scratch.table(line, "runs.csv");
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
    let parquet = scratch.table(line, "runs.parquet");
    assert_eq!(parquet.columns(), table.columns());
}

#[test]
fn one_line_says_what_was_done() {
    let scratch = Scratch::new();
    let line = "--w 0,0,0,0,0 --steps 1000 --out a.csv";
    let output = scratch.simulate(line);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(
        text.starts_with("1000 rows of 1 task written to a.csv: "),
        "{text}"
    );
    assert!(text.ends_with(" million steps a second\n"), "{text}");
    assert!(output.stderr.is_empty());
}

#[test]
fn the_model_controls_as_the_truth_does() {
    let scratch = Scratch::new();
    still_air(2)
        .save(scratch.path("still.safetensors"))
        .unwrap();
    let line = "--w 0,0,0.81,0,-1 --steps 500 --noise 0 --start -1,0.5";
    let truth = scratch.table(&format!("{line} --policy true"), "true.csv");
    let model = scratch.table(&format!("{line} --model still.safetensors"), "model.csv");
    let none = scratch.table(&format!("{line} --policy none"), "none.csv");
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
    std::fs::write(scratch.path("a.csv"), "mine").unwrap();
    let line = "--w 0,0,0,0,0 --steps 3 --out a.csv";
    scratch.refused(line, &["a.csv is there already", "--force"]);
    assert_eq!(
        std::fs::read_to_string(scratch.path("a.csv")).unwrap(),
        "mine"
    );
    assert!(
        scratch
            .simulate(&format!("{line} --force"))
            .status
            .success()
    );
    assert!(
        std::fs::read_to_string(scratch.path("a.csv"))
            .unwrap()
            .starts_with("task,w1")
    );
}

#[test]
fn bad_input_is_refused_in_one_sentence() {
    let scratch = Scratch::new();
    let calm = "--w 0,0,0,0,0 --steps 3";
    let out = "--steps 3 --out a.csv";
    scratch.refused(
        &format!("--w 0,-1.5,0,0,0 {out}"),
        &["--w 0,-1.5,0,0,0", "w2 (wind y) is -1.5"],
    );
    scratch.refused(
        &format!("--w 0,0,0 {out}"),
        &["has 3 values", "give 5 numbers"],
    );
    scratch.refused(
        &format!("--w 0,0,x,0,0 {out}"),
        &["has `x`, which is no number"],
    );
    scratch.refused(&format!("{calm} --out a.txt"), &[".csv nor .parquet"]);
    scratch.refused(&format!("{calm} --out a.csv --step 0"), &["--step is 0"]);
    scratch.refused(
        &format!("{calm} --out a.csv --noise -1"),
        &["--noise is -1"],
    );
    scratch.refused(
        &format!("{calm} --out a.csv --start 1"),
        &["--start 1 has 1 values"],
    );
    scratch.refused("--w 0,0,0,0,0 --steps 0 --out a.csv", &["at least 1 step"]);
    scratch.refused(
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
    scratch.refused(&format!("{line} --policy model"), &["name it with --model"]);
    scratch.refused(
        &format!("{line} --policy true --model three.safetensors"),
        &["--model belongs to --policy model"],
    );
    scratch.refused(
        &format!("{line} --model three.safetensors"),
        &["takes 3 inputs"],
    );
    scratch.refused(
        &format!("{line} --model absent.safetensors"),
        &["absent.safetensors"],
    );
}

#[test]
fn a_runaway_is_a_failure_with_a_remedy() {
    let scratch = Scratch::new();
    let line = "--w 0.5,0,0,0,0 --steps 30 --start 0,500 --out a.csv";
    let parts = ["task 0 [0.5, 0, 0, 0, 0]", "step 0", "smaller step"];
    scratch.ends_with(1, line, &parts);
    assert!(!scratch.path("a.csv").exists());
}
