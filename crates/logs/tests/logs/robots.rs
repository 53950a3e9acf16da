//! Logs of robots: every value of the fixtures, and everything that can be wrong with one.
//!
//! `tests/fixtures/make_fixtures.py` wrote the fixtures by the formulas that stand here too.

#![allow(clippy::float_cmp)] // what is read is exact

use std::fs;
use std::path::{Path, PathBuf};

use taskscout_logs::inspect::inspect_raw;
use taskscout_logs::{
    Format, Logs, RawRecording, ReadOptions, Result, RobotFormat, RobotOptions, Selection, files,
    read, read_raw, robot_format,
};

use super::{Folder, refusal};

pub(super) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

pub(super) fn raw(path: &Path, selection: &Selection) -> Result<Vec<RawRecording>> {
    read_raw(path, selection, Ok)
}

fn one(name: &str, selection: &Selection) -> RawRecording {
    raw(&fixture(name), selection).unwrap().remove(0)
}

fn column<'a>(raw: &'a RawRecording, series: &str, column: &str) -> &'a [f64] {
    raw.series(series).unwrap().column(column).unwrap()
}

fn names(raw: &RawRecording) -> Vec<&str> {
    raw.series
        .iter()
        .map(|series| series.name.as_str())
        .collect()
}

fn options(inputs: &[&str], outputs: &[&str]) -> RobotOptions {
    let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    RobotOptions {
        inputs: owned(inputs),
        outputs: owned(outputs),
        ..RobotOptions::default()
    }
}

fn rows(path: &Path, options: RobotOptions, skip_bad_rows: bool) -> Result<Logs> {
    let options = ReadOptions {
        format: Format::Robot(options),
        skip_bad_rows,
        ..ReadOptions::default()
    };
    read(path, &options)
}

#[test]
fn ulog_has_every_value() {
    let log = one("flight.ulg", &Selection::all());
    assert_eq!(
        names(&log),
        ["attitude", "esc_status", "imu", "imu#1", "status"]
    );
    for (instance, series) in ["imu", "imu#1"].into_iter().enumerate() {
        let time = &log.series(series).unwrap().time;
        assert_eq!(time.len(), 60);
        for (step, seconds) in time.iter().enumerate() {
            let at = step as f64;
            assert_eq!(*seconds, (1_000_000.0 + 10_000.0 * at) / 1e6);
            for axis in 0..3 {
                let gyro = column(&log, series, &format!("gyro[{axis}]"))[step];
                assert_eq!(gyro, 0.25 * at + f64::from(axis) + 100.0 * instance as f64);
            }
            assert_eq!(column(&log, series, "temperature")[step], 20.0 - at);
        }
    }
    assert_eq!(column(&log, "attitude", "q[2]")[29], -29.0);
    assert_eq!(column(&log, "esc_status", "esc[1].rpm")[2], 2010.0);
    assert_eq!(column(&log, "esc_status", "esc[0].on"), [1.0; 12]);
    assert_eq!(
        column(&log, "status", "load"),
        [0.0, 20.0 / 64.0, 40.0 / 64.0]
    );
    assert_eq!(log.series("status").unwrap().text, ["mode"]);
    let facts: Vec<(&str, &str)> = log
        .metadata
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .collect();
    let expected = [
        ("parameter.MPC_XY_P", "0.95"),
        ("parameter.SYS_AUTOSTART", "4001"),
        ("sys_name", "PX4"),
        ("ver_hw", "quad_1"),
        ("ver_sw_release", "17760000"),
    ];
    assert_eq!(facts, expected);
    assert_eq!(log.warnings.len(), 1);
    assert!(
        log.warnings[0].contains("could not keep up 1 time, 0.1 s")
            || log.warnings[0].contains("0.2 s")
    );
}

