//! Progress for people: a bar on a terminal, plain lines elsewhere. Always on standard error.

use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use taskscout_lab::{Watch, Watcher};

use crate::interrupt;
use crate::output::{show_bar, tell};

/// The terminal as whoever hears of a run.
pub(crate) fn terminal() -> Watcher {
    Arc::new(Terminal::default())
}

/// Tells people of a run.
#[derive(Default)]
struct Terminal {
    /// Of the trials that run now.
    progress: Mutex<Option<Arc<Progress>>>,
}

impl Terminal {
    fn on_progress(&self, tell: impl FnOnce(&Progress)) {
        // Not held while telling: a terminal that does not go on keeps nobody else waiting.
        let progress = self
            .progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(progress) = progress {
            tell(&progress);
        }
    }
}

impl Watch for Terminal {
    fn note(&self, sentence: &str) {
        tell(sentence);
    }

    fn start(&self, trials: usize) {
        interrupt::explain();
        let progress = Arc::new(Progress::new(trials));
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
    }

    fn round(&self, trial: &str) {
        self.on_progress(|progress| progress.round(trial));
    }

    fn trial(&self, trial: &str, result: &str) {
        self.on_progress(|progress| progress.trial(trial, result));
    }

    fn failed(&self, trial: &str, error: &str) {
        self.on_progress(|progress| progress.failed(trial, error));
    }

    fn finish(&self) {
        self.on_progress(Progress::finish);
    }
}

/// Draws a bar with something behind it.
fn draw(bar: &ProgressBar, behind: &str) {
    let template = format!("{{elapsed:>4}} [{{bar:32}}] {{percent:>3}} %  {{msg}}{behind}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style.progress_chars("=> "));
    }
}

/// Progress of a set of trials.
struct Progress {
    bar: Option<ProgressBar>,
    trials: usize,
    done: std::sync::atomic::AtomicUsize,
}

impl Progress {
    /// Starts with so many trials.
    fn new(trials: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(trials as u64);
            // Nothing is known of the time that is left before the first trial is over.
            draw(&bar, "");
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        show_bar(bar.clone());
        Self {
            bar,
            trials,
            done: std::sync::atomic::AtomicUsize::new(0),
        }
    }

    /// A round of a trial is over.
    fn round(&self, trial: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(trial.to_owned());
        }
    }

    /// A trial is over.
    fn trial(&self, trial: &str, result: &str) {
        let done = 1 + self.done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if let Some(bar) = &self.bar {
            bar.inc(1);
            if done == 1 {
                draw(bar, "  (about {eta} left)");
            }
        } else {
            tell(&format!("[{done}/{}] {trial}: {result}", self.trials));
        }
    }

    /// A trial is over, without a result.
    fn failed(&self, trial: &str, error: &str) {
        if let Some(bar) = &self.bar {
            bar.println(format!("{trial} failed: {error}"));
        }
        self.trial(trial, &format!("failed: {error}"));
    }

    /// All is over.
    fn finish(&self) {
        show_bar(None);
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
