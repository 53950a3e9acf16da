//! Files of earlier versions, which every later version has to open.
//!
//! `fixtures/version-1.db` was made by `cargo test -p taskscout-store --test it -- --ignored store_fixture::make`.
#![allow(clippy::unwrap_used, clippy::panic)] // a broken test set-up should be loud

use std::path::{Path, PathBuf};

use taskscout_store::{Kept, NewRecord, Query, Rows as _, Sqlite, Store as _, rows};

fn fixture(version: u32) -> PathBuf {
    let name = format!("tests/fixtures/version-{version}.db");
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn records() -> Vec<NewRecord> {
    let x: Vec<f64> = (0..600).map(|i| f64::from(i) * 0.25 - 7.0).collect();
    let y: Vec<f64> = (0..300).map(|i| -f64::from(i)).collect();
    let one = |version: u8, kind: &str| NewRecord {
        time_us: 1_700_000_000_000_000 + i64::from(version),
        author: "Zoë".into(),
        kind: kind.into(),
        body: vec![version; usize::from(version) * 2000],
        rows: Vec::new(),
    };
    let mut told = one(3, "told");
    told.rows = rows::encode(&x, 2, &y, 1).unwrap();
    vec![one(1, "created"), one(2, "planned"), told, one(4, "noted")]
}

fn state() -> Kept {
    Kept {
        key: "snapshot".into(),
        version: 2,
        body: b"statistics".to_vec(),
    }
}

#[test]
#[ignore = "makes the fixture of the present version"]
fn make() {
    let path = fixture(1);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(!path.exists(), "a fixture stays as it is");
    let mut store = Sqlite::create_or_open(&path).unwrap();
    let all = records();
    store.create("wind tunnel 風洞", &all[..1]).unwrap();
    store
        .append("wind tunnel 風洞", 1, &all[1..], &[state()])
        .unwrap();
    store.create("second", &all[..1]).unwrap();
}

#[test]
fn a_file_of_version_1_is_read_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("studies.db");
    std::fs::copy(fixture(1), &path).unwrap();
    let mut store = Sqlite::open(&path).unwrap();
    assert!(store.warnings().is_empty());
    let names: Vec<String> = store
        .list()
        .unwrap()
        .into_iter()
        .map(|head| head.study)
        .collect();
    assert_eq!(names, ["second", "wind tunnel 風洞"]);
    let study = &names[1];
    let loaded = store.load(study, &Query::all().with("snapshot")).unwrap();
    assert_eq!(loaded.kept, [state()]);
    let expected = records();
    assert_eq!(loaded.records.len(), expected.len());
    for (found, expected) in loaded.records.iter().zip(&expected) {
        assert_eq!(found.body, expected.body);
        assert_eq!(
            (found.time_us, &found.author),
            (expected.time_us, &expected.author)
        );
        assert_eq!(found.kind, expected.kind);
    }
    let mut count = 0;
    let mut read = |chunk: Vec<u8>| {
        let table = rows::decode(&chunk)?;
        assert_eq!((table.inputs, table.outputs), (2, 1));
        assert_eq!(table.x[4].to_bits(), (-6.0_f64).to_bits());
        assert_eq!(table.y[0].to_bits(), (-0.0_f64).to_bits());
        count += table.y.len();
        Ok(())
    };
    store.rows(study, 3, &mut read).unwrap();
    assert_eq!(count, 300);
    assert_eq!(store.append(study, 4, &expected[..1], &[]).unwrap(), 5);
}
