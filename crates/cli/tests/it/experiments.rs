//! The real binary, end to end.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::process::{Output, Stdio};

use crate::common::{SMALL, Scratch, misused, refused, results, stdout, succeeded};

fn run_small(scratch: &Scratch, out: &str, options: &str) -> Output {
    scratch.file("small.toml", SMALL);
    scratch.taskscout(&format!("run small.toml --out {out} {options}"))
}

/// The same where it succeeds; what it said on standard error.
fn run_well(scratch: &Scratch, out: &str, options: &str) -> String {
    succeeded(&run_small(scratch, out, options))
}

#[test]
fn a_run_writes_all_its_files() {
    let scratch = Scratch::new();
    let output = run_small(&scratch, "out", "--seeds 2");
    succeeded(&output);
    let rows = results(&scratch.path("out"));
    // 2 seeds × (3 strategies × 4 rounds + target-only).
    assert_eq!(rows.len(), 2 * (3 * 4 + 1));
    let summary = scratch.json("out/summary.json");
    assert_eq!(summary["seeds"], 2);
    for strategy in ["passive", "agnostic", "aware"] {
        assert!(
            summary["strategies"][strategy]["final_loss"]["mean"]
                .as_f64()
                .unwrap()
                > 0.0
        );
    }
    let settings = scratch.text("out/settings.json");
    assert!(settings.contains("\"version\"") && settings.contains("--seeds 2"));
    let report = scratch.text("out/report.html");
    assert!(report.contains("<svg") && report.contains("aware"));
    let table = stdout(&output);
    assert!(table.contains("budget to passive's loss") && table.contains("report.html"));
}

#[test]
fn json_prints_the_summary_and_nothing_else() {
    let scratch = Scratch::new();
    let output = run_small(&scratch, "out", "--quick --json");
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["experiment"], "small");
    assert_eq!(summary["seeds"], 2);
}

#[test]
fn results_do_not_depend_on_jobs_nor_on_the_run() {
    let scratch = Scratch::new();
    for (out, jobs) in [("one", "1"), ("two", "2"), ("again", "2")] {
        run_well(
            &scratch,
            out,
            &format!("--jobs {jobs} --save-task --seeds 2"),
        );
    }
    assert_eq!(results(&scratch.path("one")), results(&scratch.path("two")));
    assert_eq!(
        results(&scratch.path("two")),
        results(&scratch.path("again"))
    );
    assert!(
        results(&scratch.path("one"))
            .iter()
            .any(|row| row.strategy == "aware+save-task")
    );
}

#[test]
fn the_papers_oracles_find_the_subspace_exactly_without_noise() {
    let scratch = Scratch::new();
    scratch.file("exact.toml", &SMALL.replace("noise = 0.5", "noise = 0.0"));
    scratch.done("run exact.toml --oracle mllam --seeds 1 --out out");
    let rows = results(&scratch.path("out"));
    let passive = rows.iter().rfind(|row| row.strategy == "passive").unwrap();
    let similarity = passive.subspace_similarity.unwrap();
    assert!((1.0 - similarity).max(0.0).sqrt() < 1e-6, "{similarity}");
    assert!(rows.iter().all(|row| row.oracle == "mllam"));
    assert!(rows.iter().any(|row| row.strategy == "aware"));
}

#[test]
fn settings_of_an_oracle_are_checked_before_the_run() {
    let scratch = Scratch::new();
    for (settings, problem) in [("splits = 0", "`splits` is 0"), ("split = 1", "`split`")] {
        let table = format!("[learner]\noracle = \"mllam\"\nmllam = {{ {settings} }}");
        scratch.file("bad.toml", &SMALL.replace("[learner]", &table));
        scratch.refused("run --check bad.toml", &[problem]);
    }
    scratch.file(
        "bad.toml",
        &SMALL.replace("[learner]", "[learner]\noracle = \"best\""),
    );
    scratch.refused(
        "run --check bad.toml",
        &["oracle `best` is not known", "mllam", "`Registry::trainer`"],
    );
}

