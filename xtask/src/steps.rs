//! Steps: named pieces of work that run in order, are timed, and stop at the first failure.

use std::fmt;
use std::io::{self, Write};
use std::process::Command;
use std::time::Instant;

/// Why a step failed, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    what: String,
    remedy: Option<String>,
}

impl Failure {
    /// A failure described in one sentence.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            remedy: None,
        }
    }

    /// The same failure with what the reader can do about it.
    pub(crate) fn with_remedy(self, remedy: impl Into<String>) -> Self {
        Self {
            remedy: Some(remedy.into()),
            ..self
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what)?;
        match &self.remedy {
            Some(remedy) => write!(f, "\n  remedy: {remedy}"),
            None => Ok(()),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::new(error.to_string())
    }
}

/// What a step does: passes, perhaps with a remark for the reader, or fails.
type Work<'a> = Box<dyn Fn() -> Result<Option<String>, Failure> + 'a>;

/// A named piece of work.
pub(crate) struct Step<'a> {
    name: &'static str,
    work: Work<'a>,
}

impl<'a> Step<'a> {
    /// A step that runs `work` and may pass with a remark.
    pub(crate) fn new(
        name: &'static str,
        work: impl Fn() -> Result<Option<String>, Failure> + 'a,
    ) -> Self {
        Self {
            name,
            work: Box::new(work),
        }
    }
}

/// Runs the steps in order and writes each one's name, remark and duration to `out`.
///
/// The first failure ends the run; its message names the step.
pub(crate) fn run_all(steps: &[Step<'_>], out: &mut impl Write) -> Result<(), Failure> {
    let total = steps.len();
    for (index, Step { name, work }) in steps.iter().enumerate() {
        let place = format!("[{}/{total}] {name}", index + 1);
        writeln!(out, "xtask: {place} ...")?;
        let start = Instant::now();
        let outcome = work();
        let seconds = start.elapsed().as_secs_f64();
        match outcome {
            Ok(remark) => {
                let remark = remark.map_or_else(String::new, |text| format!(" ({text})"));
                writeln!(out, "xtask: {place} passed in {seconds:.1} s{remark}")?;
            }
            Err(failure) => {
                return Err(Failure {
                    what: format!("{place} FAILED after {seconds:.1} s: {}", failure.what),
                    ..failure
                });
            }
        }
    }
    writeln!(out, "xtask: all {total} steps passed")?;
    Ok(())
}

/// Runs a command with its output shown, and fails unless it ends with exit code 0.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let line = describe(command);
    let status = command
        .status()
        .map_err(|error| Failure::new(format!("could not start `{line}`: {error}")))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new(format!("`{line}` ended with {status}")))
    }
}

/// The command as one would type it: the program without its folder, then its arguments.
fn describe(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let program = program.file_stem().unwrap_or(program.as_os_str());
    std::iter::once(program)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn pass() -> Result<Option<String>, Failure> {
        Ok(None)
    }

    #[test]
    fn passing_steps_are_timed_and_counted() {
        let steps = [
            Step::new("first", pass),
            Step::new("second", || Ok(Some(String::from("nothing to do")))),
        ];
        let mut out = Vec::new();
        run_all(&steps, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].starts_with("xtask: [1/2] first passed in "));
        assert!(lines[3].ends_with(" s (nothing to do)"), "{text}");
        assert_eq!(lines[4], "xtask: all 2 steps passed");
    }

    #[test]
    fn the_first_failure_ends_the_run_and_names_the_step() {
        let reached = Cell::new(false);
        let steps = [
            Step::new("lints", || {
                Err(Failure::new("it broke").with_remedy("mend it"))
            }),
            Step::new("tests", || {
                reached.set(true);
                pass()
            }),
        ];
        let mut out = Vec::new();
        let message = run_all(&steps, &mut out).unwrap_err().to_string();
        assert!(
            message.starts_with("[1/2] lints FAILED after "),
            "{message}"
        );
        assert!(
            message.ends_with("it broke\n  remedy: mend it"),
            "{message}"
        );
        assert!(!reached.get());
        assert!(!String::from_utf8(out).unwrap().contains("passed"));
    }

    #[test]
    fn a_command_is_described_as_typed() {
        let mut command = Command::new("some/folder/cargo");
        command.args(["fmt", "--check"]);
        assert_eq!(describe(&command), "cargo fmt --check");
    }

    #[test]
    fn a_command_that_cannot_start_says_which() {
        let message = run(&mut Command::new("no-such-program-here"))
            .unwrap_err()
            .to_string();
        assert!(message.contains("could not start `no-such-program-here`"));
    }
}
