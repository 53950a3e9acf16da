//! Programs as sources: what they answer, what they do wrong, and what is kept of it.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud
#![cfg(unix)] // the programs are shell scripts

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use taskscout_worlds::program::{Incidents, Listener, Program, Request, Session};

/// Answers with rows that count up over the life of the process, and logs every request.
const COUNTER: &str = r#"
n=0
while read -r line; do
  echo "$line" >> asked.txt
  count=$(echo "$line" | sed 's/.*"count":\([0-9]*\).*/\1/')
  while [ "$count" -gt 0 ]; do
    n=$((n + 1)); count=$((count - 1))
    echo "{\"x\": [$n, 0.1], \"y\": -$n}"
  done
done
"#;

struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn program(&self, script: &str, timeout_s: f64) -> Program {
        let command = ["sh", "-c", script].map(String::from).to_vec();
        let timeout = Duration::from_secs_f64(timeout_s);
        Program::new(command, self.0.path(), timeout, 2).unwrap()
    }

    fn session(&self, script: &str) -> Session {
        Session::open(&self.program(script, 30.0), &self.path("rows.jsonl")).unwrap()
    }

    fn asked(&self) -> usize {
        let text = std::fs::read_to_string(self.path("asked.txt"));
        text.map_or(0, |text| text.lines().count())
    }

    fn journal(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path("rows.jsonl")).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// The error of a script that is asked for two rows.
    fn fails(&self, script: &str, timeout_s: f64, parts: &[&str]) {
        let program = self.program(script, timeout_s);
        let mut session = Session::open(&program, &self.path("rows.jsonl")).unwrap();
        let clock = Instant::now();
        let error = session.ask(&request(0.5, 2)).unwrap_err().to_string();
        assert!(clock.elapsed() < Duration::from_secs(20), "{script}");
        assert!(!error.contains('\n'), "one line: {error}");
        for part in [&["2 rows of task [0.5]", "sh -c"], parts].concat() {
            assert!(error.contains(part), "`{part}` in: {error}");
        }
        let last = self.journal().pop().unwrap();
        assert!(last.contains("\"error\""), "kept: {last}");
    }
}

fn request(w: f64, count: usize) -> Request {
    Request {
        target: None,
        task: Some(vec![w]),
        count,
        seed: 3,
    }
}

#[test]
fn a_program_answers_request_after_request() {
    let scratch = Scratch::new();
    let mut session = scratch.session(COUNTER);
    let first = session.ask(&request(0.1, 2)).unwrap();
    assert_eq!(first.inputs(), [1.0, 0.1, 2.0, 0.1]);
    assert_eq!(first.outputs(), [-1.0, -2.0]);
    let target = Request {
        target: Some("stiff".into()),
        task: None,
        count: 1,
        seed: 4,
    };
    assert_eq!(session.ask(&target).unwrap().outputs(), [-3.0]);
    session.close().unwrap();
    let asked = std::fs::read_to_string(scratch.path("asked.txt")).unwrap();
    assert_eq!(
        asked,
        "{\"task\":[0.1],\"count\":2,\"seed\":3}\n{\"target\":\"stiff\",\"count\":1,\"seed\":4}\n"
    );
}

#[test]
fn what_the_journal_knows_is_not_asked_again() {
    let scratch = Scratch::new();
    let tasks = [0.1, 1.0 / 3.0, -0.7];
    let mut first = scratch.session(COUNTER);
    let rows: Vec<_> = tasks
        .map(|w| first.ask(&request(w, 3)).unwrap())
        .into_iter()
        .collect();
    drop(first);
    // The last line is torn, as a crash leaves it.
    let text = std::fs::read(scratch.path("rows.jsonl")).unwrap();
    std::fs::write(scratch.path("rows.jsonl"), &text[..text.len() - 9]).unwrap();
    let mut again = scratch.session(COUNTER);
    for (w, rows) in tasks.iter().zip(&rows).take(2) {
        assert_eq!(&again.ask(&request(*w, 3)).unwrap(), rows);
    }
    assert_eq!(scratch.asked(), 3, "nothing was asked again");
    again.ask(&request(tasks[2], 3)).unwrap();
    assert_eq!(scratch.asked(), 4);
    let note = again.take_note().unwrap();
    assert!(
        note.contains("line 3 of ") && note.contains("asked again"),
        "{note}"
    );
    assert!(again.take_note().is_none());
    drop(again);
    assert_eq!(scratch.journal().len(), 3);
    let aside = std::fs::read(scratch.path("rows.jsonl.set-aside")).unwrap();
    assert_eq!(aside.len(), text.len() - text_before(&text, 2) - 9 + 1);

    // Another request than before: the program is asked, and what was kept stays of use.
    let mut other = scratch.session(COUNTER);
    assert_eq!(other.ask(&request(tasks[0], 3)).unwrap(), rows[0]);
    other.ask(&request(0.9, 3)).unwrap();
    assert!(other.take_note().unwrap().contains("task [0.9]"));
    assert!(other.take_note().is_none());
    assert_eq!(other.ask(&request(tasks[1], 3)).unwrap(), rows[1]);
    drop(other);
    assert_eq!(scratch.journal().len(), 4);
    assert_eq!(scratch.asked(), 5);
}

