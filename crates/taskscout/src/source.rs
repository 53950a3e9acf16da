//! Where data comes from.

use crate::data::Samples;
use crate::error::Result;
use crate::rng::Rng;
use crate::task::Task;

/// A world that samples can be collected from: a simulator, a wind tunnel, a folder of logs.
///
/// ```
/// use rand_distr::{Distribution, StandardNormal};
/// use taskscout::data::Samples;
/// use taskscout::rng::{derive, Purpose, Rng};
/// use taskscout::source::TaskSource;
/// use taskscout::task::Task;
///
/// /// A spring whose stiffness is the task.
/// struct Spring;
///
/// impl TaskSource for Spring {
///     fn sample(&mut self, task: &Task, n: usize, rng: &mut Rng) -> taskscout::Result<Samples> {
///         let x: Vec<f64> = (0..n).map(|_| StandardNormal.sample(rng)).collect();
///         let force = x.iter().map(|x| -task[0] * x).collect();
///         Samples::new(x, 1, force, 1)
///     }
/// }
///
/// let rows = Spring.sample(&Task::point(vec![2.0]), 5, &mut derive(1, Purpose::Collect, &[0, 0, 0]))?;
/// assert_eq!(rows.len(), 5);
/// # Ok::<(), taskscout::Error>(())
/// ```
pub trait TaskSource {
    /// Collects `n` samples from a task. All randomness comes from `rng`.
    ///
    /// # Errors
    /// Whatever keeps the samples from coming, with the task and the remedy.
    fn sample(&mut self, task: &Task, n: usize, rng: &mut Rng) -> Result<Samples>;

    /// How many samples a task still has; none if there is no limit.
    fn available(&self, task: &Task) -> Option<usize> {
        let _ = task;
        None
    }
}
