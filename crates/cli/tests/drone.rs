//! `taskscout reproduce drone` and worlds of logs, end to end with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use taskscout_io::tables::{Column, Table, write_csv, write_parquet};

/// Rows of every flight, and those of them that may be learnt from.
const ROWS: usize = 100;
const TRAIN: usize = 60;
/// Six flights of two vehicles, three axes each.
const TASKS: usize = 18;
const TARGET: &str = "hawk_figure8_pid_70wind_x";

/// An experiment of two rounds on a folder beside it.
const TOML: &str = r#"
name = "logs"
seeds = 1
strategies = ["aware"]
[world]
kind = "logs"
data = "flights"
targets = ["hawk_figure8_pid_70wind_x"]
phi = "linear"
[learner]
oracle = "pooled"
[target]
samples = 25
[schedule]
rounds = 2
growth = 1.0
first_round = 150
"#;

/// What a small network takes.
const NETWORK: &str = r#"
[learner.network]
hidden = [6]
[learner.neural]
starts = 1
restarts = 0
anneal_steps = 40
max_steps = 4
[target]"#;

struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        let scratch = Self(tempfile::tempdir().unwrap());
        scratch.file("logs.toml", TOML);
        scratch
    }

    /// A folder with flights.
    fn with_flights() -> Self {
        let scratch = Self::new();
        let line =
            format!("simulate flights --out flights --winds nowind,70wind --rows {ROWS} --seed 1");
        scratch.done(&line);
        scratch
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn taskscout(&self, line: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_taskscout"))
            .args(line.split_whitespace())
            .current_dir(self.0.path())
            .output()
            .unwrap()
    }

    /// Runs a command that succeeds, and returns what it said beside its results.
    fn done(&self, line: &str) -> String {
        let output = self.taskscout(line);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{line}: {message}");
        message
    }

    fn refused(&self, line: &str, parts: &[&str]) {
        let output = self.taskscout(line);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {message}");
        assert!(output.stdout.is_empty(), "{line}");
        assert_eq!(message.trim().lines().count(), 1, "one sentence: {message}");
        for part in parts {
            assert!(message.contains(part), "`{part}` in: {message}");
        }
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).unwrap()
    }

    /// A run's rows of results.
    fn results(&self, out: &str) -> Vec<Row> {
        let text = self.text(&format!("{out}/results.csv"));
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next().unwrap().split(',').collect();
        let row = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            let cell = |name: &str| {
                let at = header.iter().position(|known| *known == name).unwrap();
                cells[at].to_owned()
            };
            Row {
                strategy: cell("strategy"),
                target: cell("target"),
                predictor: cell("predictor"),
                seed: cell("seed").parse().unwrap(),
                round: cell("round").parse().unwrap(),
                budget: cell("budget").parse().unwrap(),
                tasks: cell("tasks").parse().unwrap(),
                test_loss: cell("test_loss").parse().ok(),
                returned_loss: cell("returned_loss").parse().unwrap(),
            }
        };
        lines.map(row).collect()
    }

    /// How many rows of each task the trials of a strategy collected, trial by trial.
    fn collected(&self, out: &str, strategy: &str) -> Vec<Vec<(String, f64)>> {
        let rows = self.results(out);
        let mut trials = Vec::new();
        for entry in std::fs::read_dir(self.path(out).join("trials")).unwrap() {
            let file = entry.unwrap().file_name().into_string().unwrap();
            if !file.starts_with(strategy) || !file.ends_with(".json") {
                continue;
            }
            let details = self.json(&format!("{out}/trials/{file}"));
            let own = |row: &&Row| row.strategy == strategy;
            let total = rows.iter().filter(own).map(|row| row.budget).max().unwrap();
            let of = |task: &Value| {
                let name = task["task"].as_str().unwrap().to_owned();
                (name, task["weight"].as_f64().unwrap() * total as f64)
            };
            let tasks = details["targets"][0]["relevant"]["tasks"].as_array();
            trials.push(tasks.unwrap().iter().map(of).collect());
        }
        assert!(!trials.is_empty(), "{strategy}");
        trials
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Row {
    strategy: String,
    target: String,
    predictor: String,
    seed: u64,
    round: usize,
    budget: usize,
    tasks: usize,
    test_loss: Option<f64>,
    returned_loss: f64,
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1e-3), "{a} and {b}");
}

