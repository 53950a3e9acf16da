//! Python in a child process that lives as long as its measurements: one line out, one line back.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::Result;
use super::clock::Timing;

/// The variables by which the libraries under numpy are told how many threads to use.
const THREAD_VARIABLES: [&str; 4] = [
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
];

/// A Python with numpy and cvxpy: the one named by `TASKSCOUT_BENCH_PYTHON`, else that of
/// `target/bench-venv`, which `xtask` makes or completes.
pub(crate) fn interpreter() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os("TASKSCOUT_BENCH_PYTHON") {
        return Ok(PathBuf::from(named));
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["run", "--quiet", "--package", "xtask", "--", "bench-python"])
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err("no Python environment could be made; the reason stands above".into());
    }
    Ok(PathBuf::from(String::from_utf8(output.stdout)?.trim_end()))
}

/// A running child that works with numpy.
pub(crate) struct Numpy {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    version: String,
}

impl Numpy {
    /// Starts `benches/<script>` with its arguments and so many threads, and waits until it is ready.
    pub(crate) fn start(
        python: &Path,
        script: &str,
        arguments: &[impl ToString],
        threads: usize,
    ) -> Result<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("benches")
            .join(script);
        let mut child = Command::new(python)
            .arg(script)
            .args(arguments.iter().map(ToString::to_string))
            .envs(THREAD_VARIABLES.map(|variable| (variable, threads.to_string())))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("could not start {}: {error}", python.display()))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (commands, answers) = pipes.ok_or("the Python child has no pipes")?;
        let mut numpy = Self {
            child,
            commands,
            answers: BufReader::new(answers),
            version: String::new(),
        };
        let greeting = numpy.answer()?;
        let version = greeting.strip_prefix("ready ");
        numpy.version = String::from(version.ok_or("the Python child did not get ready")?);
        Ok(numpy)
    }

    /// What it said about its versions.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// The mean cost of a pass.
    pub(crate) fn time(&mut self, passes: u32) -> Result<Timing> {
        match self.ask(&format!("time {passes}"))?.as_slice() {
            &[wall_s, cpu_s] => Ok(Timing {
                wall_s,
                cpu_s: Some(cpu_s),
            }),
            other => Err(format!("expected two times from Python, found {other:?}").into()),
        }
    }

    /// The numbers that a pass computes.
    pub(crate) fn result(&mut self) -> Result<Vec<f64>> {
        self.ask("result")
    }

    /// The numbers that a command is answered with.
    pub(crate) fn ask(&mut self, command: &str) -> Result<Vec<f64>> {
        writeln!(self.commands, "{command}")?;
        self.commands.flush()?;
        let line = self.answer()?;
        let numbers: std::result::Result<_, _> =
            line.split_whitespace().map(str::parse::<f64>).collect();
        Ok(numbers?)
    }

    fn answer(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err("Python ended early; its message stands above".into());
        }
        Ok(String::from(line.trim_end()))
    }
}

impl Drop for Numpy {
    fn drop(&mut self) {
        // It may have ended by itself; either way nothing is left to be done about an error.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
