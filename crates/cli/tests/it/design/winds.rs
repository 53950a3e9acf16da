//! Plans as JSON, and the few winds that most tests plan over.

use std::path::Path;
use std::process::Output;

use faer::Mat;
use serde_json::Value;
use taskscout::design::Criterion;

use crate::common::{Scratch, binary, refused, succeeded};

/// Nine winds around the compass, one of them twice as strong.
pub(crate) const WINDS: &str = "\
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
pub(crate) const TARGET: &str = "east,remark,north\n0.5,warm,0.6\n";

impl Scratch {
    /// A folder with the winds and the target.
    pub(crate) fn winds() -> Self {
        let scratch = Self::new();
        scratch.file("winds.csv", WINDS);
        scratch.file("target.csv", TARGET);
        scratch
    }

    /// Runs `taskscout design` in the folder.
    pub(crate) fn design(&self, line: &str) -> Output {
        design_in(self.folder(), line, "2")
    }

    /// The JSON of a plan over the winds.
    pub(crate) fn plan(&self, line: &str) -> Plan {
        let line = format!(
            "--candidates winds.csv --columns north,east --target target.csv --json {line}"
        );
        Plan::of(&self.design(&line))
    }

    /// Checks the one sentence of a refusal.
    pub(crate) fn design_refused(&self, line: &str, parts: &[&str]) {
        refused(&self.design(line), parts);
    }
}

pub(crate) fn design_in(folder: &Path, line: &str, threads: &str) -> Output {
    let mut command = binary();
    command.arg("design").args(line.split_whitespace());
    command.env("RAYON_NUM_THREADS", threads);
    command.current_dir(folder).output().unwrap()
}

pub(crate) struct Plan(pub(crate) Value);

impl Plan {
    pub(crate) fn of(output: &Output) -> Self {
        succeeded(output);
        Self(serde_json::from_slice(&output.stdout).unwrap())
    }

    pub(crate) fn number(&self, key: &str) -> f64 {
        self.0[key].as_f64().unwrap()
    }

    pub(crate) fn rows(&self) -> &[Value] {
        self.0["plan"].as_array().unwrap()
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.rows()
            .iter()
            .map(|task| task["name"].as_str().unwrap())
            .collect()
    }

    pub(crate) fn n(&self, name: &str) -> u64 {
        let task = self.rows().iter().find(|task| task["name"] == name);
        task.map_or(0, |task| task["n"].as_u64().unwrap())
    }

    pub(crate) fn samples(&self) -> u64 {
        self.rows()
            .iter()
            .map(|task| task["n"].as_u64().unwrap())
            .sum()
    }

    /// `Σ value c cᵀ` of the tasks themselves.
    pub(crate) fn sum(&self, value: impl Fn(&Value) -> f64) -> Mat<f64> {
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
    pub(crate) fn timeless(mut self) -> Value {
        self.0["solve_s"] = Value::Null;
        self.0
    }
}

pub(crate) fn numbers(values: &Value) -> Vec<f64> {
    let values = values.as_array().unwrap();
    values.iter().map(|value| value.as_f64().unwrap()).collect()
}

pub(crate) fn near(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * right.abs()
}

/// Up to the tasks whose share is too small for a single sample, which a plan does not list.
pub(crate) fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-4 * right.abs()
}

/// `A` of the one target of these tests.
pub(crate) fn need() -> Mat<f64> {
    faer::mat![[0.36, 0.3], [0.3, 0.25]]
}

pub(crate) fn trace(information: &Mat<f64>) -> f64 {
    let need = need();
    Criterion::Trace
        .value(information.as_ref(), need.as_ref())
        .unwrap()
}
