//! A conversation with a program, kept in a journal.

use std::collections::VecDeque;
use std::path::Path;

use taskscout::data::Samples;
use taskscout::{Error, Result};

use super::child::Child;
use super::journal::{Entry, Journal, set_aside};
use super::protocol::Request;
use super::trouble::Trouble;
use super::{Listener, Program};

/// Crashes of a conversation that are told one by one.
const TOLD_CRASHES: usize = 3;

/// A conversation with a program: what its journal answers is not asked again, and the program is
/// started when there is something to ask.
pub struct Session {
    program: Program,
    journal: Journal,
    child: Option<Child>,
    /// The journal's length when the running program was started.
    since: u64,
    notes: VecDeque<String>,
    /// Whether it was told that requests are not those that the journal has answers to.
    told: bool,
    listener: Option<Listener>,
    /// Crashes so far that were followed by a start.
    crashes: usize,
}

impl Session {
    /// Opens a conversation whose answers are kept in a file, and taken from it as far as they go.
    ///
    /// # Errors
    /// A file that cannot be opened.
    pub fn open(program: &Program, journal: &Path) -> Result<Self> {
        let path = journal;
        let mut journal = Journal::open(path)?;
        let damaged = journal.take_damaged();
        Ok(Self {
            program: program.clone(),
            journal,
            child: None,
            since: 0,
            told: !damaged.is_empty(),
            notes: damage(path, &damaged).into_iter().collect(),
            listener: None,
            crashes: 0,
        })
    }

    /// The same with somebody who listens to the program's standard error.
    #[must_use]
    pub fn with_listener(mut self, listener: Listener) -> Self {
        self.listener = Some(listener);
        self
    }

    /// The rows of a request: from the journal, or from the program, which is started anew once if
    /// it crashes.
    ///
    /// # Errors
    /// Whatever the program does wrong, with the request, what to do, and the end of its standard
    /// error. Rows that came before that are kept in the journal.
    pub fn ask(&mut self, request: &Request) -> Result<Samples> {
        let (inputs, outputs) = (self.program.input_dim, self.program.outputs);
        let rows = match self.journal.find(request, inputs + outputs)? {
            Some(rows) => rows,
            None => {
                self.tell_of_gap(request);
                self.collect(request)?
            }
        };
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for row in rows.chunks_exact(inputs + outputs) {
            x.extend(&row[..inputs]);
            y.extend(&row[inputs..]);
        }
        Samples::new(x, inputs, y, outputs)
    }

    /// The next thing the user should know, once.
    pub fn take_note(&mut self) -> Option<String> {
        self.notes.pop_front()
    }

    /// Answers that nobody asks for may mean that the requests have become others.
    fn tell_of_gap(&mut self, request: &Request) {
        if self.journal.take_unfit() {
            self.notes.push_back(format!(
                "the stored answer of the program for {request} does not fit the request: the program is asked again"
            ));
        } else if !self.told && self.journal.has_unused() {
            self.told = true;
            self.notes.push_back(format!(
                "no stored answer of the program fits {request}: the program is asked for these rows"
            ));
        }
    }

    fn tell_of_crash(&mut self, request: &Request, crash: &str) {
        self.crashes += 1;
        if self.crashes <= TOLD_CRASHES {
            let last = match self.crashes == TOLD_CRASHES {
                true => "; further crashes are only counted",
                false => "",
            };
            self.notes.push_back(format!(
                "the program `{}`, asked for {request}, {crash}: it is started again{last}",
                self.program
            ));
        }
    }

    fn collect(&mut self, request: &Request) -> Result<Vec<f64>> {
        let width = self.program.input_dim + self.program.outputs;
        let (mut rows, mut crashes) = (Vec::new(), 0);
        let mut outcome = self.try_once(request, &mut rows);
        if let Some(crash) = outcome.as_ref().err().and_then(Trouble::crash) {
            crashes += 1;
            self.tell_of_crash(request, &crash);
            self.child = None;
            rows.clear();
            outcome = self.try_once(request, &mut rows);
        }
        match outcome {
            Ok(()) => {
                let entry = Entry::new(request, &rows, width, crashes);
                self.journal.keep(&entry)?;
            }
            Err(trouble) => {
                crashes += usize::from(trouble.is_crash());
                let mut entry = Entry::new(request, &rows, width, crashes);
                let error = self.error(&format!("asked for {request}"), &trouble);
                entry.error = Some(error.to_string());
                // Of two failures the program's own is the one to mend.
                let _ = self.journal.keep(&entry);
                return Err(error);
            }
        }
        Ok(rows)
    }

    fn try_once(
        &mut self,
        request: &Request,
        rows: &mut Vec<f64>,
    ) -> std::result::Result<(), Trouble> {
        let child = match &mut self.child {
            Some(child) => child,
            none => {
                self.since = self.journal.length();
                none.insert(Child::start(&self.program, self.listener.clone())?)
            }
        };
        child.ask(&self.program, request, rows)
    }

    /// Ends the program unless it can go on, and says what happened.
    fn error(&mut self, when: &str, trouble: &Trouble) -> Error {
        let words = match self.child.take() {
            Some(child) if trouble.is_harmless() => {
                self.child = Some(child);
                Vec::new()
            }
            Some(child) => child.last_words(),
            None => Vec::new(),
        };
        let mut problem = trouble.to_string();
        if matches!(trouble, Trouble::Extra { .. }) {
            // Which rows belong to which request is not known any more.
            match self.journal.take_back(self.since) {
                Ok(()) => problem.push_str("; its answers since it was started are not used"),
                Err(error) => return error,
            }
        }
        if !words.is_empty() {
            let words = words.join(" | ");
            problem.push_str(&format!("; its standard error ends with: {words}"));
        }
        Error::source(format!("the program `{}`, {when},", self.program), problem)
    }

    /// Ends the conversation: the program is told that nothing more comes, and ended if it does not
    /// end by itself.
    ///
    /// # Errors
    /// A program that has more to say than it was asked for.
    pub fn close(&mut self) -> Result<()> {
        let Some(child) = &mut self.child else {
            return Ok(());
        };
        match child.close() {
            Ok(()) => {
                self.child = None;
                Ok(())
            }
            Err(trouble) => Err(self.error("told that nothing more comes", &trouble)),
        }
    }
}

/// What is said of lines that could not be read.
fn damage(journal: &Path, lines: &[usize]) -> Option<String> {
    let shown: Vec<String> = lines.iter().take(5).map(ToString::to_string).collect();
    let more = if lines.len() > 5 { ", …" } else { "" };
    let (line, is, it, its) = match lines.len() {
        0 => return None,
        1 => ("line", "is", "it is", "its request is"),
        _ => ("lines", "are", "they are", "their requests are"),
    };
    Some(format!(
        "{line} {}{more} of {} {is} damaged: {it} kept in {}, and {its} asked again",
        shown.join(", "),
        journal.display(),
        set_aside(journal).display()
    ))
}
