//! The pages that go from logs of robots to a model: their commands are run as they stand.

#![cfg(unix)]
#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::Scratch;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Runs all shell blocks of a page in a folder of their own, in which the repository's folders are where they are said to be.
fn follow(page: &str) -> (Scratch, String) {
    let scratch = Scratch::new();
    for folder in ["examples", "crates"] {
        std::os::unix::fs::symlink(root().join(folder), scratch.path(folder)).unwrap();
    }
    let text = std::fs::read_to_string(root().join("docs/how-to").join(page)).unwrap();
    let blocks = text.split("```sh\n").skip(1);
    let script: String = blocks
        .map(|block| block.split("```").next().unwrap())
        .collect();
    assert!(script.matches("taskscout ").count() >= 4, "{script}");
    let command = Path::new(env!("CARGO_BIN_EXE_taskscout")).parent().unwrap();
    let path = format!("{}:{}", command.display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-e", "-c", &script])
        .current_dir(scratch.folder())
        .env("PATH", path)
        .output()
        .unwrap();
    crate::common::succeeded(&output);
    let notes = String::from_utf8(output.stderr).unwrap();
    (scratch, notes)
}

#[test]
fn px4_logs_give_a_model_that_takes_logs() {
    let (scratch, notes) = follow("px4-logs-to-model.md");
    let summary = scratch.json("runs/today/summary.json");
    let output = &summary["outputs"][0];
    let [error, alone] =
        ["held_out_rmse", "target_only_rmse"].map(|key| output[key].as_f64().unwrap());
    assert!(error < alone && error < 0.2, "{error} {alone}");
    let text = std::fs::read_to_string(scratch.path("force.csv")).unwrap();
    assert!(text.starts_with("time,force,force_std"), "{text}");
    // Predictions of a log need its inputs only, so that no row is lost to the next one.
    assert_eq!(text.lines().count(), 1 + 1500);
    assert!(notes.contains("the graph takes the values of"), "{notes}");
    assert!(scratch.path("force.mcap").exists() && scratch.path("force.onnx").exists());

    // The same rows from a table that has the columns of the log.
    scratch.file(
        "raw.csv",
        "vehicle_local_position.vx,vehicle_local_position.vz,vehicle_attitude.q[0],vehicle_attitude.q[1],\
         vehicle_attitude.q[2],vehicle_attitude.q[3],actuator_motors.control[0],actuator_motors.control[1],\
         actuator_motors.control[2],actuator_motors.control[3]\n1,0.5,1,0,0,0,0.3,0.4,0.5,0.6\n",
    );
    scratch.file(
        "made.csv",
        "vehicle_local_position.vx,vehicle_local_position.vz,vehicle_attitude.q[0],vehicle_attitude.q[1],\
         vehicle_attitude.q[2],vehicle_attitude.q[3],motors\n1,0.5,1,0,0,0,0.45\n",
    );
    let force = |inputs: &str| {
        let line = format!("predict runs/today/model.safetensors --inputs {inputs} --json");
        let output = scratch.taskscout(&line);
        crate::common::succeeded(&output);
        let found: serde_json::Value =
            serde_json::from_str(&crate::common::stdout(&output)).unwrap();
        found["predictions"][0]["force"].as_f64().unwrap()
    };
    assert!((force("raw.csv") - force("made.csv")).abs() < 1e-9);
    scratch.file("less.csv", "vehicle_local_position.vx\n1\n");
    scratch.refused(
        "predict runs/today/model.safetensors --inputs less.csv",
        &["less.csv has neither the model's inputs", "vz"],
    );
}

#[test]
fn lerobot_episodes_give_a_model_that_takes_data_sets() {
    let (scratch, _) = follow("lerobot-to-model.md");
    let summary = scratch.json("runs/arm/summary.json");
    assert_eq!(summary["outputs"].as_array().unwrap().len(), 3);
    assert!(scratch.path("steps.parquet").exists() && scratch.path("arm.onnx").exists());
}