/// Checks a list of relevant tasks, and returns their names.
fn relevant(part: &Value, target: &str, sources: usize) -> Vec<String> {
    let list = part["relevant"].as_array().unwrap();
    assert_eq!(list.len(), sources);
    let number = |one: &Value, key: &str| one[key].as_f64().unwrap();
    let mut weights = 0.0;
    for one in list {
        assert_eq!(one.as_object().unwrap().len(), 3, "{one}");
        assert!((0.0..=1.0 + 1e-9).contains(&number(one, "similarity")));
        assert!((0.0..=1.0).contains(&number(one, "weight")));
        weights += number(one, "weight");
    }
    close(weights, 1.0);
    let falls = |pair: &[Value]| number(&pair[0], "similarity") >= number(&pair[1], "similarity");
    assert!(list.windows(2).all(falls));
    let names: Vec<String> = list
        .iter()
        .map(|one| one["task"].as_str().unwrap().to_owned())
        .collect();
    assert!(!names.contains(&target.to_owned()));
    names
}

/// Checks the explained variances of a target against the results.
fn explained(part: &Value, rows: &[Row], target: &str) {
    let variance = part["variance"].as_f64().unwrap();
    for (strategy, value) in part["explained_variance"].as_object().unwrap() {
        let own = |row: &&Row| row.strategy == *strategy && row.target == target;
        let last = rows.iter().filter(own).map(|row| row.round).max().unwrap();
        let losses: Vec<f64> = rows
            .iter()
            .filter(own)
            .filter(|row| row.round == last)
            .map(|row| row.returned_loss)
            .collect();
        let mean = losses.iter().sum::<f64>() / losses.len() as f64;
        close(value.as_f64().unwrap(), 1.0 - mean / variance);
    }
}