/// The length of the first lines.
fn text_before(text: &[u8], lines: usize) -> usize {
    let parts = text.split_inclusive(|&byte| byte == b'\n');
    parts.take(lines).map(<[u8]>::len).sum()
}

#[test]
fn a_damaged_line_costs_its_own_answer_only() {
    let scratch = Scratch::new();
    let tasks = [0.1, 0.2, 0.3, 0.4];
    let mut first = scratch.session(COUNTER);
    let rows = tasks.map(|w| first.ask(&request(w, 2)).unwrap());
    drop(first);
    let mut lines = scratch.journal();
    let damaged = lines[1].replacen("rows", "ro\u{0}s", 1);
    lines[1].clone_from(&damaged);
    std::fs::write(scratch.path("rows.jsonl"), lines.join("\n") + "\n").unwrap();

    let mut again = scratch.session(COUNTER);
    let note = again.take_note().unwrap();
    assert!(note.starts_with("line 2 of "), "{note}");
    assert_eq!(again.ask(&request(tasks[0], 2)).unwrap(), rows[0]);
    again.ask(&request(tasks[1], 2)).unwrap();
    // Stopped here and gone on with, the rest is still of use.
    drop(again);
    let mut last = scratch.session(COUNTER);
    last.ask(&request(tasks[1], 2)).unwrap();
    for index in [0, 2, 3] {
        assert_eq!(last.ask(&request(tasks[index], 2)).unwrap(), rows[index]);
    }
    assert_eq!(scratch.asked(), 5, "one request was asked again");
    assert!(last.take_note().is_none());
    let aside = std::fs::read_to_string(scratch.path("rows.jsonl.set-aside")).unwrap();
    assert_eq!(aside.trim_end(), damaged, "nothing is thrown away");
}

#[test]
fn an_answer_that_lacks_a_row_is_asked_for_again() {
    let scratch = Scratch::new();
    let mut first = scratch.session(COUNTER);
    first.ask(&request(0.1, 2)).unwrap();
    let rows = first.ask(&request(0.2, 2)).unwrap();
    drop(first);
    let text = scratch.journal().join("\n") + "\n";
    let shorter = text.replacen("[1.0,0.1,-1.0],", "", 1);
    assert!(shorter.len() < text.len(), "{text}");
    std::fs::write(scratch.path("rows.jsonl"), shorter).unwrap();
    let mut again = scratch.session(COUNTER);
    assert_eq!(again.ask(&request(0.1, 2)).unwrap().len(), 2);
    let note = again.take_note().unwrap();
    assert!(note.contains("2 rows of task [0.1]"), "{note}");
    assert_eq!(again.ask(&request(0.2, 2)).unwrap(), rows);
    assert_eq!(scratch.asked(), 3);
}

#[test]
fn a_last_line_without_its_end_is_whole_all_the_same() {
    let scratch = Scratch::new();
    let mut first = scratch.session(COUNTER);
    let rows = first.ask(&request(0.1, 2)).unwrap();
    drop(first);
    let text = std::fs::read(scratch.path("rows.jsonl")).unwrap();
    std::fs::write(scratch.path("rows.jsonl"), &text[..text.len() - 1]).unwrap();
    let mut again = scratch.session(COUNTER);
    assert_eq!(again.ask(&request(0.1, 2)).unwrap(), rows);
    again.ask(&request(0.2, 2)).unwrap();
    assert_eq!(scratch.journal().len(), 2);
    assert!(again.take_note().is_none());
    assert!(!scratch.path("rows.jsonl.set-aside").exists());
}

#[test]
fn a_crash_is_mended_by_one_restart() {
    let scratch = Scratch::new();
    // Dies in the middle of its first answer, and only then.
    let script = format!(
        "if [ ! -e died ]; then touch died; read -r line; echo '{{\"x\": [9, 9], \"y\": 9}}'; exit 4; fi\n{COUNTER}"
    );
    let mut session = scratch.session(&script);
    let rows = session.ask(&request(0.5, 2)).unwrap();
    assert_eq!(rows.outputs(), [-1.0, -2.0], "half an answer is none");
    let note = session.take_note().unwrap();
    for part in ["exit status: 4", "after 1 rows", "started again"] {
        assert!(note.contains(part), "`{part}` in: {note}");
    }
    session.close().unwrap();
    assert_eq!(scratch.journal().len(), 1);
    let mut incidents = Incidents::default();
    incidents.add(&scratch.path("rows.jsonl")).unwrap();
    assert_eq!((incidents.crashes, incidents.restarts), (1, 1));
    // Twice in a row is a failure, after one start.
    let scratch = Scratch::new();
    scratch.fails(
        "read -r l; exit 5",
        30.0,
        &["exit status: 5", "again after a restart"],
    );
    incidents.add(&scratch.path("rows.jsonl")).unwrap();
    assert_eq!((incidents.crashes, incidents.restarts), (3, 2));
}

