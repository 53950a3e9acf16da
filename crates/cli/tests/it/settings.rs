//! What an experiment file means, with the real binary: errors name line and column or the option,
//! and nothing that is given is ignored in silence.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use crate::common::{SMALL, Scratch};

/// The small experiment with one piece of its text replaced.
fn small(from: &str, to: &str) -> String {
    assert!(SMALL.contains(from), "{from}");
    SMALL.replace(from, to)
}

#[test]
fn errors_of_meaning_name_line_and_column() {
    let scratch = Scratch::new();
    for (from, to, parts) in [
        (
            "seeds = 4",
            "seeds = 0",
            &["line 5, column 9", "`seeds` is 0"][..],
        ),
        (
            "name = \"small\"",
            "name = \"../up\"",
            &["line 4, column 8", "`name`"],
        ),
        (
            "\"agnostic\", \"aware\"]",
            "\"passive\"]",
            &["line 6, column 14", "`passive` twice"],
        ),
        // Inside a feature map, whose check knows its own key only.
        (
            "kind = \"identity\", dim = 30",
            "kind = \"fourier\", input_dim = 4, dim = 9, scale = -1.0, seed = 1",
            &["line 10, column"],
        ),
        (
            "k = 2      ",
            "k = 99     ",
            &["line 12, column 5", "in [world], `k`"],
        ),
        (
            "noise = 0.5",
            "noise = -0.5",
            &["line 13, column 9", "`noise`"],
        ),
        (
            "k = 2 # leave out",
            "k = 16 # leave out",
            &["line 17, column 5", "in [learner]", "`k`"],
        ),
        (
            "k = 2 # leave out",
            "lambda = -1.0 # leave out",
            &["line 17, column 10", "`learner.lambda`"],
        ),
        (
            "k = 2 # leave out",
            "tolerance = 0.0 # leave out",
            &["line 17, column 13", "`learner.tolerance`"],
        ),
        (
            "k = 2 # leave out",
            "oracle = \"joint-gd\" # leave out",
            &["line 16, column 1", "`learner.k` is missing"],
        ),
        (
            "k = 2 # leave out",
            "k = 2\noracle = \"joint-gd\"\ndescent = { epochs = 0 } # leave out",
            &["line 19, column 22", "`epochs` is 0"],
        ),
        (
            "samples = 200",
            "samples = 0",
            &["line 20, column 11", "`target.samples`"],
        ),
        (
            "samples = 200",
            "samples = 200\njoint = true",
            &["line 21, column 9", "`target.joint`"],
        ),
        (
            "rounds = 4",
            "rounds = 0",
            &["line 23, column 10", "`schedule.rounds`"],
        ),
        (
            "first_round = 600",
            "",
            &["line 22, column 1", "`schedule.first_round` is missing"],
        ),
        (
            "first_round = 600",
            "first_round = 10",
            &[
                "line 22, column 1",
                "`schedule` gives round 0 a budget of 10",
            ],
        ),
        (
            "first_round = 600",
            "first_round = 600\nadaptive = { first = 2.0 }",
            &["line 26, column 22", "`schedule.adaptive.first`"],
        ),
    ] {
        scratch.file("bad.toml", &small(from, to));
        scratch.refused("run --check bad.toml", parts);
        scratch.refused("run --check bad.toml", &["bad.toml, line"]);
    }
}

#[test]
fn errors_of_options_name_the_option() {
    let scratch = Scratch::new();
    scratch.file("small.toml", SMALL);
    scratch.file("free.toml", &small("k = 2 # leave out", "# leave out"));
    for (line, parts) in [
        ("small.toml --n-target 0", &["error: --n-target is 0"][..]),
        (
            "small.toml --budget-scale 0.01",
            &["error: --budget-scale gives round 0 a budget of 6 samples"],
        ),
        (
            "small.toml --budget-scale 0.0001",
            &["error: --budget-scale gives round 0 no samples"],
        ),
        (
            "free.toml --oracle joint-gd",
            &[
                "`learner.k` is missing",
                "--oracle joint-gd",
                "free.toml, line 16",
            ],
        ),
    ] {
        scratch.refused(&format!("run --check {line}"), parts);
    }
    // What the file says wrongly is the file's fault, whatever the options.
    scratch.file("bad.toml", &small("first_round = 600", "first_round = -5"));
    scratch.refused(
        "run --check bad.toml --quick",
        &[
            "bad.toml, line 25, column 15",
            "`schedule.first_round` is -5",
        ],
    );
    for (target, problem) in [("9,0,0,0,0", "--target "), ("1,2", "--target ")] {
        let line = format!("reproduce pendulum --target {target} --out out");
        scratch.refused(&line, &[problem]);
    }
    scratch.refused(
        "reproduce drone --data nowhere --target x --out out",
        &["--data", "nowhere"],
    );
}

