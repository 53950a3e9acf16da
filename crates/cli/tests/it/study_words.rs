//! What `taskscout study` says to people who have not read the documentation.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use crate::common::Scratch;
use crate::common::tunnel::{NEW, TOMORROW, conditions, rows};

/// A study of these options, with one round told.
fn campaign(options: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.file("conditions.csv", &conditions());
    scratch.file("hover.csv", &rows(TOMORROW, 40, 99));
    scratch.done(&format!("{NEW} {options}"));
    scratch.done("study target hover.csv");
    for item in scratch.measured_plan("study ask --budget 150") {
        scratch.done(&format!("study tell {} {}", item.id, item.file));
    }
    scratch
}

#[test]
fn a_new_study_says_which_columns_became_parameters() {
    let scratch = Scratch::new();
    scratch.file("conditions.csv", &conditions());
    let mistaken = scratch.text_of(&NEW.replace("--cost minutes", "--study a"));
    assert!(
        mistaken.contains("12, with the parameters wind, payload, minutes"),
        "{mistaken}"
    );
    assert!(mistaken.contains("`--cost minutes`"), "{mistaken}");
    let meant = scratch.text_of(&format!("{NEW} --study b"));
    assert!(meant.contains("parameters wind, payload\n"), "{meant}");
    assert!(!meant.contains("note:"), "{meant}");
    scratch.refused(
        &format!("{NEW} --study c --forbid c1"),
        &["no task is called `c1`", "did you mean `c"],
    );
    let status = scratch.text_of("study status --study b");
    assert!(
        status.contains(
            "tasks      polynomials of 3 or 6 or 10 features, chosen by what was measured"
        ),
        "{status}"
    );
    assert!(
        status.contains("inputs     polynomials of 4 or 10 features, chosen by what was measured"),
        "{status}"
    );
}

#[test]
fn rounds_count_from_one_and_models_are_explained_in_units() {
    let scratch = campaign("");
    let status = scratch.text_of("study status");
    assert!(status.contains("in 1 round,"), "{status}");
    let history = scratch.text_of("study history");
    assert!(
        history.contains("round 1: ") && !history.contains("round 0"),
        "{history}"
    );
    assert_eq!(
        scratch.said("study ask --budget 60")["plan"]["round"],
        1,
        "keys of JSON keep their meaning"
    );
    let model = scratch.text_of("study model");
    let ways: Vec<&str> = model.lines().filter(|line| line.contains(" % ")).collect();
    assert_eq!(ways.len(), 4, "{model}");
    assert!(
        ways.iter()
            .any(|way| way.contains(" % of the weight: shared, what all tasks have in common"))
    );
    let alone = ways
        .iter()
        .find(|way| way.contains("target's rows alone; off by"));
    let lead = alone.unwrap();
    // Measured with a noise of 0.05/√3 N, while the forces vary by some newtons.
    let error = lead.split("off by ").nth(1).unwrap();
    let error: f64 = error.split(' ').next().unwrap().parse().unwrap();
    assert!((0.02..0.06).contains(&error), "{model}");
    assert!(lead.contains("units of force"), "{model}");
}

#[test]
fn rows_of_the_target_are_advised_only_if_they_can_be_had() {
    let usual = campaign("").text_of("study forecast --budget 60");
    assert!(usual.contains("if they can be had"), "{usual}");
    assert!(usual.contains("as the study would plan it"), "{usual}");
    let none = campaign("--no-target-rows").text_of("study forecast --budget 60");
    assert!(!none.contains("target rows"), "{none}");
    assert!(!none.contains("rows of the targets"), "{none}");
    let priced = campaign("--target-cost 40");
    let text = priced.text_of("study forecast --budget 30,60");
    assert!(text.contains("target rows at 40"), "{text}");
    let said = priced.said("study forecast --budget 30,60");
    assert_eq!(said["target_rows"]["each"], 40.0, "{said}");
    let further = &said["targets"][0]["further"];
    // Thirty minutes buy no row at forty, and sixty buy one.
    assert!(further[0]["target_rows"].is_null(), "{said}");
    assert!(further[1]["target_rows"]["mean"].is_f64(), "{said}");
    priced.refused(&format!("{NEW} --study b --target-cost 0"), &["above 0"]);
}
