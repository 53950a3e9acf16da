//! `reproduce all` and failing trials, with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::process::Output;

use serde_json::Value;

use crate::common::{SMALL, Scratch, misused, refused, stderr, stdout, succeeded, timeless};

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

fn reproduce(scratch: &Scratch, experiment: &str, out: &str, options: &[&str]) -> Output {
    let mut command = scratch.command("reproduce");
    command.args([experiment, "--out", out]).args(options);
    command.output().unwrap()
}

#[test]
fn all_runs_each_as_alone_and_survives_a_failing_one() {
    let scratch = Scratch::new();
    scratch.done("simulate flights --out flights --winds nowind --rows 700");
    let target = "hawk_figure8_pid_nowind_z";
    let with_logs = [
        "--json", "--data", "flights", "--target", target, "--phi", "linear",
    ];
    let output = reproduce(&scratch, "all", "all", &[&TINY[..], &with_logs].concat());
    succeeded(&output);
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary, scratch.json("all/summary.json"));
    assert_eq!(summary.get("failed"), None);
    let names: Vec<&String> = summary["experiments"].as_object().unwrap().keys().collect();
    for name in [
        "bilinear",
        "fourier",
        "mlp",
        "pendulum",
        "drone",
        "drone-network",
        "theory",
    ] {
        assert!(names.contains(&&name.to_owned()), "{name} in {names:?}");
    }
    assert_eq!(summary["experiments"]["drone"]["target"], target);
    assert!(!stderr(&output).contains("left out"), "{}", stderr(&output));
    let page = scratch.text("all/report.html");
    assert!(page.contains("What of the paper is where"));
    for name in &names {
        assert!(page.contains(&format!(">{name}</a>")), "a link to {name}");
        assert_eq!(
            summary["experiments"][name.as_str()],
            scratch.json(&format!("all/{name}/summary.json"))
        );
        if *name == "theory" {
            continue;
        }
        let several = summary["experiments"][name.as_str()]
            .get("targets")
            .is_some();
        let picture = if several { "loss-t0.svg" } else { "loss.svg" };
        for file in ["settings.json", "results.csv", picture, "report.html"] {
            let path = format!("all/{name}/{file}");
            assert!(scratch.path(&path).exists(), "{path}");
        }
    }
    let network = &scratch.json("all/drone-network/settings.json")["experiment"];
    assert_eq!(network["world"]["phi"], "mlp");
    assert_eq!(network["learner"]["oracle"], "joint-gd");
    assert!(page.contains("What the words mean") && page.contains("A quick look"));

    // The very same numbers as alone.
    let output = reproduce(&scratch, "bilinear", "alone", &TINY);
    succeeded(&output);
    assert_eq!(
        timeless(scratch.json("alone/summary.json")),
        timeless(summary["experiments"]["bilinear"].clone())
    );

    // One experiment cannot go on: the others do, and all say so. Without logs, drone stays at home.
    let trial = scratch.path("all/fourier/trials/target-only-0.csv");
    std::fs::remove_file(&trial).unwrap();
    std::fs::create_dir(&trial).unwrap();
    let output = reproduce(&scratch, "all", "all", &TINY);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("kept from the run before"), "{message}");
    assert_eq!(message.matches("drone is left out").count(), 1, "{message}");
    assert!(message.contains("failed: fourier: ") && message.contains("target-only-0.csv"));
    let last = message.trim().lines().last().unwrap();
    assert!(last.contains("fourier has no results") && last.contains("--resume"));
    let combined = scratch.json("all/summary.json");
    assert_eq!(combined["failed"][0]["experiment"], "fourier");
    assert!(combined["experiments"].get("fourier").is_none());
    assert!(combined["experiments"].get("drone").is_none());
    assert_eq!(
        timeless(combined["experiments"]["bilinear"].clone()),
        timeless(summary["experiments"]["bilinear"].clone()),
        "a finished experiment is kept"
    );
    let page = scratch.text("all/report.html");
    assert!(page.contains("fourier has no results: "));
    let table = stdout(&output);
    assert!(table.contains("bilinear, exact oracle") && table.contains("report.html"));

    // Mended, it resumes to the same figures.
    std::fs::remove_dir(&trial).unwrap();
    let output = reproduce(&scratch, "all", "all", &TINY);
    succeeded(&output);
    assert_eq!(
        timeless(scratch.json("all/summary.json")["experiments"]["fourier"].clone()),
        timeless(summary["experiments"]["fourier"].clone())
    );

    // Without a word about it, nothing is replaced.
    let fresh = &TINY[..TINY.len() - 1];
    refused(
        &reproduce(&scratch, "all", "all", fresh),
        &["--resume", "--force"],
    );
    refused(
        &reproduce(&scratch, "all", "alone", fresh),
        &["single experiment", "another --out"],
    );
}

