//! `taskscout learn`, end to end with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use serde_json::Value;

use crate::common::{Scratch, misused, stdout, succeeded};

/// Carts on four loads, of which a table beside them knows three.
fn carts() -> Scratch {
    let scratch = Scratch::new();
    let mut tasks = "recording,surface,load [kg]\n".to_owned();
    for (index, (name, surface, load)) in [
        ("a", "ice", 0.0),
        ("b", "ice", 1.0),
        ("c", "sand", 2.0),
        ("d", "sand", 1.0),
        ("e", "ice", 3.0),
        ("new", "sand", 1.5),
    ]
    .into_iter()
    .enumerate()
    {
        let mut text = "t,speed,angle,torque\n".to_owned();
        let rows = if name == "new" { 15 } else { 60 };
        let grip = if surface == "ice" { 0.2 } else { 1.0 };
        for row in 0..rows {
            let at = (row + 17 * index) as f64;
            let (speed, angle) = ((0.7 * at).sin(), (0.31 * at).cos());
            let noise = 0.05 * (12.9898 * at).sin();
            let torque = 2.0 - (grip + load) * speed + 0.5 * angle + noise;
            text += &format!("{},{speed},{angle},{torque}\n", at * 0.02);
        }
        scratch.file(&format!("carts/{name}.csv"), &text);
        let said = if name == "d" {
            "?".to_owned()
        } else {
            load.to_string()
        };
        tasks += &format!("{name},{surface},{said}\n");
    }
    scratch.file("carts/tasks.csv", &tasks);
    scratch
}

const LEARN: &str =
    "learn carts --target new --inputs speed,angle --outputs torque --unit torque=Nm --phi linear";

#[test]
fn a_folder_gives_one_model_that_predicts_by_name() {
    let scratch = carts();
    let run = |line: &str| {
        let output = scratch.taskscout(line);
        succeeded(&output);
        stdout(&output)
    };
    let text = run(&format!("{LEARN} --out out"));
    for words in [
        "torque [Nm]",
        "Recordings that were learnt from",
        "load of d is not known exactly",
        "The next recordings",
    ] {
        assert!(text.contains(words), "{words} is missing in\n{text}");
    }
    let summary = scratch.json("out/summary.json");
    assert_eq!(summary["recordings"].as_array().unwrap().len(), 5);
    let output = &summary["outputs"][0];
    assert!(
        output["held_out_rmse"].as_f64().unwrap() < output["target_only_rmse"].as_f64().unwrap()
    );
    // Columns in another order, and one that the model does not know.
    scratch.file("states.csv", "angle,time,speed\n0,1,1\n");
    let text = run("predict out/model.safetensors --inputs states.csv");
    let mut lines = text.lines();
    assert!(
        lines.next().unwrap().starts_with("torque,torque_std"),
        "{text}"
    );
    let torque: f64 = lines
        .next()
        .unwrap()
        .split(',')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!((torque + 0.5).abs() < 0.25, "{torque}");
    // The same again only with --force, and the same bytes.
    scratch.refused(&format!("{LEARN} --out out"), &["--force"]);
    let json = run(&format!("{LEARN} --out out --force --json"));
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), summary);
}

#[test]
fn what_others_wrote_is_never_replaced() {
    let scratch = carts();
    let kept = |name: &str| {
        assert_eq!(
            std::fs::read_to_string(scratch.path(name)).unwrap(),
            "precious",
            "{name}"
        );
    };
    scratch.file("mine/plan.csv", "precious");
    scratch.refused(
        &format!("{LEARN} --out mine --force"),
        &["mine holds files that `taskscout learn` did not write"],
    );
    kept("mine/plan.csv");
    scratch.file("mine/summary.json", "precious");
    scratch.refused(&format!("{LEARN} --out mine --force"), &["did not write"]);
    kept("mine/summary.json");
}

#[test]
fn bad_input_is_named_in_a_sentence() {
    let scratch = carts();
    scratch.file("wrong.csv", "recording,load\nnew,heavy\na,1\n");
    let asked = |more: &str| match more.starts_with("--target") {
        true => format!("learn carts {more} --inputs speed,angle --outputs torque"),
        false => format!("{LEARN} {more}"),
    };
    for (more, words) in [
        ("--target nex", "did you mean `new`"),
        ("--n-target 99", "--n-target is 99"),
        ("--labels surfac", "did you mean surface?"),
        (
            "--tasks wrong.csv --parameters load",
            "which is a parameter",
        ),
        ("--tasks nowhere.csv", "nowhere.csv"),
    ] {
        scratch.refused(&asked(more), &[words]);
    }
    for (more, words) in [
        ("--name-pattern {a}{b}", "nothing between the fields"),
        ("--unit torque", "COLUMN=UNIT"),
    ] {
        misused(&scratch.taskscout(&asked(more)), &[words]);
    }
}
