//! A series while it is read: columns that come up when their first value does.
//!
//! Messages need not all have the same fields: sequences grow and shrink, fields are left out. What a message lacks is
//! NaN. A column that would be almost all NaN is dropped, so that a series never takes much more memory than the numbers
//! that were really there.
//!
//! ```text
//! message 1   a  b            a    b    c
//! message 2   a  b  c    ->   1    2    NaN
//!                             3    4    5
//! ```

use crate::series::{Column, Series};

/// Columns that one series may have.
const MOST_COLUMNS: usize = 1 << 14;

/// Values that may be missing beyond as many as there are.
const MOST_MISSING: usize = 1 << 16;

/// The place of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place(usize);

#[derive(Debug)]
struct Slot {
    name: String,
    /// Up to the last row that had a value.
    values: Vec<f64>,
    missing: usize,
    dropped: bool,
}

/// Rows of a topic, one at a time: values first, then the time that completes the row.
#[derive(Debug, Default)]
pub(crate) struct SeriesBuilder {
    time: Vec<i64>,
    slots: Vec<Slot>,
    filled: usize,
    missing: usize,
    refused: usize,
}

/// What became of a builder.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) series: Series,
    /// The first of the columns that most rows lack, and how many of them there were.
    pub(crate) dropped: Option<(String, usize)>,
    /// Columns beyond the most that a series may have.
    pub(crate) refused: usize,
}

impl SeriesBuilder {
    /// A new column; none if there are too many.
    pub(crate) fn column(&mut self, name: String) -> Option<Place> {
        if self.is_full() {
            self.refused += 1;
            return None;
        }
        self.slots.push(Slot {
            name,
            values: Vec::new(),
            missing: 0,
            dropped: false,
        });
        Some(Place(self.slots.len() - 1))
    }

    /// Whether another column would be one too many.
    pub(crate) fn is_full(&self) -> bool {
        self.slots.len() >= MOST_COLUMNS
    }

    /// The numbers that are held.
    pub(crate) fn cells(&self) -> usize {
        self.filled + self.missing + self.time.len()
    }

    /// Sets a value of the row that is being read; the last one counts.
    #[inline]
    pub(crate) fn set(&mut self, place: Place, value: f64) {
        let row = self.time.len();
        let Some(slot) = self.slots.get_mut(place.0) else {
            return;
        };
        if slot.values.len() == row && !slot.dropped {
            slot.values.push(value);
            self.filled += 1;
        } else {
            self.set_late(place, value);
        }
    }

    /// Sets a value for the second time, or after rows without one.
    fn set_late(&mut self, place: Place, value: f64) {
        let row = self.time.len();
        let Some(slot) = self.slots.get_mut(place.0).filter(|slot| !slot.dropped) else {
            return;
        };
        if let Some(there) = slot.values.get_mut(row) {
            *there = value;
            return;
        }
        self.pad(place.0, row);
        if let Some(slot) = self.slots.get_mut(place.0).filter(|slot| !slot.dropped) {
            slot.values.push(value);
            self.filled += 1;
        }
    }

    /// Fills a column with NaN up to a row, or drops it.
    fn pad(&mut self, index: usize, row: usize) {
        let slot = &mut self.slots[index];
        let gap = row.saturating_sub(slot.values.len());
        if self.missing + gap > self.filled + MOST_MISSING {
            self.discard(Place(index));
            return;
        }
        slot.missing += gap;
        self.missing += gap;
        slot.values.resize(row, f64::NAN);
    }

    /// Forgets a column that turned out to be none.
    pub(crate) fn discard(&mut self, place: Place) {
        let Some(slot) = self.slots.get_mut(place.0).filter(|slot| !slot.dropped) else {
            return;
        };
        self.missing -= slot.missing;
        self.filled -= slot.values.len() - slot.missing;
        slot.values = Vec::new();
        slot.dropped = true;
    }

    /// Completes the row.
    pub(crate) fn commit(&mut self, time_ns: i64) {
        self.time.push(time_ns);
    }

