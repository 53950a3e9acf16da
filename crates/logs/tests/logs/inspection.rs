//! What inspection says of logs with one thing wrong.

use taskscout_logs::inspect::{Inspection, WarningKind};
use taskscout_logs::{Format, ReadOptions, inspect, read};

use super::Folder;

/// A smooth number that never repeats.
fn wave(row: usize, speed: f64) -> f64 {
    (speed * row as f64).sin() + 1e-3 * row as f64
}

/// Two recordings with a column `t`, inputs `a` and `b` and an output, which a test may change.
fn inspected(rows: usize, change: impl Fn(usize, usize, &mut [f64; 4])) -> Inspection {
    let folder = Folder::new();
    for task in 0..2 {
        let mut text = String::from("t,a,b,y\n");
        for row in 0..rows {
            let at = task * 1000 + row;
            let mut values = [
                0.01 * row as f64,
                wave(at, 0.7),
                wave(at, 1.3),
                wave(at, 0.2),
            ];
            change(task, row, &mut values);
            let cells: Vec<String> = values.iter().map(f64::to_string).collect();
            text += &(cells.join(",") + "\n");
        }
        folder.write(&format!("run{task}.csv"), text.as_bytes());
    }
    let logs = folder.table(&["a", "b"], &["y"], None, Some("t"), false);
    inspect(&logs.unwrap())
}

fn kinds(found: &Inspection) -> Vec<WarningKind> {
    found.warnings.iter().map(|warning| warning.kind).collect()
}

#[test]
fn good_logs_give_figures_and_no_warning() {
    let found = inspected(200, |_, _, _| {});
    assert_eq!(kinds(&found), []);
    assert_eq!((found.recordings, found.rows, found.skipped), (2, 400, 0));
    let near = |value: f64, wanted: f64| (value - wanted).abs() < 1e-9;
    let task = &found.tasks[1];
    let y: Vec<f64> = (0..200).map(|row| wave(1000 + row, 0.2)).collect();
    let mean = y.iter().sum::<f64>() / 200.0;
    let variance = y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / 199.0;
    assert_eq!((&*task.task, task.rows), ("run1", 200));
    assert!(near(task.mean, mean) && near(task.std, variance.sqrt()));
    assert!(near(task.time_span.unwrap(), 1.99) && near(task.time_step.unwrap(), 0.01));
    let a: Vec<f64> = (0..400)
        .map(|i| wave(i / 200 * 1000 + i % 200, 0.7))
        .collect();
    let mean = a.iter().sum::<f64>() / 400.0;
    let variance = a.iter().map(|a| (a - mean).powi(2)).sum::<f64>() / 399.0;
    assert!(near(found.inputs[0].mean, mean) && near(found.inputs[0].std, variance.sqrt()));
    assert!(near(
        found.inputs[0].max,
        a.iter().copied().fold(f64::MIN, f64::max)
    ));
    assert!(near(
        found.inputs[0].min,
        a.iter().copied().fold(f64::MAX, f64::min)
    ));
}

