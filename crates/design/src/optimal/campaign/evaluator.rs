//! The value of sets of tasks to a campaign.

use std::cell::{Cell, OnceCell};
use std::collections::HashSet;

use faer::{Mat, MatRef};

use super::Campaign;
use crate::error::{Error, Result};
use crate::linalg::{self, wide};
use crate::optimal::candidates::Candidates;
use crate::optimal::frame::{Factor, Frame};
use crate::optimal::frank_wolfe::AtomSource as _;
use crate::optimal::listed::Listed;
use crate::optimal::scan::EmbeddingRows;
use crate::optimal::{Design, DesignAtom, Need, Problem, solve};

/// Part of the effort of a design that goes into weighing some of its tasks again.
const AGAIN: f64 = 0.2;

/// Shares of the budget on some rows, and their value.
#[derive(Debug, Clone)]
pub(super) struct Shares {
    pub(super) atoms: Vec<DesignAtom>,
    /// Money that the shares are of, after switches and least samples.
    pub(super) money: f64,
    /// Samples that every row has beforehand, by row.
    pub(super) base: Vec<(usize, usize)>,
    /// The criterion's value of all information.
    pub(super) value: f64,
    pub(super) lower_bound: Option<f64>,
    pub(super) iterations: usize,
}

impl Shares {
    pub(super) fn rows(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = self.atoms.iter().filter_map(|atom| atom.row).collect();
        rows.extend(self.base.iter().map(|&(row, _)| row));
        rows.sort_unstable();
        rows.dedup();
        rows
    }
}

/// Some rows in a frame of their own.
pub(super) struct FramedRows {
    pub(super) need: Factor,
    pub(super) information: Mat<f64>,
    pub(super) columns: Vec<Vec<f64>>,
}

