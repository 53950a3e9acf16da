//! Files that were cut or changed: what is read is right, or refused, or said to be an earlier state; and what
//! is intact can be recovered.
#![allow(clippy::unwrap_used, clippy::panic)] // a broken test set-up should be loud

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use taskscout_store::{
    Error, Kept, LOST, NewRecord, Query, Rows as _, Sqlite, Store as _, recover, testing::record,
};

/// What is in the file, by study.
type Content = BTreeMap<String, Vec<NewRecord>>;

fn content() -> Content {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut noise = |bytes: usize| (0..bytes).map(|_| rng.random()).collect::<Vec<u8>>();
    let mut studies = Content::new();
    for (study, count) in [("tunnel", 30), ("flight 風", 12), ("third", 3)] {
        let one = |i: usize| {
            let mut new = record("told", &format!("{study} {i}"));
            new.body.extend(noise([10, 300, 2500, 9000][i % 4]));
            if i % 5 == 1 {
                new.rows = vec![noise(6000), noise(100)];
            }
            new
        };
        studies.insert(study.into(), (0..count).map(one).collect());
    }
    studies
}

fn kept(version: u64) -> Kept {
    Kept {
        key: "state".into(),
        version,
        body: vec![9; 5000],
    }
}

fn fill(path: &Path, content: &Content) {
    let mut store = Sqlite::create_or_open(path).unwrap();
    for (study, records) in content {
        store.create(study, &records[..1]).unwrap();
        for (version, record) in records.iter().enumerate().skip(1) {
            store
                .append(study, version as u64, std::slice::from_ref(record), &[])
                .unwrap();
        }
        let all = records.len() as u64;
        store.append(study, 0, &[], &[kept(all)]).unwrap();
    }
}

/// How a damaged file was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Right,
    Refused,
    Earlier,
}

/// Reads everything and compares it with what was written: nothing else may be read. An earlier state is right
/// only if it is said to be one.
fn judge(path: &Path, content: &Content, case: &str) -> Verdict {
    let mut store = match Sqlite::open(path) {
        Ok(store) => store,
        Err(error) => return refused(&error, case),
    };
    let mut verdict = Verdict::Right;
    match store.list() {
        Err(error) => verdict = refused(&error, case),
        Ok(heads) => {
            for head in &heads {
                assert!(content.contains_key(&head.study), "{case}: {}", head.study);
            }
            if heads.len() != content.len() {
                assert!(!store.warnings().is_empty(), "{case}: a study is missing");
                verdict = verdict.max(Verdict::Earlier);
            }
        }
    }
    for (study, records) in content {
        verdict = verdict.max(judge_study(&mut store, study, records, case));
    }
    verdict
}

fn judge_study(store: &mut Sqlite, study: &str, records: &[NewRecord], case: &str) -> Verdict {
    let loaded = match store.load(study, &Query::all().with("state")) {
        Ok(loaded) => loaded,
        Err(Error::NoStudy { .. }) => {
            assert!(!store.warnings().is_empty(), "{case}: {study} is missing");
            return Verdict::Earlier;
        }
        Err(error) => return refused(&error, case),
    };
    assert!(
        loaded
            .kept
            .iter()
            .all(|found| *found == kept(found.version)),
        "{case}"
    );
    assert_eq!(loaded.version, loaded.records.len() as u64, "{case}");
    let mut verdict = Verdict::Right;
    if loaded.records.len() != records.len() {
        assert!(!store.warnings().is_empty(), "{case}: records are missing");
        verdict = Verdict::Earlier;
    }
    for (found, new) in loaded.records.iter().zip(records) {
        same(found, new, case);
        match rows(store, study, found.version) {
            Ok(rows) => assert_eq!(rows, new.rows, "{case}"),
            Err(error) => verdict = refused(&error, case),
        }
    }
    verdict
}

fn same(found: &taskscout_store::Record, new: &NewRecord, case: &str) {
    let equal = found.body == new.body
        && found.author == new.author
        && found.kind == new.kind
        && found.time_us == new.time_us
        && found.row_chunks == new.rows.len();
    assert!(equal, "{case}: record {} was changed", found.version);
}

