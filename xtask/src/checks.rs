//! The steps of `cargo xtask test`, cheapest first.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::architecture;
use crate::browser::{self, Lines};
use crate::hygiene;
use crate::links;
use crate::package;
use crate::postgres;
use crate::python;
use crate::steps::{Failure, Step, run};
use crate::test_modules;
use crate::workspace::Workspace;

/// Every check a change has to pass, in order.
pub(crate) fn all(workspace: &Workspace) -> Vec<Step<'_>> {
    vec![
        Step::new("format", || format(workspace)),
        Step::new("architecture", || architecture::check(workspace.root())),
        Step::new("test modules", || test_modules::check(workspace.root())),
        Step::new("links", || links::check(workspace.root())),
        Step::new("lints", || lints(workspace)),
        Step::new("documentation", || documentation(workspace)),
        Step::new("tests", || tests(workspace)),
        Step::new("documentation tests", || doc_tests(workspace)),
        Step::new("Python package and page in a browser", || {
            package_and_page(workspace)
        }),
        Step::new("experiment files", || experiments(workspace)),
        Step::new("tracked files", || hygiene::tracked_files(workspace.root())),
    ]
}

/// Installs and makes what later steps need. They do the same, find it done, and report what could not be had.
pub(crate) fn prepare(workspace: &Workspace) {
    let _ = python::TEST.given_or_made(workspace);
    let _ = postgres::provide();
    let _ = browser::provide(workspace);
}

/// The checks of the feature `burn`, apart because Burn takes longer to build than all else here.
pub(crate) fn burn(workspace: &Workspace) -> Vec<Step<'_>> {
    const FEATURE: [&str; 3] = ["--workspace", "--features", "taskscout-neural/burn"];
    let cargo = move |before: &[&str], after: &[&str]| -> Outcome {
        run(&mut workspace.cargo(&[before, &FEATURE, after].concat()))?;
        Ok(None)
    };
    vec![
        Step::new("lints", move || {
            cargo(&["clippy"], &["--all-targets", "--", "-D", "warnings"])
        }),
        Step::new("tests", move || cargo(&["test"], &["--test", "own_module"])),
    ]
}

type Outcome = Result<Option<String>, Failure>;

fn format(workspace: &Workspace) -> Outcome {
    require(workspace, "fmt", "rustfmt")?;
    run(&mut workspace.cargo(&["fmt", "--all", "--check"]))
        .map_err(|failure| failure.with_remedy("run `cargo fmt --all`"))?;
    Ok(None)
}

fn lints(workspace: &Workspace) -> Outcome {
    require(workspace, "clippy", "clippy")?;
    let arguments = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    run(&mut workspace.cargo(&arguments))?;
    Ok(None)
}

fn documentation(workspace: &Workspace) -> Outcome {
    let mut command = workspace.cargo(&["doc", "--workspace", "--no-deps"]);
    run(command.env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(None)
}

/// All tests but those in the documentation, by cargo-nextest where it is installed, with a Python
/// to compare with where one can be made, and PostgreSQL where it can be installed.
fn tests(workspace: &Workspace) -> Outcome {
    let mut remarks = Vec::new();
    let python = python::TEST.given_or_made(workspace).map_or_else(
        |reason| {
            remarks.push(format!("without onnxruntime: {reason}"));
            None
        },
        Some,
    );
    if let Err(reason) = postgres::provide() {
        remarks.push(format!("WITHOUT PostgreSQL: {reason}"));
    }
    let test = |arguments: &[&str]| {
        let mut command = workspace.cargo(arguments);
        if let Some(python) = &python {
            command.env(python::TEST.variable, python);
        }
        run(&mut command)
    };
    let remark = |remarks: Vec<String>| (!remarks.is_empty()).then(|| remarks.join("; "));
    if workspace.has_subcommand("nextest") {
        // Many tests wait, for a server or for a process to end: more of them than cores.
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let slots = format!("--test-threads={}", cores + cores.div_ceil(2));
        test(&["nextest", "run", "--workspace", "--no-fail-fast", &slots])?;
        return Ok(remark(remarks));
    }
    // Not `--all-targets`: that would start the benchmarks too.
    let arguments = [
        "test",
        "--workspace",
        "--lib",
        "--bins",
        "--tests",
        "--examples",
    ];
    test(&arguments)?;
    remarks.push(String::from(
        "by `cargo test`: cargo-nextest is not installed",
    ));
    Ok(remark(remarks))
}

/// Both at once: either keeps little more than one core busy.
fn package_and_page(workspace: &Workspace) -> Outcome {
    let (package, page) = std::thread::scope(|scope| {
        let page = scope.spawn(|| browser::test(workspace, Lines::AtTheEnd));
        let package = package::test(workspace);
        let page = page
            .join()
            .map_err(|_| Failure::new("the thread of the page panicked"));
        (package, page.and_then(|page| page))
    });
    let remarks = [package?, page?].into_iter().flatten().collect::<Vec<_>>();
    Ok((!remarks.is_empty()).then(|| remarks.join("; ")))
}

fn doc_tests(workspace: &Workspace) -> Outcome {
    run(&mut workspace.cargo(&["test", "--workspace", "--doc"]))?;
    Ok(None)
}

/// Lets the command itself judge every experiment file; all the bad ones are named, not the first.
fn experiments(workspace: &Workspace) -> Outcome {
    let files = hygiene::toml_files(&workspace.root().join("experiments"))?;
    if files.is_empty() {
        return Ok(Some(String::from("no TOML file in experiments/")));
    }
    let taskscout = taskscout_binary(workspace)?;
    let refused: Vec<String> = files
        .iter()
        .filter(|file| accept(&taskscout, file).is_err())
        .map(|file| relative(workspace, file))
        .collect();
    if refused.is_empty() {
        return Ok(Some(format!("{} accepted", files.len())));
    }
    Err(Failure::new(format!(
        "{} of {} experiment files were refused: {}",
        refused.len(),
        files.len(),
        refused.join(", ")
    ))
    .with_remedy("see each message above; try one with `cargo run -- run --check FILE`"))
}

/// The command as the tests built it.
///
/// `cargo run` would choose other features of the dependencies than a build of the whole workspace
/// with its tests does, and compile them all once more.
pub(crate) fn taskscout_binary(workspace: &Workspace) -> Result<PathBuf, Failure> {
    build(workspace)?;
    let sibling = format!("taskscout{}", std::env::consts::EXE_SUFFIX);
    Ok(std::env::current_exe()?.with_file_name(sibling))
}

/// Everything of the workspace, with the features that its tests are built with.
pub(crate) fn build(workspace: &Workspace) -> Result<(), Failure> {
    let arguments = ["build", "--workspace", "--lib", "--bins", "--tests"];
    run(&mut workspace.cargo(&arguments))
}

fn accept(taskscout: &Path, file: &Path) -> Result<(), Failure> {
    let mut command = Command::new(taskscout);
    run(command.args(["run", "--check"]).arg(file))
}

fn relative(workspace: &Workspace, file: &Path) -> String {
    let shown = file.strip_prefix(workspace.root()).unwrap_or(file);
    shown.display().to_string()
}

/// Fails with the way to install a toolchain component that is missing.
fn require(workspace: &Workspace, subcommand: &str, component: &str) -> Result<(), Failure> {
    if workspace.has_subcommand(subcommand) {
        return Ok(());
    }
    Err(
        Failure::new(format!("`cargo {subcommand}` is not installed"))
            .with_remedy(format!("run `rustup component add {component}`")),
    )
}
