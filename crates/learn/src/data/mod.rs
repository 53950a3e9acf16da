//! Data by task: rows come in, sufficient statistics stay.
//!
//! Per task `w` the crate keeps `G_w = Σ ψψᵀ`, `b_w = Σ ψ y`, `Σ y²` and `n_w` ([`Statistics`]),
//! tagged by the stage that asked for them; rows are kept only where a trainer needs them ([`Rows`]). The target's statistics stay in a few
//! folds of contiguous rows, so that cross-validation is adding and leaving out statistics.
//!
//! ```
//! use taskscout::data::{Samples, Stage, TaskData};
//! // Two features, one output, tasks with three features (two of the sources, one of the target).
//! let mut data = TaskData::new(2, 1, 3);
//! let target = data.add_target("new wind", vec![0.0, 0.0, 1.0])?;
//! let rows = Samples::new(vec![1.0, 0.0, 0.0, 1.0], 2, vec![0.5, -0.5], 1)?;
//! data.add_source_rows(&[1.0, 0.0], &[1.0, 0.0, 0.0], Stage::WarmUp, 0, &rows)?;
//! data.add_target_rows(target, &rows)?;
//! assert_eq!(data.source_rows(), 2);
//! assert_eq!(data.target_rows(target), 2);
//! # Ok::<(), taskscout::Error>(())
//! ```

mod representation;
mod rows;
mod rows_or_statistics;
mod samples;
mod stage;
mod statistics;
mod task_data;

pub use representation::Representation;
pub(crate) use representation::{row_major, statistics_of_rows};
pub use rows::Rows;
pub use rows_or_statistics::RowsOrStatistics;
pub use samples::Samples;
pub use stage::Stage;
pub use statistics::Statistics;
pub use task_data::{FoldSelection, SourceData, TARGET_FOLD_COUNT, TargetData, TaskData};
pub use taskscout_design::columns::ColumnMoments;
