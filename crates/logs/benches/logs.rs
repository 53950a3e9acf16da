//! Megabytes of flight logs read a second, side by side with pandas.
//!
//! ```text
//! cargo bench -p taskscout-logs --bench logs          or, with the other benchmarks,        cargo xtask bench
//! ```
//!
//! Both sides read the same generated files, with the columns and digits of real ones: pandas and
//! `ast.literal_eval` on the Python side, as the published loader does. Before anything is timed, all
//! numbers of a file have to agree; a difference ends the run with an error.
//!
//! The two take turns on one thread each. Read the ratios, which are medians over neighbouring turns,
//! and trust processor time where the machine is busy. The last line is ours on all threads.

#[path = "../../taskscout/benches/support/mod.rs"]
mod support;

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use support::Result;
use support::clock::{Timing, measure, median};
use support::numpy::{Numpy, interpreter};
use taskscout_logs::{Logs, ReadOptions, read};

/// The Python side.
const SCRIPT: &str = "pandas_logs.py";

/// Turns of each side.
const REPETITIONS: usize = 7;
/// Passes of a turn of ours, so that the clock has enough to count.
const OUR_PASSES: u32 = 20;

const FILES: usize = 4;
const ROWS: usize = 2_500;

/// Differences that the parser of pandas makes in times, which it reads with fewer steps.
const TOLERANCE: f64 = 1e-12;

fn main() -> ExitCode {
    // `cargo test --benches` starts this too, without the flag; a benchmark is not a test.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("logs: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let files = (0..FILES)
        .map(|index| {
            let path = folder
                .path()
                .join(format!("quad_eight_pid_{index}0wind.csv"));
            fs::write(&path, flight(index))?;
            Ok(path)
        })
        .collect::<Result<Vec<PathBuf>>>()?;
    let sizes = files
        .iter()
        .map(fs::metadata)
        .collect::<std::io::Result<Vec<_>>>()?;
    let megabytes = 1e-6 * sizes.iter().map(fs::Metadata::len).sum::<u64>() as f64;
    println!(
        "{FILES} flight logs of {ROWS} rows, {megabytes:.1} MB: medians of {REPETITIONS} turns, one thread each."
    );
    let mut python =
        match interpreter().and_then(|python| Numpy::start(&python, SCRIPT, &shown(&files), 1)) {
            Ok(mut python) => {
                agree(folder.path(), &mut python)?;
                println!("Turns alternate with Python, pandas {}.", python.version());
                Some(python)
            }
            Err(error) => {
                println!("NO COMPARISON WITH PYTHON: {error}. Our figures stand alone.");
                None
            }
        };
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut turns = Vec::with_capacity(REPETITIONS);
    for _ in 0..REPETITIONS {
        let ours = measure(OUR_PASSES, || {
            alone.install(|| ours(folder.path())).map(drop)
        })?;
        let theirs = python.as_mut().map(|python| python.time(1)).transpose()?;
        turns.push((ours, theirs));
    }
    println!();
    println!(
        "{:<16} {:>12} {:>12} {:>8}",
        "MB a second", "ours", "Python", "ratio"
    );
    line("by wall time", megabytes, &turns, |timing| {
        Some(timing.wall_s)
    });
    line("by CPU time", megabytes, &turns, |timing| timing.cpu_s);
    let mut rates = Vec::with_capacity(REPETITIONS);
    for _ in 0..REPETITIONS {
        let timing = measure(OUR_PASSES, || ours(folder.path()).map(drop))?;
        rates.push(megabytes / timing.wall_s);
    }
    let threads = format!("{} threads", rayon::current_num_threads());
    println!("{threads:<16} {:>12.1}", median(rates));
    Ok(())
}

/// What is measured.
fn ours(folder: &Path) -> taskscout_logs::Result<Logs> {
    read(black_box(folder), &ReadOptions::default()).map(black_box)
}

fn shown(files: &[PathBuf]) -> Vec<String> {
    files
        .iter()
        .map(|file| file.display().to_string())
        .collect()
}

/// A flight with the columns of a real one, every number with all its digits.
fn flight(index: usize) -> String {
    let mut text = String::from(",t,p,p_d,v,v_d,q,R,w,T_sp,q_sp,hover_throttle,fa,pwm\n");
    for row in 0..ROWS {
        let mut phase = 0.1 + 0.02 * (index * ROWS + row) as f64;
        let mut list = |count: usize, centre: f64, size: f64| {
            let values: Vec<String> = (0..count)
                .map(|_| {
                    phase += 0.7;
                    format!("{:?}", centre + size * phase.sin())
                })
                .collect();
            format!("[{}]", values.join(", "))
        };
        let rotation = [list(3, 0.0, 1.0), list(3, 0.0, 1.0), list(3, 0.0, 1.0)].join(", ");
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{row},{:?},\"{}\",\"{}\",\"{}\",\"{}\",\"{}\",\"[{rotation}]\",\"{}\",{},\"{}\",{},\"{}\",\"{}\"",
            0.02 * row as f64,
            list(3, 0.0, 1.0),
            list(3, 0.0, 1.0),
            list(3, 0.0, 1.0),
            list(3, 0.0, 1.0),
            list(4, 0.0, 0.5),
            list(3, 0.0, 0.1),
            list(1, 0.5, 0.1),
            list(4, 0.0, 0.5),
            list(1, 0.5, 0.1),
            list(3, 0.0, 3.0),
            list(4, 1500.0, 300.0)
        );
    }
    text
}

/// Fails unless all numbers of the first file are the same on both sides.
fn agree(folder: &Path, python: &mut Numpy) -> Result<()> {
    let logs = ours(folder)?;
    let first = logs.recordings.first().ok_or("there are no recordings")?;
    let time = first.time.as_deref().ok_or("there is no time")?;
    let theirs = python.result()?;
    if theirs.len() != 15 * first.rows() {
        return Err(format!("Python gave {} numbers", theirs.len()).into());
    }
    for (row, numbers) in theirs.chunks_exact(15).enumerate() {
        let x = &first.x[11 * row..11 * row + 11];
        let y = &first.y[3 * row..3 * row + 3];
        let exact = x.iter().chain(y).zip(&numbers[1..]);
        let same = exact.into_iter().all(|(a, b)| a.to_bits() == b.to_bits());
        if !same || (time[row] - numbers[0]).abs() > TOLERANCE {
            return Err(format!("row {row} differs between the two sides").into());
        }
    }
    Ok(())
}

/// Our megabytes a second, those of Python, and the median of their ratios; a dash where there is none.
fn line(
    name: &str,
    megabytes: f64,
    turns: &[(Timing, Option<Timing>)],
    read: impl Fn(&Timing) -> Option<f64>,
) {
    let rate = |timing: &Timing| Some(megabytes / read(timing)?);
    let show = |value: f64| match value.is_nan() {
        true => String::from("-"),
        false => format!("{value:.1}"),
    };
    let ratio = turns
        .iter()
        .filter_map(|(a, b)| Some(rate(a)? / rate(b.as_ref()?)?));
    println!(
        "{name:<16} {:>12} {:>12} {:>8}",
        show(median(turns.iter().filter_map(|(a, _)| rate(a)))),
        show(median(turns.iter().filter_map(|(_, b)| rate(b.as_ref()?)))),
        show(median(ratio))
    );
}
