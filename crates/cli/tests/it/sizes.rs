//! Sizes that no machine can hold, end to end with the real binary: refused with the memory that they
//! would need, before anything is done, never by a panic or a signal.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

#[cfg(target_os = "linux")]
use std::process::Command;

#[cfg(target_os = "linux")]
use crate::common::refused;
use crate::common::{SMALL, Scratch, misused, stdout};

const IDENTITY: &str = r#"{ kind = "identity", dim = 30 }"#;

impl Scratch {
    /// The small experiment with some of its text replaced.
    fn small(&self, changes: &[(&str, &str)]) {
        let mut text = SMALL.to_owned();
        for (from, to) in changes {
            assert!(text.contains(from), "{from}");
            text = text.replace(from, to);
        }
        self.file("small.toml", &text);
    }
}

#[test]
fn experiments_that_fit_nowhere_are_refused_with_their_size() {
    let scratch = Scratch::new();
    let cosines = r#"{ kind = "fourier", input_dim = 2, dim = 100000, seed = 1 }"#;
    let network =
        "k = 2                                            # directions of the true representation";
    for (changes, what) in [
        (
            vec![(IDENTITY, r#"{ kind = "identity", dim = 100000 }"#)],
            "100000 input features",
        ),
        (
            vec![(IDENTITY, r#"{ kind = "identity", dim = 1000000 }"#)],
            "1000000 input features",
        ),
        (vec![(IDENTITY, cosines)], "100000 input features"),
        (
            vec![
                ("source_dim = 15 ", "source_dim = 1000000 "),
                ("first_round = 600", "first_round = 2000000"),
            ],
            "task",
        ),
        (
            vec![("samples = 200", "samples = 1000000000000000")],
            "1000000000000000 target samples",
        ),
        (
            vec![(network, "k = 2\nnetwork = { hidden = [1000000000000] }")],
            "1000000000000 values",
        ),
    ] {
        scratch.small(&changes);
        for line in ["run small.toml --check", "run small.toml --out out"] {
            scratch.refused(line, &["B of memory", "free: use fewer", what]);
        }
    }
    scratch.small(&[]);
    scratch.refused(
        "run small.toml --n-target 1000000000000000",
        &["of memory", "target samples"],
    );
    assert!(!scratch.path("out").exists());
}

#[test]
fn many_recordings_are_refused_with_what_they_need() {
    let scratch = Scratch::new();
    let mut text = String::from("task,u,y\n");
    for row in 0..1200 {
        let u = (1.7 * f64::from(row)).sin();
        text += &format!(
            "t{},{u},{}\n",
            row % 300,
            2.0 * u + (0.9 * f64::from(row)).cos()
        );
    }
    scratch.file("many.csv", &text);
    let sides = "many.csv --inputs u --outputs y --task task --target t7";
    let parts = [
        "what is known of 299 tasks with 85 features",
        "MB are allowed",
        "--phi linear",
    ];
    scratch.refused(&format!("learn {sides} --memory 0.1"), &parts);
    let more = "--n-target 2 --seeds 1 --strategies passive --jobs 1 --out out";
    scratch.refused(
        &format!("reproduce drone --data {sides} {more} --memory 0.1"),
        &["tasks with 82 features", "are allowed: use fewer"],
    );
    scratch.done(&format!("learn {sides} --memory 0.1 --phi linear"));
}

#[test]
fn limits_hold_in_files_and_options_alike() {
    let scratch = Scratch::new();
    scratch.small(&[("seeds = 4", "seeds = 100000000000")]);
    scratch.refused(
        "run small.toml",
        &["`seeds` is 100000000000", "1 to 100000"],
    );
    scratch.small(&[]);
    let output = scratch.taskscout("run small.toml --seeds 100000000000");
    misused(&output, &["--seeds"]);
    for (from, to, part) in [
        ("rounds = 4", "rounds = 1000000000", "`schedule.rounds`"),
        (
            "first_round = 600",
            "first_round = 1e300",
            "samples: give a smaller budget",
        ),
        (
            "k = 2 # leave",
            "k = 1000000000000 # leave",
            "`k` is 1000000000000",
        ),
        (
            "k = 2 # leave",
            "oracle = \"neural\"\nneural = { starts = 1000000000000 }\nk = 2 # leave",
            "`starts` is 1000000000000",
        ),
    ] {
        scratch.small(&[(from, to)]);
        scratch.refused("run small.toml", &[part]);
    }
    scratch.small(&[]);
    scratch.refused(
        "run small.toml --budget-scale 1e300",
        &["give a smaller budget"],
    );
}

/// Under a limit of the shell, what fits the machine may not fit the process.
#[cfg(target_os = "linux")]
#[test]
fn limits_of_the_process_count() {
    let scratch = Scratch::new();
    scratch.small(&[(IDENTITY, r#"{ kind = "identity", dim = 5000 }"#)]);
    for (kilobytes, line, parts) in [
        (
            2_000_000,
            "run small.toml --jobs 2 --out out",
            ["of memory", "5000 "],
        ),
        (
            1_000_000,
            "simulate pendulum --w 0,0,0,0,0 --steps 50000000 --out x.csv",
            ["of memory", "50000000 rows"],
        ),
        (
            1_000_000,
            "simulate flights --rows 1000000 --out f",
            ["of memory", "flights of 1000000 rows"],
        ),
    ] {
        refused(&scratch.limited(kilobytes, line), &parts);
    }
}

#[cfg(target_os = "linux")]
impl Scratch {
    /// The command with so many kilobytes of address space.
    fn limited(&self, kilobytes: usize, line: &str) -> std::process::Output {
        let program = env!("CARGO_BIN_EXE_taskscout");
        let line = format!("ulimit -v {kilobytes}; exec {program} {line}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).current_dir(self.folder());
        shell.output().unwrap()
    }
}

/// What needs more than is allowed is refused before it starts; the option counts before the variable.
#[cfg(target_os = "linux")]
#[test]
fn memory_is_taken_as_far_as_it_is_allowed() {
    let scratch = Scratch::new();
    scratch.small(&[]);
    let run = |variable: &str, line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taskscout"));
        command.args(line.split(' ')).current_dir(scratch.folder());
        command.env("TASKSCOUT_MEMORY", variable).output().unwrap()
    };
    let check = "run small.toml --check";
    refused(
        &run("0.001", check),
        &[
            "of memory",
            "1 MB are allowed",
            "or allow it with --memory 1",
        ],
    );
    let allowed = run("0.001", &format!("{check} --memory 1"));
    assert!(
        allowed.status.success(),
        "{}",
        crate::common::stderr(&allowed)
    );
    refused(
        &run("much", check),
        &["TASKSCOUT_MEMORY is much", "above 0"],
    );
    refused(
        &run("2", &format!("{check} --memory -1")),
        &["--memory is -1"],
    );
    // These took 6 GB, with a note.
    scratch.refused("simulate flights --rows 1000000 --out f", &["GB of memory"]);
    assert!(!scratch.path("f").exists());
}

/// What is needed to prepare a run counts too: its size is refused before anything is allocated, and a second moment
/// that is the identity is not looked at.
#[cfg(target_os = "linux")]
#[test]
fn preparing_a_run_stays_within_the_limits() {
    let scratch = Scratch::new();
    scratch.small(&[(IDENTITY, r#"{ kind = "identity", dim = 10000 }"#)]);
    let output = scratch.limited(2_200_000, "run small.toml --check");
    refused(&output, &["of memory", "10000"]);
    scratch.small(&[]);
    let output = scratch.limited(
        2_200_000,
        "run small.toml --jobs 2 --n-target 1000000 --out out",
    );
    refused(&output, &["of memory", "1000000 target samples"]);
    // Designs too, whose products of matrices take addresses of their own, more on machines with large caches.
    scratch.file("hot.toml", "space = { kind = \"one-hot\", size = 3000 }\n");
    let output = scratch.limited(1_000_000, "design --space hot.toml --budget 20000");
    refused(&output, &["GB of memory", "--memory"]);
    scratch.file("hot.toml", "space = { kind = \"one-hot\", size = 20 }\n");
    let output = scratch.limited(1_000_000, "design --space hot.toml --budget 200");
    assert!(
        output.status.success(),
        "{}",
        crate::common::stderr(&output)
    );
}

/// A study that does not say which features it uses has those that its parameters allow.
#[test]
fn studies_of_many_parameters_begin_and_plan() {
    let scratch = Scratch::new();
    let parameters: String = (0..120).map(|i| format!(" --parameter p{i}=0:1")).collect();
    scratch.done(&format!(
        "study new --inputs a,b --outputs y --target t{parameters}"
    ));
    let plan = stdout(&scratch.taskscout("study ask --budget 500"));
    assert!(plan.contains("p119"), "{plan}");
}

/// A study whose plans or models fit nowhere is refused before it is begun.
#[test]
fn studies_that_fit_nowhere_are_not_begun() {
    let scratch = Scratch::new();
    let columns: Vec<String> = (0..90_000).map(|i| format!("c{i}")).collect();
    let row = vec!["1"; columns.len()].join(",");
    let other = vec!["2"; columns.len()].join(",");
    let table = format!("{}\n{row}\n{other}\n", columns.join(","));
    scratch.file("wide.csv", &table);
    scratch.refused(
        "study new --candidates wide.csv --inputs a,b --outputs y --target t",
        &["of memory", "task features", "fewer parameters"],
    );
    assert!(!scratch.path("studies.db").exists());
}
