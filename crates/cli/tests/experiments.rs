//! The real binary, end to end.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SMALL: &str = include_str!("../../../experiments/small.toml");

struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name).display().to_string()
    }
}

fn taskscout(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_taskscout"))
        .args(arguments)
        .output()
        .unwrap()
}

fn run_small(scratch: &Scratch, out: &str, options: &[&str]) -> Output {
    let file = scratch.file("small.toml", SMALL);
    let out = scratch.path(out).display().to_string();
    let mut arguments = vec!["run", &file, "--out", &out];
    arguments.extend(options);
    taskscout(&arguments)
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The results without their timing columns.
fn results(folder: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder.join("results.csv")).unwrap();
    let timing = ["collect_s", "train_s", "design_s"];
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let kept = |line: &str| {
        line.split(',')
            .zip(&header)
            .filter(|(_, name)| !timing.contains(name))
            .map(|(cell, _)| cell.into())
            .collect()
    };
    text.lines().map(kept).collect()
}

fn refused(output: &Output, parts: &[&str]) {
    assert_eq!(output.status.code(), Some(2), "{}", stderr(output));
    let message = stderr(output);
    assert_eq!(message.trim().lines().count(), 1, "one sentence: {message}");
    for part in parts {
        assert!(message.contains(part), "`{part}` in: {message}");
    }
}

#[test]
fn a_run_writes_all_its_files() {
    let scratch = Scratch::new();
    let output = run_small(&scratch, "out", &["--seeds", "2"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let folder = scratch.path("out");
    let rows = results(&folder);
    // 2 seeds × (3 strategies × 4 rounds + target-only), and the header.
    assert_eq!(rows.len(), 2 * (3 * 4 + 1) + 1);
    let summary: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("summary.json")).unwrap())
            .unwrap();
    assert_eq!(summary["seeds"], 2);
    for strategy in ["passive", "agnostic", "aware"] {
        assert!(
            summary["strategies"][strategy]["final_loss"]["mean"]
                .as_f64()
                .unwrap()
                > 0.0
        );
    }
    let settings = std::fs::read_to_string(folder.join("settings.json")).unwrap();
    assert!(settings.contains("\"version\"") && settings.contains("--seeds 2"));
    let report = std::fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(report.contains("<svg") && report.contains("aware"));
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("budget to passive's loss") && table.contains("report.html"));
}

#[test]
fn json_prints_the_summary_and_nothing_else() {
    let scratch = Scratch::new();
    let output = run_small(&scratch, "out", &["--quick", "--json"]);
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["experiment"], "small");
    assert_eq!(summary["seeds"], 2);
}

#[test]
fn results_do_not_depend_on_jobs_nor_on_the_run() {
    let scratch = Scratch::new();
    for (out, jobs) in [("one", "1"), ("two", "2"), ("again", "2")] {
        let output = run_small(
            &scratch,
            out,
            &["--jobs", jobs, "--save-task", "--seeds", "2"],
        );
        assert!(output.status.success(), "{}", stderr(&output));
    }
    assert_eq!(results(&scratch.path("one")), results(&scratch.path("two")));
    assert_eq!(
        results(&scratch.path("two")),
        results(&scratch.path("again"))
    );
    assert!(
        results(&scratch.path("one"))
            .iter()
            .any(|row| row[2] == "aware+save-task")
    );
}

