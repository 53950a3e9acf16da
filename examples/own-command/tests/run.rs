//! The command with parts of one's own, end to end with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const EXAMPLE: &str = env!("CARGO_MANIFEST_DIR");

/// The parts in a world that needs no program.
const TOML: &str = r#"
name = "circle"
seeds = 1
strategies = ["passive", "compass", "compass-5"]
[strategy.compass-5]
kind = "compass"
directions = 5
[world]
kind = "synthetic"
input_features = { kind = "identity", dim = 6 }
task_features = { kind = "drag" }
source_dim = 4
space = { kind = "circle", speed = 1.5 }
k = 1
noise = 0.1
[learner]
k = 1
oracle = "house"
[learner.settings]
penalty = 0.5
[target]
samples = 20
[schedule]
rounds = 2
growth = 1.0
first_round = 23
"#;

struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        let scratch = Self(tempfile::tempdir().unwrap());
        scratch.file("circle.toml", TOML);
        scratch
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn run(&self, line: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_own-command"))
            .args(line.split_whitespace())
            .current_dir(self.0.path())
            .output()
            .unwrap()
    }

    /// Runs what succeeds, and returns what it said beside its results.
    fn done(&self, line: &str) -> String {
        let output = self.run(line);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{line}: {message}");
        message
    }

    fn refused(&self, line: &str, parts: &[&str]) {
        let output = self.run(line);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {message}");
        let mut lines = message.lines();
        let sentence = lines.next().unwrap_or_default();
        assert!(sentence.starts_with("error: "), "{message}");
        // Below it, the line of the file that it is about.
        let of_snippet = |start: char| start == ' ' || start == '|' || start.is_ascii_digit();
        for line in lines {
            assert!(line.starts_with(of_snippet), "one sentence: {message}");
        }
        for part in parts {
            assert!(sentence.contains(part), "`{part}` in: {sentence}");
        }
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&std::fs::read_to_string(self.path(name)).unwrap()).unwrap()
    }
}

/// The results by column, without what a clock measured.
fn results(folder: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder.join("results.csv")).unwrap();
    let cells = |line: &str| -> Vec<String> {
        let cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        cells[..cells.len() - 3].to_vec()
    };
    text.lines().map(cells).collect()
}

/// The names in a column, each once.
fn names(results: &[Vec<String>], column: &str) -> Vec<String> {
    let at = results[0].iter().position(|name| name == column).unwrap();
    let mut names: Vec<String> = results[1..].iter().map(|row| row[at].clone()).collect();
    names.dedup();
    names
}

#[test]
fn own_parts_run_like_the_commands_own() {
    let scratch = Scratch::new();
    scratch.done("run --check circle.toml");
    scratch.done("run circle.toml --out a --jobs 1");
    let results_a = results(&scratch.path("a"));
    let strategies = ["target-only", "passive", "compass", "compass-5"];
    assert_eq!(names(&results_a, "strategy"), strategies);
    assert_eq!(names(&results_a, "oracle"), ["house"]);
    // Directions are the settings': 4 a round by default, 5 by the table.
    let tasks = results_a[0]
        .iter()
        .position(|name| name == "tasks")
        .unwrap();
    let of = |strategy: &str| {
        let mut rows = results_a.iter().filter(|row| row[2] == strategy);
        rows.next_back().unwrap()[tasks].clone()
    };
    assert_eq!((of("compass"), of("compass-5")), ("8".into(), "10".into()));
    let summary = scratch.json("a/summary.json");
    assert!(summary.to_string().contains("compass-5"), "{summary}");
    assert!(scratch.path("a/report.html").exists() && scratch.path("a/loss.svg").exists());
    let experiment = &scratch.json("a/settings.json")["experiment"];
    assert_eq!(experiment["strategy"]["compass-5"]["directions"], 5);
    assert_eq!(experiment["learner"]["settings"]["penalty"], 0.5);
    assert_eq!(
        experiment["world"]["space"]["own"]["settings"]["speed"],
        1.5
    );
    scratch.done("run circle.toml --out b --jobs 2");
    assert_eq!(results(&scratch.path("b")), results_a);
}

