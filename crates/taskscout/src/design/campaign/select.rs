//! Which tasks, where switching costs, tasks are capped or each needs a minimum.
//!
//! Tasks of the relaxed design are dropped one by one, the least harmful first, while that pays or
//! has to be done; then single tasks are exchanged against others, or added, while that pays.

use super::ledger::{Ledger, add_outer};
use crate::design::frank_wolfe::Source as _;
use crate::design::listed::Listed;
use crate::design::{Problem, solve};
use crate::error::{Error, Result};
use crate::linalg;

/// Of the tasks in use, how many of the lightest may be dropped next.
const DROPPABLE: usize = 6;
/// Rounds of exchanging tasks.
const EXCHANGES: usize = 10;
/// Gain of an exchange or of a drop that is worth having.
const GAIN: f64 = 1e-6;

impl Ledger<'_> {
    /// Drops and exchanges tasks while that pays or has to be done.
    pub(super) fn select(&self, mut rows: Vec<usize>) -> Result<Vec<usize>> {
        let mut best = self.worth(&rows)?;
        while let Some((next, value)) = self.best_drop(&rows)? {
            if value >= best * (1.0 - GAIN) {
                break;
            }
            (rows, best) = (next, value);
        }
        for _ in 0..EXCHANGES {
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

    /// What a set of rows is worth, so that sets which will not do can be compared too: first by how
    /// many tasks they have too many, then by the money they lack, then by what they do not reach.
    fn worth(&self, rows: &[usize]) -> Result<f64> {
        const TOO_MANY: f64 = 1e290;
        const UNPAID: f64 = 1e280;
        const OUT_OF_REACH: f64 = 1e270;
        let excess = rows
            .len()
            .saturating_sub(self.campaign.max_tasks.unwrap_or(usize::MAX));
        let money = self.campaign.budget - self.fixed_cost(rows);
        if excess > 0 {
            // On the way down, the better set of the same size is the one that is worth more.
            let found = self.shares(Some(rows), &[], self.campaign.budget)?;
            let value = found.map_or(f64::MAX, |shares| shares.value * self.campaign.budget);
            return Ok(TOO_MANY * (excess as f64 + value / (1.0 + value)));
        }
        if money < 0.0 {
            return Ok(UNPAID * (1.0 - money / self.campaign.budget));
        }
        Ok(match self.value_of(rows)? {
            Some(shares) => shares.value,
            None => OUT_OF_REACH * (1.0 + self.missed(rows)?),
        })
    }

    /// The part of the need that some rows do not reach.
    fn missed(&self, rows: &[usize]) -> Result<f64> {
        let (frame, _) = self.frame_of(rows)?;
        match frame.need(&self.campaign.need, false) {
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
            .filter(|row| !self.campaign.required.contains(row))
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
            let fewer: Vec<usize> = rows.iter().copied().filter(|&other| other != row).collect();
            let value = self.worth(&fewer)?;
            if best.as_ref().is_none_or(|(_, least)| value < *least) {
                best = Some((fewer, value));
            }
        }
        Ok(best)
    }

    /// The best set with one row exchanged against one of the best others, or with one of them more.
    fn best_exchange(&self, rows: &[usize]) -> Result<Option<(Vec<usize>, f64)>> {
        let most = self.campaign.max_tasks.unwrap_or(usize::MAX);
        let mut best: Option<(Vec<usize>, f64)> = None;
        for other in self.promising(rows)? {
            let mut trials: Vec<Vec<usize>> = Vec::new();
            if rows.len() < most {
                trials.push([rows, &[other]].concat());
            }
            for row in rows
                .iter()
                .filter(|row| !self.campaign.required.contains(row))
            {
                let others = rows.iter().copied().filter(|kept| kept != row);
                trials.push(others.chain([other]).collect());
            }
            for mut trial in trials {
                trial.sort_unstable();
                let value = self.worth(&trial)?;
                if best.as_ref().is_none_or(|(_, least)| value < *least) {
                    best = Some((trial, value));
                }
            }
        }
        Ok(best)
    }

    /// Rows not in use that would help most, beside those in use.
    fn promising(&self, rows: &[usize]) -> Result<Vec<usize>> {
        const OTHERS: usize = 6;
        let Some(shares) = self.value_of(rows)? else {
            return self.nearest(rows, OTHERS);
        };
        // What the plan knows, counted as given: the design of the next samples names the rest.
        let mut known = self.known(rows);
        for atom in &shares.atoms {
            if let Some(row) = atom.row {
                let n = atom.weight * shares.money / self.candidates.cost(row);
                add_outer(&mut known, self.candidates.row(row), n);
            }
        }
        let next = 0.1 * self.campaign.budget;
        let given = faer::Scale(next.recip()) * known;
        let limits: Vec<f64> = (0..self.candidates.len())
            .map(|row| {
                if self.usable(row) && !rows.contains(&row) {
                    1.0
                } else {
                    0.0
                }
            })
            .collect();
        if limits.iter().sum::<f64>() < 1.0 {
            return Ok(Vec::new());
        }
        let table = self.candidates.borrowed().with_limits(limits)?;
        let problem = Problem {
            given: Some(given.as_ref()),
            tolerance: 0.01,
            ..Problem::new(self.campaign.criterion, self.campaign.need)
        };
        match solve(&table, &problem) {
            Ok(design) => Ok(design
                .atoms
                .iter()
                .filter_map(|atom| atom.row)
                .take(OTHERS)
                .collect()),
            Err(Error::Unreachable { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Rows not in use that lie nearest to what the target needs.
    fn nearest(&self, rows: &[usize], count: usize) -> Result<Vec<usize>> {
        let source = Listed::new(self.candidates, None)?;
        let need = source.frame().need(&self.campaign.need, false)?;
        let along = linalg::product(need.l.transpose(), source.frame().to.as_ref());
        let scores = source.rows().scores(along.as_ref());
        let norms = source.rows().scores(source.frame().to.as_ref());
        let cosine = |row: usize| scores[row] / norms[row].max(f64::MIN_POSITIVE);
        let mut others: Vec<usize> = (0..self.candidates.len())
            .filter(|&row| self.usable(row) && norms[row] > 0.0 && !rows.contains(&row))
            .collect();
        others.sort_by(|&a, &b| cosine(b).total_cmp(&cosine(a)).then(a.cmp(&b)));
        others.truncate(count);
        Ok(others)
    }
}
