//! What goes wrong in a campaign: each is one sentence, and nothing that was acknowledged is lost.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::os::unix::fs::FileExt as _;
use std::process::{Command, Output, Stdio};

use crate::common::cluster::Cluster;
use crate::common::tunnel::{NEW, TOMORROW, conditions, rows};
use crate::common::{Scratch, failed, refused, stderr};

#[test]
fn files_that_do_not_fit_are_refused_with_place_and_remedy() {
    let scratch = Scratch::with_study();
    let plan = scratch.measured_plan("study ask --budget 100");
    let before = scratch.status();
    let good = &plan[0].file;
    for (name, text, parts) in [
        (
            "lacks.csv",
            "vx,vy,force\n1,2,3\n",
            &["lacks.csv", "`pwm`"][..],
        ),
        (
            "word.csv",
            "vx,vy,pwm,force\n1,2,1500,3\n1,two,1500,3\n",
            &["word.csv", "line 3", "two"],
        ),
        (
            "nan.csv",
            "vx,vy,pwm,force\n1,2,1500,NaN\n",
            &["nan.csv", "line 2", "force"],
        ),
        (
            "gap.csv",
            "vx,vy,pwm,force\n1,,1500,3\n",
            &["gap.csv", "line 2", "vy"],
        ),
        ("none.csv", "vx,vy,pwm,force\n", &["none.csv", "no rows"]),
        ("empty.csv", "", &["empty.csv"]),
    ] {
        scratch.file(name, text);
        scratch.refused(&format!("study tell 0 {name}"), parts);
        scratch.refused(&format!("study target {name}"), parts);
    }
    scratch.refused("study tell 0 nowhere.csv", &["nowhere.csv"]);
    scratch.refused(
        &format!("study tell 99 {good}"),
        &["there is no item 99", "0 to"],
    );
    scratch.refused(&format!("study tell first {good}"), &["`first` is no item"]);
    scratch.refused(&format!("study tell {good}"), &["no column `item`"]);
    scratch.refused("study tell 0", &["`tell 0 FILE`"]);
    scratch.refused(
        "study ask --budget 9 --out nowhere/today.csv",
        &["there is no folder nowhere"],
    );
    scratch.refused("study ask --budget 0", &["budget"]);
    scratch.refused(
        "study ask --budget 100 --forbid k99",
        &["no task is called `k99`"],
    );
    scratch.file("filled.csv", "item,file,failed\n0,run0.csv,\n");
    scratch.refused(
        "study ask --budget 100 --out filled.csv",
        &["filled.csv", "was filled in"],
    );
    scratch.refused("study retract abc", &["abc", "batches"]);
    scratch.refused(
        "study target hover.csv --target yesterday",
        &["there is no target `yesterday`"],
    );
    scratch.refused("study status --study other", &["other", "study"]);
    scratch.refused("study status --store nowhere.db", &["nowhere.db"]);
    scratch.refused(NEW, &["a study `study` is there already"]);
    scratch.file(
        "items.csv",
        "item,vx,vy,pwm,force\n0,1,2,1500,3\n77,1,2,1500,3\n",
    );
    scratch.refused("study tell items.csv", &["there is no item 77"]);
    assert_eq!(scratch.status(), before, "nothing changed");
}

#[test]
fn settings_that_make_no_sense_are_refused_before_anything_is_written() {
    let scratch = Scratch::new();
    scratch.file("conditions.csv", &conditions());
    for (options, parts) in [
        (
            "--candidates conditions.csv --outputs force",
            &["input"][..],
        ),
        (
            "--candidates conditions.csv --inputs vx --outputs vx",
            &["`vx` is named twice"],
        ),
        (
            "--candidates nowhere.csv --inputs vx --outputs force",
            &["nowhere.csv"],
        ),
        (
            "--candidates conditions.csv --cost euros --inputs vx --outputs force",
            &["euros"],
        ),
        ("--inputs vx --outputs force", &["candidates", "parameters"]),
        (
            "--parameter wind=0:12 --inputs vx --outputs force --strategy wild",
            &["wild", "aware"],
        ),
        (
            "--parameter wind=0:12 --inputs vx --outputs force --target t=1,2",
            &["2 parameters"],
        ),
        ("", &["nothing says what the study is about"]),
    ] {
        scratch.refused(&format!("study new {options}"), parts);
    }
    scratch.file(
        "s.toml",
        "[rows]\ninputs = [\"vx\"]\noutputs = [\"f\"]\ncolour = 3\n",
    );
    scratch.refused("study new s.toml", &["colour", "study-file.md"]);
    assert!(!scratch.path("studies.db").exists());
}

