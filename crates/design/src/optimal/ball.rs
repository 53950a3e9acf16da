//! Closed forms on the ball `‖w‖ ≤ r` with `c_w = B w`.
//!
//! Let `B = U S Vᵀ` and `Ã = S⁻¹ Uᵀ A U S⁻¹` (the paper's `S^-½ A S^-½` in the basis `U`). Any design
//! on the unit ball has `Σ = B M Bᵀ` with `M ⪰ 0`, `tr M ≤ 1`, and only its part `V P Vᵀ` in the row
//! space of `B` counts, so the problem is one over `P` alone:
//!
//! - trace: `min tr(P⁻¹ Ã)` is attained at `P = Ã^½ / tr Ã^½`, with value `(tr Ã^½)²`;
//! - max-eigenvalue: `min λ_max(P⁻¹ Ã)` is attained at `P = Ã / tr Ã`, with value `tr Ã`.
//!
//! The design puts the eigenvalues of `P` on the tasks `V e_i`, `e_i` its eigenvectors.

use faer::{Mat, MatRef};

use super::{Criterion, Design, DesignAtom};
use crate::error::{Error, Result};
use crate::linalg::{self, Svd};

/// Singular values of `B` below this part of the largest count as zero.
const RANK_TOLERANCE: f64 = 1e-10;
/// Part of `A` that may lie outside the reach of `B` before it is an error.
const REACH_TOLERANCE: f64 = 1e-6;
/// Eigenvalues below this part of the largest are rounding, not need: a task each would be wasted.
const EIGENVALUE_FLOOR: f64 = 1e-12;

/// The optimal design for the source map `B` (`k × d`), the need `A` (`k × k`) and a radius.
///
/// # Errors
/// A need that no task of the ball reaches, or matrices of the wrong shape or with values that are
/// not finite.
pub fn optimal(
    map: MatRef<'_, f64>,
    need: MatRef<'_, f64>,
    criterion: Criterion,
    radius: f64,
) -> Result<Design> {
    let svd = reachable(map, need, radius)?;
    let k = svd.s.len();
    let half = linalg::product(svd.u.transpose(), need);
    let rotated = linalg::product(half.as_ref(), svd.u.as_ref());
    let whitened = Mat::from_fn(k, k, |i, j| rotated[(i, j)] / (svd.s[i] * svd.s[j]));
    let (values, vectors) = linalg::eigen(whitened.as_ref(), "the whitened target moment")?;
    let floor = EIGENVALUE_FLOOR * values.first().copied().unwrap_or(0.0);
    let weights: Vec<f64> = values
        .iter()
        .map(|&value| match criterion {
            _ if value <= floor => 0.0,
            Criterion::Trace => value.sqrt(),
            Criterion::MaxEigenvalue => value,
        })
        .collect();
    let total: f64 = weights.iter().sum();
    if total <= 0.0 {
        return Err(Error::setting(
            "target",
            "has a zero second moment: there is nothing to design for",
        ));
    }
    let directions = linalg::product(svd.v.as_ref(), vectors.as_ref());
    let objective = match criterion {
        Criterion::Trace => total * total,
        Criterion::MaxEigenvalue => total,
    } / (radius * radius);
    let weighted = weights
        .iter()
        .enumerate()
        .map(|(i, weight)| (linalg::column(directions.as_ref(), i), weight / total));
    let mut design = assemble(map, weighted, radius);
    design.criterion = Some(criterion);
    design.objective = objective;
    design.lower_bound = Some(objective);
    design.explain(need)?;
    Ok(design)
}

/// The paper's construction: for every eigenpair `(λ_i, u_i)` of the need, the shortest task with
/// `B w = u_i √λ_i`, normalised, all with equal weights.
///
/// # Errors
/// As [`optimal`].
pub fn paper(map: MatRef<'_, f64>, need: MatRef<'_, f64>, radius: f64) -> Result<Design> {
    reachable(map, need, radius)?;
    let inverse = linalg::pseudo_inverse(map, RANK_TOLERANCE)?;
    let (values, vectors) = linalg::eigen(need, "the target moment")?;
    let largest = values.first().copied().unwrap_or(0.0);
    let kept: Vec<Vec<f64>> = values
        .iter()
        .enumerate()
        .filter(|(_, value)| **value > EIGENVALUE_FLOOR * largest && **value > 0.0)
        .map(|(i, _)| linalg::apply(inverse.as_ref(), &linalg::column(vectors.as_ref(), i)))
        .map(|task| {
            let length = linalg::norm(&task);
            task.into_iter().map(|value| value / length).collect()
        })
        .collect();
    if kept.is_empty() {
        return Err(Error::setting(
            "target",
            "has a zero second moment: there is nothing to design for",
        ));
    }
    let weight = 1.0 / kept.len() as f64;
    let mut design = assemble(map, kept.into_iter().map(|task| (task, weight)), radius);
    design.objective = Criterion::MaxEigenvalue.value(design.information().as_ref(), need)?;
    design.explain(need)?;
    Ok(design)
}

/// Decomposes `B` and checks that the need lies within what it reaches.
fn reachable(map: MatRef<'_, f64>, need: MatRef<'_, f64>, radius: f64) -> Result<Svd> {
    Error::check_length("the target moment", map.nrows(), need.nrows())?;
    Error::check_length("the target moment", map.nrows(), need.ncols())?;
    if !(radius > 0.0 && radius.is_finite()) {
        return Err(Error::setting(
            "radius",
            format!("is {radius}: it must be positive and finite"),
        ));
    }
    let Svd { u, s, v } = linalg::svd(map, "the source part of the task map")?;
    let floor = RANK_TOLERANCE * s.first().copied().unwrap_or(0.0);
    let rank = s
        .iter()
        .filter(|&&value| value > floor && value > 0.0)
        .count();
    let total: f64 = (0..need.nrows()).map(|i| need[(i, i)]).sum();
    let inside: f64 = (0..rank)
        .map(|j| linalg::quadratic(need, &linalg::column(u.as_ref(), j)))
        .sum();
    if total - inside > REACH_TOLERANCE * total.abs() || rank == 0 {
        return Err(Error::RankDeficient {
            what: format!(
                "the source part of the task map, which misses {:.1} % of what the target needs,",
                100.0 * (total - inside) / total.max(f64::MIN_POSITIVE)
            ),
            rank,
            needed: map.nrows(),
            remedy: "widen the task space, or use a smaller k".into(),
        });
    }
    Ok(Svd {
        u: u.subcols(0, rank).to_owned(),
        s: s[..rank].to_vec(),
        v: v.subcols(0, rank).to_owned(),
    })
}

fn assemble(
    map: MatRef<'_, f64>,
    weighted: impl Iterator<Item = (Vec<f64>, f64)>,
    radius: f64,
) -> Design {
    let mut atoms: Vec<DesignAtom> = weighted
        .filter(|(_, weight)| *weight > 0.0)
        .map(|(direction, weight)| {
            let task: Vec<f64> = direction.into_iter().map(|value| value * radius).collect();
            let embedding = linalg::apply(map, &task);
            DesignAtom {
                task,
                row: None,
                weight,
                embedding,
                similarity: None,
                risk_share: 0.0,
            }
        })
        .collect();
    atoms.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let total: f64 = atoms.iter().map(|atom| atom.weight).sum();
    atoms.iter_mut().for_each(|atom| atom.weight /= total);
    Design::unscored(atoms)
}
