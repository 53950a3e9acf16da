//! Fully corrective Frank–Wolfe with a certified gap.
//!
//! Start from a few atoms that span the space. Weigh them as well as possible (`master`), ask for
//! the atoms with the largest scores under the dual point that belongs to the weights, add those and
//! weigh again. The same scores bound from below what any design could reach; the loop ends when
//! that bound is within a tolerance of the value. Atoms whose weights vanish are dropped.
//!
//! Re-optimising all weights in every step takes 5 to 10 passes over the candidates where plain
//! Frank–Wolfe takes hundreds.

mod atom_source;
mod atoms;
mod finish;

use std::cell::Cell;

use faer::{Mat, MatRef};

pub(super) use self::atom_source::{AtomSource, CandidateAtom, Iterate, Key, Offer};
use self::atoms::{columns, drop_negligible, limits, scores};
pub(super) use self::atoms::{diverse, normalise, worthwhile};
use self::finish::Run;
pub(super) use self::finish::Solution;
use super::master::{Master, RIDGE, RIDGES_BESIDE_GIVEN, Weights, support};
use super::{Criterion, Problem};
use crate::error::{Error, Result};
use crate::linalg;

/// Weight, relative to the gap, that may be dropped between two steps.
const NEGLIGIBLE: f64 = 1e-3;
/// The finest gap that weights are asked for.
const FINEST: f64 = 1e-11;

/// Solves a design problem over the atoms of a source, starting from `known` ones if there are any.
pub(super) fn solve(
    source: &mut dyn AtomSource,
    problem: &Problem<'_>,
    known: &[CandidateAtom],
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
    let attempt = |source: &mut dyn AtomSource, given: &Mat<f64>, ridge: f64| {
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
        solver.finish(&solved, &need)
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

/// Where a run stands between two steps.
struct RunState {
    atoms: Vec<CandidateAtom>,
    q: Vec<f64>,
    /// Relative gap to which the next weights are found.
    inner: f64,
    lower_bound: f64,
    /// The gap when tasks were last dropped.
    screened: f64,
    exact: bool,
    iterations: usize,
}

impl RunState {
    /// Takes atoms in that are not in use yet; whether there are any.
    fn take(&mut self, offered: Vec<CandidateAtom>) -> bool {
        let before = self.atoms.len();
        for atom in offered {
            if !self.atoms.iter().any(|other| other.key == atom.key) {
                self.atoms.push(atom);
                self.q.push(0.0);
            }
        }
        self.atoms.len() > before
    }
}

impl Solver<'_> {
    fn run(&self, source: &mut dyn AtomSource, known: &[CandidateAtom]) -> Result<Run> {
        let (spanning, mut state) = self.begin(source, known)?;
        let weights = loop {
            state.iterations += 1;
            let inner_tolerance = state.inner.max(FINEST);
            let weights = self.master.solve(
                self.columns(&state.atoms).as_ref(),
                &limits(&state.atoms),
                &state.q,
                inner_tolerance,
            )?;
            let Some(offer) = self.look(source, &weights, &mut state)? else {
                break weights;
            };
            let gap = 1.0 - state.lower_bound / weights.value;
            if gap < 0.25 * state.screened {
                state.screened = gap;
                self.screen(source, &weights, &state)?;
            }
            state.q.clone_from(&weights.q);
            drop_negligible(&mut state.atoms, &mut state.q, NEGLIGIBLE * gap.min(0.1));
            if state.take(offer) {
                state.inner = state.inner.min(0.2 * gap);
            } else {
                // All the best are in use: what is left of the gap is in the weights.
                if inner_tolerance <= FINEST && !source.restore() {
                    let q = std::mem::take(&mut state.q);
                    break Weights { q, ..weights };
                }
                state.inner *= 1e-2;
            }
        };
        Ok(Run {
            spanning,
            atoms: state.atoms,
            weights,
            lower_bound: state.lower_bound,
            exact: state.exact,
            iterations: state.iterations,
        })
    }

    /// Atoms that span the frame, and where a run begins: with them and with what is known.
    fn begin(
        &self,
        source: &mut dyn AtomSource,
        known: &[CandidateAtom],
    ) -> Result<(Vec<CandidateAtom>, RunState)> {
        let (spanning, start) = match source.start(&self.master)? {
            Some((atoms, weights)) => (atoms, Some(weights)),
            None => (source.first()?, None),
        };
        let mut atoms: Vec<CandidateAtom> = Vec::new();
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
        // A start that is nearly there is weighed finely at once.
        let inner = match start {
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
        let state = RunState {
            atoms,
            q,
            inner,
            lower_bound: 0.0,
            screened: 0.4,
            exact: true,
            iterations: 0,
        };
        Ok((spanning, state))
    }

    /// Raises the lower bound by what the source has best for some weights, and gives that; none if
    /// the weights are good enough, or all that there is to be had.
    fn look(
        &self,
        source: &mut dyn AtomSource,
        weights: &Weights,
        state: &mut RunState,
    ) -> Result<Option<Vec<CandidateAtom>>> {
        let scores = scores(&weights.dual, &state.atoms);
        let floor = scores.iter().copied().fold(0.0, f64::max);
        let in_use = support(&scores, &limits(&state.atoms));
        let bound = |offer: &Offer| weights.dual.bound(offer.support.max(in_use));
        let mut offer = source.best(&weights.dual, floor)?;
        state.exact &= offer.exact;
        state.lower_bound = state.lower_bound.max(bound(&offer));
        let last = state.iterations >= self.max_iterations
            || source.is_spent()
            || !self.master.may_go_on();
        let done = |lower_bound: f64| 1.0 - lower_bound / weights.value <= self.tolerance || last;
        if done(state.lower_bound) && source.restore() {
            // The certificate is a fact about all candidates: the last look is at each of them.
            offer = source.best(&weights.dual, floor)?;
            state.lower_bound = bound(&offer);
        }
        Ok((!done(state.lower_bound)).then_some(offer.atoms))
    }

    /// Lets the source drop tasks that no optimum uses.
    fn screen(
        &self,
        source: &mut dyn AtomSource,
        weights: &Weights,
        state: &RunState,
    ) -> Result<()> {
        let columns = self.columns(&state.atoms);
        source.screen(&Iterate {
            criterion: self.master.criterion,
            dual: &weights.dual,
            information: self.master.information(columns.as_ref(), &weights.q),
            value: weights.value,
            lower_bound: state.lower_bound,
        })
    }

    /// The atoms as columns.
    fn columns(&self, atoms: &[CandidateAtom]) -> Mat<f64> {
        columns(atoms, self.master.need.nrows())
    }
}
