//! Run folders, end to end with the real binary: what a run was made from, who may write, what is
//! removed, and what is left of a run that was killed.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud
#![cfg(unix)] // links, signals and shell scripts

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const TABLES: &str = r#"
name = "tables"
seeds = 1
strategies = ["passive"]
[world]
kind = "logs"
data = "logs"
inputs = ["x0", "x1"]
outputs = ["y"]
targets = ["c"]
phi = "linear"
task_features = "one-hot"
[learner]
oracle = "exact"
[target]
samples = 10
[schedule]
rounds = 2
growth = 1.0
first_round = 30
"#;

/// Answers from the seed alone; what it does besides is `EXTRA`, and `SLOW` is a wait.
const SHELL: &str = r#"
EXTRA
while read -r line; do
  SLOW
  echo "$line" | awk '
    { match($0, /"count":[0-9]+/); n = substr($0, RSTART + 8, RLENGTH - 8) + 0
      a = 0.5; b = -0.5
      if (match($0, /"task":\[[^]]*\]/)) {
        split(substr($0, RSTART + 8, RLENGTH - 9), w, ","); a = w[1]; b = w[2] }
      match($0, /"seed":[0-9]+/); srand(substr($0, RSTART + 7, RLENGTH - 7) % 100003)
      for (i = 0; i < n; i++) {
        p = rand() - 0.5; q = rand() - 0.5
        printf "{\"x\": [%.6f, %.6f], \"y\": %.6f, \"error\": null}\n", p, q, 2 * p * a + q * b } }'
done
"#;

const PROGRAM: &str = r#"
name = "shell"
seeds = 1
strategies = ["passive"]
[source]
command = ["sh", "sim.sh", "--speed=speed.txt"]
timeout_s = 20
input_features = { kind = "identity", dim = 2 }
space = { kind = "box", low = [-1.0, -1.0], high = [1.0, 1.0] }
test_rows = 30
[[source.targets]]
name = "known"
task = [0.3, -0.2]
[learner]
k = 2
[target]
samples = 12
[schedule]
rounds = 2
growth = 1.0
first_round = 20
"#;

struct Scratch(tempfile::TempDir);

impl Scratch {
    fn tables() -> Self {
        let scratch = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(scratch.path("logs")).unwrap();
        for (name, slope) in [("a", 1.0), ("b", -1.0), ("c", 0.5)] {
            scratch.table(name, slope);
        }
        scratch.file("run.toml", TABLES);
        scratch
    }

    fn program(extra: &str, slow: &str) -> Self {
        let scratch = Self(tempfile::tempdir().unwrap());
        let script = SHELL.replace("EXTRA", extra).replace("SLOW", slow);
        scratch.file("sim.sh", &script);
        scratch.file("speed.txt", "3");
        scratch.file("run.toml", PROGRAM);
        scratch
    }

