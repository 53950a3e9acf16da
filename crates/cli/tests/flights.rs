//! `taskscout simulate flights`, end to end with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use taskscout_worlds::flights::{FlightsConfig, simulate_flights};

fn simulate(folder: &Path, line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_taskscout"))
        .args(["simulate", "flights"])
        .args(line.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap()
}

fn refused(folder: &Path, line: &str, part: &str) {
    let output = simulate(folder, line);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{line}: {message}");
    assert_eq!(message.trim().lines().count(), 1, "one sentence: {message}");
    assert!(message.contains(part), "`{part}` in: {message}");
}

fn names(folder: PathBuf) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_folder_of_logs_holds_what_the_library_flies() {
    let scratch = tempfile::tempdir().unwrap();
    let output = simulate(scratch.path(), "--out deep/logs --rows 30 --seed 4");
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said, "16 flights of 30 rows written to deep/logs\n");
    let flights = simulate_flights(&FlightsConfig {
        rows: 30,
        seed: 4,
        ..FlightsConfig::default()
    })
    .unwrap();
    let folder = scratch.path().join("deep/logs");
    assert_eq!(names(folder.clone()).len(), flights.len());
    for flight in flights {
        let text = std::fs::read_to_string(folder.join(&flight.file_name)).unwrap();
        assert_eq!(text, flight.to_csv(), "{}", flight.file_name);
    }
}

#[test]
fn options_choose_the_flights() {
    let scratch = tempfile::tempdir().unwrap();
    let line = "--out a --vehicles wren --winds nowind,70wind --rows 5 --noise 0";
    assert!(simulate(scratch.path(), line).status.success());
    assert_eq!(
        names(scratch.path().join("a")),
        ["wren_random_pid_70wind.csv", "wren_random_pid_nowind.csv"]
    );
    let quiet = std::fs::read_to_string(scratch.path().join("a/wren_random_pid_nowind.csv"));
    let line = "--out b --vehicles wren --winds nowind --rows 5";
    assert!(simulate(scratch.path(), line).status.success());
    let noisy = std::fs::read_to_string(scratch.path().join("b/wren_random_pid_nowind.csv"));
    assert_ne!(quiet.unwrap(), noisy.unwrap());
}

#[test]
fn what_is_there_is_safe_without_force() {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::create_dir(scratch.path().join("logs")).unwrap();
    std::fs::write(scratch.path().join("logs/notes.txt"), "mine").unwrap();
    let line = "--out logs --vehicles wren --rows 5";
    refused(scratch.path(), line, "logs holds notes.txt already");
    assert_eq!(names(scratch.path().join("logs")), ["notes.txt"]);
    let forced = simulate(scratch.path(), &format!("{line} --force"));
    assert!(forced.status.success());
    assert_eq!(names(scratch.path().join("logs")).len(), 7);
    refused(scratch.path(), line, "--force");
    std::fs::write(scratch.path().join("file"), "mine").unwrap();
    refused(
        scratch.path(),
        "--out file --rows 5",
        "give a folder as --out",
    );
}

#[test]
fn bad_input_is_refused_in_one_sentence() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path();
    refused(path, "--out a --rows 0", "--rows is 0: give 1 to 1000000");
    refused(path, "--out a --noise -1", "--noise is -1");
    refused(
        path,
        "--out a --winds storm",
        "--winds has `storm`: give nowind",
    );
    refused(path, "--out a --vehicles wren,wren", "twice");
    assert!(!path.join("a").exists());
}
