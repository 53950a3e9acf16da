//! `--save-models`, `taskscout export` and `taskscout predict`, end to end with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;
use taskscout_io::tables::{Column, Table, write_parquet};
use taskscout_models::SavedModel;

use crate::common::{SMALL, Scratch, names as files, stderr};

/// Inputs of a row in that experiment.
const INPUTS: usize = 30;

/// A folder with an experiment.
fn with_experiment() -> Scratch {
    let scratch = Scratch::new();
    scratch.file("small.toml", SMALL);
    scratch
}

/// A folder with a run in `out` and some inputs.
fn with_run() -> Scratch {
    let scratch = with_experiment();
    scratch.done(
        "run small.toml --quick --seeds 1 --strategies passive,aware --out out --save-models",
    );
    scratch.file("x.csv", &csv(&rows(7)));
    scratch
}

/// Some rows of inputs.
fn rows(n: usize) -> Vec<f64> {
    (0..n * INPUTS)
        .map(|i| (i as f64 * 0.7).sin() * 2.0)
        .collect()
}

fn names() -> Vec<String> {
    (0..INPUTS).map(|i| format!("x{i}")).collect()
}

fn csv(rows: &[f64]) -> String {
    let mut text = names().join(",") + "\n";
    for row in rows.chunks(INPUTS) {
        let cells: Vec<String> = row.iter().map(f64::to_string).collect();
        text += &(cells.join(",") + "\n");
    }
    text
}

const MODEL: &str = "out/models/aware-seed0.safetensors";

#[test]
fn a_run_saves_the_model_of_every_strategy_and_seed() {
    let scratch = with_experiment();
    let line = "run small.toml --quick --out out --save-models --strategies aware,aware+save-task";
    scratch.done(line);
    let models = scratch.path("out/models");
    let expected = [
        "aware+save-task-seed0.safetensors",
        "aware+save-task-seed1.safetensors",
        "aware-seed0.safetensors",
        "aware-seed1.safetensors",
        "target-only-seed0.safetensors",
        "target-only-seed1.safetensors",
    ];
    assert_eq!(files(&models), expected);
    let model = SavedModel::load(models.join(expected[1])).unwrap();
    let provenance = model.provenance();
    assert_eq!(provenance.study, "small");
    assert_eq!(provenance.strategy, "aware+save-task");
    assert_eq!((provenance.seed, provenance.rounds), (1, 4));
    assert_eq!(provenance.target_rows, 200);
    assert_eq!(model.input_dim(), INPUTS);
    assert!(model.parts().tasks.is_some());
    let alone = SavedModel::load(models.join(expected[4])).unwrap();
    assert_eq!(alone.provenance().strategy, "target-only");
    // The noise of the world is 0.5; 200 rows tell it within a fifth.
    let noise = model.parts().uncertainty.noise[0].sqrt();
    assert!((noise / 0.5 - 1.0).abs() < 0.2, "{noise}");
}

#[test]
fn a_trial_without_its_model_is_run_again() {
    let scratch = with_experiment();
    let line = "run small.toml --quick --seeds 1 --strategies aware --out out";
    scratch.done(line);
    assert!(!scratch.path("out/models").exists());
    let resumed = format!("{line} --resume --save-models");
    let said = scratch.done(&resumed);
    assert!(!said.contains("kept from the run before"), "{said}");
    let first = std::fs::read(scratch.path(MODEL)).unwrap();
    std::fs::remove_file(scratch.path(MODEL)).unwrap();
    let said = scratch.done(&resumed);
    assert_eq!(said.matches("kept from the run before").count(), 1);
    assert_eq!(
        std::fs::read(scratch.path(MODEL)).unwrap(),
        first,
        "the same model, byte for byte"
    );
    scratch.done(&format!("{line} --force"));
    assert!(
        files(&scratch.path("out/models")).is_empty(),
        "no model of another run"
    );
}

