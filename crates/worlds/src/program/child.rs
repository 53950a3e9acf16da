//! A program at work: its process, what it says, and how it ends.
//!
//! Threads write its input and read both of its outputs, so that nothing blocks and a request can
//! time out, whatever the program does or leaves undone.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, channel, sync_channel,
};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use super::group::{Group, apart};
use super::protocol::{Answer, Request, read, shorten};
use super::trouble::Trouble;
use super::{Listener, Program};

/// Lines that wait to be read before the program has to.
const WAITING_LINES: usize = 4096;

/// The longest line that a program may say.
const LONGEST_LINE: u64 = 1 << 20;

/// Lines of standard error that an error quotes, and the length of each.
const TAIL_LINES: usize = 5;
const TAIL_WIDTH: usize = 200;

/// How long a process that has closed its output, or was told to end, is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often it is looked whether a silent program is still there.
const GLANCE: Duration = Duration::from_millis(100);

/// How long the rest of its standard error is waited for.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A running program.
pub(super) struct Child {
    process: std::process::Child,
    group: Group,
    /// None once the program has been told that nothing more comes.
    requests: Option<Sender<String>>,
    lines: Receiver<String>,
    tail: Arc<Mutex<VecDeque<String>>>,
    tail_reader: JoinHandle<()>,
}

impl Child {
    /// Starts a program; somebody may listen to its standard error.
    pub(super) fn start(program: &Program, listener: Option<Listener>) -> Result<Self, Trouble> {
        let (name, arguments) = program.invocation();
        let mut command = Command::new(name);
        command
            .args(arguments)
            .current_dir(&program.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut process = apart(&mut command).spawn().map_err(Trouble::Start)?;
        let group = Group::of(&process);
        let (send, lines) = sync_channel(WAITING_LINES);
        let tail = Arc::new(Mutex::new(VecDeque::new()));
        let (requests, texts) = channel();
        if let Some(input) = process.stdin.take() {
            spawn(move || write_down(&texts, input));
        }
        if let Some(output) = process.stdout.take() {
            spawn(move || pass_on(output, &send));
        }
        let (errors, kept) = (process.stderr.take(), Arc::clone(&tail));
        Ok(Self {
            requests: Some(requests),
            process,
            group,
            lines,
            tail,
            tail_reader: spawn(move || keep_tail(errors, &kept, listener.as_ref())),
        })
    }

    /// Asks for rows and waits for them; rows that came before a failure are left in `rows`, each
    /// the inputs with the outputs behind them.
    pub(super) fn ask(
        &mut self,
        program: &Program,
        request: &Request,
        rows: &mut Vec<f64>,
    ) -> Result<(), Trouble> {
        self.check_silent()?;
        self.send(request)?;
        let deadline = Instant::now() + program.timeout;
        for row in 0..request.count {
            let line = self.line(deadline, program.timeout, row)?;
            match read(&line, program.input_dim, program.outputs) {
                Ok(Answer::Row(values)) => rows.extend(values),
                Ok(Answer::Refusal(reason)) => return Err(Trouble::Refusal(shorten(&reason, 500))),
                Err(problem) => {
                    return Err(Trouble::BadRow {
                        row: row + 1,
                        problem,
                        text: shorten(&line, 120),
                    });
                }
            }
        }
        Ok(())
    }

    /// What is there before anybody asked answers nothing.
    fn check_silent(&mut self) -> Result<(), Trouble> {
        loop {
            match self.lines.try_recv() {
                Ok(line) if line.trim().is_empty() => {}
                Ok(line) => return Err(Trouble::extra(&line)),
                Err(TryRecvError::Disconnected) => return Err(self.ended(0)),
                Err(TryRecvError::Empty) => return Ok(()),
            }
        }
    }

    fn send(&mut self, request: &Request) -> Result<(), Trouble> {
        let mut text =
            serde_json::to_string(request).map_err(|error| Trouble::Start(error.into()))?;
        text.push('\n');
        match self.requests.as_ref().map(|to| to.send(text)) {
            Some(Ok(())) => Ok(()),
            // Nobody reads there any more.
            Some(Err(_)) | None => Err(self.ended(0)),
        }
    }

    /// The next line that is not blank.
    fn line(
        &mut self,
        deadline: Instant,
        timeout: Duration,
        row: usize,
    ) -> Result<String, Trouble> {
        loop {
            match self.next_line(deadline) {
                Ok(line) if line.trim().is_empty() => {}
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(Trouble::Slow {
                        rows: row,
                        timeout_s: timeout.as_secs_f64(),
                    });
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended(row)),
            }
        }
    }

