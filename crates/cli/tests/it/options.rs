//! Options and keys that concern some worlds only, with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use crate::common::{SMALL, Scratch, misused, refused};

#[test]
fn options_of_other_worlds_are_refused_by_name() {
    let scratch = Scratch::new();
    for (options, option) in [
        ("--target -1,0,0.5,0,0.5", "--target"),
        ("--task-features affine", "--task-features"),
    ] {
        // A file may have any world, a built-in experiment has its own options.
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../experiments/bilinear.toml"
        );
        let mut command = scratch.command("run");
        let output = command.arg(file).args(["--out", "out"]);
        let output = output.args(options.split_whitespace()).output().unwrap();
        let named = format!("{option} ");
        refused(&output, &[&named, "pendulum", "leave it out"]);
        let output = scratch.taskscout(&format!("reproduce bilinear --out out {options}"));
        refused(&output, &[&named, "pendulum", "leave it out"]);
    }
    // Worlds with a drawn truth have it, for several targets.
    scratch.refused(
        "reproduce bilinear --out out --joint-targets",
        &["--joint-targets", "a single target", "leave it out"],
    );
    misused(
        &scratch.taskscout("reproduce bilinear --out out --tragets 2"),
        &["unexpected argument '--tragets'", "'--targets'"],
    );
    scratch.refused(
        "reproduce pendulum --target 0,0,one",
        &["--target 0,0,one", "entry 3", "`one`"],
    );
    assert!(!scratch.path("out").exists(), "nothing is left behind");
}

#[test]
fn joint_targets_need_several() {
    let scratch = Scratch::new();
    let text = SMALL.replace("samples = 200", "samples = 200\njoint = true");
    scratch.file("joint.toml", &text);
    scratch.refused("run --check joint.toml", &["`target.joint`"]);
}

#[test]
fn a_kind_of_world_has_its_own_keys() {
    let scratch = Scratch::new();
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
        scratch.file("bad.toml", &SMALL.replace(from, to));
        scratch.refused("run --check bad.toml", parts);
    }
}
