//! The help, completions and manual: each experiment has its own options and no other's.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use crate::common::{SMALL, Scratch, misused, stdout, succeeded};

fn said(scratch: &Scratch, line: &str) -> String {
    let output = scratch.taskscout(line);
    succeeded(&output);
    stdout(&output)
}

#[test]
fn help_begins_with_what_the_command_is_for() {
    let help = said(&Scratch::new(), "--help");
    let first = help.lines().next().unwrap();
    assert!(
        first.starts_with("Which tasks should I collect data from next"),
        "{first}"
    );
}

#[test]
fn every_experiment_helps_with_its_own_options() {
    let scratch = Scratch::new();
    let synthetic = &[
        "--matrix-seed",
        "--targets",
        "--k-star",
        "--joint-targets",
        "--target-distribution",
    ][..];
    let own = [
        ("bilinear", synthetic),
        ("fourier", synthetic),
        ("mlp", synthetic),
        (
            "pendulum",
            &["--target", "--task-features", "--joint-targets"],
        ),
        (
            "drone",
            &[
                "--target",
                "--task-features",
                "--joint-targets",
                "--data",
                "--phi",
                "--inputs",
            ],
        ),
    ];
    let all: Vec<&str> = own
        .iter()
        .flat_map(|(_, options)| options.iter().copied())
        .collect();
    for (experiment, options) in own {
        let help = said(&scratch, &format!("reproduce {experiment} --help"));
        for option in &all {
            let shown =
                help.contains(&format!("{option} ")) || help.contains(&format!("{option}\n"));
            assert_eq!(
                shown,
                options.contains(option),
                "{experiment} {option}: {help}"
            );
        }
        assert!(help.contains("--seeds"), "{help}");
    }
    // A file's world has its own too.
    scratch.file("small.toml", SMALL);
    let shown = |line: &str| said(&scratch, line).contains("--matrix-seed");
    assert!(shown("run small.toml --help") && shown("run --help small.toml"));
    assert!(!shown("run --help") && !shown("run missing.toml --help"));
    let of_file = said(&scratch, "run small.toml --help");
    assert!(
        of_file.contains("--seeds") && !of_file.contains("--data"),
        "{of_file}"
    );
    assert!(said(&scratch, "run --help").contains("run FILE --help"));
    let refused = scratch.taskscout("reproduce pendulum --task-features wind");
    misused(&refused, &["'wind'", "--task-features"]);
}

#[test]
fn shells_and_the_manual_know_the_command() {
    let scratch = Scratch::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let words = said(&scratch, &format!("completions {shell}"));
        assert!(
            words.contains("reproduce") && words.contains("matrix-seed"),
            "{shell}"
        );
    }
    scratch.done("man man");
    for page in [
        "taskscout.1",
        "taskscout-design.1",
        "taskscout-reproduce-pendulum.1",
    ] {
        let text = scratch.text(&format!("man/{page}"));
        assert!(text.contains(".TH"), "{page}");
    }
}
