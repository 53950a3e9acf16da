//! Bags of ROS and MCAP files as a user meets them: good ones of every kind, and everything that can be wrong with one.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud
#![allow(clippy::float_cmp)] // numbers are read exactly

mod damage;
mod mistakes;
mod real;
mod values;

use std::path::{Path, PathBuf};

use taskscout_logs::{RawRecording, Result, Selection, read_bag};

/// Files made by `fixtures/ros/make.py`.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/ros")
        .join(name)
}

fn read_all(path: &Path) -> Result<RawRecording> {
    read_bag(path, &Selection::all())
}

/// The message of what must be refused, on one line.
fn refusal(outcome: Result<RawRecording>) -> String {
    let message = outcome.unwrap_err().to_string();
    assert!(!message.contains('\n'), "one sentence: {message}");
    message
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}