fn rows(store: &mut Sqlite, study: &str, version: u64) -> taskscout_store::Result<Vec<Vec<u8>>> {
    let mut all = Vec::new();
    store.rows(study, version, &mut |chunk| {
        all.push(chunk);
        Ok(())
    })?;
    Ok(all)
}

fn refused(error: &Error, case: &str) -> Verdict {
    let known = matches!(
        error,
        Error::Damaged { .. } | Error::Foreign { .. } | Error::Newer { .. } | Error::File { .. }
    );
    assert!(known, "{case}: {error}");
    Verdict::Refused
}

/// Recovers into a new file, and gives how many records were not found; what was found is what was written.
fn judge_recovered(path: &Path, content: &Content, case: &str) -> usize {
    let new = path.with_extension("recovered");
    remove(&new);
    let recovered = recover(path, &new).unwrap();
    let mut store = Sqlite::open(&new).unwrap();
    let mut there = 0;
    for found in &recovered.studies {
        let records = &content[&found.study];
        let loaded = store.load(&found.study, &Query::all()).unwrap();
        assert!(loaded.records.len() <= records.len(), "{case}");
        assert_eq!(
            found.copied + found.lost.len() as u64,
            loaded.version,
            "{case}"
        );
        if found.end_known {
            assert_eq!(loaded.records.len(), records.len(), "{case}");
        }
        for (copy, new) in loaded.records.iter().zip(records) {
            if found.lost.contains(&copy.version) {
                assert_eq!(copy.kind, LOST);
                continue;
            }
            same(copy, new, case);
            there += 1;
            let copied = rows(&mut store, &found.study, copy.version);
            match found.without_rows.contains(&copy.version) {
                true => assert!(copied.is_err(), "{case}"),
                false => assert_eq!(copied.unwrap(), new.rows, "{case}"),
            }
        }
        // The new file can be written to.
        store
            .append(&found.study, loaded.version, &[record("noted", "on")], &[])
            .unwrap();
    }
    let all: usize = content.values().map(Vec::len).sum();
    all - there
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn remove(path: &Path) {
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(beside(path, ending));
    }
}

fn put(path: &Path, bytes: &[u8], wal: &[u8]) {
    remove(path);
    std::fs::write(path, bytes).unwrap();
    if !wal.is_empty() {
        std::fs::write(beside(path, "-wal"), wal).unwrap();
    }
}

/// Bytes at random places, and those where the file says what it is.
fn places(length: usize, count: usize, seed: u64) -> Vec<usize> {
    // Other places on demand, for whoever wants to look longer.
    let other = std::env::var("TASKSCOUT_STORE_SEED").ok();
    let other: u64 = other.and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let mut rng = ChaCha8Rng::seed_from_u64(seed + 1000 * other);
    let mut places: Vec<usize> = (0..count).map(|_| rng.random_range(0..length)).collect();
    places.extend((0..100.min(length)).step_by(3));
    // Heads of pages, which say what lies on them.
    places.extend(
        (0..length)
            .step_by(4096)
            .flat_map(|page| [page, page + 4, page + 8]),
    );
    places.retain(|place| *place < length);
    places
}

#[test]
fn a_changed_byte_is_found_or_does_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("studies.db");
    let content = content();
    fill(&path, &content);
    assert_eq!(judge(&path, &content, "whole"), Verdict::Right);
    assert_eq!(judge_recovered(&path, &content, "whole"), 0);
    let whole = std::fs::read(&path).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut counts = BTreeMap::<Verdict, usize>::new();
    for (number, place) in places(whole.len(), 250, 1).into_iter().enumerate() {
        let mut changed = whole.clone();
        changed[place] ^= rng.random_range(1..=255_u8);
        put(&path, &changed, &[]);
        let case = format!("byte {place}");
        *counts.entry(judge(&path, &content, &case)).or_default() += 1;
        if number % 5 == 0 {
            put(&path, &changed, &[]);
            // One byte costs the rows of one page, or of what lay behind it.
            let lost = judge_recovered(&path, &content, &case);
            assert!(lost <= 20, "{case}: {lost} records lost");
        }
    }
    assert!(
        counts[&Verdict::Right] > 10 && counts[&Verdict::Refused] > 50,
        "{counts:?}"
    );
    assert!(!counts.contains_key(&Verdict::Earlier));
}

