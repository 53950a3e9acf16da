//! A sign of life while a command works.

use std::io::IsTerminal as _;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{show_bar, tell};

/// Time without a word on a terminal, where a spinner disturbs nobody, and elsewhere.
const SOON: Duration = Duration::from_secs(2);
pub(crate) const QUIET: Duration = Duration::from_secs(15);

/// A sign of life on standard error for what takes more than a moment; gone when dropped.
#[derive(Debug)]
#[must_use]
pub struct Alive {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Alive {
    /// Starts to watch the clock.
    pub fn start(what: &'static str) -> Self {
        let (stop, stopped) = channel();
        Self {
            stop: Some(stop),
            thread: std::thread::Builder::new()
                .spawn(move || watch(what, &stopped))
                .ok(),
        }
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Waits for the end, with a spinner on a terminal and a line now and then elsewhere.
fn watch(what: &str, stopped: &Receiver<()>) {
    let start = Instant::now();
    let over = |wait: Duration| stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout);
    if std::io::stderr().is_terminal() {
        if over(SOON) {
            return;
        }
        let bar = ProgressBar::new_spinner();
        show_bar(Some(bar.clone()));
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        while !over(Duration::from_millis(250)) {
            bar.tick();
        }
        show_bar(None);
        bar.finish_and_clear();
        return;
    }
    while !over(QUIET) {
        tell(&format!(
            "{what}: {:.0} s so far",
            start.elapsed().as_secs_f64()
        ));
    }
}
