//! Real logs of robots, where they are: the values are those of the formats' own Python readers.
//!
//! The sums are over the bits of all numbers, times included, as pyulog, pymavlink and pyarrow give them through
//! `benches/robots_python.py` (those without arrays and without types that have no time of their own).

use std::path::PathBuf;

use taskscout_logs::{RawRecording, Selection};

use super::robots::raw;

/// What stands for every value that is not a number.
const NO_NUMBER: u64 = 0x7ff8_0000_0000_0000;

/// A real log: `TASKSCOUT_ROBOTS`, or beside the repository.
fn real(name: &str) -> Option<PathBuf> {
    let named = std::env::var_os("TASKSCOUT_ROBOTS").map(PathBuf::from);
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/robots");
    let path = named.unwrap_or_else(beside).join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: no log in {}", path.display());
    None
}

/// Series, rows, numbers, and the sum of the bits of all numbers.
fn sums(
    recordings: &[RawRecording],
    kept: impl Fn(&str, &str) -> bool,
) -> (usize, usize, usize, u64) {
    let (mut series, mut rows, mut numbers, mut sum) = (0, 0, 0, 0u64);
    let mut add = |values: &[f64]| {
        for value in values {
            let bits = if value.is_nan() {
                NO_NUMBER
            } else {
                value.to_bits()
            };
            sum = sum.wrapping_add(bits);
        }
        values.len()
    };
    for one in recordings.iter().flat_map(|one| &one.series) {
        if !kept(&one.name, "") {
            continue;
        }
        series += 1;
        rows += one.rows();
        numbers += add(&one.time);
        for column in one
            .columns
            .iter()
            .filter(|column| kept(&one.name, &column.name))
        {
            numbers += add(&column.values);
        }
    }
    (series, rows, numbers, sum)
}

#[test]
fn ulog_as_pyulog_has_it() {
    for (name, expected) in [
        (
            "ulog/sample_log_small.ulg",
            (70, 14_604, 191_223, 0x8468_83e2_ffa7_1f94),
        ),
        (
            "ulog/esc_status_log.ulg",
            (34, 8_200, 137_125, 0x1cc3_31c5_4381_7694),
        ),
    ] {
        let Some(path) = real(name) else {
            continue;
        };
        let log = raw(&path, &Selection::all()).unwrap();
        assert_eq!(
            sums(&log, |_, _| true),
            expected,
            "{name}: {:?}",
            log[0].warnings
        );
    }
}

#[test]
fn dataflash_as_pymavlink_has_it() {
    let Some(path) = real("dataflash/test.BIN") else {
        return;
    };
    let log = raw(&path, &Selection::all()).unwrap();
    let without_time = ["FMT", "UNIT", "MULT", "FMTU"];
    let kept =
        |series: &str, column: &str| !without_time.contains(&series) && !column.contains('[');
    assert_eq!(
        sums(&log, kept),
        (46, 1_599, 9_572, 0xa2b8_da8c_6c16_c7cc),
        "{:?}",
        log[0].warnings
    );
    assert_eq!(
        log[0]
            .metadata
            .keys()
            .filter(|name| name.starts_with("parameter."))
            .count(),
        809
    );
}

#[test]
fn lerobot_as_pyarrow_has_it() {
    let Some(path) = real("lerobot-v2.1") else {
        return;
    };
    let log = raw(&path, &Selection::all()).unwrap();
    assert_eq!(
        sums(&log, |_, _| true),
        (8, 3_313, 188_841, 0x42ce_c4fa_a000_0000)
    );
    let fact = |name: &str| log[0].metadata[name].as_str();
    assert_eq!(fact("robot_type"), "Unitree_G1_Inspire");
    assert_eq!(fact("task"), "Pick up the yellow bottle on the table.");
    assert_eq!(fact("name.observation.state[3]"), "kLeftElbow");
}
