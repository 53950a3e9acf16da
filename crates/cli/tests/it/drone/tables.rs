//! Tables of any robot.

use taskscout_io::tables::{Column, write_csv, write_parquet};

use crate::common::{Scratch, results, stdout, succeeded};
use crate::drone::setup::{TARGET, TASKS, relevant};

#[test]
fn a_force_that_does_not_change_is_explained_by_nothing() {
    let scratch = Scratch::with_experiment();
    for (name, slope) in [("still", 0.0), ("up", 1.0), ("down", -1.0)] {
        let row = |i: i32| format!("{},{}\n", f64::from(i % 7), 0.1 + slope * f64::from(i % 7));
        let rows: String = (0..50).map(row).collect();
        scratch.file(&format!("flat/{name}.csv"), &format!("x,y\n{rows}"));
    }
    let line = "reproduce drone --data flat --target still --inputs x --outputs y --n-target 10 \
                --phi linear --task-features one-hot --oracle exact --seeds 1 --budget-scale 0.01 \
                --strategies passive --out out";
    let output = scratch.taskscout(line);
    succeeded(&output);
    let said = stdout(&output);
    // The paper's words are on the paper's flights.
    assert!(!said.contains("The paper has curves"), "{said}");
    assert!(said.contains("target still"), "{said}");
    let summary = scratch.json("out/summary.json");
    assert!(summary["explained_variance"]["passive"].is_null());
    let page = scratch.text("out/report.html");
    assert!(page.contains("nothing to explain"));
    for text in [
        &said,
        &page,
        &scratch.text("out/results.csv"),
        &scratch.text("out/loss.svg"),
    ] {
        for wrong in ["NaN", "inf ", "-inf", "inf %", "−inf"] {
            assert!(!text.contains(wrong), "{wrong} in {text}");
        }
    }
}

#[test]
fn tasks_may_be_known_by_nothing_but_their_name() {
    let scratch = Scratch::with_flights();
    let line = "run logs.toml --strategies passive,aware,discrete-l2";
    scratch.done(&format!(
        "{line} --task-features one-hot --oracle exact --out exact"
    ));
    let summary = scratch.json("exact/summary.json");
    assert_eq!(summary["oracle"], "exact");
    relevant(&summary, TARGET, TASKS - 1);
    assert!(scratch.text("exact/settings.json").contains("\"one-hot\""));
    scratch.refused(
        "run logs.toml --task-features one-hot --out pooled",
        &[
            "the oracle pooled",
            "--task-features wind",
            "--oracle such as exact",
        ],
    );
}

#[test]
fn tables_of_any_robot_are_logs_too() {
    let scratch = Scratch::with_experiment();
    for folder in ["csv", "parquet"] {
        std::fs::create_dir(scratch.path(folder)).unwrap();
    }
    // Ice and frost are alike, sand and rock are otherwise.
    let surfaces = [
        ("ice", [1.0, -2.0]),
        ("frost", [1.1, -1.9]),
        ("sand", [-2.0, -1.0]),
        ("rock", [2.0, 1.2]),
    ];
    let (mut names, mut speed, mut level, mut torque) = (vec![], vec![], vec![], vec![]);
    for (index, (surface, [a, b])) in surfaces.iter().enumerate() {
        for row in 0..80 {
            let s = f64::from(row + 100 * index as i32);
            let (x, y) = ((1.3 * s).sin(), (0.7 * s * s).cos());
            names.push((*surface).to_owned());
            speed.push(x);
            level.push(y);
            torque.push(a * x + b * y + 0.1 * (31.0 * s).sin());
        }
    }
    let columns = [
        Column::text("surface", names),
        Column::numbers("speed", speed),
        Column::numbers("level", level),
        Column::numbers("torque", torque),
    ];
    write_csv(scratch.path("csv/robot.csv"), &columns).unwrap();
    write_parquet(scratch.path("parquet/robot.parquet"), &columns).unwrap();
    for folder in ["csv", "parquet"] {
        scratch.done(&format!(
            "run logs.toml --data {folder} --inputs speed,level --outputs torque --task surface --target ice --n-target 20 --budget-scale 0.5 --out of-{folder}"
        ));
    }
    assert_eq!(
        results(&scratch.path("of-csv")),
        results(&scratch.path("of-parquet"))
    );
    let summary = scratch.json("of-csv/summary.json");
    assert_eq!(relevant(&summary, "ice", 3)[0], "frost");
    assert!(summary["explained_variance"]["aware"].as_f64().unwrap() > 0.9);
}