#[test]
fn dataflash_has_every_value() {
    let log = one("flight.bin", &Selection::all());
    for (instance, series) in ["IMU", "IMU#1"].into_iter().enumerate() {
        let imu = log.series(series).unwrap();
        assert_eq!(imu.rows(), 40);
        for step in 0..40 {
            let at = step as f64;
            assert_eq!(imu.time[step], (1_000_000.0 + 20_000.0 * at) / 1e6);
            assert_eq!(
                imu.column("GyrX").unwrap()[step],
                0.25 * at + 10.0 * instance as f64
            );
            assert_eq!(imu.column("AccZ").unwrap()[step], -9.75 - 0.5 * at);
        }
        let units: Vec<Option<&str>> = imu
            .columns
            .iter()
            .map(|column| column.unit.as_deref())
            .collect();
        assert_eq!(
            units,
            [
                Some("instance"),
                Some("rad/s"),
                Some("m/s/s"),
                Some("cdegC")
            ]
        );
    }
    assert_eq!(column(&log, "ATT", "Pitch")[1], -0.5);
    assert_eq!(column(&log, "ATT", "Yaw")[1], 359.98);
    assert_eq!(column(&log, "GPS", "Lat")[1], -35.3632600);
    assert_eq!(column(&log, "GPS", "Alt")[1], 584.1);
    assert_eq!(column(&log, "GPS", "HDop"), [0.0, 5.0, 10.0, 15.0]);
    assert_eq!(column(&log, "ISBD", "x[31]"), [31.0, 41.0, 51.0, 61.0]);
    // A type without times has that of the message before it.
    assert_eq!(log.series("OLD").unwrap().time, [1.0, 1.2, 1.4, 1.6]);
    assert_eq!(log.metadata["parameter.PILOT_SPEED_UP"], "250.5");
    assert_eq!(log.metadata["parameter.ATC_RAT_RLL_P"], "0.135");
    assert_eq!(log.metadata["message.00"], "ArduCopter V4.6.0 (1a2b3c4d)");
    assert_eq!(log.warnings, [""; 0]);
}

#[test]
fn lerobot_has_every_value_in_both_versions() {
    for version in ["lerobot-v2.1", "lerobot-v3"] {
        let episodes = raw(&fixture(version), &Selection::all()).unwrap();
        let lengths: Vec<usize> = episodes.iter().map(|one| one.series[0].rows()).collect();
        assert_eq!(lengths, [12, 9, 7], "{version}");
        for (number, episode) in episodes.iter().enumerate() {
            assert_eq!(episode.name, format!("episode_{number:06}"));
            let series = &episode.series[0];
            for row in 0..series.rows() {
                assert_eq!(series.time[row], f64::from(row as f32 / 20.0));
                for element in 0..3 {
                    let state = series
                        .column(&format!("observation.state[{element}]"))
                        .unwrap();
                    assert_eq!(
                        state[row],
                        0.25 * row as f64 + f64::from(element) + 10.0 * number as f64
                    );
                }
                assert_eq!(
                    series.column("action[1]").unwrap()[row],
                    0.5 * row as f64 - 1.0
                );
                let done = f64::from(u8::from(row + 1 == series.rows()));
                assert_eq!(series.column("next.done").unwrap()[row], done);
            }
            let task = ["Pick up the cube.", "Open the drawer."][number % 2];
            let fact = |name: &str| episode.metadata[name].as_str();
            assert_eq!(
                (fact("task"), fact("robot_type"), fact("fps")),
                (task, "arm_of_three", "20")
            );
            assert_eq!(fact("name.observation.state[1]"), "elbow");
        }
    }
}

#[test]
fn only_what_is_selected_is_read() {
    let some = Selection::of(["imu#1.gyro[1]", "attitude.q"]);
    let log = one("flight.ulg", &some);
    assert_eq!(names(&log), ["attitude", "imu#1"]);
    assert_eq!(log.series("imu#1").unwrap().columns.len(), 1);
    let log = one("flight.bin", &Selection::of(["IMU#1.AccZ", "GPS"]));
    assert_eq!(names(&log), ["GPS", "IMU#1"]);
    assert_eq!(log.series("IMU#1").unwrap().columns.len(), 1);
    let log = one(
        "lerobot-v3",
        &Selection::of(["observation.state.elbow", "action"]),
    );
    let columns: Vec<&str> = log.series[0]
        .columns
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    assert_eq!(
        columns,
        ["action[0]", "action[1]", "observation.state.elbow"]
    );
}

