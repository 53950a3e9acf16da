//! Lists of atoms and their weights.

use faer::Mat;

use super::atom_source::CandidateAtom;
use crate::linalg::{self, wide};
use crate::optimal::master::Dual;

/// Scores this little above those in use do not justify another atom.
const WORTHWHILE: f64 = 1e-9;
/// Cosine, in the metric of the information, above which two new atoms say the same.
const SIMILAR: f64 = 0.9;

/// The columns of some atoms, side by side.
pub(super) fn columns(atoms: &[CandidateAtom], rank: usize) -> Mat<f64> {
    let width = atoms
        .first()
        .map_or(1, |atom| (atom.column.len() / rank.max(1)).max(1));
    Mat::from_fn(rank, atoms.len() * width, |i, j| {
        atoms[j / width].column[(j % width) * rank + i]
    })
}

/// The scores of some atoms.
pub(super) fn scores(dual: &Dual, atoms: &[CandidateAtom]) -> Vec<f64> {
    let rank = dual.factor.ncols();
    let one_column = atoms.first().is_some_and(|atom| atom.column.len() == rank);
    if rank >= wide::WIDE && one_column {
        return wide::squared_images(dual.factor.as_ref(), columns(atoms, rank).as_ref());
    }
    let score = |atom: &CandidateAtom| dual.score(&atom.column);
    atoms.iter().map(score).collect()
}

/// The largest shares that some atoms may have.
pub(super) fn limits(atoms: &[CandidateAtom]) -> Vec<f64> {
    atoms.iter().map(|atom| atom.limit).collect()
}

/// Makes weights sum to one within their limits, as near to their proportions as that allows.
pub(in crate::optimal) fn normalise(q: &mut [f64], limits: &[f64]) {
    let total: f64 = q.iter().sum();
    q.iter_mut().for_each(|q| *q /= total);
    for _ in 0..q.len() + 1 {
        let full = |i: &usize| q[*i] >= limits[*i];
        let (fixed, free): (Vec<usize>, Vec<usize>) = (0..q.len()).partition(full);
        let left = 1.0 - fixed.iter().map(|&i| limits[i]).sum::<f64>();
        let total: f64 = free.iter().map(|&i| q[i]).sum();
        fixed.iter().for_each(|&i| q[i] = limits[i]);
        if total <= 0.0 || (left / total - 1.0).abs() < 1e-12 {
            return;
        }
        free.iter().for_each(|&i| q[i] *= (left / total).max(0.0));
    }
}

/// Drops the lightest atoms that weigh no more than `share` together.
pub(super) fn drop_negligible(atoms: &mut Vec<CandidateAtom>, q: &mut Vec<f64>, share: f64) {
    let mut order: Vec<usize> = (0..q.len()).collect();
    order.sort_by(|&a, &b| q[a].total_cmp(&q[b]));
    let mut dropped = vec![false; q.len()];
    let mut sum = 0.0;
    for i in order {
        sum += q[i];
        if sum > share {
            break;
        }
        dropped[i] = true;
    }
    let capacity: f64 = atoms
        .iter()
        .zip(&dropped)
        .filter(|(_, gone)| !**gone)
        .map(|(a, _)| a.limit)
        .sum();
    if capacity < 1.0 {
        return;
    }
    retain(atoms, q, &dropped);
    let limits = limits(atoms);
    normalise(q, &limits);
}

/// Removes the atoms that are gone.
pub(super) fn retain(atoms: &mut Vec<CandidateAtom>, q: &mut Vec<f64>, gone: &[bool]) {
    let mut left = gone.iter().map(|gone| !gone);
    atoms.retain(|_| left.next().unwrap_or(true));
    let mut left = gone.iter().map(|gone| !gone);
    q.retain(|_| left.next().unwrap_or(true));
}

/// Squared distance of two atoms relative to their size, whatever their signs.
pub(super) fn distance(a: &CandidateAtom, b: &CandidateAtom) -> f64 {
    let both = linalg::dot(&a.column, &b.column).abs();
    let (left, right) = (
        linalg::dot(&a.column, &a.column),
        linalg::dot(&b.column, &b.column),
    );
    (left + right - 2.0 * both) / left.max(right).max(f64::MIN_POSITIVE)
}

/// Of atoms by falling score, those that differ from the ones before, at most `count`.
pub(in crate::optimal) fn diverse(
    atoms: impl Iterator<Item = CandidateAtom>,
    count: usize,
) -> Vec<CandidateAtom> {
    let mut chosen: Vec<CandidateAtom> = Vec::new();
    for atom in atoms {
        let similar =
            |other: &CandidateAtom| linalg::cosine(&other.column, &atom.column).abs() > SIMILAR;
        if !chosen.iter().any(similar) {
            chosen.push(atom);
        }
        if chosen.len() == count {
            break;
        }
    }
    chosen
}

/// Whether a score justifies an atom beside a best one in use.
pub(in crate::optimal) fn worthwhile(score: f64, floor: f64) -> bool {
    score > floor * (1.0 + WORTHWHILE)
}
