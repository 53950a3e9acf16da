//! All that is served: the studies of a store and the runs of a folder, each followed while somebody looks.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use taskscout::registry::Registry;
use taskscout_store::Store;
use taskscout_studies::{StoredStudy, StudyHead, list, open_store};

use crate::followed::Followed;
use crate::live::Live;
use crate::refusal::{Answered, Refusal};
use crate::runs::{RunHead, RunView, scan};

/// How often stores and folders are looked at.
const LOOK: Duration = Duration::from_millis(400);
/// How often leases are looked at, which end without an entry in the log.
const LEASES: Duration = Duration::from_secs(5);
/// Studies that are followed at once.
const MOST_FOLLOWED: usize = 32;
/// How long a study is followed after nobody looks any more.
const FORGET: Duration = Duration::from_secs(600);

/// What is served.
pub(crate) struct Shelf {
    /// The address of the store.
    store: Option<String>,
    /// The only study that is shown.
    only: Option<String>,
    folder: Option<PathBuf>,
    registry: Registry,
    studies: Mutex<BTreeMap<String, Arc<Followed>>>,
    runs: Mutex<BTreeMap<String, Run>>,
    /// The list of all.
    pub(crate) index: Live,
}

/// A run and where it is.
struct Run {
    path: PathBuf,
    head: RunHead,
    live: Arc<Live>,
    /// The mark of what is shown.
    shown: Option<u64>,
}

