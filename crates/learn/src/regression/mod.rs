//! Least squares on sufficient statistics: one task by ridge regression, many by one map, and what is known afterwards.

mod conjugate;
mod gram_root;
mod gram_table;
mod kronecker;
mod linear_posterior;
mod ridge;

#[cfg(test)]
pub(crate) use conjugate::CG_TOLERANCE;
pub(crate) use conjugate::{Kronecker, Roots};
pub(crate) use gram_root::GramRoot;
pub(crate) use kronecker::{BilinearProblem, Observation, add_ridge};
pub use kronecker::{ProjectedStatistics, ridge_task_map};
pub use linear_posterior::LinearPosterior;
pub(crate) use linear_posterior::least_noises;
pub use ridge::{RidgeFit, ridge};
pub(crate) use ridge::{RidgeSolver, Spectrum};
