//! `taskscout run` with a program as the source of data, end to end with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud
#![cfg(unix)] // some of the programs are shell scripts

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{Scratch, binary, names, refused, results, stderr, succeeded, summary};

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/own-simulator");

/// `y = 2 x₀ w₀ + x₁ w₁` without noise, on inputs that count up; logs every request.
const SHELL: &str = r#"
echo start >> starts.txt
while read -r line; do
  echo "$line" >> asked.txt
  BREAK
  echo "$line" | awk '
    { match($0, /"count":[0-9]+/); n = substr($0, RSTART + 8, RLENGTH - 8) + 0
      a = 0.5; b = -0.5
      if (match($0, /"task":\[[^]]*\]/)) {
        split(substr($0, RSTART + 8, RLENGTH - 9), w, ","); a = w[1]; b = w[2] }
      match($0, /"seed":[0-9]+/); srand(substr($0, RSTART + 7, RLENGTH - 7) % 100003)
      for (i = 0; i < n; i++) {
        p = rand() - 0.5; q = rand() - 0.5
        printf "{\"x\": [%.6f, %.6f], \"y\": %.6f}\n", p, q, 2 * p * a + q * b } }'
done
"#;

const TOML: &str = r#"
name = "shell"
seeds = 1
strategies = ["passive"]
[source]
command = ["sh", "sim.sh"]
timeout_s = 20
input_features = { kind = "identity", dim = 2 }
space = { kind = "box", low = [-1.0, -1.0], high = [1.0, 1.0] }
test_rows = 30
[[source.targets]]
name = "known"
task = [0.3, -0.2]
[[source.targets]]
name = "asked by name"
[learner]
k = 2
[target]
samples = 12
[schedule]
rounds = 2
growth = 1.0
first_round = 20
"#;

/// A folder with a program, of which a line may be broken.
fn with_program(broken: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.program(broken);
    scratch.file("shell.toml", TOML);
    scratch
}

impl Scratch {
    fn program(&self, broken: &str) {
        self.file("sim.sh", &SHELL.replace("BREAK", broken));
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn run(&self, options: &[&str]) -> Output {
        run(&self.path("shell.toml"), &self.path("out"), options)
    }
}

/// Runs a file from somewhere else than its folder.
fn run(file: &Path, out: &Path, options: &[&str]) -> Output {
    let mut command = binary();
    command.arg("run").arg(file).arg("--out").arg(out);
    command.args(options).current_dir(std::env::temp_dir());
    command.output().unwrap()
}

#[test]
fn the_example_runs_and_learns_springs() {
    let python = Command::new("python3").arg("--version").output();
    if !python.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: there is no python3 to run the example with");
        return;
    }
    let scratch = Scratch::new();
    let (file, out) = (Path::new(EXAMPLE).join("spring.toml"), scratch.folder());
    let output = run(&file, &out.join("a"), &["--jobs", "2"]);
    succeeded(&output);
    let summary = summary(&out.join("a"));
    for target in summary["targets"].as_array().unwrap() {
        let loss = |name: &str| {
            let loss = &target["strategies"][name]["returned_loss"]["mean"];
            loss.as_f64().unwrap()
        };
        // The noise of the labels is 0.05² = 0.0025 of each loss.
        assert!(loss("aware") < 0.05, "{target}");
        assert!(loss("aware") < 2.0 * loss("target-only"), "{target}");
    }
    let again = run(&file, &out.join("b"), &["--jobs", "1"]);
    succeeded(&again);
    assert_eq!(results(&out.join("a")), results(&out.join("b")));
    assert!(!Path::new(EXAMPLE).join("runs").exists());
}

