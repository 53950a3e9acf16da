//! How many directions the representation needs, when nobody says.
//!
//! Ranks are compared by how well new rows of the same tasks would be predicted, as Akaike's criterion with its
//! correction for few rows estimates it: `−N/2 ln(RSS/N) − γ N/(N − γ − 1)` with `γ` effective parameters. The
//! marginal likelihood of one penalty for all directions asks more of a weak direction than a prior of its own would,
//! and leaves out directions that the rows show at seven standard deviations.

use super::initial::FullRidge;
use super::joint_ridge::JointRidge;
use crate::error::{Error, Result};
use crate::model::FitReport;
use crate::regression::BilinearProblem;

/// Sweeps of a trial fit: enough to tell ranks apart.
const TRIAL_SWEEPS: usize = 8;
/// What one more direction has to gain in log density. The largest direction of noise alone gains about as much as its
/// parameters cost, and a bit more by chance. Chosen among 0, 1, 3 and 5 on seven simulators
/// (docs/explanation/feature-choice.md).
const CLEARLY_BETTER: f64 = 5.0;
/// Ranks in a row without a better score that end the search.
const PATIENCE: usize = 2;

/// A dimension of the representation, and how well it predicts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScoredRank {
    pub(crate) k: usize,
    pub(crate) score: f64,
}

/// The `k` that predicts best, tried from 1 upwards.
pub(crate) fn choose(
    oracle: &JointRidge,
    problem: &BilinearProblem<'_>,
    start: &FullRidge,
) -> Result<ScoredRank> {
    let tasks = problem.observations.len() * problem.outputs;
    let limit = problem.feature_dim.min(problem.map_dim()).min(tasks);
    let (mut best, mut best_score) = (0, f64::NEG_INFINITY);
    for k in 1..=limit {
        let score = score(oracle, problem, start, k)?;
        if score > best_score + CLEARLY_BETTER {
            (best, best_score) = (k, score);
        } else if k >= best + PATIENCE {
            break;
        }
    }
    if best == 0 {
        return Err(Error::numerical(
            "choosing k",
            "no rank gave a finite score; give k, or rescale the features",
        ));
    }
    Ok(ScoredRank {
        k: best,
        score: best_score,
    })
}

/// How well a given `k` predicts.
pub(crate) fn score(
    oracle: &JointRidge,
    problem: &BilinearProblem<'_>,
    start: &FullRidge,
    k: usize,
) -> Result<f64> {
    let trial = JointRidge {
        max_sweeps: TRIAL_SWEEPS,
        ..oracle.clone()
    };
    let fit = trial.refine(problem, start.truncate(k)?, start.noise)?;
    Ok(akaike(&fit.report))
}

/// Akaike's criterion for few rows, as a log density: larger is better.
fn akaike(report: &FitReport) -> f64 {
    let (labels, freedom) = (report.labels as f64, report.degrees_of_freedom);
    let left = (labels - freedom - 1.0).max(1.0);
    -0.5 * labels * (report.residual_sum_of_squares / labels).ln() - freedom * labels / left
}
