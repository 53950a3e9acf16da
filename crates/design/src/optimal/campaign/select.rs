//! Which tasks, where switching costs, tasks are capped or each needs a minimum.
//!
//! Tasks of the relaxed design are dropped one by one, the least harmful first, while that pays or
//! has to be done; then single tasks are exchanged against others, or added, while that pays.

use super::evaluator::{Evaluator, Shares, add_outer};
use crate::error::{Error, Result};
use crate::linalg;
use crate::optimal::DesignAtom;
use crate::optimal::frank_wolfe::{AtomSource as _, CandidateAtom, Key};
use crate::optimal::listed::pivots;

/// Of the tasks in use, how many of the lightest may be dropped next.
const DROPPABLE: usize = 6;
/// Rounds of exchanging tasks.
const EXCHANGES: usize = 10;
/// The same in tables that take a while to search.
const EXCHANGES_IN_LARGE: usize = 2;
const LARGE: usize = 20_000;
/// Tasks in use that may be exchanged in a round, and others tried for each.
const EXCHANGEABLE: usize = 12;
const OTHERS: usize = 6;
/// Candidates that are all tried.
const FEW: usize = 24;
/// Share of an average candidate's information that directions out of reach are taken to have.
const UNREACHED: f64 = 1e-6;
/// Loss beyond which dropping further tasks leads nowhere.
const HOPELESS: f64 = 3.0;
/// Gain of an exchange or of a drop that is large enough to make it.
const GAIN: f64 = 1e-6;
/// Steps that it takes to weigh some tasks.
const STEPS: f64 = 30.0;
/// Share of the effort that dropping tasks one by one may take.
const SLOW: f64 = 0.5;

