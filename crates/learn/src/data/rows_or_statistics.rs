//! A batch of rows as a study keeps it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Rows, Samples, Statistics};
use crate::error::{Error, Result};
use crate::linalg::packed;

/// Feature rows of one task: the rows themselves where they take less memory than their statistics or
/// a trainer needs them, else the statistics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum RowsOrStatistics {
    /// The rows.
    Rows(Samples),
    /// Their statistics.
    Statistics(#[serde(with = "shared")] Arc<Statistics>),
    /// Their statistics, and the rows in single precision.
    #[serde(rename = "Kept")]
    StatisticsAndRows {
        /// The statistics.
        #[serde(with = "shared")]
        statistics: Arc<Statistics>,
        /// The rows.
        rows: Rows,
    },
}

impl RowsOrStatistics {
    /// Takes feature rows in the smaller form.
    #[must_use]
    pub fn of(rows: &Samples, keep_rows: bool) -> Self {
        let (d, m) = (rows.input_dim(), rows.output_dim());
        let as_rows = rows.len().saturating_mul(d + m);
        if keep_rows || as_rows < packed::len(d) + m * (d + 1) {
            return Self::Rows(rows.without_episodes());
        }
        let mut statistics = Statistics::new(d, m);
        statistics.add_rows(rows.inputs(), rows.outputs());
        Self::Statistics(Arc::new(statistics))
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.len(),
            Self::Statistics(statistics) | Self::StatisticsAndRows { statistics, .. } => {
                statistics.count()
            }
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Checks the shape, for batches that came from a file.
    pub(super) fn check(&self, dim: usize, outputs: usize, keep_rows: bool) -> Result<()> {
        let (d, m) = match self {
            Self::Rows(rows) => (rows.input_dim(), rows.output_dim()),
            Self::Statistics(statistics) | Self::StatisticsAndRows { statistics, .. } => {
                (statistics.dim(), statistics.outputs())
            }
        };
        Error::check_length("a feature row", dim, d)?;
        Error::check_length("an output row", outputs, m)?;
        match self {
            Self::Statistics(_) if keep_rows => Err(Error::State(
                "a batch has statistics only, but the oracle of this study learns from rows".into(),
            )),
            Self::StatisticsAndRows { statistics, rows } => {
                rows.validate("a batch", dim, outputs)?;
                Error::check_length("the kept rows of a batch", statistics.count(), rows.len())
            }
            _ => Ok(()),
        }
    }

    /// Adds the batch to what is known; the shape has been checked.
    pub(super) fn add_to(
        &self,
        statistics: &mut Arc<Statistics>,
        rows: &mut Rows,
        keep_rows: bool,
    ) -> Result<()> {
        match self {
            Self::Rows(samples) => {
                if keep_rows {
                    rows.add(samples.inputs(), samples.outputs(), samples.input_dim());
                }
                Arc::make_mut(statistics).add_rows(samples.inputs(), samples.outputs());
            }
            Self::Statistics(own) => join(statistics, own)?,
            Self::StatisticsAndRows {
                statistics: own,
                rows: kept,
            } => {
                if keep_rows {
                    rows.append(kept);
                }
                join(statistics, own)?;
            }
        }
        Ok(())
    }
}

/// Adds statistics; the first ones are shared, not copied.
fn join(known: &mut Arc<Statistics>, more: &Arc<Statistics>) -> Result<()> {
    if known.count() == 0 {
        *known = Arc::clone(more);
        return Ok(());
    }
    Arc::make_mut(known).merge(more)
}

/// What is shared in memory is written like anything else.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        value: &Arc<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        T::serialize(value, to)
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Arc<T>, D::Error> {
        T::deserialize(from).map(Arc::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(n: usize, d: usize) -> Samples {
        let x = (0..n * d).map(|i| (i as f64).sin()).collect();
        let y = (0..n).map(|i| (i as f64).cos()).collect();
        Samples::new(x, d, y, 1).unwrap()
    }

    #[test]
    fn few_rows_stay_rows_and_many_become_statistics() {
        assert!(matches!(
            RowsOrStatistics::of(&rows(3, 20), false),
            RowsOrStatistics::Rows(_)
        ));
        assert!(matches!(
            RowsOrStatistics::of(&rows(40, 20), false),
            RowsOrStatistics::Statistics(_)
        ));
        assert!(matches!(
            RowsOrStatistics::of(&rows(40, 20), true),
            RowsOrStatistics::Rows(_)
        ));
    }

    /// What a task's rows add up to does not depend on the form that they are kept in.
    #[test]
    fn both_forms_add_up_to_the_same_bits() {
        let parts = [rows(7, 9), rows(300, 9), rows(64, 9)];
        let mut sums = [false, true].map(|keep| {
            let mut sum = Arc::new(Statistics::new(9, 1));
            for part in &parts {
                let batch = RowsOrStatistics::of(part, keep);
                batch.add_to(&mut sum, &mut Rows::default(), false).unwrap();
            }
            sum
        });
        let [a, b] = &mut sums;
        assert_eq!(a, b);
    }
}
