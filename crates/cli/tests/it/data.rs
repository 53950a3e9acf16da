//! `taskscout data inspect`, end to end with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

#[cfg(unix)]
use std::process::Command;

use crate::common::{Scratch, misused, stdout, succeeded};

fn inspect(line: &str) -> String {
    format!("data inspect {line}")
}

/// What the command says of logs that it has nothing to say beside.
fn inspected(scratch: &Scratch, line: &str) -> String {
    let output = scratch.taskscout(&inspect(line));
    let error = succeeded(&output);
    assert!(error.is_empty(), "{error}");
    stdout(&output)
}

fn inspected_json(scratch: &Scratch, line: &str) -> serde_json::Value {
    serde_json::from_str(&inspected(scratch, &format!("{line} --json"))).unwrap()
}

fn refused(scratch: &Scratch, line: &str, parts: &[&str]) {
    scratch.refused(&inspect(line), parts);
}

/// A flight of so many rows whose force along z is `z` newtons and a little.
fn flight(rows: usize, z: f64) -> String {
    let mut text = String::from(",t,v,q,fa,pwm\n");
    for row in 0..rows {
        let s = row as f64;
        let (v, angle) = (s.sin(), 0.1 * (0.3 * s).sin());
        text += &format!(
            "{row},{:?},\"[{v}, {}, {}]\",\"[{}, {}, {}, {}]\",\"[{}, {}, {}]\",\"[{}, {}, {}, {}]\"\n",
            0.02 * s,
            (1.1 * s).sin(),
            (1.2 * s).sin(),
            angle.cos(),
            angle.sin() * 0.6f64.sqrt() * (0.9 * s).cos(),
            angle.sin() * 0.6f64.sqrt() * (0.9 * s).sin(),
            angle.sin() * 0.4f64.sqrt(),
            (1.3 * s).sin(),
            (1.4 * s).sin(),
            z + (1.5 * s).sin(),
            1500.0 + 90.0 * (1.6 * s).sin(),
            1500.0 + 90.0 * (1.7 * s).sin(),
            1500.0 + 90.0 * (1.8 * s).sin(),
            1500.0 + 90.0 * (1.9 * s).sin(),
        );
    }
    text
}

fn flights() -> Scratch {
    let scratch = Scratch::new();
    scratch.file("logs/quad_eight_pid_nowind.csv", &flight(200, 1.0));
    scratch.file("logs/windy/quad_eight_pid_70p20sint.csv", &flight(150, 5.0));
    scratch
}

#[test]
fn flights_are_listed_by_axis() {
    let scratch = flights();
    let text = inspected(&scratch, "logs");
    assert!(
        text.starts_with("2 recordings, 6 tasks, 350 rows\n"),
        "{text}"
    );
    for part in ["quad_eight_pid_70p20sint_z   150", "8.5 ± 2.4", "pwm_3 "] {
        assert!(text.contains(part), "{part} in: {text}");
    }
    assert!(text.ends_with("No problems were found.\n"), "{text}");
    let json = inspected_json(&scratch, "logs");
    let task = &json["tasks"][5];
    assert_eq!(task["task"], "quad_eight_pid_nowind_z");
    assert_eq!(task["rows"], 200);
    assert!((task["mean"].as_f64().unwrap() - 1.0).abs() < 0.1);
    assert!((task["time_step"].as_f64().unwrap() - 0.02).abs() < 1e-9);
    assert_eq!(task["wind"]["mean_m_s"], 0.0);
    assert_eq!(json["inputs"].as_array().unwrap().len(), 11);
    assert_eq!(json["warnings"].as_array().unwrap().len(), 0);
}

#[test]
fn bad_rows_are_refused_or_skipped_and_said() {
    let scratch = flights();
    let cut = flight(120, 2.0);
    scratch.file("logs/quad_eight_pid_50wind.csv", &cut[..cut.len() - 9]);
    refused(
        &scratch,
        "logs",
        &[
            "error: line 121 of logs/quad_eight_pid_50wind.csv has a quotation mark that is never closed",
        ],
    );
    let text = inspected(&scratch, "logs --skip-bad-rows");
    assert!(
        text.starts_with("3 recordings, 9 tasks, 469 rows, 1 bad row skipped\n"),
        "{text}"
    );
    assert!(text.contains(
        "warning: logs/quad_eight_pid_50wind.csv: 1 bad row skipped; the first: line 121"
    ));
    assert_eq!(
        inspected_json(&scratch, "logs --skip-bad-rows")["skipped"],
        1
    );
}