    /// The next line of its output, or that there is none yet, or none any more.
    fn next_line(&mut self, deadline: Instant) -> Result<String, RecvTimeoutError> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left.min(GLANCE)) {
                Err(RecvTimeoutError::Timeout) if left > GLANCE => {
                    // What an ended program has started may hold its output open.
                    if matches!(self.process.try_wait(), Ok(Some(_))) {
                        self.group.end();
                    }
                }
                other => return other,
            }
        }
    }

    /// How a program ended that says nothing any more.
    fn ended(&mut self, rows: usize) -> Trouble {
        match self.wait() {
            Some(status) => Trouble::Ended { status, rows },
            None => Trouble::Closed { rows },
        }
    }

    /// Waits for the process to end by itself, for a while.
    fn wait(&mut self) -> Option<String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.process.try_wait() {
                Ok(Some(status)) => {
                    self.group.end();
                    return Some(status.to_string());
                }
                Ok(None) if Instant::now() < deadline => sleep(Duration::from_millis(5)),
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// Tells the program that nothing more comes, and hears whether it had more to say.
    pub(super) fn close(&mut self) -> Result<(), Trouble> {
        self.requests = None;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.next_line(deadline) {
                Ok(line) if line.trim().is_empty() => {}
                Ok(line) => return Err(Trouble::extra(&line)),
                // One that does not end by itself is ended when it is dropped.
                Err(_) => return Ok(()),
            }
        }
    }

    /// Ends the program, and says what stood last on its standard error.
    pub(super) fn last_words(mut self) -> Vec<String> {
        self.end();
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.iter().cloned().collect()
    }

    /// Ends the program with all that it has started, and hears its standard error out.
    fn end(&mut self) {
        self.requests = None;
        self.group.end();
        // It may have ended by itself; either way it has to be waited for.
        let _ = self.process.kill();
        let _ = self.process.wait();
        // A descendant that left the group may hold the pipe open: do not wait for it.
        let deadline = Instant::now() + LAST_WORDS;
        while !self.tail_reader.is_finished() && Instant::now() < deadline {
            sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
    }
}

/// Writes requests down until there are no more, or nobody reads them.
fn write_down(texts: &Receiver<String>, mut input: ChildStdin) {
    for text in texts {
        if input.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

/// Passes on lines until there are no more, or nobody listens.
fn pass_on(output: impl Read, to: &SyncSender<String>) {
    let mut reader = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)
        {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let text = String::from_utf8_lossy(&line).into_owned();
                if to.send(text).is_err() {
                    return;
                }
            }
        }
    }
}

/// Keeps the last lines, and passes every line on.
fn keep_tail(
    errors: Option<impl Read>,
    tail: &Mutex<VecDeque<String>>,
    listener: Option<&Listener>,
) {
    let Some(errors) = errors else { return };
    let mut reader = BufReader::new(errors);
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)
        {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let text = shorten(&String::from_utf8_lossy(&line), TAIL_WIDTH);
                if text.is_empty() {
                    continue;
                }
                if let Some(listener) = listener {
                    listener(&text);
                }
                let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                if tail.len() == TAIL_LINES {
                    tail.pop_front();
                }
                tail.push_back(text);
            }
        }
    }
}
