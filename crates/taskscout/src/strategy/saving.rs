//! Saving switches of tasks: those in use stay while they still fit.

use faer::MatRef;

use super::outputs::{source_embedding, source_maps, stacked};
use super::{Knowledge, Overlap, PlanContext, Saving, TaskDesign};
use crate::design::{Design, DesignAtom};
use crate::error::Result;
use crate::features::{FeatureMap, Features as _, apply_row};
use crate::linalg;
use crate::task::Task;

/// Squared overlap between some tasks, in features, and the row space of `B`: of the maps of all outputs
/// together.
pub(super) fn overlap(
    tasks: &[Task],
    features: &FeatureMap,
    maps: &[MatRef<'_, f64>],
    measure: Overlap,
) -> Result<f64> {
    let rows = match maps {
        [map] => linalg::svd(*map, "the task map")?,
        _ => linalg::svd(stacked(maps).as_ref(), "the task map")?,
    };
    let inside = |task: &Task| share_inside(rows.v.as_ref(), &apply_row(features, task));
    Ok(measured(tasks.iter().map(inside), measure))
}

/// The design that the last round used for the targets, if the new one points in the same directions.
pub(super) fn saved(
    context: &PlanContext<'_>,
    knowledge: &Knowledge<'_>,
    new: TaskDesign,
    saving: Saving,
) -> Result<TaskDesign> {
    let used = context.exploited;
    if used.is_empty() || used.len() != new.tasks.len() {
        return Ok(new);
    }
    let rows: Vec<Vec<f64>> = used
        .iter()
        .map(|(task, _)| apply_row(context.features, task))
        .collect();
    let matrix = faer::Mat::from_fn(rows.len(), context.features.dim(), |i, j| rows[i][j]);
    let span = linalg::svd(matrix.as_ref(), "the tasks in use")?;
    let inside = |task: &Task| share_inside(span.v.as_ref(), &apply_row(context.features, task));
    if measured(new.tasks.iter().map(inside), saving.measure) < saving.overlap {
        return Ok(new);
    }
    Ok(kept(context, knowledge, used))
}

/// A design of tasks in use, with the weights that they had.
fn kept(
    context: &PlanContext<'_>,
    knowledge: &Knowledge<'_>,
    used: &[(&Task, usize)],
) -> TaskDesign {
    let total: f64 = used.iter().map(|(_, n)| *n as f64).sum();
    let atoms = used.iter().map(|(task, n)| DesignAtom {
        task: task.to_vec(),
        row: None,
        weight: *n as f64 / total,
        embedding: source_embedding(knowledge.model, &apply_row(context.features, task)),
        similarity: None,
        risk_share: *n as f64 / total,
    });
    let mut design = Design::unscored(atoms.collect());
    design.outputs = source_maps(knowledge.model, context.features.dim()).len();
    design.orient(&knowledge.targets, false);
    TaskDesign {
        design,
        tasks: used.iter().map(|(task, _)| (*task).clone()).collect(),
    }
}

/// The part of a vector's squared length that lies in a subspace with this orthonormal basis.
fn share_inside(basis: MatRef<'_, f64>, vector: &[f64]) -> f64 {
    let projected = linalg::apply(basis.transpose(), vector);
    linalg::dot(&projected, &projected) / linalg::dot(vector, vector).max(f64::MIN_POSITIVE)
}

fn measured(shares: impl Iterator<Item = f64>, measure: Overlap) -> f64 {
    let shares: Vec<f64> = shares.collect();
    match measure {
        Overlap::Mean => shares.iter().sum::<f64>() / shares.len().max(1) as f64,
        Overlap::Smallest => shares.iter().copied().fold(1.0, f64::min),
    }
}
