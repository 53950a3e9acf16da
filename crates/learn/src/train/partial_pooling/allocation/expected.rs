//! What rows of related tasks are expected to leave open of a target.

use super::{SourceTaskWithRowLimit, TargetFamily};
use crate::error::Result;
use crate::hierarchy::HierarchicalModel;
use crate::linalg;

/// The variance of a target's function that rows of the source tasks and of the target itself are expected to leave, in
/// squares of the output; nothing where no source task is related to it. `features` are the target's task features.
///
/// Features of a group count as if they were uncorrelated, so ratios of such variances say more than the variances do.
///
/// # Errors
/// A breakdown of the numerics.
pub fn expected_target_prediction_variance(
    hierarchy: &HierarchicalModel,
    (target, features): (usize, &[f64]),
    sources: &[SourceTaskWithRowLimit],
    target_rows: usize,
) -> Result<Option<f64>> {
    let Some(family) = TargetFamily::of(hierarchy, target, features) else {
        return Ok(None);
    };
    let rows: Vec<usize> = sources.iter().map(|source| source.rows).collect();
    let covariances = family.covariances(sources, &rows)?;
    let left = family
        .groups
        .iter()
        .zip(&covariances)
        .map(|(group, shared)| {
            let open = linalg::dot(&family.target, &shared.of_target).max(0.0) + group.own;
            group.weight * open / (1.0 + target_rows as f64 * group.size * open)
        });
    let noise = hierarchy.prior(target).map_or(1.0, |prior| prior.noise);
    Ok(Some(noise * left.sum::<f64>()))
}
