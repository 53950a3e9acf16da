//! Fewer tasks for a design on the ball.

use faer::{Mat, MatRef};

use super::{block, moment};
use crate::error::Result;
use crate::linalg;
use crate::optimal::{Design, DesignAtom, Problem};

/// Gathers the tasks of a design on a ball of plain parameters, where a search leaves many that are
/// nearly the same: `Σ_o B_o M B_oᵀ` depends on `M = Σ q_w w wᵀ` alone, so its few eigenvectors serve as
/// well. The weakest go while the value stays within the tolerance.
pub(super) fn gather(
    design: &mut Design,
    maps: &[MatRef<'_, f64>],
    problem: &Problem<'_>,
    radius: f64,
) -> Result<()> {
    let dim = design.atoms.first().map_or(0, |atom| atom.task.len());
    if dim == 0 || design.missed > 0.0 {
        return Ok(());
    }
    let tasks = Mat::from_fn(dim, design.atoms.len(), |i, j| {
        design.atoms[j].task[i] * design.atoms[j].weight.sqrt()
    });
    let svd = linalg::svd(tasks.as_ref(), "the tasks of a design")?;
    let need = moment(&problem.need, (design.directions(), maps.len()))?;
    let finest = design.lower_bound.unwrap_or(0.0) / (1.0 - problem.tolerance);
    let bearable = design.objective.max(finest);
    for count in 1..=svd.s.len().min(design.atoms.len()) {
        let total: f64 = svd.s[..count].iter().map(|s| s * s).sum();
        let atom = |j: usize| {
            let task: Vec<f64> = (0..dim).map(|i| radius * svd.u[(i, j)]).collect();
            DesignAtom {
                embedding: block(maps, &task),
                task,
                row: None,
                weight: svd.s[j] * svd.s[j] / total,
                similarity: None,
                risk_share: 0.0,
            }
        };
        let mut fewer = Design {
            atoms: (0..count).map(atom).collect(),
            ..design.clone()
        };
        let mut information = fewer.information();
        if let Some(given) = problem.given {
            information += given;
        }
        let value = problem
            .criterion
            .value(information.as_ref(), need.as_ref())?;
        if value <= bearable {
            fewer.objective = value;
            fewer.lower_bound = design.lower_bound.map(|bound| bound.min(value));
            fewer.explain_beside(need.as_ref(), problem.given)?;
            fewer.orient(&problem.need.targets(need.nrows() * maps.len()), true);
            *design = fewer;
            break;
        }
    }
    Ok(())
}
