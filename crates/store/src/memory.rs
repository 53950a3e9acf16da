//! A store in memory: for tests, and for studies that need no disk.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::chain::{self, Stored};
use crate::error::{Error, Result};
use crate::log::{self, Claims, Head, Kept, Loaded, NewRecord, Query, Rows, Store};

/// A handle on logs in memory, which all its [handles](Memory::handle) share.
///
/// ```
/// use taskscout_store::{Memory, NewRecord, Query, Store as _};
///
/// let mut mine = Memory::new();
/// let mut yours = mine.handle();
/// let note = |text: &str| NewRecord {
///     kind: "noted".into(),
///     body: text.into(),
///     ..NewRecord::default()
/// };
/// mine.create("tunnel", &[note("first")])?;
/// yours.append("tunnel", 1, &[note("second")], &[])?;
///
/// assert!(mine.append("tunnel", 1, &[note("too late")], &[]).is_err());
/// let new = mine.load("tunnel", &Query::since(1))?;
/// assert_eq!(new.records[0].body, b"second");
/// # Ok::<(), taskscout_store::Error>(())
/// ```
#[derive(Debug)]
pub struct Memory {
    shared: Arc<Mutex<Shared>>,
    handle: u64,
}

#[derive(Debug, Default)]
struct Shared {
    studies: BTreeMap<String, Study>,
    /// Which handle has which piece of work of which study.
    claims: BTreeMap<(String, String), u64>,
}

#[derive(Debug)]
struct Study {
    head: Head,
    last: Vec<u8>,
    records: Vec<(Stored, Vec<Vec<u8>>)>,
    kept: BTreeMap<String, Kept>,
}

/// Handles so far in this process.
static HANDLES: AtomicU64 = AtomicU64::new(0);

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Memory {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::on(Arc::default())
    }

    /// Another handle on the same logs.
    #[must_use]
    pub fn handle(&self) -> Self {
        Self::on(Arc::clone(&self.shared))
    }

    fn on(shared: Arc<Mutex<Shared>>) -> Self {
        let handle = HANDLES.fetch_add(1, Ordering::Relaxed);
        Self { shared, handle }
    }

    /// A panic of another thread leaves the logs whole: they change in one step at the end.
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn study(&mut self, study: &str) -> Result<&mut Study> {
        if !self.studies.contains_key(study) {
            let known: Vec<String> = self.studies.keys().cloned().collect();
            return Err(Error::no_study(study, &known));
        }
        let found = self.studies.get_mut(study);
        found.ok_or_else(|| Error::no_study(study, &[]))
    }
}

impl Study {
    fn extend(&mut self, records: &[NewRecord]) {
        let new = chain::link(&self.head.study, self.head.version, &self.last, records);
        for (stored, given) in new.into_iter().zip(records) {
            self.head.version = stored.record.version;
            self.head.changed_us = stored.record.time_us;
            self.last.clone_from(&stored.sum);
            self.records.push((stored, given.rows.clone()));
        }
    }

    fn keep(&mut self, keep: &[Kept]) {
        for new in keep {
            let newer = self.kept.get(&new.key);
            if newer.is_none_or(|there| there.version <= new.version) {
                self.kept.insert(new.key.clone(), new.clone());
            }
        }
    }
}

impl Store for Memory {
    fn create_checked(&mut self, study: &str, records: &[NewRecord]) -> Result<u64> {
        let mut shared = self.lock();
        if shared.studies.contains_key(study) {
            return Err(Error::Exists {
                study: study.into(),
            });
        }
        let first = records.first().map_or(0, |record| record.time_us);
        let mut new = Study {
            head: Head {
                study: study.into(),
                version: 0,
                created_us: first,
                changed_us: first,
            },
            last: chain::FIRST.to_vec(),
            records: Vec::new(),
            kept: BTreeMap::new(),
        };
        new.extend(records);
        let version = new.head.version;
        shared.studies.insert(study.into(), new);
        Ok(version)
    }

    fn append_checked(
        &mut self,
        study: &str,
        expected: u64,
        records: &[NewRecord],
        keep: &[Kept],
    ) -> Result<u64> {
        let mut shared = self.lock();
        let found = shared.study(study)?;
        if !records.is_empty() && found.head.version != expected {
            return Err(Error::Conflict {
                study: study.into(),
                expected,
                found: found.head.version,
            });
        }
        log::check_kept(study, found.head.version + records.len() as u64, keep)?;
        found.extend(records);
        found.keep(keep);
        Ok(found.head.version)
    }

    fn load(&mut self, study: &str, query: &Query) -> Result<Loaded> {
        let mut shared = self.lock();
        let found = shared.study(study)?;
        let version = found.head.version;
        let wanted = found.kept.values().filter(|kept| query.wants(&kept.key));
        let kept: Vec<Kept> = wanted.cloned().collect();
        let since = log::start(query, &kept);
        if since > version {
            return Err(Error::Behind {
                study: study.into(),
                since,
                found: version,
            });
        }
        let new = usize::try_from(version - since).unwrap_or(usize::MAX);
        let from = found.records.len().saturating_sub(new);
        let records = found.records[from..].iter();
        Ok(Loaded {
            version,
            records: records.map(|(stored, _)| stored.record.clone()).collect(),
            kept,
            damaged: Vec::new(),
        })
    }

    fn list(&mut self) -> Result<Vec<Head>> {
        let shared = self.lock();
        Ok(shared
            .studies
            .values()
            .map(|study| study.head.clone())
            .collect())
    }
}

impl Rows for Memory {
    fn rows(
        &mut self,
        study: &str,
        version: u64,
        each: &mut dyn FnMut(Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let chunks = {
            let mut shared = self.lock();
            let found = shared.study(study)?;
            let place = version
                .checked_sub(1)
                .and_then(|at| usize::try_from(at).ok());
            let record = place.and_then(|place| found.records.get(place));
            match record {
                Some((_, rows)) => rows.clone(),
                None => {
                    return Err(Error::NoRecord {
                        study: study.into(),
                        version,
                        last: found.head.version,
                    });
                }
            }
        };
        chunks.into_iter().try_for_each(each)
    }
}

impl Claims for Memory {
    fn claim(&mut self, study: &str, what: &str) -> Result<bool> {
        let mut shared = self.lock();
        let key = (study.to_owned(), what.to_owned());
        Ok(*shared.claims.entry(key).or_insert(self.handle) == self.handle)
    }

    fn release(&mut self, study: &str, what: &str) -> Result<()> {
        let mut shared = self.lock();
        let key = (study.to_owned(), what.to_owned());
        if shared.claims.get(&key) == Some(&self.handle) {
            shared.claims.remove(&key);
        }
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let handle = self.handle;
        self.lock().claims.retain(|_, holder| *holder != handle);
    }
}
