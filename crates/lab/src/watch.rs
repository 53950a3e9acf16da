//! What a run tells while it goes on.

use std::sync::Arc;

/// Hears of a run: a terminal, a log, a page, or nobody (`()`). What it does not care for, it leaves out.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use taskscout_lab::{Watch, Watcher};
///
/// /// Keeps every sentence.
/// #[derive(Default)]
/// struct Notes(Mutex<Vec<String>>);
///
/// impl Watch for Notes {
///     fn note(&self, sentence: &str) {
///         self.0.lock().unwrap().push(sentence.to_owned());
///     }
/// }
///
/// let notes = Arc::new(Notes::default());
/// let watcher: Watcher = notes.clone();
/// watcher.note("note: the source tasks have 90 rows in all");
/// watcher.round("aware seed 1");
/// assert_eq!(notes.0.lock().unwrap().len(), 1);
/// ```
pub trait Watch: Send + Sync {
    /// A sentence that a person should read beside the results.
    fn note(&self, sentence: &str) {
        let _ = sentence;
    }

    /// So many trials are about to run.
    fn start(&self, trials: usize) {
        let _ = trials;
    }

    /// A round of a trial is over.
    fn round(&self, trial: &str) {
        let _ = trial;
    }

    /// A trial is over.
    fn trial(&self, trial: &str, result: &str) {
        let _ = (trial, result);
    }

    /// A trial is over, without a result.
    fn failed(&self, trial: &str, error: &str) {
        let _ = (trial, error);
    }

    /// All trials are over.
    fn finish(&self) {}
}

/// Nobody.
impl Watch for () {}

/// Whoever hears of a run, on all its threads.
pub type Watcher = Arc<dyn Watch>;