#[test]
fn expressions_give_inputs_and_outputs() {
    let wanted = options(
        &[
            "norm(imu.gyro)",
            "tilt = attitude.q[1:3]/2",
            "esc[0].rpm/1000",
        ],
        &["spin = diff(imu.gyro[0])/dt - g"],
    );
    let wanted = RobotOptions {
        constants: [("g".to_owned(), 9.81)].into(),
        ..wanted
    };
    let logs = rows(&fixture("flight.ulg"), wanted, false).unwrap();
    assert_eq!(
        logs.inputs,
        ["norm(imu.gyro)", "tilt[0]", "tilt[1]", "esc[0].rpm/1000"]
    );
    let recording = &logs.recordings[0];
    assert_eq!(
        (recording.name.as_str(), &recording.outputs[..]),
        ("flight", &["spin".to_owned()][..])
    );
    // The last row has no next, and three have no row of the motors near enough.
    let time = recording.time.as_ref().unwrap();
    assert_eq!((recording.rows(), time.len()), (59, 59));
    assert!((recording.y[7] - (0.25 / 0.01 - 9.81)).abs() < 1e-9);
    assert_eq!(recording.x[0], 5f64.sqrt());
    assert_eq!(recording.metadata["sys_name"], "PX4");
    let joined: Vec<&String> = logs
        .warnings
        .iter()
        .filter(|text| text.contains("nearest in time"))
        .collect();
    assert_eq!(joined.len(), 2, "{joined:?}");
    assert!(
        joined[0]
            .contains("`attitude` (50 Hz) nearest in time are joined to those of `imu` (100 Hz)")
    );
}

#[test]
fn next_states_of_every_format() {
    for version in ["lerobot-v2.1", "lerobot-v3"] {
        let wanted = options(
            &["observation.state", "action"],
            &["next(observation.state[0:2])"],
        );
        let logs = rows(&fixture(version), wanted, false).unwrap();
        let lengths: Vec<usize> = logs.recordings.iter().map(|one| one.rows()).collect();
        assert_eq!((logs.inputs.len(), lengths), (5, vec![11, 8, 6]));
        assert_eq!(logs.recordings[1].y[..4], [10.25, 11.25, 10.5, 11.5]);
        assert_eq!(logs.warnings, [""; 0]);
        let both = options(
            &["observation.state", "observation.state.elbow + 0"],
            &["action"],
        );
        let logs = rows(&fixture(version), both, false).unwrap();
        assert_eq!((logs.inputs.len(), logs.recordings[0].x[3]), (4, 1.0));
    }
    let logs = rows(
        &fixture("flight.bin"),
        options(&["IMU#1.GyrX", "ATT.Roll"], &["IMU.AccZ"]),
        false,
    )
    .unwrap();
    assert_eq!(logs.units["IMU#1.GyrX"], "rad/s");
    assert_eq!(logs.units["IMU.AccZ"], "m/s/s");
}

#[test]
fn wrong_names_are_refused_with_the_nearest() {
    let path = fixture("flight.ulg");
    let message =
        |inputs: &[&str], outputs: &[&str]| refusal(rows(&path, options(inputs, outputs), false));
    for (input, says) in [
        (
            "imu.gyr",
            "character 1: `imu` has no column `gyr` (did you mean `gyro`?): its columns are `gyro[0]`",
        ),
        ("atitude.q", "there is no `atitude.q`"),
        (
            "1 + gyro[0]",
            "character 5: `gyro[0]` is in `imu` and in `imu#1`: write `imu.gyro[0]` or `imu#1.gyro[0]`",
        ),
        ("status.mode", "`status.mode` holds text, not numbers"),
        ("attitude.q[0:5]", "beyond the last element, which is 3"),
    ] {
        let message = message(&[input], &["imu.temperature"]);
        assert!(
            message.contains("flight.ulg cannot be used: in `") && message.contains(says),
            "{message}"
        );
    }
    assert!(message(&["imu.gyro["], &["imu.temperature"]).contains("character 9: `]` is missing"));
    assert!(message(&["imu.gyro"], &["imu.gyro[0]"]).contains("`imu.gyro[0]` is named twice"));
    assert!(message(&[], &["imu.gyro[0]"]).contains("no input is named"));
    assert!(message(&["1"], &["2"]).contains("name no column"));
    let times = RobotOptions {
        times: Some("atitude".into()),
        ..options(&["imu.gyro"], &["imu.temperature"])
    };
    assert!(
        refusal(rows(&path, times, false))
            .contains("no series `atitude` to take the times from (did you mean `attitude`?)")
    );
    let path = fixture("lerobot-v3");
    let message = refusal(rows(
        &path,
        options(&["observation.stat"], &["action"]),
        false,
    ));
    assert!(
        message.contains("did you mean `observation.state`?"),
        "{message}"
    );
}

