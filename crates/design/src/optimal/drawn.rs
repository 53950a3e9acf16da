//! Spaces of many features as tables: a search of its own for every atom would take minutes.
//!
//! Tasks are drawn from the space, and corners of boxes are taken in an orthogonal pattern: the signs
//! of a Hadamard matrix, whose columns are balanced and orthogonal. In a box around zero, with
//! identity features and `A` diagonal, these corners are an optimum: no design has more than `h_i²`
//! of information on parameter `i`, they have it for all, and nothing beside the diagonal.
//!
//! No task of such a box scores more than `Σ |H_ij| h_i h_j`, which gives a bound there.

use faer::{Mat, MatRef};

use super::candidates::Candidates;
use super::problem::solve;
use super::searched::embeddings;
use super::{Criterion, Design, Problem};
use crate::error::Result;
use crate::features::Features;
use crate::linalg::wide;
use crate::rng::Rng;
use crate::space::{AxisBox, Space, TaskSpace as _};

/// Tasks drawn, as many for each feature, and in all at most.
const DRAWN: usize = 256;
const DRAWN_PER_FEATURE: usize = 8;
const MOST: usize = 20_000;
/// A bound further away than this says nothing.
const USEFUL: f64 = 0.1;

/// The design over tasks drawn from a space, whose embeddings are `B ψ(w)`.
pub(super) fn solve_drawn(
    space: &Space,
    features: &dyn Features,
    map: MatRef<'_, f64>,
    problem: &Problem<'_>,
    rng: &mut Rng,
) -> Result<Design> {
    let tasks = tasks(space, features, problem, rng)?;
    let rows = embeddings(&tasks, features, Some(map));
    let candidates = Candidates::new(map.nrows(), rows)?;
    let problem = Problem {
        start: &[],
        ..*problem
    };
    let mut design = solve(&candidates, &problem)?;
    for atom in &mut design.atoms {
        if let Some(row) = atom.row.take() {
            atom.task = tasks[row * space.dim()..(row + 1) * space.dim()].to_vec();
        }
    }
    // What no task of the table is better than, one of the space may be.
    design.lower_bound = match space {
        Space::Box(space) if features.is_identity() => bound(space, map, &design, &problem)?,
        _ => None,
    };
    Ok(design)
}

/// Tasks to choose from, row-major.
fn tasks(
    space: &Space,
    features: &dyn Features,
    problem: &Problem<'_>,
    rng: &mut Rng,
) -> Result<Vec<f64>> {
    let mut tasks: Vec<f64> = Vec::new();
    for atom in problem
        .start
        .iter()
        .filter(|atom| space.contains(&atom.task))
    {
        tasks.extend(&atom.task);
    }
    if let Space::Box(space) = space {
        tasks.extend(corners(space));
    }
    for _ in 0..(DRAWN + DRAWN_PER_FEATURE * features.dim()).min(MOST) {
        tasks.extend(space.sample(rng)?);
    }
    Ok(tasks)
}

/// Corners of a box in the pattern of a Hadamard matrix.
fn corners(space: &AxisBox) -> Vec<f64> {
    let dim = space.dim();
    let count = (dim + 1).next_power_of_two();
    let bounds = |j: usize| (space.low()[j], space.high()[j]);
    let corner = |i: usize| {
        (0..dim).map(move |j| {
            // The first column has the same sign everywhere and is left out.
            let (low, high) = bounds(j);
            if (i & (j + 1)).count_ones().is_multiple_of(2) {
                high
            } else {
                low
            }
        })
    };
    (0..count).flat_map(corner).collect()
}

/// A value that no design of a box is below, where one is known that says something.
fn bound(
    space: &AxisBox,
    map: MatRef<'_, f64>,
    design: &Design,
    problem: &Problem<'_>,
) -> Result<Option<f64>> {
    if problem.criterion != Criterion::Trace || problem.given.is_some() {
        return Ok(None);
    }
    let moment = problem.need.moment(map.nrows())?;
    let Some(factor) = wide::well_conditioned(design.information().as_ref()) else {
        return Ok(None);
    };
    // Columns of `Bᵀ Σ⁻¹`, and `H = Bᵀ Σ⁻¹ A Σ⁻¹ B`.
    let images = factor.solve(map);
    let half = wide::multiply(moment.as_ref(), images.as_ref());
    let form = wide::multiply(images.transpose(), half.as_ref());
    let size = |j: usize| space.low()[j].abs().max(space.high()[j].abs());
    let sizes: Vec<f64> = (0..space.dim()).map(size).collect();
    let largest: f64 = (0..form.ncols())
        .map(|j| {
            let along: f64 = (0..form.nrows())
                .map(|i| form[(i, j)].abs() * sizes[i])
                .sum();
            along * sizes[j]
        })
        .sum();
    let solved: Mat<f64> = factor.solve(moment.as_ref());
    let value: f64 = (0..solved.nrows()).map(|i| solved[(i, i)]).sum();
    let bound = (value * value / largest).min(design.objective);
    Ok((bound >= (1.0 - USEFUL) * design.objective).then_some(bound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::FeatureMap;
    use crate::optimal::Need;
    use crate::rng::{Purpose, derive};

    /// With half widths `h` and `A = I`, no design is below `Σ 1/h_i²`, and one is that good.
    #[test]
    fn a_box_around_zero_has_an_orthogonal_optimum() {
        let dim = 100;
        let half: Vec<f64> = (0..dim).map(|i| 0.5 + 0.03 * i as f64).collect();
        let low = half.iter().map(|h| -h).collect();
        let space = Space::boxed(low, half.clone()).unwrap();
        let features = FeatureMap::identity(dim).unwrap();
        let map = Mat::<f64>::identity(dim, dim);
        let problem = Problem::new(Criterion::Trace, Need::Everything);
        let mut rng = derive(1, Purpose::Search, &[]);
        let design = solve_drawn(&space, &features, map.as_ref(), &problem, &mut rng).unwrap();
        let best: f64 = half.iter().map(|h| h.powi(-2)).sum();
        assert!(
            (design.objective / best - 1.0).abs() < 2e-3,
            "{}",
            design.objective
        );
        let bound = design.lower_bound.unwrap();
        assert!(
            bound <= best * (1.0 + 1e-9) && bound > 0.95 * best,
            "{bound}, {best}"
        );
        assert!(design.atoms.iter().all(|atom| space.contains(&atom.task)));
    }

    #[test]
    fn corners_are_balanced_and_orthogonal() {
        let space = AxisBox::new(vec![-1.0; 5], vec![1.0; 5]).unwrap();
        let corners = corners(&space);
        for i in 0..5 {
            assert!(corners.chunks(5).map(|row| row[i]).sum::<f64>().abs() < 1e-12);
            for j in 0..i {
                let across: f64 = corners.chunks(5).map(|row| row[i] * row[j]).sum();
                assert!(across.abs() < 1e-12);
            }
        }
    }
}
