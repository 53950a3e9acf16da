//! Fully corrective Frank–Wolfe with a certified gap.
//!
//! Start from a few atoms that span the space. Weigh them as well as possible (`master`), ask for
//! the atoms with the largest scores under the dual point that belongs to the weights, add those and
//! weigh again. The same scores bound from below what any design could reach; the loop ends when
//! that bound is within a tolerance of the value. Atoms whose weights vanish are dropped.
//!
//! Re-optimising all weights in every step takes 5 to 10 passes over the candidates where plain
//! Frank–Wolfe takes hundreds.

use std::cell::Cell;

use faer::{Mat, MatRef};

use super::frame::{Factor, Frame};
use super::master::{Dual, Master, RIDGE, RIDGES_BESIDE_GIVEN, Weights, support, weighted};
use super::{Criterion, Problem, warm};
use crate::error::{Error, Result};
use crate::linalg::{self, wide};

/// Weight, relative to the gap, that may be dropped between two steps.
const CRUMBS: f64 = 1e-3;
/// Scores this little above those in use are not worth another atom.
const WORTHWHILE: f64 = 1e-9;
/// Cosine, in the metric of the information, above which two new atoms say the same.
const SIMILAR: f64 = 0.9;
/// Squared distance, relative to their size, below which two searched tasks may be one.
const NEAR: f64 = 0.01;
/// The finest gap that weights are asked for.
const FINEST: f64 = 1e-11;

/// Which task an atom is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Key {
    /// A row of a table.
    Row(usize),
    /// Parameters.
    Task(Vec<f64>),
}

/// A task that a design may use.
#[derive(Debug, Clone)]
pub(super) struct Atom {
    pub(super) key: Key,
    /// Its embedding in the frame, divided by the root of its cost; of several outputs, one column
    /// after the other.
    pub(super) column: Vec<f64>,
    /// The largest share it may have.
    pub(super) limit: f64,
}

/// What a source offers for a dual point.
#[derive(Debug)]
pub(super) struct Offer {
    /// Atoms by falling score.
    pub(super) atoms: Vec<Atom>,
    /// `max_q Σ q_i ‖R c_i‖²` over all designs, or the best found.
    pub(super) support: f64,
    /// Whether no task can raise it.
    pub(super) exact: bool,
}

/// Where atoms come from.
pub(super) trait Source {
    /// The coordinates to work in.
    fn frame(&self) -> &Frame;

    /// Atoms to start from, which span the frame and whose limits leave room for the budget.
    fn first(&mut self) -> Result<Vec<Atom>>;

    /// Atoms and weights to start from, where there is something better than those of [`first`].
    ///
    /// [`first`]: Source::first
    fn start(&mut self, _master: &Master<'_>) -> Result<Option<warm::Start>> {
        Ok(None)
    }

    /// The best atoms for a dual point, given the best score among those in use.
    fn best(&mut self, dual: &Dual, floor: f64) -> Result<Offer>;

    /// Whether its searches have taken all that they may.
    fn is_spent(&self) -> bool {
        false
    }

    /// Told where the solver stands, a source may forget tasks that no optimum uses.
    fn screen(&mut self, _stand: &Stand<'_>) -> Result<()> {
        Ok(())
    }

    /// Remembers all tasks again; whether any had been forgotten.
    fn restore(&mut self) -> bool {
        false
    }
}

/// Where the solver stands.
pub(super) struct Stand<'a> {
    pub(super) criterion: Criterion,
    pub(super) dual: &'a Dual,
    /// `Σ(q)`, in the frame.
    pub(super) information: Mat<f64>,
    pub(super) value: f64,
    pub(super) lower_bound: f64,
}

/// A solved design, in the frame.
#[derive(Debug)]
pub(super) struct Solution {
    pub(super) atoms: Vec<Atom>,
    pub(super) weights: Vec<f64>,
    /// Each atom's share of the value.
    pub(super) shares: Vec<f64>,
    pub(super) objective: f64,
    pub(super) lower_bound: Option<f64>,
    pub(super) iterations: usize,
    /// Part of the need that is out of reach.
    pub(super) missed: f64,
}

