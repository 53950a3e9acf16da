//! The store in one file.
#![allow(clippy::unwrap_used, clippy::panic)] // a broken test set-up should be loud

use std::path::Path;

use taskscout_store::{Error, Query, Sqlite, Store as _, open, open_existing, testing};
use testing::record;

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

#[test]
fn sqlite_keeps_the_promises_of_every_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = text(&folder.path().join("studies.db"));
    testing::all(&|| open(&path)).unwrap();
}

#[test]
fn addresses_are_paths_or_of_a_known_kind() {
    let folder = tempfile::tempdir().unwrap();
    let path = text(&folder.path().join("studies.db"));
    open(&path).unwrap();
    for address in [format!("sqlite:{path}"), format!("sqlite:///{path}")] {
        open_existing(&address).unwrap();
    }
    for wrong in ["mysql://anna:secret@host/db", "", "sqlite://"] {
        let error = open(wrong).err().unwrap();
        assert!(matches!(error, Error::Invalid(_)), "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

#[test]
fn a_claim_ends_with_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = text(&folder.path().join("studies.db"));
    crate::common::claims_end_with_their_process(&path);
}

#[test]
fn nothing_acknowledged_is_lost_when_the_writer_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let path = text(&folder.path().join("studies.db"));
    crate::common::kill_while_appending(&path, 20);
}

#[test]
fn a_file_is_made_only_when_a_study_may_begin() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("typo.db");
    let error = open_existing(&text(&path)).err().unwrap().to_string();
    assert!(error.contains("there is no such file"), "{error}");
    assert!(!path.exists());
    let deep = folder.path().join("no/such/studies.db");
    let error = open(&text(&deep)).err().unwrap().to_string();
    assert!(
        error.contains("there is no folder") && error.contains("no/such"),
        "{error}"
    );
    let error = open(&text(folder.path())).err().unwrap().to_string();
    assert!(error.contains("it is a folder"), "{error}");
    std::fs::write(&path, b"").unwrap();
    let error = open_existing(&text(&path)).err().unwrap();
    assert!(matches!(error, Error::Foreign { .. }), "{error}");
}

#[test]
fn files_of_others_are_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("results.csv");
    std::fs::write(&table, "a,b\n1,2\n".repeat(200)).unwrap();
    let before = std::fs::read(&table).unwrap();
    for opened in [open(&text(&table)), open_existing(&text(&table))] {
        let error = opened.err().unwrap();
        assert!(matches!(error, Error::Foreign { .. }), "{error}");
    }
    assert_eq!(std::fs::read(&table).unwrap(), before);
    let other = folder.path().join("other.db");
    let connection = rusqlite::Connection::open(&other).unwrap();
    connection.execute_batch("CREATE TABLE t (x)").unwrap();
    let error = open(&text(&other)).err().unwrap();
    assert!(matches!(error, Error::Foreign { .. }), "{error}");
}

#[test]
fn a_newer_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("studies.db");
    drop(Sqlite::create_or_open(&path).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("PRAGMA user_version = 2").unwrap();
    let error = Sqlite::open(&path).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Newer {
                found: 2,
                known: 1,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_full_disk_stores_nothing_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("studies.db");
    let mut store = Sqlite::create_or_open(&path).unwrap();
    store.create("tunnel", &[record("a", "1")]).unwrap();
    store.limit_pages(40).unwrap();
    let mut large = record("b", "");
    large.body = vec![1; 1 << 20];
    let error = store.append("tunnel", 1, &[large], &[]).unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
    assert!(error.to_string().contains("nothing was stored"), "{error}");
    assert!(!error.maybe_stored());
    assert_eq!(
        store.append("tunnel", 1, &[record("b", "2")], &[]).unwrap(),
        2
    );
    assert_eq!(
        Sqlite::open(&path)
            .unwrap()
            .load("tunnel", &Query::all())
            .unwrap()
            .version,
        2
    );
}

#[test]
fn a_file_that_may_not_be_written_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("studies.db");
    let mut store = Sqlite::create_or_open(&path).unwrap();
    store.create("tunnel", &[record("a", "1")]).unwrap();
    drop(store);
    let mut store = Sqlite::open_read_only(&path).unwrap();
    assert_eq!(store.list().unwrap()[0].version, 1);
    let error = store
        .append("tunnel", 1, &[record("b", "2")], &[])
        .unwrap_err();
    assert!(error.to_string().contains("may not be written"), "{error}");
}

#[test]
fn every_connection_waits_and_syncs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("studies.db");
    for mut store in [
        Sqlite::create_or_open(&path).unwrap(),
        Sqlite::open(&path).unwrap(),
    ] {
        let mut value = |name: &str| store.setting(name).unwrap();
        assert_eq!(value("journal_mode"), "wal");
        assert_eq!(value("synchronous"), "2");
        assert_eq!(value("busy_timeout"), "30000");
        assert_eq!(value("foreign_keys"), "1");
    }
}

#[test]
fn many_open_a_new_file_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..5 {
        let path = folder.path().join(format!("{round}.db"));
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    let mut store = Sqlite::create_or_open(path).unwrap();
                    store
                        .create(&format!("study {thread}"), &[record("a", "1")])
                        .unwrap();
                });
            }
        });
        assert_eq!(Sqlite::open(&path).unwrap().list().unwrap().len(), 8);
    }
}

#[test]
fn the_file_alone_is_complete_when_nobody_has_it_open() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (
        folder.path().join("studies.db"),
        folder.path().join("copy.db"),
    );
    let mut store = Sqlite::create_or_open(&path).unwrap();
    store.create("tunnel", &[record("a", "1")]).unwrap();
    store.append("tunnel", 1, &[record("b", "2")], &[]).unwrap();
    drop(store);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    std::fs::copy(&path, &copy).unwrap();
    assert_eq!(
        Sqlite::open(&copy)
            .unwrap()
            .load("tunnel", &Query::all())
            .unwrap()
            .version,
        2
    );
}
