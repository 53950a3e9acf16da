//! `taskscout study work`: several workers at once, with a program that crashes on purpose.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::common::Scratch;
use crate::common::cluster::Cluster;
use crate::common::tunnel::{NEW, TOMORROW, conditions, rows};

/// A rig that measures by its seed, and crashes the first time that it is asked for some of the items.
const RIG: &str = r#"
import json, os, random, sys, time
for line in sys.stdin:
    request = json.loads(line)
    mark = f"crashed-{request['seed']}"
    if request["seed"] % 3 == 0 and not os.path.exists(mark):
        open(mark, "w").close()
        sys.exit("the rig crashed")
    time.sleep(0.02)
    rng = random.Random(request["seed"])
    wind, payload = request["task"]
    for _ in range(request["count"]):
        vx, vy, pwm = rng.uniform(-3, 3), rng.uniform(-3, 3), rng.uniform(1300, 1700)
        force = 0.3 * wind * (vx - vy) + payload * (pwm - 1500) / 200 + 0.1 * wind + 4
        print(json.dumps({"x": [vx, vy, pwm], "y": force + rng.gauss(0, 0.05)}))
    sys.stdout.flush()
"#;

fn begin(store: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.file("conditions.csv", &conditions());
    scratch.file("hover.csv", &rows(TOMORROW, 40, 99));
    scratch.file("rig.py", RIG);
    scratch.done(&format!("{NEW} --store {store}"));
    scratch.done(&format!("study target hover.csv --store {store}"));
    scratch
}

const WORK: &str = "study work --budget 120 --rounds 2 --timeout 60s";

fn worker(scratch: &Scratch, store: &str, options: &str) -> Child {
    let line = format!("{WORK} {options} --store {store} --command python3 rig.py");
    let mut command = scratch.command(&line);
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What all workers together made of a study.
fn end(scratch: &Scratch, store: &str) -> (Vec<Value>, Vec<u8>) {
    let said = |line: &str| scratch.said(&format!("{line} --store {store}"));
    let status = said("study status");
    for (state, count) in status["items"].as_object().unwrap() {
        assert_eq!(count.as_u64().unwrap() > 0, state == "told", "{status}");
    }
    let mut told: Vec<Value> = said("study batches")
        .as_array()
        .unwrap()
        .iter()
        .map(|batch| serde_json::json!([batch["of"], batch["id"], batch["rows"]]))
        .collect();
    told.sort_by_key(Value::to_string);
    let mut of: Vec<String> = told.iter().map(|batch| batch[0].to_string()).collect();
    of.dedup();
    assert_eq!(of.len(), told.len(), "every item is told once: {told:?}");
    scratch.done(&format!(
        "study model --out model.safetensors --store {store}"
    ));
    (
        told,
        std::fs::read(scratch.path("model.safetensors")).unwrap(),
    )
}

fn with_workers(store: &str, count: usize) -> (Vec<Value>, Vec<u8>) {
    let scratch = begin(store);
    let workers: Vec<Child> = (0..count).map(|_| worker(&scratch, store, "")).collect();
    for worker in workers {
        let output = worker.wait_with_output().unwrap();
        crate::common::succeeded(&output);
    }
    end(&scratch, store)
}

#[test]
fn one_worker_or_four_end_the_same_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let one = with_workers(&path("one.db"), 1);
    let four = with_workers(&path("four.db"), 4);
    assert_eq!(one.0, four.0);
    assert_eq!(one.1, four.1, "the model depends on the number of workers");
}

#[test]
fn workers_on_postgresql_end_as_on_sqlite() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let one = with_workers(&folder.path().join("one.db").display().to_string(), 1);
    let three = with_workers(&cluster.url(), 3);
    assert_eq!(one, three);
}

#[test]
fn the_items_of_a_killed_worker_are_measured_by_another() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("s.db").display().to_string();
    let scratch = begin(&store);
    scratch.file(
        "slow.py",
        &RIG.replace("time.sleep(0.02)", "time.sleep(600)"),
    );
    let line = format!("study work --timeout 1s --retries 5 --store {store} -- python3 slow.py");
    scratch.done(&format!("study ask --budget 60 --store {store}"));
    let mut child = scratch
        .command(&line)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // As soon as it has an item, it is gone.
    let running = |scratch: &Scratch| {
        let status = scratch.said(&format!("study status --store {store}"));
        status["items"]["running"].as_u64().unwrap()
    };
    while running(&scratch) == 0 {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let other = worker(&scratch, &store, "--retries 5");
    let output = other.wait_with_output().unwrap();
    crate::common::succeeded(&output);
    end(&scratch, &store);
}
