//! `cargo xtask bench`, and the Python environment that the benchmarks compare themselves in.
//!
//! The environment lies in `target/bench-venv` and holds numpy, nothing else. It is made on first
//! use and kept; a half-made one (a lost network, an interrupted run) is made anew.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::steps::{Failure, run};
use crate::workspace::Workspace;

/// How the benchmarks are told which Python to compare with.
const INTERPRETER_VARIABLE: &str = "TASKSCOUT_BENCH_PYTHON";

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
    if has_numpy(&interpreter) {
        return Ok(interpreter);
    }
    eprintln!("xtask: making a Python environment with numpy in target/bench-venv");
    let base = if cfg!(windows) { "python" } else { "python3" };
    let mut make = Command::new(base);
    make.args(["-m", "venv", "--clear"]).arg(&folder);
    run(make.stdout(Stdio::null())).map_err(|failure| {
        failure.with_remedy("install Python 3 with its venv module (python3-venv on Debian)")
    })?;
    let mut install = Command::new(&interpreter);
    install.args(["-m", "pip", "install", "--quiet"]);
    install.args(["--disable-pip-version-check", "numpy"]);
    run(install.stdout(Stdio::null())).map_err(|failure| {
        failure.with_remedy(format!(
            "check the network, or set {INTERPRETER_VARIABLE} to a Python that has numpy \
             and run `cargo bench`"
        ))
    })?;
    Ok(interpreter)
}

/// Where a virtual environment keeps its interpreter.
fn interpreter_in(folder: &Path) -> PathBuf {
    if cfg!(windows) {
        folder.join("Scripts").join("python.exe")
    } else {
        folder.join("bin").join("python")
    }
}

fn has_numpy(interpreter: &Path) -> bool {
    Command::new(interpreter)
        .args(["-c", "import numpy"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_that_does_not_exist_has_no_numpy() {
        assert!(!has_numpy(&interpreter_in(Path::new("no/such/folder"))));
    }
}
