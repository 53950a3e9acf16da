//! `taskscout design`, end to end with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use faer::Mat;
use rand::RngExt as _;
use serde_json::Value;
use taskscout::data::Samples;
use taskscout::design::Criterion;
use taskscout::features::FeatureMap;
use taskscout::rng::{Purpose, derive};
use taskscout::space::Space;
use taskscout::strategy::{StrategyConfig, StrategyKind};
use taskscout::study::{Study, StudyConfig};
use taskscout::target::Target;
use taskscout_tables::{Column, Table, write_parquet};

/// Nine winds around the compass, one of them twice as strong.
const WINDS: &str = "\
name,north,east,minutes,left
n,1,0,1,100
ne,0.7,0.7,1,30
e,0,1,2,
se,-0.7,0.7,1,10
s,-1,0,1,100
sw,-0.7,-0.7,3,40
w,0,-1,1,0
nw,0.7,-0.7,1,50
gale,2,0.5,4,20
";
const TARGET: &str = "east,remark,north\n0.5,warm,0.6\n";

struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with the winds and the target.
    fn winds() -> Self {
        let scratch = Self::new();
        scratch.file("winds.csv", WINDS);
        scratch.file("target.csv", TARGET);
        scratch
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Runs `taskscout design` in the folder.
    fn design(&self, line: &str) -> Output {
        design_in(self.0.path(), line, "2")
    }

    /// The JSON of a plan over the winds.
    fn plan(&self, line: &str) -> Plan {
        let line = format!(
            "--candidates winds.csv --columns north,east --target target.csv --json {line}"
        );
        Plan::of(&self.design(&line))
    }

    /// The one sentence of a refusal.
    fn refused(&self, line: &str, parts: &[&str]) {
        let output = self.design(line);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {message}");
        assert!(output.stdout.is_empty(), "{line}");
        assert_eq!(message.trim().lines().count(), 1, "one sentence: {message}");
        for part in parts {
            assert!(message.contains(part), "`{part}` in: {message}");
        }
    }
}

fn design_in(folder: &Path, line: &str, threads: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_taskscout"))
        .arg("design")
        .args(line.split_whitespace())
        .env("RAYON_NUM_THREADS", threads)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

struct Plan(Value);

impl Plan {
    fn of(output: &Output) -> Self {
        assert!(output.status.success(), "{}", stderr(output));
        Self(serde_json::from_slice(&output.stdout).unwrap())
    }

    fn number(&self, key: &str) -> f64 {
        self.0[key].as_f64().unwrap()
    }

    fn rows(&self) -> &[Value] {
        self.0["plan"].as_array().unwrap()
    }

    fn names(&self) -> Vec<&str> {
        self.rows()
            .iter()
            .map(|task| task["name"].as_str().unwrap())
            .collect()
    }

    fn n(&self, name: &str) -> u64 {
        let task = self.rows().iter().find(|task| task["name"] == name);
        task.map_or(0, |task| task["n"].as_u64().unwrap())
    }

    fn samples(&self) -> u64 {
        self.rows()
            .iter()
            .map(|task| task["n"].as_u64().unwrap())
            .sum()
    }

    /// `Σ value c cᵀ` of the tasks themselves.
    fn sum(&self, value: impl Fn(&Value) -> f64) -> Mat<f64> {
        let mut sum = Mat::zeros(2, 2);
        for task in self.rows() {
            let c: Vec<f64> = numbers(&task["task"]);
            for i in 0..2 {
                (0..2).for_each(|j| sum[(i, j)] += value(task) * c[i] * c[j]);
            }
        }
        sum
    }

    /// Without the one number that depends on the clock.
    fn timeless(mut self) -> Value {
        self.0["solve_s"] = Value::Null;
        self.0
    }
}

fn numbers(values: &Value) -> Vec<f64> {
    let values = values.as_array().unwrap();
    values.iter().map(|value| value.as_f64().unwrap()).collect()
}

fn near(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * right.abs()
}

/// Up to the tasks whose share is too small for a single sample, which a plan does not list.
fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-4 * right.abs()
}

/// `A` of the one target of these tests.
fn need() -> Mat<f64> {
    faer::mat![[0.36, 0.3], [0.3, 0.25]]
}

