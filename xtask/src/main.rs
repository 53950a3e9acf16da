//! Development tasks of the repository: `cargo xtask test` and friends.
//!
//! ```text
//! cargo xtask            lists the tasks
//! cargo xtask test       every check a change has to pass
//! cargo xtask test-burn  the optional feature that builds Burn
//! cargo xtask browser   the live page in a real browser
//! cargo xtask wheel      the Python package, built and tried in a new environment
//! cargo xtask bench      the benchmarks, side by side with numpy, cvxpy and PyTorch
//! cargo xtask figures    the figures of the documentation, measured again
//! ```
//!
//! Exit codes: 0 all passed, 1 a step failed, 2 the task was not understood.
//! The standard library is all this crate uses, so that it builds in a second.

mod apt;
mod architecture;
mod browser;
mod checks;
mod hygiene;
mod links;
mod package;
mod postgres;
mod python;
mod steps;
mod tasks;
mod test_modules;
mod workspace;

use std::process::ExitCode;

use steps::Failure;
use tasks::Task;
use workspace::Workspace;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let task = match tasks::parse(&arguments) {
        Ok(task) => task,
        Err(misunderstanding) => {
            eprintln!("xtask: {misunderstanding}");
            return ExitCode::from(2);
        }
    };
    match perform(task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn perform(task: Task) -> Result<(), Failure> {
    let workspace = Workspace::locate()?;
    match task {
        Task::Help => print!("{}", tasks::help()),
        // What is fetched comes while the first steps compute.
        Task::Test => std::thread::scope(|scope| {
            scope.spawn(|| checks::prepare(&workspace));
            steps::run_all(&checks::all(&workspace), &mut std::io::stdout())
        })?,
        Task::TestBurn => steps::run_all(&checks::burn(&workspace), &mut std::io::stdout())?,
        Task::Browser => {
            let step = steps::Step::new("page in a browser", || {
                browser::test(&workspace, browser::Lines::AsTheyCome)
            });
            steps::run_all(&[step], &mut std::io::stdout())?;
        }
        Task::Wheel => steps::run_all(&package::wheel(&workspace), &mut std::io::stdout())?,
        Task::Bench => python::bench(&workspace)?,
        Task::Figures => {
            python::figures(&workspace, &std::env::args().skip(2).collect::<Vec<_>>())?;
        }
        Task::BenchPython => println!("{}", python::BENCH.interpreter(&workspace)?.display()),
    }
    Ok(())
}
