//! One process at a time, and what is left of one that was stopped.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Scratch, results, stderr};

/// Whether a process of this number runs; one that only waits to be buried does not.
fn runs(pid: &str) -> bool {
    let about = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    about.is_ok_and(|about| !about.contains(") Z "))
}

#[test]
fn a_folder_is_one_processes_at_a_time() {
    let scratch = Scratch::with_program("", "sleep 0.4");
    let mut first = scratch.start(&["--jobs", "1"]);
    scratch.wait_for("out/collected");
    let clock = Instant::now();
    for option in ["--resume", "--force"] {
        scratch.run_refused(&[option], &["out is in use by another taskscout process"]);
    }
    assert!(clock.elapsed() < Duration::from_secs(10), "at once");
    first.kill().unwrap();
    first.wait().unwrap();
    // The lock ends with its process.
    scratch.run_well(&["--resume"]);
    scratch.run_well(&["--force"]);
}

#[test]
fn what_a_program_starts_ends_with_taskscout() {
    if !Path::new("/proc/self/stat").exists() {
        eprintln!("skipped: no /proc to look for processes in");
        return;
    }
    for signal in ["KILL", "INT"] {
        let scratch = Scratch::with_program(
            "sleep 600 & echo $! > below.new; mv below.new below",
            "sleep 0.4",
        );
        let mut process = scratch.start(&["--jobs", "1"]);
        scratch.wait_for("below");
        let below = scratch.text("below");
        assert!(runs(&below));
        let pid = process.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &pid]).status();
        assert!(sent.unwrap().success());
        process.wait().unwrap();
        let deadline = Instant::now() + Duration::from_secs(10);
        while runs(&below) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(!runs(&below), "it goes on after {signal}");
    }
}

#[test]
fn a_run_that_is_interrupted_says_how_to_go_on() {
    let scratch = Scratch::with_program("", "sleep 1");
    let mut command = scratch.running(&["--seeds", "3", "--jobs", "1"]);
    let child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    scratch.wait_for("out/trials/target-only-t0-0.csv");
    let signal = ["-INT", &child.id().to_string()].map(str::to_owned);
    assert!(
        Command::new("kill")
            .args(signal)
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let said = stderr(&output);
    assert!(
        said.contains("stopped: finished trials are kept; go on with `"),
        "{said}"
    );
    assert!(said.contains("--seeds 3 --jobs 1 --resume`"), "{said}");
}

#[test]
fn a_run_that_is_killed_again_and_again_ends_like_another() {
    let whole = Scratch::with_program("", "");
    whole.run_well(&["--seeds", "2", "--save-models"]);
    let scratch = Scratch::with_program("", "sleep 0.03");
    let slow = scratch.text("sim.sh");
    whole.file("sim.sh", &slow);
    let options = ["--seeds", "2", "--save-models", "--resume", "--jobs", "2"];
    for kill in 0..6_u64 {
        let mut process = scratch.start(&options);
        std::thread::sleep(Duration::from_millis(120 + 131 * (kill * 7 % 5)));
        process.kill().unwrap();
        process.wait().unwrap();
    }
    let output = scratch.run_again(&options);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(results(&scratch.path("out")), results(&whole.path("out")));
    let files = scratch.files("out");
    let (journals, others): (Vec<&String>, Vec<&String>) =
        files.iter().partition(|name| name.contains(".jsonl"));
    assert!(
        !files.iter().any(|name| name.ends_with(".tmp")),
        "{files:?}"
    );
    let expected = whole.files("out");
    for name in others {
        assert!(expected.contains(name), "{name}");
        if name.ends_with(".safetensors") {
            let bytes = |scratch: &Scratch| std::fs::read(scratch.path("out").join(name)).unwrap();
            assert_eq!(bytes(&scratch), bytes(&whole), "{name}");
        }
    }
    for name in journals.iter().filter(|name| name.ends_with(".jsonl")) {
        let read = |scratch: &Scratch| scratch.text(&format!("out/{name}"));
        assert_eq!(read(&scratch), read(&whole), "{name}");
    }
}