const SETTINGS: &str = "\
strategy = \"aware\"
trainer = \"exact\"
k = 1

[tasks]
candidates = \"conditions.csv\"
columns = [\"wind\", \"payload\"]
cost = \"minutes\"

[rows]
inputs = [\"vx\", { name = \"vy\", scale = 2.0 }]
outputs = [\"force\"]

[collection]
max_tasks = 3
switch_cost = 1.0
episode = 1
forbidden = [\"c01\"]

[[targets]]
name = \"today\"

[[targets]]
name = \"tomorrow\"
parameters = [1.0, 2.0]
weight = 1.0
";

#[test]
fn what_settings_mean_is_refused_with_file_and_line() {
    let scratch = Scratch::new();
    scratch.file("conditions.csv", &conditions());
    for (from, to, place, words) in [
        (
            "max_tasks = 3",
            "max_tasks = 0",
            "line 15, column 13",
            "max_tasks` is 0",
        ),
        (
            "switch_cost = 1.0",
            "sample_cost = -1",
            "line 16, column 15",
            "sample_cost` is -1",
        ),
        (
            "episode = 1",
            "episode = 0",
            "line 17, column 11",
            "episode` is 0",
        ),
        (
            "scale = 2.0",
            "scale = 0",
            "line 11, column 17",
            "`vy` is 0",
        ),
        (
            "scale = 2.0",
            "scale = nan",
            "line 11, column 17",
            "`vy` is NaN",
        ),
        (
            "\"vx\", {",
            "\"force\", {",
            "line 10, column 1",
            "named twice",
        ),
        (
            "cost = \"minutes\"",
            "cost = \"euros\"",
            "line 8, column 8",
            "`euros`",
        ),
        ("\"payload\"]", "\"load\"]", "line 7, column 11", "`load`"),
        (
            "[1.0, 2.0]",
            "[1]",
            "line 25, column 14",
            "has 1 parameters",
        ),
        ("weight = 1.0", "weight = -1", "line 26, column 10", "is -1"),
        ("\"tomorrow\"", "\"\"", "line 24, column 8", "has no name"),
        (
            "\"tomorrow\"",
            "\"today\"",
            "line 20, column 1",
            "two named `today`",
        ),
        (
            "\"aware\"",
            "\"wild\"",
            "line 1, column 12",
            "no strategy `wild`",
        ),
        (
            "\"exact\"",
            "\"magic\"",
            "line 2, column 11",
            "no trainer `magic`: use one of exact, mllam, pooled, joint-gd, neural",
        ),
        ("k = 1", "k = 0", "line 3, column 5", "`k` is 0"),
        (
            "\"c01\"",
            "\"c1\"",
            "line 18, column 13",
            "no task is called `c1`",
        ),
    ] {
        assert!(SETTINGS.contains(from), "{from}");
        scratch.file("s.toml", &SETTINGS.replacen(from, to, 1));
        scratch.refused("study new s.toml", &[&format!("s.toml, {place}: "), words]);
    }
    // What the command line says instead is no fault of the file.
    scratch.file("s.toml", SETTINGS);
    let output = scratch.taskscout("study new s.toml --max-tasks 0");
    refused(&output, &["`collection.max_tasks` is 0"]);
    assert!(!stderr(&output).contains("s.toml"), "{}", stderr(&output));
    let output = scratch.taskscout("study new s.toml --target =1,2");
    assert!(!output.status.success() && !stderr(&output).contains("s.toml"));
    scratch.done("study new s.toml");
}

#[test]
fn two_who_tell_one_item_at_once_are_counted_once() {
    let scratch = Scratch::with_study();
    let plan = scratch.measured_plan("study ask --budget 100");
    for item in &plan {
        scratch.file("ada.csv", &rows(item.condition, item.n, 500));
        scratch.file("bob.csv", &rows(item.condition, item.n, 501));
        let tell = |file: &str| {
            let mut command = scratch.command(&format!("study tell {} {file}", item.id));
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let (ada, bob) = (tell("ada.csv"), tell("bob.csv"));
        let outputs = [ada, bob].map(|child| child.wait_with_output().unwrap());
        let (won, lost): (Vec<&Output>, Vec<&Output>) =
            outputs.iter().partition(|output| output.status.success());
        assert_eq!((won.len(), lost.len()), (1, 1), "{}", stderr(&outputs[0]));
        refused(lost[0], &["is complete", "add"]);
    }
    let total: usize = plan.iter().map(|item| item.n).sum();
    assert_eq!(scratch.status()["source_rows"], total);
}

#[test]
fn a_full_disk_loses_nothing() {
    let scratch = Scratch::with_study();
    let item = scratch.measured_plan("study ask --budget 100").remove(0);
    let before = scratch.status();
    scratch.file("long.csv", &rows(item.condition, 20_000, 8));
    // No file may grow beyond what is there by more than a few pages.
    let size = scratch.path("studies.db").metadata().unwrap().len();
    let limited = |line: String| {
        let script = format!("ulimit -f {}; exec \"$0\" {line}", size / 512 + 16);
        let mut shell = Command::new("bash");
        shell
            .arg("-c")
            .arg(script)
            .arg(env!("CARGO_BIN_EXE_taskscout"));
        shell.current_dir(scratch.folder()).output().unwrap()
    };
    let output = limited(format!("study tell {} long.csv", item.id));
    failed(&output, 1, &["studies.db", "full"]);
    assert_eq!(
        scratch.status(),
        before,
        "what was acknowledged is there, and no more"
    );
    scratch.done(&format!("study tell {} long.csv", item.id));
    assert_eq!(scratch.status()["source_rows"], 20_000);
}

#[test]
fn a_file_of_a_newer_version_is_refused_and_left_alone() {
    let scratch = Scratch::with_study();
    let path = scratch.path("studies.db");
    // `PRAGMA user_version`: four bytes, the highest first, at 60.
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.write_all_at(&99_u32.to_be_bytes(), 60).unwrap();
    drop(file);
    let bytes = std::fs::read(&path).unwrap();
    scratch.refused("study status", &["newer", "studies.db"]);
    scratch.refused("study ask --budget 100", &["newer"]);
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    scratch.file("notes.db", "just some words, and no database at all");
    scratch.refused("study status --store notes.db", &["notes.db"]);
}

#[test]
fn a_cut_or_changed_file_is_refused_and_what_is_intact_comes_back() {
    let scratch = Scratch::with_study();
    for item in scratch.measured_plan("study ask --budget 100") {
        scratch.done(&format!("study tell {} {}", item.id, item.file));
    }
    let whole = std::fs::read(scratch.path("studies.db")).unwrap();
    let status = scratch.status();
    let mut refusals = 0;
    for part in 1..10 {
        let mut cut = whole.clone();
        if part % 2 == 0 {
            cut.truncate(whole.len() * part / 10);
        } else {
            let at = whole.len() * part / 10;
            cut[at..at + 64].iter_mut().for_each(|byte| *byte ^= 0x5a);
        }
        std::fs::write(scratch.path("cut.db"), &cut).unwrap();
        let output = scratch.taskscout("study status --store cut.db --json");
        if output.status.success() {
            let seen: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            // What is damaged may be a part that the status does not need: then it is right.
            assert_eq!(seen["source_rows"], status["source_rows"]);
            continue;
        }
        refusals += 1;
        let code = output.status.code().unwrap();
        failed(&output, code, &[]);
        let new = format!("new{part}.db");
        let output = scratch.taskscout(&format!("study recover --store cut.db --to {new}"));
        if output.status.success() {
            let output = scratch.taskscout(&format!("study status --store {new}"));
            if !output.status.success() {
                failed(&output, output.status.code().unwrap(), &[]);
            }
        }
    }
    assert!(refusals >= 4, "{refusals}");
}

#[test]
fn a_server_that_goes_away_says_so_and_comes_back_with_everything() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let scratch = Scratch::new();
    scratch.file("conditions.csv", &conditions());
    scratch.file("hover.csv", &rows(TOMORROW, 40, 99));
    let store = format!("--store {}", cluster.url());
    scratch.done(&format!("{NEW} {store}"));
    scratch.done(&format!("study target hover.csv {store}"));
    let item = scratch
        .measured_plan(&format!("study ask --budget 100 {store}"))
        .remove(0);
    cluster.crash();
    let tell = format!("study tell {} {} {store}", item.id, item.file);
    scratch.fails(&tell, &["127.0.0.1", "10 s"]);
    cluster.up();
    scratch.done(&tell);
    let status = scratch.said(&format!("study status {store}"));
    assert_eq!(status["source_rows"], item.n);
}