#[test]
fn the_papers_oracles_find_the_subspace_exactly_without_noise() {
    let scratch = Scratch::new();
    let text = SMALL.replace("noise = 0.5", "noise = 0.0");
    let file = scratch.file("exact.toml", &text);
    let out = scratch.path("out").display().to_string();
    let output = taskscout(&[
        "run", &file, "--oracle", "mllam", "--seeds", "1", "--out", &out,
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    let rows = results(&scratch.path("out"));
    let column = rows[0]
        .iter()
        .position(|name| name == "subspace_similarity");
    let passive: Vec<&Vec<String>> = rows.iter().filter(|row| row[2] == "passive").collect();
    let similarity: f64 = passive.last().unwrap()[column.unwrap()].parse().unwrap();
    assert!((1.0 - similarity).max(0.0).sqrt() < 1e-6, "{similarity}");
    assert!(rows[1..].iter().all(|row| row[1] == "mllam"));
    assert!(rows.iter().any(|row| row[2] == "aware"));
}

#[test]
fn settings_of_an_oracle_are_checked_before_the_run() {
    let scratch = Scratch::new();
    for (settings, problem) in [("splits = 0", "`splits` is 0"), ("split = 1", "`split`")] {
        let table = format!("[learner]\noracle = \"mllam\"\nmllam = {{ {settings} }}");
        let file = scratch.file("bad.toml", &SMALL.replace("[learner]", &table));
        refused(&taskscout(&["run", "--check", &file]), &[problem]);
    }
    let file = scratch.file(
        "bad.toml",
        &SMALL.replace("[learner]", "[learner]\noracle = \"best\""),
    );
    refused(
        &taskscout(&["run", "--check", &file]),
        &["oracle `best` is not known", "mllam", "`Registry::trainer`"],
    );
}

#[test]
fn another_seed_gives_other_results() {
    let scratch = Scratch::new();
    run_small(&scratch, "a", &["--seeds", "1"]);
    run_small(&scratch, "b", &["--seeds", "1", "--seed", "7"]);
    run_small(&scratch, "c", &["--seeds", "1", "--matrix-seed", "9"]);
    let losses = |name: &str| results(&scratch.path(name)).last().unwrap()[6].clone();
    assert_ne!(losses("a"), losses("b"));
    assert_ne!(losses("a"), losses("c"));
}

#[test]
fn a_killed_run_resumes_to_the_same_results() {
    let scratch = Scratch::new();
    let whole = run_small(&scratch, "whole", &["--seeds", "6", "--budget-scale", "20"]);
    assert!(whole.status.success(), "{}", stderr(&whole));
    let file = scratch.path("small.toml").display().to_string();
    let out = scratch.path("killed").display().to_string();
    let options = [
        "run",
        &file,
        "--out",
        &out,
        "--seeds",
        "6",
        "--budget-scale",
        "20",
        "--jobs",
        "1",
    ];
    let mut child = Command::new(env!("CARGO_BIN_EXE_taskscout"))
        .args(options)
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let trials =
        || std::fs::read_dir(scratch.path("killed").join("trials")).map_or(0, Iterator::count);
    while trials() < 3 {
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert!(
            child.try_wait().unwrap().is_none(),
            "the run ended before it could be killed"
        );
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        !scratch.path("killed").join("results.csv").exists(),
        "no result of half a run"
    );
    let mut options = options.to_vec();
    options.push("--resume");
    let resumed = taskscout(&options);
    assert!(resumed.status.success(), "{}", stderr(&resumed));
    assert!(stderr(&resumed).contains("kept from the run before"));
    assert_eq!(
        results(&scratch.path("whole")),
        results(&scratch.path("killed"))
    );
}

#[test]
fn a_folder_with_a_run_is_refused_without_force() {
    let scratch = Scratch::new();
    assert!(
        run_small(&scratch, "out", &["--seeds", "1"])
            .status
            .success()
    );
    let before = results(&scratch.path("out"));
    refused(
        &run_small(&scratch, "out", &["--seeds", "1"]),
        &["--resume", "--force", "--out"],
    );
    refused(
        &run_small(
            &scratch,
            "out",
            &["--n-target", "7", "--seeds", "1", "--resume"],
        ),
        &["another experiment"],
    );
    assert_eq!(results(&scratch.path("out")), before, "nothing is lost");
    assert!(
        run_small(&scratch, "out", &["--seeds", "2", "--force"])
            .status
            .success()
    );
    assert!(results(&scratch.path("out")).len() > before.len());
}

#[test]
fn a_run_gets_more_seeds_by_resuming() {
    let scratch = Scratch::new();
    let done = |folder: &str, options: &[&str]| {
        let output = run_small(&scratch, folder, options);
        assert!(output.status.success(), "{output:?}");
    };
    done("whole", &["--seeds", "2"]);
    done("grown", &["--seeds", "1"]);
    let first = std::fs::metadata(scratch.path("grown/trials/aware-0.csv")).unwrap();
    done("grown", &["--seeds", "2", "--resume"]);
    assert_eq!(
        results(&scratch.path("whole")),
        results(&scratch.path("grown"))
    );
    let kept = std::fs::metadata(scratch.path("grown/trials/aware-0.csv")).unwrap();
    assert_eq!(kept.modified().unwrap(), first.modified().unwrap());
    refused(
        &run_small(&scratch, "grown", &["--seeds", "1", "--resume"]),
        &["2 seeds", "give --seeds 2 or more"],
    );
}

#[test]
fn an_unwritable_folder_is_refused_before_any_work() {
    let scratch = Scratch::new();
    scratch.file("occupied", "a file, not a folder");
    refused(
        &run_small(&scratch, "occupied/below", &[]),
        &["occupied", "another --out"],
    );
}

#[test]
fn a_wrong_experiment_file_is_named_by_line_and_key() {
    let scratch = Scratch::new();
    let cases: [(&str, &str, &[&str]); 15] = [
        ("seeds = 4", "seeds = \"four\"", &["line 5", "four"]),
        ("seeds = 4", "seed_count = 4", &["line 5", "seed_count"]),
        (
            "k = 2 # leave out",
            "k = 16 # leave out",
            &["[learner]", "`k`", "16"],
        ),
        ("k = 2      ", "k = 99     ", &["[world]", "`k`", "99"]),
        ("noise = 0.5", "nois = 0.5", &["line 13", "nois"]),
        (
            "[target]",
            "split = { kind = \"share\", explore = 1.5 }\n[target]",
            &["split", "0 to 1"],
        ),
        ("samples = 200", "samples = 0", &["target.samples"]),
        ("rounds = 4", "rounds = 0", &["schedule.rounds"]),
        (
            "first_round = 600",
            "first_round = -5",
            &["schedule.first_round"],
        ),
        (
            "first_round = 600",
            "first_round = 10",
            &["budget of", "15"],
        ),
        (
            "first_round = 600",
            "",
            &["schedule.first_round", "first_round_factor"],
        ),
        ("noise = 0.5", "noise = nan", &["noise"]),
        ("\"aware\"]", "\"awre\"]", &["awre", "aware"]),
        ("name = \"small\"", "name = \"../up\"", &["name"]),
        ("dim = 30", "dim = 0", &["dim"]),
    ];
    for (from, to, parts) in cases {
        assert!(SMALL.contains(from), "{from}");
        let file = scratch.file("bad.toml", &SMALL.replace(from, to));
        let out = scratch.path("bad").display().to_string();
        refused(&taskscout(&["run", &file, "--out", &out]), parts);
        assert!(!scratch.path("bad").join("results.csv").exists());
    }
    refused(
        &taskscout(&["run", "no-such-file.toml"]),
        &["no-such-file.toml"],
    );
}

#[test]
fn wrong_options_are_refused() {
    let scratch = Scratch::new();
    refused(
        &run_small(&scratch, "o", &["--budget-scale", "nan"]),
        &["--budget-scale"],
    );
    refused(
        &run_small(&scratch, "o", &["--strategies", "passive,wild"]),
        &["--strategies: ", "wild", "passive-fixed"],
    );
    refused(
        &run_small(&scratch, "o", &["--strategies", "aware,aware"]),
        &["--strategies names", "twice"],
    );
    refused(
        &run_small(&scratch, "o", &["--n-target", "0"]),
        &["--n-target is 0"],
    );
    let last = u64::MAX.to_string();
    refused(
        &run_small(&scratch, "o", &["--seed", &last, "--seeds", "3"]),
        &["--seed is", "3 seeds"],
    );
    assert_eq!(
        run_small(&scratch, "o", &["--seeds", "0"]).status.code(),
        Some(2)
    );
    assert_eq!(taskscout(&["reproduce", "nonsense"]).status.code(), Some(2));
}

#[test]
fn check_accepts_good_files_without_running() {
    let scratch = Scratch::new();
    let file = scratch.file("small.toml", SMALL);
    let output = taskscout(&["run", "--check", &file]);
    assert!(output.status.success());
    assert!(!scratch.path("runs").exists());
}

#[test]
fn the_adaptive_schedule_spends_the_same_total() {
    let scratch = Scratch::new();
    run_small(&scratch, "paper", &["--seeds", "1"]);
    let output = run_small(
        &scratch,
        "adaptive",
        &["--seeds", "1", "--schedule", "adaptive"],
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let last_budget = |name: &str| results(&scratch.path(name)).last().unwrap()[5].clone();
    assert_eq!(last_budget("paper"), last_budget("adaptive"));
}

#[test]
fn training_that_diverges_is_told_and_stops_nothing() {
    let scratch = Scratch::new();
    let learner = "[learner]\noracle = \"joint-gd\"\ndescent = { optimiser = \"sgd\", learning_rate = 1e6, epochs = 2 }\n";
    let file = scratch.file("wild.toml", &SMALL.replace("[learner]", learner));
    let out = scratch.path("wild").display().to_string();
    let options = ["--strategies", "aware", "--seeds", "1", "--out", &out];
    let output = taskscout(&[&["run", &file], &options[..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("training of aware diverged in 4 of 4 rounds"),
        "{}",
        stderr(&output)
    );
    let page = std::fs::read_to_string(scratch.path("wild").join("report.html")).unwrap();
    assert!(page.contains("diverged in 4 of 4 rounds"));
    let last = results(&scratch.path("wild")).pop().unwrap();
    assert!(last.contains(&"target-only".to_owned()), "{last:?}");
}

#[test]
fn every_oracle_runs_on_the_small_world() {
    let scratch = Scratch::new();
    for oracle in ["exact", "neural", "joint-gd", "mllam"] {
        let options = [
            "--oracle",
            oracle,
            "--seeds",
            "1",
            "--strategies",
            "passive,aware",
        ];
        let output = run_small(&scratch, oracle, &options);
        assert!(output.status.success(), "{oracle}: {}", stderr(&output));
        let rows = results(&scratch.path(oracle));
        assert_eq!(rows[1][1], oracle);
    }
}
