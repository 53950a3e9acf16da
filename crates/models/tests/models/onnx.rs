//! ONNX graphs, run by onnxruntime.
//!
//! `cargo xtask test` makes a Python that has it and names it in `TASKSCOUT_TEST_PYTHON`; without
//! that variable the comparison is left out.

use std::process::Command;

use serde_json::{Value, json};
use taskscout::features::FeatureMap;

use crate::common::{KINDS, Kind, inputs, maps, random};

/// Rows of every comparison.
const ROWS: usize = 64;
/// Largest difference that is allowed, absolute up to 1 and relative above.
const TOLERANCE: f64 = 1e-5;

fn bytes(values: impl Iterator<Item = f64>) -> Vec<u8> {
    values.flat_map(f64::to_le_bytes).collect()
}

/// Every feature map × every kind of model × scaled or not.
#[test]
fn onnxruntime_gives_the_same_numbers() {
    let Some(python) = std::env::var_os("TASKSCOUT_TEST_PYTHON") else {
        eprintln!("SKIPPED: TASKSCOUT_TEST_PYTHON names no Python with onnxruntime");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut cases = Vec::new();
    for (name, map) in maps() {
        for (index, kind) in KINDS.into_iter().enumerate() {
            for scaled in [false, true] {
                let model = random(&map, kind, scaled, 11);
                let case = format!("{name}-{index}-{scaled}");
                let file = |end: &str| folder.path().join(format!("{case}.{end}"));
                // The graph sees inputs in single precision, so both do.
                let rows: Vec<f64> = inputs(&model, ROWS, 3)
                    .iter()
                    .map(|&value| f64::from(value as f32))
                    .collect();
                let expected = model.predict(&rows).unwrap();
                model.save_onnx(file("onnx"), true).unwrap();
                std::fs::write(file("x"), bytes(rows.iter().copied())).unwrap();
                std::fs::write(file("y"), bytes(expected.iter().map(|one| one.mean))).unwrap();
                std::fs::write(file("std"), bytes(expected.iter().map(|one| one.std))).unwrap();
                cases.push(
                    json!({"case": case, "inputs": model.input_dim(), "outputs": model.outputs()}),
                );
            }
        }
    }
    let list = folder.path().join("cases.json");
    std::fs::write(&list, Value::from(cases.clone()).to_string()).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/models/compare_onnx.py");
    let output = Command::new(python)
        .arg(script)
        .arg(&list)
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), cases.len());
    let (mut worst, mut absolute) = (0.0_f64, 0.0_f64);
    for case in found {
        let difference = case["difference"].as_f64().unwrap();
        assert!(difference <= TOLERANCE, "{case}");
        worst = worst.max(difference);
        absolute = absolute.max(case["absolute"].as_f64().unwrap());
    }
    let count = found.len();
    println!("{count} graphs, largest difference {worst:.2e}, absolute {absolute:.2e}");
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
    let model = taskscout_models::SavedModel::new(parts).unwrap();
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
