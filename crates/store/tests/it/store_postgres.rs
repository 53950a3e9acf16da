//! The store in a server, on a server of the test's own.
#![allow(clippy::unwrap_used, clippy::panic)] // a broken test set-up should be loud

use crate::common::cluster;
use crate::common::proxy;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cluster::Cluster;
use taskscout_store::{Error, Postgres, Query, Result, Store as _, open, open_existing, testing};
use testing::record;

#[test]
fn postgres_keeps_the_promises_of_every_store() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let url = cluster.url();
    let error = open_existing(&url).err().unwrap();
    assert!(matches!(error, Error::Foreign { .. }), "{error}");
    // Two first users at once.
    std::thread::scope(|scope| {
        let openings: Vec<_> = (0..6)
            .map(|_| scope.spawn(|| open(&url).map(drop)))
            .collect();
        for opening in openings {
            opening.join().unwrap().unwrap();
        }
    });
    testing::all(&|| open(&url)).unwrap();
    crate::common::claims_end_with_their_process(&url);
    crate::common::kill_while_appending(&url, 5);
}

#[test]
fn what_a_server_acknowledged_survives_its_crashes_once() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let url = cluster.url();
    let mut store = open(&url).unwrap();
    store.create("tunnel", &[record("created", "")]).unwrap();
    let done = AtomicBool::new(false);
    let write = |writer: usize| -> Result<Vec<(u64, String)>> {
        let (mut store, mut mine) = (open(&url)?, Vec::new());
        let mut version = 1;
        while !done.load(Ordering::Relaxed) {
            let body = format!("{writer}:{}", mine.len());
            let mut new = record("told", &body);
            new.rows = vec![vec![1; 2000]];
            match store.append("tunnel", version, &[new], &[]) {
                Ok(new) => {
                    mine.push((new, body));
                    version = new;
                }
                Err(Error::Conflict { found, .. }) => version = found,
                Err(error) => return Err(error),
            }
        }
        Ok(mine)
    };
    let mut acknowledged = BTreeSet::new();
    std::thread::scope(|scope| {
        let write = &write;
        let writers: Vec<_> = (0..3)
            .map(|writer| scope.spawn(move || write(writer)))
            .collect();
        for crash in 0..6 {
            std::thread::sleep(Duration::from_millis(150 + 37 * crash));
            cluster.crash();
            cluster.up();
        }
        std::thread::sleep(Duration::from_millis(200));
        done.store(true, Ordering::Relaxed);
        for writer in writers {
            acknowledged.extend(writer.join().unwrap().unwrap());
        }
    });
    let loaded = store.load("tunnel", &Query::since(1)).unwrap();
    let there = loaded.records.iter().map(|record| {
        let body = String::from_utf8(record.body.clone()).unwrap();
        (record.version, body)
    });
    let there: BTreeSet<(u64, String)> = there.collect();
    assert!(acknowledged.len() > 20, "{} appends", acknowledged.len());
    assert_eq!(there, acknowledged);
    let bodies: BTreeSet<&String> = there.iter().map(|(_, body)| body).collect();
    assert_eq!(bodies.len(), loaded.records.len());
}

#[test]
fn a_commit_whose_answer_is_lost_is_looked_up() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (port, state) = proxy::start(cluster.port());
    let mut store = Postgres::create_or_open(&cluster::url(port)).unwrap();
    let mut direct = open(&cluster.url()).unwrap();
    let break_at = |place| state.store(place, Ordering::SeqCst);
    break_at(proxy::AFTER_COMMIT);
    assert_eq!(store.create("tunnel", &[record("a", "1")]).unwrap(), 1);
    for (version, place) in [
        (1, proxy::BEFORE_COMMIT),
        (2, proxy::AFTER_COMMIT),
        (3, proxy::AFTER_COMMIT),
    ] {
        break_at(place);
        let new = [record("told", "rows")];
        assert_eq!(
            store.append("tunnel", version, &new, &[]).unwrap(),
            version + 1
        );
        assert_eq!(state.load(Ordering::SeqCst), proxy::NOWHERE, "it did break");
        let there = direct.load("tunnel", &Query::all()).unwrap();
        assert_eq!(there.version, version + 1);
    }
    // A conflict stays one, and another's record is not taken for one's own.
    break_at(proxy::BEFORE_COMMIT);
    let late = store.append("tunnel", 3, &[record("told", "rows")], &[]);
    assert!(
        matches!(late, Err(Error::Conflict { found: 4, .. })),
        "{late:?}"
    );
    // The server does not come back: nobody knows.
    break_at(proxy::FOR_GOOD);
    let start = Instant::now();
    let error = store
        .append("tunnel", 4, &[record("told", "last")], &[])
        .unwrap_err();
    assert!(error.maybe_stored(), "{error}");
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(direct.load("tunnel", &Query::all()).unwrap().version, 5);
    // It is still away: nothing was stored, for certain, and that is what the error says.
    let error = store
        .append("tunnel", 5, &[record("told", "next")], &[])
        .unwrap_err();
    assert!(!error.maybe_stored(), "{error}");
    assert!(error.to_string().contains("nothing was stored"), "{error}");
    break_at(proxy::NOWHERE);
    assert_eq!(
        store
            .append("tunnel", 5, &[record("told", "next")], &[])
            .unwrap(),
        6
    );
}

#[test]
fn changed_rows_of_the_tables_are_found() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let url = cluster.url();
    let mut store = open(&url).unwrap();
    let mut told = record("told", "rows");
    told.rows = vec![vec![1, 2, 3]];
    let keep = [taskscout_store::Kept {
        key: "state".into(),
        version: 1,
        body: vec![1],
    }];
    store
        .create("tunnel", &[record("a", "1"), told, record("b", "3")])
        .unwrap();
    store.append("tunnel", 3, &[], &keep).unwrap();
    let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    let mut change = |sql: &str| client.batch_execute(sql).unwrap();
    change("UPDATE taskscout.chunk SET bytes = '\\x010204'");
    let error = store.rows("tunnel", 2, &mut |_| Ok(())).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    change("UPDATE taskscout.kept SET body = '\\x02'");
    let loaded = store.load("tunnel", &Query::snapshot("state")).unwrap();
    assert_eq!(
        (loaded.damaged, loaded.records.len()),
        (vec!["state".to_owned()], 3)
    );
    change("UPDATE taskscout.record SET author = 'other' WHERE version = 2");
    let error = store.load("tunnel", &Query::all()).unwrap_err();
    assert!(
        error.to_string().contains("record 2 of the study `tunnel`"),
        "{error}"
    );
    assert_eq!(
        store
            .load("tunnel", &Query::since(2))
            .unwrap()
            .records
            .len(),
        1
    );
    change("UPDATE taskscout.study SET version = 2");
    let error = store.list().unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    change("UPDATE taskscout.about SET version = 2");
    let error = open(&url).err().unwrap();
    assert!(matches!(error, Error::Newer { .. }), "{error}");
}

#[test]
fn no_error_shows_a_password() {
    let start = Instant::now();
    for url in [
        "postgresql://anna:se/cret@host:port/db",
        "postgresql://anna:secret@127.0.0.1:1/db",
        "postgresql://anna:secret@host/db?sslpassword=secret",
        "postgresql://anna:secret@host/db?sslmode=require",
        "postgresql://anna:secret@no-such-host.invalid/db",
    ] {
        let text = open_existing(url).err().unwrap().to_string();
        assert!(!text.contains("cret"), "{text}");
        assert!(text.len() > 40, "{text}");
    }
    assert!(start.elapsed() < Duration::from_secs(40));
}
