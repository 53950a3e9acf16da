//! Least squares on sufficient statistics: one task by ridge regression, many by one map, and what is known afterwards; and boosted
//! trees on rows.

mod boosted_trees;
mod conjugate;
mod gram_root;
mod gram_table;
mod kronecker;
mod linear_posterior;
mod ridge;

pub use boosted_trees::BoostedTrees;
#[cfg(test)]
pub(crate) use conjugate::CG_TOLERANCE;
pub(crate) use conjugate::{Kronecker, Roots};
pub(crate) use gram_root::GramRoot;
pub(crate) use kronecker::{BilinearProblem, Observation, add_ridge};
pub use kronecker::{ProjectedStatistics, ridge_task_map};
pub use linear_posterior::LinearPosterior;
pub(crate) use linear_posterior::least_noises;
pub(crate) use ridge::{NoisePrior, RidgeSolver, Spectrum};
pub use ridge::{RidgeFit, ridge};
