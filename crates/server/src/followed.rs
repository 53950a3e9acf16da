//! A study that somebody looks at: it is followed while others write it, and learnt from in the background.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use taskscout_studies::{PastPoint, StoredStudy};

use crate::learnt::Learnt;
use crate::live::Live;
use crate::refusal::Answered;
use crate::view::{Facts, View};

/// Earlier moments that are looked at again.
const MOMENTS: usize = 12;
/// Seconds of learning above which earlier moments are left alone.
const SLOW: f64 = 10.0;
/// How often a background thread looks whether it is still needed.
const NEEDED: Duration = Duration::from_secs(2);

/// A study that somebody looks at.
#[derive(Debug)]
pub(crate) struct Followed {
    pub(crate) name: String,
    /// The study itself, for changes.
    study: Mutex<StoredStudy>,
    /// A copy with the models of what was learnt last.
    thought: Mutex<Option<StoredStudy>>,
    known: Mutex<Known>,
    woken: Condvar,
    /// What pages get.
    pub(crate) live: Live,
    /// When somebody last asked.
    used: Mutex<Instant>,
}

#[derive(Debug, Default)]
struct Known {
    facts: Option<Facts>,
    learnt: Option<Learnt>,
    past: BTreeMap<u64, PastPoint>,
    trouble: Option<String>,
}

/// What a thread that panicked held is still whole: it is replaced in one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Followed {
    /// Begins to follow a study, with a thread of its own that learns.
    pub(crate) fn begin(study: StoredStudy) -> Answered<Arc<Self>> {
        let followed = Arc::new(Self {
            name: study.name().to_owned(),
            study: Mutex::new(study),
            thought: Mutex::new(None),
            known: Mutex::default(),
            woken: Condvar::new(),
            live: Live::default(),
            used: Mutex::new(Instant::now()),
        });
        followed.refresh()?;
        let weak = Arc::downgrade(&followed);
        std::thread::spawn(move || learn_on(&weak));
        Ok(followed)
    }

    /// Takes in what others did, and shows it.
    pub(crate) fn refresh(&self) -> Answered<()> {
        let facts = Facts::of(&mut lock(&self.study));
        let mut known = lock(&self.known);
        let outcome = match facts {
            Ok(facts) => {
                known.facts = Some(facts);
                known.trouble = None;
                Ok(())
            }
            Err(error) => {
                known.trouble = Some(error.to_string());
                Err(error.into())
            }
        };
        self.show(&known);
        self.woken.notify_all();
        outcome
    }

    fn show(&self, known: &Known) {
        let Some(facts) = &known.facts else { return };
        self.live.show(&View {
            facts,
            learnt: known.learnt.as_ref(),
            past: known.past.values().collect(),
            trouble: known.trouble.as_deref(),
        });
    }

    /// The entry of the log that is shown.
    pub(crate) fn version(&self) -> u64 {
        lock(&self.known)
            .facts
            .as_ref()
            .map_or(0, |facts| facts.version)
    }

    /// Whether something was wrong when the study was last looked at.
    pub(crate) fn is_troubled(&self) -> bool {
        lock(&self.known).trouble.is_some()
    }

    /// Goes on with a study that was opened anew.
    pub(crate) fn replace(&self, study: StoredStudy) {
        *lock(&self.study) = study;
        // Where that fails too, the page says so.
        let _ = self.refresh();
    }

    /// Notes that somebody asked.
    pub(crate) fn touch(&self) {
        *lock(&self.used) = Instant::now();
    }

    /// When somebody last asked, unless somebody follows still.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        (self.live.followers() == 0).then(|| *lock(&self.used))
    }

    /// Changes the study in somebody's name, and shows what became of it.
    pub(crate) fn change<T>(
        &self,
        author: &str,
        change: impl FnOnce(&mut StoredStudy) -> Answered<T>,
    ) -> Answered<T> {
        let changed = {
            let mut study = lock(&self.study);
            study.set_author(author);
            study.refresh()?;
            change(&mut study)
        };
        // What was changed is stored, whether or not it can be shown.
        let _ = self.refresh();
        changed
    }

    /// A copy to try things on, with the models that were learnt where they are of the newest rows. Taking rows back
    /// needs the whole log.
    pub(crate) fn copy(&self, with_log: bool) -> Answered<StoredStudy> {
        let mut study = lock(&self.study);
        study.refresh()?;
        let mut thought = lock(&self.thought);
        match thought.as_mut() {
            Some(thought) if !with_log && thought.version() == study.version() => {
                Ok(thought.imagine(false)?)
            }
            _ => Ok(study.imagine(with_log)?),
        }
    }

    /// Learns from the newest rows, if that was not done yet; false if there is nothing to do.
    fn learn(&self) -> bool {
        let learnt = lock(&self.known).learnt.as_ref().map(|one| one.version);
        let version = self.version();
        if learnt == Some(version) || version == 0 {
            return false;
        }
        let copy = lock(&self.study).imagine(false);
        let learnt = copy.and_then(|mut copy| Ok((Learnt::of(&mut copy)?, copy)));
        let mut known = lock(&self.known);
        match learnt {
            Ok((learnt, copy)) => {
                known.learnt = Some(learnt);
                *lock(&self.thought) = Some(copy);
            }
            Err(error) => known.trouble = Some(error.to_string()),
        }
        let failed = known.trouble.is_some();
        self.show(&known);
        !failed
    }

    /// Looks at one earlier moment again; false if there is nothing to do.
    fn look_back(&self) -> bool {
        let (slow, looked): (bool, Vec<u64>) = {
            let known = lock(&self.known);
            let slow = known.learnt.as_ref().is_none_or(|one| one.seconds > SLOW);
            (slow, known.past.keys().copied().collect())
        };
        if slow {
            return false;
        }
        let (mut copy, next) = {
            let mut study = lock(&self.study);
            let points = study.turning_points(MOMENTS);
            let Some(next) = points.into_iter().find(|at| !looked.contains(at)) else {
                return false;
            };
            match study.imagine(true) {
                Ok(copy) => (copy, next),
                Err(_) => return false,
            }
        };
        let Ok(point) = copy.past(next) else {
            return false;
        };
        let mut known = lock(&self.known);
        known.past.insert(next, point);
        self.show(&known);
        true
    }

    fn wait(&self) {
        let known = lock(&self.known);
        drop(self.woken.wait_timeout(known, NEEDED));
    }
}

/// Learns and looks back as long as somebody has the study.
fn learn_on(followed: &Weak<Followed>) {
    while let Some(followed) = followed.upgrade() {
        if !followed.learn() && !followed.look_back() {
            followed.wait();
        }
    }
}
