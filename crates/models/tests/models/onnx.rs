//! ONNX graphs, run by onnxruntime.
//!
//! `cargo xtask test` makes a Python that has it and names it in `TASKSCOUT_TEST_PYTHON`; without
//! that variable the comparison is left out.

use std::process::Command;

use serde_json::{Value, json};
use taskscout::features::{FeatureMap, Features as _};
use taskscout_models::{Affine, OnnxOptions, SavedModel};

use crate::common::{KINDS, Kind, inputs, maps, random};

/// Rows of every comparison.
const ROWS: usize = 64;
/// Largest difference that is allowed, absolute up to 1 and relative above.
const TOLERANCE: f64 = 1e-5;

fn bytes(values: impl Iterator<Item = f64>) -> Vec<u8> {
    values.flat_map(f64::to_le_bytes).collect()
}

/// Graphs, inputs and what taskscout predicts, for onnxruntime to compare.
struct Comparison {
    folder: tempfile::TempDir,
    cases: Vec<Value>,
}

impl Comparison {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            cases: Vec::new(),
        }
    }

    fn add(&mut self, case: &str, model: &SavedModel, rows: &[f64], double: bool) {
        let file = |end: &str| self.folder.path().join(format!("{case}.{end}"));
        // A graph in single precision sees inputs so, and then taskscout does.
        let single = |value: &f64| f64::from(*value as f32);
        let rows: Vec<f64> = match double {
            true => rows.to_vec(),
            false => rows.iter().map(single).collect(),
        };
        let expected = model.predict(&rows).unwrap();
        let options = OnnxOptions {
            with_std: true,
            double,
        };
        model.save_onnx_with(file("onnx"), options).unwrap();
        std::fs::write(file("x"), bytes(rows.iter().copied())).unwrap();
        std::fs::write(file("y"), bytes(expected.iter().map(|one| one.mean))).unwrap();
        std::fs::write(file("std"), bytes(expected.iter().map(|one| one.std))).unwrap();
        let (inputs, outputs) = (model.input_dim(), model.outputs());
        self.cases
            .push(json!({"case": case, "inputs": inputs, "outputs": outputs, "double": double}));
    }

    /// Runs all graphs: the largest difference of each case, and the same absolute.
    fn run(&self, python: &std::ffi::OsStr) -> Vec<(String, f64, f64)> {
        let list = self.folder.path().join("cases.json");
        std::fs::write(&list, Value::from(self.cases.clone()).to_string()).unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/models/compare_onnx.py");
        let mut command = Command::new(python);
        let output = command.arg(script).arg(&list).output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{complaint}");
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let number = |case: &Value, key: &str| case[key].as_f64().unwrap();
        let found: Vec<(String, f64, f64)> = found
            .as_array()
            .unwrap()
            .iter()
            .map(|case| {
                let name = case["case"].as_str().unwrap().to_owned();
                (name, number(case, "difference"), number(case, "absolute"))
            })
            .collect();
        assert_eq!(found.len(), self.cases.len());
        found
    }
}

/// The Python that has onnxruntime, if there is one.
fn python() -> Option<std::ffi::OsString> {
    let python = std::env::var_os("TASKSCOUT_TEST_PYTHON");
    if python.is_none() {
        eprintln!("SKIPPED: TASKSCOUT_TEST_PYTHON names no Python with onnxruntime");
    }
    python
}

/// Every feature map × every kind of model × scaled or not × both precisions.
#[test]
fn onnxruntime_gives_the_same_numbers() {
    let Some(python) = python() else { return };
    let mut comparison = Comparison::new();
    for (name, map) in maps() {
        for (index, kind) in KINDS.into_iter().enumerate() {
            for (scaled, double) in [(false, false), (true, false), (false, true), (true, true)] {
                let model = random(&map, kind, scaled, 11);
                let case = format!("{name}-{index}-{scaled}-{double}");
                comparison.add(&case, &model, &inputs(&model, ROWS, 3), double);
            }
        }
    }
    let found = comparison.run(&python);
    let (mut worst, mut absolute) = (0.0_f64, 0.0_f64);
    for (case, difference, difference_absolute) in &found {
        assert!(*difference <= TOLERANCE, "{case}: {difference}");
        worst = worst.max(*difference);
        absolute = absolute.max(*difference_absolute);
    }
    let count = found.len();
    println!("{count} graphs, largest difference {worst:.2e}, absolute {absolute:.2e}");
}