#[test]
fn a_run_goes_on_with_the_same_parts_only() {
    let scratch = Scratch::new();
    scratch.done("run circle.toml --out a");
    let before = results(&scratch.path("a"));
    let inputs = scratch.json("a/manifest.json")["inputs"].to_string();
    assert!(inputs.contains("the command own-command"), "{inputs}");
    std::fs::remove_file(scratch.path("a/trials/compass-5-0.csv")).unwrap();
    let said = scratch.done("run circle.toml --out a --resume");
    assert_eq!(
        said.matches("kept from the run before").count(),
        3,
        "{said}"
    );
    assert_eq!(results(&scratch.path("a")), before);
    scratch.file(
        "circle.toml",
        &TOML.replace("directions = 5", "directions = 6"),
    );
    scratch.refused(
        "run circle.toml --out a --resume",
        &["another experiment (`strategy.compass-5.directions` was 5, and is 6 now)"],
    );
    // Another command under the same name has other parts, for all that is known.
    scratch.file("circle.toml", TOML);
    let manifest = std::fs::read_to_string(scratch.path("a/manifest.json")).unwrap();
    let mut manifest: Value = serde_json::from_str(&manifest).unwrap();
    manifest["inputs"][0]["sha256"] = "0".repeat(64).into();
    scratch.file("a/manifest.json", &manifest.to_string());
    scratch.refused(
        "run circle.toml --out a --resume",
        &["the command own-command has changed", "--accept-changes"],
    );
}

#[test]
fn options_name_own_parts_too() {
    let scratch = Scratch::new();
    let file = TOML
        .replace("\"compass\", \"compass-5\"", "\"agnostic\"")
        .replace(
            "oracle = \"house\"\n[learner.settings]",
            "[learner.with.house.settings]",
        );
    scratch.file("plain.toml", &file);
    scratch.done("run plain.toml --strategies compass,passive,compass-5 --oracle house --out a");
    let found = results(&scratch.path("a"));
    let strategies = ["target-only", "compass", "passive", "compass-5"];
    assert_eq!(names(&found, "strategy"), strategies);
    assert_eq!(names(&found, "oracle"), ["house"]);
    let learner = &scratch.json("a/settings.json")["experiment"]["learner"];
    assert_eq!(learner["settings"]["penalty"], 0.5);
    scratch.refused(
        "run plain.toml --strategies passive,north --out c",
        &[
            "--strategies: strategy `north` is not known",
            "compass",
            "`Registry::strategy`",
        ],
    );
    scratch.refused(
        "run plain.toml --oracle hose --out c",
        &[
            "--oracle: oracle `hose` is not known",
            "mllam",
            "house",
            "`Registry::trainer`",
        ],
    );
    // The experiments that come with the command are asked the same way.
    scratch.refused(
        "reproduce bilinear --strategies compass,north --out c",
        &["--strategies: strategy `north` is not known"],
    );
    assert!(!scratch.path("c").exists());
}

#[test]
fn what_nobody_registered_is_told_with_its_place() {
    let scratch = Scratch::new();
    for (from, to, parts) in [
        (
            "\"compass\", ",
            "\"north\", ",
            &[
                "line 4, column 14",
                "strategy `north` is not known: use one of passive, ",
                ", compass, ",
            ][..],
        ),
        (
            "kind = \"compass\"",
            "kind = \"south\"",
            &["line 6, column 8", "strategy `south` is not known"],
        ),
        (
            "oracle = \"house\"",
            "oracle = \"hut\"",
            &[
                "line 18, column 10",
                "oracle `hut` is not known: use one of exact, ",
                ", house, ",
            ],
        ),
        (
            "kind = \"circle\"",
            "kind = \"ring\"",
            &[
                "line 13, column",
                "in [world], `space` has the kind `ring`",
                "ball, ",
                ", circle, ",
                "`Registry::space`",
            ],
        ),
        (
            "kind = \"drag\"",
            "kind = \"lift\"",
            &[
                "line 11, column",
                "in [world], `task_features` has the kind `lift`",
                "identity, ",
                ", drag, ",
                "`Registry::features`",
            ],
        ),
    ] {
        assert!(TOML.contains(from), "{from}");
        scratch.file("bad.toml", &TOML.replace(from, to));
        scratch.refused("run --check bad.toml", parts);
        scratch.refused(
            "run --check bad.toml",
            &["bad.toml, line", "docs/how-to/add-your-own-parts.md"],
        );
    }
}

