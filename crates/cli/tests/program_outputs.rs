//! Programs whose rows have several outputs, which one study learns together, end to end with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud
#![cfg(unix)] // the program is a shell script

use std::process::{Command, Output};

use serde_json::Value;

/// Three forces that share the two directions of a row, the last with an offset.
const SHELL: &str = r#"
while read -r line; do
  echo "$line" | awk '
    { match($0, /"count":[0-9]+/); n = substr($0, RSTART + 8, RLENGTH - 8) + 0
      a = 0.5; b = -0.5
      if (match($0, /"task":\[[^]]*\]/)) {
        split(substr($0, RSTART + 8, RLENGTH - 9), w, ","); a = w[1]; b = w[2] }
      match($0, /"seed":[0-9]+/); srand(substr($0, RSTART + 7, RLENGTH - 7) % 100003)
      for (i = 0; i < n; i++) {
        p = rand() - 0.5; q = rand() - 0.5
        printf "{\"x\": [%.6f, %.6f], \"y\": [%.6f, %.6f, %.6f]}\n", p, q, 2 * p * a + q * b, p * b - q * a, 40 + p * a } }'
done
"#;

const TOML: &str = r#"
name = "forces"
seeds = 1
strategies = ["passive", "aware"]
[source]
command = ["sh", "sim.sh"]
timeout_s = 20
input_features = { kind = "polynomial", input_dim = 2, degree = 1, constant = true }
space = { kind = "box", low = [-1.0, -1.0], high = [1.0, 1.0] }
outputs = ["fx", "fy", "fz"]
test_rows = 30
[[source.targets]]
name = "hidden"
[learner]
k = 2
[target]
samples = 12
[schedule]
rounds = 2
growth = 1.0
first_round = 24
"#;

struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        let scratch = Self(tempfile::tempdir().unwrap());
        scratch.file("sim.sh", SHELL);
        scratch.file("forces.toml", TOML);
        scratch
    }

    fn file(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    fn taskscout(&self, line: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_taskscout"))
            .args(line.split_whitespace())
            .current_dir(self.0.path())
            .output()
            .unwrap()
    }

    /// Runs what succeeds, and returns its standard output.
    fn done(&self, line: &str) -> String {
        let output = self.taskscout(line);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {message}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The message of what fails.
    fn fails(&self, line: &str, code: i32) -> String {
        let output = self.taskscout(line);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{line}: {message}");
        message
    }

    /// The losses of a strategy's last round: shared and returned.
    fn losses(&self, strategy: &str) -> [f64; 2] {
        let text = self.read("out/results.csv");
        let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
        let of_strategy = |line: &&str| line.split(',').nth(2) == Some(strategy);
        let last = text.lines().rfind(of_strategy).unwrap();
        let last: Vec<&str> = last.split(',').collect();
        ["test_loss", "returned_loss"].map(|name| {
            let at = header.iter().position(|column| *column == name).unwrap();
            last[at].parse().unwrap()
        })
    }
}

#[test]
fn several_outputs_are_learnt_by_one_study() {
    let scratch = Scratch::new();
    scratch.done("run --check forces.toml");
    scratch.done("run forces.toml --out out --save-models");
    for strategy in ["passive", "aware"] {
        // Without noise all three are found, and the offset of the last is no part of the loss.
        let losses = scratch.losses(strategy);
        assert!(
            losses.iter().all(|loss| *loss < 1e-6),
            "{strategy}: {losses:?}"
        );
    }
    let settings: Value = serde_json::from_str(&scratch.read("out/settings.json")).unwrap();
    let outputs = &settings["experiment"]["world"]["outputs"];
    assert_eq!(*outputs, serde_json::json!(["fx", "fy", "fz"]));
    // A model gives all of them, as they are.
    let model = "out/models/aware-t0-seed0.safetensors";
    scratch.file("x.csv", "p,q\n0.2,-0.1\n");
    let said = scratch.done(&format!("predict {model} --inputs x.csv --json"));
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["outputs"], serde_json::json!(["fx", "fy", "fz"]));
    let row = &said["predictions"][0];
    for (output, expected) in [("y0", 0.25), ("y1", -0.05), ("y2", 40.1)] {
        let given = row[output].as_f64().unwrap();
        assert!((given - expected).abs() < 1e-3, "{output}: {row}");
    }
    scratch.done(&format!("export {model} --format onnx --std"));
    // What was answered serves a run that goes on.
    std::fs::remove_file(scratch.0.path().join("out/trials/aware-t0-0.csv")).unwrap();
    let before = scratch.losses("aware");
    scratch.done("run forces.toml --out out --save-models --resume");
    assert_eq!(
        scratch.losses("aware").map(f64::to_bits),
        before.map(f64::to_bits)
    );
}

#[test]
fn a_count_is_enough_and_other_oracles_learn_them() {
    let scratch = Scratch::new();
    scratch.file("count.toml", &TOML.replace(r#"["fx", "fy", "fz"]"#, "3"));
    scratch.done("run count.toml --out out");
    let named = scratch.losses("aware");
    assert!(named[1] < 1e-6, "{named:?}");
    scratch.done("run count.toml --out out --force --oracle mllam --strategies aware");
    let [_, returned] = scratch.losses("aware");
    assert!(returned < 1e-3, "{returned}");
}

#[test]
fn what_does_not_fit_the_outputs_is_told() {
    let scratch = Scratch::new();
    for (outputs, parts) in [
        (
            "0",
            &["line 10, column 11", "in [source], `outputs` number 0"][..],
        ),
        (
            "[\"a\", \"a\"]",
            &["line 10, column 11", "has the name `a`"],
        ),
        ("\"three\"", &["line 10", "how many there are, or a list"]),
    ] {
        scratch.file("bad.toml", &TOML.replace(r#"["fx", "fy", "fz"]"#, outputs));
        let message = scratch.fails("run --check bad.toml", 2);
        for part in parts {
            assert!(message.contains(part), "`{part}` in: {message}");
        }
    }
    scratch.file("bad.toml", &TOML.replace(r#"["fx", "fy", "fz"]"#, "2"));
    let message = scratch.fails("run bad.toml --out out", 1);
    assert!(
        message.contains("has 3 outputs where 2 are needed"),
        "{message}"
    );
}
