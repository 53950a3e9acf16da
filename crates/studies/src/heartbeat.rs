//! Signs of life of those who measure, as values that a store keeps.

use std::collections::BTreeMap;

use taskscout_store::Kept;

/// The newest signs of life.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heartbeats(BTreeMap<u64, Beat>);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Beat {
    /// The entry that began the lease.
    pub(crate) since: u64,
    pub(crate) until_us: i64,
}

impl Heartbeats {
    /// What their keys begin with.
    pub(crate) const PREFIX: &str = "lease/";

    pub(crate) fn of(kept: &[Kept]) -> Self {
        let beats = kept.iter().filter_map(|kept| {
            let item = kept.key.strip_prefix(Self::PREFIX)?.parse().ok()?;
            let (since, until) = kept.body.split_first_chunk::<8>()?;
            let beat = Beat {
                since: u64::from_le_bytes(*since),
                until_us: i64::from_le_bytes(until.try_into().ok()?),
            };
            Some((item, beat))
        });
        Self(beats.collect())
    }

    /// Until when a lease was kept, if it is the one that an entry began.
    pub(crate) fn until(&self, item: u64, since: u64) -> Option<i64> {
        let beat = self.0.get(&item)?;
        (beat.since == since).then_some(beat.until_us)
    }

    /// A sign of life that has been stored.
    pub(crate) fn insert(&mut self, item: u64, beat: Beat) {
        self.0.insert(item, beat);
    }

    pub(crate) fn kept(item: u64, version: u64, beat: Beat) -> Kept {
        let mut body = beat.since.to_le_bytes().to_vec();
        body.extend(beat.until_us.to_le_bytes());
        Kept {
            key: format!("{}{item}", Self::PREFIX),
            version,
            body,
        }
    }
}
