//! Tables with named columns: tasks by column or by file, and the errors.

use super::{Folder, refusal};
use proptest::prelude::*;
use taskscout_io::tables::{Column, write_csv, write_parquet};
use taskscout_logs::{Format, ReadOptions, read};

const LOG: &[u8] = b"run,time,speed,gust,force\na,0,1,10,100\nb,0,2,20,200\na,1,3,30,300\n";

#[test]
fn a_column_tells_the_task() {
    let folder = Folder::with(&[("log.csv", LOG)]);
    let logs = folder
        .table(
            &["gust", "speed"],
            &["force"],
            Some("run"),
            Some("time"),
            false,
        )
        .unwrap();
    assert_eq!(logs.inputs, ["gust", "speed"]);
    let [a, b] = &logs.recordings[..] else {
        panic!("{logs:?}");
    };
    assert_eq!((&*a.name, &*b.name), ("a", "b"));
    assert_eq!(a.x, [10.0, 1.0, 30.0, 3.0]);
    assert_eq!((&*a.y, &*b.y), (&[100.0, 300.0][..], &[200.0][..]));
    assert_eq!(a.time.as_deref(), Some(&[0.0, 1.0][..]));
    assert_eq!(
        (a.task_name(0), logs.find("b").unwrap()),
        ("a".into(), (1, 0))
    );
    assert_eq!(logs.warnings, [""; 0]);
}

#[test]
fn tasks_may_be_numbers_and_outputs_several() {
    let folder = Folder::with(&[("log.csv", b"n,x,y,z\n7,1,2,3\n10,4,5,6\n7,7,8,9\n")]);
    let logs = folder
        .table(&["x"], &["y", "z"], Some("n"), None, false)
        .unwrap();
    assert_eq!(logs.task_names(), ["7_y", "7_z", "10_y", "10_z"]);
    assert_eq!(logs.recordings[0].output(1), [3.0, 9.0]);
    assert_eq!(logs.recordings[0].time, None);
}

#[test]
fn a_file_is_a_task_in_every_format() {
    let folder = Folder::with(&[
        ("calm.csv", b"x,y\n1,2\n"),
        ("sub/gale.tsv", b"y\tx\n5\t4\n"),
    ]);
    let columns = [
        Column::numbers("x", vec![7.0]),
        Column::numbers("y", vec![8.0]),
    ];
    write_parquet(folder.path().join("storm.parquet"), &columns).unwrap();
    let logs = folder.table(&["x"], &["y"], None, None, false).unwrap();
    assert_eq!(logs.task_names(), ["calm", "gale", "storm"]);
    let x: Vec<f64> = logs.recordings.iter().map(|one| one.x[0]).collect();
    assert_eq!(x, [1.0, 4.0, 7.0]);
}

#[test]
fn a_task_in_two_files_is_put_together() {
    let folder = Folder::with(&[
        ("1.csv", b"run,t,x,y\na,0,1,1\n"),
        ("2.csv", b"run,t,x,y\na,-5,2,2\n"),
    ]);
    let logs = folder
        .table(&["x"], &["y"], Some("run"), Some("t"), false)
        .unwrap();
    assert_eq!((logs.recordings.len(), logs.recordings[0].rows()), (1, 2));
    assert!(logs.warnings[0].contains("they are put together"));
    assert!(logs.warnings[1].contains("time runs backwards after its row 1"));
}

#[test]
fn bad_rows_are_named_or_skipped() {
    for (row, problem) in [
        ("a,2,,5,5", "column speed, is empty"),
        ("a,2,nan,5,5", "column speed, is nan"),
        ("a,2,inf,5,5", "column speed, is inf"),
        ("a,2,fast,5,5", "column speed, holds `fast`"),
        ("a,2,1,5,x", "column force, holds `x`"),
        ("a,,1,5,5", "column time, is empty"),
        (",2,1,5,5", "column run, is empty: every row needs a task"),
        ("a,2,1,5", "4 cells"),
        ("a,2,1,5,\"5", "the quotation mark is never closed"),
    ] {
        let text = [LOG, row.as_bytes(), b"\nd,9,9,9,9\n"].concat();
        let folder = Folder::with(&[("log.csv", &text)]);
        let read = |skip| {
            folder.table(
                &["speed", "gust"],
                &["force"],
                Some("run"),
                Some("time"),
                skip,
            )
        };
        let message = refusal(read(false));
        assert!(message.starts_with("line 5 of log.csv"), "{row}: {message}");
        assert!(message.contains(problem), "{row}: {message}");
        let logs = read(true).unwrap();
        let rows: usize = logs.recordings.iter().map(|one| one.rows()).sum();
        assert_eq!(rows, 4, "{row}");
        assert_eq!(logs.recordings[0].skipped[0].line, Some(5));
        assert!(
            logs.warnings[0].contains("task a: 1 bad row skipped; the first: line 5 of log.csv")
        );
    }
}

