//! `reproduce all` and failing trials, with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const SMALL: &str = include_str!("../../../experiments/small.toml");
/// About the least that every built-in experiment accepts.
const TINY: [&str; 10] = [
    "--quick",
    "--seeds",
    "1",
    "--strategies",
    "passive-fixed",
    "--budget-scale",
    "0.06",
    "--n-target",
    "400",
    "--resume", // goes on with what is there, or starts
];

fn taskscout(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_taskscout"))
        .args(arguments)
        .output()
        .unwrap()
}

fn reproduce(experiment: &str, out: &Path, options: &[&str]) -> Output {
    let out = out.display().to_string();
    taskscout(&[&["reproduce", experiment, "--out", &out], options].concat())
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn read(path: PathBuf) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn json(path: PathBuf) -> Value {
    serde_json::from_str(&read(path)).unwrap()
}

/// The same without what a clock measured.
fn timeless(mut summary: Value) -> Value {
    for (_, strategy) in summary["strategies"].as_object_mut().unwrap() {
        strategy["seconds"] = Value::Null;
    }
    summary
}

fn refused(output: &Output, parts: &[&str]) {
    let message = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert_eq!(message.trim().lines().count(), 1, "one sentence: {message}");
    for part in parts {
        assert!(message.contains(part), "`{part}` in: {message}");
    }
}

#[test]
fn all_runs_each_as_alone_and_survives_a_failing_one() {
    let scratch = tempfile::tempdir().unwrap();
    let (all, alone) = (scratch.path().join("all"), scratch.path().join("alone"));
    let flights = scratch.path().join("flights").display().to_string();
    let simulated = [
        "simulate", "flights", "--out", &flights, "--winds", "nowind", "--rows", "700",
    ];
    assert!(taskscout(&simulated).status.success());
    let target = "hawk_figure8_pid_nowind_z";
    let with_logs = [
        "--json", "--data", &flights, "--target", target, "--phi", "linear",
    ];
    let output = reproduce("all", &all, &[&TINY[..], &with_logs].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary, json(all.join("summary.json")));
    assert_eq!(summary.get("failed"), None);
    let names: Vec<&String> = summary["experiments"].as_object().unwrap().keys().collect();
    assert!(names.len() >= 2 && names.contains(&&"fourier".to_owned()));
    assert_eq!(summary["experiments"]["drone"]["target"], target);
    assert!(!stderr(&output).contains("left out"), "{}", stderr(&output));
    let page = read(all.join("report.html"));
    for name in &names {
        assert_eq!(
            summary["experiments"][name.as_str()],
            json(all.join(name).join("summary.json"))
        );
        let several = summary["experiments"][name.as_str()]
            .get("targets")
            .is_some();
        let picture = if several { "loss-t0.svg" } else { "loss.svg" };
        for file in ["settings.json", "results.csv", picture, "report.html"] {
            assert!(all.join(name).join(file).exists(), "{name}/{file}");
        }
        assert!(page.contains(&format!(">{name}</a>")), "a link to {name}");
    }
    assert!(page.contains("How to read this report") && page.contains("A quick look"));

    // The very same numbers as alone.
    let output = reproduce("bilinear", &alone, &TINY);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(
        timeless(json(alone.join("summary.json"))),
        timeless(summary["experiments"]["bilinear"].clone())
    );

    // One experiment cannot go on: the others do, and all say so. Without logs, drone stays at home.
    let trial = all.join("fourier/trials/target-only-0.csv");
    std::fs::remove_file(&trial).unwrap();
    std::fs::create_dir(&trial).unwrap();
    let output = reproduce("all", &all, &TINY);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("kept from the run before"), "{message}");
    assert_eq!(message.matches("drone is left out").count(), 1, "{message}");
    assert!(message.contains("failed: fourier: ") && message.contains("target-only-0.csv"));
    let last = message.trim().lines().last().unwrap();
    assert!(last.contains("fourier has no results") && last.contains("--resume"));
    let combined = json(all.join("summary.json"));
    assert_eq!(combined["failed"][0]["experiment"], "fourier");
    assert!(combined["experiments"].get("fourier").is_none());
    assert!(combined["experiments"].get("drone").is_none());
    assert_eq!(
        timeless(combined["experiments"]["bilinear"].clone()),
        timeless(summary["experiments"]["bilinear"].clone()),
        "a finished experiment is kept"
    );
    let page = read(all.join("report.html"));
    assert!(page.contains("fourier has no results: "));
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("bilinear, exact oracle") && table.contains("report.html"));

    // Mended, it resumes to the same figures.
    std::fs::remove_dir(&trial).unwrap();
    let output = reproduce("all", &all, &TINY);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(
        timeless(json(all.join("summary.json"))["experiments"]["fourier"].clone()),
        timeless(summary["experiments"]["fourier"].clone())
    );

    // Without a word about it, nothing is replaced.
    let fresh = &TINY[..TINY.len() - 1];
    refused(&reproduce("all", &all, fresh), &["--resume", "--force"]);
    refused(
        &reproduce("all", &alone, fresh),
        &["single experiment", "another --out"],
    );
}

