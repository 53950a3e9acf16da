//! The maps of several outputs: one representation, a map `B_o` for each.

use faer::{Mat, MatRef};

use crate::design::block;
use crate::error::Result;
use crate::model::Model;

/// Outputs that a model has maps for.
pub(crate) fn outputs(model: &Model) -> usize {
    model.map.matrix().ncols() / model.map.task_dim().max(1)
}

/// The source part of every output's map, for so many features of a source task.
pub(crate) fn source_maps(model: &Model, sources: usize) -> Vec<MatRef<'_, f64>> {
    (0..outputs(model))
        .map(|output| model.map.source_part(output, sources))
        .collect()
}

/// A source task's embedding from its features: the columns of all outputs, one after the other.
pub(crate) fn source_embedding(model: &Model, features: &[f64]) -> Vec<f64> {
    block(&source_maps(model, features.len()), features)
}

/// The same for a task whose features have targets' own task features.
///
/// # Errors
/// Task features of the wrong length.
pub(crate) fn embedding(model: &Model, features: &[f64]) -> Result<Vec<f64>> {
    let columns = (0..outputs(model)).map(|output| model.map.embedding(features, output));
    Ok(columns.collect::<Result<Vec<_>>>()?.concat())
}

/// Maps next to each other: their columns span what tasks reach.
pub(super) fn side_by_side(maps: &[MatRef<'_, f64>]) -> Mat<f64> {
    let (k, d) = maps
        .first()
        .map_or((0, 0), |map| (map.nrows(), map.ncols()));
    Mat::from_fn(k, d * maps.len(), |i, j| maps[j / d][(i, j % d)])
}

/// Maps on top of each other: their rows span what any output sees of a task.
pub(super) fn stacked(maps: &[MatRef<'_, f64>]) -> Mat<f64> {
    let (k, d) = maps
        .first()
        .map_or((0, 0), |map| (map.nrows(), map.ncols()));
    Mat::from_fn(k * maps.len(), d, |i, j| maps[i / k][(i % k, j)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::mat;

    #[test]
    fn maps_are_joined_by_columns_and_by_rows() {
        let (first, second) = (mat![[1.0, 2.0]], mat![[3.0, 4.0]]);
        let maps = [first.as_ref(), second.as_ref()];
        assert_eq!(side_by_side(&maps), mat![[1.0, 2.0, 3.0, 4.0]]);
        assert_eq!(stacked(&maps), mat![[1.0, 2.0], [3.0, 4.0]]);
    }
}
