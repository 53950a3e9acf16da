//! Models of every representation.

use std::path::Path;

use taskscout_io::tables::Table;
use taskscout_report::ResultRow;

use crate::common::{Scratch, results};
use crate::drone::setup::{NETWORK, ROWS, TARGET, TASKS, TOML, TRAIN, close, relevant};

/// Cells of a line of CSV.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            other => cells.last_mut().unwrap().push(other),
        }
    }
    cells
}

/// Inputs and forces along an axis of the rows of a log that come last.
fn held_out(log: &Path, axis: usize) -> (String, Vec<f64>) {
    let text = std::fs::read_to_string(log).unwrap();
    let mut lines = text.lines();
    let header = cells(lines.next().unwrap());
    let mut table = String::from("v_x,v_y,v_z,q_0,q_1,q_2,q_3,pwm_0,pwm_1,pwm_2,pwm_3\n");
    let mut forces = Vec::new();
    for line in lines.skip(TRAIN) {
        let row = cells(line);
        let list = |name: &str| -> Vec<f64> {
            let at = header.iter().position(|known| known == name).unwrap();
            let numbers = row[at].trim_matches(['[', ']']).split(',');
            numbers.map(|one| one.trim().parse().unwrap()).collect()
        };
        let pwm = list("pwm").into_iter().map(|one| one / 1000.0);
        let inputs: Vec<String> = list("v")
            .into_iter()
            .chain(list("q"))
            .chain(pwm)
            .map(|one| one.to_string())
            .collect();
        table += &(inputs.join(",") + "\n");
        forces.push(list("fa")[axis]);
    }
    assert_eq!(forces.len(), ROWS - TRAIN);
    (table, forces)
}

#[test]
fn every_representation_leaves_a_model_that_runs_on_raw_inputs() {
    let scratch = Scratch::with_flights();
    let (table, forces) = held_out(&scratch.path("flights/hawk_figure8_pid_70wind.csv"), 0);
    scratch.file("x.csv", &table);
    let mean = forces.iter().sum::<f64>() / forces.len() as f64;
    let variance = forces.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / forces.len() as f64;
    let mut losses = Vec::new();
    let network = TOML.replace("phi = \"linear\"", "phi = \"mlp\"");
    scratch.file("mlp.toml", &network.replace("[target]", NETWORK));
    for phi in ["linear", "quadratic", "fourier", "mlp", "auto"] {
        let file = if phi == "mlp" { "mlp" } else { "logs" };
        scratch.done(&format!(
            "run {file}.toml --phi {phi} --save-models --out {phi}"
        ));
        let summary = scratch.json(&format!("{phi}/summary.json"));
        close(summary["variance"].as_f64().unwrap(), variance);
        relevant(&summary, TARGET, TASKS - 1);
        for strategy in ["target-only", "aware"] {
            let model = format!("{phi}/models/{strategy}-t0-seed0");
            scratch.done(&format!(
                "predict {model}.safetensors --inputs x.csv --out {phi}-{strategy}.csv"
            ));
            let table = Table::read(scratch.path(&format!("{phi}-{strategy}.csv"))).unwrap();
            let predicted = table.matrix(&["y"]).unwrap();
            let squares = predicted.iter().zip(&forces).map(|(p, y)| (p - y).powi(2));
            let loss = squares.sum::<f64>() / forces.len() as f64;
            let rows = results(&scratch.path(phi));
            let own = |row: &&ResultRow| row.strategy == strategy;
            let last = rows.iter().rfind(own).unwrap();
            let returned = last.returned_loss.unwrap();
            let apart = (loss / returned - 1.0).abs();
            assert!(apart < 1e-6, "{phi} {strategy}: {loss} and {returned}");
            let said = scratch.done(&format!("export {model}.safetensors --format onnx"));
            assert!(said.contains("11 inputs, 1 outputs"), "{said}");
            assert!(scratch.path(&format!("{model}.onnx")).exists());
            if strategy == "aware" {
                losses.push(last.test_loss.unwrap());
            }
        }
    }
    // They are not all the same thing.
    for (index, loss) in losses[..4].iter().enumerate() {
        assert!(!losses[..index].contains(loss), "{losses:?}");
    }
}

#[test]
fn a_network_beside_the_inputs_is_learnt_or_refused() {
    let scratch = Scratch::with_flights();
    for (oracle, said) in [
        ("exact", "the oracle is exact"),
        ("mllam", "the oracle is mllam"),
        ("neural", "the oracle is neural"),
    ] {
        scratch.refused(
            &format!("run logs.toml --phi mlp --oracle {oracle} --out out"),
            &["--phi is mlp", said, "--oracle pooled"],
        );
    }
    let exact = TOML.replace("\"pooled\"", "\"exact\"");
    let file = exact.replace("phi = \"linear\"", "phi = \"mlp\"");
    scratch.file("mlp.toml", &file);
    scratch.refused(
        "run --check mlp.toml",
        &["mlp.toml, line 9, column 7: `world.phi` is mlp"],
    );
    // Its settings are for nothing where there is no network.
    scratch.file("idle.toml", &TOML.replace("[target]", NETWORK));
    scratch.refused(
        "run --check idle.toml",
        &["idle.toml, line 13, column", "`learner.network`", "phi"],
    );
    scratch.done("run --check idle.toml --phi mlp");
    let worth = exact.replace("phi = \"linear\"", "worth = 100.0");
    scratch.file("worth.toml", &worth);
    scratch.refused(
        "run --check worth.toml",
        &["`world.worth`", "oracle pooled"],
    );
}