#[test]
fn all_refuses_bad_options_by_experiment_before_any_work() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("all");
    refused(
        &reproduce("all", &out, &["--budget-scale", "0.001"]),
        &["in experiment bilinear", "raise the budget"],
    );
    refused(
        &reproduce("all", &out, &["--strategies", "wild"]),
        &["in experiment", "wild"],
    );
    let flights = scratch.path().join("flights").display().to_string();
    let simulated = [
        "simulate", "flights", "--out", &flights, "--winds", "nowind", "--rows", "20",
    ];
    assert!(taskscout(&simulated).status.success());
    refused(
        &reproduce("all", &out, &["--data", &flights]),
        &["in experiment drone, no target is named", "--target"],
    );
    refused(
        &reproduce("all", &out, &["--data", &flights, "--target", "hawk_z"]),
        &["in experiment drone", "hawk_z", "hawk_figure8_pid_nowind_z"],
    );
    refused(
        &reproduce("all", &out, &["--phi", "linear"]),
        &["--phi is an option of the experiment drone"],
    );
    assert!(!out.exists(), "nothing is left behind");
    // A run that only one of the folders holds stops all of them, and leaves no trace elsewhere.
    std::fs::create_dir_all(out.join("fourier/trials")).unwrap();
    refused(&reproduce("all", &out, &[]), &["fourier holds a run"]);
    assert!(!out.join("bilinear").exists());
}

/// Two samples in the last round: enough for agnostic, one too few for aware.
fn run_starved(folder: &Path, strategies: &str, options: &[&str]) -> Output {
    let text = SMALL
        .replace("rounds = 4", "rounds = 2")
        .replace("growth = 1.2", "growth = 0.004");
    assert_ne!(text, SMALL);
    let file = folder.join("starved.toml");
    std::fs::write(&file, text).unwrap();
    let (file, out) = (file.display().to_string(), folder.join("out"));
    let out = out.display().to_string();
    let fixed = ["run", &file, "--out", &out, "--strategies", strategies];
    taskscout(&[&fixed[..], options].concat())
}

#[test]
fn a_failing_trial_is_named_and_the_others_go_on() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("out");
    let both = "agnostic,aware";
    let output = run_starved(scratch.path(), both, &["--seeds", "2", "--json"]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary, json(out.join("summary.json")));
    let failed = summary["failed"].as_array().unwrap();
    assert_eq!(failed.len(), 2, "{failed:?}");
    for (seed, trial) in failed.iter().enumerate() {
        assert_eq!(trial["strategy"], "aware");
        assert_eq!(trial["seed"], seed);
        let error = trial["error"].as_str().unwrap();
        assert!(error.contains("budget of 2 samples"), "{error}");
        assert!(message.contains(&format!("failed: aware seed {seed}: {error}")));
    }
    assert!(summary["strategies"]["agnostic"]["final_loss"]["mean"].is_number());
    assert!(summary["strategies"].get("aware").is_none());
    let last = message.trim().lines().last().unwrap();
    assert!(last.starts_with("error: 2 of 6 trials failed") && last.contains("--resume"));
    let page = read(out.join("report.html"));
    assert!(page.contains("2 trials failed") && page.contains("budget of 2 samples"));

    let output = run_starved(scratch.path(), both, &["--seeds", "2", "--resume"]);
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    let lines = |text: &str| message.matches(text).count();
    assert_eq!(lines("kept from the run before"), 4, "{message}");
    assert_eq!(lines("] aware seed"), 2, "failed ones run again: {message}");
    assert_eq!(timeless(json(out.join("summary.json"))), timeless(summary));
}

#[test]
fn nothing_is_written_when_every_trial_fails() {
    let scratch = tempfile::tempdir().unwrap();
    // Such noise takes the target's labels beyond all numbers.
    let text = SMALL.replace("noise = 0.5", "noise = 1e308");
    let file = scratch.path().join("loud.toml");
    std::fs::write(&file, text).unwrap();
    let (file, out) = (file.display().to_string(), scratch.path().join("out"));
    let folder = out.display().to_string();
    let output = taskscout(&["run", &file, "--out", &folder, "--seeds", "1"]);
    assert!(!output.status.success());
    let message = stderr(&output);
    assert!(message.contains("error: every trial failed, target-only seed 0 with: "));
    assert!(output.stdout.is_empty());
    for name in ["results.csv", "summary.json", "report.html"] {
        assert!(!out.join(name).exists(), "{name}");
    }
}
