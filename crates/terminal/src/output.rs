//! What commands write to the terminal.

use std::borrow::Cow;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

use indicatif::ProgressBar;
use taskscout_io::tables::visible_lines;

use taskscout_lab::{LabError, Result};

use crate::colour::{Stream, Tone, allowed, marked, toned};

/// The bar on the terminal, if there is one: what else is written there must not break it.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Says which bar stands on the terminal from now on.
pub(crate) fn show_bar(bar: Option<ProgressBar>) {
    *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = bar;
}

/// Writes to the terminal with the bar out of the way.
fn without_bar(write: impl FnOnce()) {
    let bar = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Prints to standard output.
///
/// # Errors
/// If nobody reads it, or the disk is full.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| match error.kind() {
        std::io::ErrorKind::BrokenPipe => LabError::Closed,
        _ => LabError::Failure(format!("cannot write to standard output: {error}")),
    })
}

/// Prints JSON to standard output. Its strings may hold characters that JSON allows and that act on a terminal all the same:
/// these are escaped, so that it says the same.
///
/// # Errors
/// As [`print()`].
pub fn print_json(text: &str) -> Result<()> {
    print(&without_control(text))
}

/// JSON without delete and the control characters behind it, which can only stand in its strings.
fn without_control(json: &str) -> Cow<'_, str> {
    let acts = |letter: char| matches!(letter, '\u{7f}'..='\u{9f}');
    if !json.contains(acts) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for letter in json.chars() {
        match acts(letter) {
            true => out.push_str(&format!("\\u{:04x}", u32::from(letter))),
            false => out.push(letter),
        }
    }
    Cow::Owned(out)
}

/// Prints what people read to standard output: whatever names hold, nothing acts on the terminal.
///
/// # Errors
/// As [`print()`].
pub fn show(text: &str) -> Result<()> {
    print(&visible_lines(text))
}

/// Prints what a command concludes, as a line that stands out where the terminal allows it.
///
/// # Errors
/// As [`print()`].
pub fn conclude(verdict: &str) -> Result<()> {
    let text = visible_lines(verdict);
    let text = toned(text.trim_end(), Tone::Verdict, allowed(Stream::Output));
    print(&(text + "\n"))
}

/// Prints what people read, whose last line is what the command concludes.
///
/// # Errors
/// As [`print()`].
pub fn show_concluding(text: &str) -> Result<()> {
    let text = text.trim_end();
    let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
    if !before.is_empty() {
        show(&format!("{before}\n"))?;
    }
    conclude(last)
}

/// Tells the user beside results, on standard error; where nobody listens, work goes on.
pub fn tell(line: &str) {
    // In one piece, so that lines of several threads stay whole.
    let line = marked(&visible_lines(line), allowed(Stream::Error)) + "\n";
    without_bar(|| {
        let _ = std::io::stderr().lock().write_all(line.as_bytes());
    });
}