#[test]
fn standard_error_is_heard_line_by_line() {
    let scratch = Scratch::new();
    let script = format!("echo 'warming up' >&2; printf 'no end' >&2\n{COUNTER}");
    let heard = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heard);
    let listener: Listener = Arc::new(move |line| kept.lock().unwrap().push(line.to_owned()));
    let mut session = scratch.session(&script).with_listener(listener);
    session.ask(&request(0.5, 2)).unwrap();
    session.close().unwrap();
    drop(session);
    assert_eq!(*heard.lock().unwrap(), ["warming up", "no end"]);
}

#[test]
fn failures_name_the_task_and_keep_what_came() {
    let scratch = Scratch::new();
    let row = r#"echo '{"x": [1, 2], "y": 3}'"#;
    scratch.fails(
        &format!("read -r l; {row}; echo one >&2; echo 'Trace: bang' >&2; exit 3"),
        30.0,
        &["exit status: 3", "after 1 rows", "one | Trace: bang"],
    );
    let last = scratch.journal().pop().unwrap();
    assert!(last.contains("\"rows\":[[1.0,2.0,3.0]]"), "{last}");
    scratch.fails(
        "read -r l; kill -9 $$",
        30.0,
        &["signal: 9", "again after a restart"],
    );
    scratch.fails("exit 5", 30.0, &["exit status: 5", "after 0 rows"]);
    scratch.fails(
        &format!("read -r l; {row}; exec sleep 60"),
        0.3,
        &["gave 1 rows within 0.3 s", "timeout_s", "flush"],
    );
    scratch.fails(
        "read -r l; exec 1>&-; exec sleep 60",
        30.0,
        &["closed its standard output"],
    );
    scratch.fails(
        &format!("read -r l; {row}; echo 'done with it'; exec sleep 60"),
        30.0,
        &[
            "row 2 of its answer is no JSON",
            "`done with it`",
            "nothing else",
        ],
    );
    scratch.fails(
        r#"read -r l; echo '{"x": [1], "y": 3}'; exec sleep 60"#,
        30.0,
        &["row 1", "has 1 inputs where 2 are needed"],
    );
    scratch.fails(
        r#"read -r l; echo '{"x": [1, NaN], "y": 3}'; exec sleep 60"#,
        30.0,
        &["row 1", "not finite"],
    );
    let long = format!("read -r l; echo '{}'; exec sleep 60", "a".repeat(500));
    scratch.fails(&long, 30.0, &["aaa…`"]);
    // After all of these, a program in order finishes the job.
    let mut session = scratch.session(COUNTER);
    assert_eq!(session.ask(&request(0.5, 2)).unwrap().len(), 2);
}

#[test]
fn a_refusal_does_not_end_the_program() {
    let scratch = Scratch::new();
    let script =
        r#"read -r l; echo '{"error": "too stiff"}'; read -r l; echo '{"x": [1, 2], "y": 3}'; cat"#;
    let mut session = scratch.session(script);
    let error = session.ask(&request(0.5, 2)).unwrap_err().to_string();
    assert!(error.contains("refuses: too stiff"), "{error}");
    assert_eq!(session.ask(&request(0.4, 1)).unwrap().outputs(), [3.0]);
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let scratch = Scratch::new();
    let command = vec!["./no-such-simulator".to_owned(), "fast".to_owned()];
    let timeout = Duration::from_secs(5);
    let program = Program::new(command, scratch.0.path(), timeout, 2).unwrap();
    let mut session = Session::open(&program, &scratch.path("rows.jsonl")).unwrap();
    let error = session.ask(&request(0.5, 2)).unwrap_err().to_string();
    for part in [
        "`./no-such-simulator fast`",
        "cannot be started",
        "source.command",
    ] {
        assert!(error.contains(part), "`{part}` in: {error}");
    }
    assert!(Program::new(vec![], scratch.0.path(), timeout, 2).is_err());
    assert!(Program::new(vec![" ".into()], scratch.0.path(), timeout, 2).is_err());
}