#[test]
fn folders_of_several_formats_are_refused() {
    let folder = Folder::new();
    fs::copy(fixture("flight.ulg"), folder.path().join("a.ulg")).unwrap();
    assert_eq!(
        robot_format(folder.path()).unwrap(),
        Some(RobotFormat::Ulog)
    );
    fs::copy(fixture("flight.bin"), folder.path().join("b.BIN")).unwrap();
    let message = refusal(rows(
        folder.path(),
        options(&["imu.gyro"], &["imu.temperature"]),
        false,
    ));
    assert!(
        message.contains("has logs of PX4 ULog (")
            && message.contains(") and of ArduPilot dataflash ("),
        "{message}"
    );
    let folder = Folder::with(&[("a.csv", b"x\n1\n")]);
    assert_eq!(robot_format(folder.path()).unwrap(), None);
    let message = refusal(rows(folder.path(), options(&["x"], &["y"]), false));
    assert!(
        message.contains("has no logs: looked in it and its subfolders for logs of PX4"),
        "{message}"
    );
    let twice = Folder::new();
    fs::copy(fixture("flight.ulg"), twice.path().join("a.ulg")).unwrap();
    fs::copy(fixture("flight.ulg"), twice.path().join("b.ulg")).unwrap();
    let message = refusal(rows(
        twice.path(),
        options(&["imu.gyro"], &["imu.temperature"]),
        false,
    ));
    assert!(
        message.contains("are the same file under two names"),
        "{message}"
    );
}

#[test]
fn a_file_is_told_by_its_content() {
    let folder = Folder::new();
    for (name, from) in [
        ("log_of_today", "flight.ulg"),
        ("00000012.dat", "flight.bin"),
    ] {
        let path = folder.path().join(name);
        fs::copy(fixture(from), &path).unwrap();
        assert!(robot_format(&path).unwrap().is_some(), "{name}");
    }
    let path = folder.write("cut.ulg", b"ULog");
    assert!(
        raw(&path, &Selection::all())
            .unwrap_err()
            .to_string()
            .contains("cut.ulg is no PX4 log")
    );
    let path = folder.write("cut.bin", b"");
    assert!(
        raw(&path, &Selection::all())
            .unwrap_err()
            .to_string()
            .contains("cut.bin is no ArduPilot log")
    );
}

#[test]
fn clocks_that_jump_are_named() {
    // The times of the second half begin again at zero.
    let mut bytes = fs::read(fixture("flight.ulg")).unwrap();
    let mut at = 16;
    let mut seen = 0;
    while at + 3 <= bytes.len() {
        let length = usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
        if bytes[at + 2] == b'D' && bytes[at + 3] == 0 {
            seen += 1;
            if seen > 30 {
                let time = 10_000u64 * (seen - 31);
                bytes[at + 5..at + 13].copy_from_slice(&time.to_le_bytes());
            }
        }
        at += 3 + length;
    }
    let folder = Folder::with(&[("jump.ulg", &bytes)]);
    let wanted = || options(&["imu.gyro"], &["imu.temperature"]);
    let message = refusal(rows(folder.path(), wanted(), false));
    assert!(
        message.contains("the clock of `imu` jumps back from 1.29 s to 0 s at row 30: cut the log"),
        "{message}"
    );
    let logs = rows(folder.path(), wanted(), true).unwrap();
    assert_eq!(logs.recordings[0].rows(), 30);
    assert!(
        logs.warnings
            .iter()
            .any(|text| text.contains("30 rows are left out")),
        "{:?}",
        logs.warnings
    );
}

