//! The loop, turned: ask a study, collect from a source, tell it what came.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::source::{TaskSource, Visit};
use crate::strategy::PlanItem;
use crate::study::{Command, Event, Progress, Study, StudyFile, TrackedItem};
use crate::task::{Task, TaskId};

/// Whoever wants to know what happens to a study: progress, logs, a live page. `()` does not.
pub trait Observer {
    /// An event has been applied.
    fn on_event(&mut self, study: &Study, event: &Event) {
        let _ = (study, event);
    }

    /// Whether an item whose rows the source cannot give is given up, and the loop goes on. Otherwise it
    /// stops with the source's error, and the item stays open.
    fn gives_up(&mut self, item: &PlanItem, error: &Error) -> bool {
        let _ = (item, error);
        true
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
        self.take_in(event)
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
/// source cannot give now ([`Error::Source`]) is given up with its reason, and the loop goes on, unless
/// the observer wants it to stop. An item of which fewer rows come than were asked for stays open until
/// the next round.
///
/// Rows come from generators derived from the study's seed, the round, the item and the rows that it has:
/// the same study and source give the same rows, whether or not the loop was interrupted in between.
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
        let event = ask(study.study(), source, budget)?;
        take(study, event, observer)?;
        collect(study, source, observer)?;
    }
    Ok(())
}

/// Plans a round within what the source has left.
fn ask(study: &Study, source: &dyn TaskSource, budget: usize) -> Result<Event> {
    let told: HashMap<&TaskId, usize> = study
        .data()
        .rows_by_task()
        .into_iter()
        .map(|(task, rows)| (&task.id, rows))
        .collect();
    let available = |task: &Task| {
        let told = told.get(&task.id).copied().unwrap_or(0);
        source.available(task).map(|rows| rows.saturating_sub(told))
    };
    study.decide(&Command::Ask {
        budget,
        available: Some(&available),
    })
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
    for tracked in open {
        match visit(study, source, &tracked, observer) {
            Err(error @ Error::Source { .. }) if observer.gives_up(&tracked.item, &error) => {
                let event = study.study().decide(&Command::Fail {
                    item: tracked.item.id,
                    reason: &error.to_string(),
                })?;
                take(study, event, observer)?;
            }
            outcome => outcome?,
        }
    }
    Ok(())
}

/// Collects the rows of an item that are still missing.
fn visit(
    study: &mut impl Drive,
    source: &mut dyn TaskSource,
    tracked: &TrackedItem,
    observer: &mut dyn Observer,
) -> Result<()> {
    let item = &tracked.item;
    let visit = Visit {
        item,
        round: tracked.round,
        collected: tracked.collected,
        before: study.study().data().rows_of(&item.task.id),
        seed: study.study().config().seed,
    };
    source.collect(&visit, &mut |samples| {
        let event = study.study().decide(&Command::Tell {
            item: item.id,
            achieved: None,
            samples,
        })?;
        take(study, event, observer)
    })
}
