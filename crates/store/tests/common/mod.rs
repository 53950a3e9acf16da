//! What the tests of several stores share: child processes that are killed.
#![allow(clippy::unwrap_used, clippy::panic)] // a broken test set-up should be loud

pub(crate) mod cluster;
pub(crate) mod proxy;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use taskscout_store::testing::{ends_soon, record};
use taskscout_store::{Error, Query, open};

/// Says to a child what to do: `claim`, or `append`.
const TASK: &str = "TASKSCOUT_STORE_CHILD";
/// The store that the child opens.
const ADDRESS: &str = "TASKSCOUT_STORE_ADDRESS";

/// Ends its process with itself, so that no failing test leaves one behind.
pub(crate) struct Guard(pub(crate) Child);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// This test program once more, running its test `child` with a task.
pub(crate) fn spawn(task: &str, address: &str) -> Guard {
    let child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "common::child",
            "--nocapture",
            "--test-threads",
            "1",
        ])
        .env(TASK, task)
        .env(ADDRESS, address)
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn();
    Guard(child.unwrap())
}

/// The lines that the child says, without those of the test harness.
pub(crate) fn lines(child: &mut Guard) -> impl Iterator<Item = String> + use<> {
    let out = BufReader::new(child.0.stdout.take().unwrap());
    let lines = out.lines().map_while(Result::ok);
    // The harness writes its own words in front of the first line.
    lines.filter_map(|line| line.split_once("SAYS ").map(|(_, said)| said.to_owned()))
}

/// What a child does; nothing in the test program that started it.
#[test]
fn child() {
    let (Ok(task), Ok(address)) = (std::env::var(TASK), std::env::var(ADDRESS)) else {
        return;
    };
    let mut store = open(&address).unwrap();
    match task.as_str() {
        "claim" => {
            assert!(store.claim("killed", "training").unwrap());
            println!("SAYS claimed");
            std::thread::sleep(std::time::Duration::from_secs(60));
        }
        "append" => {
            let study = "killed";
            let start = std::time::Instant::now();
            let mut version = store.load(study, &Query::all()).unwrap().version;
            while start.elapsed().as_secs() < 30 {
                let body = format!("{}:{}", std::process::id(), version + 1);
                let mut new = record("told", &body);
                new.rows = vec![vec![7; 5000], vec![8; 3]];
                version = store.append(study, version, &[new], &[]).unwrap();
                println!("SAYS {version} {body}");
            }
        }
        other => panic!("unknown task {other}"),
    }
}

/// A claim of a process that is killed is free again.
pub(crate) fn claims_end_with_their_process(address: &str) {
    let mut store = open(address).unwrap();
    let mut child = spawn("claim", address);
    assert_eq!(lines(&mut child).next().as_deref(), Some("claimed"));
    assert!(!store.claim("killed", "training").unwrap());
    child.0.kill().unwrap();
    child.0.wait().unwrap();
    assert!(ends_soon(|| store.claim("killed", "training")).unwrap());
}

/// Kills a process that appends, many times: all that it said was stored is there, where it said, and the
/// log is whole.
pub(crate) fn kill_while_appending(address: &str, times: usize) {
    let mut store = open(address).unwrap();
    match store.create("killed", &[record("created", "")]) {
        Ok(_) | Err(Error::Exists { .. }) => {}
        Err(error) => panic!("{error}"),
    }
    let (mut acknowledged, mut before) = (0, 0);
    for time in 0..times {
        let mut child = spawn("append", address);
        let said = lines(&mut child);
        let (sender, receiver) = std::sync::mpsc::channel();
        let reader = std::thread::spawn(move || {
            let mut all = Vec::new();
            for line in said {
                all.push(line);
                let _ = sender.send(());
            }
            all
        });
        receiver.recv().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(time as u64 * 7 % 40));
        child.0.kill().unwrap();
        child.0.wait().unwrap();
        let said = reader.join().unwrap();
        let loaded = store.load("killed", &Query::all()).unwrap();
        for line in &said {
            // A line may be cut by the kill; then nothing was said.
            let Some((version, body)) = line.split_once(' ') else {
                continue;
            };
            let Some(found) = loaded.records.get(version.parse::<usize>().unwrap() - 1) else {
                panic!("record {version} was acknowledged and is not there");
            };
            assert!(found.body.starts_with(body.as_bytes()), "record {version}");
            acknowledged += 1;
        }
        // At most one more than was said: the one whose answer was cut off.
        let new = loaded.version - before - if before == 0 { 1 } else { 0 };
        assert!(
            new <= said.len() as u64 + 1,
            "{new} records, {} said",
            said.len()
        );
        before = loaded.version;
    }
    assert!(acknowledged >= times);
    for version in [2, before] {
        let mut chunks = Vec::new();
        let mut take = |chunk: Vec<u8>| {
            chunks.push(chunk.len());
            Ok(())
        };
        store.rows("killed", version, &mut take).unwrap();
        assert_eq!(chunks, [5000, 3]);
    }
}
