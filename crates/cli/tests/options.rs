//! Options and keys that concern some worlds only, with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::process::{Command, Output};

const SMALL: &str = include_str!("../../../experiments/small.toml");

fn taskscout(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_taskscout"))
        .args(arguments)
        .output()
        .unwrap()
}

fn refused(output: &Output, parts: &[&str]) {
    let message = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert_eq!(message.trim().lines().count(), 1, "one sentence: {message}");
    for part in parts {
        assert!(message.contains(part), "`{part}` in: {message}");
    }
}

#[test]
fn options_of_other_worlds_are_refused_by_name() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("out");
    let folder = out.display().to_string();
    for (options, option) in [
        (&["--target", "-1,0,0.5,0,0.5"][..], "--target "),
        (&["--task-features", "affine"], "--task-features "),
        (&["--joint-targets"], "--joint-targets "),
    ] {
        // A file may have any world, a built-in experiment has its own options.
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../experiments/bilinear.toml"
        );
        let output = taskscout(&[&["run", file, "--out", &folder], options].concat());
        refused(&output, &[option, "pendulum", "leave it out"]);
        let fixed = ["reproduce", "bilinear", "--out", &folder];
        let output = taskscout(&[&fixed, options].concat());
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        let wrong = match option.trim() {
            // There it needs several targets.
            "--joint-targets" => "--targets <N>".to_owned(),
            option => format!("unexpected argument '{option}'"),
        };
        assert!(message.contains(&wrong), "{message}");
    }
    let torn = ["reproduce", "pendulum", "--target", "0,0,one"];
    refused(&taskscout(&torn), &["--target 0,0,one", "entry 3", "`one`"]);
    assert!(!out.exists(), "nothing is left behind");
}

#[test]
fn joint_targets_need_several() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("joint.toml");
    let text = SMALL.replace("samples = 200", "samples = 200\njoint = true");
    std::fs::write(&file, text).unwrap();
    let file = file.display().to_string();
    refused(&taskscout(&["run", "--check", &file]), &["`target.joint`"]);
}

#[test]
fn a_kind_of_world_has_its_own_keys() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("bad.toml");
    let path = file.display().to_string();
    for (from, to, parts) in [
        (
            "kind = \"synthetic\"",
            "kind = \"real\"",
            &["line 9, column 8", "`real`", "`synthetic`"][..],
        ),
        ("kind = \"synthetic\"", "", &["kind"]),
        (
            "noise = 0.5",
            "nois = 0.5",
            &["line 13, column 1", "`nois`", "`noise`"],
        ),
        (
            "noise = 0.5",
            "noise = \"loud\"",
            &["line 13, column 9", "loud"],
        ),
    ] {
        assert!(SMALL.contains(from), "{from}");
        std::fs::write(&file, SMALL.replace(from, to)).unwrap();
        refused(&taskscout(&["run", "--check", &path]), parts);
    }
}
