//! Real bags, where they are: the values are those that rosbags and mcap give.

use std::path::PathBuf;

use super::read_all;

/// The folder of robots' logs: `TASKSCOUT_ROBOTS`, or beside the repository.
fn bag(name: &str) -> Option<PathBuf> {
    let named = std::env::var_os("TASKSCOUT_ROBOTS").map(PathBuf::from);
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/robots");
    let checkout =
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data/robots");
    let folders = [named.unwrap_or_else(beside), checkout()];
    let path = folders
        .iter()
        .map(|folder| folder.join("rosbag2").join(name))
        .find(|path| path.is_file());
    if path.is_none() {
        eprintln!("skipped: no {name} in {}", folders[0].display());
    }
    path
}

fn sum(values: &[f64]) -> f64 {
    values.iter().filter(|value| !value.is_nan()).sum()
}

#[test]
fn a_talker_is_read() {
    let Some(path) = bag("talker.mcap") else {
        return;
    };
    let recording = read_all(&path).unwrap();
    assert_eq!(recording.warnings, [""; 0]);
    let log = recording.series("/rosout").unwrap();
    assert_eq!(
        (log.rows(), log.time[0], log.time[9]),
        (10, 0.0, 4.500350427)
    );
    assert_eq!(log.column("stamp.nanosec").unwrap()[1], 612_230_956.0);
    assert_eq!(sum(log.column("stamp.nanosec").unwrap()), 3_622_143_571.0);
    assert_eq!(sum(log.column("level").unwrap()), 200.0);
    assert_eq!(sum(log.column("line").unwrap()), 380.0);
    let topic = recording.series("/topic").unwrap();
    assert_eq!(
        (topic.rows(), topic.columns.len(), topic.time[9]),
        (10, 0, 4.531096768)
    );
    assert_eq!(recording.series("/parameter_events").unwrap().rows(), 0);
}

#[test]
fn eight_topics_of_text_have_their_times() {
    let Some(path) = bag("wbag_1.mcap") else {
        return;
    };
    let recording = read_all(&path).unwrap();
    let rows: Vec<(&str, usize)> = recording
        .series
        .iter()
        .map(|series| (&*series.name, series.rows()))
        .collect();
    let expected = [
        ("AAA", 160),
        ("BBB", 154),
        ("CCC", 155),
        ("DDD", 154),
        ("EEE", 170),
        ("FFF", 161),
        ("GGG", 145),
        ("HHH", 141),
    ];
    assert_eq!(rows, expected);
    assert_eq!(recording.series("EEE").unwrap().time.last(), Some(&4.11e-7));
}

#[test]
fn events_of_services_are_read() {
    let Some(path) = bag("topics_and_services.db3") else {
        return;
    };
    let recording = read_all(&path).unwrap();
    let events = recording.series("/parameter_events").unwrap();
    assert_eq!((events.rows(), events.time[6]), (7, 0.006614057));
    assert_eq!(
        sum(events
            .column("new_parameters[0].value.integer_value")
            .unwrap()),
        1000.0
    );
    assert_eq!(
        sum(events.column("stamp.nanosec").unwrap()),
        3_279_046_465.0
    );
    let service = recording.series("/add_two_ints/_service_event").unwrap();
    assert_eq!(service.column("info.client_gid[2]").unwrap(), [235.0; 6]);
    assert_eq!(sum(service.column("info.sequence_number").unwrap()), 12.0);
    assert_eq!(
        sum(service.column("info.stamp.nanosec").unwrap()),
        4_836_194_967.0
    );
    assert_eq!(sum(service.column("request[0].b").unwrap()), 9.0);
    assert_eq!(sum(service.column("response[0].sum").unwrap()), 15.0);
    assert!(service.column("request[0].a").unwrap()[1].is_nan());
}
