//! The loop, turned: ask a study, collect from a source, tell it what came.

use crate::data::Samples;
use crate::error::{Error, Result};
use crate::rng::{Purpose, derive};
use crate::source::TaskSource;
use crate::strategy::PlanItem;
use crate::study::{Command, Event, Progress, Study, StudyFile, TrackedItem};
use crate::task::Task;

/// Whoever wants to know what happens to a study: progress, logs, a live page. `()` does not.
pub trait Observer {
    /// An event has been applied.
    fn on_event(&mut self, study: &Study, event: &Event) {
        let _ = (study, event);
    }
}

impl Observer for () {}

/// What can be driven: a study in memory, or one in a file.
pub trait Drive {
    /// The study.
    fn study(&self) -> &Study;

    /// Applies an event that was decided on.
    ///
    /// # Errors
    /// An event that does not follow, or a file that cannot be written.
    fn take(&mut self, event: Event) -> Result<()>;
}

impl Drive for Study {
    fn study(&self) -> &Study {
        self
    }

    fn take(&mut self, event: Event) -> Result<()> {
        self.apply(event).map(|_| ())
    }
}

impl Drive for StudyFile {
    fn study(&self) -> &Study {
        self
    }

    fn take(&mut self, event: Event) -> Result<()> {
        self.append(event).map(|_| ())
    }
}

/// Collects one round for each budget. Items that are still open are collected first; a task that the
/// source cannot give now ([`Error::Source`]) is given up with its reason, and the loop goes on. An item
/// of which fewer rows come than were asked for stays open until the next round.
///
/// Rows come from generators derived from the study's seed, the round and the item: the same study and
/// source give the same rows, whether or not the loop was interrupted in between.
///
/// ```
/// use taskscout::prelude::*;
///
/// /// A spring whose stiffness is the task; soft ones break.
/// struct Springs;
///
/// impl TaskSource for Springs {
///     fn sample(&mut self, task: &Task, n: usize, rng: &mut Rng) -> Result<Samples> {
///         if task[0] < 0.1 {
///             return Err(Error::source("the spring", "it broke"));
///         }
///         let x: Vec<f64> = (0..n).map(|_| normal(rng)).collect();
///         let force = x.iter().map(|x| -task[0] * x).collect();
///         Samples::new(x, 1, force, 1)
///     }
/// }
///
/// let mut study = Study::builder(Space::boxed(vec![0.0], vec![1.0])?)
///     .inputs(1)
///     .strategy(StrategyKind::Passive)
///     .seed(3)
///     .build()?;
/// run(&mut study, &mut Springs, &[40, 40], &mut ())?;
/// assert!(study.items().iter().all(|one| one.progress != Progress::Open));
/// # Ok::<(), taskscout::Error>(())
/// ```
///
/// # Errors
/// What the study refuses, and any failure of the source but [`Error::Source`].
pub fn run(
    study: &mut impl Drive,
    source: &mut dyn TaskSource,
    budgets: &[usize],
    observer: &mut dyn Observer,
) -> Result<()> {
    collect(study, source, observer)?;
    for &budget in budgets {
        let event = {
            let study = study.study();
            let available = |task: &Task| {
                let told = study.data().rows_of(&task.id);
                source.available(task).map(|rows| rows.saturating_sub(told))
            };
            study.decide(&Command::Ask {
                budget,
                available: Some(&available),
            })?
        };
        take(study, event, observer)?;
        collect(study, source, observer)?;
    }
    Ok(())
}

fn take(study: &mut impl Drive, event: Event, observer: &mut dyn Observer) -> Result<()> {
    let told = event.clone();
    study.take(event)?;
    observer.on_event(study.study(), &told);
    Ok(())
}

/// Collects all open items.
fn collect(
    study: &mut impl Drive,
    source: &mut dyn TaskSource,
    observer: &mut dyn Observer,
) -> Result<()> {
    let open = study.study().items().iter();
    let open: Vec<TrackedItem> = open
        .filter(|one| one.progress == Progress::Open)
        .cloned()
        .collect();
    for TrackedItem {
        item,
        round,
        collected,
        ..
    } in open
    {
        let event = match rows(study.study(), source, &item, (round, collected)) {
            Ok(samples) => study.study().decide(&Command::Tell {
                item: item.id,
                achieved: None,
                samples: &samples,
            })?,
            Err(error @ Error::Source { .. }) => study.study().decide(&Command::Fail {
                item: item.id,
                reason: &error.to_string(),
            })?,
            Err(error) => return Err(error),
        };
        take(study, event, observer)?;
    }
    Ok(())
}

/// The rows of an item that are still missing.
fn rows(
    study: &Study,
    source: &mut dyn TaskSource,
    item: &PlanItem,
    (round, collected): (usize, usize),
) -> Result<Samples> {
    let keys = [round as u64, item.id, collected as u64];
    let mut rng = derive(study.config().seed, Purpose::Collect, &keys);
    let missing = item.n.saturating_sub(collected);
    source.sample(&item.task, missing, &mut rng)
}
