//! Every number is the one that the Python readers of the formats find.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use taskscout_logs::{
    Format, RawRecording, ReadOptions, RobotFormat, RobotOptions, Selection, read, read_bag,
    robot_format,
};

use super::{bits, fixture, read_all};

fn numbers(list: &Value) -> Vec<f64> {
    let number = |value: &Value| {
        value
            .as_str()
            .map_or(f64::NAN, |text| text.parse().unwrap())
    };
    list.as_array().unwrap().iter().map(number).collect()
}

/// Compares a recording with what Python found, bit for bit.
fn agrees(recording: &RawRecording, key: &str) {
    let all: Value = serde_json::from_slice(&fs::read(fixture("values.json")).unwrap()).unwrap();
    let expected = all[key].as_object().unwrap();
    let names: Vec<&str> = recording
        .series
        .iter()
        .map(|series| &*series.name)
        .collect();
    assert_eq!(names, expected.keys().collect::<Vec<_>>());
    for (name, expected) in expected {
        let series = recording.series(name).unwrap();
        assert_eq!(
            bits(&series.time),
            bits(&numbers(&expected["time"])),
            "{name}"
        );
        let columns = expected["columns"].as_object().unwrap();
        let ours: BTreeSet<&str> = series.columns.iter().map(|column| &*column.name).collect();
        let theirs: BTreeSet<&str> = columns.keys().map(String::as_str).collect();
        assert_eq!(ours, theirs, "{name}");
        for (column, values) in columns {
            let ours = series.column(column).unwrap();
            assert_eq!(bits(ours), bits(&numbers(values)), "{name}.{column}");
        }
    }
}

#[test]
fn ros_2_messages_are_read_from_every_kind_of_file() {
    let files = [
        "zstd.mcap",
        "lz4_chunks.mcap",
        "plain.mcap",
        "unchunked.mcap",
        "big_endian.mcap",
        "unordered.mcap",
        "defined.db3",
        "split",
    ];
    for file in files {
        let recording = read_all(&fixture(file)).unwrap();
        agrees(&recording, "ros");
        let varying = [
            "/kinds.any_number has between 0 and 3 elements: those that a message lacks are NaN",
            "/kinds.path has between 1 and 2 elements: those that a message lacks are NaN",
        ];
        assert_eq!(recording.warnings, varying, "{file}");
    }
}

#[test]
fn idl_ros_1_json_and_protobuf_are_read() {
    for key in ["idl", "ros1", "json", "protobuf"] {
        let recording = read_all(&fixture(&format!("{key}.mcap"))).unwrap();
        agrees(&recording, key);
    }
}

#[test]
fn columns_stand_in_the_order_of_the_fields() {
    let recording = read_all(&fixture("zstd.mcap")).unwrap();
    let names = |series: &str| -> Vec<String> {
        let series = recording.series(series).unwrap();
        series
            .columns
            .iter()
            .map(|column| column.name.clone())
            .collect()
    };
    assert_eq!(
        names("/imu")[..5],
        [
            "header.stamp.sec",
            "header.stamp.nanosec",
            "header.stamp",
            "orientation.x",
            "orientation.y"
        ]
    );
    let joints = names("/joints");
    assert_eq!(joints[3..6], ["position[0]", "position[1]", "position[2]"]);
    assert_eq!(joints.last().unwrap(), "velocity[2]");
    let kinds = names("/kinds");
    let path: Vec<&str> = kinds
        .iter()
        .map(|name| &**name)
        .filter(|name| name.starts_with("path"))
        .collect();
    assert_eq!(
        path,
        [
            "path[0].x",
            "path[0].index",
            "path[0].y",
            "path[1].x",
            "path[1].index",
            "path[1].y"
        ]
    );
    assert_eq!(kinds.last().unwrap(), "last");
}

#[test]
fn a_file_says_what_it_is() {
    let recording = read_all(&fixture("zstd.mcap")).unwrap();
    assert_eq!(recording.name, "zstd");
    let about = |key: &str| recording.metadata.get(key).map(String::as_str);
    assert_eq!(about("format"), Some("MCAP"));
    assert_eq!(about("profile"), Some("ros2"));
    assert_eq!(about("robot.mass"), Some("1.5"));
    assert_eq!(about("/imu type"), Some("sensor_msgs/msg/Imu"));
    assert_eq!(about("start_ns"), Some("1700000000123456789"));
}

