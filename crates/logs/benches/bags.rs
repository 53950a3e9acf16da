//! Megabytes of bags of ROS 2 read a second, side by side with rosbags and mcap.
//!
//! ```text
//! cargo bench -p taskscout-logs --bench bags          or, with the other benchmarks,        cargo xtask bench
//! ```
//!
//! The Python side writes a bag with inertial data, joints and a laser scanner, as MCAP with zstd and as SQLite. Before
//! anything is timed, the sums of the columns have to agree; a difference ends the run with an error. Megabytes are
//! those of the file for SQLite and of the same messages for MCAP, so that the two compare.
//!
//! The sides take turns on one thread each. Read the ratios, which are medians over neighbouring turns, and trust
//! processor time where the machine is busy.

#[allow(dead_code)] // other benchmarks need what this one does not
#[path = "../../taskscout/benches/support/mod.rs"]
mod support;

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;

use support::Result;
use support::clock::{Timing, measure, median};
use support::numpy::{Numpy, interpreter};
use taskscout_logs::{RawRecording, Selection, read_bag};

/// The Python side.
const SCRIPT: &str = "bags.py";

/// Turns of each side.
const REPETITIONS: usize = 3;
/// Passes of a turn of ours, so that the clock has enough to count.
const OUR_PASSES: u32 = 5;

/// Sums are added in the same order on both sides.
const TOLERANCE: f64 = 1e-12;

fn main() -> ExitCode {
    // `cargo test --benches` starts this too, without the flag; a benchmark is not a test.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bags: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let shown = folder.path().display().to_string();
    // The files are made by Python, so that without it there is nothing to read.
    let mut python = Numpy::start(&interpreter()?, SCRIPT, &[shown], 1)?;
    agree(folder.path(), &mut python)?;
    let megabytes = 1e-6 * fs::metadata(folder.path().join("bag.db3"))?.len() as f64;
    println!(
        "A bag of 41,000 messages, {megabytes:.1} MB: medians of {REPETITIONS} turns, one thread each; {}.",
        python.version()
    );
    println!();
    println!(
        "{:<34} {:>8} {:>8} {:>8}",
        "MB a second, by CPU time", "ours", "Python", "ratio"
    );
    for (file, command, name) in [
        ("bag.mcap", "rosbags", "MCAP beside rosbags"),
        ("bag.mcap", "mcap", "MCAP beside mcap-ros2-support"),
        ("bag.db3", "db3", "SQLite beside rosbags"),
    ] {
        let mut turns = Vec::with_capacity(REPETITIONS);
        for _ in 0..REPETITIONS {
            let ours = measure(OUR_PASSES, || {
                ours(&folder.path().join(file), &Selection::all()).map(drop)
            })?;
            let theirs = match python.ask(&format!("{command} 1"))?[..] {
                [wall_s, cpu_s] => Timing {
                    wall_s,
                    cpu_s: Some(cpu_s),
                },
                _ => return Err("expected two times from Python".into()),
            };
            turns.push((ours, theirs));
        }
        line(name, megabytes, &turns);
    }
    let wanted = Selection::of(["/imu.angular_velocity", "/joints.position"]);
    let mut rates = Vec::with_capacity(REPETITIONS);
    for _ in 0..REPETITIONS {
        let timing = measure(OUR_PASSES, || {
            ours(&folder.path().join("bag.mcap"), &wanted).map(drop)
        })?;
        rates.push(megabytes / timing.cpu_s.unwrap_or(timing.wall_s));
    }
    println!("{:<34} {:>8.1}", "MCAP, two fields of it", median(rates));
    Ok(())
}

/// What is measured.
fn ours(file: &Path, selection: &Selection) -> taskscout_logs::Result<RawRecording> {
    read_bag(black_box(file), selection).map(black_box)
}

/// Fails unless both sides find the same numbers.
fn agree(folder: &Path, python: &mut Numpy) -> Result<()> {
    let theirs = python.result()?;
    for file in ["bag.mcap", "bag.db3"] {
        let recording = ours(&folder.join(file), &Selection::all())?;
        let mut sums = Vec::new();
        for topic in ["/imu", "/joints"] {
            let series = recording.series(topic).ok_or("a topic is missing")?;
            let columns = series
                .columns
                .iter()
                .filter(|column| column.name != "header.stamp");
            sums.extend(columns.map(|column| column.values.iter().sum::<f64>()));
        }
        let same = |(ours, theirs): (&f64, &f64)| {
            (ours - theirs).abs() <= TOLERANCE * theirs.abs().max(1.0)
        };
        if sums.len() != theirs.len() || !sums.iter().zip(&theirs).all(same) {
            return Err(format!("the sums of {file} differ between the two sides").into());
        }
    }
    Ok(())
}

/// Our megabytes a second, those of Python, and the median of their ratios.
fn line(name: &str, megabytes: f64, turns: &[(Timing, Timing)]) {
    let cost = |timing: &Timing| timing.cpu_s.unwrap_or(timing.wall_s);
    println!(
        "{name:<34} {:>8.1} {:>8.1} {:>8.1}",
        median(turns.iter().map(|(ours, _)| megabytes / cost(ours))),
        median(turns.iter().map(|(_, theirs)| megabytes / cost(theirs))),
        median(turns.iter().map(|(ours, theirs)| cost(theirs) / cost(ours)))
    );
}
