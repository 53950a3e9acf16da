//! No log of a robot makes the readers panic, and what is intact is read.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use taskscout_logs::{RawRecording, Selection};

use super::Folder;
use super::robots::{fixture, raw};

/// Bytes of all numbers that a reader gave.
fn held(recordings: &[RawRecording]) -> usize {
    let series = recordings.iter().flat_map(|one| &one.series);
    series
        .map(|one| 8 * one.rows() * (1 + one.columns.len()))
        .sum()
}

/// Reads bytes as a file of this name, all of it and a part of it.
fn attempt(name: &str, bytes: &[u8]) -> Option<Vec<RawRecording>> {
    let folder = Folder::new();
    let path = folder.write(name, bytes);
    let _ = raw(&path, &Selection::of(["imu.gyro", "IMU#1.AccZ"]));
    whole(&path, bytes)
}

fn whole(path: &Path, bytes: &[u8]) -> Option<Vec<RawRecording>> {
    let name = path.file_name().unwrap().to_str().unwrap();
    match raw(path, &Selection::all()) {
        Ok(read) => {
            // A byte of a log is at most a number, and a row of one column has a time too.
            assert!(
                held(&read) <= 16 * bytes.len(),
                "{} of {}",
                held(&read),
                bytes.len()
            );
            Some(read)
        }
        Err(error) => {
            let message = error.to_string();
            assert!(
                !message.contains('\n') && message.contains(name),
                "{message}"
            );
            None
        }
    }
}

#[test]
fn logs_cut_at_every_byte_keep_what_is_intact() {
    for name in ["flight.ulg", "flight.bin"] {
        let bytes = fs::read(fixture(name)).unwrap();
        let whole = attempt(name, &bytes).unwrap().remove(0);
        let mut last = 0;
        let folder = Folder::new();
        for end in 0..bytes.len() {
            let path = folder.write(name, &bytes[..end]);
            let Some(read) = self::whole(&path, &bytes[..end]) else {
                assert_eq!(
                    last, 0,
                    "{name} cut at {end} is refused after data were read"
                );
                continue;
            };
            for series in &read[0].series {
                let known = whole.series(&series.name).unwrap();
                assert_eq!(series.time, known.time[..series.rows()]);
                for (column, known) in series.columns.iter().zip(&known.columns) {
                    assert_eq!(
                        column.values,
                        known.values[..series.rows()],
                        "{}",
                        column.name
                    );
                }
            }
            let now = held(&read);
            assert!(now >= last, "{name} cut at {end}");
            last = now;
        }
    }
}

#[test]
fn a_damaged_ulog_goes_on_at_the_next_mark() {
    let mut bytes = fs::read(fixture("flight.ulg")).unwrap();
    let mark = [0x2f, 0x73, 0x13, 0x20, 0x25, 0x0c, 0xbb, 0x12];
    let second = bytes
        .windows(8)
        .enumerate()
        .filter(|(_, window)| *window == mark)
        .nth(1)
        .unwrap()
        .0;
    bytes[second - 203..second - 3].fill(0);
    let read = attempt("flight.ulg", &bytes).unwrap().remove(0);
    let rows = read.series("imu").unwrap().rows();
    assert!((50..60).contains(&rows), "{rows}");
    assert!(
        read.warnings
            .iter()
            .any(|text| text.contains("are damaged and left out; the log goes on")),
        "{:?}",
        read.warnings
    );
}

fn damages() -> impl Strategy<Value = Vec<(prop::sample::Index, u8)>> {
    prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..12)
}

fn damaged(
    path: &Path,
    damages: &[(prop::sample::Index, u8)],
    cut: Option<prop::sample::Index>,
) -> Vec<u8> {
    let mut bytes = fs::read(path).unwrap();
    for (at, flip) in damages {
        let length = bytes.len();
        bytes[at.index(length)] ^= flip;
    }
    if let Some(cut) = cut {
        bytes.truncate(cut.index(bytes.len() + 1));
    }
    bytes
}

proptest! {
    #[test]
    fn flipped_bytes_do_not_panic(flips in damages(), cut in any::<Option<prop::sample::Index>>()) {
        for name in ["flight.ulg", "flight.bin"] {
            attempt(name, &damaged(&fixture(name), &flips, cut));
        }
    }

    #[test]
    fn damaged_data_sets_do_not_panic(flips in damages(), file in 0..4usize) {
        let names = ["meta/info.json", "meta/tasks.parquet", "data/chunk-000/file-000.parquet", "data/chunk-001/file-000.parquet"];
        let folder = Folder::new();
        for (index, name) in names.iter().enumerate() {
            let path = fixture("lerobot-v3").join(name);
            let bytes = if index == file { damaged(&path, &flips, None) } else { fs::read(path).unwrap() };
            folder.write(name, &bytes);
        }
        for selection in [Selection::all(), Selection::of(["action"])] {
            if let Err(error) = raw(folder.path(), &selection) {
                prop_assert!(!error.to_string().contains('\n'), "{}", error);
            }
        }
    }

    #[test]
    fn arbitrary_messages_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        attempt("a.ulg", &[b"ULog\x01\x12\x35\x01\0\0\0\0\0\0\0\0".as_slice(), &bytes].concat());
        attempt("a.bin", &[&[0xa3, 0x95, 0x80][..], &bytes].concat());
        // Behind all definitions.
        for (name, keep) in [("flight.ulg", 700), ("flight.bin", 1900)] {
            let whole = fs::read(fixture(name)).unwrap();
            attempt(name, &[&whole[..keep], &bytes].concat());
        }
    }
}