#[test]
fn another_seed_gives_other_results() {
    let scratch = Scratch::new();
    run_well(&scratch, "a", "--seeds 1");
    run_well(&scratch, "b", "--seeds 1 --seed 7");
    run_well(&scratch, "c", "--seeds 1 --matrix-seed 9");
    let losses = |name: &str| {
        let rows = results(&scratch.path(name));
        rows.last().unwrap().test_loss
    };
    assert_ne!(losses("a"), losses("b"));
    assert_ne!(losses("a"), losses("c"));
}

#[test]
fn a_killed_run_resumes_to_the_same_results() {
    let scratch = Scratch::new();
    run_well(&scratch, "whole", "--seeds 6 --budget-scale 20");
    let line = "run small.toml --out killed --seeds 6 --budget-scale 20 --jobs 1";
    let mut child = scratch.command(line).stderr(Stdio::null()).spawn().unwrap();
    let trials = || std::fs::read_dir(scratch.path("killed/trials")).map_or(0, Iterator::count);
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
        !scratch.path("killed/results.csv").exists(),
        "no result of half a run"
    );
    let said = scratch.done(&format!("{line} --resume"));
    assert!(said.contains("kept from the run before"), "{said}");
    assert_eq!(
        results(&scratch.path("whole")),
        results(&scratch.path("killed"))
    );
}

#[test]
fn a_folder_with_a_run_is_refused_without_force() {
    let scratch = Scratch::new();
    run_well(&scratch, "out", "--seeds 1");
    let before = results(&scratch.path("out"));
    refused(
        &run_small(&scratch, "out", "--seeds 1"),
        &["--resume", "--force", "--out"],
    );
    refused(
        &run_small(&scratch, "out", "--n-target 7 --seeds 1 --resume"),
        &[
            "another experiment",
            "`target.samples` was 200, and is 7 now",
        ],
    );
    assert_eq!(results(&scratch.path("out")), before, "nothing is lost");
    run_well(&scratch, "out", "--seeds 2 --force");
    assert!(results(&scratch.path("out")).len() > before.len());
}

#[test]
fn other_commands_replace_no_file_of_a_run() {
    let scratch = Scratch::new();
    run_well(&scratch, "out", "--seeds 1");
    let before = results(&scratch.path("out"));
    scratch.refused(
        "simulate pendulum --w 0,0,0,0,0 --steps 5 --out out/results.csv --force",
        &["out/results.csv is a file of a run", "another --out"],
    );
    scratch.file("logs/a.csv", "u,y\n1,1\n2,2\n3,3\n4,4\n");
    scratch.file("logs/b.csv", "u,y\n1,1\n2,2\n3,3\n4,4\n");
    scratch.refused(
        "learn logs --target a --inputs u --outputs y --out out --force",
        &["out holds the run of an experiment"],
    );
    assert_eq!(results(&scratch.path("out")), before);
    // What no run lists may be replaced.
    scratch.file("out/mine.csv", "old");
    scratch.done("simulate pendulum --w 0,0,0,0,0 --steps 5 --out out/mine.csv --force");
}

#[test]
fn a_run_gets_more_seeds_by_resuming() {
    let scratch = Scratch::new();
    run_well(&scratch, "whole", "--seeds 2");
    run_well(&scratch, "grown", "--seeds 1");
    let first = std::fs::metadata(scratch.path("grown/trials/aware-0.csv")).unwrap();
    run_well(&scratch, "grown", "--seeds 2 --resume");
    assert_eq!(
        results(&scratch.path("whole")),
        results(&scratch.path("grown"))
    );
    let kept = std::fs::metadata(scratch.path("grown/trials/aware-0.csv")).unwrap();
    assert_eq!(kept.modified().unwrap(), first.modified().unwrap());
    refused(
        &run_small(&scratch, "grown", "--seeds 1 --resume"),
        &["2 seeds", "give --seeds 2 or more"],
    );
}

