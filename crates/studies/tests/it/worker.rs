//! A worker whose program takes longer than a lease.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

use std::sync::mpsc::channel;
use std::time::Duration;

use taskscout::prelude::*;
use taskscout_store::{Memory, Store};
use taskscout_studies::{
    AskOptions, Column, Definition, ItemState, StoredStudy, WorkEvent, WorkOptions,
};

/// A rig that takes two seconds for whatever it is asked.
const SLOW: &str = r#"
import json, sys, time
for line in sys.stdin:
    request = json.loads(line)
    time.sleep(2)
    for row in range(request["count"]):
        print(json.dumps({"x": [row, 1.0], "y": row + 0.5}))
    sys.stdout.flush()
"#;

fn create(store: Box<dyn Store>) -> StoredStudy {
    let study = Study::builder(Space::boxed(vec![0.0], vec![12.0]).unwrap())
        .inputs(2)
        .target(Target::unknown("tomorrow"))
        .strategy(StrategyKind::Passive)
        .collection(Collection {
            max_tasks: Some(1),
            ..Collection::default()
        })
        .build()
        .unwrap();
    let definition = Definition {
        parameters: vec![Column::named("wind")],
        inputs: vec![Column::named("speed"), Column::named("pitch")],
        outputs: vec![Column::named("drag")],
        ..Definition::default()
    };
    StoredStudy::create(store, "tunnel", definition, &study, "ada").unwrap()
}

#[test]
fn a_measurement_that_outlasts_its_lease_is_not_given_to_another() {
    let folder = tempfile::tempdir().unwrap();
    let store = Memory::new();
    let mut first = create(Box::new(store.handle()));
    let plan = first.ask(&AskOptions::budget(20)).unwrap().plan;
    assert_eq!(plan.items.len(), 1);
    let command = ["python3", "-c", SLOW].map(str::to_owned);
    let options = WorkOptions {
        lease: Duration::from_millis(500),
        journal: folder.path().to_owned(),
        ..first
            .working_with(&command, Duration::from_secs(30))
            .unwrap()
    };
    let (began, begun) = channel();
    let worker = std::thread::spawn(move || {
        let worked = first.work(&options, &mut |event| {
            if let WorkEvent::Started(_) = event {
                began.send(()).unwrap();
            }
        });
        worked.unwrap()
    });
    begun.recv().unwrap();
    // The lease would have been over twice.
    std::thread::sleep(Duration::from_millis(1200));
    let mut second = StoredStudy::open(Box::new(store), "tunnel", "bob", &Registry::new()).unwrap();
    assert_eq!(second.items()[0].state, ItemState::Running);
    assert_eq!(second.start(None, Duration::from_secs(1)).unwrap(), None);
    let worked = worker.join().unwrap();
    assert_eq!((worked.told, worked.failed), (1, 0));
    assert_eq!(worked.rows, plan.items[0].n);
}
