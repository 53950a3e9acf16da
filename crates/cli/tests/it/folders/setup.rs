//! Folders with a run of tables or of a program, and ways to start it.

use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Scratch, refused, succeeded};

const TABLES: &str = r#"
name = "tables"
seeds = 1
strategies = ["passive"]
[world]
kind = "logs"
data = "logs"
inputs = ["x0", "x1"]
outputs = ["y"]
targets = ["c"]
phi = "linear"
task_features = "one-hot"
[learner]
oracle = "exact"
[target]
samples = 10
[schedule]
rounds = 2
growth = 1.0
first_round = 30
"#;

/// Answers from the seed alone; what it does besides is `EXTRA`, and `SLOW` is a wait.
const SHELL: &str = r#"
EXTRA
while read -r line; do
  SLOW
  echo "$line" | awk '
    { match($0, /"count":[0-9]+/); n = substr($0, RSTART + 8, RLENGTH - 8) + 0
      a = 0.5; b = -0.5
      if (match($0, /"task":\[[^]]*\]/)) {
        split(substr($0, RSTART + 8, RLENGTH - 9), w, ","); a = w[1]; b = w[2] }
      match($0, /"seed":[0-9]+/); srand(substr($0, RSTART + 7, RLENGTH - 7) % 100003)
      for (i = 0; i < n; i++) {
        p = rand() - 0.5; q = rand() - 0.5
        printf "{\"x\": [%.6f, %.6f], \"y\": %.6f, \"error\": null}\n", p, q, 2 * p * a + q * b } }'
done
"#;

pub(crate) const PROGRAM: &str = r#"
name = "shell"
seeds = 1
strategies = ["passive"]
[source]
command = ["sh", "sim.sh", "--speed=speed.txt"]
timeout_s = 20
input_features = { kind = "identity", dim = 2 }
space = { kind = "box", low = [-1.0, -1.0], high = [1.0, 1.0] }
test_rows = 30
[[source.targets]]
name = "known"
task = [0.3, -0.2]
[learner]
k = 2
[target]
samples = 12
[schedule]
rounds = 2
growth = 1.0
first_round = 20
"#;

impl Scratch {
    pub(crate) fn tables() -> Self {
        let scratch = Self::new();
        for (name, slope) in [("a", 1.0), ("b", -1.0), ("c", 0.5)] {
            scratch.slope_table(name, slope);
        }
        scratch.file("run.toml", TABLES);
        scratch
    }

    pub(crate) fn with_program(extra: &str, slow: &str) -> Self {
        let scratch = Self::new();
        let script = SHELL.replace("EXTRA", extra).replace("SLOW", slow);
        scratch.file("sim.sh", &script);
        scratch.file("speed.txt", "3");
        scratch.file("run.toml", PROGRAM);
        scratch
    }

    pub(crate) fn slope_table(&self, name: &str, slope: f64) {
        let mut text = "x0,x1,y\n".to_owned();
        for row in 0..60_u32 {
            let (x, z) = (f64::from(row).sin(), f64::from(3 * row).cos());
            text += &format!(
                "{x},{z},{}\n",
                slope * x + 0.3 * z + 0.01 * f64::from(row % 7)
            );
        }
        self.file(&format!("logs/{name}.csv"), &text);
    }

    /// The command that runs `run.toml`.
    pub(crate) fn running(&self, options: &[&str]) -> Command {
        let mut command = self.command("run run.toml --out out");
        command.args(options);
        command
    }

    pub(crate) fn run_again(&self, options: &[&str]) -> Output {
        self.running(options).output().unwrap()
    }

    pub(crate) fn start(&self, options: &[&str]) -> Child {
        let mut command = self.running(options);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Runs and expects success; what it said on standard error.
    pub(crate) fn run_well(&self, options: &[&str]) -> String {
        succeeded(&self.run_again(options))
    }

    /// Runs and expects one sentence of refusal with these parts.
    pub(crate) fn run_refused(&self, options: &[&str], parts: &[&str]) {
        refused(&self.run_again(options), parts);
    }

    pub(crate) fn wait_for(&self, name: &str) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !self.path(name).exists() {
            assert!(Instant::now() < deadline, "{name} does not appear");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Every file below a folder.
    pub(crate) fn files(&self, name: &str) -> Vec<String> {
        let mut files = Vec::new();
        let mut folders = vec![self.path(name)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let path = path.strip_prefix(self.path(name)).unwrap();
                    files.push(path.display().to_string());
                }
            }
        }
        files.sort();
        files
    }
}