#[test]
fn values_that_are_no_numbers_are_named_or_skipped() {
    let wanted = || options(&["log(imu.gyro[0] - 1)"], &["imu.temperature"]);
    let message = refusal(rows(&fixture("flight.ulg"), wanted(), false));
    assert!(
        message.contains("row 0 of `imu`, at 1 s: `log(imu.gyro[0] - 1)` is not a number"),
        "{message}"
    );
    let logs = rows(&fixture("flight.ulg"), wanted(), true).unwrap();
    assert_eq!(
        (logs.recordings[0].rows(), logs.recordings[0].skipped.len()),
        (55, 5)
    );
    let message = refusal(rows(
        &fixture("flight.ulg"),
        options(&["sqrt(imu.gyro[0] - 999)"], &["imu.temperature"]),
        true,
    ));
    assert!(
        message.contains("no row is left, all 60 are bad"),
        "{message}"
    );
}

#[test]
fn inspection_shows_series_and_facts() {
    let found = inspect_raw(&fixture("flight.bin")).unwrap().unwrap();
    let text = found.text();
    for part in [
        "ArduPilot dataflash, 1 recording",
        "message.00: ArduCopter V4.6.0",
        "2 parameters",
        "IMU#1.GyrX",
        "rad/s",
        "MSG.Message",
        "text",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let imu = found.recordings[0]
        .series
        .iter()
        .find(|series| series.name == "IMU#1")
        .unwrap();
    assert!((imu.rate_hz.unwrap() - 50.0).abs() < 1e-6);
    assert_eq!(imu.columns[1].max, Some(0.25 * 39.0 + 10.0));
    let text = inspect_raw(&fixture("lerobot-v3")).unwrap().unwrap().text();
    for part in [
        "LeRobot, 3 recordings",
        "Open the drawer.",
        "episode_000002",
        "Name a single file",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(
        inspect_raw(Folder::with(&[("a.csv", b"x\n1\n")]).path())
            .unwrap()
            .is_none()
    );
}

#[test]
fn files_of_a_result_are_known() {
    let format = Format::Robot(options(&["action"], &["observation.state"]));
    let options = ReadOptions {
        format,
        ..ReadOptions::default()
    };
    let found = files(&fixture("lerobot-v3"), &options).unwrap();
    let ends: Vec<bool> = [
        "chunk-000/file-000.parquet",
        "chunk-001/file-000.parquet",
        "info.json",
        "tasks.parquet",
    ]
    .iter()
    .zip(&found)
    .map(|(end, path)| path.ends_with(end))
    .collect();
    assert_eq!(ends, [true; 4], "{found:?}");
}

#[test]
fn bad_data_sets_are_refused() {
    let copy = |change: &dyn Fn(&Path)| {
        let folder = Folder::new();
        for name in [
            "meta/info.json",
            "meta/tasks.jsonl",
            "data/chunk-000/episode_000000.parquet",
        ] {
            let bytes = fs::read(fixture("lerobot-v2.1").join(name)).unwrap();
            folder.write(name, &bytes);
        }
        change(folder.path());
        raw(folder.path(), &Selection::all())
            .unwrap_err()
            .to_string()
    };
    let write = |name: &'static str, text: &'static str| {
        move |folder: &Path| fs::write(folder.join(name), text).unwrap()
    };
    for (change, says) in [
        (
            write("meta/info.json", "{"),
            "info.json does not describe a LeRobot data set",
        ),
        (
            write(
                "meta/info.json",
                r#"{"codebase_version":"v1.6","features":{}}"#,
            ),
            "has version v1.6 of LeRobot's data sets, and 2 and 3 are read",
        ),
        (
            write("meta/tasks.jsonl", "{\"task_index\":0,\"task\":\"a\"}\nx\n"),
            "line 2 of",
        ),
        (
            write("data/chunk-000/episode_000000.parquet", "PAR1"),
            "episode_000000.parquet cannot be read as Parquet",
        ),
    ] {
        let message = copy(&change);
        assert!(
            message.contains(says) && !message.contains('\n'),
            "{message}"
        );
    }
}
