//! Many pendulums at once, each with a generator of its own.

use rayon::prelude::*;
use taskscout::Result;
use taskscout::rng::{Purpose, Rng, derive};

use super::environment::{Environment, show};
use super::policy::Policy;
use super::settings::Settings;
use super::simulate::trace;
use super::trajectory::Trajectory;

/// The generator of a task in [`simulate_many`].
#[must_use]
pub fn generator(seed: u64, task: usize) -> Rng {
    derive(seed, Purpose::Collect, &[0, task as u64, 0])
}

/// Simulates every environment for so many steps, on all cores.
///
/// The result is that of [`super::simulate()`] one by one with [`generator`], bit for bit, on any
/// number of threads.
///
/// ```
/// use taskscout_worlds::pendulum::{Environment, Policy, Settings, simulate_many};
/// let tasks = [[0.0; 5], [0.5, 0.0, 0.0, 0.0, 0.0]];
/// let tasks = tasks.iter().map(|task| Environment::from_task(task));
/// let tasks = tasks.collect::<Result<Vec<_>, _>>()?;
/// let runs = simulate_many(&tasks, &Settings::default(), Policy::True, 100, 7)?;
/// assert_eq!(runs.len(), 2);
/// # Ok::<(), taskscout::Error>(())
/// ```
///
/// # Errors
/// Settings out of range; a motion that runs away: the first of the list, with its step and remedy.
pub fn simulate_many(
    environments: &[Environment],
    settings: &Settings,
    policy: Policy<'_>,
    steps: usize,
    seed: u64,
) -> Result<Vec<Trajectory>> {
    settings.check()?;
    let one = |(index, environment): (usize, &Environment)| {
        let mut rng = generator(seed, index);
        trace(environment, settings, policy, steps, &mut rng).map_err(|runaway| {
            runaway.error(&format!("task {index} {}", show(&environment.task())))
        })
    };
    let runs: Vec<Result<Trajectory>> = environments.par_iter().enumerate().map(one).collect();
    // In order, so that of several errors it is always the first.
    runs.into_iter().collect()
}
