//! Where data comes from.

use crate::data::Samples;
use crate::error::Result;
use crate::rng::{Purpose, Rng, derive};
use crate::strategy::PlanItem;
use crate::task::Task;

/// Rows that a source is asked for at a time, so that memory does not grow with the budget.
pub const BATCH_ROWS: usize = 2048;

/// Takes a batch of rows into a study.
pub type Tell<'a> = &'a mut dyn FnMut(&Samples) -> Result<()>;

/// A plan item that rows are to be collected for.
#[derive(Debug, Clone, Copy)]
pub struct Visit<'a> {
    /// The item.
    pub item: &'a PlanItem,
    /// The round that planned it.
    pub round: usize,
    /// Rows that have come of the item.
    pub collected: usize,
    /// Rows that the study has of the item's task, whichever item they came for.
    pub before: usize,
    /// The study's seed.
    pub seed: u64,
}

impl Visit<'_> {
    /// Rows that are still missing.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.item.n.saturating_sub(self.collected)
    }

    /// The generator of the rows that follow on `collected` ones: the same whether or not the loop was
    /// interrupted before them.
    #[must_use]
    pub fn rng(&self, collected: usize) -> Rng {
        let (batch, rest) = (collected / BATCH_ROWS, collected % BATCH_ROWS);
        let keys = [self.round as u64, self.item.id, batch as u64, rest as u64];
        // Whole batches are told apart by their number alone.
        let keys = if rest == 0 { &keys[..3] } else { &keys[..] };
        derive(self.seed, Purpose::Collect, keys)
    }
}

/// The sizes of the batches that a number of rows is collected in.
///
/// ```
/// use taskscout::source::batches;
///
/// assert_eq!(batches(5000).collect::<Vec<_>>(), [2048, 2048, 904]);
/// ```
pub fn batches(rows: usize) -> impl Iterator<Item = usize> {
    (0..rows)
        .step_by(BATCH_ROWS)
        .map(move |start| (rows - start).min(BATCH_ROWS))
}

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

    /// How many samples a task has in all; none if there is no limit.
    fn available(&self, task: &Task) -> Option<usize> {
        let _ = task;
        None
    }

    /// Tells the missing rows of a plan item, [`BATCH_ROWS`] at most at a time, until there are no more. A
    /// source whose rows follow on each other, as those of one trajectory, does it in its own way.
    ///
    /// # Errors
    /// Whatever keeps the samples from coming; those told before stay.
    fn collect(&mut self, visit: &Visit<'_>, tell: Tell<'_>) -> Result<()> {
        let mut collected = visit.collected;
        for n in batches(visit.missing()) {
            let rows = self.sample(&visit.item.task, n, &mut visit.rng(collected))?;
            tell(&rows)?;
            if rows.len() < n {
                break;
            }
            collected += n;
        }
        Ok(())
    }
}
