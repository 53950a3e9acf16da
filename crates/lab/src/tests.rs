//! Whole runs on a world with several named targets.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::path::{Path, PathBuf};

use taskscout::registry::Registry;
use taskscout_report::{
    ExperimentReport, ResultRow, TARGET_DATA, TARGET_ONLY, read_csv, write_csv,
};

use super::config::parse;
use super::experiment::{list_failures, run};
use super::folder::Reserved;
use super::prepare::{Prepared, prepare};
use super::record::TrialDetails;
use crate::error::Result;
use crate::options::{ExperimentOptions, PendulumOptions, SyntheticOptions, WorldOptions};
use crate::watch::Watcher;

const TOY: &str = r#"
name = "toy"
seeds = 2
strategies = ["passive", "aware"]
[world]
kind = "toy"
noise = 0.5
[learner]
k = 2
[target]
samples = 20
[schedule]
rounds = 2
growth = 1.5
first_round = 81
"#;

fn prepared(text: &str, options: &ExperimentOptions) -> Result<Prepared> {
    prepare(
        parse(text, "toy.toml")?,
        options,
        &Registry::new(),
        &nobody(),
    )
}

fn nobody() -> Watcher {
    std::sync::Arc::new(())
}

/// Runs an experiment into a folder.
fn run_into(out: &Path, text: &str, options: &ExperimentOptions) -> Result<ExperimentReport> {
    let prepared = prepared(text, options)?;
    let mut folder = Reserved::new(out.to_owned(), &nobody())?.examine(&prepared, options)?;
    folder.begin(options)?;
    let report = run(&prepared, &folder, options)?.report;
    assert_eq!(
        list_failures(&prepared, &report).is_some(),
        !report.summary.failed.is_empty()
    );
    Ok(report)
}

/// One study for all targets; the toy has the options of the pendulum.
fn joint() -> WorldOptions {
    WorldOptions::Pendulum(PendulumOptions {
        joint_targets: true,
        ..PendulumOptions::default()
    })
}

fn options() -> ExperimentOptions {
    ExperimentOptions {
        resume: true,
        ..ExperimentOptions::default()
    }
}

fn names(folder: PathBuf) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn rows(path: &Path) -> Vec<ResultRow> {
    read_csv(std::fs::File::open(path).unwrap(), "rows").unwrap()
}

/// The rows without what a clock measured.
fn timeless(rows: &[ResultRow]) -> Vec<ResultRow> {
    let still = |row: &ResultRow| ResultRow {
        collect_s: 0.0,
        train_s: 0.0,
        design_s: 0.0,
        ..row.clone()
    };
    rows.iter().map(still).collect()
}

