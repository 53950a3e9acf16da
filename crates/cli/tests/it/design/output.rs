//! What a plan says: JSON, a table for people, files, and a reader that goes away.

use faer::Mat;
use rand::RngExt as _;
use serde_json::Value;
use taskscout::design::Criterion;
use taskscout::rng::{Purpose, derive};
use taskscout_io::tables::Table;

use crate::common::{Scratch, stderr, stdout, succeeded};
use crate::design::winds::{Plan, WINDS, design_in, near, trace};

#[test]
fn json_keeps_its_contract_and_its_numbers_can_be_checked() {
    let scratch = Scratch::winds();
    let plan = scratch.plan("--criterion trace --budget 100");
    for key in [
        "objective",
        "lower_bound",
        "gap",
        "solve_s",
        "plan_objective",
        "spent",
    ] {
        assert!(plan.number(key).is_finite(), "{key}");
    }
    assert!(plan.0["iterations"].as_u64().is_some());
    assert_eq!(plan.0["criterion"], "trace");
    assert!(near(plan.number("budget"), 100.0));
    let winds: Vec<&str> = WINDS.lines().skip(1).collect();
    for task in plan.rows() {
        let row = usize::try_from(task["row"].as_u64().unwrap()).unwrap();
        let cells: Vec<&str> = winds[row].split(',').collect();
        assert_eq!(task["name"], cells[0]);
        assert!(near(
            task["task"][0].as_f64().unwrap(),
            cells[1].parse().unwrap()
        ));
        for key in ["weight", "similarity", "risk_share", "cost"] {
            assert!(task[key].as_f64().unwrap().is_finite(), "{key}");
        }
        assert!(!task["reason"].as_str().unwrap().is_empty());
    }
    assert_eq!(plan.samples(), 100);
    let objective = trace(&plan.sum(|task| task["weight"].as_f64().unwrap()));
    assert!(near(plan.number("objective"), objective), "{objective}");
    let whole = 100.0 * trace(&plan.sum(|task| task["n"].as_f64().unwrap()));
    assert!(near(plan.number("plan_objective"), whole), "{whole}");
    let gap = (objective - plan.number("lower_bound")) / objective;
    assert!((plan.number("gap") - gap).abs() < 1e-9 && (0.0..=1e-4).contains(&gap));
    assert!(near(plan.number("rounding_factor"), whole / objective));
    let shares: f64 = plan
        .rows()
        .iter()
        .map(|task| task["risk_share"].as_f64().unwrap())
        .sum();
    assert!(near(shares, 1.0));
}

#[test]
fn max_eigenvalue_of_several_targets_is_its_own_criterion() {
    let scratch = Scratch::winds();
    scratch.file("target.csv", "north,east,w\n0.6,0.5,3\n-0.2,0.4,1\n");
    let plan = scratch.plan("--criterion max-eigenvalue --target-weight w");
    let mut need = Mat::zeros(2, 2);
    for (c, weight) in [([0.6, 0.5], 0.75), ([-0.2, 0.4], 0.25)] {
        for i in 0..2 {
            (0..2).for_each(|j| need[(i, j)] += weight * c[i] * c[j]);
        }
    }
    let information = plan.sum(|task| task["weight"].as_f64().unwrap());
    let value = Criterion::MaxEigenvalue
        .value(information.as_ref(), need.as_ref())
        .unwrap();
    assert!(
        (plan.number("objective") - value).abs() < 1e-6 * value,
        "{value}"
    );
    assert!(plan.number("gap") <= 1e-4);
}

#[test]
fn the_table_says_what_a_person_needs() {
    let scratch = Scratch::winds();
    let line = "--candidates winds.csv --columns north,east --target target.csv --budget 100";
    let output = scratch.design(line);
    let text = stdout(&output);
    for part in [
        "task",
        "north",
        "share %",
        "similarity",
        "risk %",
        "why",
        "gale",
        "covers",
        "more than 0.01 % better",
        "100 of 100 samples",
        "whole samples",
        "even split",
    ] {
        assert!(text.contains(part), "`{part}` in:\n{text}");
    }
    let notes = stderr(&output);
    assert!(notes.contains("9 candidates from winds.csv, parameters north, east"));
    let agnostic = scratch.design("--candidates winds.csv --columns north,east");
    assert!(stderr(&agnostic).contains("no --target"));
    assert!(stdout(&agnostic).contains("covers"));
}