#[test]
fn rows_are_kept_and_a_finished_run_asks_nothing_more() {
    let scratch = with_program("");
    let output = scratch.run(&[]);
    succeeded(&output);
    let collected = names(&scratch.path("out/collected"));
    assert_eq!(
        collected,
        [
            "passive-t0-0.jsonl",
            "passive-t1-0.jsonl",
            "target-only-t0-0.jsonl",
            "target-only-t1-0.jsonl",
            "test-t0.jsonl",
            "test-t1.jsonl",
        ],
        "no target-data, for the task of one target is not known"
    );
    let (asked, before) = (scratch.lines("asked.txt"), results(&scratch.path("out")));
    let by_name = r#"{"target":"asked by name","count":12,"#;
    assert!(
        asked.iter().any(|line| line.starts_with(by_name)),
        "{asked:?}"
    );
    let known = r#"{"target":"known","task":[0.3,-0.2],"count":30,"#;
    assert_eq!(
        asked.iter().filter(|line| line.starts_with(known)).count(),
        1
    );

    // Without its finished trials, the run goes through again without asking.
    std::fs::remove_dir_all(scratch.path("out/trials")).unwrap();
    let output = scratch.run(&["--resume"]);
    succeeded(&output);
    assert_eq!(results(&scratch.path("out")), before);
    assert_eq!(scratch.lines("asked.txt"), asked);

    // A new start asks everything.
    let output = scratch.run(&["--force"]);
    succeeded(&output);
    assert_eq!(scratch.lines("asked.txt").len(), 2 * asked.len());
    assert_eq!(results(&scratch.path("out")), before);
}

#[test]
fn a_bare_file_name_means_the_folder_one_is_in() {
    let scratch = with_program("");
    scratch.done("run shell.toml");
    assert!(scratch.path("runs/shell/collected/test-t0.jsonl").exists());
}

#[test]
fn a_crash_fails_its_trial_and_resuming_loses_nothing() {
    // With one target, no two trials ask for the same rows of a source task.
    let toml = TOML.replace("[[source.targets]]\nname = \"asked by name\"\n", "");
    let whole = with_program("");
    whole.file("shell.toml", &toml);
    assert!(whole.run(&[]).status.success());
    // After five requests for source tasks, in the middle of its trial, the program crashes.
    let crash = r#"case "$line" in
      *target*) ;;
      *) echo x >> rounds.txt
         if [ "$(wc -l < rounds.txt)" -gt 5 ]; then echo 'out of memory' >&2; exit 7; fi ;;
    esac"#;
    let scratch = with_program(crash);
    scratch.file("shell.toml", &toml);
    let output = scratch.run(&["--jobs", "1"]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    for part in [
        "failed: passive on known seed 0",
        "sh sim.sh",
        "rows of task [",
        "exit status: 7",
        "out of memory",
        "run again with --resume",
    ] {
        assert!(said.contains(part), "`{part}` in: {said}");
    }
    let summary = summary(&scratch.path("out"));
    assert_eq!(summary["failed"].as_array().unwrap().len(), 1, "{summary}");
    let before = scratch.lines("asked.txt");
    let journals = names(&scratch.path("out/collected")).into_iter();
    let mut kept: Vec<String> = journals
        .flat_map(|name| scratch.lines(&format!("out/collected/{name}")))
        .collect();
    kept.retain(|entry| !entry.contains("\"error\""));
    let answered = kept.iter().filter(|entry| !entry.contains("\"target\""));
    assert_eq!(
        answered.count(),
        5,
        "all that was answered before the crash"
    );

    scratch.program("");
    let output = scratch.run(&["--resume", "--jobs", "1"]);
    refused(&output, &["sim.sh has changed"]);
    let output = scratch.run(&["--resume", "--accept-changes", "--jobs", "1"]);
    succeeded(&output);
    assert_eq!(results(&scratch.path("out")), results(&whole.path("out")));
    // Nothing that had been answered was asked again, and nothing else than in a run without a crash.
    let after = scratch.lines("asked.txt");
    let again = &after[before.len()..];
    assert!(!again.is_empty());
    for line in again {
        assert!(
            !kept.iter().any(|entry| entry.contains(line.as_str())),
            "{line}"
        );
    }
    let distinct = |lines: &[String]| lines.iter().cloned().collect::<BTreeSet<String>>();
    assert_eq!(distinct(&after), distinct(&whole.lines("asked.txt")));
}

