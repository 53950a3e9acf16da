//! What every store promises, as one suite of tests that each of them runs.
//!
//! ```
//! use taskscout_store::{Memory, testing};
//!
//! let memory = Memory::new();
//! testing::all(&|| Ok(Box::new(memory.handle())))?;
//! # Ok::<(), taskscout_store::Error>(())
//! ```

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::log::{Kept, NewRecord, Query, Store};

/// Opens a further handle on the store under test.
pub type Open<'a> = dyn Fn() -> Result<Box<dyn Store>> + Sync + 'a;

/// Runs every test of the suite on a store, which may hold studies already.
///
/// # Errors
/// What the store refuses and should not.
///
/// # Panics
/// A promise that is not kept.
pub fn all(open: &Open<'_>) -> Result<()> {
    names(open)?;
    conflicts(open)?;
    refusals(open)?;
    large_and_odd(open)?;
    kept_values(open)?;
    snapshots(open)?;
    chunks(open)?;
    handles(open)?;
    writers(open, 8, 50)?;
    reader_during_writes(open)?;
    claims(open)
}

/// A record that says something, each at a time of its own.
#[must_use]
pub fn record(kind: &str, body: &str) -> NewRecord {
    static TIME: AtomicU64 = AtomicU64::new(1_700_000_000_000_000);
    let time_us = TIME.fetch_add(1, Ordering::Relaxed);
    NewRecord {
        time_us: i64::try_from(time_us).unwrap_or(i64::MAX),
        author: "tester".into(),
        kind: kind.into(),
        body: body.into(),
        rows: Vec::new(),
    }
}

/// A name that no earlier run on the same store has used.
fn fresh(what: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let process = std::process::id();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.map_or(0, |time| time.as_nanos());
    format!("{what} {process}.{now}.{count}")
}

fn kept(key: &str, version: u64, body: &[u8]) -> Kept {
    Kept {
        key: key.into(),
        version,
        body: body.into(),
    }
}

fn names(open: &Open<'_>) -> Result<()> {
    let mut store = open()?;
    for what in [
        "plain",
        "wind tunnel / 風洞 'quoted' \"x\" ; %_\\",
        "ÄÖ\u{301}🙂",
    ] {
        let study = fresh(what);
        let first = record("created", "one");
        assert_eq!(store.create(&study, std::slice::from_ref(&first))?, 1);
        let twice = store.create(&study, &[record("created", "two")]);
        assert!(matches!(twice, Err(Error::Exists { .. })), "{twice:?}");
        let loaded = store.load(&study, &Query::all())?;
        assert_eq!((loaded.version, loaded.records.len()), (1, 1));
        assert_eq!(loaded.records[0].body, first.body);
        assert_eq!(loaded.records[0].author, first.author);
        assert_eq!(loaded.records[0].time_us, first.time_us);
        let last = record("noted", "three");
        store.append(&study, 1, std::slice::from_ref(&last), &[])?;
        let heads = store.list()?;
        let head = heads.iter().find(|head| head.study == study);
        let seen = head.map(|head| (head.version, head.created_us, head.changed_us));
        assert_eq!(seen, Some((2, first.time_us, last.time_us)));
        assert!(heads.is_sorted_by(|a, b| a.study < b.study), "{heads:?}");
    }
    Ok(())
}

fn conflicts(open: &Open<'_>) -> Result<()> {
    let (mut store, study) = (open()?, fresh("conflicts"));
    store.create(&study, &[record("a", "1"), record("b", "2")])?;
    for expected in [0, 1, 3, u64::MAX] {
        let refused = store.append(&study, expected, &[record("c", "3")], &[kept("k", 1, b"x")]);
        let wanted = Error::Conflict {
            study: study.clone(),
            expected,
            found: 2,
        };
        assert_eq!(refused, Err(wanted));
    }
    let loaded = store.load(&study, &Query::all().with("k"))?;
    assert_eq!((loaded.version, loaded.kept.len()), (2, 0));
    assert_eq!(store.append(&study, 2, &[record("c", "3")], &[])?, 3);
    let since = store.load(&study, &Query::since(1))?;
    let versions: Vec<u64> = since.records.iter().map(|record| record.version).collect();
    assert_eq!(versions, [2, 3]);
    assert!(store.load(&study, &Query::since(3))?.records.is_empty());
    let behind = store.load(&study, &Query::since(4));
    assert!(
        matches!(behind, Err(Error::Behind { found: 3, .. })),
        "{behind:?}"
    );
    Ok(())
}

