//! `reproduce pendulum`, end to end with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::path::Path;
use std::process::Output;

use serde_json::Value;
use taskscout_report::ResultRow;

use crate::common::{Scratch, names, results, stdout, succeeded, summary};

/// Two of the paper's targets.
const CALM: &str = "0,0,1,0.5,0";
const WINDY: &str = "0,-1,0.5,0,0.5";
/// Where the files of a run are listed.
const PAGE: &str = include_str!("../../../../docs/how-to/find-hidden-parameters.md");
/// About the least that says anything.
const SMALL: &str = "--budget-scale 0.1 --n-target 400 --strategies passive,aware";

impl Scratch {
    /// Runs the experiment into a folder.
    fn run_file(&self, out: &str, options: &str) -> Output {
        let output = self.taskscout(&format!("reproduce pendulum --out {out} {options}"));
        succeeded(&output);
        output
    }

    /// The same, handing back what it said beside its table.
    fn reproduce(&self, out: &str, options: &str) -> String {
        self.done(&format!("reproduce pendulum --out {out} {options}"))
    }
}

/// The files of a folder by name, with their bytes.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let read = |name: String| {
        let bytes = std::fs::read(folder.join(&name)).unwrap();
        (name, bytes)
    };
    names(folder).into_iter().map(read).collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    let entries = value.as_array().unwrap().iter();
    entries.map(|entry| entry.as_f64().unwrap()).collect()
}

/// What a part of a summary says of one target's parameters and controllers.
fn check_target(part: &Value, seeds: usize) {
    let found = part["identified"].as_array().unwrap();
    assert_eq!(found.len(), seeds);
    for (seed, one) in found.iter().enumerate() {
        assert_eq!(one["seed"], seed);
        let [w, low, high] = ["w", "low", "high"].map(|key| numbers(&one[key]));
        assert_eq!((w.len(), low.len(), high.len()), (5, 5, 5));
        for ((w, low), high) in w.iter().zip(&low).zip(&high) {
            assert!(-1.0 <= *low && low <= w && w <= high && *high <= 1.0);
        }
    }
    for name in ["no-model", "target-only", "passive", "aware", "true-f"] {
        let score = &part["control"][name];
        assert!(score["mean_angle"].as_f64().unwrap() > 0.0, "{name}");
        assert!(score["rms"].as_f64().unwrap() > 0.0, "{name}");
        assert!(score["settled_angle"].is_number(), "{name}");
    }
    assert!(part["control"].get("target-data").is_none());
    let settled = |name: &str| part["control"][name]["settled_angle"].as_f64().unwrap();
    assert!(settled("true-f") < 1e-3);
}