#[test]
fn plans_are_written_whole_and_not_over_others() {
    let scratch = Scratch::winds();
    let base =
        "--candidates winds.csv --columns north,east --target target.csv --budget 100 --json";
    let plan = Plan::of(&scratch.design(&format!("{base} --out plans/today")));
    let folder = scratch.path("plans/today");
    let table = Table::read(folder.join("plan.csv")).unwrap();
    let names: Vec<&str> = table.columns().iter().map(|column| &*column.name).collect();
    assert_eq!(
        names,
        [
            "north",
            "east",
            "task",
            "row",
            "weight",
            "n",
            "similarity",
            "risk_share",
            "cost",
            "reason"
        ]
    );
    assert_eq!(table.text("task").unwrap(), plan.names());
    assert!(near(table.numbers("n").unwrap().iter().sum(), 100.0));
    let text = std::fs::read_to_string(folder.join("plan.json")).unwrap();
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written, plan.0);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
    scratch.design_refused(
        &format!("{base} --out plans/today"),
        &["plan.csv is there already", "--force"],
    );
    let again = scratch.design(&format!("{base} --out plans/today --force"));
    assert!(again.status.success());
    let prefixed = scratch.design(&format!("{base} --out plans/monday-"));
    succeeded(&prefixed);
    assert!(scratch.path("plans/monday-plan.csv").exists());
    // A plan that was carried out is what is given to the next.
    let next = scratch.plan("--given plans/today/plan.csv --budget 100");
    let half = 0.5 * plan.number("plan_objective");
    assert!(
        (next.number("objective") - half).abs() < 1e-3 * half,
        "twice the samples"
    );
    // A parameter called like a column of the plan keeps its name.
    scratch.file("n.csv", "n,weight\n1,0\n0,1\n");
    let output = scratch.design("--candidates n.csv --out clash");
    succeeded(&output);
    let header = std::fs::read_to_string(scratch.path("clash/plan.csv")).unwrap();
    assert!(header.starts_with("n,weight,task,row,plan_weight,plan_n,"));
}

#[test]
fn threads_do_not_change_a_byte() {
    let scratch = Scratch::new();
    let mut rng = derive(5, Purpose::Test, &[]);
    let mut text = "a,b,c,d\n".to_owned();
    for _ in 0..20_000 {
        let row: Vec<String> = (0..4)
            .map(|_| rng.random_range(-1.0..1.0_f64).to_string())
            .collect();
        text += &(row.join(",") + "\n");
    }
    scratch.file("many.csv", &text);
    scratch.file(
        "target.csv",
        "a,b,c,d\n0.5,0.2,-0.3,0.1\n-0.1,0.7,0.3,0.4\n",
    );
    for line in [
        "--candidates many.csv --target target.csv",
        "--candidates many.csv --target target.csv --features affine --switch-cost 20",
        "--candidates many.csv --criterion max-eigenvalue --target target.csv",
    ] {
        let [one, two] = ["1", "2"].map(|threads| {
            let text = design_in(scratch.folder(), line, threads).stdout;
            let line = format!("{line} --json");
            let json = Plan::of(&design_in(scratch.folder(), &line, threads)).timeless();
            (text, json.to_string())
        });
        assert!(!one.0.is_empty());
        assert_eq!(one, two, "{line}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let scratch = Scratch::winds();
    // Gone before the command begins: however busy the machine is, nothing is written to somebody who still listens.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = scratch
        .command("design --candidates winds.csv --columns north,east --json")
        .stdout(writer)
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    // Quietly, as other tools end when nobody listens.
    assert_eq!(status.code(), Some(141));
}
