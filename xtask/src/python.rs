//! `cargo xtask bench`, and the Python environments that benchmarks and tests compare themselves in.
//!
//! Environments lie in the target folder: `bench-venv` holds numpy, cvxpy with its solver
//! Clarabel, PyTorch, pandas, Optuna, rosbags and mcap; `test-venv` holds numpy, onnxruntime, and what the Python package is
//! tested with. They are made on first use and kept. One that lacks a package is completed; a broken one (a lost
//! network, an interrupted run)
//! is made anew.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use crate::steps::{Failure, run};
use crate::workspace::Workspace;

/// An environment: where it lies, what it holds, and how programs are told of it.
#[derive(Debug)]
pub(crate) struct Environment {
    folder: &'static str,
    /// Modules to import, by the names that `pip` knows too unless [`package`] says otherwise.
    packages: &'static [&'static str],
    /// The variable that names its interpreter.
    pub(crate) variable: &'static str,
    /// What to do instead.
    otherwise: &'static str,
}

/// What the benchmarks compare with.
pub(crate) const BENCH: Environment = Environment {
    folder: "bench-venv",
    packages: &[
        "numpy",
        "cvxpy",
        "clarabel",
        "torch",
        "pandas",
        "optuna",
        "psycopg",
        "rosbags",
        "mcap",
        "mcap_ros2",
    ],
    variable: "TASKSCOUT_BENCH_PYTHON",
    otherwise: "run `cargo bench`",
};

/// What the tests compare with.
pub(crate) const TEST: Environment = Environment {
    folder: "test-venv",
    packages: &[
        "numpy",
        "onnxruntime",
        "maturin",
        "pytest",
        "mypy",
        "ruff",
        "pandas",
        "polars",
        "pyarrow",
        "sklearn",
        "tqdm",
        "gymnasium",
        "distributed",
        "gest_api",
        "libensemble",
        "executorlib",
        "submitit",
    ],
    variable: "TASKSCOUT_TEST_PYTHON",
    otherwise: "run `cargo test`",
};

/// Packages of the workspace that have benchmarks.
const BENCHED: [&str; 5] = [
    "taskscout",
    "taskscout-neural",
    "taskscout-logs",
    "taskscout-studies",
    "taskscout-worlds",
];

/// Runs the benchmarks in their environment.
pub(crate) fn bench(workspace: &Workspace) -> Result<(), Failure> {
    let interpreter = BENCH.interpreter(workspace)?;
    let mut command = workspace.cargo(&["bench"]);
    command.args(BENCHED.iter().flat_map(|package| ["--package", package]));
    run(command.env(BENCH.variable, interpreter))
}

/// Measures the figures of the documentation; the script needs Python's standard library alone.
pub(crate) fn figures(workspace: &Workspace, arguments: &[String]) -> Result<(), Failure> {
    let mut command = Command::new("python3");
    command.arg(workspace.root().join("xtask/figures.py"));
    run(command.args(arguments))
}

impl Environment {
    /// Makes the environment unless it is there, and returns the path of its interpreter.
    ///
    /// Whatever it has to say goes to standard error, so that standard output is free for the path.
    /// One thread at a time; a second one finds it made.
    pub(crate) fn interpreter(&self, workspace: &Workspace) -> Result<PathBuf, Failure> {
        static ALONE: Mutex<()> = Mutex::new(());
        let _alone = ALONE.lock();
        let folder = workspace.target_dir().join(self.folder);
        let interpreter = interpreter_in(&folder);
        if imports(&interpreter, self.packages) {
            return Ok(interpreter);
        }
        let place = format!("the Python environment in target/{}", self.folder);
        if imports(&interpreter, &["numpy", "pip"]) {
            eprintln!("xtask: completing {place}");
        } else {
            eprintln!("xtask: making {place}");
            make(&folder)?;
        }
        self.install(&interpreter)?;
        if imports(&interpreter, self.packages) {
            return Ok(interpreter);
        }
        Err(Failure::new(format!("{place} does not work")).with_remedy("delete it and try again"))
    }

    /// The interpreter that the variable names, or that of the environment; else why there is none.
    pub(crate) fn given_or_made(&self, workspace: &Workspace) -> Result<PathBuf, String> {
        match std::env::var_os(self.variable) {
            Some(given) => Ok(PathBuf::from(given)),
            None => self
                .interpreter(workspace)
                .map_err(|failure| failure.to_string().replace('\n', ";")),
        }
    }

    /// Installs the packages that are not there yet.
    fn install(&self, interpreter: &Path) -> Result<(), Failure> {
        let mut install = Command::new(interpreter);
        install.args(["-m", "pip", "install", "--quiet"]);
        install
            .arg("--disable-pip-version-check")
            .args(self.packages.iter().map(|module| package(module)));
        run(install.stdout(Stdio::null())).map_err(|failure| {
            failure.with_remedy(format!(
                "check the network, or set {} to a Python that has {} and {}",
                self.variable,
                self.packages.join(", "),
                self.otherwise
            ))
        })
    }
}

/// The package that has a module.
fn package(module: &str) -> &str {
    match module {
        "sklearn" => "scikit-learn",
        "gest_api" => "gest-api",
        "mcap_ros2" => "mcap-ros2-support",
        other => other,
    }
}

/// An empty environment, in place of whatever the folder holds.
pub(crate) fn make(folder: &Path) -> Result<(), Failure> {
    let base = if cfg!(windows) { "python" } else { "python3" };
    let mut make = Command::new(base);
    make.args(["-m", "venv", "--clear"]).arg(folder);
    run(make.stdout(Stdio::null())).map_err(|failure| {
        failure.with_remedy("install Python 3 with its venv module (python3-venv on Debian)")
    })
}

/// Where a virtual environment keeps its interpreter.
pub(crate) fn interpreter_in(folder: &Path) -> PathBuf {
    if cfg!(windows) {
        folder.join("Scripts").join("python.exe")
    } else {
        folder.join("bin").join("python")
    }
}

/// Whether a Python is there and has these modules.
fn imports(interpreter: &Path, modules: &[&str]) -> bool {
    Command::new(interpreter)
        .args(["-c", &format!("import {}", modules.join(", "))])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_that_does_not_exist_imports_nothing() {
        let interpreter = interpreter_in(Path::new("no/such/folder"));
        assert!(!imports(&interpreter, &["sys"]));
    }
}