#[test]
fn an_unwritable_folder_is_refused_before_any_work() {
    let scratch = Scratch::new();
    scratch.file("occupied", "a file, not a folder");
    refused(
        &run_small(&scratch, "occupied/below", ""),
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
        scratch.file("bad.toml", &SMALL.replace(from, to));
        scratch.refused("run bad.toml --out bad", parts);
        assert!(!scratch.path("bad/results.csv").exists());
    }
    scratch.refused("run no-such-file.toml", &["no-such-file.toml"]);
}

#[test]
fn wrong_options_are_refused() {
    let scratch = Scratch::new();
    refused(
        &run_small(&scratch, "o", "--budget-scale nan"),
        &["--budget-scale"],
    );
    refused(
        &run_small(&scratch, "o", "--strategies passive,wild"),
        &["--strategies: ", "wild", "passive-fixed"],
    );
    refused(
        &run_small(&scratch, "o", "--strategies aware,aware"),
        &["--strategies names", "twice"],
    );
    refused(
        &run_small(&scratch, "o", "--n-target 0"),
        &["--n-target is 0"],
    );
    let last = u64::MAX.to_string();
    refused(
        &run_small(&scratch, "o", &format!("--seed {last} --seeds 3")),
        &["--seed is", "3 seeds"],
    );
    misused(&run_small(&scratch, "o", "--seeds 0"), &["--seeds"]);
    misused(&scratch.taskscout("reproduce nonsense"), &["nonsense"]);
}

#[test]
fn check_accepts_good_files_without_running() {
    let scratch = Scratch::new();
    scratch.file("small.toml", SMALL);
    scratch.done("run --check small.toml");
    assert!(!scratch.path("runs").exists());
}

#[test]
fn the_adaptive_schedule_spends_the_same_total() {
    let scratch = Scratch::new();
    run_well(&scratch, "paper", "--seeds 1");
    run_well(&scratch, "adaptive", "--seeds 1 --schedule adaptive");
    let last_budget = |name: &str| results(&scratch.path(name)).last().unwrap().budget;
    assert_eq!(last_budget("paper"), last_budget("adaptive"));
    // Plans of small rounds follow every training, so it goes on for longer; the paper's rounds stay as they were.
    let tolerance = |name: &str| {
        let settings = scratch.json(&format!("{name}/settings.json"));
        settings["experiment"]["learner"]["tolerance"].as_f64()
    };
    assert_eq!(tolerance("paper"), None);
    assert_eq!(tolerance("adaptive"), Some(5e-4));
}

#[test]
fn training_that_diverges_is_told_and_stops_nothing() {
    let scratch = Scratch::new();
    let learner = "[learner]\noracle = \"joint-gd\"\ndescent = { optimiser = \"sgd\", learning_rate = 1e6, epochs = 2 }\n";
    scratch.file("wild.toml", &SMALL.replace("[learner]", learner));
    let said = scratch.done("run wild.toml --strategies aware --seeds 1 --out wild");
    assert!(
        said.contains("training of aware diverged in 4 of 4 rounds"),
        "{said}"
    );
    let page = scratch.text("wild/report.html");
    assert!(page.contains("diverged in 4 of 4 rounds"));
    let last = results(&scratch.path("wild")).pop().unwrap();
    assert_eq!(last.predictor.as_deref(), Some("target-only"));
}

#[test]
fn every_oracle_runs_on_the_small_world() {
    let scratch = Scratch::new();
    for oracle in ["exact", "neural", "joint-gd", "mllam"] {
        let options = format!("--oracle {oracle} --seeds 1 --strategies passive,aware");
        run_well(&scratch, oracle, &options);
        let rows = results(&scratch.path(oracle));
        assert_eq!(rows[0].oracle, oracle);
    }
}