/// A model whose inputs and outputs have an offset, and inputs of it.
fn with_offset(input: f64, output: f64) -> (SavedModel, Vec<f64>) {
    let (_, map) = maps().swap_remove(0);
    let mut parts = random(&map, Kind::Features, true, 11).into_parts();
    let width = parts.input_features.input_dim();
    let scaling = |mean: f64, count: usize| Affine {
        mean: vec![mean; count],
        scale: vec![1.0; count],
    };
    parts.input_scaling = Some(scaling(input, width));
    parts.output_scaling = Some(scaling(output, crate::common::OUTPUTS));
    let rows = (0..ROWS * width).map(|i| input + (i as f64).sin());
    (SavedModel::new(parts).unwrap(), rows.collect())
}

/// Offsets that leave single precision no digit of the inputs, but all of double precision.
#[test]
fn doubles_keep_what_lies_far_from_zero() {
    let Some(python) = python() else { return };
    let mut comparison = Comparison::new();
    for (case, input, output) in [("far", 1e7, 0.0), ("farther", 1.7e9, 1e9 + 0.1)] {
        let (model, rows) = with_offset(input, output);
        comparison.add(case, &model, &rows, true);
    }
    // What single precision can hold survives the graph.
    let (model, rows) = with_offset(1e7 + 0.3, 0.0);
    comparison.add("single", &model, &rows, false);
    for (case, _, absolute) in comparison.run(&python) {
        assert!(absolute <= 1e-5, "{case}: {absolute}");
    }
}

#[test]
fn offsets_beyond_single_precision_are_named() {
    let warnings = |input, output| with_offset(input, output).0.single_precision_warnings();
    assert!(warnings(0.0, 0.0).is_empty());
    assert!(warnings(1e4, 0.0).is_empty());
    let far = warnings(1e7, 0.0);
    assert!(
        far[0].contains("input 0 is about 1e7 and varies by 1.0e0"),
        "{far:?}"
    );
    assert!(far[0].contains("loses up to 59.6 %"), "{far:?}");
    assert!(warnings(1e9, 0.0)[0].ends_with("up to all"));
    let output = warnings(0.0, 1e9);
    assert!(output[0].contains("output 0 is about 1e9"), "{output:?}");
    assert_eq!(output.len(), crate::common::OUTPUTS);
    // A standardised map says as much as a scaling does.
    let inner = FeatureMap::identity(1).unwrap();
    let map = FeatureMap::standardised(vec![1e7], vec![1.0], inner).unwrap();
    let model = random(&map, Kind::Features, false, 1);
    assert_eq!(model.single_precision_warnings().len(), 1);
}

#[test]
fn a_graph_says_where_it_comes_from() {
    let (_, map) = maps().swap_remove(0);
    let model = random(&map, Kind::Linear, false, 1);
    let plain = model.to_onnx(false).unwrap();
    let with_std = model.to_onnx(true).unwrap();
    let holds = |bytes: &[u8], text: &str| {
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    assert!(holds(&plain, "taskscout") && holds(&plain, "a \"test\" – with umlauts: ä"));
    assert!(holds(&with_std, "y_std") && !holds(&plain, "y_std"));
    assert_eq!(plain, model.to_onnx(false).unwrap());
}

#[test]
fn numbers_beyond_single_precision_are_refused() {
    let (_, map) = maps().swap_remove(0);
    let mut parts = random(&map, Kind::Features, false, 1).into_parts();
    parts.predictor.coefficients[0][1] = 1e40;
    let model = SavedModel::new(parts).unwrap();
    let message = model.to_onnx(false).unwrap_err().to_string();
    assert!(
        message.contains("1e40, which single precision cannot hold"),
        "{message}"
    );
    // As zero, a tiny scale would make every feature infinite.
    let inner = FeatureMap::identity(1).unwrap();
    let map = FeatureMap::standardised(vec![0.0], vec![1e-60], inner).unwrap();
    let model = random(&map, Kind::Features, false, 1);
    let message = model.to_onnx(false).unwrap_err().to_string();
    assert!(message.contains("feature_scale is 1e-60"), "{message}");
}