#[test]
fn settings_that_do_not_fit_are_refused_with_their_place() {
    let scratch = Scratch::new();
    for (from, to, parts) in [
        (
            "directions = 5",
            "direction = 5",
            &[
                "line 5, column 1",
                "in [strategy.compass-5]",
                "`compass` does not take these settings",
                "`direction`",
            ][..],
        ),
        (
            "directions = 5",
            "directions = inf",
            &["`directions` is inf"],
        ),
        (
            "[strategy.compass-5]",
            "[strategy.aware]\nx = 1\n[strategy.compass-5]",
            &[
                "line 5, column 1",
                "`strategy.aware` is the name of a built-in strategy",
            ],
        ),
        (
            "penalty = 0.5",
            "penalty = \"high\"",
            &[
                "line 19, column 1",
                "in [learner.settings]",
                "`house` does not take these settings",
            ],
        ),
        (
            "oracle = \"house\"",
            "oracle = \"exact\"",
            &["`learner.settings` is a setting of oracles that are registered"],
        ),
        (
            "speed = 1.5",
            "sped = 1.5",
            &[
                "line 13, column",
                "in [world], `space`",
                "`circle` does not take these settings",
                "`sped`",
            ],
        ),
        (
            "kind = \"drag\"",
            "kind = \"drag\", dim = 4",
            &["line 11, column", "`dim` is given with the kind `drag`"],
        ),
        (
            "source_dim = 4",
            "source_dim = 3",
            &["bad.toml, line", "in [world]"],
        ),
    ] {
        assert!(TOML.contains(from), "{from}");
        scratch.file("bad.toml", &TOML.replace(from, to));
        scratch.refused("run --check bad.toml", parts);
        scratch.refused("run --check bad.toml", &["bad.toml, line"]);
    }
    let file = Path::new(EXAMPLE).join("tunnel.toml");
    scratch.refused(
        &format!("run --check {} --save-models", file.display()),
        &["--save-models", "`drag`"],
    );
}

#[test]
fn a_campaign_is_planned_in_a_space_of_ones_own() {
    let scratch = Scratch::new();
    scratch.file("space.toml", "space = { kind = \"circle\", speed = 2.0 }\n");
    scratch.file("target.csv", "w1,w2\n1.2,1.6\n");
    let line = "design --space space.toml --target target.csv --budget 30 --json";
    let output = scratch.run(line);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    let items = plan["plan"].as_array().unwrap();
    assert!(!items.is_empty());
    for item in items {
        let wind = |at: usize| item["task"][at].as_f64().unwrap();
        assert!((wind(0).hypot(wind(1)) - 2.0).abs() < 1e-6, "{item}");
    }
    scratch.file(
        "space.toml",
        "columns = [\"e\", \"n\"]\nspace = { kind = \"ring\" }\n",
    );
    scratch.refused(line, &["space.toml, line 2, column", "`ring`", "circle"]);
}

#[test]
fn the_example_runs() {
    let python = Command::new("python3").arg("--version").output();
    if !python.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: there is no python3 to run the example with");
        return;
    }
    let scratch = Scratch::new();
    let file = Path::new(EXAMPLE).join("tunnel.toml");
    scratch.done(&format!("run {} --out out --jobs 2", file.display()));
    let found = results(&scratch.path("out"));
    for name in ["passive", "aware", "compass", "compass-8", "target-data"] {
        assert!(
            names(&found, "strategy").contains(&name.to_owned()),
            "{name}"
        );
    }
    let loss = found[0].iter().position(|name| name == "returned_loss");
    let last = found
        .iter()
        .rev()
        .find(|row| row[2] == "compass-8")
        .unwrap();
    let loss: f64 = last[loss.unwrap()].parse().unwrap();
    assert!(loss < 0.01, "{loss}");
}
