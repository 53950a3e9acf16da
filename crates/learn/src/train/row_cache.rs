//! What is computed from the same rows of a target again and again, kept from one fit to the next.
//!
//! A target's rows change less often than those of the sources, but every fit diagonalises their Gram matrices, with all
//! folds and without each. Values are kept with the statistics they were made from, and used only for equal ones.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::data::Statistics;
use crate::error::Result;

/// Numbers kept at most, as far as matrices of features go: 32 MB.
const MOST_NUMBERS: usize = 1 << 22;

/// Values by target and rows; clones share what they know.
#[derive(Debug)]
pub(crate) struct KnownRows<K, T> {
    known: Arc<Mutex<HashMap<K, Known<T>>>>,
}

/// A value with the statistics that it was made from.
#[derive(Debug)]
struct Known<T> {
    rows: Statistics,
    value: Arc<T>,
}

impl<K, T> Clone for KnownRows<K, T> {
    fn clone(&self) -> Self {
        Self {
            known: Arc::clone(&self.known),
        }
    }
}

impl<K, T> Default for KnownRows<K, T> {
    fn default() -> Self {
        Self {
            known: Arc::default(),
        }
    }
}

impl<K: Eq + std::hash::Hash, T> KnownRows<K, T> {
    /// The value made from equal statistics earlier, or a new one.
    pub(crate) fn get(
        &self,
        key: K,
        rows: &Statistics,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key).filter(|known| known.rows == *rows) {
            return Ok(Arc::clone(&known.value));
        }
        // Not under the lock: it may take a while.
        let value = Arc::new(make()?);
        // A matrix and a triangle each.
        let numbers = 2 * rows.dim() * rows.dim();
        let mut known = lock();
        if (known.len() + 1) * numbers > MOST_NUMBERS {
            known.clear();
        }
        if numbers <= MOST_NUMBERS {
            let rows = rows.clone();
            let value = Arc::clone(&value);
            known.insert(key, Known { rows, value });
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(dim: usize, value: f64) -> Statistics {
        let mut rows = Statistics::new(dim, 1);
        rows.accumulate_slices(&vec![value; dim], &[1.0]).unwrap();
        rows
    }

    #[test]
    fn equal_rows_are_known_and_other_rows_of_the_same_number_are_not() {
        let cache = KnownRows::default();
        let mut made = 0;
        let mut get = |dim, value| {
            let make = || {
                made += 1;
                Ok(value)
            };
            let found = *cache.clone().get((), &rows(dim, value), make).unwrap();
            assert_eq!(found.to_bits(), value.to_bits());
            made
        };
        assert_eq!((get(2, 1.0), get(2, 1.0), get(2, 3.0)), (1, 1, 2));
        // Too large to keep.
        assert_eq!((get(1500, 1.0), get(1500, 1.0)), (3, 4));
        assert!(
            KnownRows::<(), f64>::default()
                .known
                .lock()
                .unwrap()
                .is_empty()
        );
    }
}
