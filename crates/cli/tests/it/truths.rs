//! Several ground truths, and a ball as a list, with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use crate::common::{SMALL, Scratch, timeless};
use taskscout_report::read_plans;

#[test]
fn several_truths_are_runs_of_their_own_with_one_summary() {
    let scratch = Scratch::new();
    scratch.file("small.toml", SMALL);
    let run = "run small.toml --seeds 2 --strategies passive,aware --matrix-seed 3";
    let said = scratch.done(&format!("{run} --truths 2 --out out"));
    assert!(said.contains("ground truth 4 (2 of 2)"), "{said}");
    let summary = scratch.json("out/summary.json");
    let truths = summary["truths"].as_array().unwrap();
    let seeds: Vec<u64> = truths
        .iter()
        .map(|truth| truth["matrix_seed"].as_u64().unwrap())
        .collect();
    assert_eq!(seeds, [3, 4]);
    assert_eq!(summary["seeds"], 4, "a truth and a seed are one trial");

    // Each is what it is alone.
    scratch.done(&format!(
        "{} --out alone",
        run.replace("--matrix-seed 3", "--matrix-seed 4")
    ));
    let alone = scratch.json("alone/summary.json");
    assert_eq!(
        timeless(scratch.json("out/truth-4/summary.json")),
        timeless(alone.clone())
    );
    let loss = |summary: &serde_json::Value| {
        let loss = &summary["strategies"]["aware"]["returned_loss"]["mean"];
        loss.as_f64().unwrap()
    };
    let mean = (loss(&truths[0]) + loss(&alone)) / 2.0;
    assert!((loss(&summary) / mean - 1.0).abs() < 1e-9);
    let ratio = &summary["strategies"]["aware"]["returned_budget_ratio"];
    let at = |key: &str| ratio[key].as_f64().unwrap();
    assert!(at("low") <= at("mean") && at("mean") <= 1.0, "{ratio}");

    let table = scratch.text("out/truths.csv");
    assert!(table.starts_with("matrix_seed,target,strategy,seeds,kappa,budget_ratio"));
    assert_eq!(table.lines().count(), 1 + 2 * 3, "{table}");
    let page = scratch.text("out/report.html");
    assert!(page.contains("Truth by truth") && page.contains("Over 2 ground truths"));

    scratch.refused(
        &format!("{run} --truths 2 --out out"),
        &["holds a report already", "--resume"],
    );
    let said = scratch.done(&format!("{run} --truths 2 --out out --resume"));
    assert_eq!(
        said.matches("kept from the run before").count(),
        2 * 6,
        "{said}"
    );
    assert_eq!(
        timeless(scratch.json("out/summary.json"))["strategies"],
        timeless(summary)["strategies"]
    );
}

#[test]
fn truths_are_for_worlds_that_draw_one() {
    let scratch = Scratch::new();
    let text = include_str!("../../../../experiments/pendulum.toml");
    scratch.file("pendulum.toml", text);
    scratch.refused(
        "run pendulum.toml --truths 2 --quick --out out",
        &["--truths is an option of synthetic worlds"],
    );
    scratch.file("small.toml", SMALL);
    scratch.refused(
        &format!(
            "run small.toml --truths 2 --matrix-seed {} --out out",
            u64::MAX
        ),
        &["--truths is 2", "--matrix-seed"],
    );
    assert!(!scratch.path("out").exists(), "nothing is left behind");
}

#[test]
fn relevance_chooses_from_a_list_of_the_ball() {
    let scratch = Scratch::new();
    let text = SMALL.replace("[learner]", "[learner]\nlist = 60");
    scratch.file("small.toml", &text);
    let run = "run small.toml --seeds 1 --strategies passive,aware,discrete-l1,discrete-l2";
    scratch.done(&format!("{run} --out out"));
    let page = scratch.text("out/report.html");
    assert!(page.contains("discrete-l1 and discrete-l2 chose from a list of 60 of its tasks"));
    let summary = scratch.json("out/summary.json");
    for strategy in ["aware", "discrete-l1", "discrete-l2"] {
        let loss = &summary["strategies"][strategy]["returned_loss"]["mean"];
        assert!(loss.is_number(), "{strategy}");
    }
    // All from the same list, on the surface of the ball.
    let mut tasks = std::collections::BTreeSet::new();
    for row in read_plans(&scratch.text("out/plans.csv"), "plans.csv").unwrap() {
        if !row.strategy.starts_with("discrete") {
            continue;
        }
        let squares: f64 = row.parameters.iter().map(|x| x * x).sum();
        assert!((squares - 1.0).abs() < 1e-9, "{squares}");
        tasks.insert(row.task);
    }
    assert!((2..=60).contains(&tasks.len()), "{}", tasks.len());

    scratch.file("bad.toml", &text.replace("list = 60", "list = 0"));
    scratch.refused(
        "run bad.toml --out bad",
        &["bad.toml, line", "learner", "list", "give 1 to"],
    );
}
