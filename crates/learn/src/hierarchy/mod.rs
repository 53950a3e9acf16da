//! Families of tasks: what tasks that share features have in common, and what each has of its own.

mod component;
mod model;
mod prior;

pub use component::TaskCoefficientPosterior;
pub(crate) use model::{Families, FunctionBasis, TaskClusters};
pub use model::{HierarchicalModel, SourceFunctionPosterior};
pub use prior::TargetPrior;

/// Mean square of labels below which there is nothing to learn.
const NO_LABELS: f64 = 1e-200;

/// What each of so many rows of a task counts for: less, the more there are of them.
pub(crate) fn row_weight(rows: usize, effective_rows: f64) -> f64 {
    1.0 / (1.0 + rows as f64 / effective_rows)
}

/// Mean square of labels, in whose units all guesses are; one where they are all zero, or there are
/// none.
pub(crate) fn level(square: f64, rows: f64) -> f64 {
    let level = square / rows;
    if level > NO_LABELS { level } else { 1.0 }
}
