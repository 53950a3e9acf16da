//! The Python package: its lints, types and tests over the library that the workspace built, and its wheel.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::checks;
use crate::python;
use crate::steps::{Failure, Step, run};
use crate::workspace::Workspace;

/// Where the package is.
const FOLDER: &str = "python";
/// What the interpreter looks for: one library for every version that has the stable interface.
const LIBRARY: &str = if cfg!(windows) {
    "_native.pyd"
} else {
    "_native.abi3.so"
};

/// Lints, types and tests of the package, with the library and the command of this workspace; nothing is built twice.
pub(crate) fn test(workspace: &Workspace) -> Result<Option<String>, Failure> {
    let interpreter = match python::TEST.given_or_made(workspace) {
        Ok(interpreter) => interpreter,
        Err(reason) => return Ok(Some(format!("NOT TESTED, without Python: {reason}"))),
    };
    let command = checks::taskscout_binary(workspace)?;
    place_library(workspace)?;
    let package = workspace.root().join(FOLDER);
    let module = |name: &str, arguments: &[&str]| {
        let mut line = Command::new(&interpreter);
        line.args(["-m", name]).args(arguments);
        line.current_dir(workspace.root())
            .env("PYTHONPATH", &package)
            .env("MYPYPATH", &package)
            .env("TASKSCOUT_COMMAND", &command);
        run(&mut line)
    };
    module("ruff", &["format", "--check", "--quiet", FOLDER])?;
    module("ruff", &["check", "--quiet", FOLDER])?;
    module(
        "mypy",
        &[
            "--strict",
            "python/taskscout",
            "python/examples",
            "python/benchmarks",
        ],
    )?;
    // The stubs say what the library has.
    module("mypy.stubtest", &["taskscout._native"])?;
    let tests = ["--doctest-modules", "python/taskscout", "python/tests"];
    module("pytest", &tests)?;
    Ok(None)
}

/// Puts the built library where the package looks for it.
fn place_library(workspace: &Workspace) -> Result<(), Failure> {
    let name = format!(
        "{}_native{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let built = std::env::current_exe()?.with_file_name(name);
    let place = workspace
        .root()
        .join(FOLDER)
        .join("taskscout")
        .join(LIBRARY);
    if place.exists() {
        fs::remove_file(&place)?;
    }
    // It is large, and a second name for it takes no space.
    if fs::hard_link(&built, &place).is_err() {
        fs::copy(&built, &place)?;
    }
    Ok(())
}

/// The steps of `cargo xtask wheel`.
pub(crate) fn wheel(workspace: &Workspace) -> Vec<Step<'_>> {
    vec![
        Step::new("wheel", || build_wheel(workspace)),
        Step::new("installation", || install_wheel(workspace)),
        Step::new("lines of the documentation", || run_lines(workspace)),
    ]
}

fn wheels(workspace: &Workspace) -> PathBuf {
    workspace.target_dir().join("wheels")
}

fn environment(workspace: &Workspace) -> PathBuf {
    workspace.target_dir().join("wheel-venv")
}

fn build_wheel(workspace: &Workspace) -> Result<Option<String>, Failure> {
    let interpreter = python::TEST.interpreter(workspace)?;
    let folder = wheels(workspace);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let mut build = Command::new(interpreter);
    build.args(["-m", "maturin", "build", "--release", "--out"]);
    run(build.arg(&folder).current_dir(workspace.root()))?;
    let wheel = only_wheel(&folder)?;
    let size = fs::metadata(&wheel)?.len();
    Ok(Some(format!("{} MB", size.div_ceil(1_000_000))))
}

fn install_wheel(workspace: &Workspace) -> Result<Option<String>, Failure> {
    let folder = environment(workspace);
    python::make(&folder)?;
    let mut install = Command::new(python::interpreter_in(&folder));
    install.args(["-m", "pip", "install", "--quiet"]);
    install.arg("--disable-pip-version-check");
    run(install.arg(only_wheel(&wheels(workspace))?))?;
    Ok(None)
}

/// Runs what users read first, where nothing but the wheel and numpy is installed.
fn run_lines(workspace: &Workspace) -> Result<Option<String>, Failure> {
    let interpreter = python::interpreter_in(&environment(workspace));
    let folder = environment(workspace).join("lines");
    fs::create_dir_all(&folder)?;
    let mut count = 0;
    for page in ["README.md", "docs/how-to/use-python.md"] {
        let text = fs::read_to_string(workspace.root().join(page))?;
        let lines = python_lines(&text);
        if lines.is_empty() {
            continue;
        }
        let file = folder.join("lines.py");
        fs::write(&file, &lines)?;
        let mut line = Command::new(&interpreter);
        run(line.arg(&file).current_dir(&folder))
            .map_err(|failure| failure.with_remedy(format!("see the Python lines of {page}")))?;
        count += 1;
    }
    Ok(Some(format!("{count} pages")))
}

/// The Python lines of a page, one block after the other.
fn python_lines(page: &str) -> String {
    let mut inside = false;
    let mut lines = String::new();
    for line in page.lines() {
        match (inside, line.trim_end()) {
            (false, "```python") => inside = true,
            (true, "```") => inside = false,
            (true, text) => lines.extend([text, "\n"]),
            (false, _) => {}
        }
    }
    lines
}

fn only_wheel(folder: &Path) -> Result<PathBuf, Failure> {
    let suffix = OsString::from("whl");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension() == Some(&suffix) {
            found.push(path);
        }
    }
    match found.pop() {
        Some(wheel) if found.is_empty() => Ok(wheel),
        _ => Err(Failure::new(format!(
            "there is not one wheel in {}",
            folder.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_python_lines_of_a_page_are_run() {
        let page =
            "```sh\npip install .\n```\ntext\n```python\na = 1\n```\n```python\nb = a\n```\n";
        assert_eq!(python_lines(page), "a = 1\nb = a\n");
    }
}
