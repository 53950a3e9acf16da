//! How often a program crashed, told by its journals.

use std::io::{BufRead as _, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};

/// How often a program crashed, and was started anew.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incidents {
    /// How often it ended or fell silent in the middle of an answer.
    pub crashes: usize,
    /// How often it was started anew for that.
    pub restarts: usize,
}

/// What a line of a journal says of crashes.
#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    crashes: usize,
    #[serde(default)]
    error: Option<String>,
}

impl Incidents {
    /// Adds those of a journal, or of the lines of one that were set aside.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn add(&mut self, journal: &Path) -> std::io::Result<()> {
        let mut reader = BufReader::new(std::fs::File::open(journal)?);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            // Most lines tell of none, and are long; a damaged one tells nothing.
            if memchr::memmem::find(&line, b"\"crashes\"").is_some()
                && let Ok(Line { crashes, error }) = serde_json::from_slice(&line)
            {
                self.crashes += crashes;
                // The last crash of a request that failed was not followed by a start.
                self.restarts += crashes.saturating_sub(usize::from(error.is_some()));
            }
            line.clear();
        }
        Ok(())
    }
}