#[test]
fn a_run_says_which_flights_help() {
    let scratch = Scratch::with_flights();
    let line = format!(
        "reproduce drone --data flights --target {TARGET} --n-target 25 --phi linear --seeds 2 --budget-scale 0.03 --out out"
    );
    let output = scratch.taskscout(&line);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    assert!(
        said.contains(&format!("{TARGET}: most like hawk_")),
        "{said}"
    );

    // Recordings have parts of their own: that features do not tell all is no news.
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(!errors.contains("warning"), "{errors}");

    let rows = scratch.results("out");
    assert_eq!(rows.len(), 2 * (1 + 3 * 10));
    for strategy in ["passive", "aware", "discrete-l2"] {
        for seed in 0..2 {
            let own = |row: &&Row| row.strategy == strategy && row.seed == seed;
            let own: Vec<&Row> = rows.iter().filter(own).collect();
            for (round, row) in own.iter().enumerate() {
                // 3 % of 1452 rows a round.
                assert_eq!((row.round, row.budget), (round, 43 * (round + 1)));
                assert!(row.test_loss.unwrap() > 0.0 && row.returned_loss > 0.0);
                assert!(row.tasks < TASKS);
                assert_eq!(row.target, TARGET);
            }
        }
    }
    let alone: Vec<&Row> = rows.iter().filter(|row| row.round == 0).collect();
    let alone: Vec<&&Row> = alone
        .iter()
        .filter(|row| row.strategy == "target-only")
        .collect();
    assert_eq!(alone.len(), 2);
    for row in alone {
        assert_eq!((row.budget, row.tasks, row.test_loss), (0, 0, None));
        assert_eq!(row.predictor, "target-only");
    }

    let summary = scratch.json("out/summary.json");
    assert_eq!(summary["experiment"], "drone");
    assert_eq!(summary["oracle"], "pooled");
    assert_eq!(summary["target"], TARGET);
    assert!(summary.get("targets").is_none());
    let contenders = ["target-only", "passive", "aware", "discrete-l2"];
    for name in contenders {
        assert!(summary["strategies"][name]["returned_loss"]["mean"].is_f64());
        assert!(summary["explained_variance"][name].is_f64(), "{name}");
    }
    explained(&summary, &rows, TARGET);
    let names = relevant(&summary, TARGET, TASKS - 1);
    assert!(
        names[0].starts_with("hawk_") && names[0].ends_with("_x"),
        "{names:?}"
    );
    for file in ["loss.svg", "figures/relevant.svg", "figures/similarity.svg"] {
        assert!(scratch.text(&format!("out/{file}")).contains("<svg"));
    }
    let page = scratch.text("out/report.html");
    for part in ["Most relevant recordings", "Explained variance", &names[9]] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn no_flight_gives_more_rows_than_it_has() {
    let scratch = Scratch::with_flights();
    let other = "wren_random_pid_nowind_z";
    let line = format!(
        "run logs.toml --target {TARGET} --target {other} --strategies passive,aware,discrete-l2"
    );
    let said = scratch.done(&format!("{line} --out some"));
    assert!(!said.contains("used up"), "{said}");
    let all = (TASKS - 1) * TRAIN;
    for (out, budget) in [("some", 300), ("all", all)] {
        if out == "all" {
            let said = scratch.done(&format!("{line} --budget-scale 5 --out all"));
            let note =
                format!("the source tasks have {all} rows in all where the schedule asks for 1500");
            assert_eq!(said.matches(&note).count(), 1, "{said}");
            assert_eq!(scratch.text("all/report.html").matches(&note).count(), 1);
        }
        for strategy in ["passive", "aware", "discrete-l2"] {
            for trial in scratch.collected(out, strategy) {
                let total: f64 = trial.iter().map(|(_, rows)| rows).sum();
                close(total, budget as f64);
                for (task, rows) in &trial {
                    assert!(*rows <= TRAIN as f64 + 1e-6, "{strategy}: {rows} of {task}");
                    close(*rows, rows.round());
                }
            }
        }
    }

    // Each target has a section of its own.
    let summary = scratch.json("some/summary.json");
    let parts = summary["targets"].as_array().unwrap();
    assert!(summary.get("relevant").is_none() && parts.len() == 2);
    let rows = scratch.results("some");
    for (part, target) in parts.iter().zip([TARGET, other]) {
        assert_eq!(part["target"], target);
        let names = relevant(part, target, TASKS - 1);
        assert_eq!(names[0][..4], target[..4], "the same vehicle");
        assert!(part["strategies"].get("target-only").is_some());
        explained(part, &rows, target);
    }
    for file in [
        "loss-t1",
        "figures/relevant-t0",
        "figures/relevant-t1",
        "figures/similarity",
    ] {
        assert!(scratch.path(&format!("some/{file}.svg")).exists(), "{file}");
    }

    // One study for both: neither is a source of the other.
    scratch.done(&format!(
        "run logs.toml --target {TARGET} --target {other} --joint-targets --out joint"
    ));
    let details = scratch.json("joint/trials/aware-0.json");
    for (slot, wrong) in [(0, other), (1, TARGET)] {
        let tasks = details["targets"][slot]["relevant"]["tasks"].as_array();
        let found = tasks.unwrap().iter().find(|task| task["task"] == wrong);
        assert_eq!(found.unwrap()["weight"], 0.0);
    }
}

#[test]
fn jobs_and_interruptions_change_nothing() {
    let scratch = Scratch::with_flights();
    let line = "run logs.toml --strategies passive,aware --seeds 2 --save-models";
    scratch.done(&format!("{line} --jobs 1 --out one"));
    scratch.done(&format!("{line} --jobs 2 --out two"));
    assert_eq!(scratch.results("one"), scratch.results("two"));

    let lost = ["trials/aware-t0-1.json", "trials/aware-t0-1.csv"];
    let kept = ["trials/aware-t0-0.csv", "trials/passive-t0-1.csv"];
    let model = "models/aware-t0-1.safetensors".replace("t0-1", "t0-seed1");
    let read = |file: &str| std::fs::read(scratch.path(&format!("two/{file}"))).unwrap();
    let before = [kept[0], kept[1], lost[0], &model, "figures/relevant.svg"]
        .map(|file| (file.to_owned(), read(file)));
    for file in [
        lost[0],
        lost[1],
        &model,
        "report.html",
        "figures/relevant.svg",
    ] {
        std::fs::remove_file(scratch.path(&format!("two/{file}"))).unwrap();
    }
    let said = scratch.done(&format!("{line} --jobs 2 --out two --resume"));
    assert_eq!(
        said.matches("kept from the run before").count(),
        5,
        "{said}"
    );
    for (file, bytes) in before {
        assert!(read(&file) == bytes, "{file}");
    }
    assert_eq!(scratch.results("one"), scratch.results("two"));
    for file in ["one", "two"].map(|out| format!("{out}/{}", lost[0])) {
        let details = scratch.json(&file);
        assert_eq!(details, scratch.json(&format!("one/{}", lost[0])));
    }
    // A map of all pairs of tasks is drawn from the first seed, so it is there once.
    let pairs = |file: &str| {
        scratch.json(file)["targets"][0]["relevant"]
            .get("pairs")
            .is_some()
    };
    assert!(pairs("one/trials/aware-t0-0.json") && !pairs("one/trials/aware-t0-1.json"));
}

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
            let rows = scratch.results(phi);
            let own = |row: &&Row| row.strategy == strategy;
            let last = rows.iter().rfind(own).unwrap();
            let apart = (loss / last.returned_loss - 1.0).abs();
            assert!(
                apart < 1e-6,
                "{phi} {strategy}: {loss} and {}",
                last.returned_loss
            );
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

#[test]
fn a_run_without_aware_says_whose_relevance_it_is() {
    let scratch = Scratch::with_flights();
    let run = |strategies: &str, out: &str| {
        let line = format!("run logs.toml --strategies {strategies} --out {out}");
        let output = scratch.taskscout(&line);
        assert!(output.status.success(), "{line}");
        String::from_utf8(output.stdout).unwrap()
    };
    let said = run("passive,discrete-l2", "other");
    let words = "means over seeds of passive and discrete-l2, as aware did not run";
    assert!(said.contains(words), "{said}");
    let by = &scratch.json("other/summary.json")["relevant_by"];
    assert_eq!(
        by["strategies"],
        serde_json::json!(["passive", "discrete-l2"])
    );
    assert_eq!(by["trials"], 2);
    let page = scratch.text("other/report.html");
    assert!(page.contains("of passive and discrete-l2, as aware did not run"));
    let said = run("passive,aware", "aware");
    assert!(!said.contains("did not run"), "{said}");
    let by = &scratch.json("aware/summary.json")["relevant_by"];
    assert_eq!(by["strategies"], serde_json::json!(["aware"]));
    assert!(
        scratch
            .text("aware/report.html")
            .contains("Means over seeds of aware.")
    );
}

#[test]
fn a_force_that_does_not_change_is_explained_by_nothing() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("flat")).unwrap();
    for (name, slope) in [("still", 0.0), ("up", 1.0), ("down", -1.0)] {
        let row = |i: i32| format!("{},{}\n", f64::from(i % 7), 0.1 + slope * f64::from(i % 7));
        let rows: String = (0..50).map(row).collect();
        scratch.file(&format!("flat/{name}.csv"), &format!("x,y\n{rows}"));
    }
    let line = "reproduce drone --data flat --target still --inputs x --outputs y --n-target 10 \
                --phi linear --task-features one-hot --oracle exact --seeds 1 --budget-scale 0.01 \
                --strategies passive --out out";
    let output = scratch.taskscout(line);
    let said = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
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
    let scratch = Scratch::new();
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
    assert_eq!(scratch.results("of-csv"), scratch.results("of-parquet"));
    let summary = scratch.json("of-csv/summary.json");
    assert_eq!(relevant(&summary, "ice", 3)[0], "frost");
    assert!(summary["explained_variance"]["aware"].as_f64().unwrap() > 0.9);
}