/// Solves a design problem over the atoms of a source, starting from `known` ones if there are any.
pub(super) fn solve(
    source: &mut dyn Source,
    problem: &Problem<'_>,
    known: &[Atom],
) -> Result<Solution> {
    problem.check()?;
    let need = source.frame().need(&problem.need, problem.partial)?;
    let rank = source.frame().rank();
    let given = match problem.given {
        None => Mat::zeros(rank, rank),
        Some(given) => source.frame().congruent(given),
    };
    if !linalg::is_finite(given.as_ref()) {
        return Err(Error::setting(
            "given",
            "is not finite in the scale of the candidates",
        ));
    }
    // For a single direction both criteria are the same, and the trace is the easier one.
    let criterion = match problem.criterion {
        Criterion::MaxEigenvalue if need.l.ncols() > 1 => Criterion::MaxEigenvalue,
        _ => Criterion::Trace,
    };
    let effort = Cell::new(problem.effort);
    let attempt = |source: &mut dyn Source, given: &Mat<f64>, ridge: f64| {
        let solver = Solver {
            master: Master {
                criterion,
                need: need.l.as_ref(),
                given: given.as_ref(),
                ridge,
                effort: &effort,
            },
            tolerance: problem.tolerance,
            max_iterations: problem.max_iterations,
        };
        let solved = solver.run(source, known)?;
        solver.finish(solved, &need)
    };
    let mut solved = attempt(source, &given, RIDGE);
    if !matches!(solved, Err(Error::Numerical { .. })) || problem.given.is_none() {
        return solved;
    }
    // Far more information in one direction than in another leaves no digits for the latter.
    let (given, top) = trusted(given.as_ref())?;
    for ridge in [RIDGE]
        .into_iter()
        .chain(RIDGES_BESIDE_GIVEN.map(|share| share * top))
    {
        source.restore();
        solved = attempt(source, &given, ridge.max(RIDGE));
        if !matches!(solved, Err(Error::Numerical { .. })) {
            break;
        }
    }
    solved
}

/// Information without the directions in which it is nothing but rounding, as its negative
/// eigenvalues are, and its largest eigenvalue.
fn trusted(given: MatRef<'_, f64>) -> Result<(Mat<f64>, f64)> {
    let (values, vectors) = linalg::eigen(given, "the information given")?;
    let top = values.first().copied().unwrap_or(0.0).max(0.0);
    let least = values.last().copied().unwrap_or(0.0);
    let floor = (-2.0 * least).max(1e-15 * top);
    let kept = values.iter().take_while(|&&value| value > floor).count();
    let root = Mat::from_fn(given.nrows(), kept, |i, j| {
        vectors[(i, j)] * values[j].sqrt()
    });
    Ok((linalg::product(root.as_ref(), root.transpose()), top))
}

struct Solver<'a> {
    master: Master<'a>,
    tolerance: f64,
    max_iterations: usize,
}

/// The state of a run when it ends.
struct Run {
    /// Atoms that span the frame, in case those in use do not.
    spanning: Vec<Atom>,
    atoms: Vec<Atom>,
    weights: Weights,
    lower_bound: f64,
    exact: bool,
    iterations: usize,
}

