//! Folders with flights, and checks of what is said of them.

use serde_json::Value;
use taskscout_report::ResultRow;

use crate::common::{Scratch, names, results};

/// Rows of every flight, and those of them that may be learnt from.
pub(crate) const ROWS: usize = 100;
pub(crate) const TRAIN: usize = 60;
/// Six flights of two vehicles, three axes each.
pub(crate) const TASKS: usize = 18;
pub(crate) const TARGET: &str = "hawk_figure8_pid_70wind_x";

/// An experiment of two rounds on a folder beside it.
pub(crate) const TOML: &str = r#"
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
pub(crate) const NETWORK: &str = r#"
[learner.network]
hidden = [6]
[learner.neural]
starts = 1
restarts = 0
anneal_steps = 40
max_steps = 4
[target]"#;

impl Scratch {
    /// A folder with an experiment on logs.
    pub(crate) fn with_experiment() -> Self {
        let scratch = Self::new();
        scratch.file("logs.toml", TOML);
        scratch
    }

    /// The same with flights.
    pub(crate) fn with_flights() -> Self {
        let scratch = Self::with_experiment();
        scratch.done(&format!(
            "simulate flights --out flights --winds nowind,70wind --rows {ROWS} --seed 1"
        ));
        scratch
    }

    /// How many rows of each task the trials of a strategy collected, trial by trial.
    pub(crate) fn collected(&self, out: &str, strategy: &str) -> Vec<Vec<(String, f64)>> {
        let rows = results(&self.path(out));
        let mut trials = Vec::new();
        for file in names(&self.path(out).join("trials")) {
            if !file.starts_with(strategy) || !file.ends_with(".json") {
                continue;
            }
            let details = self.json(&format!("{out}/trials/{file}"));
            let own = |row: &&ResultRow| row.strategy == strategy;
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

pub(crate) fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1e-3), "{a} and {b}");
}

/// Checks a list of relevant tasks, and returns their names.
pub(crate) fn relevant(part: &Value, target: &str, sources: usize) -> Vec<String> {
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
pub(crate) fn explained(part: &Value, rows: &[ResultRow], target: &str) {
    let variance = part["variance"].as_f64().unwrap();
    for (strategy, value) in part["explained_variance"].as_object().unwrap() {
        let own =
            |row: &&ResultRow| row.strategy == *strategy && row.target.as_deref() == Some(target);
        let last = rows.iter().filter(own).map(|row| row.round).max().unwrap();
        let losses: Vec<f64> = rows
            .iter()
            .filter(own)
            .filter(|row| row.round == last)
            .map(|row| row.returned_loss.unwrap())
            .collect();
        let mean = losses.iter().sum::<f64>() / losses.len() as f64;
        close(value.as_f64().unwrap(), 1.0 - mean / variance);
    }
}