#[test]
fn what_the_command_cannot_do_it_says() {
    let scratch = Scratch::with_flights();
    std::fs::create_dir(scratch.path("empty")).unwrap();
    let drone = |rest: &str| format!("reproduce drone --out out {rest}");
    let flights = |rest: &str| drone(&format!("--data flights {rest}"));
    scratch.refused(
        &drone(""),
        &["no logs are named", "--data DIR", "simulate flights"],
    );
    scratch.refused(
        &drone("--data nowhere --target a"),
        &["cannot read nowhere"],
    );
    scratch.refused(&drone("--data empty --target a"), &["empty has no logs"]);
    scratch.refused(
        &flights(""),
        &["no target is named", "--target", "hawk_figure8_"],
    );
    scratch.refused(
        &flights("--target hawk_figure8_pid_70wnd_x"),
        &["hawk_figure8_pid_70wnd_x", TARGET],
    );
    let target = format!("--target {TARGET}");
    scratch.refused(
        &flights(&format!("{target} {target}")),
        &[TARGET, "twice: name each once"],
    );
    scratch.refused(
        &flights(&format!("{target} --n-target 61")),
        &[
            "--n-target is 61",
            "hawk_figure8_pid_70wind_x has 60 rows to learn from",
        ],
    );
    scratch.refused(
        &flights(&target),
        &["`target.samples` is 500", "60 rows to learn from"],
    );
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../experiments/bilinear.toml"
    );
    for option in [
        "--phi linear",
        "--data flights",
        "--skip-bad-rows",
        "--inputs a --outputs b",
    ] {
        scratch.refused(
            &format!("run {file} --out out {option}"),
            &[
                option.split(' ').next().unwrap(),
                "is an option of the experiment drone",
            ],
        );
    }
    assert!(!scratch.path("out").exists(), "nothing is left behind");
}