#[test]
fn a_relative_program_lies_beside_its_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("bin")).unwrap();
    let path = scratch.path("bin/sim");
    std::fs::write(&path, format!("#!/bin/sh\n{COUNTER}")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let command = vec!["bin/sim".to_owned()];
    let timeout = Duration::from_secs(30);
    let program = Program::new(command, scratch.0.path(), timeout, 2).unwrap();
    let mut session = Session::open(&program, &scratch.path("rows.jsonl")).unwrap();
    assert_eq!(session.ask(&request(0.5, 2)).unwrap().len(), 2);
    assert_eq!(scratch.asked(), 1, "it runs in its folder");
}

#[test]
fn rows_that_nobody_asked_for_spoil_the_conversation() {
    let scratch = Scratch::new();
    let row = r#"echo '{"x": [1, 2], "y": 3}'"#;
    // One too many, which is there before the next request, or comes with its answer.
    let script = format!("while read -r l; do {row}; {row}; done");
    let mut session = scratch.session(&script);
    session.ask(&request(0.1, 1)).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let error = session.ask(&request(0.2, 1)).unwrap_err().to_string();
    assert!(error.contains("more than the request asked for"), "{error}");
    let journal = scratch.journal();
    assert_eq!(journal.len(), 1, "no answer is trusted: {journal:?}");
    assert!(journal[0].contains("error"));

    // At the latest at the end.
    let mut session = scratch.session(&script);
    session.ask(&request(0.1, 1)).unwrap();
    let error = session.close().unwrap_err().to_string();
    assert!(error.contains("are not used"), "{error}");
    let kept = scratch.journal();
    assert!(kept.iter().all(|line| line.contains("error")), "{kept:?}");
    let aside = std::fs::read_to_string(scratch.path("rows.jsonl.set-aside")).unwrap();
    assert_eq!(aside.lines().count(), 2, "kept for people: {aside}");
}

#[test]
fn a_talkative_standard_error_does_not_block() {
    let scratch = Scratch::new();
    // Far more than a pipe holds.
    let script = format!("head -c 3000000 /dev/zero | tr '\\0' 'e' >&2\n{COUNTER}");
    let mut session = scratch.session(&script);
    assert_eq!(session.ask(&request(0.5, 2)).unwrap().len(), 2);
}

#[test]
fn a_program_that_does_not_read_cannot_block_a_long_request() {
    let scratch = Scratch::new();
    let program = scratch.program("exec sleep 60", 0.3);
    let mut session = Session::open(&program, &scratch.path("rows.jsonl")).unwrap();
    let long = Request {
        task: Some(vec![0.125; 100_000]),
        ..request(0.0, 1)
    };
    let error = session.ask(&long).unwrap_err().to_string();
    assert!(
        error.contains("0.125, …]") && error.contains("within 0.3 s"),
        "{error}"
    );
}

#[test]
fn processes_end_with_their_session() {
    let scratch = Scratch::new();
    let script = "echo $$ > pid; read -r l; echo '{\"x\": [1, 2], \"y\": 3}'; exec sleep 600";
    let mut session = scratch.session(script);
    session.ask(&request(0.5, 1)).unwrap();
    let pid = std::fs::read_to_string(scratch.path("pid")).unwrap();
    let process = PathBuf::from("/proc").join(pid.trim());
    if !process.parent().unwrap().join("self").exists() {
        eprintln!("skipped: no /proc to look for processes in");
        return;
    }
    assert!(process.exists());
    drop(session);
    assert!(!process.exists(), "killed and waited for");
}

/// Whether a process of this number runs; one that only waits to be buried does not.
fn runs(pid: &str) -> bool {
    let about = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    about.is_ok_and(|about| !about.contains(") Z "))
}

fn ends(pid: &str) -> bool {
    let deadline = Instant::now() + Duration::from_secs(5);
    while runs(pid) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    !runs(pid)
}

#[test]
fn what_a_program_starts_ends_with_it() {
    if !PathBuf::from("/proc/self/stat").exists() {
        eprintln!("skipped: no /proc to look for processes in");
        return;
    }
    let row = r#"echo '{"x": [1, 2], "y": 3}'"#;
    for (how, rest) in [
        ("is dropped", "exec sleep 600"),
        ("is closed", "read -r l"),
        ("crashes", "read -r l; exit 3"),
    ] {
        let scratch = Scratch::new();
        let script = format!("sleep 600 & echo $! >> below; read -r l; {row}; {rest}");
        let mut session = scratch.session(&script);
        session.ask(&request(0.5, 1)).unwrap();
        let below = std::fs::read_to_string(scratch.path("below")).unwrap();
        assert!(runs(&below), "{how}: {below}");
        match how {
            "is closed" => session.close().unwrap(),
            "crashes" => assert!(session.ask(&request(0.5, 1)).is_ok(), "after a restart"),
            _ => drop(session),
        }
        assert!(ends(&below), "it goes on after its program {how}");
    }
}