#[test]
fn bad_rows_belong_to_their_task() {
    let text = [LOG, b"b,1,1,nan,5\na,2,1,1,\nb,3,,1,5\n"].concat();
    let folder = Folder::with(&[("log.csv", &text)]);
    let logs = folder.table(&["speed", "gust"], &["force"], Some("run"), None, true);
    let logs = logs.unwrap();
    let lines = |task: usize| -> Vec<usize> {
        let skipped = logs.recordings[task].skipped.iter();
        skipped.filter_map(|row| row.line).collect()
    };
    assert_eq!((lines(0), lines(1)), (vec![6], vec![5, 7]));
    let text = [LOG, b"c,1,1,nan,5\n"].concat();
    let folder = Folder::with(&[("log.csv", &text)]);
    let message = refusal(folder.table(&["gust"], &["force"], Some("run"), None, true));
    assert!(message.starts_with("task c of "), "{message}");
    assert!(message.contains("has no row that can be used, 1 are bad; the first: line 5"));
}

#[test]
fn columns_that_are_not_there_stay_errors() {
    let folder = Folder::with(&[("log.csv", LOG), ("more.csv", b"time,speed,force\n1,2,3\n")]);
    for skip in [false, true] {
        let message = refusal(folder.table(&["speed", "gust"], &["force"], None, None, skip));
        assert!(
            message.starts_with("more.csv has no column `gust`"),
            "{message}"
        );
        assert!(
            message.ends_with("the columns are `time`, `speed`, `force`"),
            "{message}"
        );
        for (task, time) in [(Some("pilot"), None), (None, Some("pilot"))] {
            let message = refusal(folder.table(&["speed"], &["force"], task, time, skip));
            assert!(message.contains("has no column `pilot`"), "{message}");
        }
    }
}

#[test]
fn columns_that_make_no_sense_are_refused() {
    let folder = Folder::with(&[("log.csv", LOG)]);
    for (inputs, outputs, task, time, problem) in [
        (
            &[][..],
            &["force"][..],
            None,
            None,
            "no input column is named",
        ),
        (&["speed"], &[], None, None, "no output column is named"),
        (
            &["speed", "speed"],
            &["force"],
            None,
            None,
            "`speed` is named twice",
        ),
        (
            &["speed", "force"],
            &["force"],
            None,
            None,
            "`force` is named twice",
        ),
        (
            &["speed"],
            &["force"],
            Some("speed"),
            None,
            "cannot tell the task",
        ),
        (
            &["speed"],
            &["force"],
            None,
            Some("force"),
            "cannot be the time",
        ),
    ] {
        let message = refusal(folder.table(inputs, outputs, task, time, false));
        assert!(message.contains(problem), "{message}");
    }
}

#[test]
fn files_are_refused_as_flights_are() {
    let folder = Folder::with(&[("a.csv", LOG), ("b.csv", LOG)]);
    let message = refusal(folder.table(&["speed"], &["force"], Some("run"), None, true));
    assert!(
        message.contains("are the same file under two names"),
        "{message}"
    );
    let folder = Folder::with(&[("1/a.csv", LOG), ("2/a.csv", b"speed,force\n1,2\n")]);
    let message = refusal(folder.table(&["speed"], &["force"], None, None, false));
    assert!(
        message.contains("would both be called a: rename"),
        "{message}"
    );
    let folder = Folder::with(&[("a.txt", LOG)]);
    let message = refusal(folder.table(&["speed"], &["force"], None, None, false));
    assert!(
        message.contains("looked in it and its subfolders for tables ending in .csv"),
        "{message}"
    );
    let folder = Folder::with(&[("a.csv", b"speed,force\nnan,1\n")]);
    let message = refusal(folder.table(&["speed"], &["force"], None, None, true));
    assert!(
        message.starts_with("a.csv has no row that can be used, 1 are bad"),
        "{message}"
    );
}

