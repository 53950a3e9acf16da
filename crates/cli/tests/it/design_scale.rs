//! `taskscout design` where budgets are small, units differ, numbers are large or tables are wide.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::fmt::Write as _;
use std::path::Path;
use std::process::Output;

use rand::RngExt as _;
use serde_json::Value;
use taskscout::rng::{Purpose, derive};

use crate::common::{Scratch, binary, stderr, stdout, succeeded};

fn design(folder: &Path, line: &str) -> Output {
    let mut command = binary();
    command.arg("design").args(line.split_whitespace());
    command.current_dir(folder).output().unwrap()
}

fn plan(folder: &Path, line: &str) -> Value {
    let output = design(folder, &format!("{line} --json"));
    succeeded(&output);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refused(folder: &Path, line: &str, parts: &[&str]) {
    crate::common::refused(&design(folder, line), parts);
}

fn number(plan: &Value, key: &str) -> f64 {
    plan[key].as_f64().unwrap()
}

fn near(left: f64, right: f64, tolerance: f64) -> bool {
    (left - right).abs() <= tolerance * right.abs().max(1e-3)
}

/// Conditions in m/s, degrees, rpm and kg: `offset + scale · u`, with `u` from −1 to 1.
const CONDITIONS: [(&str, f64, f64); 4] = [
    ("speed", 6.0, 6.0),
    ("yaw", 0.0, 180.0),
    ("rpm", 5000.0, 600.0),
    ("mass", 1.5, 0.2),
];

fn table(rows: usize, columns: &[(&str, f64, f64)], seed: u64) -> String {
    let mut rng = derive(seed, Purpose::Test, &[]);
    let names: Vec<&str> = columns.iter().map(|column| column.0).collect();
    let mut text = names.join(",") + "\n";
    for _ in 0..rows {
        let cell = |(_, offset, scale): &(&str, f64, f64)| {
            // Quarters of a whole: exact at every offset of these tests.
            let u = f64::from(rng.random_range(-64..=64_i32)) / 64.0;
            (offset + scale * u).to_string()
        };
        let cells: Vec<String> = columns.iter().map(cell).collect();
        writeln!(text, "{}", cells.join(",")).unwrap();
    }
    text
}

#[test]
fn every_feasible_budget_of_the_example_is_planned() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/wind-tunnel");
    let base = "--candidates winds.csv --target target.csv";
    // For a target, and for all that the winds can teach.
    for asked in [base, "--candidates winds.csv"] {
        for budget in [4, 5, 6, 7, 8, 10, 12, 15] {
            let plan = plan(&folder, &format!("{asked} --budget {budget}"));
            let samples: u64 = plan["plan"]
                .as_array()
                .unwrap()
                .iter()
                .map(|task| task["n"].as_u64().unwrap())
                .sum();
            assert_eq!(samples, budget, "{plan}");
            assert!(number(&plan, "plan_objective") >= number(&plan, "lower_bound"));
        }
    }
    refused(
        &folder,
        &format!("{base} --budget 3"),
        &["--budget 3 does not pay", "takes 4 tasks", "raise it to 4"],
    );
    let affine = format!("{base} --features affine --budget 4");
    refused(&folder, &affine, &["5 tasks", "raise it to 5"]);
    plan(&folder, &format!("{base} --features affine --budget 5"));
}

#[test]
fn a_plan_over_unlike_units_goes_on_from_the_last_one() {
    let scratch = Scratch::new();
    let folder = scratch.folder();
    std::fs::write(folder.join("conditions.csv"), table(120, &CONDITIONS, 1)).unwrap();
    std::fs::write(folder.join("target.csv"), table(2, &CONDITIONS, 2)).unwrap();
    let base = "--candidates conditions.csv --target target.csv --features quadratic --switch-cost 20 --budget 2000";
    let first = plan(folder, &format!("{base} --out one"));
    let second = plan(folder, &format!("{base} --given one/plan.csv"));
    assert!(number(&second, "objective") < number(&first, "objective"));
    assert!(number(&second, "lower_bound") <= number(&second, "objective"));
    plan(
        folder,
        &format!("{base} --given one/plan.csv --criterion max-eigenvalue"),
    );
}

