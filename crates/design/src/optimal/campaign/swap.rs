//! Whole samples, moved one by one while that helps.
//!
//! Rounding gives a sample to every task that a design weighs, however little. Of a small budget that
//! wastes much: the tasks that a solver leaves with a weight of next to nothing get as much as those that
//! matter. So single samples move to where they help most, also to tasks that the design did not use,
//! as long as all limits hold.
//!
//! With `M = Σ⁻¹` and `K = Lᵀ M L`, a sample more of `c` makes `K` smaller by `w wᵀ / (1 + cᵀ M c)` with
//! `w = Lᵀ M c`, and a sample fewer makes it larger by `w wᵀ / (1 − cᵀ M c)`.

use faer::Mat;

use super::evaluator::{Evaluator, add_outer};
use crate::error::Result;
use crate::linalg::{self, wide};
use crate::optimal::Criterion;
use crate::optimal::frank_wolfe::AtomSource as _;

/// Multiplications that moving samples may take, enough for a second.
const EFFORT: f64 = 1e9;
/// Tasks that the next sample is taken from, those that lose least by it.
const GIVERS: usize = 24;
/// Candidates that are all looked at.
const ALL: usize = 4096;
/// Information added to every direction, relative to that of a sample: a plan may have none in some.
const RIDGE: f64 = 1e-9;
/// The least gain for which a sample moves, and the least for another task.
const GAIN: f64 = 1e-6;
const GAIN_OF_TASK: f64 = 2e-3;

/// Samples by row.
pub(super) type Counts = Vec<(usize, usize)>;

/// Tasks in the frame of all candidates, with what may be done with them.
struct Moves<'a, 'b> {
    evaluator: &'a Evaluator<'b>,
    rows: Vec<usize>,
    columns: Vec<Vec<f64>>,
    /// `L`.
    need: Mat<f64>,
    /// What is given, and the ridge.
    given: Mat<f64>,
}

/// Where a plan stands.
struct PlanState {
    counts: Vec<usize>,
    /// Money that is left.
    left: f64,
    inverse: Mat<f64>,
    /// `K`.
    remaining: Mat<f64>,
    value: f64,
}

/// A move of one sample, from a task or from the money left.
struct Move {
    from: Option<usize>,
    to: usize,
    value: f64,
}

impl Evaluator<'_> {
    /// The best plan that single moves lead to from some plans.
    pub(super) fn improve(&self, starts: &[Counts], others: &[usize]) -> Result<Option<Counts>> {
        let mut rows: Vec<usize> = starts.iter().flatten().map(|&(row, _)| row).collect();
        rows.extend(others);
        if self.candidates.len() <= ALL {
            rows.extend((0..self.candidates.len()).filter(|&row| self.usable(row)));
        }
        rows.sort_unstable();
        rows.dedup();
        let effort = EFFORT / starts.len().max(1) as f64;
        // Where not one move can be afforded, nothing is prepared for it.
        let k = self.candidates.dim() as f64;
        if k >= wide::WIDE as f64 && 2.0 * k * k * (rows.len() as f64 + k) > effort {
            return Ok(None);
        }
        let moves = Moves::new(self, rows)?;
        let mut best: Option<(Counts, f64)> = None;
        for start in starts {
            let Some(state) = moves.run(start, effort) else {
                continue;
            };
            let better = |(_, value): &(Counts, f64)| state.value < *value * (1.0 - GAIN);
            if best.as_ref().is_none_or(better) {
                best = Some((moves.counts(&state), state.value));
            }
        }
        Ok(best.map(|(counts, _)| counts))
    }
}

impl<'a, 'b> Moves<'a, 'b> {
    fn new(evaluator: &'a Evaluator<'b>, rows: Vec<usize>) -> Result<Self> {
        let frame = evaluator.source()?.frame();
        let rank = frame.rank();
        let mut given = evaluator
            .campaign
            .given
            .map_or_else(|| Mat::zeros(rank, rank), |given| frame.congruent(given));
        (0..rank).for_each(|i| given[(i, i)] += RIDGE);
        let embed = |&row: &usize| frame.embed(evaluator.candidates.row(row));
        Ok(Self {
            evaluator,
            columns: rows.iter().map(embed).collect(),
            rows,
            need: frame.need(&evaluator.need(), false)?.l,
            given,
        })
    }