impl Solver<'_> {
    fn run(&self, source: &mut dyn Source, known: &[Atom]) -> Result<Run> {
        let (spanning, start) = match source.start(&self.master)? {
            Some((atoms, weights)) => (atoms, Some(weights)),
            None => (source.first()?, None),
        };
        let mut atoms: Vec<Atom> = Vec::new();
        for atom in known {
            if !atoms.iter().any(|other| other.key == atom.key) {
                atoms.push(atom.clone());
            }
        }
        let known = atoms.len();
        for atom in &spanning {
            if !atoms.iter().any(|other| other.key == atom.key) {
                atoms.push(atom.clone());
            }
        }
        // A start that is nearly there is worth weighing well at once.
        let mut inner = match start {
            None => 0.1_f64,
            Some(_) => 0.25 * self.tolerance,
        };
        // What is known gets most of the start's weight.
        let mut q: Vec<f64> = match start {
            Some(weights) if known == 0 => weights,
            _ => (0..atoms.len())
                .map(|i| if known > 0 && i >= known { 0.05 } else { 1.0 })
                .collect(),
        };
        normalise(&mut q, &limits(&atoms));
        let (mut lower_bound, mut screened) = (0.0_f64, 0.4);
        let mut iterations = 0;
        let mut exact = true;
        let weights = loop {
            iterations += 1;
            let inner_tolerance = inner.max(FINEST);
            let weights = self.master.solve(
                self.columns(&atoms).as_ref(),
                &limits(&atoms),
                &q,
                inner_tolerance,
            )?;
            let scores = scores(&weights.dual, &atoms);
            let floor = scores.iter().copied().fold(0.0, f64::max);
            let in_use = support(&scores, &limits(&atoms));
            let bound = |offer: &Offer| weights.dual.bound(offer.support.max(in_use));
            let mut offer = source.best(&weights.dual, floor)?;
            exact &= offer.exact;
            lower_bound = lower_bound.max(bound(&offer));
            let last =
                iterations >= self.max_iterations || source.is_spent() || !self.master.may_go_on();
            let done =
                |lower_bound: f64| 1.0 - lower_bound / weights.value <= self.tolerance || last;
            if done(lower_bound) && source.restore() {
                // The certificate is a fact about all candidates: the last look is at each of them.
                offer = source.best(&weights.dual, floor)?;
                lower_bound = bound(&offer);
            }
            if done(lower_bound) {
                break weights;
            }
            let gap = 1.0 - lower_bound / weights.value;
            if gap < 0.25 * screened {
                screened = gap;
                let columns = self.columns(&atoms);
                source.screen(&Stand {
                    criterion: self.master.criterion,
                    dual: &weights.dual,
                    information: self.master.information(columns.as_ref(), &weights.q),
                    value: weights.value,
                    lower_bound,
                })?;
            }
            q.clone_from(&weights.q);
            drop_crumbs(&mut atoms, &mut q, CRUMBS * gap.min(0.1));
            let before = atoms.len();
            for atom in offer.atoms {
                if !atoms.iter().any(|other| other.key == atom.key) {
                    atoms.push(atom);
                    q.push(0.0);
                }
            }
            if atoms.len() == before {
                // All the best are in use: what is left of the gap is in the weights.
                if inner_tolerance <= FINEST && !source.restore() {
                    break Weights { q, ..weights };
                }
                inner *= 1e-2;
            } else {
                inner = inner.min(0.2 * gap);
            }
        };
        Ok(Run {
            spanning,
            atoms,
            weights,
            lower_bound,
            exact,
            iterations,
        })
    }

    /// The exact value without the solver's ridge, and what each atom contributes.
    fn finish(&self, run: Run, need: &Factor) -> Result<Solution> {
        let Run {
            spanning,
            atoms,
            weights,
            lower_bound,
            exact,
            iterations,
        } = run;
        let (mut kept, mut q) = (atoms.clone(), weights.q.clone());
        drop_crumbs(&mut kept, &mut q, 0.05 * self.tolerance.min(1e-2));
        let mut value = self.exact(&kept, &q)?;
        let allowed = weights.value.max(lower_bound / (1.0 - self.tolerance));
        if value.is_nan() || value > allowed {
            (kept, q) = (atoms, weights.q);
            value = self.exact(&kept, &q)?;
        }
        let bearable = allowed.max(value) * (1.0 + self.tolerance);
        value = self.merge(&mut kept, &mut q, value, bearable)?;
        // Directions that matter so little that the ridge hid them still have to be reached.
        let mut share = 1e-6;
        let unlimited = limits(&kept).iter().all(|&limit| limit >= 1.0);
        while !value.is_finite() && unlimited && share < 1e-2 {
            let mut mixed = kept.clone();
            let mut weights: Vec<f64> = q.iter().map(|q| q * (1.0 - share)).collect();
            for atom in &spanning {
                let part = share / spanning.len() as f64;
                match mixed.iter().position(|other| other.key == atom.key) {
                    Some(place) => weights[place] += part,
                    None => {
                        mixed.push(atom.clone());
                        weights.push(part);
                    }
                }
            }
            value = self.exact(&mixed, &weights)?;
            if value.is_finite() {
                (kept, q) = (mixed, weights);
                break;
            }
            share *= 10.0;
        }
        let scale = need.scale * need.scale;
        let objective = value * scale;
        if !(objective.is_finite() && objective > 0.0) {
            return Err(Error::numerical(
                "computing a design",
                "its value is beyond the range of numbers; rescale the candidates, the targets or what is given",
            ));
        }
        let scores: Vec<f64> = scores(&weights.dual, &kept)
            .iter()
            .zip(&q)
            .map(|(score, q)| q * score)
            .collect();
        let total: f64 = scores.iter().sum();
        Ok(Solution {
            shares: if total > 0.0 {
                scores.iter().map(|score| score / total).collect()
            } else {
                q.clone()
            },
            atoms: kept,
            weights: q,
            objective,
            // By rounding it may seem above the value; by more, it would be no bound.
            lower_bound: Some(lower_bound * scale)
                .filter(|bound| exact && *bound <= objective * (1.0 + 1e-6))
                .map(|bound| bound.min(objective)),
            iterations,
            missed: need.missed,
        })
    }

    /// Gives the weight of searched tasks to heavier ones next to them, while the value bears it:
    /// a search finds the same top twice, and two tasks cost a switch.
    fn merge(
        &self,
        atoms: &mut Vec<Atom>,
        q: &mut Vec<f64>,
        mut value: f64,
        bearable: f64,
    ) -> Result<f64> {
        let mut order: Vec<usize> = (0..atoms.len())
            .filter(|&i| matches!(atoms[i].key, Key::Task(_)))
            .collect();
        order.sort_by(|&a, &b| q[a].total_cmp(&q[b]));
        let mut gone = vec![false; atoms.len()];
        for (place, &light) in order.iter().enumerate() {
            let far = |other: usize| distance(&atoms[light], &atoms[other]);
            let heavier = order[place + 1..].iter().copied();
            let Some(nearest) = heavier.min_by(|&a, &b| far(a).total_cmp(&far(b))) else {
                break;
            };
            if far(nearest) > NEAR {
                continue;
            }
            let mut trial = q.clone();
            trial[nearest] += trial[light];
            trial[light] = 0.0;
            let merged = self.exact(atoms, &trial)?;
            if merged <= bearable {
                (*q, value) = (trial, merged);
                gone[light] = true;
            }
        }
        retain(atoms, q, &gone);
        Ok(value)
    }

    /// The atoms as columns.
    fn columns(&self, atoms: &[Atom]) -> Mat<f64> {
        columns(atoms, self.master.need.nrows())
    }

    /// The value of weights without the ridge; infinite if the need is not reached.
    fn exact(&self, atoms: &[Atom], q: &[f64]) -> Result<f64> {
        let columns = self.columns(atoms);
        let weighted = weighted(columns.as_ref(), q);
        let mut information = linalg::product(weighted.as_ref(), columns.transpose());
        information += self.master.given;
        let need = linalg::product(self.master.need, self.master.need.transpose());
        self.master
            .criterion
            .value(information.as_ref(), need.as_ref())
    }
}

