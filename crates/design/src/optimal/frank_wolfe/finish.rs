//! From the last weights of a run to the design that is handed back.

use super::Solver;
use super::atom_source::{CandidateAtom, Key};
use super::atoms::{distance, drop_negligible, limits, retain, scores};
use crate::error::{Error, Result};
use crate::linalg;
use crate::optimal::frame::Factor;
use crate::optimal::master::{Weights, weighted};

/// Squared distance, relative to their size, below which two searched tasks may be one.
const NEAR: f64 = 0.01;

/// A solved design, in the frame.
#[derive(Debug)]
pub(in crate::optimal) struct Solution {
    pub(in crate::optimal) atoms: Vec<CandidateAtom>,
    pub(in crate::optimal) weights: Vec<f64>,
    /// Each atom's share of the value.
    pub(in crate::optimal) shares: Vec<f64>,
    pub(in crate::optimal) objective: f64,
    pub(in crate::optimal) lower_bound: Option<f64>,
    pub(in crate::optimal) iterations: usize,
    /// Part of the need that is out of reach.
    pub(in crate::optimal) missed: f64,
}

/// The state of a run when it ends.
pub(super) struct Run {
    /// Atoms that span the frame, in case those in use do not.
    pub(super) spanning: Vec<CandidateAtom>,
    pub(super) atoms: Vec<CandidateAtom>,
    pub(super) weights: Weights,
    pub(super) lower_bound: f64,
    pub(super) exact: bool,
    pub(super) iterations: usize,
}

/// Atoms in use with their weights, and their value without the solver's ridge.
struct Kept {
    atoms: Vec<CandidateAtom>,
    q: Vec<f64>,
    value: f64,
}

impl Solver<'_> {
    /// The exact value without the solver's ridge, and what each atom contributes.
    pub(super) fn finish(&self, run: &Run, need: &Factor) -> Result<Solution> {
        let mut kept = self.pruned(run)?;
        self.reach(&mut kept, &run.spanning)?;
        let Kept { atoms, q, value } = kept;
        let scale = need.scale * need.scale;
        let objective = value * scale;
        if !(objective.is_finite() && objective > 0.0) {
            return Err(Error::numerical(
                "computing a design",
                "its value is beyond the range of numbers; rescale the candidates, the targets or what is given",
            ));
        }
        let scores: Vec<f64> = scores(&run.weights.dual, &atoms)
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
            atoms,
            weights: q,
            objective,
            // By rounding it may seem above the value; by more, it would be no bound.
            lower_bound: Some(run.lower_bound * scale)
                .filter(|bound| run.exact && *bound <= objective * (1.0 + 1e-6))
                .map(|bound| bound.min(objective)),
            iterations: run.iterations,
            missed: need.missed,
        })
    }

    /// The atoms that carry the value: without the lightest and without near twins, where the value
    /// bears it.
    fn pruned(&self, run: &Run) -> Result<Kept> {
        let (mut atoms, mut q) = (run.atoms.clone(), run.weights.q.clone());
        drop_negligible(&mut atoms, &mut q, 0.05 * self.tolerance.min(1e-2));
        let mut value = self.exact(&atoms, &q)?;
        let allowed = run
            .weights
            .value
            .max(run.lower_bound / (1.0 - self.tolerance));
        if value.is_nan() || value > allowed {
            (atoms, q) = (run.atoms.clone(), run.weights.q.clone());
            value = self.exact(&atoms, &q)?;
        }
        let bearable = allowed.max(value) * (1.0 + self.tolerance);
        value = self.merge(&mut atoms, &mut q, value, bearable)?;
        Ok(Kept { atoms, q, value })
    }

    /// Directions that matter so little that the ridge hid them still have to be reached: a share of
    /// the weight goes to atoms that span the frame, as small as will do.
    fn reach(&self, kept: &mut Kept, spanning: &[CandidateAtom]) -> Result<()> {
        let mut share = 1e-6;
        let unlimited = limits(&kept.atoms).iter().all(|&limit| limit >= 1.0);
        while !kept.value.is_finite() && unlimited && share < 1e-2 {
            let mut mixed = kept.atoms.clone();
            let mut weights: Vec<f64> = kept.q.iter().map(|q| q * (1.0 - share)).collect();
            for atom in spanning {
                let part = share / spanning.len() as f64;
                match mixed.iter().position(|other| other.key == atom.key) {
                    Some(place) => weights[place] += part,
                    None => {
                        mixed.push(atom.clone());
                        weights.push(part);
                    }
                }
            }
            kept.value = self.exact(&mixed, &weights)?;
            if kept.value.is_finite() {
                (kept.atoms, kept.q) = (mixed, weights);
                break;
            }
            share *= 10.0;
        }
        Ok(())
    }

    /// Gives the weight of searched tasks to heavier ones next to them, while the value bears it:
    /// a search finds the same top twice, and two tasks cost a switch.
    fn merge(
        &self,
        atoms: &mut Vec<CandidateAtom>,
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

    /// The value of weights without the ridge; infinite if the need is not reached.
    fn exact(&self, atoms: &[CandidateAtom], q: &[f64]) -> Result<f64> {
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