#[test]
fn tables_need_their_columns() {
    let scratch = Scratch::new();
    let mut table = String::from("surface,t,speed,level,torque\n");
    for row in 0..300 {
        let s = f64::from(row);
        let surface = ["ice", "sand", "rock"][row as usize % 3];
        table += &format!("{surface},{s},{},7,{}\n", s.sin(), (1.1 * s).sin());
    }
    scratch.file("logs/robot.csv", &table);
    let columns = "--inputs speed,level --outputs torque --task surface --time t";
    let json = inspected_json(&scratch, &format!("logs {columns}"));
    assert_eq!(json["tasks"][1]["task"], "sand");
    assert_eq!(json["tasks"][1]["rows"], 100);
    assert_eq!(json["warnings"][0]["kind"], "constant");
    assert_eq!(json["warnings"][0]["column"], "input level");
    let text = inspected(&scratch, &format!("logs/robot.csv {columns}"));
    assert!(
        text.contains(
            "warning: input level is constant in ice (at 7), sand (at 7) and rock (at 7): "
        ),
        "{text}"
    );

    refused(
        &scratch,
        "logs",
        &[
            "robot.csv is not named like a flight log",
            "VEHICLE_TRAJECTORY",
        ],
    );
    refused(
        &scratch,
        "logs --inputs sped --outputs torque",
        &["robot.csv has no column `sped` (did you mean `speed`?)"],
    );
    refused(
        &scratch,
        "logs --inputs speed --outputs speed",
        &["`speed` is named twice"],
    );
    for (line, missing) in [
        ("logs --inputs speed", "--outputs"),
        ("logs --task surface", "--inputs"),
    ] {
        misused(&scratch.taskscout(&inspect(line)), &[missing]);
    }
    refused(&scratch, "nowhere", &["cannot read nowhere"]);
    std::fs::create_dir(scratch.path("empty")).unwrap();
    refused(
        &scratch,
        "empty",
        &["empty has no logs: looked in it and its subfolders for flight logs"],
    );
}

#[test]
fn ids_and_lines_are_taken_as_they_are() {
    let scratch = Scratch::new();
    let mut text = String::from("id,x,y\n");
    let ids = [
        "1700000000000000001",
        "1700000000000000002",
        "007",
        "7",
        "7.0",
        "#3",
    ];
    for row in 0..120 {
        text += &format!("{},{},{}\n", ids[row % 6], row, (row * 7) % 11);
    }
    scratch.file("logs/a.csv", &text);
    let line = "logs --inputs x --outputs y --task id";
    let json = inspected_json(&scratch, line);
    let tasks = json["tasks"].as_array().unwrap();
    let names: Vec<&str> = tasks
        .iter()
        .map(|task| task["task"].as_str().unwrap())
        .collect();
    assert_eq!(names, ids);
    assert!(tasks.iter().all(|task| task["rows"] == 20));
    let json = inspected_json(&scratch, &format!("{line} --comment #"));
    assert_eq!(json["tasks"].as_array().unwrap().len(), 5);
    let output = scratch.taskscout(&inspect(&format!("{line} --comment ,")));
    misused(&output, &["--comment", "such as #"]);
}

#[test]
fn names_are_shown_and_not_obeyed() {
    let scratch = Scratch::new();
    let mut text = String::from("id,x\u{7},y\n");
    for row in 0..200 {
        text += &format!("\"a\u{1b}[31m\nb\",{row},{}\n", (row * 7) % 11);
    }
    scratch.file("logs/a.csv", &text);
    let output = scratch.taskscout("data inspect logs --inputs x\u{7} --outputs y --task id");
    succeeded(&output);
    let shown = stdout(&output);
    assert!(
        shown.contains(r"a\u{1b}[31m\nb") && shown.contains(r"x\u{7}"),
        "{shown}"
    );
    assert!(!shown.contains(['\u{1b}', '\u{7}']), "{shown}");
    // In JSON as well, which allows more, and on pages.
    let text = "id,x,y\n".to_owned()
        + &(0..60)
            .map(|row| {
                format!(
                    "\"{}\u{7f}\u{9b}31m\u{1b}[31m\",{row},{}\n",
                    row % 3,
                    (row * 7) % 11
                )
            })
            .collect::<String>();
    scratch.file("c1.csv", &text);
    let columns = "c1.csv --inputs x --outputs y --task id";
    let target = "0\u{7f}\u{9b}31m\u{1b}[31m";
    for mut command in [
        scratch.command(&format!("data inspect {columns} --json")),
        scratch.command(&format!(
            "learn {columns} --out out --phi linear --json --target {target}"
        )),
    ] {
        let output = command.output().unwrap();
        succeeded(&output);
        let shown = stdout(&output);
        assert!(shown.contains(r"\u007f\u009b31m\u001b[31m"), "{shown}");
        assert!(!shown.contains(['\u{1b}', '\u{7f}', '\u{9b}']), "{shown}");
        let json: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert!(json.to_string().contains('\u{9b}'), "{json}");
    }
    let page = scratch.text("out/report.html");
    assert!(!page.contains(['\u{1b}', '\u{7f}', '\u{9b}']), "{page}");
    assert!(page.contains("\u{fffd}31m"), "{page}");
    refused(
        &scratch,
        "logs --inputs none --outputs y --task id",
        &[r"the columns are `id`, `x\u{7}`, `y`"],
    );
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_refused_at_once() {
    let scratch = Scratch::new();
    let pipe = scratch.path("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    for path in ["/dev/zero", "/dev/full", "pipe"] {
        for options in [
            "",
            " --inputs x --outputs y",
            " --inputs x --outputs y --skip-bad-rows",
        ] {
            refused(&scratch, &format!("{path}{options}"), &[path]);
        }
    }
    let large = std::fs::File::create(scratch.path("large.csv")).unwrap();
    large.set_len(1 << 40).unwrap();
    refused(
        &scratch,
        "large.csv --inputs x --outputs y",
        &["cannot read large.csv", "1099511627776 bytes"],
    );
}
