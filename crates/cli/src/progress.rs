//! Progress for people: a bar on a terminal, plain lines elsewhere. Always on standard error.

use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::tell;

/// The bar on the terminal, if there is one: what else is written there must not break it.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Writes to the terminal with the bar out of the way.
pub(crate) fn without_bar(write: impl FnOnce()) {
    let bar = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Progress of a set of trials.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    trials: usize,
    done: std::sync::atomic::AtomicUsize,
}

impl Progress {
    /// Starts with so many trials.
    pub(crate) fn new(trials: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(trials as u64);
            let template = "{elapsed:>4} [{bar:32}] {percent:>3} %  {msg}  (about {eta} left)";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        SHOWN
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone_from(&bar);
        Self {
            bar,
            trials,
            done: std::sync::atomic::AtomicUsize::new(0),
        }
    }

    /// A round of a trial is over.
    pub(crate) fn round(&self, trial: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(trial.to_owned());
        }
    }

    /// A trial is over.
    pub(crate) fn trial(&self, trial: &str, result: &str) {
        let done = 1 + self.done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if let Some(bar) = &self.bar {
            bar.inc(1);
        } else {
            tell(&format!("[{done}/{}] {trial}: {result}", self.trials));
        }
    }

    /// A trial is over, without a result.
    pub(crate) fn failed(&self, trial: &str, error: &str) {
        if let Some(bar) = &self.bar {
            bar.println(format!("{trial} failed: {error}"));
        }
        self.trial(trial, &format!("failed: {error}"));
    }

    /// All is over.
    pub(crate) fn finish(&self) {
        *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = None;
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