    /// Forgets the row that is being read.
    pub(crate) fn rollback(&mut self) {
        let row = self.time.len();
        for slot in &mut self.slots {
            if slot.values.len() > row {
                slot.values.truncate(row);
                self.filled -= 1;
            }
        }
    }

    /// The series: columns in this order, rows by time, times in seconds after `start_ns`.
    pub(crate) fn finish(mut self, name: String, order: &[Place], start_ns: i64) -> Built {
        let rows = self.time.len();
        for index in 0..self.slots.len() {
            if !self.slots[index].dropped && self.slots[index].values.len() < rows {
                self.pad(index, rows);
            }
        }
        let by_time = (!self.time.is_sorted()).then(|| {
            let mut places: Vec<usize> = (0..rows).collect();
            places.sort_by_key(|&row| self.time[row]);
            places
        });
        let mut dropped: Option<(String, usize)> = None;
        let mut columns = Vec::with_capacity(order.len());
        for place in order {
            let Some(slot) = self.slots.get_mut(place.0) else {
                continue;
            };
            let name = std::mem::take(&mut slot.name);
            if slot.dropped {
                dropped.get_or_insert((name, 0)).1 += 1;
                continue;
            }
            let values = std::mem::take(&mut slot.values);
            columns.push(Column::new(name, in_order(values, by_time.as_deref())));
        }
        let seconds = |time: i64| (i128::from(time) - i128::from(start_ns)) as f64 / 1e9;
        let time = self.time.iter().map(|&time| seconds(time)).collect();
        let time = in_order(time, by_time.as_deref());
        Built {
            series: Series::new(name, time, columns),
            dropped,
            refused: self.refused,
        }
    }
}

fn in_order(values: Vec<f64>, places: Option<&[usize]>) -> Vec<f64> {
    match places {
        None => values,
        Some(places) => places.iter().map(|&row| values[row]).collect(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn what_a_message_lacks_is_missing_and_rows_come_by_time() {
        let mut rows = SeriesBuilder::default();
        let a = rows.column("a".into()).unwrap();
        rows.set(a, 1.0);
        rows.commit(2_000_000_000);
        let b = rows.column("b".into()).unwrap();
        rows.set(b, 7.0);
        rows.commit(1_500_000_000);
        rows.set(a, 9.0);
        rows.rollback();
        rows.set(a, 2.0);
        rows.set(a, 3.0);
        rows.commit(3_000_000_000);
        let built = rows.finish("s".into(), &[b, a], 1_000_000_000);
        assert_eq!(built.series.time, [0.5, 1.0, 2.0]);
        let bits = |name: &str| {
            built
                .series
                .column(name)
                .unwrap()
                .iter()
                .map(|v| v.to_bits())
        };
        let nan = f64::NAN;
        assert!(bits("b").eq([7.0, nan, nan].map(f64::to_bits)));
        assert!(bits("a").eq([nan, 1.0, 3.0].map(f64::to_bits)));
    }

    #[test]
    fn memory_stays_near_what_is_there() {
        let mut rows = SeriesBuilder::default();
        let places: Vec<Place> = (0..4000)
            .map(|index| rows.column(index.to_string()).unwrap())
            .collect();
        for place in &places {
            rows.set(*place, 1.0);
        }
        for row in 0..2000 {
            rows.commit(row);
            rows.set(places[0], 1.0);
        }
        rows.rollback();
        let built = rows.finish("s".into(), &places, 0);
        let kept = built.series.columns.len();
        assert!(kept < 40 && built.series.columns[0].values.len() == 2000);
        assert_eq!(built.dropped.unwrap().1, 4000 - kept);
    }

    #[test]
    fn columns_have_an_end() {
        let mut rows = SeriesBuilder::default();
        let given = (0..MOST_COLUMNS + 3).filter_map(|index| rows.column(index.to_string()));
        assert_eq!(given.count(), MOST_COLUMNS);
        assert_eq!(rows.refused, 3);
    }
}