/// The columns of some atoms, side by side.
fn columns(atoms: &[Atom], rank: usize) -> Mat<f64> {
    let width = atoms
        .first()
        .map_or(1, |atom| (atom.column.len() / rank.max(1)).max(1));
    Mat::from_fn(rank, atoms.len() * width, |i, j| {
        atoms[j / width].column[(j % width) * rank + i]
    })
}

/// The scores of some atoms.
fn scores(dual: &Dual, atoms: &[Atom]) -> Vec<f64> {
    let rank = dual.factor.ncols();
    let one_column = atoms.first().is_some_and(|atom| atom.column.len() == rank);
    if rank >= wide::WIDE && one_column {
        return wide::squared_images(dual.factor.as_ref(), columns(atoms, rank).as_ref());
    }
    let score = |atom: &Atom| dual.score(&atom.column);
    atoms.iter().map(score).collect()
}

fn limits(atoms: &[Atom]) -> Vec<f64> {
    atoms.iter().map(|atom| atom.limit).collect()
}

/// Makes weights sum to one within their limits, as near to their proportions as that allows.
pub(super) fn normalise(q: &mut [f64], limits: &[f64]) {
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
fn drop_crumbs(atoms: &mut Vec<Atom>, q: &mut Vec<f64>, share: f64) {
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
    let room: f64 = atoms
        .iter()
        .zip(&dropped)
        .filter(|(_, gone)| !**gone)
        .map(|(a, _)| a.limit)
        .sum();
    if room < 1.0 {
        return;
    }
    retain(atoms, q, &dropped);
    let limits = limits(atoms);
    normalise(q, &limits);
}

/// Removes the atoms that are gone.
fn retain(atoms: &mut Vec<Atom>, q: &mut Vec<f64>, gone: &[bool]) {
    let mut left = gone.iter().map(|gone| !gone);
    atoms.retain(|_| left.next().unwrap_or(true));
    let mut left = gone.iter().map(|gone| !gone);
    q.retain(|_| left.next().unwrap_or(true));
}

/// Squared distance of two atoms relative to their size, whatever their signs.
fn distance(a: &Atom, b: &Atom) -> f64 {
    let both = linalg::dot(&a.column, &b.column).abs();
    let (left, right) = (
        linalg::dot(&a.column, &a.column),
        linalg::dot(&b.column, &b.column),
    );
    (left + right - 2.0 * both) / left.max(right).max(f64::MIN_POSITIVE)
}

/// Of atoms by falling score, those that differ from the ones before, at most `count`.
pub(super) fn diverse(atoms: impl Iterator<Item = Atom>, count: usize) -> Vec<Atom> {
    let mut chosen: Vec<Atom> = Vec::new();
    for atom in atoms {
        let similar = |other: &Atom| linalg::cosine(&other.column, &atom.column).abs() > SIMILAR;
        if !chosen.iter().any(similar) {
            chosen.push(atom);
        }
        if chosen.len() == count {
            break;
        }
    }
    chosen
}

/// Whether a score is worth an atom beside a best one in use.
pub(super) fn worthwhile(score: f64, floor: f64) -> bool {
    score > floor * (1.0 + WORTHWHILE)
}
