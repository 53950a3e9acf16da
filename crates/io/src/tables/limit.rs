//! How much memory the cells of tables may take.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that the cells of a table take at most unless a caller says otherwise: 64 million numbers.
const MOST: u64 = 512 << 20;
/// Bytes of a number.
pub(crate) const NUMBER: u64 = 8;
/// Bytes of a text without letters.
pub(crate) const EMPTY_TEXT: u64 = 24;
/// Bytes of a text of a few letters, with where it stands and what the allocator adds.
pub(crate) const TEXT: u64 = 56;
/// Letters of such a text.
pub(crate) const SHORT_TEXT: u64 = 32;
/// Bytes of a megabyte, as messages count them.
const MEGABYTE: u64 = 1_000_000;

/// Bytes that the cells of all tables read under it may take together.
///
/// A file of a few kilobytes can claim billions of rows. What its cells would take is counted before
/// memory is asked for.
#[derive(Debug)]
pub struct MemoryLimit {
    most: u64,
    taken: AtomicU64,
}

/// More than a limit allows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Exceeded {
    /// Bytes that the tables would take.
    pub(crate) wanted: u64,
    pub(crate) most: u64,
}

impl MemoryLimit {
    /// A limit in bytes.
    #[must_use]
    pub fn new(most: u64) -> Self {
        Self {
            most,
            taken: AtomicU64::new(0),
        }
    }

    /// Counts cells that are about to be stored.
    pub(crate) fn take(&self, bytes: u64) -> Result<(), Exceeded> {
        let add = |taken: u64| Some(taken.saturating_add(bytes));
        let before = self
            .taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add)
            .unwrap_or(u64::MAX);
        let wanted = before.saturating_add(bytes);
        if wanted > self.most {
            return Err(Exceeded {
                wanted,
                most: self.most,
            });
        }
        Ok(())
    }

    /// The most, in megabytes.
    #[must_use]
    pub fn megabytes(&self) -> u64 {
        self.most / MEGABYTE
    }
}

impl Default for MemoryLimit {
    fn default() -> Self {
        Self::new(MOST)
    }
}

impl Exceeded {
    /// What is too large, in megabytes.
    pub(crate) fn problem(&self, cells: &str) -> String {
        format!(
            "{cells} take {} MB of memory, and {} MB is the most: split the table, or name fewer columns",
            self.wanted.div_ceil(MEGABYTE),
            self.most / MEGABYTE
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_share_a_limit() {
        let limit = MemoryLimit::new(10);
        assert_eq!(limit.take(6), Ok(()));
        assert_eq!(limit.take(4), Ok(()));
        let exceeded = limit.take(u64::MAX).unwrap_err();
        assert_eq!((exceeded.wanted, exceeded.most), (u64::MAX, 10));
    }
}