#[test]
fn each_thing_wrong_is_told_with_its_place() {
    type Change = fn(usize, usize, &mut [f64; 4]);
    let cases: [(Change, WarningKind, &[&str]); 10] = [
        (
            |task, _, v| {
                if task == 1 {
                    v[1] = 4.0;
                }
            },
            WarningKind::Constant,
            &["input a", "run1 (at 4)"],
        ),
        (
            |task, _, v| {
                if task == 0 {
                    v[3] = 4.0;
                }
            },
            WarningKind::Constant,
            &["output y", "run0"],
        ),
        (
            |_, _, v| v[2] = 3.0 - 2.0 * v[1],
            WarningKind::Copies,
            &["input b", "as a, correlation -1.0"],
        ),
        (
            |task, row, v| {
                if (task, row) == (1, 7) {
                    v[1] = 99.0;
                }
            },
            WarningKind::Outliers,
            &["input a", "run1 (1 of 200"],
        ),
        (
            |task, row, v| {
                if (task, row) == (0, 7) {
                    v[3] = -99.0;
                }
            },
            WarningKind::Outliers,
            &["output y", "run0 (1 of 200"],
        ),
        (
            |task, _, v| {
                if task == 1 {
                    v[2] = v[2].min(1.5);
                }
            },
            WarningKind::Saturation,
            &["input b", "run1 (", "% at 1.5)"],
        ),
        (
            |task, row, v| {
                if task == 1 && row > 50 {
                    v[0] += 3.0;
                }
            },
            WarningKind::Gaps,
            &["run1 (1, the longest 3.01"],
        ),
        (
            |_, row, v| v[0] = (row / 3) as f64,
            WarningKind::RepeatedTimes,
            &["run0 (66 % of rows) and run1"],
        ),
        (
            |task, _, v| {
                if task == 0 {
                    v[1] *= 500.0;
                }
            },
            WarningKind::Units,
            &["input a", "run0", "times as much as in run1"],
        ),
        (
            |task, row, v| {
                if task == 1 && row % 10 == 1 {
                    let at = 1000 + row - 1;
                    (v[1], v[2], v[3]) = (wave(at, 0.7), wave(at, 1.3), wave(at, 0.2));
                }
            },
            WarningKind::RepeatedRows,
            &["run1 (10 %)"],
        ),
    ];
    for (change, kind, parts) in cases {
        let found = inspected(200, change);
        assert_eq!(kinds(&found), [kind], "{:?}", found.warnings);
        let message = &found.warnings[0].message;
        for part in parts {
            assert!(message.contains(part), "{part} in: {message}");
        }
        assert!(message.contains(": "), "with a remedy: {message}");
    }
}

#[test]
fn few_rows_and_backward_times_are_told() {
    let found = inspected(60, |_, _, _| {});
    assert_eq!(kinds(&found), [WarningKind::FewRows]);
    assert_eq!(found.warnings[0].places, ["run0", "run1"]);
    let found = inspected(200, |task, row, v| {
        if (task, row) == (0, 50) {
            v[0] = 0.0;
        }
    });
    assert_eq!(kinds(&found), [WarningKind::Reading, WarningKind::Gaps]);
    assert!(found.warnings[0].message.contains("time runs backwards"));
}

#[test]
fn a_choice_of_few_values_has_no_limits() {
    let found = inspected(200, |_, row, v| v[2] = f64::from(u8::from(row % 7 < 3)));
    assert_eq!(kinds(&found), []);
}

#[test]
fn attitudes_that_are_no_rotations_are_told() {
    let mut text = String::from("t,v,q,fa,pwm\n");
    for row in 0..200 {
        let [a, b, c] = [0.3, 0.5, 0.8].map(|speed| wave(row, speed));
        let w = if row < 150 {
            (row as f64).cos()
        } else {
            1.2 * (row as f64).cos()
        };
        text += &format!(
            "{row},\"[{a}, {b}, {c}]\",\"[{w}, {}, 0, 0]\",\"[{b}, {c}, {a}]\",\"[1{:03}, 1{:03}, 1{:03}, 1{:03}]\"\n",
            (row as f64).sin(),
            row,
            2 * row,
            (row * row) % 997,
            (row * 7) % 991
        );
    }
    let folder = Folder::with(&[("a_b_c_nowind.csv", text.as_bytes())]);
    let options = ReadOptions {
        format: Format::Flights,
        ..ReadOptions::default()
    };
    let found = inspect(&read(folder.path(), &options).unwrap());
    let quaternions: Vec<_> = found
        .warnings
        .iter()
        .filter(|one| one.kind == WarningKind::Quaternions)
        .collect();
    assert_eq!(quaternions.len(), 1);
    assert!(
        quaternions[0].message.contains("a_b_c_nowind ("),
        "{}",
        quaternions[0].message
    );
}