#[test]
fn predictions_are_those_of_the_library_in_every_format() {
    let scratch = with_run();
    let model = SavedModel::load(scratch.path(MODEL)).unwrap();
    let expected = model.predict(&rows(7)).unwrap();
    let check = |table: &Table| {
        assert_eq!(table.numeric_columns(), ["y", "y_std", "y_model_std"]);
        let found = table.matrix(&["y", "y_std", "y_model_std"]).unwrap();
        assert_eq!(found.len(), 3 * 7);
        for (found, one) in found.chunks(3).zip(&expected) {
            for (a, b) in found.iter().zip([one.mean, one.std, one.model_std]) {
                assert_eq!(a.to_bits(), b.to_bits());
            }
        }
    };
    let output = scratch.taskscout(&format!("predict {MODEL} --inputs x.csv"));
    assert!(output.status.success(), "{}", stderr(&output));
    check(&Table::read_csv_text(&output.stdout, "stdout").unwrap());

    for out in ["y.csv", "y.parquet"] {
        let output = scratch.taskscout(&format!("predict {MODEL} --inputs x.csv --out {out}"));
        assert!(output.status.success() && output.stdout.is_empty());
        check(&Table::read(scratch.path(out)).unwrap());
    }
    let output = scratch.taskscout(&format!("predict {MODEL} --inputs x.csv --json"));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["target"], "target");
    assert_eq!(json["predictions"][3]["y"], expected[3].mean);
    assert_eq!(json["predictions"][6]["y_std"], expected[6].std);

    // The same through a pipe, and from a Parquet file with a column too many.
    let mut child = scratch
        .command(&format!("predict {MODEL} --inputs -"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let text = csv(&rows(7));
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    check(&Table::read_csv_text(&output.stdout, "stdout").unwrap());
    let all = rows(7);
    let column = |i: usize| all.iter().skip(i).step_by(INPUTS).copied().collect();
    let mut columns: Vec<Column> = (0..INPUTS)
        .rev()
        .map(|i| Column::numbers(format!("x{i}"), column(i)))
        .collect();
    columns.push(Column::numbers("time", vec![0.0; 7]));
    write_parquet(scratch.path("x.parquet"), &columns).unwrap();
    let line = format!(
        "predict {MODEL} --inputs x.parquet --columns {}",
        names().join(",")
    );
    let output = scratch.taskscout(&line);
    check(&Table::read_csv_text(&output.stdout, "stdout").unwrap());
}

#[test]
fn exports_are_files_that_are_not_lost() {
    let scratch = with_run();
    let line = format!("export {MODEL} --format onnx");
    let said = scratch.done(&line);
    assert!(said.contains("30 inputs, 1 outputs"), "{said}");
    let model = SavedModel::load(scratch.path(MODEL)).unwrap();
    let graph = std::fs::read(scratch.path("out/models/aware-seed0.onnx")).unwrap();
    assert_eq!(graph, model.to_onnx(false).unwrap());
    scratch.refused(&line, &["is there already: give --force"]);
    scratch.done(&format!("{line} --force --std"));
    let graph = std::fs::read(scratch.path("out/models/aware-seed0.onnx")).unwrap();
    assert_eq!(graph, model.to_onnx(true).unwrap());

    let line = format!("export {MODEL} --format safetensors");
    scratch.refused(&line, &["name the copy with --out"]);
    scratch.done(&format!("{line} --out copy.safetensors"));
    assert_eq!(
        std::fs::read(scratch.path("copy.safetensors")).unwrap(),
        std::fs::read(scratch.path(MODEL)).unwrap()
    );
    // A link is there, even if it points to nothing.
    std::os::unix::fs::symlink("nowhere", scratch.path("link.safetensors")).unwrap();
    let linked = format!("{line} --out link.safetensors");
    scratch.refused(&linked, &["link.safetensors is there already"]);
    assert!(!scratch.path("nowhere").exists());
    scratch.done(&format!("{linked} --force"));
    scratch.refused(
        &format!("{line} --out c.safetensors --std"),
        &["belongs to --format onnx"],
    );
}

#[test]
fn bad_input_is_named() {
    let scratch = with_run();
    let predict = |rest: &str| format!("predict {MODEL} {rest}");
    scratch.file("two.csv", "a,b\n1,2\n");
    scratch.refused(
        &predict("--inputs two.csv"),
        &[
            "two.csv has 2 columns of numbers",
            "takes 30 inputs",
            "--columns",
        ],
    );
    scratch.refused(
        &predict("--inputs x.csv --columns x0,x1"),
        &["--columns names 2 columns", "takes 30 inputs"],
    );
    let wrong = names().join(",").replace("x29", "y29");
    scratch.refused(
        &predict(&format!("--inputs x.csv --columns {wrong}")),
        &["x.csv has no column `y29`", "did you mean"],
    );
    let mut bad = csv(&rows(3));
    bad = bad.replacen("\n0,", "\nnan,", 1);
    scratch.file("bad.csv", &bad);
    scratch.refused(
        &predict("--inputs bad.csv"),
        &["line 2 of bad.csv, column x0, is nan"],
    );
    scratch.refused(&predict("--inputs none.csv"), &["cannot read none.csv"]);
    scratch.refused(
        &predict("--inputs x.csv --out y.txt"),
        &["neither .csv nor .parquet nor .mcap"],
    );
    scratch.file("y.csv", "mine");
    scratch.refused(
        &predict("--inputs x.csv --out y.csv"),
        &["is there already"],
    );
    scratch.refused(
        "predict x.csv --inputs x.csv",
        &["x.csv: this is no safetensors file"],
    );
    scratch.refused("predict none --inputs x.csv", &["cannot read none"]);
    let bytes = std::fs::read(scratch.path(MODEL)).unwrap();
    std::fs::write(scratch.path("cut.safetensors"), &bytes[..bytes.len() / 2]).unwrap();
    scratch.refused("export cut.safetensors --format onnx", &["is cut short"]);
}

/// Two inputs of unlike size, learnt from tables, so that the model knows what they are called.
const LOGS: &str = r#"
name = "logs"
seeds = 1
strategies = ["aware"]
[world]
kind = "logs"
data = "logs"
targets = ["b"]
inputs = ["speed", "angle"]
outputs = ["torque"]
task = "id"
phi = "linear"
[learner]
oracle = "pooled"
[target]
samples = 25
[schedule]
rounds = 1
growth = 1.0
first_round = 40
"#;

fn with_names() -> Scratch {
    let scratch = Scratch::new();
    let mut text = String::from("torque,angle,id,speed\n");
    for row in 0..240 {
        let (speed, angle) = (
            (f64::from(row) * 0.7).sin() * 100.0,
            (f64::from(row) * 1.3).cos(),
        );
        let id = ["a", "b"][row as usize % 2];
        text += &format!("{},{angle},{id},{speed}\n", 0.03 * speed - 2.0 * angle);
    }
    scratch.file("logs/all.csv", &text);
    scratch.file("logs.toml", LOGS);
    scratch.done("run logs.toml --out out --save-models");
    scratch
}

const NAMED: &str = "out/models/aware-t0-seed0.safetensors";

#[test]
fn inputs_are_matched_by_name() {
    let scratch = with_names();
    let model = SavedModel::load(scratch.path(NAMED)).unwrap();
    assert_eq!(model.parts().names.inputs, ["speed", "angle"]);
    assert_eq!(model.parts().names.outputs, ["torque"]);
    let expected = model.predict(&[80.0, 0.5]).unwrap()[0].mean;
    assert!((expected - 1.4).abs() < 0.2, "{expected}");

    for (name, table) in [
        ("a.csv", "speed,angle\n80,0.5\n"),
        ("b.csv", "angle,speed\n0.5,80\n"),
        ("c.csv", "t,angle,note,speed,torque\n1,0.5,x,80,9\n"),
    ] {
        scratch.file(name, table);
        let output = scratch.taskscout(&format!("predict {NAMED} --inputs {name} --json"));
        assert!(output.status.success(), "{}", stderr(&output));
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["predictions"][0]["y"], expected, "{name}");
        assert_eq!(json["outputs"], serde_json::json!(["torque"]));
    }
    assert_eq!(
        scratch.done(&format!("predict {NAMED} --inputs c.csv")),
        "note: columns that the model does not use: t, note, torque\n"
    );

    // Other names need to be said, in the order of the model; its own are matched all the same.
    scratch.file("d.csv", "winkel,tempo\n0.5,80\n");
    let line = format!("predict {NAMED} --inputs d.csv");
    scratch.refused(
        &line,
        &[
            "d.csv lacks 2 of the model's 2 inputs, speed, angle",
            "--columns",
        ],
    );
    for (file, columns) in [("d.csv", "tempo,winkel"), ("b.csv", "angle,speed")] {
        let line = format!("predict {NAMED} --inputs {file} --columns {columns} --json");
        let output = scratch.taskscout(&line);
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["predictions"][0]["y"], expected, "{file}");
    }
    scratch.file("e.csv", "angel,speed\n0.5,80\n");
    let line = format!("predict {NAMED} --inputs e.csv");
    scratch.refused(
        &line,
        &["e.csv has no column `angle` (did you mean `angel`?)"],
    );
    scratch.file("f.csv", "80,0.5\n");
    scratch.refused(
        &format!("predict {NAMED} --inputs f.csv"),
        &["lacks 2", "--columns"],
    );

    scratch.done(&format!("export {NAMED} --format onnx --out m.onnx"));
    let graph = std::fs::read(scratch.path("m.onnx")).unwrap();
    let names = br#"["speed","angle"]"#;
    assert!(graph.windows(names.len()).any(|part| part == names));
}

#[test]
fn models_without_names_take_columns_in_order_and_say_so() {
    let scratch = with_run();
    let said = scratch.done(&format!("predict {MODEL} --inputs x.csv"));
    let note = "note: the model has no names for its inputs, so the columns";
    assert!(said.starts_with(note), "{said}");
}

#[test]
fn damaged_models_are_refused() {
    let scratch = with_run();
    let mut bytes = std::fs::read(scratch.path(MODEL)).unwrap();
    let last = bytes.len() - 5;
    bytes[last] ^= 4;
    std::fs::write(scratch.path("bad.safetensors"), bytes).unwrap();
    scratch.refused(
        "predict bad.safetensors --inputs x.csv",
        &["bad.safetensors: the file is damaged, its checksum"],
    );
    for path in ["/dev/zero", "/dev/full"] {
        scratch.refused(
            &format!("predict {path} --inputs x.csv"),
            &["cannot read", path],
        );
        scratch.refused(
            &format!("predict {MODEL} --inputs {path}"),
            &["cannot read", path],
        );
        scratch.refused(&format!("run {path}"), &["cannot read", path]);
    }
}