#[test]
fn writing_to_a_changed_file_is_refused_or_right() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("studies.db");
    let content = content();
    fill(&path, &content);
    let whole = std::fs::read(&path).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for place in places(whole.len(), 60, 2) {
        let mut changed = whole.clone();
        changed[place] ^= rng.random_range(1..=255_u8);
        put(&path, &changed, &[]);
        let mut after = content.clone();
        let Ok(mut store) = Sqlite::open(&path) else {
            continue;
        };
        for (study, records) in &mut after {
            let new = record("noted", "later");
            let version = records.len() as u64;
            match store.append(study, version, std::slice::from_ref(&new), &[]) {
                Ok(_) => records.push(new),
                Err(error) => {
                    refused(&error, &format!("byte {place}"));
                }
            }
        }
        drop(store);
        judge(&path, &after, &format!("written after byte {place}"));
    }
}

#[test]
fn a_cut_file_is_refused_or_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("studies.db");
    let content = content();
    fill(&path, &content);
    let whole = std::fs::read(&path).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut cuts: Vec<usize> = (0..60).map(|_| rng.random_range(0..whole.len())).collect();
    cuts.extend([
        0,
        1,
        99,
        100,
        4095,
        4096,
        8192,
        whole.len() - 1,
        whole.len() - 4096,
    ]);
    for (number, cut) in cuts.into_iter().enumerate() {
        put(&path, &whole[..cut], &[]);
        let case = format!("cut at {cut}");
        // The last page may end in bytes that mean nothing.
        let verdict = judge(&path, &content, &case);
        assert!(
            verdict == Verdict::Refused || cut > whole.len() - 4096,
            "{case}: {verdict:?}"
        );
        if number % 3 == 0 && cut > 0 {
            put(&path, &whole[..cut], &[]);
            let lost = judge_recovered(&path, &content, &case);
            // Half of the file holds about half of the records.
            let all: usize = content.values().map(Vec::len).sum();
            let share = all * cut / whole.len();
            assert!(all - lost + 12 >= share, "{case}: {lost} of {all} lost");
        }
    }
}

/// A file whose log was not copied into it yet, because somebody was reading.
fn with_wal(folder: &Path, content: &Content) -> (Vec<u8>, Vec<u8>) {
    let path = folder.join("reading.db");
    let few: Content = content
        .iter()
        .map(|(s, r)| (s.clone(), r[..1].to_vec()))
        .collect();
    fill(&path, &few);
    let mut store = Sqlite::open(&path).unwrap();
    let reader = rusqlite::Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let seen = reader.query_row("SELECT count(*) FROM study", [], |row| row.get::<_, i64>(0));
    assert_eq!(seen.unwrap(), 3);
    for (study, records) in content {
        for (version, record) in records.iter().enumerate().skip(1) {
            store
                .append(study, version as u64, std::slice::from_ref(record), &[])
                .unwrap();
        }
    }
    (
        std::fs::read(&path).unwrap(),
        std::fs::read(beside(&path, "-wal")).unwrap(),
    )
}

#[test]
fn a_changed_or_cut_log_gives_an_earlier_state_that_is_said_to_be_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("studies.db");
    let content = content();
    let (file, wal) = with_wal(folder.path(), &content);
    put(&path, &file, &wal);
    assert_eq!(judge(&path, &content, "whole log"), Verdict::Right);
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let mut counts = BTreeMap::<Verdict, usize>::new();
    for place in places(wal.len(), 120, 4) {
        let mut changed = wal.clone();
        changed[place] ^= rng.random_range(1..=255_u8);
        put(&path, &file, &changed);
        let verdict = judge(&path, &content, &format!("byte {place} of the log"));
        *counts.entry(verdict).or_default() += 1;
    }
    for _ in 0..40 {
        let cut = rng.random_range(1..wal.len());
        put(&path, &file, &wal[..cut]);
        let verdict = judge(&path, &content, &format!("log cut at {cut}"));
        *counts.entry(verdict).or_default() += 1;
    }
    assert!(counts[&Verdict::Earlier] > 50, "{counts:?}");
    // What lies in the log behind a changed byte is not lost to recovery.
    let mut changed = wal.clone();
    changed[wal.len() / 3] ^= 1;
    put(&path, &file, &changed);
    let lost = judge_recovered(&path, &content, "log");
    assert!(lost <= 6, "{lost} lost");
}
