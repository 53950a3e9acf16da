//! Logs as a user meets them: good files of every style, and everything that can be wrong with one.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

mod flights;
mod fuzz;
mod inspection;
mod real;
mod real_robots;
mod robots;
mod robots_fuzz;
mod tables;

use std::fs;
use std::path::{Path, PathBuf};

use taskscout_logs::{Format, Logs, ReadOptions, Result, read};

/// A folder of files that is gone after the test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn with(files: &[(&str, &[u8])]) -> Self {
        let folder = Self::new();
        for (name, bytes) in files {
            folder.write(name, bytes);
        }
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    fn flights(&self, skip_bad_rows: bool) -> Result<Logs> {
        let format = Format::Flights;
        read(
            self.path(),
            &ReadOptions {
                skip_bad_rows,
                format,
                ..ReadOptions::default()
            },
        )
    }

    fn table(
        &self,
        inputs: &[&str],
        outputs: &[&str],
        task: Option<&str>,
        time: Option<&str>,
        skip_bad_rows: bool,
    ) -> Result<Logs> {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let format = Format::Table {
            inputs: owned(inputs),
            outputs: owned(outputs),
            task: task.map(Into::into),
            time: time.map(Into::into),
        };
        read(
            self.path(),
            &ReadOptions {
                skip_bad_rows,
                format,
                ..ReadOptions::default()
            },
        )
    }
}

/// The message of what must be refused, on one line.
fn refusal(outcome: Result<Logs>) -> String {
    let message = outcome.unwrap_err().to_string();
    assert!(!message.contains('\n'), "one sentence: {message}");
    message
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}
