//! Wall time, processor time and medians.

use std::fs;
use std::time::Instant;

/// What one pass cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    /// Seconds on the clock on the wall.
    pub(crate) wall_s: f64,
    /// Seconds of all threads on a core, where the system tells; steadier on a busy machine.
    pub(crate) cpu_s: Option<f64>,
}

/// Runs `work` `passes` times and gives the mean cost of a pass.
pub(crate) fn measure<E>(
    passes: u32,
    mut work: impl FnMut() -> Result<(), E>,
) -> Result<Timing, E> {
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    for _ in 0..passes {
        work()?;
    }
    let wall_s = wall.elapsed().as_secs_f64() / f64::from(passes);
    let cpu_s = cpu_seconds()
        .zip(cpu)
        .map(|(after, before)| (after - before) / f64::from(passes));
    Ok(Timing { wall_s, cpu_s })
}

/// Seconds that the living threads of this process have spent on a core.
///
/// Linux keeps them per thread, in nanoseconds; elsewhere there is no answer without a dependency.
fn cpu_seconds() -> Option<f64> {
    let mut nanoseconds = 0.0;
    for thread in fs::read_dir("/proc/self/task").ok()? {
        let text = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        nanoseconds += text.split_whitespace().next()?.parse::<f64>().ok()?;
    }
    Some(nanoseconds * 1e-9)
}

/// The middle value, or the mean of the two in the middle; not a number if there are none.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n => 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]),
    }
}