#[test]
fn a_program_that_never_works_is_one_error() {
    let scratch = with_program("exit 9");
    let output = scratch.run(&[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let said = stderr(&output);
    let last = said.lines().last().unwrap();
    for part in [
        "every trial failed",
        "12 rows of target known",
        "exit status: 9",
        "--resume",
    ] {
        assert!(last.contains(part), "`{part}` in: {last}");
    }
    assert!(!scratch.path("out/results.csv").exists());

    let hangs = with_program("exec sleep 60");
    hangs.file(
        "shell.toml",
        &TOML.replace("timeout_s = 20", "timeout_s = 0.2"),
    );
    let said = stderr(&hangs.run(&["--jobs", "2"]));
    assert!(said.contains("gave 0 rows within 0.2 s"), "{said}");

    let talks = with_program("echo hello");
    let said = stderr(&talks.run(&[]));
    assert!(
        said.contains("row 1 of its answer is no JSON") && said.contains("`hello`"),
        "{said}"
    );

    let refuses = with_program(r#"echo '{"error": "no such spring"}'; continue"#);
    let said = stderr(&refuses.run(&[]));
    assert!(said.contains("it refuses: no such spring"), "{said}");

    let more =
        with_program(r#"case "$line" in *target*) ;; *) echo '{"x": [0, 0], "y": 0}' ;; esac"#);
    let output = more.run(&["--jobs", "1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("more than the request asked for"),
        "{}",
        stderr(&output)
    );

    let absent = with_program("");
    absent.file("shell.toml", &TOML.replace(r#""sh", "#, ""));
    let said = stderr(&absent.run(&[]));
    assert!(
        said.contains("`sim.sh`") && said.contains("cannot be started"),
        "{said}"
    );
}

#[test]
fn bad_settings_are_refused_before_anything_starts() {
    let scratch = with_program("");
    for (from, to, part) in [
        (
            "command = [\"sh\", \"sim.sh\"]",
            "command = []",
            "`command` is empty",
        ),
        ("timeout_s = 20", "timeout_s = 0", "`timeout_s` is 0"),
        ("test_rows = 30", "test_rows = 0", "`test_rows` is 0"),
        ("\"asked by name\"", "\"known\"", "the name `known`"),
        (
            "task = [0.3, -0.2]",
            "task = [0.3]",
            "known with a task of 1 numbers: give 2",
        ),
        ("timeout_s = 20", "time_out = 20", "line 7, column 1"),
        (
            "[source]",
            "[world]\nkind = \"pendulum\"\n[source]",
            "a [world] and a [source]",
        ),
        ("source", "sauce", "no [world], nor a [source]"),
        (
            "test_rows = 30",
            "task_features = { kind = \"identity\", dim = 3 }",
            "`task_features` are of 3 parameters",
        ),
    ] {
        let text = TOML
            .replace(from, to)
            .replace("[[source.targets]]\n[[", "[[");
        scratch.file("shell.toml", &text);
        refused(&scratch.run(&[]), &[part]);
    }
    scratch.file("shell.toml", TOML);
    refused(
        &scratch.run(&["--target", "1,2"]),
        &["--target is an option of"],
    );
    assert!(scratch.run(&["--check"]).status.success());
    assert!(!scratch.path("starts.txt").exists(), "nothing was started");
    assert!(!scratch.path("out").exists());
}

/// Where zero lies must not matter to what is learnt, nor to what is said of it.
#[test]
fn an_offset_of_outputs_costs_nothing() {
    let losses = |offset: &str| {
        let scratch = with_program("");
        let moved = format!("{offset} + 0.1 * (rand() - 0.5) + 2 * p * a + q * b");
        let program = SHELL
            .replace("BREAK", "")
            .replace("2 * p * a + q * b", &moved);
        scratch.file("sim.sh", &program);
        let affine = r#"{ kind = "polynomial", input_dim = 2, degree = 1, constant = true }"#;
        let identity = r#"{ kind = "identity", dim = 2 }"#;
        scratch.file("shell.toml", &TOML.replace(identity, affine));
        let output = scratch.run(&["--save-models"]);
        succeeded(&output);
        let summary = summary(&scratch.path("out"));
        let loss = |target: usize| {
            let strategies = &summary["targets"][target]["strategies"];
            strategies["passive"]["final_loss"]["mean"]
                .as_f64()
                .unwrap()
        };
        [loss(0), loss(1)]
    };
    let (plain, moved) = (losses("0"), losses("10000000"));
    for (plain, moved) in plain.iter().zip(moved) {
        assert!(moved < 1.01 * plain, "{moved} and {plain}");
    }
}
