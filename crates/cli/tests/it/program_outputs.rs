//! Programs whose rows have several outputs, which one study learns together, end to end with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud
#![cfg(unix)] // the program is a shell script

use serde_json::{Value, json};

use crate::common::{Scratch, results, stderr, stdout, succeeded};

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

fn with_program() -> Scratch {
    let scratch = Scratch::new();
    scratch.file("sim.sh", SHELL);
    scratch.file("forces.toml", TOML);
    scratch
}

/// The losses of a strategy's last round: shared and returned.
fn losses(scratch: &Scratch, strategy: &str) -> [f64; 2] {
    let rows = results(&scratch.path("out"));
    let last = rows.iter().rfind(|row| row.strategy == strategy).unwrap();
    [last.test_loss.unwrap(), last.returned_loss.unwrap()]
}

#[test]
fn several_outputs_are_learnt_by_one_study() {
    let scratch = with_program();
    scratch.done("run --check forces.toml");
    scratch.done("run forces.toml --out out --save-models");
    for strategy in ["passive", "aware"] {
        // Without noise all three are found, and the offset of the last is no part of the loss.
        let losses = losses(&scratch, strategy);
        assert!(
            losses.iter().all(|loss| *loss < 1e-6),
            "{strategy}: {losses:?}"
        );
    }
    let settings = scratch.json("out/settings.json");
    let outputs = &settings["experiment"]["world"]["outputs"];
    assert_eq!(*outputs, json!(["fx", "fy", "fz"]));
    // A model gives all of them, as they are.
    let model = "out/models/aware-t0-seed0.safetensors";
    scratch.file("x.csv", "p,q\n0.2,-0.1\n");
    let output = scratch.taskscout(&format!("predict {model} --inputs x.csv --json"));
    succeeded(&output);
    let said: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(said["outputs"], json!(["fx", "fy", "fz"]));
    let row = &said["predictions"][0];
    for (output, expected) in [("y0", 0.25), ("y1", -0.05), ("y2", 40.1)] {
        let given = row[output].as_f64().unwrap();
        assert!((given - expected).abs() < 1e-3, "{output}: {row}");
    }
    scratch.done(&format!("export {model} --format onnx --std"));
    // What was answered serves a run that goes on.
    std::fs::remove_file(scratch.path("out/trials/aware-t0-0.csv")).unwrap();
    let before = losses(&scratch, "aware");
    scratch.done("run forces.toml --out out --save-models --resume");
    assert_eq!(
        losses(&scratch, "aware").map(f64::to_bits),
        before.map(f64::to_bits)
    );
}

#[test]
fn a_count_is_enough_and_other_oracles_learn_them() {
    let scratch = with_program();
    scratch.file("count.toml", &TOML.replace(r#"["fx", "fy", "fz"]"#, "3"));
    scratch.done("run count.toml --out out");
    let named = losses(&scratch, "aware");
    assert!(named[1] < 1e-6, "{named:?}");
    scratch.done("run count.toml --out out --force --oracle mllam --strategies aware");
    let [_, returned] = losses(&scratch, "aware");
    assert!(returned < 1e-3, "{returned}");
}

#[test]
fn what_does_not_fit_the_outputs_is_told() {
    let scratch = with_program();
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
        scratch.refused("run --check bad.toml", parts);
    }
    scratch.file("bad.toml", &TOML.replace(r#"["fx", "fy", "fz"]"#, "2"));
    let output = scratch.taskscout("run bad.toml --out out");
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("has 3 outputs where 2 are needed"), "{said}");
}
