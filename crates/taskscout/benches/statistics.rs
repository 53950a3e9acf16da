//! Accumulating sufficient statistics, side by side with numpy's `X.T @ X` and `X.T @ y`.
//!
//! ```text
//! cargo xtask bench        or, with the same effect,        cargo bench -p taskscout
//! ```
//!
//! The two take turns in one run, so that a busy machine slows both: read the ratios, which are
//! medians over neighbouring pairs. Processor time is the steadier of the two clocks. OpenBLAS
//! waits for its threads by spinning, so that on a busy machine its figures on all threads
//! collapse; the table says so where our own threads had to wait. Before anything is timed, every
//! number of ours is compared with numpy's; a difference ends the run with an error.
//!
//! 100,000 rows of 200 features are 160 MB, far beyond any cache: `Statistics::accumulate` streams
//! a row-major batch in chunks of rows and keeps only their sums.

mod support;

use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};
use support::Result;
use support::clock::{Timing, measure, median};
use support::numpy::{Numpy, interpreter};
use taskscout::data::{Samples, Statistics};

/// The numpy side.
const SCRIPT: &str = "numpy_gram.py";

/// The rest before each turn: threads of OpenBLAS spin for a while after their work is done, and
/// would take a core from us.
const REST: Duration = Duration::from_millis(100);

/// Turns of each side.
const REPETITIONS: usize = 11;

/// The largest difference to numpy, relative to the largest entry, that rounding may explain.
const TOLERANCE: f64 = 1e-9;

/// A size to measure.
struct Shape {
    rows: usize,
    features: usize,
    /// Passes in one measurement, so that a short pass is not lost in the clock's grain.
    passes: u32,
}

const SHAPES: [Shape; 2] = [
    Shape {
        rows: 100_000,
        features: 200,
        passes: 1,
    },
    Shape {
        rows: 100_000,
        features: 20,
        passes: 20,
    },
];

/// What our side took, and numpy's side after it.
type Turn = (Timing, Option<Timing>);

fn main() -> ExitCode {
    // `cargo test --benches` starts this too, without the flag; a benchmark is not a test.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("statistics: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let python = interpreter().and_then(|python| {
        let version = Numpy::start(&python, SCRIPT, &[1, 1], 1)?
            .version()
            .to_owned();
        Ok((python, version))
    });
    println!("Sufficient statistics: medians of {REPETITIONS} turns.");
    match &python {
        Ok((_, version)) => println!(
            "Turns alternate with numpy {version}. Ratios are ours / numpy, medians over \
             neighbouring turns: below 1 we are faster."
        ),
        Err(error) => println!("NO COMPARISON WITH NUMPY: {error}. Our figures stand alone."),
    }
    let python = python.ok().map(|(python, _)| python);
    println!();
    println!(
        "{:>8} {:>8} {:>7} | {:>10} {:>10} {:>6} | {:>10} {:>10} {:>6}",
        "rows", "features", "threads", "ours", "numpy", "ratio", "ours CPU", "numpy CPU", "ratio"
    );
    let cores = std::thread::available_parallelism()?.get();
    for shape in &SHAPES {
        let samples = samples(shape)?;
        for threads in [1, cores].into_iter().take(cores.min(2)) {
            compare(shape, &samples, threads, python.as_deref())?;
        }
    }
    Ok(())
}

/// Measures one shape on so many threads and prints a line of the table.
fn compare(shape: &Shape, samples: &Samples, threads: usize, python: Option<&Path>) -> Result<()> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
    let sizes = [shape.rows, shape.features];
    let mut numpy = python
        .map(|python| Numpy::start(python, SCRIPT, &sizes, threads))
        .transpose()?;
    // Also the warm-up: caches, clock rates, pages.
    let ours = accumulate(&pool, samples)?;
    if let Some(numpy) = &mut numpy {
        agree(&ours, &numpy.result()?)?;
    }
    let mut turns = Vec::with_capacity(REPETITIONS);
    for _ in 0..REPETITIONS {
        sleep(REST);
        let ours = measure(shape.passes, || accumulate(&pool, samples).map(drop))?;
        let numpy = match &mut numpy {
            None => None,
            Some(numpy) => {
                sleep(REST);
                Some(numpy.time(shape.passes)?)
            }
        };
        turns.push((ours, numpy));
    }
    println!(
        "{:>8} {:>8} {threads:>7} | {} | {}",
        shape.rows,
        shape.features,
        columns(&turns, |timing| Some(timing.wall_s)),
        columns(&turns, |timing| timing.cpu_s),
    );
    if busy(&turns) {
        println!("  (the machine was busy: trust no wall time, and nothing on several threads)");
    }
    Ok(())
}