#[test]
fn only_what_is_asked_for_is_read() {
    let wanted = Selection::of([
        "/imu.angular_velocity",
        "/imu.orientation.y",
        "/kinds.corners[1]",
        "/kinds.last",
        "/joints.position[2]",
    ]);
    for file in ["zstd.mcap", "big_endian.mcap", "defined.db3"] {
        let all = read_all(&fixture(file)).unwrap();
        let some = read_bag(&fixture(file), &wanted).unwrap();
        let names: Vec<String> = some
            .series
            .iter()
            .flat_map(|series| {
                series
                    .columns
                    .iter()
                    .map(|column| format!("{}.{}", series.name, column.name))
            })
            .collect();
        assert_eq!(
            names,
            [
                "/imu.orientation.y",
                "/imu.angular_velocity.x",
                "/imu.angular_velocity.y",
                "/imu.angular_velocity.z",
                "/joints.position[2]",
                "/kinds.corners[1].x",
                "/kinds.corners[1].index",
                "/kinds.corners[1].y",
                "/kinds.last",
            ]
        );
        for series in &some.series {
            let whole = all.series(&series.name).unwrap();
            assert_eq!(bits(&series.time), bits(&whole.time));
            for column in &series.columns {
                assert_eq!(
                    bits(&column.values),
                    bits(whole.column(&column.name).unwrap())
                );
            }
        }
    }
    let legs = read_bag(&fixture("json.mcap"), &Selection::of(["pose.legs[1]"])).unwrap();
    assert_eq!(legs.series[0].columns.len(), 1);
    assert_eq!(legs.series[0].column("legs[1].torque").unwrap(), [-1.25; 6]);
    let force = read_bag(
        &fixture("protobuf.mcap"),
        &Selection::of(["/leg.force", "/leg.torques[1]"]),
    )
    .unwrap();
    let names: Vec<&str> = force.series[0]
        .columns
        .iter()
        .map(|column| &*column.name)
        .collect();
    assert_eq!(names, ["force.x", "force.y", "force.z", "torques[1]"]);
}

#[test]
fn standard_messages_need_no_definition() {
    let defined = read_all(&fixture("defined.db3")).unwrap();
    let undefined = read_all(&fixture("undefined.db3")).unwrap();
    for topic in ["/imu", "/joints"] {
        let (a, b) = (
            defined.series(topic).unwrap(),
            undefined.series(topic).unwrap(),
        );
        assert_eq!(a.columns.len(), b.columns.len());
        for (a, b) in a.columns.iter().zip(&b.columns) {
            assert_eq!((&a.name, bits(&a.values)), (&b.name, bits(&b.values)));
        }
    }
    assert!(undefined.series("/kinds").is_none());
    let warning = &undefined.warnings[0];
    assert!(
        warning.starts_with("topic /kinds cannot be read: the type shapes/Kinds is neither"),
        "{warning}"
    );
}

#[test]
fn bags_are_logs_of_robots_like_others() {
    let options = ReadOptions {
        format: Format::Robot(RobotOptions {
            inputs: vec![
                "/joints.position[0:2]".into(),
                "/imu.angular_velocity.x*2".into(),
            ],
            outputs: vec!["/imu.orientation.y".into()],
            ..RobotOptions::default()
        }),
        ..ReadOptions::default()
    };
    for file in ["zstd.mcap", "defined.db3", "split"] {
        let path = fixture(file);
        assert_eq!(robot_format(&path).unwrap(), Some(RobotFormat::Bag));
        let logs = read(&path, &options).unwrap();
        assert_eq!(
            logs.recordings.len(),
            1,
            "a folder of parts is one recording"
        );
        let recording = &logs.recordings[0];
        assert_eq!(recording.name, file.split('.').next().unwrap());
        assert_eq!(
            (recording.rows(), recording.output(0)[1]),
            (12, 1_f64.sin())
        );
        assert_eq!(recording.x[3..6], [1.0, 1.5, 0.2]);
    }
}

#[test]
fn what_taskscout_writes_is_read_back() {
    use taskscout_io::tables::{Column, write_mcap};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forces.mcap");
    // More than one chunk.
    let time: Vec<f64> = (0..40_000).map(|row| 0.5 + 0.01 * f64::from(row)).collect();
    let force: Vec<f64> = time.iter().map(|time| (3.0 * time).sin()).collect();
    let reason = vec!["why".to_owned(); time.len()];
    let columns = [
        Column::numbers("t", time.clone()),
        Column::numbers("force z (N)", force.clone()),
        Column::text("reason", reason),
    ];
    write_mcap(&path, &columns).unwrap();
    let recording = read_all(&path).unwrap();
    assert_eq!(recording.warnings, [""; 0]);
    let series = recording.series("/forces").unwrap();
    let names: Vec<&str> = series.columns.iter().map(|column| &*column.name).collect();
    assert_eq!(names, ["t", "force_z_N"]);
    assert_eq!(bits(series.column("t").unwrap()), bits(&time));
    assert_eq!(bits(series.column("force_z_N").unwrap()), bits(&force));
    assert_eq!((series.time[0], series.time[1]), (0.0, 0.01));
}