    /// Moves samples until no move gains enough or the effort is used up; none where the plan's
    /// information cannot be inverted.
    fn run(&self, start: &Counts, effort: f64) -> Option<PlanState> {
        let mut counts = vec![0; self.rows.len()];
        for &(row, n) in start {
            counts[self.rows.binary_search(&row).ok()?] = n;
        }
        let mut state = self.state(counts)?;
        let (r, s) = (self.need.nrows() as f64, self.need.ncols() as f64);
        let look = r * (r + s) + self.price_of_value();
        let givers = state.counts.iter().filter(|&&n| n > 0).count().min(GIVERS) as f64;
        let price = (1.0 + givers) * self.rows.len() as f64 * look + r * r * r;
        let mut left = effort;
        while left > price {
            left -= price;
            let Some(next) = self.best(&state) else {
                break;
            };
            let mut counts = state.counts.clone();
            if let Some(from) = next.from {
                counts[from] -= 1;
            }
            counts[next.to] += 1;
            match self.state(counts) {
                // Rounding may promise more than there is.
                Some(moved) if moved.value < state.value => state = moved,
                _ => break,
            }
        }
        Some(state)
    }

    fn price_of_value(&self) -> f64 {
        let s = self.need.ncols() as f64;
        match self.evaluator.campaign.criterion {
            Criterion::Trace => 0.0,
            Criterion::MaxEigenvalue => 10.0 * s * s * s,
        }
    }

    fn state(&self, counts: Vec<usize>) -> Option<PlanState> {
        let mut information = self.given.clone();
        for (column, &n) in self.columns.iter().zip(&counts).filter(|(_, n)| **n > 0) {
            add_outer(&mut information, column, n as f64);
        }
        let factor = linalg::cholesky(information.as_ref(), "the information of a plan").ok()?;
        let rank = information.nrows();
        let half = factor.whiten(self.need.as_ref());
        let remaining = linalg::product(half.transpose(), half.as_ref());
        let used: Vec<usize> = (0..counts.len()).filter(|&i| counts[i] > 0).collect();
        let spent: f64 = used
            .iter()
            .map(|&i| counts[i] as f64 * self.cost(i) + self.evaluator.campaign.switch_cost)
            .sum();
        Some(PlanState {
            left: self.evaluator.campaign.budget - spent,
            inverse: factor.solve(Mat::<f64>::identity(rank, rank).as_ref()),
            value: self.value(&remaining)?,
            remaining,
            counts,
        })
    }

    /// The criterion of what remains.
    fn value(&self, remaining: &Mat<f64>) -> Option<f64> {
        match self.evaluator.campaign.criterion {
            Criterion::Trace => Some((0..remaining.nrows()).map(|i| remaining[(i, i)]).sum()),
            Criterion::MaxEigenvalue => linalg::eigen(remaining.as_ref(), "a plan")
                .ok()
                .and_then(|(values, _)| values.first().copied()),
        }
    }

    /// The value with so much more, or less, of a direction in what remains.
    fn value_with(&self, remaining: &Mat<f64>, before: f64, w: &[f64], factor: f64) -> Option<f64> {
        if self.evaluator.campaign.criterion == Criterion::Trace {
            return Some(before + factor * linalg::dot(w, w));
        }
        let mut changed = remaining.clone();
        add_outer(&mut changed, w, factor);
        self.value(&changed)
    }

    fn cost(&self, index: usize) -> f64 {
        self.evaluator.candidates.cost(self.rows[index])
    }

    /// Whether a task can do with one sample fewer.
    fn may_give(&self, state: &PlanState, index: usize) -> bool {
        let (n, row) = (state.counts[index], self.rows[index]);
        let evaluator = self.evaluator;
        let stays = evaluator.least > 1 || evaluator.required.contains(&row);
        n > if stays { evaluator.least } else { 0 }
    }

