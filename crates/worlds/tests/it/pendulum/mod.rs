//! The pendulum: physics, policies, determinism, and the world that studies collect from.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

mod control;
mod misfit;
mod physics;
mod runs;
mod world;

use taskscout::rng::{Purpose, Rng, derive};
use taskscout_worlds::pendulum::Environment;

/// A task with everything in it.
const GUSTY: [f64; 5] = [0.6, -0.4, 0.3, 0.2, -0.5];

fn environment(task: [f64; 5]) -> Environment {
    Environment::from_task(&task).unwrap()
}

fn rng(seed: u64) -> Rng {
    derive(seed, Purpose::Collect, &[0, 0, 0])
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance
}