/// Whether our threads waited for a core: on one of their own, no turn takes longer than its work.
fn busy(turns: &[Turn]) -> bool {
    let waits = |(ours, _): &Turn| Some(ours.wall_s / ours.cpu_s?);
    median(turns.iter().filter_map(waits)) > 1.1
}

/// Our pass.
fn accumulate(pool: &ThreadPool, samples: &Samples) -> taskscout::Result<Statistics> {
    pool.install(|| {
        let mut statistics = Statistics::new(samples.input_dim(), samples.output_dim());
        statistics.accumulate(black_box(samples))?;
        Ok(black_box(statistics))
    })
}

/// Fails unless every entry of the Gram matrix and of the moments is numpy's, up to rounding.
fn agree(ours: &Statistics, theirs: &[f64]) -> Result<()> {
    let ours: Vec<f64> = ours
        .gram()
        .iter()
        .chain(ours.cross_moment(0))
        .copied()
        .collect();
    if ours.len() != theirs.len() {
        let (found, expected) = (ours.len(), theirs.len());
        return Err(format!("{found} numbers, but numpy gives {expected}").into());
    }
    let scale = theirs
        .iter()
        .fold(0.0, |largest: f64, value| largest.max(value.abs()));
    // Asked this way round, a NaN does not agree with anything.
    let agrees = |(a, b): (&f64, &f64)| (a - b).abs() <= TOLERANCE * scale;
    match ours.iter().zip(theirs).position(|pair| !agrees(pair)) {
        None => Ok(()),
        Some(at) => Err(format!(
            "entry {at} is {}, but numpy gives {}: more than rounding apart",
            ours[at], theirs[at]
        )
        .into()),
    }
}

/// Our median, numpy's, and the median of their ratios; a dash where there is none.
fn columns(turns: &[Turn], read: impl Fn(&Timing) -> Option<f64>) -> String {
    let ours = median(turns.iter().filter_map(|(ours, _)| read(ours)));
    let theirs = median(turns.iter().filter_map(|(_, numpy)| read(numpy.as_ref()?)));
    let ratio = median(
        turns
            .iter()
            .filter_map(|(ours, numpy)| Some(read(ours)? / read(numpy.as_ref()?)?)),
    );
    let milliseconds = |seconds: f64| match seconds.is_nan() {
        true => String::from("-"),
        false => format!("{:.2} ms", 1e3 * seconds),
    };
    let ratio = match ratio.is_nan() {
        true => String::from("-"),
        false => format!("{ratio:.2}"),
    };
    format!(
        "{:>10} {:>10} {ratio:>6}",
        milliseconds(ours),
        milliseconds(theirs)
    )
}

/// The same rows as `numpy_gram.py` makes: the output is the first input plus a tenth of noise.
fn samples(shape: &Shape) -> Result<Samples> {
    let (n, d) = (shape.rows, shape.features);
    let mut inputs = Vec::with_capacity(n * d);
    let mut outputs = Vec::with_capacity(n);
    for row in 0..n {
        let at = |column: usize| uniform((row * (d + 1) + column) as u64);
        inputs.extend((0..d).map(at));
        outputs.push(at(0) + 0.1 * at(d));
    }
    Ok(Samples::new(inputs, d, outputs, 1)?)
}

/// SplitMix64 of an index, as a number in [-1, 1).
fn uniform(index: u64) -> f64 {
    let mut z = (index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    (z >> 11) as f64 * 2.0_f64.powi(-52) - 1.0
}