#[test]
fn settings_of_a_learner_that_is_not_used_are_refused() {
    let scratch = Scratch::new();
    for (oracle, setting, owner) in [
        ("exact", "descent = { epochs = 3 }", "joint-gd"),
        ("exact", "network = { hidden = [4] }", "neural"),
        ("exact", "neural = { starts = 1 }", "neural"),
        ("exact", "mllam = { splits = 2 }", "mllam"),
        ("neural", "lambda = 3.0", "exact"),
        ("neural", "tolerance = 0.001", "exact"),
        ("neural", "descent = { epochs = 3 }", "joint-gd"),
        ("joint-gd", "neural = { starts = 1 }", "neural"),
        ("mllam", "network = { hidden = [4] }", "neural"),
    ] {
        let learner = format!("k = 2\noracle = \"{oracle}\"\n{setting} # leave out");
        scratch.file("idle.toml", &small("k = 2 # leave out", &learner));
        let key = setting.split(' ').next().unwrap();
        let found = format!("`learner.{key}` is a setting of the oracle");
        let in_use = format!("but the oracle is {oracle}");
        scratch.refused(
            "run --check idle.toml",
            &["idle.toml, line 19, column", &found, owner, &in_use],
        );
    }
    // What the file's own oracle takes is told of where another one is asked for.
    let learner = "k = 2\noracle = \"neural\"\nnetwork = { hidden = [4] } # leave out";
    scratch.file("network.toml", &small("k = 2 # leave out", learner));
    scratch.done("run --check network.toml");
    let said = scratch.done("run --check network.toml --oracle exact");
    assert_eq!(said.matches("note: `learner.network`").count(), 1, "{said}");
    // The true network of a world is no learner's.
    scratch.file(
        "truth.toml",
        &small("noise = 0.5", "noise = 0.5\nnetwork = { hidden = [4] }"),
    );
    scratch.done("run --check truth.toml");
}

#[test]
fn a_file_has_settings_for_other_oracles_in_a_table_of_their_own() {
    let scratch = Scratch::new();
    let with = |table: &str| small("[target]", &format!("[learner.with.{table}\n[target]"));
    scratch.file("two.toml", &with("joint-gd.descent]\nepochs = 3"));
    scratch.done("run --check two.toml");
    let line = "run two.toml --oracle joint-gd --seeds 1 --strategies passive --budget-scale 0.2 --out out";
    scratch.done(line);
    let settings = scratch.json("out/settings.json");
    let learner = &settings["experiment"]["learner"];
    assert_eq!(learner["descent"], serde_json::json!({"epochs": 3}));
    assert!(learner.get("with").is_none(), "{learner}");
    for (table, parts) in [
        (
            "joint-gd.descent]\nepoch = 3",
            &["line 20, column 1", "`epoch`"][..],
        ),
        ("joint-gd.descent]\nepochs = 0", &[]),
        (
            "exact]\nlambda = 2.0",
            &["`learner.with.exact`", "[learner]"],
        ),
        ("joint-gd]\nlambda = 2.0", &["line 20", "the oracle exact"]),
        ("best]\nlambda = 2.0", &["`best`"]),
    ] {
        scratch.file("bad.toml", &with(table));
        scratch.refused("run --check bad.toml --oracle joint-gd", parts);
    }
}

#[test]
fn unknown_keys_of_decay_are_refused() {
    let scratch = Scratch::new();
    for (decay, problem) in [
        ("kind = \"cosine\", evry = 9", "`evry`"),
        ("kind = \"cosine\", every = 9", "`step`"),
        ("kind = \"constant\", factor = 0.5", "`step`"),
        ("kind = \"step\", every = 9, factor = 0.5, x = 1", "`x`"),
        ("kind = \"step\", every = 9", "`factor`"),
    ] {
        let learner =
            format!("k = 2\noracle = \"joint-gd\"\ndescent.decay = {{ {decay} }} # leave out");
        scratch.file("decay.toml", &small("k = 2 # leave out", &learner));
        scratch.refused("run --check decay.toml", &["decay.toml, line 19", problem]);
    }
}
