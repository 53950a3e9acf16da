//! How many directions the representation needs, when nobody says.

use super::initial::FullRidge;
use super::joint_ridge::JointRidge;
use crate::error::{Error, Result};
use crate::regression::BilinearProblem;

/// Sweeps of a trial fit: enough for the evidence to tell ranks apart.
const TRIAL_SWEEPS: usize = 8;
/// Ranks in a row without a better evidence that end the search.
const PATIENCE: usize = 2;

/// The `k` of largest marginal likelihood, tried from 1 upwards.
pub(crate) fn choose(
    oracle: &JointRidge,
    problem: &BilinearProblem<'_>,
    start: &FullRidge,
) -> Result<usize> {
    let tasks = problem.observations.len() * problem.outputs;
    let limit = problem.feature_dim.min(problem.map_dim()).min(tasks);
    let trial = JointRidge {
        max_sweeps: TRIAL_SWEEPS,
        ..oracle.clone()
    };
    let (mut best, mut best_evidence) = (0, f64::NEG_INFINITY);
    for k in 1..=limit {
        let fit = trial.refine(problem, start.truncate(k)?, start.noise)?;
        if fit.report.log_evidence > best_evidence {
            (best, best_evidence) = (k, fit.report.log_evidence);
        } else if k >= best + PATIENCE {
            break;
        }
    }
    if best == 0 {
        return Err(Error::numerical(
            "choosing k",
            "no rank gave a finite evidence; give k, or rescale the features",
        ));
    }
    Ok(best)
}