#[test]
fn units_change_neither_the_plan_nor_the_similarity() {
    let scratch = Scratch::new();
    let folder = scratch.folder();
    for features in ["identity", "affine", "quadratic"] {
        let run = |name: &str, scales: [f64; 4]| {
            let columns: Vec<(&str, f64, f64)> = CONDITIONS
                .iter()
                .zip(scales)
                .map(|((name, offset, scale), unit)| (*name, offset * unit, scale * unit))
                .collect();
            let file = |kind: &str| format!("{name}-{kind}.csv");
            std::fs::write(folder.join(file("tasks")), table(60, &columns, 3)).unwrap();
            std::fs::write(folder.join(file("target")), table(1, &columns, 4)).unwrap();
            let (tasks, target) = (file("tasks"), file("target"));
            let line = format!(
                "--candidates {tasks} --target {target} --features {features} --budget 500"
            );
            plan(folder, &line)
        };
        let plain = run("plain", [1.0; 4]);
        let mut cosines: Vec<f64> = Vec::new();
        for (name, scales) in [
            ("large", [1e6, 1e-6, 1.0, 1e3]),
            ("small", [1e-6, 1.0, 1e6, 1e-3]),
        ] {
            let other = run(name, scales);
            for key in ["objective", "plan_objective"] {
                assert!(
                    near(number(&other, key), number(&plain, key), 2e-4),
                    "{features} {key}"
                );
            }
            assert!(number(&other, "lower_bound") <= number(&plain, "objective") * (1.0 + 1e-9));
            assert!(number(&plain, "lower_bound") <= number(&other, "objective") * (1.0 + 1e-9));
            for task in other["plan"].as_array().unwrap() {
                let same = plain["plan"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .find(|row| row["row"] == task["row"]);
                if let Some(same) = same {
                    let cosine = task["similarity"].as_f64().unwrap();
                    assert!(
                        near(cosine, same["similarity"].as_f64().unwrap(), 1e-6),
                        "{task}"
                    );
                    cosines.push(cosine);
                }
            }
        }
        assert!(!cosines.is_empty());
        assert!(
            cosines.iter().any(|cosine| cosine.abs() < 0.99),
            "beside rpm all would be 1"
        );
    }
}

#[test]
fn an_offset_of_the_parameters_changes_no_certificate() {
    let scratch = Scratch::new();
    let folder = scratch.folder();
    let mut plans = Vec::new();
    for (name, offset) in [("near", 0.0), ("far", 1e8)] {
        let columns = [("x", offset, 1.0), ("y", offset, 1.0)];
        std::fs::write(folder.join(format!("{name}.csv")), table(40, &columns, 5)).unwrap();
        std::fs::write(
            folder.join(format!("{name}-target.csv")),
            table(2, &columns, 6),
        )
        .unwrap();
        for features in ["affine", "quadratic", "cubic"] {
            let line =
                format!("--candidates {name}.csv --target {name}-target.csv --features {features}");
            plans.push(plan(folder, &line));
        }
    }
    for (near_zero, far) in plans[..3].iter().zip(&plans[3..]) {
        assert!(near(
            number(far, "objective"),
            number(near_zero, "objective"),
            1e-6
        ));
        assert!(number(far, "lower_bound") <= number(near_zero, "objective") * (1.0 + 1e-9));
    }
}

#[test]
fn without_a_target_the_identity_is_that_of_the_features_as_named() {
    let scratch = Scratch::new();
    let folder = scratch.folder();
    // At 1, 2 and 3: A = I asks for tr(Σ⁻¹) of (1, x, x²).
    std::fs::write(folder.join("x.csv"), "x\n1\n2\n3\n").unwrap();
    let plan = plan(
        folder,
        "--candidates x.csv --features quadratic --budget 3000",
    );
    let mut information = faer::Mat::<f64>::zeros(3, 3);
    for task in plan["plan"].as_array().unwrap() {
        let x = task["task"][0].as_f64().unwrap();
        let c = [1.0, x, x * x];
        for i in 0..3 {
            (0..3).for_each(|j| {
                information[(i, j)] += task["weight"].as_f64().unwrap() * c[i] * c[j];
            });
        }
    }
    let identity = faer::Mat::<f64>::identity(3, 3);
    let value = taskscout::design::Criterion::Trace
        .value(information.as_ref(), identity.as_ref())
        .unwrap();
    assert!(near(number(&plan, "objective"), value, 1e-6), "{value}");
}

#[test]
fn what_does_not_fit_is_refused_with_its_size() {
    let scratch = Scratch::new();
    let folder = scratch.folder();
    let space = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    space(
        "ball.toml",
        "space = { kind = \"ball\", dim = 100000, radius = 1.0 }\n",
    );
    refused(
        folder,
        "--space ball.toml",
        &["100000 features", "GB of memory", "--memory"],
    );
    space(
        "product.toml",
        "[space]\nkind = \"product\"\nparts = [{ kind = \"one-hot\", size = 1000 }, { kind = \"one-hot\", size = 1000 }]\n",
    );
    refused(
        folder,
        "--space product.toml",
        &["1000000 tasks", "GB of memory"],
    );
    space("x.csv", "x\n1\n2\n");
    refused(
        folder,
        "--candidates x.csv --budget 1e308",
        &["--budget", "at most 1e15"],
    );
    refused(folder, "--candidates x.csv --memory 0", &["--memory is 0"]);
    space("huge.csv", "x,y\n1,1\n1e155,2\n");
    refused(
        folder,
        "--candidates huge.csv",
        &["x of row 1 of huge.csv", "rescale"],
    );
    space("fine.csv", "x,y\n1,1\n2,1\n");
    refused(
        folder,
        "--candidates fine.csv --target huge.csv",
        &["x of line 3 of huge.csv", "rescale"],
    );
}

/// Five tasks span five directions, however many columns they have.
#[test]
fn a_wide_table_is_planned_in_what_its_rows_span() {
    let scratch = Scratch::new();
    let folder = scratch.folder();
    let mut rng = derive(8, Purpose::Test, &[]);
    let width = 20_000;
    let mut rows: Vec<Vec<f64>> = (0..5)
        .map(|_| (0..width).map(|_| rng.random_range(-1.0..1.0)).collect())
        .collect();
    let mixed: Vec<f64> = (0..width).map(|j| rows[0][j] - 0.5 * rows[3][j]).collect();
    let line = |row: &[f64]| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n";
    let header = (0..width)
        .map(|j| format!("c{j}"))
        .collect::<Vec<_>>()
        .join(",")
        + "\n";
    let tasks: String = rows.iter().map(|row| line(row)).collect();
    std::fs::write(folder.join("wide.csv"), header.clone() + &tasks).unwrap();
    std::fs::write(folder.join("target.csv"), header.clone() + &line(&mixed)).unwrap();
    let plan = plan(
        folder,
        "--candidates wide.csv --target target.csv --budget 300",
    );
    let chosen: Vec<u64> = plan["plan"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["row"].as_u64().unwrap())
        .collect();
    assert_eq!(chosen, [0, 3]);
    assert!(
        near(number(&plan, "objective"), 1.5_f64.powi(2), 1e-3),
        "by Elfving's theorem"
    );
    rows[0][0] += 5.0;
    std::fs::write(folder.join("target.csv"), header + &line(&rows[0])).unwrap();
    refused(
        folder,
        "--candidates wide.csv --target target.csv",
        &["out of reach", "span 5 of 20000", "1.00·c0:"],
    );
}

#[test]
fn what_identity_features_take_for_granted_is_said() {
    let scratch = Scratch::new();
    let folder = scratch.folder();
    std::fs::write(folder.join("winds.csv"), "speed\n-3\n1\n2\n").unwrap();
    std::fs::write(folder.join("target.csv"), "speed\n2\n").unwrap();
    let base = "--candidates winds.csv --target target.csv";
    let output = design(folder, base);
    assert!(stderr(&output).contains("w and −w"), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(
        text.contains("serves the target as its opposite (cosine -1.00)"),
        "{text}"
    );
    for features in ["identity", "affine"] {
        let output = design(folder, &format!("{base} --features {features}"));
        assert!(!stderr(&output).contains("w and −w"));
    }
    let affine = plan(folder, &format!("{base} --features affine"));
    assert_eq!(affine["plan"][0]["row"], 2, "tail wind is not head wind");
}

/// A table of two columns in units of their own, with a count where there is a third number.
fn in_units(folder: &Path, name: &str, rows: &[&[f64]], units: [f64; 2]) {
    let head = if rows[0].len() > 2 { "p,q,n" } else { "p,q" };
    let mut text = format!("{head}\n");
    for row in rows {
        let scaled = row.iter().zip(units.into_iter().chain([1.0]));
        let cells: Vec<String> = scaled.map(|(x, unit)| format!("{:e}", x * unit)).collect();
        writeln!(text, "{}", cells.join(",")).unwrap();
    }
    std::fs::write(folder.join(name), text).unwrap();
}

/// Data given in columns that the tasks of a plan have nothing in, in units that are far apart.
#[test]
fn units_do_not_change_what_a_plan_beside_given_data_is_worth() {
    type Table = &'static [&'static [f64]];
    let plain: [Table; 3] = [&[&[1., 0.], &[0., 1.]], &[&[1., 0.]], &[&[1., 1., 10_000.]]];
    // A sine of π is no zero.
    let turned: [Table; 3] = [&[&[1., 1.2e-16], &[6e-17, 1.]], plain[1], plain[2]];
    // All candidates have far less in a column than the data given.
    let weak: [Table; 3] = [&[&[1e-7, 1.]], plain[1], plain[2]];
    let skew: [Table; 3] = [
        &[&[-1., -3.], &[0., 3.], &[2., 0.]],
        &[&[-3., 0.]],
        &[&[2.7, 2.3, 10_000.]],
    ];
    // From 10 000 samples of (1, 1) and n of (0, 1) the error at (1, 0) is 1 / 10 000 + 1 / n.
    let cases = [
        (plain, "--budget 30 --max-tasks 1", 0, 1.0),
        (plain, "--budget 30 --min-samples 20", 0, 1.0),
        (plain, "--budget 30 --switch-cost 10", 0, 1.5),
        (plain, "--budget 30 --forbid 0", 1, 1.003),
        (turned, "--budget 30 --max-tasks 1", 0, 1.0),
        (turned, "--budget 30 --forbid 0", 1, 1.003),
        (weak, "--budget 30", 0, 1.003),
        (skew, "--budget 32", 1, 0.729_602_194_787),
    ];
    let scratch = Scratch::new();
    let folder = scratch.folder();
    for ([candidates, target, given], options, row, objective) in cases {
        for units in [[1.0, 1.0], [1e3, 1e-3], [1e6, 1e-8], [1e-9, 1e9]] {
            in_units(folder, "c.csv", candidates, units);
            in_units(folder, "t.csv", target, units);
            in_units(folder, "g.csv", given, units);
            let files = "--candidates c.csv --target t.csv --given g.csv";
            let plan = plan(folder, &format!("{files} {options}"));
            let said = format!("{options}, {units:?}: {plan}");
            let rows = plan["plan"].as_array().unwrap();
            assert_eq!(rows.len(), 1, "{said}");
            assert_eq!(rows[0]["row"], row, "{said}");
            for key in ["objective", "plan_objective"] {
                assert!(near(number(&plan, key), objective, 1e-6), "{said}");
            }
        }
    }
}