#[test]
fn one_target_is_reported_at_the_top() {
    let scratch = Scratch::new();
    let output = scratch.run_file("out", &format!("{SMALL} --seeds 2 --target {CALM}"));
    let said = stdout(&output);
    for part in [
        "identified by aware as w = (",
        "control, mean |θ| (rad): no model",
    ] {
        assert!(said.contains(&format!("target {CALM}: {part}")), "{said}");
    }
    let out = scratch.path("out");
    let rows = results(&out);
    // 2 seeds × (2 strategies and target-data × 5 rounds + target-only).
    assert_eq!(rows.len(), 2 * (3 * 5 + 1));
    assert!(rows.iter().all(|row| row.target.as_deref() == Some(CALM)));
    let summary = summary(&out);
    assert!(summary.get("targets").is_none());
    assert_eq!(summary["target"], CALM);
    let strategies: Vec<&String> = summary["strategies"].as_object().unwrap().keys().collect();
    for name in ["target-only", "passive", "aware", "target-data"] {
        assert!(strategies.contains(&&name.to_owned()), "{strategies:?}");
    }
    check_target(&summary, 2);
    assert_eq!(summary["identified_by"]["strategy"], "aware");
    assert_eq!(summary["identified_by"]["of"], 2);
    assert_eq!(
        names(&out.join("figures")),
        [
            "control.csv",
            "control.svg",
            "map.csv",
            "map.svg",
            "path.csv",
            "path.svg",
            "plans.csv",
            "plans.svg",
            "portraits.csv",
            "portraits.svg"
        ]
    );
    assert!(out.join("loss.svg").exists());
    let page = scratch.text("out/report.html");
    for part in ["Angle under control", "Phase portraits", "true f"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn neither_jobs_nor_a_stop_change_a_byte() {
    let scratch = Scratch::new();
    let line = format!("{SMALL} --seeds 2 --target {CALM}");
    for jobs in ["1", "2"] {
        scratch.reproduce(jobs, &format!("{line} --jobs {jobs}"));
    }
    let (one, two) = (scratch.path("1"), scratch.path("2"));
    let compare = |what: &str| {
        assert_eq!(results(&one), results(&two), "{what}");
        assert_eq!(summary(&one), summary(&two), "{what}");
        for (a, b) in files(&one.join("figures"))
            .iter()
            .zip(&files(&two.join("figures")))
        {
            assert_eq!(a.0, b.0, "{what}");
            assert!(a.1 == b.1, "{what}: {}", a.0);
        }
        let details = |folder: &Path| {
            let mut kept = files(&folder.join("trials"));
            kept.retain(|(name, _)| name.ends_with(".json"));
            kept
        };
        assert_eq!(details(&one).len(), 2 * 4);
        assert!(details(&one) == details(&two), "{what}: details");
    };
    compare("jobs");

    // A stop loses whole trials, and a torn one counts as lost.
    for lost in ["results.csv", "summary.json", "trials/aware-t0-1.csv"] {
        std::fs::remove_file(two.join(lost)).unwrap();
    }
    std::fs::remove_file(two.join("trials/passive-t0-0.json")).unwrap();
    std::fs::write(two.join("trials/target-data-t0-1.json"), "{\"targets\": [").unwrap();
    std::fs::remove_dir_all(two.join("figures")).unwrap();
    let said = scratch.reproduce("2", &format!("{line} --resume"));
    assert_eq!(
        said.matches("kept from the run before").count(),
        5,
        "{said}"
    );
    compare("resume");
}

#[test]
fn several_targets_are_told_apart() {
    let scratch = Scratch::new();
    let targets = format!("--target {CALM} --target {WINDY}");
    let line = format!("{SMALL} --seeds 1 {targets}");
    scratch.reproduce("each", &line);
    scratch.reproduce("joint", &format!("{line} --joint-targets"));
    for out in ["each", "joint"] {
        let folder = scratch.path(out);
        let rows = results(&folder);
        assert_eq!(rows.len(), 2 * (3 * 5 + 1), "{out}");
        let summary = summary(&folder);
        assert!(
            summary["strategies"]
                .as_object()
                .is_none_or(|of| of.is_empty())
        );
        assert!(summary.get("target").is_none());
        assert!(summary.get("identified").is_none() && summary.get("control").is_none());
        let parts = summary["targets"].as_array().unwrap();
        assert_eq!(parts.len(), 2);
        for (part, name) in parts.iter().zip([CALM, WINDY]) {
            assert_eq!(part["target"], name);
            assert!(part["strategies"]["target-data"]["returned_loss"]["mean"].is_number());
            check_target(part, 1);
        }
        assert_ne!(parts[0]["identified"], parts[1]["identified"]);
        let figures = names(&folder.join("figures"));
        for (stem, there) in [
            ("control", true),
            ("path", out == "each"),
            ("portraits", true),
        ] {
            for target in 0..2 {
                // The plan of a joint study does not say whose task is whose.
                let name = format!("{stem}-t{target}.svg");
                assert_eq!(figures.contains(&name), there, "{out}: {figures:?}");
            }
        }
        assert!(folder.join("loss-t0.svg").exists() && folder.join("loss-t1.svg").exists());
    }
    // One study for both, and one budget: half of it for each target.
    let joint = scratch.path("joint/trials");
    assert!(joint.join("aware-0.csv").exists() && !joint.join("aware-t0-0.csv").exists());
    let last = |out: &str| results(&scratch.path(out)).pop().unwrap().budget;
    assert_eq!(last("each"), last("joint"));
    // The same target alone is the same trial.
    scratch.reproduce("alone", &format!("{SMALL} --seeds 1 --target {CALM}"));
    let alone = results(&scratch.path("alone"));
    assert_eq!(alone, results(&scratch.path("each"))[..alone.len()]);
}

#[test]
fn features_without_the_constant_are_warned_of() {
    let scratch = Scratch::new();
    let line = "--seeds 1 --strategies aware --target 0,0,1,0.5,0 --budget-scale 0.5";
    let said = scratch.reproduce("paper", &format!("{line} --task-features paper"));
    let warning = said.lines().find(|line| line.starts_with("warning: "));
    let warning = warning.unwrap_or_else(|| panic!("no warning: {said}"));
    assert!(warning.contains("cannot express these tasks"), "{warning}");
    assert!(warning.contains("adding 1 would"), "{warning}");
    let page = scratch.text("paper/report.html");
    assert!(page.contains("cannot express these tasks"));
    let misfit = summary(&scratch.path("paper"))["misfit"].clone();
    assert_eq!(format!("warning: {}", misfit.as_str().unwrap()), warning);
    let said = scratch.reproduce("affine", line);
    assert!(!said.contains("warning: "), "{said}");
    assert!(summary(&scratch.path("affine")).get("misfit").is_none());
}

#[test]
fn what_cannot_be_a_target_is_refused() {
    let scratch = Scratch::new();
    let pendulum = "reproduce pendulum --out out";
    for (options, parts) in [
        ("--n-target 0", &["--n-target is 0"][..]),
        ("--target 0,0,1.5,0,0", &["1.5", "w3"]),
        ("--target 0,0,1,0.5", &["4", "5"]),
        ("--target 0,0,nan,0,0", &["entry 3", "`nan`"]),
        (
            "--target 0,0,1,0,0 --target 0,0,1.0,0,0",
            &["0,0,1,0,0", "twice"],
        ),
        (
            "--target 0,0,1,0,0 --target -0,0,1,0,0",
            &["0,0,1,0,0", "twice"],
        ),
    ] {
        scratch.refused(&format!("{pendulum} {options}"), parts);
    }
    // A file may have any world, so what it does not have is refused by name.
    let file = |name: &str| {
        format!(
            "{}/../../experiments/{name}.toml",
            env!("CARGO_MANIFEST_DIR")
        )
    };
    scratch.refused(
        &format!("run {} --out out --matrix-seed 3", file("pendulum")),
        &["--matrix-seed", "leave it out"],
    );
    scratch.refused(
        &format!("run {} --out out --target {CALM}", file("fourier")),
        &["--target ", "pendulum", "leave it out"],
    );
    assert!(!scratch.path("out").exists(), "nothing is left behind");
}

#[test]
fn saved_models_predict() {
    let scratch = Scratch::new();
    let line = format!("{SMALL} --seeds 1 --target {CALM} --save-models");
    scratch.reproduce("out", &line);
    scratch.file("x.csv", "velocity_rad_s,angle_rad\n0,0.5\n2,-1\n");
    for name in names(&scratch.path("out")) {
        assert!(PAGE.contains(&format!("`{name}")), "documented: {name}");
    }
    let mut saved = names(&scratch.path("out/models"));
    saved.retain(|name| !name.starts_with("target-data"));
    let expected = ["aware", "passive", "target-only"];
    assert_eq!(
        saved,
        expected.map(|name| format!("{name}-t0-seed0.safetensors"))
    );
    for name in saved {
        let line = format!("predict out/models/{name} --inputs x.csv --json");
        let output = scratch.taskscout(&line);
        succeeded(&output);
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(told["target"], CALM);
        let predictions = told["predictions"].as_array().unwrap();
        assert_eq!(predictions.len(), 2);
        for one in predictions {
            assert!(one["y"].is_number() && one["y_std"].as_f64().unwrap() > 0.0);
        }
    }
}

#[test]
fn with_few_target_samples_sources_help() {
    let scratch = Scratch::new();
    let line =
        "--seeds 3 --budget-scale 0.25 --n-target 200 --strategies aware --target 0,0,1,0.5,0";
    scratch.reproduce("out", line);
    let rows = results(&scratch.path("out"));
    let last = |strategy: &str, seed: u64| {
        let own = |row: &&ResultRow| row.strategy == strategy && row.seed == seed;
        let row = rows.iter().rfind(own).unwrap();
        row.returned_loss.unwrap()
    };
    for seed in 0..3 {
        let [alone, aware, reference] =
            ["target-only", "aware", "target-data"].map(|strategy| last(strategy, seed));
        assert!(2.0 * aware < alone, "seed {seed}: {aware} against {alone}");
        assert!(
            reference < aware,
            "seed {seed}: {reference} against {aware}"
        );
    }
}