#[test]
fn bad_rows_stop_a_run_unless_they_may_be_left_out() {
    let scratch = Scratch::with_flights();
    let log = "flights/hawk_figure8_pid_nowind.csv";
    let text = scratch.text(log);
    scratch.file(log, &text[..text.len() - 9]);
    let place = format!("line {} of flights/hawk_figure8_pid_nowind.csv", ROWS + 1);
    scratch.refused("run logs.toml --out out", &[&place]);
    let said = scratch.done("run logs.toml --out out --skip-bad-rows");
    assert!(
        said.contains("1 bad rows were left out, the first because"),
        "{said}"
    );
    assert_eq!(
        relevant(&scratch.json("out/summary.json"), TARGET, TASKS - 1).len(),
        17
    );
}

#[test]
fn an_experiment_file_finds_logs_beside_it() {
    let scratch = Scratch::with_flights();
    std::fs::create_dir(scratch.path("elsewhere")).unwrap();
    let check = |folder: &str, line: &str| {
        Command::new(env!("CARGO_BIN_EXE_taskscout"))
            .args(line.split_whitespace())
            .current_dir(scratch.path(folder))
            .output()
            .unwrap()
    };
    assert!(
        check("elsewhere", "run --check ../logs.toml")
            .status
            .success()
    );
    // What the command line names starts from where one stands.
    assert!(
        check("elsewhere", "run --check ../logs.toml --data ../flights")
            .status
            .success()
    );
    let wrong = check("elsewhere", "run --check ../logs.toml --data flights");
    assert_eq!(wrong.status.code(), Some(2));
    // What a file leaves to the command line is no mistake of the file.
    for line in [r#"data = "flights""#, &format!("targets = [\"{TARGET}\"]")] {
        assert!(TOML.contains(line));
        scratch.file("open.toml", &TOML.replace(line, ""));
        let said = scratch.done("run --check open.toml");
        assert!(said.contains("--data DIR and --target NAME"), "{said}");
    }
    for (key, bad, parts) in [
        (
            "phi = \"linear\"",
            "phi = \"cubic\"",
            ["cubic", "quadratic"],
        ),
        (
            "phi = \"linear\"",
            "train_share = 1.5",
            ["`train_share` is 1.5", "between 0 and 1"],
        ),
        (
            "phi = \"linear\"",
            "inputs = [\"a\"]",
            ["`inputs` and `outputs`", "name both"],
        ),
        (
            "phi = \"linear\"",
            "worth = -1.0",
            ["in [world], `worth` is -1", "above 0"],
        ),
        ("phi = \"linear\"", "wind = 3", ["wind", "line 9"]),
    ] {
        scratch.file("bad.toml", &TOML.replace(key, bad));
        scratch.refused("run --check bad.toml", &parts);
    }
}