#[test]
fn all_refuses_bad_options_by_experiment_before_any_work() {
    let scratch = Scratch::new();
    refused(
        &reproduce(&scratch, "all", "all", &["--budget-scale", "0.001"]),
        &["in experiment bilinear", "raise the budget"],
    );
    refused(
        &reproduce(&scratch, "all", "all", &["--strategies", "wild"]),
        &["in experiment", "wild"],
    );
    scratch.done("simulate flights --out flights --winds nowind --rows 20");
    refused(
        &reproduce(&scratch, "all", "all", &["--data", "flights"]),
        &["in experiment drone, no target is named", "--target"],
    );
    refused(
        &reproduce(
            &scratch,
            "all",
            "all",
            &["--data", "flights", "--target", "hawk_z"],
        ),
        &["in experiment drone", "hawk_z", "hawk_figure8_pid_nowind_z"],
    );
    misused(
        &reproduce(&scratch, "all", "all", &["--phi", "linear"]),
        &["required", "--data <DIR>"],
    );
    assert!(!scratch.path("all").exists(), "nothing is left behind");
    // A run that only one of the folders holds stops all of them, and leaves no trace elsewhere.
    std::fs::create_dir_all(scratch.path("all/fourier/trials")).unwrap();
    refused(
        &reproduce(&scratch, "all", "all", &[]),
        &["fourier holds the run of a single experiment"],
    );
    assert!(!scratch.path("all/bilinear").exists());
}

/// Two samples in the last round: enough for agnostic, one too few for aware.
fn run_starved(scratch: &Scratch, strategies: &str, options: &str) -> Output {
    let text = SMALL
        .replace("rounds = 4", "rounds = 2")
        .replace("growth = 1.2", "growth = 0.004");
    assert_ne!(text, SMALL);
    scratch.file("starved.toml", &text);
    scratch.taskscout(&format!(
        "run starved.toml --out out --strategies {strategies} {options}"
    ))
}

#[test]
fn a_failing_trial_is_named_and_the_others_go_on() {
    let scratch = Scratch::new();
    let both = "agnostic,aware";
    let output = run_starved(&scratch, both, "--seeds 2 --json");
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary, scratch.json("out/summary.json"));
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
    let page = scratch.text("out/report.html");
    assert!(page.contains("2 trials failed") && page.contains("budget of 2 samples"));

    let output = run_starved(&scratch, both, "--seeds 2 --resume");
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    let lines = |text: &str| message.matches(text).count();
    assert_eq!(lines("kept from the run before"), 4, "{message}");
    assert_eq!(lines("] aware seed"), 2, "failed ones run again: {message}");
    assert_eq!(
        timeless(scratch.json("out/summary.json")),
        timeless(summary)
    );
}

#[test]
fn nothing_is_written_when_every_trial_fails() {
    let scratch = Scratch::new();
    // Such noise takes the target's labels beyond all numbers.
    let text = SMALL.replace("noise = 0.5", "noise = 1e308");
    scratch.file("loud.toml", &text);
    let output = scratch.taskscout("run loud.toml --out out --seeds 1");
    assert!(!output.status.success());
    let message = stderr(&output);
    assert!(message.contains("error: every trial failed, target-only seed 0 with: "));
    assert!(output.stdout.is_empty());
    for name in ["results.csv", "summary.json", "report.html"] {
        assert!(!scratch.path("out").join(name).exists(), "{name}");
    }
}
