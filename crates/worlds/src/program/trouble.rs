//! What can go wrong with a program, in words.

use super::protocol::shorten;

/// What went wrong.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It does not start.
    Start(std::io::Error),
    /// It ended, after so many rows of the answer.
    Ended { status: String, rows: usize },
    /// It closed its standard output, but goes on.
    Closed { rows: usize },
    /// The answer takes too long.
    Slow { rows: usize, timeout_s: f64 },
    /// A line is no row.
    BadRow {
        row: usize,
        problem: String,
        text: String,
    },
    /// It says more than it was asked for.
    Extra { text: String },
    /// It refuses.
    Refusal(String),
}

impl Trouble {
    pub(super) fn extra(line: &str) -> Self {
        Self::Extra {
            text: shorten(line, 120),
        }
    }

    /// Whether starting the program anew may help.
    pub(super) fn is_crash(&self) -> bool {
        self.crash().is_some()
    }

    /// What happened, where starting the program anew may help.
    pub(super) fn crash(&self) -> Option<String> {
        match self {
            Self::Ended { status, rows } => {
                Some(format!("ended ({status}) after {rows} rows of the answer"))
            }
            Self::Closed { rows } => Some(format!(
                "closed its standard output after {rows} rows of the answer"
            )),
            _ => None,
        }
    }

    /// Whether the program can be asked again.
    pub(super) fn is_harmless(&self) -> bool {
        matches!(self, Self::Refusal(_))
    }
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Start(error) => write!(
                f,
                "it cannot be started ({error}): check `source.command`, whose paths are relative to the experiment file"
            ),
            Self::Ended { status, rows } => write!(
                f,
                "it ended ({status}) after {rows} rows of the answer, and again after a restart: fix the program"
            ),
            Self::Closed { rows } => write!(
                f,
                "it closed its standard output after {rows} rows of the answer, and again after a restart: keep it open, because more requests follow"
            ),
            Self::Slow { rows, timeout_s } => write!(
                f,
                "it gave {rows} rows within {timeout_s} s: make it flush its output after every answer, or raise `source.timeout_s`"
            ),
            Self::BadRow { row, problem, text } => write!(
                f,
                "row {row} of its answer {problem}: `{text}`; write rows, and nothing else, to standard output"
            ),
            Self::Extra { text } => write!(
                f,
                "it wrote more than the request asked for: `{text}`; write exactly `count` rows for each request, and nothing else, to standard output"
            ),
            Self::Refusal(reason) => write!(f, "it refuses: {reason}"),
        }
    }
}
