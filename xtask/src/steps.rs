//! Steps: named pieces of work that run in order, are timed, and stop at the first failure.

use std::fmt;
use std::io::{self, Write};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

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

/// How long a command may take: what takes longer has hung, since all steps together take less.
const LIMIT: Duration = Duration::from_secs(40 * 60);

/// Runs a command with its output shown, and fails unless it ends with exit code 0 within the [`LIMIT`].
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    run_within(command, LIMIT)
}

fn run_within(command: &mut Command, limit: Duration) -> Result<(), Failure> {
    let line = describe(command);
    let mut child = command
        .spawn()
        .map_err(|error| Failure::new(format!("could not start `{line}`: {error}")))?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > limit {
            end_with_children(&mut child);
            return Err(Failure::new(format!(
                "`{line}` did not end within {limit:?} and was stopped"
            ))
            .with_remedy(
                "run it alone and look for a wait without end: a thread, a lock, a process",
            ));
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new(format!("`{line}` ended with {status}")))
    }
}

/// Ends a process and all that it started; what is gone already is as it should be.
fn end_with_children(child: &mut Child) {
    let mut family = vec![child.id()];
    let table = Command::new("ps").args(["-eo", "pid=,ppid="]).output();
    let table = table.map_or_else(
        |_| String::new(),
        |ps| String::from_utf8_lossy(&ps.stdout).into_owned(),
    );
    let pairs: Vec<(u32, u32)> = table
        .lines()
        .filter_map(|row| {
            let mut numbers = row.split_whitespace().map(str::parse);
            Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
        })
        .collect();
    let mut next = 0;
    while next < family.len() {
        let parent = family[next];
        family.extend(
            pairs
                .iter()
                .filter(|pair| pair.1 == parent)
                .map(|pair| pair.0),
        );
        next += 1;
    }
    let ids = family.iter().skip(1).map(u32::to_string);
    let _ = Command::new("kill").arg("-KILL").args(ids).status();
    let _ = child.kill();
    let _ = child.wait();
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

    #[cfg(unix)]
    #[test]
    fn a_command_that_does_not_end_is_stopped_with_what_it_started() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 987654 & wait"]);
        let message = run_within(&mut command, Duration::from_millis(300))
            .unwrap_err()
            .to_string();
        assert!(message.contains("did not end within 300ms"), "{message}");
        let left = Command::new("ps").args(["-eo", "args="]).output().unwrap();
        let left = String::from_utf8_lossy(&left.stdout).into_owned();
        assert!(!left.lines().any(|line| line == "sleep 987654"), "{left}");
    }

    #[test]
    fn a_command_that_cannot_start_says_which() {
        let message = run(&mut Command::new("no-such-program-here"))
            .unwrap_err()
            .to_string();
        assert!(message.contains("could not start `no-such-program-here`"));
    }
}