    fn table(&self, name: &str, slope: f64) {
        let mut text = "x0,x1,y\n".to_owned();
        for row in 0..60_u32 {
            let (x, z) = (f64::from(row).sin(), f64::from(3 * row).cos());
            text += &format!(
                "{x},{z},{}\n",
                slope * x + 0.3 * z + 0.01 * f64::from(row % 7)
            );
        }
        self.file(&format!("logs/{name}.csv"), &text);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn command(&self, options: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taskscout"));
        command
            .args(["run", "run.toml", "--out", "out"])
            .args(options)
            .current_dir(self.0.path());
        command
    }

    fn run(&self, options: &[&str]) -> Output {
        self.command(options).output().unwrap()
    }

    fn start(&self, options: &[&str]) -> Child {
        let mut command = self.command(options);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Runs and expects success; what it said on standard error.
    fn done(&self, options: &[&str]) -> String {
        let output = self.run(options);
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
    }

    /// Runs and expects one sentence of refusal with these parts.
    fn refused(&self, options: &[&str], parts: &[&str]) {
        let output = self.run(options);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert_eq!(said.trim().lines().count(), 1, "one sentence: {said}");
        for part in parts {
            assert!(said.contains(part), "`{part}` in: {said}");
        }
    }

    fn wait_for(&self, name: &str) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !self.path(name).exists() {
            assert!(Instant::now() < deadline, "{name} does not appear");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Every file below a folder.
    fn files(&self, name: &str) -> Vec<String> {
        let mut files = Vec::new();
        let mut folders = vec![self.path(name)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let path = path.strip_prefix(self.path(name)).unwrap();
                    files.push(path.display().to_string());
                }
            }
        }
        files.sort();
        files
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The results without what a clock measured.
fn results(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("results.csv")).unwrap();
    let still = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        cells[..cells.len() - 3].join(",")
    };
    text.lines().map(still).collect()
}

fn summary(folder: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(folder.join("summary.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_run_goes_on_with_the_tables_it_was_made_from() {
    let scratch = Scratch::tables();
    scratch.done(&[]);
    let (before, table) = (results(&scratch.path("out")), scratch.read("logs/b.csv"));
    scratch.done(&["--resume"]);
    scratch.table("b", -2.0);
    scratch.refused(
        &["--resume"],
        &["b.csv has changed", "--force", "--accept-changes"],
    );
    scratch.file("logs/b.csv", &table);
    scratch.table("d", 0.7);
    scratch.refused(&["--resume"], &["d.csv is new"]);
    std::fs::remove_file(scratch.path("logs/d.csv")).unwrap();
    std::fs::rename(scratch.path("logs/a.csv"), scratch.path("logs/e.csv")).unwrap();
    scratch.refused(&["--resume"], &["a.csv is gone", "e.csv is new"]);
    std::fs::rename(scratch.path("logs/e.csv"), scratch.path("logs/a.csv")).unwrap();
    assert_eq!(results(&scratch.path("out")), before, "nothing was touched");

    // The user may know better, and readers are told.
    scratch.file("logs/b.csv", &(table + "1.0,0.5,0.25\n"));
    let said = scratch.done(&["--resume", "--accept-changes"]);
    assert!(said.contains("b.csv has changed"), "{said}");
    assert!(
        scratch
            .read("out/report.html")
            .contains("b.csv has changed")
    );
    let said = scratch.done(&["--resume"]);
    assert!(said.contains("b.csv has changed"), "for good: {said}");
}

#[test]
fn a_run_goes_on_with_the_program_it_was_made_from() {
    let scratch = Scratch::program("", "");
    scratch.done(&[]);
    let script = scratch.read("sim.sh");
    scratch.file("sim.sh", &script.replace("2 * p", "3 * p"));
    scratch.refused(&["--resume"], &["sim.sh has changed", "--accept-changes"]);
    scratch.file("sim.sh", &script);
    scratch.file("speed.txt", "4");
    scratch.refused(&["--resume"], &["speed.txt has changed"]);
    scratch.file("speed.txt", "3");
    scratch.file(
        "run.toml",
        &PROGRAM.replace("\"sim.sh\"", "\"sim.sh\", \"fast\""),
    );
    scratch.refused(&["--resume"], &["`source.command` has changed"]);
    // More time changes no row.
    scratch.file(
        "run.toml",
        &PROGRAM.replace("timeout_s = 20", "timeout_s = 30"),
    );
    scratch.done(&["--resume"]);
}

#[test]
fn a_folder_is_one_processes_at_a_time() {
    let scratch = Scratch::program("", "sleep 0.4");
    let mut first = scratch.start(&["--jobs", "1"]);
    scratch.wait_for("out/collected");
    let clock = Instant::now();
    for option in ["--resume", "--force"] {
        scratch.refused(&[option], &["out is in use by another taskscout process"]);
    }
    assert!(clock.elapsed() < Duration::from_secs(10), "at once");
    first.kill().unwrap();
    first.wait().unwrap();
    // The lock ends with its process.
    scratch.done(&["--resume"]);
    scratch.done(&["--force"]);
}

#[test]
fn force_removes_what_the_run_wrote_and_nothing_else() {
    let scratch = Scratch::tables();
    scratch.done(&["--save-models"]);
    let written = scratch.files("out");
    for name in [
        "manifest.json",
        "figures/relevant.svg",
        "models/passive-t0-seed0.safetensors",
    ] {
        assert!(written.contains(&name.to_owned()), "{name} in {written:?}");
    }
    let mine = [
        "notes.txt",
        "figures/mine.svg",
        "models/mine.safetensors",
        "trials/mine.csv",
        "trials/.mine.csv.12-3.tmp",
        "collected/mine.jsonl",
        "loss-theirs.svg",
    ];
    for name in mine {
        scratch.file(&format!("out/{name}"), "mine");
    }
    // What a killed process left of the run's own files.
    for name in ["trials/.passive-t0-0.csv.12-3.tmp", ".results.csv.9-9.tmp"] {
        scratch.file(&format!("out/{name}"), "half");
    }
    scratch.done(&["--force", "--strategies", "aware"]);
    let left = scratch.files("out");
    for name in mine {
        assert_eq!(scratch.read(&format!("out/{name}")), "mine");
    }
    for name in [
        "trials/passive-t0-0.csv",
        "models/passive-t0-seed0.safetensors",
        "trials/.passive-t0-0.csv.12-3.tmp",
        ".results.csv.9-9.tmp",
    ] {
        assert!(!left.contains(&name.to_owned()), "{name} in {left:?}");
    }
    assert!(left.contains(&"trials/aware-t0-0.csv".to_owned()));

    // Nothing behind a link.
    scratch.file("elsewhere/aware-t0-0.csv", "mine");
    std::fs::remove_dir_all(scratch.path("out/trials")).unwrap();
    std::os::unix::fs::symlink(scratch.path("elsewhere"), scratch.path("out/trials")).unwrap();
    scratch.refused(&["--force"], &["out/trials is a symbolic link"]);
    assert_eq!(scratch.read("elsewhere/aware-t0-0.csv"), "mine");
}

#[test]
fn force_needs_a_manifest() {
    let scratch = Scratch::tables();
    scratch.file("out/results.csv", "mine");
    scratch.refused(&["--force"], &["no manifest.json", "another --out"]);
    scratch.refused(&["--resume"], &["manifest.json", "another --out"]);
    scratch.refused(&[], &["holds a run already", "another --out"]);
    assert_eq!(scratch.files("out"), ["results.csv"], "not even a lock");
    std::fs::rename(
        scratch.path("out/results.csv"),
        scratch.path("out/thesis.tex"),
    )
    .unwrap();
    scratch.refused(&["--force"], &["no manifest.json"]);
    assert_eq!(scratch.files("out"), ["thesis.tex"]);
    std::fs::remove_file(scratch.path("out/thesis.tex")).unwrap();
    // Killed at its very start, a run leaves no more than this.
    scratch.file("out/.lock", "");
    scratch.file("out/.manifest.json.77-0.tmp", "{");
    scratch.done(&["--force"]);
    assert!(!scratch.path("out/.manifest.json.77-0.tmp").exists());
}

#[test]
fn a_trial_that_is_not_whole_is_run_again() {
    let scratch = Scratch::tables();
    scratch.done(&[]);
    let (before, name) = (results(&scratch.path("out")), "out/trials/passive-t0-0.csv");
    let whole = scratch.read(name);
    let lines: Vec<&str> = whole.lines().collect();
    assert_eq!(lines.len(), 3, "two rounds");
    let cut = &whole[..whole.len() - 9];
    for (number, (text, problem)) in [
        (
            format!("{}\n{}\n", lines[0], lines[1]),
            "lacks round 1 of c",
        ),
        (
            format!("{}\n{}\n", lines[0], lines[2]),
            "lacks round 0 of c",
        ),
        (format!("{whole}{}\n", lines[2]), "has round 1 of c twice"),
        (
            whole.replacen("passive", "active", 1),
            "another trial's row",
        ),
        (whole.replacen(",0,", ",zero,", 1), "cannot be read"),
        (cut.to_owned(), "breaks off"),
        (String::new(), "breaks off"),
    ]
    .into_iter()
    .enumerate()
    {
        scratch.file(name, &text);
        let said = scratch.done(&["--resume"]);
        assert!(said.contains(problem), "`{problem}` in: {said}");
        assert!(said.contains("run again"), "{said}");
        assert_eq!(results(&scratch.path("out")), before);
        let aside = format!("{name}.set-aside-{}", number + 1);
        assert_eq!(scratch.read(&aside), text, "kept for people");
    }
    let said = scratch.done(&["--resume"]);
    assert_eq!(
        said.matches("kept from the run before").count(),
        2,
        "{said}"
    );
    scratch.done(&["--force"]);
    let left = scratch.files("out");
    assert!(
        !left.iter().any(|name| name.contains("set-aside")),
        "{left:?}"
    );
}

#[test]
fn crashes_are_counted_and_standard_error_is_shown() {
    let crash =
        "if [ ! -e died ]; then touch died; read -r line; echo 'out of memory' >&2; exit 4; fi";
    let scratch = Scratch::program(&format!("echo hello >&2\n{crash}"), "");
    let said = scratch.done(&["--jobs", "1"]);
    for part in [
        "target-only-t0-0 | out of memory\n",
        "passive-t0-0 | hello\n",
        "exit status: 4",
        "warning: the program crashed 1 time and was started anew 1 time\n",
    ] {
        assert!(said.contains(part), "`{part}` in: {said}");
    }
    let counted = serde_json::json!({"crashes": 1, "restarts": 1});
    assert_eq!(summary(&scratch.path("out"))["program"], counted);
    assert!(scratch.read("out/report.html").contains("crashed 1 time"));
    scratch.done(&["--resume"]);
    assert_eq!(
        summary(&scratch.path("out"))["program"],
        counted,
        "for good"
    );
}

/// Whether a process of this number runs; one that only waits to be buried does not.
fn runs(pid: &str) -> bool {
    let about = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    about.is_ok_and(|about| !about.contains(") Z "))
}

#[test]
fn what_a_program_starts_ends_with_taskscout() {
    if !Path::new("/proc/self/stat").exists() {
        eprintln!("skipped: no /proc to look for processes in");
        return;
    }
    for signal in ["KILL", "INT"] {
        let scratch = Scratch::program(
            "sleep 600 & echo $! > below.new; mv below.new below",
            "sleep 0.4",
        );
        let mut process = scratch.start(&["--jobs", "1"]);
        scratch.wait_for("below");
        let below = scratch.read("below");
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
    let scratch = Scratch::program("", "sleep 1");
    let mut command = scratch.command(&["--seeds", "3", "--jobs", "1"]);
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
    let whole = Scratch::program("", "");
    whole.done(&["--seeds", "2", "--save-models"]);
    let scratch = Scratch::program("", "sleep 0.03");
    let slow = scratch.read("sim.sh");
    whole.file("sim.sh", &slow);
    let options = ["--seeds", "2", "--save-models", "--resume", "--jobs", "2"];
    for kill in 0..6_u64 {
        let mut process = scratch.start(&options);
        std::thread::sleep(Duration::from_millis(120 + 131 * (kill * 7 % 5)));
        process.kill().unwrap();
        process.wait().unwrap();
    }
    let output = scratch.run(&options);
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
        let read = |scratch: &Scratch| scratch.read(&format!("out/{name}"));
        assert_eq!(read(&scratch), read(&whole), "{name}");
    }
}