fn refusals(open: &Open<'_>) -> Result<()> {
    let (mut store, study) = (open()?, fresh("refusals"));
    let note = [record("a", "1")];
    let nothing: [Result<u64>; 4] = [
        store.create(&study, &[]),
        store.create("", &note),
        store.create(&"n".repeat(501), &note),
        store.create("zero\0byte", &note),
    ];
    for refused in nothing {
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    }
    let missing = store.load(&study, &Query::all());
    assert!(matches!(missing, Err(Error::NoStudy { .. })), "{missing:?}");
    let missing = store.append(&study, 0, &note, &[]);
    assert!(matches!(missing, Err(Error::NoStudy { .. })), "{missing:?}");
    let missing = store.append(&study, 0, &[], &[kept("k", 0, b"")]);
    assert!(matches!(missing, Err(Error::NoStudy { .. })), "{missing:?}");
    store.create(&study, &note)?;
    let ahead = store.append(&study, 1, &note, &[kept("k", 3, b"")]);
    assert!(matches!(ahead, Err(Error::Invalid(_))), "{ahead:?}");
    assert_eq!(store.load(&study, &Query::all())?.version, 1);
    // Nothing to append: whatever the version, nothing happens.
    assert_eq!(store.append(&study, 7, &[], &[])?, 1);
    Ok(())
}

fn large_and_odd(open: &Open<'_>) -> Result<()> {
    let (mut store, study) = (open()?, fresh("large"));
    let large: Vec<u8> = (0..20_u32 << 20)
        .map(|i| (i.wrapping_mul(i) >> 7) as u8)
        .collect();
    let mut big = record("big", "");
    big.body.clone_from(&large);
    big.time_us = i64::MIN;
    big.author = "Zoë O'Neill\n\t\u{1F600}".into();
    let empty = NewRecord::default();
    store.create(&study, &[big.clone(), empty])?;
    store.append(&study, 2, &[], &[kept("large", 2, &large)])?;
    let loaded = open()?.load(&study, &Query::all().with("large"))?;
    assert!(loaded.records[0].body == large && loaded.kept[0].body == large);
    assert_eq!(loaded.records[0].author, big.author);
    assert_eq!(loaded.records[0].time_us, i64::MIN);
    assert_eq!(loaded.records[1].kind, "");
    Ok(())
}

fn kept_values(open: &Open<'_>) -> Result<()> {
    let (mut store, study) = (open()?, fresh("kept"));
    store.create(&study, &[record("a", "1")])?;
    store.append(
        &study,
        1,
        &[record("b", "2")],
        &[kept("model", 2, b"new"), kept("lease/1", 1, b"")],
    )?;
    // Whoever took longer does not replace what is newer; the same version does.
    store.append(&study, 0, &[], &[kept("model", 1, b"old")])?;
    store.append(
        &study,
        0,
        &[],
        &[kept("lease/1", 1, b"anna"), kept("lease/2", 0, b"bert")],
    )?;
    let loaded = store.load(&study, &Query::since(2).with("model").with("none"))?;
    assert_eq!(loaded.kept, [kept("model", 2, b"new")]);
    assert_eq!((loaded.version, loaded.records.len()), (2, 0));
    let leases = store.load(&study, &Query::since(2).with_all("lease/"))?;
    let expected = [kept("lease/1", 1, b"anna"), kept("lease/2", 0, b"bert")];
    assert_eq!(leases.kept, expected);
    assert!(
        store
            .load(&study, &Query::all().with_all("lease_"))?
            .kept
            .is_empty()
    );
    assert!(store.load(&study, &Query::all())?.kept.is_empty());
    Ok(())
}

fn snapshots(open: &Open<'_>) -> Result<()> {
    let (mut store, study) = (open()?, fresh("snapshots"));
    store.create(&study, &[record("a", "1"), record("b", "2")])?;
    let query = Query::snapshot("state");
    assert_eq!(store.load(&study, &query)?.records.len(), 2);
    store.append(&study, 2, &[record("c", "3")], &[kept("state", 2, b"two")])?;
    let loaded = store.load(&study, &query)?;
    assert_eq!(loaded.kept("state").map(|kept| kept.version), Some(2));
    let versions: Vec<u64> = loaded.records.iter().map(|record| record.version).collect();
    assert_eq!(versions, [3]);
    Ok(())
}

fn chunks(open: &Open<'_>) -> Result<()> {
    let (mut store, study) = (open()?, fresh("chunks"));
    let mut told = record("told", "rows");
    told.rows = (0..5_u8)
        .map(|i| vec![i; 1 + 70_000 * usize::from(i)])
        .collect();
    store.create(&study, &[record("a", "1"), told.clone(), record("b", "2")])?;
    let loaded = store.load(&study, &Query::all())?;
    let counts: Vec<usize> = loaded
        .records
        .iter()
        .map(|record| record.row_chunks)
        .collect();
    assert_eq!(counts, [0, 5, 0]);
    let mut found = Vec::new();
    store.rows(&study, 2, &mut |chunk| {
        found.push(chunk);
        Ok(())
    })?;
    assert_eq!(found, told.rows);
    store.rows(&study, 1, &mut |_| {
        Err(Error::Stopped("no rows here".into()))
    })?;
    let stopped = store.rows(&study, 2, &mut |_| Err(Error::Stopped("enough".into())));
    assert_eq!(stopped, Err(Error::Stopped("enough".into())));
    for version in [0, 4] {
        let none = store.rows(&study, version, &mut |_| Ok(()));
        assert!(
            matches!(none, Err(Error::NoRecord { last: 3, .. })),
            "{none:?}"
        );
    }
    Ok(())
}

