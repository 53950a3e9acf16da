//! `taskscout simulate flights`, end to end with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use taskscout_worlds::flights::{FlightsConfig, simulate_flights};

use crate::common::{Scratch, names, stdout, succeeded};

fn simulate(line: &str) -> String {
    format!("simulate flights {line}")
}

fn refused(scratch: &Scratch, line: &str, part: &str) {
    scratch.refused(&simulate(line), &[part]);
}

#[test]
fn a_folder_of_logs_holds_what_the_library_flies() {
    let scratch = Scratch::new();
    let output = scratch.taskscout(&simulate("--out deep/logs --rows 30 --seed 4"));
    succeeded(&output);
    assert_eq!(
        stdout(&output),
        "16 flights of 30 rows written to deep/logs\n"
    );
    let flights = simulate_flights(&FlightsConfig {
        rows: 30,
        seed: 4,
        ..FlightsConfig::default()
    })
    .unwrap();
    let folder = scratch.path("deep/logs");
    assert_eq!(names(&folder).len(), flights.len());
    for flight in flights {
        let text = std::fs::read_to_string(folder.join(&flight.file_name)).unwrap();
        assert_eq!(text, flight.to_csv(), "{}", flight.file_name);
    }
}

#[test]
fn options_choose_the_flights() {
    let scratch = Scratch::new();
    let line = "--out a --vehicles wren --winds nowind,70wind --rows 5 --noise 0";
    scratch.done(&simulate(line));
    assert_eq!(
        names(&scratch.path("a")),
        ["wren_random_pid_70wind.csv", "wren_random_pid_nowind.csv"]
    );
    let quiet = scratch.text("a/wren_random_pid_nowind.csv");
    let line = "--out b --vehicles wren --winds nowind --rows 5";
    scratch.done(&simulate(line));
    let noisy = scratch.text("b/wren_random_pid_nowind.csv");
    assert_ne!(quiet, noisy);
}

#[test]
fn what_is_there_is_safe_without_force() {
    let scratch = Scratch::new();
    scratch.file("logs/notes.txt", "mine");
    let line = "--out logs --vehicles wren --rows 5";
    refused(&scratch, line, "logs holds notes.txt already");
    assert_eq!(names(&scratch.path("logs")), ["notes.txt"]);
    scratch.done(&simulate(&format!("{line} --force")));
    assert_eq!(names(&scratch.path("logs")).len(), 7);
    refused(&scratch, line, "--force");
    scratch.file("file", "mine");
    refused(&scratch, "--out file --rows 5", "give a folder as --out");
}

#[test]
fn bad_input_is_refused_in_one_sentence() {
    let scratch = Scratch::new();
    refused(
        &scratch,
        "--out a --rows 0",
        "--rows is 0: give 1 to 1000000",
    );
    refused(&scratch, "--out a --noise -1", "--noise is -1");
    refused(
        &scratch,
        "--out a --winds storm",
        "--winds has `storm`: give nowind",
    );
    refused(&scratch, "--out a --vehicles wren,wren", "twice");
    assert!(!scratch.path("a").exists());
}
