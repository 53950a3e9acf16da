//! The loop: batches, interruptions, and sources that fail.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use taskscout::driver::{Observer, run};
use taskscout::prelude::*;
use taskscout::source::{BATCH_ROWS, Tell, Visit};
use taskscout::strategy::PlanItem;
use taskscout::study::{Event, Progress};

/// `y = w x`, as many rows as one likes, and a note of how many were asked for at a time.
#[derive(Default)]
struct Springs {
    asked: Vec<usize>,
    /// Calls after which it fails.
    fails_after: Option<usize>,
}

impl TaskSource for Springs {
    fn sample(&mut self, task: &Task, n: usize, rng: &mut Rng) -> Result<Samples> {
        if self
            .fails_after
            .is_some_and(|calls| self.asked.len() >= calls)
        {
            return Err(Error::source("the spring", "it broke"));
        }
        self.asked.push(n);
        let x: Vec<f64> = (0..n).map(|_| normal(rng)).collect();
        let y = x.iter().map(|x| task[0] * x).collect();
        Samples::new(x, 1, y, 1)
    }
}

/// Stops where the source fails.
struct Strict;

impl Observer for Strict {
    fn gives_up(&mut self, _item: &PlanItem, _error: &Error) -> bool {
        false
    }
}

fn study() -> Study {
    Study::builder(Space::boxed(vec![0.5], vec![1.0]).unwrap())
        .inputs(1)
        .strategy(StrategyKind::Passive)
        .seed(3)
        .build()
        .unwrap()
}

#[test]
fn rows_come_in_batches_of_bounded_size() {
    let (mut study, mut springs) = (study(), Springs::default());
    run(&mut study, &mut springs, &[3 * BATCH_ROWS], &mut ()).unwrap();
    assert_eq!(study.data().source_rows(), 3 * BATCH_ROWS);
    assert!(springs.asked.iter().all(|&n| n <= BATCH_ROWS));
    assert!(springs.asked.len() > study.items().len());
}

#[test]
fn an_interrupted_loop_collects_the_same_rows() {
    let (mut whole, mut cut) = (study(), study());
    run(
        &mut whole,
        &mut Springs::default(),
        &[3 * BATCH_ROWS],
        &mut (),
    )
    .unwrap();
    let mut breaking = Springs {
        fails_after: Some(1),
        ..Springs::default()
    };
    let error = run(&mut cut, &mut breaking, &[3 * BATCH_ROWS], &mut Strict).unwrap_err();
    assert!(error.to_string().contains("it broke"), "{error}");
    let told = cut.data().source_rows();
    assert!(told > 0 && told < 3 * BATCH_ROWS, "{told}");
    // The item stays open, and the next call goes on with it.
    run(&mut cut, &mut Springs::default(), &[], &mut ()).unwrap();
    assert_eq!(cut.snapshot().unwrap(), whole.snapshot().unwrap());
}

#[test]
fn without_an_opinion_an_item_that_fails_is_given_up() {
    struct Failures(Vec<String>);
    impl Observer for Failures {
        fn on_event(&mut self, _study: &Study, event: &Event) {
            if let Event::Failed { reason, .. } = event {
                self.0.push(reason.clone());
            }
        }
    }
    let mut broken = Springs {
        fails_after: Some(0),
        ..Springs::default()
    };
    let (mut study, mut failures) = (study(), Failures(Vec::new()));
    run(&mut study, &mut broken, &[100], &mut failures).unwrap();
    assert_eq!(failures.0.len(), study.items().len());
    assert!(
        study
            .items()
            .iter()
            .all(|one| one.progress != Progress::Open)
    );
    assert!(failures.0.iter().all(|reason| reason.contains("it broke")));
}

#[test]
fn a_source_may_collect_in_its_own_way() {
    /// Counts up over the batches of an item.
    struct Counter;
    impl TaskSource for Counter {
        fn sample(&mut self, _task: &Task, _n: usize, _rng: &mut Rng) -> Result<Samples> {
            Err(Error::State(
                "rows of a counter follow on each other".into(),
            ))
        }

        fn collect(&mut self, visit: &Visit<'_>, tell: Tell<'_>) -> Result<()> {
            let from = visit.before;
            let x: Vec<f64> = (from..from + visit.missing()).map(|i| i as f64).collect();
            tell(&Samples::new(x.clone(), 1, x, 1)?)
        }
    }
    let mut study = study();
    run(&mut study, &mut Counter, &[40, 40], &mut ()).unwrap();
    assert_eq!(study.data().source_rows(), 80);
}