fn handles(open: &Open<'_>) -> Result<()> {
    let (mut one, mut other, study) = (open()?, open()?, fresh("handles"));
    one.create(&study, &[record("a", "1")])?;
    for round in 0..5 {
        let version = 1 + 2 * round;
        assert_eq!(other.load(&study, &Query::all())?.version, version);
        other.append(&study, version, &[record("b", "other")], &[])?;
        let late = one.append(&study, version, &[record("b", "late")], &[]);
        assert!(matches!(late, Err(Error::Conflict { .. })), "{late:?}");
        one.append(&study, version + 1, &[record("b", "one")], &[])?;
    }
    Ok(())
}

/// Many writers at once: each appends until its own records are in; nothing is lost or twice, and the
/// version that each append answered is the place of its record.
fn writers(open: &Open<'_>, threads: usize, each: usize) -> Result<()> {
    let study = fresh("writers");
    open()?.create(&study, &[record("created", "")])?;
    let work = |thread: usize| -> Result<Vec<(u64, String)>> {
        let mut store = open()?;
        let mut version = store.load(&study, &Query::all())?.version;
        let mut mine = Vec::new();
        while mine.len() < each {
            let body = format!("{thread}:{}", mine.len());
            match store.append(&study, version, &[record("told", &body)], &[]) {
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
    std::thread::scope(|scope| -> Result<()> {
        let running: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(move || work(thread)))
            .collect();
        for thread in running {
            let done = thread.join();
            let done = done.map_err(|_| Error::Invalid("a writer panicked".into()))??;
            acknowledged.extend(done);
        }
        Ok(())
    })?;
    let loaded = open()?.load(&study, &Query::since(1))?;
    let there: BTreeSet<(u64, String)> = loaded
        .records
        .iter()
        .map(|record| (record.version, String::from_utf8_lossy(&record.body).into()))
        .collect();
    assert_eq!(loaded.records.len(), threads * each);
    assert_eq!(there, acknowledged);
    Ok(())
}

/// A reader never sees half of an append: pairs of records and the value kept with them belong together.
fn reader_during_writes(open: &Open<'_>) -> Result<()> {
    let study = fresh("reader");
    open()?.create(&study, &[record("created", ""), record("pair", "")])?;
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| -> Result<()> {
        let reader = scope.spawn(|| -> Result<usize> {
            let (mut store, mut seen) = (open()?, 0);
            loop {
                let last = done.load(Ordering::Acquire);
                let loaded = store.load(&study, &Query::all().with("state"))?;
                assert_eq!(loaded.version % 2, 0);
                assert_eq!(loaded.records.len() as u64, loaded.version);
                let state = loaded.kept("state").map_or(2, |kept| kept.version);
                assert_eq!(state, loaded.version);
                seen += 1;
                if last {
                    return Ok(seen);
                }
            }
        });
        let write = || -> Result<()> {
            let mut store = open()?;
            for pair in 1..25 {
                let new = [record("pair", "left"), record("pair", "right")];
                store.append(&study, 2 * pair, &new, &[kept("state", 2 * pair + 2, b"s")])?;
            }
            Ok(())
        };
        let written = write();
        done.store(true, Ordering::Release);
        let seen = reader.join();
        written?;
        let seen = seen.map_err(|_| Error::Invalid("the reader panicked".into()))??;
        assert!(seen > 0);
        Ok(())
    })
}

fn claims(open: &Open<'_>) -> Result<()> {
    let (mut one, mut other, study) = (open()?, open()?, fresh("claims"));
    one.create(&study, &[record("a", "1")])?;
    assert!(one.claim(&study, "training")?);
    assert!(one.claim(&study, "training")?);
    assert!(!other.claim(&study, "training")?);
    assert!(other.claim(&study, "report")?);
    // What another handle has cannot be given back.
    other.release(&study, "training")?;
    assert!(!other.claim(&study, "training")?);
    // A claim does not keep anybody from writing.
    other.append(&study, 1, &[record("b", "2")], &[])?;
    one.release(&study, "training")?;
    assert!(other.claim(&study, "training")?);
    drop(other);
    assert!(ends_soon(|| one.claim(&study, "training"))?);
    assert!(one.claim(&study, "report")?);
    Ok(())
}

/// Whether something becomes true within a few seconds: a server may learn late that a client is gone.
///
/// # Errors
/// Those of `check`.
pub fn ends_soon(mut check: impl FnMut() -> Result<bool>) -> Result<bool> {
    let start = std::time::Instant::now();
    while start.elapsed().as_secs() < 10 {
        if check()? {
            return Ok(true);
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    Ok(false)
}
