//! `taskscout report`: the page of a run, of runs and of studies, and what it refuses.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use crate::common::{SMALL, Scratch, misused, stdout, succeeded};

/// A small run in `out`.
fn run(scratch: &Scratch, out: &str) {
    scratch.file("small.toml", SMALL);
    succeeded(&scratch.taskscout(&format!("run small.toml --quick --out {out}")));
}

#[test]
fn the_page_of_a_run_is_written_again_byte_for_byte() {
    let scratch = Scratch::new();
    run(&scratch, "out");
    let output = scratch.taskscout("report out --out page.html --figures pictures");
    succeeded(&output);
    let page = scratch.text("page.html");
    assert_eq!(page, scratch.text("out/report.html"));
    for text in [
        "UTC",
        "made by",
        "What the words mean",
        "download=\"loss.csv\"",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!(
        scratch.text("pictures/loss.csv"),
        scratch.text("out/loss.csv")
    );
    assert!(scratch.text("pictures/plans.svg").starts_with("<svg"));
    let said = stdout(&output);
    assert!(said.contains("passive"), "a verdict: {said}");
    assert!(said.trim_end().ends_with("Report: page.html"), "{said}");
    assert!(!said.contains('\u{1b}'), "no colour in a pipe: {said:?}");
}

#[test]
fn unfinished_runs_and_folders_of_runs_have_pages() {
    let scratch = Scratch::new();
    run(&scratch, "runs/whole");
    run(&scratch, "runs/part");
    for file in ["report.json", "report.html", "results.csv", "summary.json"] {
        std::fs::remove_file(scratch.path("runs/part").join(file)).unwrap();
    }
    succeeded(&scratch.taskscout("report runs/part"));
    let page = scratch.text("part-report.html");
    assert!(page.contains("This run is not finished"));
    assert!(page.contains("Which tasks were collected, and why"));
    succeeded(&scratch.taskscout("report runs --out all.html"));
    let page = scratch.text("all.html");
    assert!(page.contains("2 experiments") && page.contains("part: small"));
}

#[test]
fn what_is_no_run_and_no_study_is_refused() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("empty")).unwrap();
    scratch.file("not.db", "nonsense");
    for (line, words) in [
        ("report empty", "it holds no results of an experiment"),
        ("report gone", "neither a folder nor a store"),
        ("report not.db", "not.db"),
    ] {
        scratch.refused(line, &[words]);
    }
    misused(&scratch.taskscout("report"), &["DIR|STUDY"]);
}
