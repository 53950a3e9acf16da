//! Several targets and distributions of targets in synthetic worlds, and floors, with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const SMALL: &str = include_str!("../../../../experiments/small.toml");

fn taskscout(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_taskscout"))
        .args(arguments)
        .output()
        .unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The small experiment with some text put in another's place, and options.
fn run(folder: &Path, change: (&str, &str), options: &[&str]) -> Output {
    assert!(SMALL.contains(change.0));
    let file = folder.join("small.toml");
    std::fs::write(&file, SMALL.replace(change.0, change.1)).unwrap();
    let (file, out) = (file.display().to_string(), folder.join("out"));
    let out = out.display().to_string();
    let fixed = ["run", &file, "--out", &out, "--seeds", "2", "--force"];
    taskscout(&[&fixed, options].concat())
}

fn summary(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("out/summary.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn a_known_truth_has_its_quantities_and_a_floor_below_every_strategy() {
    let scratch = tempfile::tempdir().unwrap();
    let output = run(scratch.path(), ("samples = 200", "samples = 200"), &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let summary = summary(scratch.path());
    assert_eq!(summary["theory"]["k_star"], 1);
    assert!(number(&summary["theory"]["condition"]) > 1.0);
    assert_eq!(summary["theory"]["norms"].as_array().unwrap().len(), 1);
    let floor = number(&summary["floor_loss"]);
    let ratio = number(&summary["floor_budget_ratio"]);
    assert!(
        floor > 0.0 && ratio > 0.0 && ratio < 0.35,
        "{floor} {ratio}"
    );
    let passive = &summary["strategies"]["passive"];
    let regret = number(&passive["returned_loss"]["mean"]) / floor;
    assert!((number(&passive["regret"]) - regret).abs() < 1e-9);
    assert!(regret > 1.5, "{regret}");
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("Regret to the floor"), "{table}");
    let picture = std::fs::read_to_string(scratch.path().join("out/loss.svg")).unwrap();
    assert!(picture.contains("floor: design that knows B"));
    // No closed law for a network.
    let output = run(
        scratch.path(),
        ("k = 2   ", "network = { hidden = [4] }\nk = 2   "),
        &["--strategies", "passive", "--quick"],
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let text = std::fs::read_to_string(scratch.path().join("out/summary.json")).unwrap();
    assert!(!text.contains("floor_loss") && text.contains("\"theory\""));
}

#[test]
fn several_targets_have_names_and_may_share_a_study() {
    let scratch = tempfile::tempdir().unwrap();
    let options = [
        "--targets",
        "3",
        "--k-star",
        "2",
        "--strategies",
        "passive,aware",
    ];
    let apart = run(scratch.path(), ("samples = 200", "samples = 200"), &options);
    assert!(apart.status.success(), "{}", stderr(&apart));
    let first = summary(scratch.path());
    let joint = [&options[..], &["--joint-targets"]].concat();
    let output = run(scratch.path(), ("samples = 200", "samples = 200"), &joint);
    assert!(output.status.success(), "{}", stderr(&output));
    let second = summary(scratch.path());
    for summary in [&first, &second] {
        assert_eq!(summary["theory"]["k_star"], 2);
        let targets = summary["targets"].as_array().unwrap();
        let names: Vec<&str> = targets
            .iter()
            .filter_map(|own| own["target"].as_str())
            .collect();
        assert_eq!(names, ["target-1", "target-2", "target-3"]);
        for target in targets {
            let loss = number(&target["strategies"]["aware"]["returned_loss"]["mean"]);
            assert!(number(&target["floor_loss"]) < 1.5 * loss, "{target}");
        }
    }
    let loss = |summary: &Value| number(&summary["targets"][2]["floor_loss"]);
    assert!(
        (loss(&first) - loss(&second)).abs() > 1e-9,
        "one budget for all is another floor"
    );
}

#[test]
fn a_distribution_is_judged_over_its_members_and_on_its_mean() {
    let scratch = tempfile::tempdir().unwrap();
    let change = ("samples = 200", "samples = 400\ndistribution = true");
    let options = [
        "--targets",
        "5",
        "--k-star",
        "2",
        "--strategies",
        "passive,aware",
    ];
    let output = run(scratch.path(), change, &options);
    assert!(output.status.success(), "{}", stderr(&output));
    let read = |name: &str| std::fs::read_to_string(scratch.path().join("out").join(name)).unwrap();
    let results = read("results.csv");
    let about = |name: &str| results.matches(&format!(",{name},")).count();
    // 2 seeds × (2 strategies × 4 rounds + target-only).
    assert_eq!((about("distribution"), about("mean task")), (18, 18));
    assert_eq!(about("target-1"), 0);
    let summary = summary(scratch.path());
    let targets = summary["targets"].as_array().unwrap();
    assert_eq!(targets[0]["target"], "distribution");
    assert_eq!(targets[1]["target"], "mean task");
    let loss = |target: usize, strategy: &str| {
        number(&targets[target]["strategies"][strategy]["returned_loss"]["mean"])
    };
    let floor = |target: usize| number(&targets[target]["floor_loss"]);
    // Each head has a fifth of the pool, the mean of the heads all of it.
    assert!(floor(1) < floor(0) && loss(1, "aware") < loss(0, "aware"));
    assert!(loss(0, "aware") < loss(0, "target-only"));
    assert!(loss(0, "aware") > 0.5 * floor(0));
    // What was kept is what is gone on with.
    let before = read("results.csv");
    let (file, out) = (
        scratch.path().join("small.toml"),
        scratch.path().join("out"),
    );
    let (file, out) = (file.display().to_string(), out.display().to_string());
    let fixed = ["run", &file, "--out", &out, "--seeds", "2", "--resume"];
    let output = taskscout(&[&fixed[..], &options].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        !stderr(&output).contains("run again"),
        "{}",
        stderr(&output)
    );
    assert_eq!(read("results.csv"), before);
}

#[test]
fn targets_that_cannot_be_are_refused_in_a_sentence() {
    let scratch = tempfile::tempdir().unwrap();
    let plain = ("samples = 200", "samples = 200");
    let distribution = ("samples = 200", "samples = 200\ndistribution = true");
    for (change, options, parts) in [
        (plain, &["--targets", "0"][..], &["--targets", "is 0"][..]),
        (
            plain,
            &["--targets", "5000"],
            &["--targets", "from 1 to 1000"],
        ),
        (
            plain,
            &["--targets", "4", "--k-star", "3"],
            &["--k-star", "more than k = 2"],
        ),
        (
            plain,
            &["--targets", "1", "--k-star", "2"],
            &["--k-star", "number of targets, 1"],
        ),
        (plain, &["--k-star", "1"], &["--k-star", "`targets`"]),
        (
            plain,
            &["--joint-targets"],
            &["--joint-targets", "leave it out"],
        ),
        (
            plain,
            &["--target-distribution"],
            &["--target-distribution", "`targets`"],
        ),
        (
            distribution,
            &[],
            &["`target.distribution`", "say how many"],
        ),
        (
            distribution,
            &["--targets", "3", "--joint-targets"],
            &["--joint-targets", "leave one of them out"],
        ),
        (
            distribution,
            &["--targets", "3", "--n-target", "5"],
            &["--n-target", "at least 6"],
        ),
        (
            ("k = 2   ", "k_star = 1\nk = 2   "),
            &[],
            &["line 12, column 10", "`k_star`", "without `targets`"],
        ),
    ] {
        let output = run(scratch.path(), change, options);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{options:?}: {message}");
        // A line of the file may stand below, marked.
        assert_eq!(
            message.matches("error: ").count(),
            1,
            "one sentence: {message}"
        );
        for part in parts {
            assert!(message.contains(part), "`{part}` in: {message}");
        }
    }
}