fn trace(information: &Mat<f64>) -> f64 {
    let need = need();
    Criterion::Trace
        .value(information.as_ref(), need.as_ref())
        .unwrap()
}

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
    let text = String::from_utf8(output.stdout).unwrap();
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
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(notes.contains("9 candidates from winds.csv, parameters north, east"));
    let agnostic = scratch.design("--candidates winds.csv --columns north,east");
    assert!(stderr(&agnostic).contains("no --target"));
    assert!(
        String::from_utf8(agnostic.stdout)
            .unwrap()
            .contains("covers")
    );
}

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
fn what_is_given_counts() {
    let scratch = Scratch::winds();
    scratch.file("given.csv", "samples,north,east\n500,2,0.5\n0,9,9\n");
    let before = scratch.plan("--budget 100");
    let after = scratch.plan("--budget 100 --given given.csv --given-count samples");
    assert!(after.number("objective") < 0.5 * before.number("objective"));
    let mut information = after.sum(|task| 100.0 * task["weight"].as_f64().unwrap());
    let given = [2.0, 0.5];
    for i in 0..2 {
        (0..2).for_each(|j| information[(i, j)] += 500.0 * given[i] * given[j]);
    }
    assert!(close(
        after.number("objective"),
        100.0 * trace(&information)
    ));
    assert!(after.n("gale") < before.n("gale"));
}

#[test]
fn costs_and_switches_change_the_plan() {
    let scratch = Scratch::winds();
    let plan = scratch.plan("--cost minutes --budget 200");
    let cost = |task: &Value| {
        let row = usize::try_from(task["row"].as_u64().unwrap()).unwrap();
        let line = WINDS.lines().nth(row + 1).unwrap();
        line.split(',').nth(3).unwrap().parse::<f64>().unwrap()
    };
    let per_cost = plan.sum(|task| task["weight"].as_f64().unwrap() / cost(task));
    assert!(close(plan.number("objective"), trace(&per_cost)));
    let paid: f64 = plan
        .rows()
        .iter()
        .map(|task| task["n"].as_f64().unwrap() * cost(task))
        .sum();
    assert!(near(plan.number("spent"), paid) && paid <= 200.0);
    let free = scratch.plan("--budget 200");
    assert!(plan.n("gale") < free.n("gale"), "it costs most");
    let switched = scratch.plan("--budget 200 --switch-cost 60");
    assert!(switched.rows().len() <= 2);
    let tasks = switched.rows().len() as f64;
    assert!(near(
        switched.number("spent"),
        switched.samples() as f64 + 60.0 * tasks
    ));
    assert!(
        switched.number("gap") > 1e-4,
        "the bound knows of one switch only"
    );
}

#[test]
fn tasks_can_be_limited() {
    let scratch = Scratch::winds();
    let free = scratch.plan("--budget 150");
    assert!(free.n("gale") > 20);
    let limited = scratch.plan("--budget 150 --capacity left");
    assert_eq!((limited.n("gale"), limited.n("w")), (20, 0));
    assert!(limited.number("objective") > free.number("objective"));
    let few = scratch.plan("--budget 150 --max-tasks 2 --capacity left");
    assert_eq!(few.rows().len(), 2);
    let least = scratch.plan("--budget 150 --min-samples 40 --require se");
    assert!(
        least
            .rows()
            .iter()
            .all(|task| task["n"].as_u64().unwrap() >= 40)
    );
    // All that is left in all logs but those without a limit.
    let everything = scratch.design(
        "--candidates winds.csv --columns north,east --target target.csv --capacity left --forbid e --budget 1000",
    );
    let text = String::from_utf8(everything.stdout).unwrap();
    assert!(
        text.contains("350 of 1000 samples") && text.contains("left over    650"),
        "{text}"
    );
}

