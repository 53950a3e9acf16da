//! Steps a second of the pendulum, side by side with a simulator in Python.
//!
//! ```text
//! cargo bench -p taskscout-worlds        or, with the other benchmarks,        cargo xtask bench
//! ```
//!
//! Both sides simulate one pendulum in wind under the random policy, with noise, by Runge–Kutta
//! steps of 0.01 s, and record states, torques, residuals and labels. The Python side is written as
//! research simulators are: a method call a step, on small numpy arrays. Before anything is timed, a
//! run without noise has to agree on both sides, up to rounding; a difference ends the run with an
//! error.
//!
//! The two take turns on one thread each. Read the ratios, which are medians over neighbouring turns,
//! and trust processor time where the machine is busy. The last line is `simulate_many` over as many
//! tasks as there are threads, on all of them.

#[path = "../../taskscout/benches/support/mod.rs"]
mod support;

use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;

use support::Result;
use support::clock::{Timing, measure, median};
use support::numpy::{Numpy, interpreter};
use taskscout::rng::{Purpose, derive};
use taskscout_worlds::pendulum::{
    Environment, Policy, Settings, State, Trajectory, simulate, simulate_many,
};

/// The Python side.
const SCRIPT: &str = "numpy_pendulum.py";

/// Turns of each side.
const REPETITIONS: usize = 7;

/// Steps of a run: ours takes as many more as it is faster, so that both clocks have enough to count.
const OUR_STEPS: usize = 1_000_000;
const THEIR_STEPS: usize = 5_000;

/// Steps that have to agree.
const COMPARED_STEPS: usize = 1_000;

/// The largest difference that rounding may explain.
const TOLERANCE: f64 = 1e-9;

/// Wind, gravity and both kinds of damping.
const TASK: [f64; 5] = [0.6, -0.4, 0.3, 0.2, -0.5];

fn main() -> ExitCode {
    // `cargo test --benches` starts this too, without the flag; a benchmark is not a test.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pendulum: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let environment = Environment::from_task(&TASK)?;
    println!("Steps of a pendulum: medians of {REPETITIONS} turns, one thread each.");
    let mut python = match interpreter().and_then(|python| start(&python, THEIR_STEPS)) {
        Ok((python, numpy)) => {
            agree(&environment, &python)?;
            println!("Turns alternate with Python, numpy {}.", numpy.version());
            Some(numpy)
        }
        Err(error) => {
            println!("NO COMPARISON WITH PYTHON: {error}. Our figures stand alone.");
            None
        }
    };
    let mut turns = Vec::with_capacity(REPETITIONS);
    for _ in 0..REPETITIONS {
        let ours = measure(1, || random(&environment).map(drop))?;
        let theirs = python.as_mut().map(|python| python.time(1)).transpose()?;
        turns.push((ours, theirs));
    }
    println!();
    println!(
        "{:<16} {:>12} {:>12} {:>8}",
        "steps a second", "ours", "Python", "ratio"
    );
    line("by wall time", &turns, |timing| Some(timing.wall_s));
    line("by CPU time", &turns, |timing| timing.cpu_s);
    on_all_threads(&environment)
}

/// The Python side, ready to run.
fn start(python: &Path, steps: usize) -> Result<(std::path::PathBuf, Numpy)> {
    let mut arguments = vec![steps.to_string()];
    arguments.extend(TASK.map(|w| w.to_string()));
    let numpy = Numpy::start(python, SCRIPT, &arguments, 1)?;
    Ok((python.to_owned(), numpy))
}

/// What is measured.
fn random(environment: &Environment) -> taskscout::Result<Trajectory> {
    let mut rng = derive(0, Purpose::Collect, &[]);
    let settings = black_box(Settings::default());
    let policy = Policy::Random;
    simulate(environment, &settings, policy, OUR_STEPS, &mut rng).map(black_box)
}

/// Fails unless a run without noise is the same on both sides, up to rounding.
fn agree(environment: &Environment, python: &Path) -> Result<()> {
    let settings = Settings {
        noise: 0.0,
        start: State {
            angle_rad: 1.0,
            velocity_rad_s: 0.0,
        },
        ..Settings::default()
    };
    let mut rng = derive(0, Purpose::Collect, &[]);
    let policy = Policy::NoModel;
    let ours = simulate(environment, &settings, policy, COMPARED_STEPS, &mut rng)?;
    let theirs = start(python, COMPARED_STEPS)?.1.result()?;
    if theirs.len() != 2 * COMPARED_STEPS {
        return Err(format!("Python gave {} numbers", theirs.len()).into());
    }
    for (step, state) in theirs.chunks_exact(2).enumerate() {
        let off = (ours.angles_rad[step] - state[0])
            .abs()
            .max((ours.velocities_rad_s[step] - state[1]).abs());
        // Asked this way round, a NaN does not agree with anything.
        let agrees = off <= TOLERANCE;
        if !agrees {
            return Err(format!("at step {step} the two sides differ by {off:e}").into());
        }
    }
    Ok(())
}

/// Our steps a second, those of Python, and the median of their ratios; a dash where there is none.
fn line(name: &str, turns: &[(Timing, Option<Timing>)], read: impl Fn(&Timing) -> Option<f64>) {
    let ours = |timing: &Timing| Some(OUR_STEPS as f64 / read(timing)?);
    let theirs = |timing: &Timing| Some(THEIR_STEPS as f64 / read(timing)?);
    let show = |value: f64| match value.is_nan() {
        true => String::from("-"),
        false => format!("{value:.0}"),
    };
    let pairs = turns.iter();
    let ratio = pairs.filter_map(|(a, b)| Some(ours(a)? / theirs(b.as_ref()?)?));
    println!(
        "{name:<16} {:>12} {:>12} {:>8}",
        show(median(turns.iter().filter_map(|(a, _)| ours(a)))),
        show(median(
            turns.iter().filter_map(|(_, b)| theirs(b.as_ref()?))
        )),
        show(median(ratio))
    );
}

fn on_all_threads(environment: &Environment) -> Result<()> {
    let threads = rayon::current_num_threads();
    let environments = vec![*environment; threads];
    let settings = Settings::default();
    let mut rates = Vec::with_capacity(REPETITIONS);
    for _ in 0..REPETITIONS {
        let many = || {
            simulate_many(&environments, &settings, Policy::Random, OUR_STEPS, 0).map(|runs| {
                drop(black_box(runs));
            })
        };
        let timing = measure(1, many)?;
        rates.push((threads * OUR_STEPS) as f64 / timing.wall_s);
    }
    println!(
        "{:<16} {:>12.0}",
        format!("{threads} threads"),
        median(rates)
    );
    Ok(())
}
