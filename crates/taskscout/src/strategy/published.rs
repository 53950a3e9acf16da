//! Designs as the paper prints them, on the ball `‖w‖ ≤ r` with plain parameters.

use faer::{Mat, MatRef};

use super::outputs::source_embedding;
use super::{Knowledge, PlanContext, TaskDesign};
use crate::design::{Design, DesignAtom, ball};
use crate::error::Result;
use crate::features::Features as _;
use crate::linalg;
use crate::model::Representation as _;

/// Strength, relative to the strongest, below which a direction is no direction.
const RANK: f64 = 1e-6;

/// `q_1`: the right singular vectors of `B` with equal weights.
pub(super) fn exploration(
    context: &PlanContext<'_>,
    knowledge: &Knowledge<'_>,
    map: MatRef<'_, f64>,
    radius: f64,
) -> Result<TaskDesign> {
    let svd = linalg::svd(map, "the task map")?;
    let strong = |value: &&f64| **value > RANK * svd.s[0];
    let rank = svd.s.iter().filter(strong).count();
    let atoms = (0..rank).map(|direction| {
        let vector = linalg::column(svd.v.as_ref(), direction);
        let task: Vec<f64> = vector.iter().map(|value| radius * value).collect();
        DesignAtom {
            row: None,
            weight: 1.0 / rank as f64,
            embedding: source_embedding(knowledge.model, &task),
            task,
            similarity: None,
            risk_share: 1.0 / rank as f64,
        }
    });
    let mut design = Design::unscored(atoms.collect());
    design.orient(&knowledge.targets, true);
    Ok(TaskDesign::of(design, context.space))
}

/// `q_2`: for each eigenvector of `A` that counts, the shortest task that reaches it, all with equal
/// weights; `explored` samples of the round explore.
pub(super) fn exploitation(
    context: &PlanContext<'_>,
    knowledge: &Knowledge<'_>,
    map: MatRef<'_, f64>,
    (radius, explored): (f64, usize),
) -> Result<TaskDesign> {
    let (k, tasks) = (map.nrows() as f64, context.features.dim() as f64);
    let inputs = knowledge.model.representation.input_dim() as f64;
    let least = 8.0 * (k * tasks).powf(1.5) * (inputs / explored.max(1) as f64).sqrt();
    let need = clipped(knowledge.need.as_ref(), least)?;
    let mut design = ball::paper(map, need.as_ref(), radius)?;
    design.orient(&knowledge.targets, true);
    Ok(TaskDesign::of(design, context.space))
}

/// `A` without its eigenvalues below a threshold; the largest stays.
fn clipped(need: MatRef<'_, f64>, least: f64) -> Result<Mat<f64>> {
    let (values, vectors) = linalg::eigen(need, "the target moment")?;
    let mut out = Mat::zeros(need.nrows(), need.ncols());
    for (index, &value) in values.iter().enumerate() {
        if index > 0 && value < least {
            break;
        }
        let vector = vectors.as_ref().col(index).as_mat();
        out += faer::Scale(value) * linalg::product(vector, vector.transpose());
    }
    Ok(out)
}
