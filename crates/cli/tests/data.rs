//! `taskscout data inspect`, end to end with the real binary.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::fs;
use std::process::{Command, Output};

struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn inspect(&self, line: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_taskscout"))
            .args(["data", "inspect"])
            .args(line.split_whitespace())
            .current_dir(self.0.path())
            .output()
            .unwrap()
    }

    fn text(&self, line: &str) -> String {
        let output = self.inspect(line);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{error}");
        assert!(error.is_empty(), "{error}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, line: &str) -> serde_json::Value {
        serde_json::from_str(&self.text(&format!("{line} --json"))).unwrap()
    }

    fn refused(&self, line: &str, parts: &[&str]) {
        let output = self.inspect(line);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {error}");
        assert!(output.stdout.is_empty(), "{line}");
        for part in parts {
            assert!(error.contains(part), "`{part}` in: {error}");
        }
    }
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
    scratch.write("logs/quad_eight_pid_nowind.csv", &flight(200, 1.0));
    scratch.write("logs/windy/quad_eight_pid_70p20sint.csv", &flight(150, 5.0));
    scratch
}

#[test]
fn flights_are_listed_by_axis() {
    let scratch = flights();
    let text = scratch.text("logs");
    assert!(
        text.starts_with("2 recordings, 6 tasks, 350 rows\n"),
        "{text}"
    );
    for part in ["quad_eight_pid_70p20sint_z   150", "8.5 ± 2.4", "pwm_3 "] {
        assert!(text.contains(part), "{part} in: {text}");
    }
    assert!(
        text.ends_with("Nothing was found that would spoil learning.\n"),
        "{text}"
    );
    let json = scratch.json("logs");
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
    scratch.write("logs/quad_eight_pid_50wind.csv", &cut[..cut.len() - 9]);
    scratch.refused(
        "logs",
        &["error: line 121 of logs/quad_eight_pid_50wind.csv has a quotation mark that is never closed"],
    );
    let text = scratch.text("logs --skip-bad-rows");
    assert!(
        text.starts_with("3 recordings, 9 tasks, 469 rows, 1 bad row skipped\n"),
        "{text}"
    );
    assert!(text.contains(
        "warning: logs/quad_eight_pid_50wind.csv: 1 bad row skipped; the first: line 121"
    ));
    assert_eq!(scratch.json("logs --skip-bad-rows")["skipped"], 1);
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
    scratch.write("logs/robot.csv", &table);
    let columns = "--inputs speed,level --outputs torque --task surface --time t";
    let json = scratch.json(&format!("logs {columns}"));
    assert_eq!(json["tasks"][1]["task"], "sand");
    assert_eq!(json["tasks"][1]["rows"], 100);
    assert_eq!(json["warnings"][0]["kind"], "constant");
    assert_eq!(json["warnings"][0]["column"], "input level");
    let text = scratch.text(&format!("logs/robot.csv {columns}"));
    assert!(
        text.contains(
            "warning: input level is constant in ice (at 7), sand (at 7) and rock (at 7): "
        ),
        "{text}"
    );

    scratch.refused(
        "logs",
        &[
            "robot.csv is not named like a flight log",
            "VEHICLE_TRAJECTORY",
        ],
    );
    scratch.refused(
        "logs --inputs sped --outputs torque",
        &["robot.csv has no column `sped` (did you mean `speed`?)"],
    );
    scratch.refused(
        "logs --inputs speed --outputs speed",
        &["`speed` is named twice"],
    );
    scratch.refused("logs --inputs speed", &["--outputs"]);
    scratch.refused("logs --task surface", &["--inputs"]);
    scratch.refused("nowhere", &["cannot read nowhere"]);
    fs::create_dir(scratch.0.path().join("empty")).unwrap();
    scratch.refused(
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
    scratch.write("logs/a.csv", &text);
    let line = "logs --inputs x --outputs y --task id";
    let json = scratch.json(line);
    let tasks = json["tasks"].as_array().unwrap();
    let names: Vec<&str> = tasks
        .iter()
        .map(|task| task["task"].as_str().unwrap())
        .collect();
    assert_eq!(names, ids);
    assert!(tasks.iter().all(|task| task["rows"] == 20));
    let json = scratch.json(&format!("{line} --comment #"));
    assert_eq!(json["tasks"].as_array().unwrap().len(), 5);
    scratch.refused(&format!("{line} --comment ,"), &["--comment", "such as #"]);
}

#[test]
fn names_are_shown_and_not_obeyed() {
    let scratch = Scratch::new();
    let mut text = String::from("id,x\u{7},y\n");
    for row in 0..200 {
        text += &format!("\"a\u{1b}[31m\nb\",{row},{}\n", (row * 7) % 11);
    }
    scratch.write("logs/a.csv", &text);
    let output = scratch.inspect("logs --inputs x\u{7} --outputs y --task id");
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    assert!(
        shown.contains(r"a\u{1b}[31m\nb") && shown.contains(r"x\u{7}"),
        "{shown}"
    );
    assert!(!shown.contains(['\u{1b}', '\u{7}']), "{shown}");
    scratch.refused(
        "logs --inputs none --outputs y --task id",
        &[r"the columns are `id`, `x\u{7}`, `y`"],
    );
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_refused_at_once() {
    let scratch = Scratch::new();
    let pipe = scratch.0.path().join("pipe");
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
            scratch.refused(&format!("{path}{options}"), &[path]);
        }
    }
    let large = std::fs::File::create(scratch.0.path().join("large.csv")).unwrap();
    large.set_len(1 << 40).unwrap();
    scratch.refused(
        "large.csv --inputs x --outputs y",
        &["cannot read large.csv", "1099511627776 bytes"],
    );
}