/// Marks the rows of a kept trial, to see later whether it ran again.
fn mark(path: &Path) {
    let mut marked = rows(path);
    marked.iter_mut().for_each(|row| row.tasks = 999);
    let mut bytes = Vec::new();
    write_csv(&marked, &mut bytes).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn marked(rows: &[ResultRow]) -> usize {
    rows.iter().filter(|row| row.tasks == 999).count()
}

#[test]
fn every_target_has_trials_of_its_own() {
    let scratch = tempfile::tempdir().unwrap();
    let (out, options) = (scratch.path().join("out"), options());
    let order: Vec<String> = prepared(TOY, &options)
        .unwrap()
        .trials()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(order.len(), 2 * 2 * 4);
    assert_eq!(
        order[..5],
        [
            "target-only on toy 0 seed 0",
            "passive on toy 0 seed 0",
            "aware on toy 0 seed 0",
            "target-data on toy 0 seed 0",
            "target-only on toy 1 seed 0",
        ]
    );
    let report = run_into(&out, TOY, &options).unwrap();
    // 2 seeds × 2 targets × (target-only and three contenders with two rounds)
    assert_eq!(report.rows.len(), 2 * 2 * (1 + 3 * 2));
    assert!(
        report.rows[..14]
            .iter()
            .all(|row| row.target.as_deref() == Some("toy 0"))
    );
    assert_eq!(report.summary.targets.len(), 2);
    assert_eq!(report.summary.targets[1].target, "toy 1");
    let listed: Vec<&str> = report.summary.targets[0]
        .strategies
        .iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(listed, ["target-only", "passive", "aware", "target-data"]);
    assert_eq!(report.summary.extra["detailed"], 16);
    let trials = names(out.join("trials"));
    // Rows and details of each, and plans of the strategies.
    assert_eq!(trials.len(), 2 * 16 + 8);
    for name in ["aware-t0-0.csv", "aware-t1-1.json", "target-data-t1-0.csv"] {
        assert!(trials.contains(&name.to_owned()), "{name} in {trials:?}");
    }
    let pictures = ["loss-t0.svg", "loss-t1.svg"].map(|name| out.join(name).exists());
    assert_eq!(pictures, [true, true]);
    assert!(!out.join("loss.svg").exists());

    // --force leaves nothing of it behind.
    let other = ExperimentOptions {
        force: true,
        resume: false,
        world: joint(),
        seeds: Some(1),
        ..options
    };
    run_into(&out, TOY, &other).unwrap();
    assert_eq!(names(out.join("trials")).len(), 2 * 4 + 2);
}

#[test]
fn one_study_may_serve_all_targets() {
    let scratch = tempfile::tempdir().unwrap();
    let (out, options) = (scratch.path().join("out"), options());
    let text = TOY.replace("samples = 20", "samples = 20\njoint = true");
    let report = run_into(&out, &text, &options).unwrap();
    let by_option = ExperimentOptions {
        world: joint(),
        ..options
    };
    let again = run_into(&scratch.path().join("again"), TOY, &by_option).unwrap();
    assert_eq!(timeless(&report.rows), timeless(&again.rows));
    assert_eq!(report.rows.len(), 2 * 2 * (1 + 3 * 2));
    let trials = names(out.join("trials"));
    assert_eq!(trials.len(), 2 * 8 + 4);
    assert!(trials.contains(&"aware-1.csv".to_owned()), "{trials:?}");
    let own = rows(&out.join("trials/aware-1.csv"));
    let places: Vec<_> = own
        .iter()
        .map(|row| (row.target.as_deref().unwrap(), row.round, row.budget))
        .collect();
    assert_eq!(
        places,
        [
            ("toy 0", 0, 81),
            ("toy 1", 0, 81),
            ("toy 0", 1, 81 + 121),
            ("toy 1", 1, 81 + 121)
        ]
    );
    assert_ne!(own[2].relevance, own[3].relevance, "judged for each target");
    let text = std::fs::read_to_string(out.join("trials/aware-1.json")).unwrap();
    let details: TrialDetails = serde_json::from_str(&text).unwrap();
    assert_eq!(details.targets.len(), 2);
    assert_ne!(details.targets[0].returned, details.targets[1].returned);
}

#[test]
fn target_data_spends_the_budget_on_the_hidden_target() {
    let scratch = tempfile::tempdir().unwrap();
    let report = run_into(&scratch.path().join("out"), TOY, &options()).unwrap();
    let of = |name: &str| -> Vec<&ResultRow> {
        report
            .rows
            .iter()
            .filter(|row| row.strategy == name)
            .collect()
    };
    for row in of(TARGET_DATA) {
        assert!(row.test_loss.is_none() && row.subspace_similarity.is_none());
        assert_eq!(row.budget, [81, 81 + 121][row.round]);
        let same = |other: &&&ResultRow| (&other.target, other.seed) == (&row.target, row.seed);
        let before = of(TARGET_ONLY)
            .into_iter()
            .find(|other| same(&other))
            .unwrap();
        // Ten times the rows: a tenth of the variance, give or take.
        assert!(
            row.returned_loss.unwrap() < before.returned_loss.unwrap(),
            "{row:?}"
        );
    }
    assert!(
        report.notes.is_empty(),
        "no shared predictor, no divergence"
    );
    // With one budget for both targets, the budget is still what strategies spend.
    let joint = ExperimentOptions {
        world: joint(),
        ..options()
    };
    let report = run_into(&scratch.path().join("joint"), TOY, &joint).unwrap();
    let reference = report.rows.iter().filter(|row| row.strategy == TARGET_DATA);
    let budgets: Vec<usize> = reference.map(|row| row.budget).collect();
    assert_eq!(budgets, [81, 202, 81, 202, 81, 202, 81, 202]);
}

#[test]
fn details_come_back_and_a_trial_without_them_runs_again() {
    let scratch = tempfile::tempdir().unwrap();
    let (out, options) = (scratch.path().join("out"), options());
    let first = run_into(&out, TOY, &options).unwrap();
    let path = out.join("trials/aware-t1-0.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let details: TrialDetails = serde_json::from_str(&text).unwrap();
    let [target] = &details.targets[..] else {
        unreachable!("one target has {} details", details.targets.len())
    };
    let exploited: Vec<bool> = target
        .rounds
        .iter()
        .map(|round| round.exploited.is_some())
        .collect();
    assert_eq!(exploited, [false, true], "the first round is warm-up");
    assert_eq!(target.rounds[1].exploited.as_ref().unwrap().len(), 4);
    assert!(target.returned.is_some() && target.target_only.is_some());

    for name in ["passive-t0-0", "passive-t0-1", "aware-t1-0", "aware-t1-1"] {
        mark(&out.join(format!("trials/{name}.csv")));
    }
    let kept = run_into(&out, TOY, &options).unwrap();
    assert_eq!(marked(&kept.rows), 4 * 2, "nothing runs again");
    assert_eq!(kept.summary.extra["detailed"], 16, "read back");
    std::fs::remove_file(&path).unwrap();
    std::fs::write(out.join("trials/aware-t1-1.json"), &text[..text.len() / 2]).unwrap();
    let mended = run_into(&out, TOY, &options).unwrap();
    assert_eq!(
        marked(&mended.rows),
        2 * 2,
        "missing and torn ones run again"
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    let last = |report: &ExperimentReport| timeless(&report.rows[14..]);
    assert_eq!(last(&mended), last(&first));
}

#[test]
fn models_are_saved_for_every_target() {
    let scratch = tempfile::tempdir().unwrap();
    let separate = ExperimentOptions {
        save_models: true,
        seeds: Some(1),
        ..options()
    };
    let joint = ExperimentOptions {
        world: joint(),
        ..separate.clone()
    };
    for (name, options) in [("separate", separate), ("joint", joint)] {
        let out = scratch.path().join(name);
        run_into(&out, TOY, &options).unwrap();
        let models = names(out.join("models"));
        assert_eq!(models.len(), 2 * 4, "{models:?}");
        let model = out.join("models/aware-t1-seed0.safetensors");
        let saved = taskscout_models::SavedModel::load(&model).unwrap();
        assert_eq!(saved.into_parts().provenance.target, "toy 1");
        std::fs::remove_file(&model).unwrap();
        run_into(&out, TOY, &options).unwrap();
        assert!(model.exists(), "a missing model makes the trial run again");
    }
}

#[test]
fn a_world_with_few_rows_gives_them_all_and_ends_the_trials() {
    let scratch = tempfile::tempdir().unwrap();
    let limited = "kind = \"toy\"\nrows = [70, 0, 60, 90]";
    let text = TOY
        .replace("kind = \"toy\"", limited)
        .replace("rounds = 2", "rounds = 4")
        .replace(
            "[\"passive\", \"aware\"]",
            "[\"passive\", \"aware\", \"discrete-l1\"]",
        );
    let out = scratch.path().join("out");
    let report = run_into(&out, &text, &options()).unwrap();
    assert!(
        report.summary.failed.is_empty(),
        "{:?}",
        report.summary.failed
    );
    for strategy in ["passive", "aware", "discrete-l1"] {
        let of_trial = |row: &&ResultRow| {
            row.strategy == strategy && row.seed == 0 && row.target.as_deref() == Some("toy 1")
        };
        let rows: Vec<&ResultRow> = report.rows.iter().filter(of_trial).collect();
        let budgets: Vec<usize> = rows.iter().map(|row| row.budget).collect();
        // Round 2 asks for 182 and gets what is left; round 3 does not take place.
        assert_eq!(budgets, [81, 81 + 121, 70 + 60 + 90], "{strategy}");
        assert!(
            rows.iter()
                .all(|row| row.tasks <= 3 && row.returned_loss.is_some())
        );
    }
    assert_eq!(report.notes.len(), 1, "{:?}", report.notes);
    let note = "the source tasks have only 220 rows in all, but the schedule asks for 657";
    assert!(report.notes[0].starts_with(note), "{:?}", report.notes);
    let (_, passive) = report.summary.targets[1]
        .strategies
        .iter()
        .find(|(name, _)| *name == "passive")
        .unwrap();
    assert!(passive.final_loss.is_some(), "judged by its last round");
    // A trial that ended early is complete and does not run again.
    mark(&out.join("trials/aware-t1-0.csv"));
    let kept = run_into(&out, &text, &options()).unwrap();
    assert_eq!(marked(&kept.rows), 3);
}

#[test]
fn a_world_without_any_rows_is_an_error() {
    let scratch = tempfile::tempdir().unwrap();
    let text = TOY.replace("kind = \"toy\"", "kind = \"toy\"\nrows = [0, 0, 0, 0]");
    let report = run_into(&scratch.path().join("out"), &text, &options()).unwrap();
    // Target-only and target-data do not ask for source tasks.
    assert_eq!(report.summary.failed.len(), 2 * 2 * 2);
    let error = &report.summary.failed[0].error;
    assert!(error.starts_with("no task has rows left"), "{error}");
}

#[test]
fn a_target_that_fails_does_not_stop_the_other() {
    let scratch = tempfile::tempdir().unwrap();
    let text = TOY.replace("kind = \"toy\"", "kind = \"toy\"\nbroken = \"toy 0\"");
    let report = run_into(&scratch.path().join("out"), &text, &options()).unwrap();
    assert_eq!(report.summary.failed.len(), 2 * 4);
    let failed = &report.summary.failed[1];
    assert_eq!(failed.contender(), "passive on toy 0");
    assert!(failed.error.contains("the rig is gone"));
    assert!(
        report
            .rows
            .iter()
            .all(|row| row.target.as_deref() == Some("toy 1"))
    );
    let joint = ExperimentOptions {
        world: joint(),
        ..options()
    };
    let error = run_into(&scratch.path().join("joint"), &text, &joint).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("every trial failed, target-only seed 0")
    );
}

#[test]
fn options_reach_the_world_that_has_them() {
    let one = ExperimentOptions {
        world: WorldOptions::Pendulum(PendulumOptions {
            target: vec!["0.5,0,0,-0.5".into()],
            ..PendulumOptions::default()
        }),
        ..options()
    };
    let prepared_one = prepared(TOY, &one).unwrap();
    assert_eq!(prepared_one.scenario.targets.len(), 1);
    assert_eq!(
        prepared_one.scenario.targets[0].truth,
        Some(vec![0.5, 0.0, 0.0, -0.5])
    );
    assert_eq!(prepared_one.trials()[1].file_stem(), "passive-t0-0");
    let seed = ExperimentOptions {
        world: WorldOptions::Synthetic(SyntheticOptions {
            matrix_seed: Some(1),
            ..SyntheticOptions::default()
        }),
        ..options()
    };
    let error = prepared(TOY, &seed).err().unwrap().to_string();
    assert!(error.contains("bilinear"), "{error}");
}

#[test]
fn a_wrong_key_is_named_by_line_and_column() {
    for (from, to, place) in [
        ("noise = 0.5", "nois = 0.5", "line 7, column 1"),
        ("noise = 0.5", "noise = \"a\"", "line 7, column 9"),
        ("kind = \"toy\"", "kind = \"tory\"", "line 6, column 8"),
        ("samples = 20", "samples = -1", "line 11, column 11"),
    ] {
        let error = parse(&TOY.replace(from, to), "toy.toml").unwrap_err();
        assert!(error.to_string().contains(place), "{to}: {error}");
    }
}
