//! Who measures what: items are leased for a while, and a sign of life lets them keep the lease.
//!
//! A lease that is over gives the item free again. Whoever had it may still tell what was measured, as long as nobody
//! else has.

use std::time::Duration;

use taskscout::study::{Progress, TrackedItem};

use crate::entry::Entry;
use crate::error::{Error, Result, of_store};
use crate::heartbeat::{Beat, Heartbeats};
use crate::stored::{Draft, Step, StoredStudy};

/// How far an item has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ItemState {
    /// Nobody measures it yet.
    Proposed,
    /// Somebody measures it.
    Running,
    /// Whoever measured it has not been heard of in time: it is free again.
    Lost,
    /// All rows have come.
    Told,
    /// Given up.
    Failed,
}

impl std::fmt::Display for ItemState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Proposed => "proposed",
            Self::Running => "running",
            Self::Lost => "lost",
            Self::Told => "told",
            Self::Failed => "failed",
        })
    }
}

impl StoredStudy {
    /// How far an item has come.
    #[must_use]
    pub fn item_state(&self, tracked: &TrackedItem) -> ItemState {
        match tracked.progress {
            Progress::Done => ItemState::Told,
            Progress::Failed { .. } => ItemState::Failed,
            _ => match self.lease(tracked.item.id) {
                None => ItemState::Proposed,
                Some(lease) if lease.until_us > self.now() => ItemState::Running,
                Some(_) => ItemState::Lost,
            },
        }
    }

    /// Begins to measure an item, or the first that nobody measures, for some time; none if there is none.
    ///
    /// # Errors
    /// An item that somebody else measures, or that is told or given up; a store that cannot be written.
    pub fn start(&mut self, item: Option<u64>, lasting: Duration) -> Result<Option<TrackedItem>> {
        self.refresh()?;
        let started = self.transact(|this| {
            let Some(free) = this.free_item(item)? else {
                return Ok(Step::Nothing(None));
            };
            let until_us = this.after(lasting);
            let draft = Draft::of(Entry::Started {
                item: free,
                until_us,
            });
            Ok(Step::Append(vec![draft], Vec::new(), Some(free)))
        })?;
        started.map(|item| self.item(item).cloned()).transpose()
    }

    /// The item that is wanted, if it is free, or the first that is.
    fn free_item(&self, wanted: Option<u64>) -> Result<Option<u64>> {
        let is_free = |tracked: &&TrackedItem| {
            matches!(
                self.item_state(tracked),
                ItemState::Proposed | ItemState::Lost
            )
        };
        let Some(id) = wanted else {
            let free = self.study().items().iter().find(is_free);
            return Ok(free.map(|tracked| tracked.item.id));
        };
        let tracked = self.item(id)?;
        let lease = self.lease(id);
        match (self.item_state(tracked), lease) {
            (ItemState::Proposed | ItemState::Lost, _) => Ok(Some(id)),
            (ItemState::Running, Some(lease)) if lease.author == self.author => Ok(Some(id)),
            (ItemState::Running, lease) => Err(Error::Input(format!(
                "item {id} is being measured by {}: take another, or wait until its time is over",
                lease.map_or("somebody".into(), |lease| lease.author)
            ))),
            (state, _) => Err(Error::Input(format!(
                "item {id} is {state}: take another, or ask for a new plan"
            ))),
        }
    }

    /// Keeps the lease on an item for some more time.
    ///
    /// # Errors
    /// An item that this author does not measure; a store that cannot be written.
    pub fn heartbeat(&mut self, item: u64, lasting: Duration) -> Result<()> {
        let lease = self.state.about.leases.get(&item);
        let Some(lease) = lease.filter(|lease| lease.author == self.author) else {
            return Err(Error::Input(format!(
                "item {item} is not measured by {}: begin with `start {item}`",
                self.author
            )));
        };
        let beat = Beat {
            since: lease.since,
            until_us: self.after(lasting),
        };
        let kept = Heartbeats::kept(item, self.version(), beat);
        let version = self.version();
        let stored = self.store.append(&self.name, version, &[], &[kept]);
        stored.map_err(of_store)?;
        self.heartbeats.insert(item, beat);
        Ok(())
    }

    fn after(&self, lasting: Duration) -> i64 {
        let lasting = i64::try_from(lasting.as_micros()).unwrap_or(i64::MAX);
        self.now().saturating_add(lasting)
    }
}
