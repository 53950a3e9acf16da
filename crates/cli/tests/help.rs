//! The help, completions and manual: each experiment has its own options and no other's.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use std::process::{Command, Output};

fn taskscout(line: &str) -> Output {
    let words = line.split_whitespace();
    Command::new(env!("CARGO_BIN_EXE_taskscout"))
        .args(words)
        .output()
        .unwrap()
}

fn said(line: &str) -> String {
    let output = taskscout(line);
    assert!(output.status.success(), "{line}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_experiment_helps_with_its_own_options() {
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
        let help = said(&format!("reproduce {experiment} --help"));
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
    let refused = taskscout("reproduce pendulum --task-features wind");
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn shells_and_the_manual_know_the_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let words = said(&format!("completions {shell}"));
        assert!(
            words.contains("reproduce") && words.contains("matrix-seed"),
            "{shell}"
        );
    }
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("man");
    said(&format!("man {}", folder.display()));
    for page in [
        "taskscout.1",
        "taskscout-design.1",
        "taskscout-reproduce-pendulum.1",
    ] {
        let text = std::fs::read_to_string(folder.join(page)).unwrap();
        assert!(text.contains(".TH"), "{page}");
    }
}
