//! Designs for a single direction in large tables, by Elfving's theorem (Elfving 1952).
//!
//! For `A = c_0 c_0ᵀ` the trace optimum is `‖ν‖₁²` with the shortest `ν` that writes `c_0` as a combination of the candidates. Its
//! information is singular where few tasks do, and no dual point that weights imply then proves much: the search over weights
//! ends far from its bound. The linear program has a dual of its own, `max c_0ᵀy` subject to `|c_iᵀy| ≤ 1`. It is solved on some
//! candidates; those that its dual point rates above one enter, until all candidates together certify it.

use faer::Mat;

use super::discrete::shortest;
use super::frame::Factor;
use super::frank_wolfe::{self, AtomSource as _, CandidateAtom, Key, Solution};
use super::listed::Listed;
use super::scan::Scored;
use super::{Candidates, Problem};
use crate::error::Result;
use crate::linalg::{self, dot, wide};

/// Linear programs at most.
const PROGRAMS: usize = 60;
/// Candidates that enter at once, for each direction.
const ENTERING: usize = 4;
/// Numbers that the search over weights may read before the linear program takes over, and its passes at least and at most.
const READ: usize = 200_000_000;
const PASSES: (usize, usize) = (12, 60);

/// Solves a problem over a table: by a search over weights, and where that ends above the gap asked for, and a single direction is needed, by
/// linear programs.
pub(super) fn solve(
    source: &mut Listed<'_>,
    candidates: &Candidates<'_>,
    problem: &Problem<'_>,
    known: &[CandidateAtom],
) -> Result<Solution> {
    problem.check()?;
    let other = problem.given.is_some() || candidates.is_limited();
    if other || source.frame().rank() >= wide::WIDE {
        return frank_wolfe::solve(source, problem, known);
    }
    let need = source.frame().need(&problem.need, problem.partial)?;
    if need.l.ncols() != 1 {
        return frank_wolfe::solve(source, problem, known);
    }
    let passes = (READ / candidates.rows().len().max(1)).clamp(PASSES.0, PASSES.1);
    let early = Problem {
        max_iterations: problem.max_iterations.min(passes),
        ..*problem
    };
    let solution = frank_wolfe::solve(source, &early, known)?;
    let bound = solution.lower_bound.unwrap_or(0.0);
    if bound >= solution.objective * (1.0 - problem.tolerance) {
        return Ok(solution);
    }
    by_programs(source, &need, problem.tolerance, solution)
}

/// What linear programs make of a solution; the solution itself where they do no better.
fn by_programs(
    source: &mut Listed<'_>,
    need: &Factor,
    tolerance: f64,
    found: Solution,
) -> Result<Solution> {
    let target = linalg::column(need.l.as_ref(), 0);
    let scale = need.scale * need.scale;
    let mut atoms = found.atoms.clone();
    for atom in source.first()? {
        if atoms.iter().all(|other| other.key != atom.key) {
            atoms.push(atom);
        }
    }
    let mut best = found;
    for _ in 0..PROGRAMS {
        let columns: Vec<f64> = atoms.iter().flat_map(|atom| atom.column.clone()).collect();
        // Tasks that are nearly equal may leave a program without a certificate: the search over weights stands.
        let Ok((nu, dual)) = shortest(&columns, target.len(), &target) else {
            break;
        };
        let factor = Mat::from_fn(1, dual.len(), |_, j| dual[j]);
        let factor = linalg::product(factor.as_ref(), source.frame().to.as_ref());
        let scores = source.rows().scores(factor.as_ref());
        let most = scores.iter().copied().fold(0.0, f64::max);
        let proven = dot(&dual, &target).powi(2) / most * scale;
        let bound = best.lower_bound.unwrap_or(0.0).max(proven);
        let norm: f64 = nu.iter().map(|nu| nu.abs()).sum();
        let objective = norm * norm * scale;
        best.iterations += 1;
        if objective < best.objective {
            let shares = nu.iter().map(|nu| nu.abs() / norm);
            let used = atoms.iter().zip(shares).filter(|(_, share)| *share > 0.0);
            let (kept, weights): (Vec<_>, Vec<_>) =
                used.map(|(atom, share)| (atom.clone(), share)).unzip();
            best = Solution {
                atoms: kept,
                shares: weights.clone(),
                weights,
                objective,
                ..best
            };
        }
        best.lower_bound = Some(bound.min(best.objective));
        if bound >= best.objective * (1.0 - tolerance) {
            break;
        }
        if !enter(source, &mut atoms, &scores, ENTERING * target.len()) {
            break;
        }
    }
    Ok(best)
}

/// Takes in the candidates that a dual point rates highest above one; whether there are any.
fn enter(source: &Listed<'_>, atoms: &mut Vec<CandidateAtom>, scores: &[f64], most: usize) -> bool {
    let above = scores.iter().enumerate().filter(|(_, score)| **score > 1.0);
    let mut above: Vec<Scored> = above
        .map(|(index, &score)| Scored { index, score })
        .filter(|one| atoms.iter().all(|atom| atom.key != Key::Row(one.index)))
        .collect();
    let order = |a: &Scored, b: &Scored| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index));
    if above.len() > most {
        above.select_nth_unstable_by(most, order);
        above.truncate(most);
    }
    above.sort_unstable_by(order);
    atoms.extend(above.iter().map(|one| source.atom(one.index)));
    !above.is_empty()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::discrete::{Relevance, relevance};
    use super::super::{Criterion, Need, solve};
    use super::*;
    use crate::features::{FeatureMap, Features as _};
    use crate::rng::{Purpose, derive, normal};

    /// A target amid many tasks with cubic features: one task nearly is the target, so the information of the optimum is nearly singular.
    #[test]
    fn one_target_amid_many_tasks_is_certified_and_is_the_shortest_combination() {
        let features = FeatureMap::polynomial(3, 3, true).unwrap();
        let mut rng = derive(3, Purpose::Test, &[]);
        let tasks: Vec<f64> = (0..3 * 6000).map(|_| normal(&mut rng)).collect();
        let mapped = |tasks: &[f64]| {
            let mut rows = vec![0.0; tasks.len() / 3 * features.dim()];
            features.apply(tasks, &mut rows);
            rows
        };
        let (rows, target) = (mapped(&tasks), mapped(&[0.3, -0.8, 0.5]));
        let candidates = Candidates::new(features.dim(), rows.clone()).unwrap();
        let need = Need::Targets {
            rows: &target,
            weights: None,
        };
        let design = solve(&candidates, &Problem::new(Criterion::Trace, need)).unwrap();
        let shortest = relevance(Relevance::L1, &rows, features.dim(), &target).unwrap();
        let optimum = shortest.norm * shortest.norm;
        assert!(design.gap().unwrap() <= 1e-4, "{:?}", design.gap());
        assert!((design.objective / optimum - 1.0).abs() <= 2e-4);
        assert!(design.lower_bound.unwrap() <= optimum * (1.0 + 1e-6));
        let weight: f64 = design.atoms.iter().map(|atom| atom.weight).sum();
        assert!((weight - 1.0).abs() < 1e-9);
    }
}
