//! Progress for people: a bar on a terminal, plain lines elsewhere. Always on standard error.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use taskscout_lab::{Watch, Watcher};

use crate::alive::{Alive, QUIET};
use crate::interrupt;
use crate::output::{show_bar, tell};

/// The terminal as whoever hears of a run. Before and after the trials it gives a sign of life.
#[must_use]
pub fn terminal() -> Watcher {
    Arc::new(Terminal {
        alive: Mutex::new(Some(Alive::start("preparing"))),
        progress: Mutex::default(),
    })
}

/// Tells people of a run.
struct Terminal {
    /// Where no trials run.
    alive: Mutex<Option<Alive>>,
    /// Of the trials that run now.
    progress: Mutex<Option<Arc<Progress>>>,
}

impl Terminal {
    fn on_progress(&self, tell: impl FnOnce(&Progress)) {
        // Not held while telling: a terminal that does not go on keeps nobody else waiting.
        let progress = held(&self.progress).clone();
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
        drop(held(&self.alive).take());
        let progress = Arc::new(Progress::new(trials));
        *held(&self.progress) = Some(progress);
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
        *held(&self.progress) = None;
        *held(&self.alive) = Some(Alive::start("writing"));
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Draws a bar with what is left behind it.
fn draw(bar: &ProgressBar) {
    let template = "{elapsed:>4} [{bar:32}] {percent:>3} %  {msg}{left}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        let left = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let all = state.len().unwrap_or(0);
            let said = left(state.pos(), all, state.elapsed()).unwrap_or_default();
            // A bar that cannot be written is nobody's loss.
            let _ = out.write_str(&said);
        };
        bar.set_style(style.with_key("left", left).progress_chars("=> "));
    }
}

/// How long the rest takes, if it goes on as until now. Nothing is known before the first trial is over; a first estimate of
/// nothing would be wrong.
fn left(done: u64, all: u64, elapsed: Duration) -> Option<String> {
    let rest = all.checked_sub(done).filter(|rest| *rest > 0)?;
    if done == 0 {
        return None;
    }
    let seconds = elapsed.as_secs_f64() * rest as f64 / done as f64;
    let said = match seconds {
        s if s < 1.0 => return Some("  (less than a second left)".to_owned()),
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    };
    Some(format!("  (about {said} left)"))
}

/// Progress of a set of trials.
struct Progress {
    bar: Option<ProgressBar>,
    lines: Arc<Mutex<Lines>>,
    /// Ends what watches the clock where there is no bar.
    clock: Mutex<Option<Sender<()>>>,
}

/// What plain lines tell.
struct Lines {
    trials: usize,
    done: usize,
    /// Rounds of the trials that run, by name.
    rounds: BTreeMap<String, usize>,
    /// When all began, and when something was told last.
    start: Instant,
    told: Instant,
}

impl Progress {
    /// Starts with so many trials.
    fn new(trials: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(trials as u64);
            draw(&bar);
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        show_bar(bar.clone());
        let now = Instant::now();
        let lines = Arc::new(Mutex::new(Lines {
            trials,
            done: 0,
            rounds: BTreeMap::new(),
            start: now,
            told: now,
        }));
        let clock = bar.is_none().then(|| {
            let ((stop, stopped), lines) = (channel(), lines.clone());
            // Where no thread can be had, nobody hears between trials.
            let _ = std::thread::Builder::new().spawn(move || watch(&lines, &stopped));
            stop
        });
        Self {
            bar,
            lines,
            clock: Mutex::new(clock),
        }
    }

    /// A round of a trial is over.
    fn round(&self, trial: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(trial.to_owned());
        }
        *held(&self.lines)
            .rounds
            .entry(trial.to_owned())
            .or_default() += 1;
    }

    /// A trial is over.
    fn trial(&self, trial: &str, result: &str) {
        let mut lines = held(&self.lines);
        lines.done += 1;
        lines.rounds.remove(trial);
        lines.told = Instant::now();
        let line = format!("[{}/{}] {trial}: {result}", lines.done, lines.trials);
        drop(lines);
        let Some(bar) = &self.bar else {
            return tell(&line);
        };
        bar.inc(1);
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
        drop(held(&self.clock).take());
        show_bar(None);
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Lines {
    /// What runs, where nothing was told for long.
    fn overdue(&mut self, now: Instant) -> Option<String> {
        if now.duration_since(self.told) < QUIET {
            return None;
        }
        self.told = now;
        let seconds = now.duration_since(self.start).as_secs();
        let rounds = self.rounds.iter();
        let rounds: Vec<String> = rounds
            .map(|(trial, count)| {
                let plural = if *count == 1 { "" } else { "s" };
                format!("{trial} after {count} round{plural}")
            })
            .collect();
        let what = match rounds.is_empty() {
            true => "first rounds".into(),
            false => rounds.join(", "),
        };
        Some(format!(
            "[{}/{}] {what}: {seconds} s so far",
            self.done, self.trials
        ))
    }
}

/// Tells what runs now and then, until the end.
fn watch(lines: &Mutex<Lines>, stopped: &Receiver<()>) {
    while stopped.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
        let overdue = held(lines).overdue(Instant::now());
        overdue.iter().for_each(|line| tell(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_estimate_is_an_estimate() {
        let after = Duration::from_secs;
        assert_eq!(left(0, 8, after(7)), None);
        let first = left(1, 8, Duration::from_millis(300));
        assert_eq!(first.as_deref(), Some("  (about 2 s left)"));
        assert_eq!(
            left(4, 8, after(600)).as_deref(),
            Some("  (about 10 min left)")
        );
        let soon = left(7, 8, Duration::from_millis(700));
        assert_eq!(soon.as_deref(), Some("  (less than a second left)"));
        assert_eq!(left(8, 8, after(600)), None);
    }

    #[test]
    fn plain_lines_say_what_runs_where_nothing_was_told_for_long() {
        let start = Instant::now();
        let mut lines = Lines {
            trials: 4,
            done: 1,
            rounds: BTreeMap::from([("aware seed 1".into(), 2), ("passive seed 1".into(), 1)]),
            start,
            told: start,
        };
        assert_eq!(lines.overdue(start + QUIET / 2), None);
        let line = "[1/4] aware seed 1 after 2 rounds, passive seed 1 after 1 round: 20 s so far";
        let later = start + Duration::from_secs(20);
        assert_eq!(lines.overdue(later).as_deref(), Some(line));
        assert_eq!(lines.overdue(later + QUIET / 2), None);
        lines.rounds.clear();
        let line = "[1/4] first rounds: 40 s so far";
        let later = start + Duration::from_secs(40);
        assert_eq!(lines.overdue(later).as_deref(), Some(line));
    }
}
