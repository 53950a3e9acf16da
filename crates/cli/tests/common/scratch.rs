//! A folder that is gone after the test, and the command in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use super::answer::{refused, succeeded};

/// The real binary.
pub(crate) fn binary() -> Command {
    Command::new(env!("CARGO_BIN_EXE_taskscout"))
}

/// A folder of a test's own.
pub(crate) struct Scratch(tempfile::TempDir);

impl Scratch {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// Writes a file, in folders that are made where they lack.
    pub(crate) fn file(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).unwrap()
    }

    /// The command with the words of a line, not yet started.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = binary();
        command
            .args(line.split_whitespace())
            .current_dir(self.folder());
        command
    }

    pub(crate) fn taskscout(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    /// Runs what succeeds, and returns what it said on standard error.
    pub(crate) fn done(&self, line: &str) -> String {
        eprintln!("taskscout {line}");
        succeeded(&self.taskscout(line))
    }

    /// Runs what is refused in one sentence with these parts.
    pub(crate) fn refused(&self, line: &str, parts: &[&str]) {
        eprintln!("taskscout {line}");
        refused(&self.taskscout(line), parts);
    }
}
