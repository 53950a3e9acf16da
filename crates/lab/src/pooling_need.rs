//! The memory of partial pooling: what it knows of a task grows with the square of the features, and it knows so of every task.

use taskscout::train::PartialPooling;

use crate::memory::{NUMBER, Need};

/// Matrices of features by features that a fit has of every task at a time, and of two features of tasks.
const FITTING: f64 = 4.0;
const SHARED: f64 = 4.0;
/// Those that stay of every task on the best set of features, and are copied where something changes.
const KEPT: f64 = 2.0;

/// How much is pooled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pooled {
    /// Tasks that are related.
    pub(crate) tasks: f64,
    /// Task features that they share.
    pub(crate) shared: f64,
    /// Outputs, each with models of its own, and how many are fitted at a time.
    pub(crate) outputs: f64,
    pub(crate) at_once: f64,
}

/// What the hierarchical models of tasks take, on sets of so many features each.
pub(crate) fn need(sets: &[usize], pooled: Pooled) -> Need {
    let largest = sets.iter().max().copied().unwrap_or_default();
    let square = (largest as f64).powi(2);
    let Pooled {
        tasks,
        shared,
        outputs,
        at_once,
    } = pooled;
    let fitting = at_once * (FITTING * tasks + SHARED * shared * shared);
    let mut need = Need::default();
    need.add(
        format!("what is known of {tasks:.0} tasks with {largest} features"),
        NUMBER * (fitting + outputs * KEPT * tasks) * square,
    );
    need
}

/// How many features each set has.
pub(crate) fn sets(pooling: &PartialPooling, features: usize) -> Vec<usize> {
    let size = |groups: &Vec<usize>| {
        let sizes = groups.iter().filter_map(|&group| pooling.groups.get(group));
        sizes.sum()
    };
    match pooling.sets.is_empty() {
        true => vec![features],
        false => pooling.sets.iter().map(|set| size(&set.groups)).collect(),
    }
}