/// The list of all that is served.
#[derive(Debug, Serialize)]
struct Index<'a> {
    studies: Vec<StudyHead>,
    runs: Vec<&'a RunHead>,
    trouble: Option<&'a str>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shelf {
    pub(crate) fn new(
        store: Option<String>,
        only: Option<String>,
        folder: Option<PathBuf>,
        registry: &Registry,
    ) -> Self {
        Self {
            store,
            only,
            folder,
            registry: registry.clone(),
            studies: Mutex::default(),
            runs: Mutex::default(),
            index: Live::default(),
        }
    }

    fn open(&self) -> Answered<Box<dyn Store>> {
        match &self.store {
            Some(address) => Ok(open_store(address, false)?),
            None => Err(Refusal::not_found(
                "only runs are served here: give the store of your studies to `taskscout serve`",
            )),
        }
    }

    /// A study that is followed already.
    pub(crate) fn known(&self, name: &str) -> Option<Arc<Followed>> {
        let known = lock(&self.studies).get(name).cloned();
        if let Some(known) = &known {
            known.touch();
        }
        known
    }

    /// A study by its name, followed from now on.
    pub(crate) fn study(&self, name: &str) -> Answered<Arc<Followed>> {
        let unknown = || {
            Refusal::not_found(format!(
                "there is no study `{name}` here: go back to the list"
            ))
        };
        if self.only.as_deref().is_some_and(|only| only != name) {
            return Err(unknown());
        }
        if let Some(known) = self.known(name) {
            return Ok(known);
        }
        let mut store = self.open()?;
        if !list(&mut *store)?.iter().any(|head| head.study == name) {
            return Err(unknown());
        }
        // Not under the lock: reading a long log takes a while. Whoever is second has opened it for nothing.
        let opened = StoredStudy::open(store, name, "page", &self.registry)?;
        let followed = Followed::begin(opened)?;
        let mut studies = lock(&self.studies);
        let entry = studies.entry(name.to_owned()).or_insert(followed);
        Ok(Arc::clone(entry))
    }

    /// A run by its name: the document that pages get.
    pub(crate) fn run(&self, name: &str) -> Answered<Arc<Live>> {
        let mut runs = lock(&self.runs);
        let run = runs.get_mut(name).ok_or_else(|| no_run(name))?;
        run.show();
        Ok(Arc::clone(&run.live))
    }

    /// The folder of a run, as the server found it.
    pub(crate) fn run_folder(&self, name: &str) -> Answered<PathBuf> {
        let runs = lock(&self.runs);
        let run = runs.get(name).ok_or_else(|| no_run(name))?;
        Ok(run.path.clone())
    }

    /// Looks at everything until told to stop.
    pub(crate) fn watch(&self, stop: &dyn Fn() -> bool) {
        let mut store: Option<Box<dyn Store>> = None;
        let mut leases = Instant::now();
        while !stop() {
            let heads = self.heads(&mut store);
            self.look_at_runs();
            let trouble = heads.as_ref().err().map(|refusal| refusal.sentence.clone());
            let heads = heads.unwrap_or_default();
            let timely = leases.elapsed() >= LEASES;
            if timely {
                leases = Instant::now();
                self.forget();
            }
            self.follow(&heads, timely || trouble.is_some());
            let runs = lock(&self.runs);
            self.index.show(&Index {
                studies: heads,
                runs: runs.values().map(|run| &run.head).collect(),
                trouble: trouble.as_deref(),
            });
            drop(runs);
            std::thread::sleep(LOOK);
        }
    }

    /// The studies of the store, which is opened anew after it went away.
    fn heads(&self, store: &mut Option<Box<dyn Store>>) -> Answered<Vec<StudyHead>> {
        if self.store.is_none() {
            return Ok(Vec::new());
        }
        let mut open = match store.take() {
            Some(open) => open,
            None => self.open()?,
        };
        let heads = list(&mut *open)?;
        *store = Some(open);
        let shown = |head: &StudyHead| self.only.as_ref().is_none_or(|only| *only == head.study);
        Ok(heads.into_iter().filter(shown).collect())
    }

    fn follow(&self, heads: &[StudyHead], all: bool) {
        let followed: Vec<Arc<Followed>> = lock(&self.studies).values().cloned().collect();
        for study in followed {
            let head = heads.iter().find(|head| head.study == study.name);
            let newer = head.is_some_and(|head| head.version != study.version());
            if (newer || all || study.is_troubled()) && study.refresh().is_err() {
                self.reopen(&study);
            }
        }
    }

    /// Opens a study anew whose connection was lost, if that is possible already.
    fn reopen(&self, broken: &Arc<Followed>) {
        let Ok(store) = self.open() else { return };
        let Ok(study) = StoredStudy::open(store, &broken.name, "page", &self.registry) else {
            return;
        };
        broken.replace(study);
    }

    fn look_at_runs(&self) {
        let Some(folder) = &self.folder else { return };
        let found = scan(folder);
        let mut runs = lock(&self.runs);
        runs.retain(|name, _| found.contains_key(name));
        for (name, (path, head)) in found {
            let live = runs.get(&name).map(|run| Arc::clone(&run.live));
            let shown = runs.get(&name).and_then(|run| run.shown);
            let mut run = Run {
                path,
                head,
                live: live.unwrap_or_default(),
                shown,
            };
            if run.live.followers() > 0 {
                run.show();
            }
            runs.insert(name, run);
        }
    }

    /// Lets go of studies that nobody has looked at for long.
    fn forget(&self) {
        let mut studies = lock(&self.studies);
        studies.retain(|_, study| {
            study
                .idle_since()
                .is_none_or(|since| since.elapsed() < FORGET)
        });
        while studies.len() > MOST_FOLLOWED {
            let idle = studies
                .iter()
                .filter_map(|(name, study)| Some((study.idle_since()?, name.clone())));
            let Some((_, oldest)) = idle.min() else {
                return;
            };
            studies.remove(&oldest);
        }
    }
}

impl Run {
    /// Reads the folder anew, where it changed.
    fn show(&mut self) {
        if self.shown != Some(self.head.mark) {
            self.live
                .show(&RunView::read(&self.path, self.head.clone()));
            self.shown = Some(self.head.mark);
        }
    }
}

fn no_run(name: &str) -> Refusal {
    Refusal::not_found(format!(
        "there is no run `{name}` here: go back to the list"
    ))
}