impl Evaluator<'_> {
    /// Drops and exchanges tasks while that pays or has to be done.
    pub(super) fn select(&self, mut rows: Vec<usize>) -> Result<Vec<usize>> {
        let mut best = self.comparable_value(&rows)?;
        // All the way down: a step that does not pay may lead to one that does.
        let mut fewer = rows.clone();
        while let Some((next, value)) = self.best_drop(&fewer)? {
            if value < best * (1.0 - GAIN) {
                (rows, best) = (next.clone(), value);
            }
            // Sets of tasks that are too many for a look are not made smaller one by one.
            if value > HOPELESS * best || !self.may_look(next.len()) {
                break;
            }
            fewer = next;
        }
        self.exchange(rows)
    }

    /// Exchanges single tasks, or adds some, while that pays.
    pub(super) fn exchange(&self, mut rows: Vec<usize>) -> Result<Vec<usize>> {
        let mut best = self.comparable_value(&rows)?;
        let large = self.candidates.len() > LARGE;
        for _ in 0..if large { EXCHANGES_IN_LARGE } else { EXCHANGES } {
            let Some((next, value)) = self.best_exchange(&rows)? else {
                break;
            };
            if value >= best * (1.0 - GAIN) {
                break;
            }
            (rows, best) = (next, value);
        }
        Ok(rows)
    }

    /// Whether dropping tasks one by one would take long.
    pub(super) fn is_slow(&self, rows: &[usize]) -> bool {
        let trials = (DROPPABLE * rows.len()) as f64;
        trials * self.price_of_look(rows.len()) > SLOW * self.effort.get()
    }

    /// About how many multiplications it takes to weigh so many rows.
    fn price_of_look(&self, rows: usize) -> f64 {
        let (m, k) = (rows as f64, self.candidates.dim() as f64);
        STEPS * (m * k * k + m * m * k + m * m * m + k * k * k)
    }

    /// Whether there is effort left for another look at so many rows.
    pub(super) fn may_look(&self, rows: usize) -> bool {
        self.effort.get() > self.price_of_look(rows)
    }

    /// Tasks of a design, as few as reach all that it reaches, and those that must be used.
    pub(super) fn spanning(&self, relaxed: &Shares) -> Result<Vec<usize>> {
        let source = self.source()?;
        let rows = relaxed.rows();
        let mut atoms: Vec<CandidateAtom> = rows.iter().map(|&row| source.atom(row)).collect();
        for atom in &mut atoms {
            let of = |other: &&DesignAtom| other.row.map(Key::Row) == Some(atom.key.clone());
            let weight = relaxed.atoms.iter().find(of).map_or(0.0, |own| own.weight);
            atom.column.iter_mut().for_each(|x| *x *= weight.sqrt());
        }
        let chosen = pivots(&atoms, source.frame().rank());
        let mut chosen: Vec<usize> = chosen.into_iter().map(|place| rows[place]).collect();
        chosen.extend(&self.required);
        chosen.sort_unstable();
        chosen.dedup();
        Ok(chosen)
    }

    /// The heaviest tasks that can be paid for beside some that reach all that is needed.
    pub(super) fn trim(&self, relaxed: &Shares, reach: &[usize]) -> Vec<usize> {
        let most = self.campaign.max_tasks.unwrap_or(usize::MAX);
        let mut rows = reach.to_vec();
        // By falling weight.
        for row in relaxed.atoms.iter().filter_map(|atom| atom.row) {
            let more = [&rows[..], &[row]].concat();
            if !rows.contains(&row) && more.len() <= most && self.pays(self.fixed_cost(&more)) {
                rows = more;
            }
        }
        rows.sort_unstable();
        rows
    }

    /// A value of a set of rows, such that sets which will not do can be compared too: those that
    /// are too many, for the cap or for the money, first by their number, then by what they would be
    /// value without switches; the others by what they do not reach.
    fn comparable_value(&self, rows: &[usize]) -> Result<f64> {
        const TOO_MANY: f64 = 1e280;
        const OUT_OF_REACH: f64 = 1e270;
        let effort = self.effort.get() - self.price_of_look(rows.len());
        self.effort.set(effort.max(0.0));
        let most = self.campaign.max_tasks.unwrap_or(usize::MAX);
        if rows.len() > most || !self.pays(self.fixed_cost(rows)) {
            let found = self.shares(Some(rows), &[], self.campaign.budget)?;
            let value = found.map_or(f64::MAX, |shares| shares.value * self.campaign.budget);
            return Ok(TOO_MANY * (rows.len() as f64 + value / (1.0 + value)));
        }
        Ok(match self.value_of(rows)? {
            Some(shares) => shares.value,
            None => OUT_OF_REACH * (1.0 + self.missed(rows)?),
        })
    }

    /// The part of the need that some rows do not reach.
    pub(super) fn missed(&self, rows: &[usize]) -> Result<f64> {
        let (frame, _) = self.frame_of(rows)?;
        match frame.need(&self.need(), false) {
            Err(Error::Unreachable { share, .. }) => Ok(share),
            Err(error) => Err(error),
            Ok(_) => Ok(0.0),
        }
    }

    /// The best set with one row fewer, among the lightest.
    fn best_drop(&self, rows: &[usize]) -> Result<Option<(Vec<usize>, f64)>> {
        let free: Vec<usize> = rows
            .iter()
            .copied()
            .filter(|row| !self.required.contains(row))
            .collect();
        if free.is_empty() || rows.len() == 1 {
            return Ok(None);
        }
        // By what they get now, the lightest first.
        let money = self.campaign.budget;
        let shares = self.shares(Some(rows), &[], money)?;
        let weight = |row: usize| {
            let atoms = shares.as_ref().map_or(&[][..], |shares| &shares.atoms[..]);
            atoms
                .iter()
                .find(|atom| atom.row == Some(row))
                .map_or(0.0, |atom| atom.weight)
        };
        let mut lightest = free;
        lightest.sort_by(|&a, &b| weight(a).total_cmp(&weight(b)).then(a.cmp(&b)));
        let mut best: Option<(Vec<usize>, f64)> = None;
        for row in lightest.into_iter().take(DROPPABLE) {
            if best.is_some() && !self.may_look(rows.len()) {
                break;
            }
            let fewer: Vec<usize> = rows.iter().copied().filter(|&other| other != row).collect();
            let value = self.comparable_value(&fewer)?;
            if best.as_ref().is_none_or(|(_, least)| value < *least) {
                best = Some((fewer, value));
            }
        }
        Ok(best)
    }

    /// The best set with one row exchanged against a promising other, or with one of them more.
    fn best_exchange(&self, rows: &[usize]) -> Result<Option<(Vec<usize>, f64)>> {
        let most = self.campaign.max_tasks.unwrap_or(usize::MAX);
        let plan = self.value_of(rows)?;
        // Each row of the set in turn, and none of them if there may be one more.
        let leaving = rows
            .iter()
            .filter(|row| !self.required.contains(row))
            .map(|&row| Some(row))
            .take(EXCHANGEABLE)
            .chain((rows.len() < most).then_some(None));
        let mut best: Option<(Vec<usize>, f64)> = None;
        for leaving in leaving {
            let rest: Vec<usize> = rows
                .iter()
                .copied()
                .filter(|&row| Some(row) != leaving)
                .collect();
            if !self.may_look(rows.len()) {
                break;
            }
            for other in self.partners(rows, &rest, plan.as_ref())? {
                let mut trial = [&rest[..], &[other]].concat();
                trial.sort_unstable();
                let value = self.comparable_value(&trial)?;
                if best.as_ref().is_none_or(|(_, least)| value < *least) {
                    best = Some((trial, value));
                }
            }
        }
        Ok(best)
    }

    /// Rows not in use that would help most beside the `rest` of a plan.
    ///
    /// With the information `K` of the rest, `n` samples of `c` lower the trace criterion by
    /// `n ‖Lᵀ K⁻¹ c‖² / (1 + n cᵀ K⁻¹ c)`.
    fn partners(
        &self,
        rows: &[usize],
        rest: &[usize],
        plan: Option<&Shares>,
    ) -> Result<Vec<usize>> {
        let free = |row: &usize| self.usable(*row) && !rows.contains(row);
        if self.candidates.len() <= FEW {
            return Ok((0..self.candidates.len()).filter(free).collect());
        }
        let mut known = self.known(rest);
        let mut spent = 0.0;
        let atoms = plan.map_or(&[][..], |plan| &plan.atoms[..]);
        let money = plan.map_or(self.campaign.budget, |plan| plan.money);
        for atom in atoms {
            if let Some(row) = atom.row.filter(|row| rest.contains(row)) {
                let n = atom.weight * money / self.candidates.cost(row);
                add_outer(&mut known, self.candidates.row(row), n);
                spent += atom.weight * money;
            }
        }
        let left = (money - spent).max(0.05 * self.campaign.budget);
        let source = self.source()?;
        let (frame, table) = (source.frame(), source.rows());
        let need = frame.need(&self.need(), false)?;
        let mut information = frame.congruent(known.as_ref());
        // Directions that the rest does not reach have the largest value, but not infinitely much.
        (0..frame.rank()).for_each(|i| information[(i, i)] += UNREACHED * left);
        let Ok(factor) = linalg::cholesky(information.as_ref(), "the information of a plan") else {
            // Tasks that add the same.
            let free = (0..self.candidates.len()).filter(free);
            return Ok(free.take(OTHERS).collect());
        };
        let towards = factor.solve(need.l.as_ref());
        let gains = table.scores(linalg::product(towards.transpose(), frame.to.as_ref()).as_ref());
        let sizes = table.scores(factor.whiten(frame.to.as_ref()).as_ref());
        let gain = |row: usize| left * gains[row] / (1.0 + left * sizes[row]);
        let mut others: Vec<usize> = (0..self.candidates.len()).filter(free).collect();
        others.sort_by(|&a, &b| gain(b).total_cmp(&gain(a)).then(a.cmp(&b)));
        others.truncate(OTHERS);
        Ok(others)
    }
}