#[test]
fn tasks_can_be_required_and_forbidden() {
    let scratch = Scratch::winds();
    let free = scratch.plan("--budget 100");
    assert_eq!((free.n("se"), free.n("gale") > 0), (0, true));
    let plan = scratch.plan("--budget 100 --require se --require 1 --forbid gale --min-samples 5");
    assert!(plan.n("se") >= 5 && plan.n("ne") >= 5 && plan.n("gale") == 0);
    let reason = plan
        .rows()
        .iter()
        .find(|task| task["name"] == "se")
        .unwrap();
    assert!(reason["reason"].as_str().unwrap().starts_with("required; "));
    assert!(plan.number("objective") > free.number("objective"));
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
fn spaces_are_searched() {
    let scratch = Scratch::new();
    scratch.file(
        "box.toml",
        "columns = [\"speed\", \"yaw\"]\n\n[space]\nkind = \"box\"\nlow = [0, -1]\nhigh = [12, 1]\n",
    );
    scratch.file("target.csv", "yaw,speed\n0.2,7\n");
    let line = "--space box.toml --target target.csv --json";
    let exact = Plan::of(&scratch.design(line));
    assert!(exact.number("gap") <= 1e-3);
    assert_eq!(exact.rows()[0]["row"], Value::Null);
    assert!(near(exact.rows()[0]["task"][0].as_f64().unwrap(), 12.0));
    let searched = Plan::of(&scratch.design(&format!("{line} --features quadratic --seed 3")));
    assert_eq!(
        (&searched.0["lower_bound"], &searched.0["gap"]),
        (&Value::Null, &Value::Null)
    );
    let text = scratch.design("--space box.toml --features quadratic");
    assert!(
        String::from_utf8(text.stdout)
            .unwrap()
            .contains("no bound is claimed")
    );
    // Without names, the order of the columns counts.
    scratch.file(
        "ball.toml",
        "space = { kind = \"ball\", dim = 2, radius = 2.0 }\n",
    );
    let ball = Plan::of(&scratch.design("--space ball.toml --target target.csv --json"));
    assert!((ball.number("objective") - (7.0_f64.powi(2) + 0.04) / 4.0).abs() < 0.01);
}

/// A study that has learnt that only `north − east` matters.
fn study() -> Study {
    let mut study = Study::new(StudyConfig {
        k: Some(1),
        ..StudyConfig::new(
            Space::ball(2, 1.0).unwrap(),
            FeatureMap::identity(3).unwrap(),
            vec![Target::known("tomorrow", vec![0.6, 0.5])],
            StrategyConfig::new(StrategyKind::Passive),
        )
        .unwrap()
    })
    .unwrap();
    let mut rng = derive(1, Purpose::Test, &[]);
    let plan = study.ask(200).unwrap();
    for item in &plan.items {
        let c = item.task[0] - item.task[1];
        let x: Vec<f64> = (0..3 * item.n)
            .map(|_| rng.random_range(-1.0..1.0))
            .collect();
        let y = x
            .chunks(3)
            .map(|x| c * (x[0] - 2.0 * x[1]) + 0.01 * rng.random_range(-1.0..1.0))
            .collect();
        study
            .tell(item.id, &Samples::new(x, 3, y, 1).unwrap())
            .unwrap();
    }
    study
}

#[test]
fn a_study_brings_its_map_its_need_and_its_data() {
    let scratch = Scratch::winds();
    scratch.file("study.json", &serde_json::to_string(&study()).unwrap());
    let line = "--study study.json --candidates winds.csv --columns north,east --json";
    let plan = Plan::of(&scratch.design(line));
    // The winds along (1, −1) alone.
    assert_eq!(plan.names(), ["gale"], "gale has 1.5, nw only 1.4");
    assert!(plan.rows()[0]["similarity"].as_f64().unwrap() > 0.999);
    assert_eq!(plan.rows()[0]["reason"], "serves tomorrow (cosine 1.00)");
    let other = Plan::of(&scratch.design(&format!("{line} --target target.csv")));
    assert_eq!(other.names(), ["gale"]);
    let space = Plan::of(&scratch.design("--study study.json --json"));
    let task = numbers(&space.rows()[0]["task"]);
    assert!((task[0] + task[1]).abs() < 0.05, "{task:?}");
    // With the 200 samples that the study has, the objective is below that of 1000 alone.
    let c: f64 = 2.0 - 0.5;
    let alone = (0.6_f64 - 0.5).powi(2) / (c * c);
    assert!(plan.number("objective") < alone && plan.number("objective") > 0.5 * alone);
    let twice = scratch.design(&format!("{line} --features affine"));
    assert_eq!(twice.status.code(), Some(2));
    assert!(stderr(&twice).contains("cannot be used with"));
}

#[test]
fn errors_are_one_sentence_with_place_and_remedy() {
    let scratch = Scratch::winds();
    let base = "--candidates winds.csv --columns north,east --target target.csv";
    scratch.refused("", &["--candidates FILE, --space FILE.toml or --study"]);
    scratch.refused(
        "--candidates none.csv",
        &["cannot read none.csv", "check the spelling"],
    );
    scratch.refused(
        "--candidates winds.csv --target target.csv",
        &["line 4 of winds.csv, column left, is empty", "--columns"],
    );
    scratch.refused(
        "--candidates winds.csv --columns north,east,minutes --target target.csv",
        &["target.csv has no column `minutes`", "--columns"],
    );
    scratch.refused(&format!("{base} --require nne"), &["did you mean `ne`?"]);
    scratch.refused(&format!("{base} --forbid 9"), &["rows 0 to 8"]);
    scratch.refused(
        &format!("{base} --require n --forbid n"),
        &["line 2 of winds.csv"],
    );
    scratch.refused(
        &format!("{base} --capacity left --require w"),
        &["line 8", "0 samples left"],
    );
    scratch.refused(
        &format!("{base} --cost minuets"),
        &["did you mean `minutes`?"],
    );
    scratch.refused(
        &format!("{base} --cost north"),
        &["line 4", "must be positive"],
    );
    scratch.refused(
        &format!("{base} --capacity north"),
        &["line 3", "is 0.7", "whole number"],
    );
    scratch.refused(&format!("{base} --budget 0"), &["--budget is 0"]);
    scratch.refused(&format!("{base} --tolerance 3"), &["--tolerance is 3"]);
    scratch.refused(
        &format!("{base} --switch-cost 600"),
        &["--budget 1000 does not pay", "raise it"],
    );
    scratch.refused(
        &format!("{base} --study none.json"),
        &["cannot read none.json"],
    );
    scratch.file("map.csv", "1,0,0\n");
    scratch.refused(
        &format!("{base} --map map.csv"),
        &["map.csv has 3 columns", "(north, east)"],
    );
    scratch.file("study.json", "{}");
    scratch.refused("--study study.json", &["study.json is no saved study"]);
    scratch.file("text.csv", "name,kind\na,b\n");
    scratch.refused(
        "--candidates text.csv",
        &["text.csv has no column of numbers"],
    );
    scratch.file("nan.csv", "x\n1\nnan\n");
    scratch.refused(
        "--candidates nan.csv",
        &["line 3 of nan.csv, column x, is nan"],
    );
    scratch.file("none.csv", "north,east\n");
    let empty = "--candidates winds.csv --columns north,east --target none.csv";
    scratch.refused(empty, &["none.csv has a header but no rows"]);
    scratch.file("space.toml", "\nspace = { kind = \"blob\" }\n");
    scratch.refused(
        "--space space.toml",
        &["space.toml, line 2, column", "unknown variant"],
    );
    scratch.file(
        "ball.toml",
        "space = { kind = \"ball\", dim = 2, radius = 2.0 }\n",
    );
    for option in [
        "--require n",
        "--forbid 1",
        "--cost minutes",
        "--capacity left",
        "--name x",
    ] {
        let name = option.split(' ').next().unwrap();
        scratch.refused(
            &format!("--space ball.toml {option}"),
            &[&format!("{name} needs --candidates")],
        );
    }
    scratch.file(
        "both.toml",
        "space = { kind = \"ball\", dim = 2, radius = 2.0 }\ntask_features = { kind = \"identity\", dim = 2 }\n",
    );
    scratch.refused(
        "--space both.toml --features affine",
        &["leave one of them out"],
    );
    let all: String = (0..9).map(|row| format!(" --forbid {row}")).collect();
    scratch.refused(
        &format!("{base}{all}"),
        &["the tasks of winds.csv are all forbidden"],
    );
}

#[test]
fn what_is_out_of_reach_is_named_by_columns() {
    let scratch = Scratch::new();
    scratch.file("flat.csv", "speed,angle\n1,1\n2,2\n3,3\n");
    scratch.file("target.csv", "speed,angle\n1,0\n");
    scratch.refused(
        "--candidates flat.csv --target target.csv",
        &["out of reach", "span 1 of 2", "·speed", "·angle"],
    );
    scratch.refused(
        "--candidates flat.csv --target target.csv --features quadratic",
        &["only 3", "span 3 of 6", "·speed²"],
    );
    scratch.file("big.csv", "speed,angle\n1,1\n1e200,2\n");
    scratch.refused(
        "--candidates big.csv --features quadratic",
        &["speed² of row 1 of big.csv is too large"],
    );
    scratch.file("winds.csv", WINDS);
    scratch.file("north.csv", "north,east\n0.3,0.8\n");
    scratch.refused(
        "--candidates winds.csv --columns north,east --target north.csv --max-tasks 1",
        &["--max-tasks 1", "at least 2, so raise it to 2"],
    );
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
    scratch.refused(
        &format!("{base} --out plans/today"),
        &["plan.csv is there already", "--force"],
    );
    let again = scratch.design(&format!("{base} --out plans/today --force"));
    assert!(again.status.success());
    let prefixed = scratch.design(&format!("{base} --out plans/monday-"));
    assert!(prefixed.status.success(), "{}", stderr(&prefixed));
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
    assert!(output.status.success(), "{}", stderr(&output));
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
            let text = design_in(scratch.0.path(), line, threads).stdout;
            let line = format!("{line} --json");
            let json = Plan::of(&design_in(scratch.0.path(), &line, threads)).timeless();
            (text, json.to_string())
        });
        assert!(!one.0.is_empty());
        assert_eq!(one, two, "{line}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let scratch = Scratch::winds();
    let mut child = Command::new(env!("CARGO_BIN_EXE_taskscout"))
        .args([
            "design",
            "--candidates",
            "winds.csv",
            "--columns",
            "north,east",
            "--json",
        ])
        .current_dir(scratch.0.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    // Quietly, as other tools end when nobody listens.
    assert_eq!(child.wait().unwrap().code(), Some(141));
}

/// Every command of the page works in the example's folder, and prints what the page shows.
#[test]
fn the_commands_of_the_page_run_as_shown() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/campaigns.md")).unwrap();
    let scratch = Scratch::new();
    // TASKSCOUT_WRITE_EXAMPLES=1 writes the study's file and the outputs of the page again.
    let write = std::env::var_os("TASKSCOUT_WRITE_EXAMPLES").is_some();
    let mut rewritten = page.clone();
    if write {
        let text = serde_json::to_string(&tunnel_study()).unwrap() + "\n";
        std::fs::write(root.join("examples/wind-tunnel/study.json"), text).unwrap();
    }
    for entry in std::fs::read_dir(root.join("examples/wind-tunnel")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(
            &path,
            scratch.path(&path.file_name().unwrap().to_string_lossy()),
        )
        .unwrap();
    }
    let mut commands = 0;
    for block in page.split("```text\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let Some(rest) = block.strip_prefix("$ taskscout design ") else {
            continue;
        };
        let (mut line, mut shown) = rest.split_once('\n').unwrap();
        let mut whole = String::new();
        while let Some(start) = line.strip_suffix('\\') {
            whole += start;
            (line, shown) = shown.split_once('\n').unwrap();
        }
        whole += line;
        let output = scratch.design(&whole);
        assert!(output.status.success(), "{whole}: {}", stderr(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        if write {
            rewritten = rewritten.replace(shown.trim_end(), text.trim_end());
        } else {
            assert_eq!(text.trim_end(), shown.trim_end(), "{whole}");
        }
        commands += 1;
    }
    assert!(commands >= 7, "{commands}");
    if write {
        std::fs::write(root.join("docs/campaigns.md"), rewritten).unwrap();
    }
}

/// The study of the page: what it learns is that a drone in the tunnel feels two mixtures of winds.
fn tunnel_study() -> Study {
    let mut study = Study::new(StudyConfig {
        k: Some(2),
        ..StudyConfig::new(
            Space::boxed(vec![-12.0, -12.0, -2.0, 0.0], vec![12.0, 12.0, 2.0, 4.0]).unwrap(),
            FeatureMap::identity(3).unwrap(),
            vec![Target::known("tomorrow", vec![6.2, 3.1, -0.4, 1.1])],
            StrategyConfig::new(StrategyKind::Passive),
        )
        .unwrap()
    })
    .unwrap();
    let mut rng = derive(2, Purpose::Test, &[]);
    let plan = study.ask(400).unwrap();
    for item in &plan.items {
        let w = &item.task;
        let (a, b) = (w[0] + 0.5 * w[3], w[1] - w[2]);
        let x: Vec<f64> = (0..3 * item.n)
            .map(|_| rng.random_range(-1.0..1.0))
            .collect();
        let y = x
            .chunks(3)
            .map(|x| a * (x[0] - x[1]) + b * x[2] + 0.1 * rng.random_range(-1.0..1.0))
            .collect();
        study
            .tell(item.id, &Samples::new(x, 3, y, 1).unwrap())
            .unwrap();
    }
    study
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
    write_parquet(scratch.0.path().join("c.parquet"), &columns).unwrap();
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
