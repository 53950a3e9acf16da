//! How the command answers: what it says, and how it refuses.

use std::process::Output;

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Checks that a command did its work, and returns what it said on standard error.
pub(crate) fn succeeded(output: &Output) -> String {
    let said = stderr(output);
    assert!(output.status.success(), "{said}");
    said
}

/// Checks a refusal of bad input: code 2, no results, and one sentence with these parts.
pub(crate) fn refused(output: &Output, parts: &[&str]) {
    failed(output, 2, parts);
}

/// Checks that a command ended with a code, no results, and one sentence with these parts.
pub(crate) fn failed(output: &Output, code: i32, parts: &[&str]) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(output.stdout.is_empty(), "results beside: {said}");
    let sentence = only_sentence(&said);
    for part in parts {
        assert!(sentence.contains(part), "`{part}` in: {sentence}");
    }
}

/// The one sentence of an error. Below it there may be the line of the file that it is about, with a
/// mark; above it only the sign of life that comes on a busy machine.
fn only_sentence(said: &str) -> &str {
    let mut lines = said.lines().filter(|line| !line.starts_with("planning: "));
    let first = lines.next().unwrap_or_default();
    assert!(first.starts_with("error: "), "no error first: {said}");
    for line in lines {
        assert!(!line.starts_with("error: "), "more than one error: {said}");
        let of_snippet = |start: char| start == ' ' || start == '|' || start.is_ascii_digit();
        assert!(line.starts_with(of_snippet), "more than one line: {said}");
    }
    first
}

/// Checks a refusal by the parser of options, which has a form of its own: how to use the command
/// follows.
pub(crate) fn misused(output: &Output, parts: &[&str]) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(output.stdout.is_empty(), "results beside: {said}");
    assert!(said.starts_with("error: "), "no error first: {said}");
    assert!(said.contains("--help"), "no word about help: {said}");
    for part in parts {
        assert!(said.contains(part), "`{part}` in: {said}");
    }
}