/// A campaign over certain candidates: the shares, cost and value of sets of tasks.
pub(super) struct Evaluator<'a> {
    pub(super) campaign: &'a Campaign<'a>,
    pub(super) candidates: &'a Candidates<'a>,
    pub(super) forbidden: HashSet<usize>,
    /// Tasks that must be used, each once.
    pub(super) required: Vec<usize>,
    /// `A` where all directions are needed alike, those that all rows together reach, and how many
    /// these are.
    everything: Option<(Mat<f64>, usize)>,
    /// All candidates in their frame, once somebody has asked for them.
    source: OnceCell<Listed<'a>>,
    /// What is given, in units of the budget.
    given: Option<Mat<f64>>,
    /// Least samples of a task in use.
    pub(super) least: usize,
    /// Multiplications that the choice of tasks may still spend.
    pub(super) effort: &'a Cell<f64>,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(
        campaign: &'a Campaign<'a>,
        candidates: &'a Candidates<'a>,
        effort: &'a Cell<f64>,
    ) -> Result<Self> {
        let mut required = campaign.required.to_vec();
        required.sort_unstable();
        required.dedup();
        let mut evaluator = Self {
            campaign,
            candidates,
            forbidden: campaign.forbidden.iter().copied().collect(),
            required,
            everything: None,
            source: OnceCell::new(),
            given: campaign
                .given
                .map(|given| faer::Scale(campaign.budget.recip()) * given),
            least: campaign.min_samples.max(1),
            effort,
        };
        if matches!(campaign.need, Need::Everything) {
            let limits =
                (0..candidates.len()).map(|row| f64::from(u8::from(evaluator.usable(row))));
            let limits: Vec<f64> = limits.collect();
            let table = candidates
                .borrowed()
                .with_limits(limits)
                .map_err(|_| nothing_left())?;
            let source = Listed::new(&table, evaluator.given.as_ref().map(Mat::as_ref))?;
            evaluator.everything = Some((source.frame().everything()?, source.frame().rank()));
        }
        for &row in &evaluator.required {
            if evaluator.capacity(row) < evaluator.least {
                return Err(Error::setting(
                    "required",
                    format!(
                        "names row {row}, which has {} samples left where {} are the least",
                        evaluator.capacity(row),
                        evaluator.least
                    ),
                ));
            }
        }
        let fixed = evaluator.fixed_cost(&evaluator.required);
        if !evaluator.pays(fixed) {
            return Err(Error::value(
                "budget",
                campaign.budget,
                format!(
                    "does not pay for the tasks that must be used, which cost {fixed} with their switches: raise it, or require fewer"
                ),
            ));
        }
        Ok(evaluator)
    }

    pub(super) fn capacity(&self, row: usize) -> usize {
        let capacities = self.campaign.capacities;
        capacities.and_then(|all| all[row]).unwrap_or(usize::MAX)
    }

    /// All candidates in the frame of them and what is given.
    pub(super) fn source(&self) -> Result<&Listed<'a>> {
        if let Some(source) = self.source.get() {
            return Ok(source);
        }
        let source = Listed::new(self.candidates, self.given.as_ref().map(Mat::as_ref))?;
        Ok(self.source.get_or_init(|| source))
    }

    /// What is needed, the same whichever rows are looked at.
    pub(super) fn need(&self) -> Need<'_> {
        match &self.everything {
            Some((moment, _)) => Need::Moment(moment.as_ref()),
            None => self.campaign.need,
        }
    }

    /// Whether a frame of some rows has all directions that are needed. Where all are needed alike,
    /// a direction that weighs next to nothing in these units must not be left out.
    fn is_whole(&self, frame: &Frame) -> bool {
        let needed = self.everything.as_ref().map_or(0, |(_, rank)| *rank);
        frame.rank() >= needed
    }

    /// Whether the budget pays for a cost, up to rounding.
    pub(super) fn pays(&self, cost: f64) -> bool {
        cost <= self.campaign.budget * (1.0 + 1e-12)
    }

    /// Whether a row may be used at all.
    pub(super) fn usable(&self, row: usize) -> bool {
        // A zero embedding teaches nothing: better to leave money unspent.
        self.candidates.row(row).iter().any(|&value| value != 0.0)
            && self.capacity(row) >= self.least
            && !self.forbidden.contains(&row)
            && self.candidates.limit(row) > 0.0
    }

    /// What some tasks cost before any sample beyond the least.
    pub(super) fn fixed_cost(&self, rows: &[usize]) -> f64 {
        let of = |&row: &usize| {
            self.campaign.switch_cost + self.least as f64 * self.candidates.cost(row)
        };
        rows.iter().map(of).sum()
    }

    /// The information given, and that of the least samples of some rows.
    pub(super) fn known(&self, rows: &[usize]) -> Mat<f64> {
        let k = self.candidates.dim();
        let mut sum = self
            .campaign
            .given
            .map_or_else(|| Mat::zeros(k, k), |given| given.to_owned());
        for &row in rows {
            add_outer(&mut sum, self.candidates.row(row), self.least as f64);
        }
        sum
    }

    /// The design of all money that is left over all rows that may be used.
    pub(super) fn relaxed(&self) -> Result<Shares> {
        let campaign = self.campaign;
        // Without tasks that must be used, one switch at least is paid.
        let switch = if self.required.is_empty() {
            campaign.switch_cost
        } else {
            0.0
        };
        let money = campaign.budget - self.fixed_cost(&self.required) - switch;
        if let Some(shares) = self.shares(None, &self.required, money)? {
            return Ok(shares);
        }
        // Too little for a single sample: the smallest budget that would do says more.
        self.affordable(&[])?;
        Err(Error::value(
            "budget",
            campaign.budget,
            "leaves nothing for samples after switches: raise it",
        ))
    }

    /// The largest shares of `money` that each of some rows may have: what it has left beside its
    /// base, and nothing where it may not be used.
    fn limits(&self, rows: impl Iterator<Item = usize>, base: &[usize], money: f64) -> Vec<f64> {
        rows.map(|row| {
            let in_base = base.contains(&row);
            if !(in_base || self.usable(row)) {
                return 0.0;
            }
            let taken = if in_base { self.least } else { 0 };
            let left = match self.capacity(row) {
                usize::MAX => f64::INFINITY,
                capacity => capacity.saturating_sub(taken) as f64 * self.candidates.cost(row),
            };
            (left / money).min(self.candidates.limit(row))
        })
        .collect()
    }

    /// The best shares of `money` over some rows (all that may be used without), given the least
    /// samples of the `base` rows.
    pub(super) fn shares(
        &self,
        rows: Option<&[usize]>,
        base: &[usize],
        money: f64,
    ) -> Result<Option<Shares>> {
        if money < 0.0 || (money <= 0.0 && base.is_empty()) {
            return Ok(None);
        }
        if money <= 0.0 {
            return self.only_base(base);
        }
        let (mut table, limits) = self.table(rows, base, money)?;
        if let (Some(rows), true) = (rows, self.everything.is_some())
            && !self.is_whole(&self.frame_of(rows)?.0)
        {
            return Ok(None);
        }
        // Logs that run out: the rest of the money stays unspent.
        let mut spendable = 1.0;
        if let Some(mut limits) = limits {
            spendable = limits
                .iter()
                .map(|limit| limit.min(1.0))
                .sum::<f64>()
                .min(1.0);
            if spendable <= 0.0 && base.is_empty() {
                return Err(nothing_left());
            }
            if spendable > 0.0 {
                limits.iter_mut().for_each(|limit| *limit /= spendable);
                table = table.with_limits(limits)?;
            }
        }
        let money = money * spendable;
        if money <= 0.0 {
            return self.only_base(base);
        }
        let Some(mut design) = self.weigh(&table, base, money, rows.is_some())? else {
            return Ok(None);
        };
        let row_at = |index: usize| rows.map_or(index, |rows| rows[index]);
        for atom in &mut design.atoms {
            atom.row = atom.row.map(row_at);
        }
        Ok(Some(Shares {
            atoms: design.atoms,
            money,
            base: base.iter().map(|&row| (row, self.least)).collect(),
            value: design.objective / money,
            lower_bound: design.lower_bound.map(|bound| bound / money),
            iterations: design.iterations,
        }))
    }

    /// Some rows as a table of their own (all candidates without), and the largest shares of `money`
    /// that they may have, where there are limits.
    fn table(
        &self,
        rows: Option<&[usize]>,
        base: &[usize],
        money: f64,
    ) -> Result<(Candidates<'a>, Option<Vec<f64>>)> {
        let Some(rows) = rows else {
            let campaign = self.campaign;
            let limited = campaign.capacities.is_some()
                || !campaign.forbidden.is_empty()
                || (0..self.candidates.len()).any(|row| self.candidates.limit(row) < 1.0);
            let limits = limited.then(|| self.limits(0..self.candidates.len(), base, money));
            return Ok((self.candidates.borrowed(), limits));
        };
        let embeddings = rows.iter().flat_map(|&row| self.candidates.row(row));
        let embeddings: Vec<f64> = embeddings.copied().collect();
        let costs = rows.iter().map(|&row| self.candidates.cost(row)).collect();
        let table = Candidates::new(self.candidates.dim(), embeddings)?;
        let table = table.part_of(self.candidates);
        let limits = self.limits(rows.iter().copied(), base, money);
        Ok((table.with_costs(costs)?, Some(limits)))
    }

    /// The design of some money over a table, given the least samples of the `base` rows; none where
    /// a `part` of the candidates does not reach what is needed.
    fn weigh(
        &self,
        table: &Candidates<'_>,
        base: &[usize],
        money: f64,
        part: bool,
    ) -> Result<Option<Design>> {
        let given = faer::Scale(money.recip()) * &self.known(base);
        let problem = Problem::new(self.campaign.criterion, self.need());
        let problem = Problem {
            given: Some(given.as_ref()),
            tolerance: self.campaign.tolerance,
            // Those of the whole table were weighed before.
            effort: if part {
                AGAIN * problem.effort
            } else {
                problem.effort
            },
            ..problem
        };
        match solve(table, &problem) {
            Ok(design) => Ok(Some(design)),
            // Fewer rows may not reach everything: that has no value, but is no error.
            // Neither are some that differ too little to be distinguished.
            Err(Error::Unreachable { .. } | Error::Numerical { .. }) if part => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Only the least samples of some rows.
    pub(super) fn only_base(&self, base: &[usize]) -> Result<Option<Shares>> {
        let counts = vec![self.least as f64; base.len()];
        let value = self.value(base, &counts)?;
        Ok(value.is_finite().then(|| Shares {
            atoms: Vec::new(),
            money: 0.0,
            base: base.iter().map(|&row| (row, self.least)).collect(),
            value,
            lower_bound: Some(value),
            iterations: 0,
        }))
    }

    /// The frame of some rows and what is given, with the information of so many samples of each,
    /// and what is needed there; none if it is out of reach.
    pub(super) fn framed(&self, rows: &[usize], counts: &[f64]) -> Result<Option<FramedRows>> {
        let (frame, columns) = self.frame_of(rows)?;
        if !self.is_whole(&frame) {
            return Ok(None);
        }
        let need = match frame.need(&self.need(), false) {
            Ok(need) => need,
            Err(Error::Unreachable { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let rank = frame.rank();
        let mut information = self
            .campaign
            .given
            .map_or_else(|| Mat::zeros(rank, rank), |given| frame.congruent(given));
        if rank >= wide::WIDE {
            let all = Mat::from_fn(rank, columns.len(), |i, j| columns[j][i]);
            let weighted = Mat::from_fn(rank, columns.len(), |i, j| columns[j][i] * counts[j]);
            information += wide::multiply(weighted.as_ref(), all.transpose());
        } else {
            for (column, &n) in columns.iter().zip(counts) {
                add_outer(&mut information, column, n);
            }
        }
        Ok(Some(FramedRows {
            need,
            information,
            columns,
        }))
    }

    /// The frame of some rows and what is given, and the rows in it.
    pub(super) fn frame_of(&self, rows: &[usize]) -> Result<(Frame, Vec<Vec<f64>>)> {
        let values: Vec<f64> = rows
            .iter()
            .flat_map(|&row| self.candidates.row(row).to_vec())
            .collect();
        let table = Candidates::new(self.candidates.dim(), &values[..])?.part_of(self.candidates);
        let rows = EmbeddingRows {
            values: &values,
            dim: table.dim(),
            costs: None,
        };
        let given = self.given.as_ref().map(Mat::as_ref);
        let frame = Frame::new(rows, (table.largest(), table.whole()), given)?;
        let columns = if table.dim() >= wide::WIDE {
            let raw = MatRef::from_column_major_slice(&values, table.dim(), table.len());
            let images = wide::multiply(frame.to.as_ref(), raw);
            let column = |j| linalg::column(images.as_ref(), j);
            (0..table.len()).map(column).collect()
        } else {
            let rows = values.chunks_exact(table.dim());
            rows.map(|row| frame.embed(row)).collect()
        };
        Ok((frame, columns))
    }

    /// The criterion's value of so many samples of each of some rows.
    pub(super) fn value(&self, rows: &[usize], counts: &[f64]) -> Result<f64> {
        let Some(framed) = self.framed(rows, counts)? else {
            return Ok(f64::INFINITY);
        };
        let moment = linalg::product(framed.need.l.as_ref(), framed.need.l.transpose());
        let value = self
            .campaign
            .criterion
            .value(framed.information.as_ref(), moment.as_ref())?;
        Ok(value * framed.need.scale * framed.need.scale)
    }

    /// Whether tasks have to be chosen, not only weighed.
    pub(super) fn is_selective(&self, relaxed: &Shares) -> bool {
        let rows = relaxed.rows();
        let campaign = self.campaign;
        campaign.switch_cost > 0.0
            || campaign.min_samples > 1
            || campaign.max_tasks.is_some_and(|most| rows.len() > most)
            || !self.pays(self.fixed_cost(&rows))
    }

    /// The best shares over exactly these rows, each with its least samples; none if they cannot be
    /// paid for or do not reach what is needed.
    pub(super) fn value_of(&self, rows: &[usize]) -> Result<Option<Shares>> {
        let most = self.campaign.max_tasks.unwrap_or(usize::MAX);
        if rows.is_empty() || rows.len() > most {
            return Ok(None);
        }
        let fixed = self.fixed_cost(rows);
        if !self.pays(fixed) {
            return Ok(None);
        }
        // What rounding leaves of the budget buys nothing.
        let left = self.campaign.budget - fixed;
        let money = if left > 1e-9 * self.campaign.budget {
            left
        } else {
            0.0
        };
        self.shares(Some(rows), rows, money)
    }
}

fn nothing_left() -> Error {
    Error::setting(
        "candidates",
        "are all forbidden or have nothing left: allow at least one task",
    )
}

pub(super) fn add_outer(sum: &mut Mat<f64>, row: &[f64], n: f64) {
    for (i, a) in row.iter().enumerate() {
        for (j, b) in row.iter().enumerate() {
            sum[(i, j)] += n * a * b;
        }
    }
}
