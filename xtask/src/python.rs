//! `cargo xtask bench`, and the Python environment that the benchmarks compare themselves in.
//!
//! The environment lies in `target/bench-venv` and holds numpy, and cvxpy with its solver Clarabel.
//! It is made on first use and kept. One that lacks a package is completed; a broken one (a lost
//! network, an interrupted run) is made anew.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::steps::{Failure, run};
use crate::workspace::Workspace;

/// How the benchmarks are told which Python to compare with.
const INTERPRETER_VARIABLE: &str = "TASKSCOUT_BENCH_PYTHON";

/// What the benchmarks import, by the names that `pip` knows too.
const PACKAGES: [&str; 3] = ["numpy", "cvxpy", "clarabel"];

/// Runs the benchmarks of the library in that environment.
pub(crate) fn bench(workspace: &Workspace) -> Result<(), Failure> {
    let interpreter = environment(workspace)?;
    let mut command = workspace.cargo(&["bench", "--package", "taskscout"]);
    run(command.env(INTERPRETER_VARIABLE, interpreter))
}

/// Makes the environment unless it is there, and returns the path of its interpreter.
///
/// Whatever it has to say goes to standard error, so that standard output is free for the path.
pub(crate) fn environment(workspace: &Workspace) -> Result<PathBuf, Failure> {
    let folder = workspace.target_dir().join("bench-venv");
    let interpreter = interpreter_in(&folder);
    if imports(&interpreter, &PACKAGES) {
        return Ok(interpreter);
    }
    if imports(&interpreter, &["numpy", "pip"]) {
        eprintln!("xtask: completing the Python environment in target/bench-venv");
    } else {
        eprintln!("xtask: making a Python environment in target/bench-venv");
        make(&folder)?;
    }
    install(&interpreter)?;
    if imports(&interpreter, &PACKAGES) {
        return Ok(interpreter);
    }
    Err(
        Failure::new("the Python environment in target/bench-venv does not work")
            .with_remedy("delete it and try again"),
    )
}

/// An empty environment, in place of whatever the folder holds.
fn make(folder: &Path) -> Result<(), Failure> {
    let base = if cfg!(windows) { "python" } else { "python3" };
    let mut make = Command::new(base);
    make.args(["-m", "venv", "--clear"]).arg(folder);
    run(make.stdout(Stdio::null())).map_err(|failure| {
        failure.with_remedy("install Python 3 with its venv module (python3-venv on Debian)")
    })
}

/// Installs the packages that are not there yet.
fn install(interpreter: &Path) -> Result<(), Failure> {
    let mut install = Command::new(interpreter);
    install.args(["-m", "pip", "install", "--quiet"]);
    install.arg("--disable-pip-version-check").args(PACKAGES);
    run(install.stdout(Stdio::null())).map_err(|failure| {
        failure.with_remedy(format!(
            "check the network, or set {INTERPRETER_VARIABLE} to a Python that has {} \
             and run `cargo bench`",
            PACKAGES.join(", ")
        ))
    })
}

/// Where a virtual environment keeps its interpreter.
fn interpreter_in(folder: &Path) -> PathBuf {
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
