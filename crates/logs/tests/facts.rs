//! Labels and parameters of recordings, from every place that may know them.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use taskscout_logs::{
    FactOptions, Format, Known, Logs, NamePattern, ReadOptions, Result, gather, inspect, read,
};

fn options(task: Option<&str>) -> ReadOptions {
    ReadOptions {
        format: Format::Table {
            inputs: vec!["speed".into()],
            outputs: vec!["force".into()],
            task: task.map(str::to_owned),
            time: None,
        },
        ..ReadOptions::default()
    }
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn gathered(path: &Path, how: &ReadOptions, facts: &FactOptions) -> Result<Logs> {
    let mut logs = read(path, how)?;
    gather(&mut logs, path, how, facts)?;
    Ok(logs)
}

const CALM: &str = "speed,force,room [°C],pilot\n1,2,20,Ann\n2,4,21,Ann\n";
const GALE: &str = "speed,force,room [°C],pilot\n1,3,20,Bob\n2,6,20,Bob\n";

#[test]
fn a_table_beside_the_logs_is_no_log_but_says_what_they_are() {
    let tasks =
        "recording,robot,load [kg],year\ncalm,ant,1..2,2024\ngale,bee,,2025\nlost,ant,3,2024\n";
    let folder = folder(&[("calm.csv", CALM), ("gale.csv", GALE), ("tasks.csv", tasks)]);
    let plain = options(None);
    assert_eq!(inspect(&read(folder.path(), &plain).unwrap()).recordings, 2);
    let logs = gathered(folder.path(), &plain, &FactOptions::default()).unwrap();
    let [calm, gale] = &logs.recordings[..] else {
        panic!("{} recordings", logs.recordings.len());
    };
    assert_eq!(calm.facts.labels["robot"], "ant");
    assert_eq!(calm.facts.parameters["load"].to_string(), "1..2 kg");
    assert_eq!(gale.facts.parameters["load"].value, Known::Unknown);
    // Numbers are parameters unless they are said to be labels.
    assert_eq!(gale.facts.value("year"), Some(2025.0));
    assert!(
        logs.warnings
            .iter()
            .any(|it| it.contains("1 recordings that are not there, the first is lost")),
        "{:?}",
        logs.warnings
    );
    let years = FactOptions {
        labels: vec!["year".into()],
        ..FactOptions::default()
    };
    let logs = gathered(folder.path(), &plain, &years).unwrap();
    assert_eq!(logs.recordings[1].facts.labels["year"], "2025");
    assert!(!logs.recordings[1].facts.labels.contains_key("robot"));
}

#[test]
fn columns_are_labels_where_they_do_not_change_and_ranges_where_parameters_do() {
    let folder = folder(&[("calm.csv", CALM), ("gale.csv", GALE)]);
    let wanted = FactOptions {
        labels: vec!["pilot".into()],
        parameters: vec!["room".into()],
        ..FactOptions::default()
    };
    let logs = gathered(folder.path(), &options(None), &wanted).unwrap();
    assert_eq!(logs.recordings[0].facts.labels["pilot"], "Ann");
    let room = |at: usize| logs.recordings[at].facts.parameters["room"].to_string();
    assert_eq!((room(0), room(1)), ("20..21 °C".into(), "20 °C".into()));
    // With a column of tasks, every task has its own.
    let both = "id,speed,force,pilot\nx,1,2,Ann\ny,1,2,Bob\nx,3,4,Ann\n";
    let one = self::folder(&[("all.csv", both)]);
    let pilots = FactOptions {
        labels: vec!["pilot".into()],
        ..FactOptions::default()
    };
    let logs = gathered(one.path(), &options(Some("id")), &pilots).unwrap();
    assert_eq!(logs.recordings[1].facts.labels["pilot"], "Bob");
    let mixed = self::folder(&[("all.csv", "speed,force,pilot\n1,2,Ann\n2,3,Bob\n")]);
    let message = gathered(mixed.path(), &options(None), &pilots)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("has `Bob` after `Ann` in the recording all"),
        "{message}"
    );
}

#[test]
fn names_and_metadata_count_where_no_table_says_otherwise() {
    let folder = folder(&[
        ("ant_1.5.csv", CALM),
        ("bee_heavy.csv", GALE),
        ("tasks.csv", "recording,robot\nant_1.5,wasp\n"),
    ]);
    let pattern = FactOptions {
        name_pattern: Some(NamePattern::parse("{robot}_{load:number kg}").unwrap()),
        ..FactOptions::default()
    };
    let logs = gathered(folder.path(), &options(None), &pattern).unwrap();
    assert_eq!(logs.recordings[0].facts.labels["robot"], "wasp");
    assert_eq!(logs.recordings[0].facts.value("load"), Some(1.5));
    assert_eq!(logs.recordings[1].facts.labels["robot"], "bee");
    assert_eq!(
        logs.recordings[1].facts.parameters["load"].value,
        Known::Unknown
    );
    let mut logs = read(folder.path(), &options(None)).unwrap();
    for recording in &mut logs.recordings {
        recording.metadata.insert("firmware".into(), "7".into());
    }
    let firmware = FactOptions {
        parameters: vec!["firmware".into()],
        ..FactOptions::default()
    };
    gather(&mut logs, folder.path(), &options(None), &firmware).unwrap();
    assert_eq!(logs.recordings[1].facts.value("firmware"), Some(7.0));
}

#[test]
fn bad_tables_are_refused_with_their_place() {
    for (tasks, words) in [
        ("recording\ncalm\n", "no column beside the first"),
        ("recording,load\ncalm,1\ncalm,2\n", "names calm twice"),
        ("recording,load\n,1\n", "names no recording"),
        ("recording,load\ncalmer,1\n", "the nearest name is calm"),
        (
            "recording,load [kg]\ncalm,1\n",
            "no recording has a parameter `lod`: did you mean load?",
        ),
    ] {
        let folder = folder(&[("calm.csv", CALM), ("gale.csv", GALE), ("tasks.csv", tasks)]);
        let wanted = FactOptions {
            parameters: if words.contains("lod") {
                vec!["lod".into()]
            } else {
                Vec::new()
            },
            ..FactOptions::default()
        };
        let message = gathered(folder.path(), &options(None), &wanted)
            .unwrap_err()
            .to_string();
        assert!(message.contains(words), "{tasks}: {message}");
    }
}