/// Ids that a double would merge, and a cell that some take for a comment.
const IDS: [&str; 6] = [
    "1700000000000000001",
    "1700000000000000002",
    "007",
    "7",
    "7.0",
    "#3",
];

#[test]
fn ids_that_look_like_numbers_stay_apart() {
    let mut text = String::from("id,x,y\n");
    for (row, id) in IDS.iter().cycle().take(12).enumerate() {
        text += &format!("{id},{row},1\n");
    }
    for skip in [false, true] {
        let folder = Folder::with(&[("log.csv", text.as_bytes())]);
        let logs = folder
            .table(&["x"], &["y"], Some("id"), None, skip)
            .unwrap();
        assert_eq!(logs.task_names(), IDS);
        assert!(logs.recordings.iter().all(|one| one.rows() == 2));
        assert_eq!(logs.recordings[5].x, [5.0, 11.0]);
    }
}

#[test]
fn bad_rows_belong_to_the_task_that_they_name() {
    let folder = Folder::with(&[("log.csv", b"id,x,y\n007,1,1\n7,1,1\n007,oops,1\n")]);
    let logs = folder
        .table(&["x"], &["y"], Some("id"), None, true)
        .unwrap();
    assert_eq!(logs.task_names(), ["007", "7"]);
    let skipped: Vec<_> = logs
        .recordings
        .iter()
        .map(|one| one.skipped.len())
        .collect();
    assert_eq!(skipped, [1, 0]);
}

#[test]
fn comments_are_skipped_where_they_are_asked_for() {
    let text = b"# a rig\nid,x,y\na,1,2\n# a,3,4\n#b,5,6\n";
    let folder = Folder::with(&[("log.csv", text)]);
    let message = refusal(folder.table(&["x"], &["y"], Some("id"), None, false));
    assert!(message.contains("--comment '#'"), "{message}");
    let options = ReadOptions {
        format: Format::Table {
            inputs: vec!["x".into()],
            outputs: vec!["y".into()],
            task: Some("id".into()),
            time: None,
        },
        comment: Some(b'#'),
        ..ReadOptions::default()
    };
    let logs = read(folder.path(), &options).unwrap();
    assert_eq!(logs.task_names(), ["a"]);
}

#[test]
fn names_do_not_act_on_the_terminal() {
    let text = b"id,x,y\n\"a\x1b[2J\nb\",1,2\n";
    let folder = Folder::with(&[("log.csv", text)]);
    let logs = folder
        .table(&["x"], &["y"], Some("id"), None, false)
        .unwrap();
    assert_eq!(logs.task_names(), ["a\u{1b}[2J\nb"]);
    let message = logs.find("a").unwrap_err().to_string();
    assert!(
        message.ends_with(r"did you mean `a\u{1b}[2J\nb`?"),
        "{message}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However ids look, as many tasks come out as went in, in both formats.
    #[test]
    fn every_id_is_a_task_of_its_own(
        ids in prop::collection::hash_set(
            "[0-9]{1,20}|0[0-9]{1,3}|[0-9]\\.0{1,3}|[+-]?[0-9]e[0-9]|#[a-z0-9 ]{0,4}|[a-z\u{1b}\n\t]{1,4}x",
            1..20,
        ),
    ) {
        let ids: Vec<String> = ids.into_iter().map(|id| id.trim().to_owned()).collect();
        let mut distinct = ids.clone();
        distinct.sort();
        distinct.dedup();
        let columns = [
            Column::text("id", ids.clone()),
            Column::numbers("x", vec![0.5; ids.len()]),
            Column::numbers("y", vec![1.5; ids.len()]),
        ];
        for name in ["log.csv", "log.parquet"] {
            let folder = Folder::with(&[]);
            let path = folder.path().join(name);
            if name.ends_with("csv") {
                write_csv(&path, &columns).unwrap();
            } else {
                write_parquet(&path, &columns).unwrap();
            }
            let logs = folder.table(&["x"], &["y"], Some("id"), None, false).unwrap();
            let mut found = logs.task_names();
            found.sort();
            prop_assert_eq!(&found, &distinct);
        }
    }
}
