//! Logs whose columns lie far from zero, end to end with the real binary: nothing that is said of a
//! model may hang on where zero is.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use crate::common::{Scratch, stdout, succeeded};

/// Rows of every task, and tasks.
const ROWS: usize = 150;
const TASKS: usize = 5;

impl Scratch {
    /// A table of all tasks, with offsets and sizes.
    fn offset_table(&self, name: &str, units: Units) {
        let mut text = String::from("task,a,b,y\n");
        for task in 0..TASKS {
            for row in 0..ROWS {
                let [a, b, y] = units.apply(sample(task, row));
                text += &format!("t{task},{a:?},{b:?},{y:?}\n");
            }
        }
        self.file(name, &text);
    }

    /// Learns from a table, and returns what was said and how much is explained.
    fn learn(&self, name: &str) -> (String, f64) {
        let said = self.done(&format!(
            "reproduce drone --data {name} --inputs a,b --outputs y --task task --target t2 --phi linear --n-target 25 --seeds 1 --strategies passive --budget-scale 0.02 --save-models --out {name}.out"
        ));
        let summary = self.json(&format!("{name}.out/summary.json"));
        (
            said,
            summary["explained_variance"]["passive"].as_f64().unwrap(),
        )
    }

    /// What the model of a run expects at some inputs: `y` and `y_std`.
    fn predict(&self, name: &str, inputs: [f64; 2]) -> (f64, f64) {
        let [a, b] = inputs;
        self.file("x.csv", &format!("a,b\n{a:?},{b:?}\n"));
        let line = format!(
            "predict {name}.out/models/passive-t0-seed0.safetensors --inputs x.csv --columns a,b"
        );
        let output = self.taskscout(&line);
        succeeded(&output);
        let cells: Vec<f64> = stdout(&output)
            .lines()
            .nth(1)
            .unwrap()
            .split(',')
            .map(|cell| cell.parse().unwrap())
            .collect();
        (cells[0], cells[1])
    }
}

/// Where zero is, and what counts as one.
#[derive(Clone, Copy)]
struct Units {
    input: f64,
    input_size: f64,
    output: f64,
}

const PLAIN: Units = Units {
    input: 0.0,
    input_size: 1.0,
    output: 0.0,
};

impl Units {
    fn apply(self, [a, b, y]: [f64; 3]) -> [f64; 3] {
        [
            self.input + self.input_size * a,
            self.input_size * b,
            self.output + y,
        ]
    }
}

/// Two inputs and an output with a spread of 1.3 and little noise.
fn sample(task: usize, row: usize) -> [f64; 3] {
    let t = (task * ROWS + row) as f64;
    let (a, b) = ((1.7 * t).sin(), (0.9 * t + 0.3).cos());
    let noise = 0.05 * (37.0 * t * t).sin();
    [a, b, (1.5 + 0.2 * task as f64) * a - 0.8 * b + noise]
}

#[test]
fn offsets_and_sizes_change_nothing() {
    let scratch = Scratch::new();
    scratch.offset_table("plain.csv", PLAIN);
    let (_, plain) = scratch.learn("plain.csv");
    assert!(plain > 0.95, "{plain}");
    let (expected, deviation) = scratch.predict("plain.csv", [0.5, -0.5]);
    for (name, units) in [
        (
            "million.csv",
            Units {
                output: 1e6,
                ..PLAIN
            },
        ),
        (
            "tiny.csv",
            Units {
                input_size: 1e-15,
                ..PLAIN
            },
        ),
        (
            "far.csv",
            Units {
                input: 1e7,
                output: -1e8,
                ..PLAIN
            },
        ),
    ] {
        scratch.offset_table(name, units);
        let (said, explained) = scratch.learn(name);
        assert!(
            (explained - plain).abs() < 0.01,
            "{name}: {explained} and {plain}"
        );
        assert!(
            !said.contains("warning: input") && !said.contains("warning: output"),
            "{said}"
        );
        let [a, b, _] = units.apply([0.5, -0.5, 0.0]);
        let (y, std) = scratch.predict(name, [a, b]);
        let y = y - units.output;
        assert!((y - expected).abs() < 0.05, "{name}: {y} and {expected}");
        assert!(
            (std / deviation - 1.0).abs() < 0.2,
            "{name}: {std} and {deviation}"
        );
    }
    // What single precision cannot hold is said, with the remedy, which works.
    let model = "far.csv.out/models/passive-t0-seed0.safetensors";
    let said = scratch.done(&format!("export {model} --format onnx --out far.onnx"));
    assert!(said.contains("warning: input 0 is about"), "{said}");
    assert!(said.contains("export with --double"), "{said}");
    let said = scratch.done(&format!(
        "export {model} --format onnx --double --out double.onnx"
    ));
    assert!(!said.contains("warning"), "{said}");
    scratch.refused(
        &format!("export {model} --format safetensors --double --out copy.safetensors"),
        &["--double"],
    );
}

#[test]
fn where_double_precision_ends_is_said() {
    let scratch = Scratch::new();
    scratch.offset_table(
        "end.csv",
        Units {
            input: 1e14,
            output: 1e15,
            ..PLAIN
        },
    );
    let (said, _) = scratch.learn("end.csv");
    assert!(said.contains("warning: input `a` is"), "{said}");
    assert!(said.contains("warning: output `y` is"), "{said}");
    assert!(said.contains("subtract the offset"), "{said}");

    let line = "learn end.csv --inputs a,b --outputs y --task task --target t2 --phi linear";
    let output = scratch.taskscout(&format!("{line} --out learnt"));
    let said = succeeded(&output);
    let places = [
        said,
        stdout(&output),
        scratch.text("learnt/summary.json"),
        scratch.text("learnt/report.html"),
    ];
    for text in places {
        for (column, remedy) in [
            ("input `a` is 1", "subtract the offset"),
            ("output `y` is 1", ""),
        ] {
            assert!(text.contains(column) && text.contains(remedy), "{text}");
        }
    }
    scratch.offset_table("plain.csv", PLAIN);
    let output = scratch.taskscout(&line.replace("end", "plain"));
    let said = succeeded(&output) + &stdout(&output);
    assert!(!said.contains("subtract the offset"), "{said}");
}

#[test]
fn values_that_would_overflow_are_refused_with_their_place() {
    let scratch = Scratch::new();
    let sides = "--inputs a,b --outputs y --task task --target t2";
    for (name, column, value) in [
        ("x.csv", "input `a`", 1.7e308),
        ("y.csv", "output `y`", 1e150),
    ] {
        let mut text = String::from("task,a,b,y\n");
        for row in 0..TASKS * ROWS {
            let [mut a, b, mut y] = sample(row % TASKS, row);
            if row == 2 + 3 * TASKS {
                *(if name == "x.csv" { &mut a } else { &mut y }) = value;
            }
            text += &format!("t{},{a:?},{b:?},{y:?}\n", row % TASKS);
        }
        scratch.file(name, &text);
        let place = ["row 4 of recording t2", name, column, "leave the row out"];
        scratch.refused(&format!("learn {name} {sides}"), &place);
        scratch.refused(
            &format!("reproduce drone --data {name} {sides} --out out"),
            &place,
        );
        let output = scratch.taskscout(&format!(
            "data inspect {name} --inputs a,b --outputs y --task task"
        ));
        succeeded(&output);
        let shown = stdout(&output);
        assert!(!shown.contains("inf") && !shown.contains("NaN"), "{shown}");
        assert!(shown.contains(place[0]), "{shown}");
    }
}
