//! A conversation with a program, kept in a journal.

use std::path::Path;

use taskscout::data::Samples;
use taskscout::{Error, Result};

use super::Program;
use super::child::Child;
use super::journal::{Journal, Known};
use super::protocol::Request;
use super::trouble::Trouble;

/// A conversation with a program: what its journal answers is not asked again, and the program is
/// started when there is something to ask.
pub struct Session {
    program: Program,
    journal: Journal,
    child: Option<Child>,
    /// The journal's length when the running program was started.
    since: u64,
    note: Option<String>,
}

impl Session {
    /// Opens a conversation whose answers are kept in a file, and taken from it as far as they go.
    ///
    /// # Errors
    /// A file that cannot be opened.
    pub fn open(program: &Program, journal: &Path) -> Result<Self> {
        Ok(Self {
            program: program.clone(),
            journal: Journal::open(journal)?,
            child: None,
            since: 0,
            note: None,
        })
    }

    /// The rows of a request: from the journal, or from the program, which is started anew once if
    /// it crashes.
    ///
    /// # Errors
    /// Whatever the program does wrong, with the request, what to do, and the end of its standard
    /// error. Rows that came before that are kept in the journal.
    pub fn ask(&mut self, request: &Request) -> Result<Samples> {
        let inputs = self.program.input_dim;
        let rows = match self.journal.next(request, inputs + 1)? {
            Known::Rows(rows) => rows,
            Known::Nothing => self.collect(request)?,
            Known::Otherwise => {
                self.note = Some(format!(
                    "what was kept of the program's answers does not fit the request for {request}: \
                     it is asked again from there on"
                ));
                self.collect(request)?
            }
        };
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for row in rows.chunks_exact(inputs + 1) {
            x.extend(&row[..inputs]);
            y.push(row[inputs]);
        }
        Samples::new(x, inputs, y, 1)
    }

    /// Something the user should know, once.
    pub fn take_note(&mut self) -> Option<String> {
        self.note.take()
    }

    fn collect(&mut self, request: &Request) -> Result<Vec<f64>> {
        let width = self.program.input_dim + 1;
        let mut rows = Vec::new();
        let mut trouble = self.try_once(request, &mut rows);
        if trouble.as_ref().is_err_and(Trouble::is_crash) {
            self.child = None;
            rows.clear();
            trouble = self.try_once(request, &mut rows);
        }
        match trouble {
            Ok(()) => self.journal.keep(request, &rows, width, None)?,
            Err(trouble) => return Err(self.give_up(request, &rows, &trouble)),
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
                none.insert(Child::start(&self.program)?)
            }
        };
        child.ask(&self.program, request, rows)
    }

    /// Keeps what came, ends the program unless it can go on, and says what happened.
    fn give_up(&mut self, request: &Request, rows: &[f64], trouble: &Trouble) -> Error {
        let error = self.error(&format!("asked for {request}"), trouble);
        let width = self.program.input_dim + 1;
        let kept = self
            .journal
            .keep(request, rows, width, Some(error.to_string()));
        // Of two failures the program's own is the one to mend.
        let _ = kept;
        error
    }

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
        Error::numerical(format!("the program `{}`, {when},", self.program), problem)
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
