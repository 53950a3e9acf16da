//! Readers that go away before the command has written: `taskscout … | head -1`.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

use std::process::Stdio;

use crate::common::{SMALL, Scratch, stderr};

/// Where a command writes with nobody there to read.
#[derive(Debug, Clone, Copy)]
enum Closed {
    Output,
    Both,
}

/// Runs a command and hands back its exit code and what it said on standard error.
fn unheard(scratch: &Scratch, line: &str, closed: Closed) -> (Option<i32>, String) {
    let mut command = scratch.command(line);
    command.stdin(Stdio::null()).stdout(unread());
    command.stderr(match closed {
        Closed::Output => Stdio::piped(),
        Closed::Both => unread(),
    });
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    (output.status.code(), stderr(&output))
}

/// A pipe whose reader has gone before anything is written.
fn unread() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn commands_end_quietly_where_nobody_reads() {
    let scratch = Scratch::new();
    scratch.file("small.toml", SMALL);
    scratch.file("tasks.csv", "a,b\n1,0\n0,1\n");
    scratch.file("target.csv", "a,b\n1,1\n");
    for (index, closed) in [Closed::Output, Closed::Both].into_iter().enumerate() {
        for line in [
            format!("run small.toml --quick --out table-{index}"),
            format!("run small.toml --quick --json --out json-{index}"),
            "run small.toml --check".to_owned(),
            "data inspect tasks.csv --inputs a --outputs b".to_owned(),
            "design --candidates tasks.csv --target target.csv --budget 10".to_owned(),
            format!("simulate pendulum --w 0,0,0,0,0 --steps 9 --out run-{index}.csv"),
        ] {
            let (code, said) = unheard(&scratch, &line, closed);
            assert_eq!(code, Some(141), "{line}: {said}");
            assert!(
                !said.contains("panicked") && !said.contains("error"),
                "{line}: {said}"
            );
        }
        // The work is done all the same.
        for folder in ["table", "json"] {
            let page = scratch.path(&format!("{folder}-{index}/report.html"));
            assert!(page.exists(), "{folder} {closed:?}");
        }
    }
    // The parser of options has its own way to end.
    for line in ["--help", "--version", "design --help", "reproduce"] {
        let (code, said) = unheard(&scratch, line, Closed::Output);
        assert!(code.is_some_and(|code| code != 101), "{line}: {said}");
        assert!(!said.contains("panicked"), "{line}: {said}");
    }
    // What is wrong still has its own code.
    let (code, _) = unheard(&scratch, "run nothing.toml", Closed::Both);
    assert_eq!(code, Some(2));
}
