//! A program of the user's as a source of rows: any language, any simulator, any rig.
//!
//! The program reads requests from its standard input, a JSON object a line,
//!
//! ```text
//! {"task": [0.3, -0.2], "count": 50, "seed": 7}
//! {"target": "stiff", "count": 50, "seed": 8}
//! ```
//!
//! and answers each with exactly `count` lines on its standard output, `{"x": [0.1, 2.0], "y": 1.5}`
//! (of several outputs `"y": [1.5, 0.2]`), or with one line `{"error": "why not"}`. It goes on until its standard input ends. A program that
//! draws its randomness from `seed` alone makes runs reproducible.
//!
//! A [`Session`] is a conversation with one process. Every answer goes into a journal before it is
//! used; a session on the same journal answers from there as long as the requests are the same, so
//! that what has come is never asked for again.
//!
//! ```
//! use std::time::Duration;
//! use taskscout_worlds::program::{Program, Request, Session};
//!
//! let script = r#"while read -r line; do echo '{"x": [1, 2], "y": 3}'; done"#;
//! let command = ["sh", "-c", script].map(String::from).to_vec();
//! let folder = tempfile::tempdir().unwrap();
//! let program = Program::new(command, folder.path(), Duration::from_secs(20), 2)?;
//! let mut session = Session::open(&program, &folder.path().join("rows.jsonl"))?;
//! let request = Request { target: None, task: Some(vec![0.5]), count: 1, seed: 0 };
//! let rows = session.ask(&request)?;
//! assert_eq!((rows.inputs(), rows.outputs()), (&[1.0, 2.0][..], &[3.0][..]));
//! session.close()?;
//! # Ok::<(), taskscout::Error>(())
//! ```

mod child;
mod group;
mod incidents;
mod journal;
mod protocol;
mod session;
mod trouble;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rand_distr::{Distribution as _, StandardUniform};
use taskscout::rng::Rng;
use taskscout::{Error, Result};

pub use incidents::Incidents;
pub use journal::set_aside;
pub use protocol::Request;
pub use session::Session;

/// Hears every line of a program's standard error: in one line, shortened, without control characters.
pub type Listener = std::sync::Arc<dyn Fn(&str) + Send + Sync>;

/// How a program is started, and what its rows are.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    command: Vec<String>,
    folder: PathBuf,
    timeout: Duration,
    input_dim: usize,
    outputs: usize,
}

impl Program {
    /// A program with its arguments, started in `folder`, which answers a request within `timeout`
    /// with rows of `input_dim` inputs and one output.
    ///
    /// # Errors
    /// An empty command; no time; no inputs.
    pub fn new(
        command: Vec<String>,
        folder: &Path,
        timeout: Duration,
        input_dim: usize,
    ) -> Result<Self> {
        if command.first().is_none_or(|name| name.trim().is_empty()) {
            return Err(Error::setting(
                "command",
                "is empty: name a program, then its arguments, as [\"python3\", \"spring.py\"]",
            ));
        }
        if timeout.is_zero() {
            return Err(Error::setting("timeout_s", "is 0: give it some time"));
        }
        if input_dim == 0 {
            return Err(Error::setting("input_dim", "is 0: a row needs inputs"));
        }
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        Ok(Self {
            command,
            folder,
            timeout,
            input_dim,
            outputs: 1,
        })
    }

    /// The same with rows of several outputs: `y` is then a list.
    ///
    /// # Errors
    /// No outputs.
    pub fn with_outputs(self, outputs: usize) -> Result<Self> {
        if outputs == 0 {
            return Err(Error::setting("outputs", "is 0: a row needs an output"));
        }
        Ok(Self { outputs, ..self })
    }

    /// The program and its arguments as one line.
    #[must_use]
    pub fn command_line(&self) -> String {
        self.command.join(" ")
    }

    /// The files that the command names, each as it names it: the program itself, wherever commands
    /// are looked for, and those of its arguments that are files.
    #[must_use]
    pub fn files(&self) -> Vec<(String, PathBuf)> {
        let Some((name, arguments)) = self.command.split_first() else {
            return Vec::new();
        };
        let (program, _) = self.invocation();
        let program = match is_bare(name) {
            true => on_path(&program),
            false => Some(PathBuf::from(program)),
        };
        let mut files: Vec<(String, PathBuf)> = program
            .into_iter()
            .map(|path| (name.clone(), path))
            .collect();
        for argument in arguments {
            // As in `--model=rig.urdf`.
            let value = argument.split_once('=').map(|(_, value)| value);
            let named = std::iter::once(argument.as_str()).chain(value);
            files.extend(named.map(|name| (name.to_owned(), self.folder.join(name))));
        }
        files.retain(|(_, path)| path.is_file());
        files
    }

    /// The program and its arguments. A relative path with a folder in it starts from the
    /// program's own folder; a bare name is looked for where commands are.
    fn invocation(&self) -> (OsString, &[String]) {
        let (name, arguments) = match self.command.split_first() {
            Some((name, arguments)) => (name.as_str(), arguments),
            None => ("", &[][..]),
        };
        let name = if is_bare(name) {
            name.into()
        } else {
            self.folder.join(name).into_os_string()
        };
        (name, arguments)
    }
}

/// Whether a program is looked for where commands are.
fn is_bare(name: &str) -> bool {
    Path::new(name).components().count() == 1 && !name.contains(['/', '\\'])
}

/// The file of a command.
fn on_path(name: &std::ffi::OsStr) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

impl std::fmt::Display for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&protocol::shorten(&self.command.join(" "), 80))
    }
}

/// The seed of a request, from the generator of what is collected.
pub fn seed(rng: &mut Rng) -> u64 {
    let seed: u64 = StandardUniform.sample(rng);
    seed >> 11
}
