//! Tables of candidates and of targets: which columns and names are found in them.

use serde_json::Value;
use taskscout_io::tables::{Column, Table, write_parquet};

use crate::common::{Scratch, stderr};
use crate::design::winds::{Plan, WINDS, near, numbers};

#[test]
fn columns_names_and_targets_are_found() {
    let scratch = Scratch::new();
    scratch.file("a.csv", "label,x,y,kind\np,1,0,k\nq,0,1,k\n");
    scratch.file("t.csv", "y,x\n1,1\n");
    let output = scratch.design("--candidates a.csv --target t.csv --json");
    assert!(stderr(&output).contains("text columns are ignored: label, kind"));
    let plan = Plan::of(&output);
    assert_eq!(plan.rows()[0]["name"], Value::Null);
    let named = Plan::of(&scratch.design("--candidates a.csv --target t.csv --json --name label"));
    let mut names = named.names();
    names.sort_unstable();
    assert_eq!(names, ["p", "q"]);
    scratch.file("b.csv", "nr,x,y\n0,1,0\n1,0,1\n2,1,1\n");
    let output = scratch.design("--candidates b.csv --json");
    assert!(stderr(&output).contains("column nr counts the rows"));
    let named = Plan::of(&scratch.design("--candidates b.csv --target t.csv --name nr --json"));
    assert!(
        named
            .rows()
            .iter()
            .all(|task| task["name"].as_str() == Some(&*task["row"].to_string()))
    );
    assert_eq!(named.rows()[0]["task"].as_array().unwrap().len(), 2);
}

#[test]
fn targets_may_be_weighted() {
    let scratch = Scratch::winds();
    scratch.file("target.csv", "north,east,days\n1,0,9\n0,1,1\n");
    let even = scratch.plan("");
    let mostly = scratch.plan("--target-weight days");
    assert!(mostly.n("gale") > even.n("gale"));
    assert!(
        mostly
            .rows()
            .iter()
            .any(|task| task["reason"].as_str().unwrap().contains("target 0"))
    );
}

#[test]
fn features_and_maps_make_embeddings() {
    let scratch = Scratch::winds();
    let affine = scratch.plan("--features affine --budget 100");
    let quadratic = scratch.plan("--features quadratic --budget 100");
    assert!(affine.rows().len() >= 2 && quadratic.number("objective") > 0.0);
    // A map that sees the north wind alone: one task does.
    scratch.file("map.csv", "1,0\n");
    let north = scratch.plan("--map map.csv --budget 100");
    assert_eq!(north.names(), ["gale"]);
    assert!(near(north.number("objective"), (0.6_f64 / 2.0).powi(2)));
    // With a header the order is free.
    scratch.file("named.csv", "east,north\n0,1\n");
    let named = scratch.plan("--map named.csv --budget 100");
    assert_eq!(named.timeless(), north.timeless());
}

#[test]
fn repeated_rows_are_left_out_unless_they_are_logs() {
    let scratch = Scratch::new();
    scratch.file("a.csv", "x,y,left\n1,0,60\n0,1,60\n1,0,60\n0,0,60\n");
    let line = "--candidates a.csv --columns x,y --json --budget 200";
    let output = scratch.design(line);
    let notes = stderr(&output);
    assert!(notes.contains("1 candidate repeats") && notes.contains("row 2, which repeats row 0"));
    assert!(notes.contains("1 candidate has nothing but zeros"));
    let rows = |plan: &Plan| {
        let mut rows: Vec<u64> = plan
            .rows()
            .iter()
            .map(|task| task["row"].as_u64().unwrap())
            .collect();
        rows.sort_unstable();
        rows
    };
    assert_eq!(rows(&Plan::of(&output)), [0, 1]);
    let logs = Plan::of(&scratch.design(&format!("{line} --capacity left")));
    assert_eq!(rows(&logs), [0, 1, 2]);
    // The first is forbidden, so its copy stands in.
    let copy = Plan::of(&scratch.design(&format!("{line} --forbid 0")));
    assert_eq!(rows(&copy), [1, 2]);
    assert_eq!(
        copy.rows()
            .iter()
            .map(|task| numbers(&task["task"]).len())
            .max(),
        Some(2)
    );
}

#[test]
fn parquet_and_tabs_are_read_like_csv() {
    let scratch = Scratch::winds();
    let table = Table::read(scratch.path("winds.csv")).unwrap();
    write_parquet(scratch.path("winds.parquet"), table.columns()).unwrap();
    scratch.file("winds.tsv", &WINDS.replace(',', "\t"));
    let line = "--columns north,east --target target.csv --capacity left --json";
    let plan =
        |file: &str| Plan::of(&scratch.design(&format!("--candidates {file} {line}"))).timeless();
    assert_eq!(plan("winds.csv"), plan("winds.parquet"));
    assert_eq!(plan("winds.csv"), plan("winds.tsv"));
}

#[test]
fn names_that_look_like_numbers_are_names() {
    let scratch = Scratch::new();
    let ids = [
        "1700000000000000001",
        "1700000000000000002",
        "007",
        "7",
        "7.0",
        "#3",
    ];
    let mut text = String::from("id,x,y\n");
    for (row, id) in ids.iter().enumerate() {
        text += &format!("{id},{},{}\n", 1 + row, 7 - row);
    }
    scratch.file("c.csv", &text);
    scratch.file("t.csv", "id,x,y\n12,1,1\n");
    let columns = [
        Column::text("id", ids.map(String::from).to_vec()),
        Column::numbers("x", (1..7).map(f64::from).collect()),
        Column::numbers("y", (1..7).rev().map(f64::from).collect()),
    ];
    write_parquet(scratch.path("c.parquet"), &columns).unwrap();
    for file in ["c.csv", "c.parquet"] {
        for (row, id) in ids.iter().enumerate() {
            let line = format!("--candidates {file} --target t.csv --json --require {id}");
            let plan = Plan::of(&scratch.design(&line));
            let found = plan.rows().iter().find(|task| task["row"] == row).unwrap();
            assert_eq!(found["name"], *id);
            assert_eq!(found["task"].as_array().unwrap().len(), 2);
            let line = format!("--candidates {file} --target t.csv --json --forbid {id}");
            let plan = Plan::of(&scratch.design(&line));
            assert!(plan.rows().iter().all(|task| task["name"] != *id));
        }
    }
    let output = scratch.design("--candidates c.csv --comment # --json");
    assert!(stderr(&output).contains("5 candidates from c.csv"));
}

/// The remedy of the refusal is one that the command takes.
#[test]
fn tasks_that_share_a_name_are_told_apart_by_their_rows() {
    let scratch = Scratch::new();
    scratch.file("t.csv", "x,y\n1,1\n");
    for (name, other) in [("7", "8"), ("calm", "gale")] {
        let rows = format!("id,x,y\n{name},1,0\n{name},0,1\n{other},1,2\n{other},2,1\n");
        scratch.file("c.csv", &rows);
        for option in ["--forbid", "--require"] {
            let line = format!("--candidates c.csv --target t.csv --json {option}");
            let refused = stderr(&scratch.design(&format!("{line} {name}")));
            assert!(refused.contains("row:0 or row:1"), "{refused}");
            let plan = Plan::of(&scratch.design(&format!("{line} row:1")));
            let used = plan.rows().iter().any(|task| task["row"] == 1);
            assert_eq!(used, option == "--require", "{option} {name}");
        }
    }
}