    /// Whether a task can have one sample more, with so many others in use.
    fn may_take(&self, state: &PlanState, index: usize, others: usize) -> bool {
        let (n, row) = (state.counts[index], self.rows[index]);
        let evaluator = self.evaluator;
        let most = evaluator.campaign.max_tasks.unwrap_or(usize::MAX);
        let enters = evaluator.least == 1 && evaluator.usable(row) && others < most;
        n < evaluator.capacity(row) && (n > 0 || enters)
    }

    /// The best move, if one gains enough.
    fn best(&self, state: &PlanState) -> Option<Move> {
        let used = state.counts.iter().filter(|&&n| n > 0).count();
        let mut losses: Vec<(usize, f64)> = (0..self.rows.len())
            .filter(|&i| state.counts[i] > 0 && self.may_give(state, i))
            .filter_map(|i| Some((i, self.without(state, i)?.1)))
            .collect();
        losses.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        losses.truncate(GIVERS);
        let mut best: Option<Move> = None;
        let givers = losses.into_iter().map(|(index, _)| Some(index));
        for from in [None].into_iter().chain(givers) {
            let (inverse, value, refund, others) = match from {
                None => (state.inverse.clone(), state.value, 0.0, used),
                Some(index) => {
                    let (inverse, value) = self.without(state, index)?;
                    let leaves = state.counts[index] == 1;
                    let refund = self.cost(index) + self.switch_if(leaves);
                    (inverse, value, refund, used - usize::from(leaves))
                }
            };
            let found = self.best_taker(state, from, (&inverse, value, refund, others));
            if let Some(found) = found
                && best.as_ref().is_none_or(|best| found.value < best.value)
            {
                best = Some(found);
            }
        }
        best
    }

    fn switch_if(&self, switches: bool) -> f64 {
        if switches {
            self.evaluator.campaign.switch_cost
        } else {
            0.0
        }
    }

    /// The inverse and the value without a sample of a task; none where that cannot be computed.
    fn without(&self, state: &PlanState, index: usize) -> Option<(Mat<f64>, f64)> {
        let column = &self.columns[index];
        let image = linalg::apply(state.inverse.as_ref(), column);
        let rest = 1.0 - linalg::dot(column, &image);
        if rest <= 1e-12 {
            return None;
        }
        let w = linalg::apply(self.need.transpose(), &image);
        let value = self.value_with(&state.remaining, state.value, &w, rest.recip())?;
        let mut inverse = state.inverse.clone();
        add_outer(&mut inverse, &image, rest.recip());
        Some((inverse, value))
    }

    /// The task that a sample helps most, where a plan without one stands so.
    fn best_taker(
        &self,
        state: &PlanState,
        from: Option<usize>,
        (inverse, value, refund, others): (&Mat<f64>, f64, f64, usize),
    ) -> Option<Move> {
        let slack = 1e-9 * self.evaluator.campaign.budget;
        let half = linalg::product(inverse.as_ref(), self.need.as_ref());
        let remaining = linalg::product(self.need.transpose(), half.as_ref());
        let mut best: Option<Move> = None;
        for to in (0..self.rows.len()).filter(|&to| Some(to) != from) {
            let enters = state.counts[to] == 0;
            let price = self.cost(to) + self.switch_if(enters);
            let paid = price <= state.left + refund + slack;
            if !(paid && self.may_take(state, to, others)) {
                continue;
            }
            let column = &self.columns[to];
            let image = linalg::apply(inverse.as_ref(), column);
            let w = linalg::apply(self.need.transpose(), &image);
            let factor = -(1.0 + linalg::dot(column, &image)).recip();
            let Some(value) = self.value_with(&remaining, value, &w, factor) else {
                continue;
            };
            let gain = if enters { GAIN_OF_TASK } else { GAIN };
            let gains_enough = value < state.value * (1.0 - gain);
            if gains_enough && best.as_ref().is_none_or(|best| value < best.value) {
                best = Some(Move { from, to, value });
            }
        }
        best
    }

    fn counts(&self, state: &PlanState) -> Counts {
        let counts = self.rows.iter().zip(&state.counts);
        counts
            .filter(|(_, n)| **n > 0)
            .map(|(&row, &n)| (row, n))
            .collect()
    }
}
