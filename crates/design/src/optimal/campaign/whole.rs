//! From shares of a budget to whole samples, with the reasons.

use faer::Mat;

use super::evaluator::{Evaluator, Shares};
use super::swap::Counts;
use super::{CampaignPlan, PlannedTask};
use crate::error::{Error, Result};
use crate::linalg::{self, wide};
use crate::optimal::rounding::{SampleBudget, spend};
use crate::optimal::scan::squared_image;
use crate::optimal::{DesignAtom, Need};

/// Samples below which a task may be left out, tried one after the other.
const LIGHTEST: [f64; 7] = [0.0, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0];
/// The same where a look at a plan takes long.
const LIGHTEST_OF_WIDE: [f64; 3] = [0.0, 0.5, 1.0];
/// What fewer tasks may cost.
const TRIFLE: f64 = 5e-4;
/// What whole samples may cost before they are moved one by one.
const COARSE: f64 = 2e-3;
/// Plans that samples are moved in.
const STARTS: usize = 6;

/// Gaps, relative to the one asked for, that a solver leaves only where it had to stop.
const STOPPED: f64 = 3.0;
/// Numbers in targets that each task is compared with; of more, none is the one that it is for.
const MANY: usize = 1 << 16;

/// Whole samples of the rows of some shares.
struct Rounded {
    shares: Shares,
    counts: Counts,
    value: f64,
}

impl Evaluator<'_> {
    /// Whole samples, and their value.
    pub(super) fn finish(&self, shares: &Shares, relaxed: &Shares) -> Result<CampaignPlan> {
        let mut tried = Vec::new();
        let mut plan = self.round(shares.clone(), &mut tried)?;
        // Tasks that get no sample leave their share to the others, weighed anew.
        while plan.counts.len() < plan.shares.rows().len() {
            let kept: Vec<usize> = plan.counts.iter().map(|&(row, _)| row).collect();
            let base: Vec<usize> = plan.shares.base.iter().map(|&(row, _)| row).collect();
            let Some(fewer) = self.shares(Some(&kept), &base, plan.shares.money)? else {
                break;
            };
            plan = self.round(fewer, &mut tried)?;
        }
        if plan.value > relaxed.value * (1.0 + COARSE)
            && let Some(better) = self.moved(&plan, relaxed, tried)?
        {
            plan = better;
        }
        self.assemble(&plan, relaxed)
    }

    /// A better plan by moves of single samples, if there is one.
    fn moved(
        &self,
        plan: &Rounded,
        relaxed: &Shares,
        mut tried: Vec<Counts>,
    ) -> Result<Option<Rounded>> {
        tried.insert(0, plan.counts.clone());
        let mut starts: Vec<Counts> = Vec::new();
        for counts in tried {
            if !starts.contains(&counts) && starts.len() < STARTS {
                starts.push(counts);
            }
        }
        let Some(counts) = self.improve(&starts, &relaxed.rows())? else {
            return Ok(None);
        };
        let (rows, numbers): (Vec<usize>, Vec<f64>) =
            counts.iter().map(|&(row, n)| (row, n as f64)).unzip();
        let value = self.value(&rows, &numbers)?;
        if value.is_nan() || value >= plan.value * (1.0 - 1e-9) {
            return Ok(None);
        }
        // The shares that these samples are rounded from are those of the same tasks.
        let chosen = plan.shares.base.len() > self.required.len();
        let shares = if rows == plan.shares.rows() {
            Some(plan.shares.clone())
        } else if chosen {
            self.value_of(&rows)?
        } else {
            self.shares(Some(&rows), &self.required, plan.shares.money)?
        };
        Ok(shares.map(|shares| Rounded {
            shares,
            counts,
            value,
        }))
    }

    /// Whole samples of the rows of some shares: tasks that would get next to nothing are left out
    /// where that costs next to nothing. All that was tried is kept.
    fn round(&self, shares: Shares, tried: &mut Vec<Counts>) -> Result<Rounded> {
        let rows = shares.rows();
        let wanted = self.wanted(&shares, &rows);
        let base = |row: usize| base_of(&shares, row);
        let sample_budget = SampleBudget {
            money: self.campaign.budget - self.campaign.switch_cost * rows.len() as f64,
            costs: rows.iter().map(|&row| self.candidates.cost(row)).collect(),
            least: rows.iter().map(|&row| base(row)).collect(),
            most: rows.iter().map(|&row| self.capacity(row)).collect(),
        };
        let lightest = match self.candidates.dim() {
            wide::WIDE.. if !tried.is_empty() => &LIGHTEST[..1],
            wide::WIDE.. => &LIGHTEST_OF_WIDE[..],
            _ => &LIGHTEST[..],
        };
        let (mut best, mut lowest): (Option<(Counts, f64)>, f64) = (None, f64::INFINITY);
        for &least in lightest {
            let wanted: Vec<f64> = wanted
                .iter()
                .map(|&n| if n < least { 0.0 } else { n })
                .collect();
            let Ok(counts) = spend(&wanted, &sample_budget) else {
                continue;
            };
            let used = rows.iter().zip(&counts).filter(|(_, n)| **n > 0);
            let counts: Counts = used.map(|(&row, &n)| (row, n)).collect();
            // Of a small budget every task gets so little.
            if counts.is_empty() {
                continue;
            }
            let numbers: Vec<f64> = counts.iter().map(|&(_, n)| n as f64).collect();
            let used: Vec<usize> = counts.iter().map(|&(row, _)| row).collect();
            let value = self.value(&used, &numbers)?;
            if value.is_finite() {
                tried.push(counts.clone());
            }
            if best.is_none() || value <= lowest * (1.0 + TRIFLE) {
                best = Some((counts, value));
            }
            lowest = lowest.min(value);
        }
        match best.filter(|(_, value)| value.is_finite()) {
            Some((counts, value)) => Ok(Rounded {
                shares,
                counts,
                value,
            }),
            None => Err(Error::BudgetTooSmall {
                budget: self.campaign.budget as usize,
                tasks: rows.len(),
            }),
        }
    }

    /// Samples that shares ask for, before rounding.
    fn wanted(&self, shares: &Shares, rows: &[usize]) -> Vec<f64> {
        let share = |row: usize| shares.atoms.iter().find(|atom| atom.row == Some(row));
        let wanted = |&row: &usize| {
            let extra = share(row).map_or(0.0, |atom| atom.weight * shares.money);
            base_of(shares, row) as f64 + extra / self.candidates.cost(row)
        };
        rows.iter().map(wanted).collect()
    }

    /// The plan with its certificate.
    fn assemble(&self, plan: &Rounded, relaxed: &Shares) -> Result<CampaignPlan> {
        let (campaign, shares) = (self.campaign, &plan.shares);
        let rows: Vec<usize> = plan.counts.iter().map(|&(row, _)| row).collect();
        let wanted = self.wanted(shares, &rows);
        let all = shares.rows();
        let money = |(&row, n): (&usize, &f64)| n * self.candidates.cost(row);
        let total: f64 = all.iter().zip(&self.wanted(shares, &all)).map(money).sum();
        let mut tasks: Vec<PlannedTask> = Vec::new();
        let mut spent = 0.0;
        for (&(row, n), wanted) in plan.counts.iter().zip(&wanted) {
            let price = self.candidates.cost(row);
            let cost = n as f64 * price + campaign.switch_cost;
            spent += cost;
            let embedding = self.candidates.row(row).to_vec();
            tasks.push(PlannedTask {
                atom: DesignAtom {
                    task: embedding.clone(),
                    row: Some(row),
                    weight: wanted * price / total,
                    embedding,
                    similarity: None,
                    risk_share: 0.0,
                },
                n,
                cost,
            });
        }
        tasks.sort_by(|a, b| {
            b.atom
                .weight
                .total_cmp(&a.atom.weight)
                .then(a.atom.row.cmp(&b.atom.row))
        });
        self.explain(&mut tasks)?;
        Ok(CampaignPlan {
            tasks,
            objective: shares.value * campaign.budget,
            lower_bound: relaxed
                .lower_bound
                .filter(|bound| *bound <= shares.value * (1.0 + 1e-6))
                .map(|bound| bound.min(shares.value) * campaign.budget),
            plan_objective: plan.value * campaign.budget,
            iterations: relaxed.iterations,
            spent,
            stopped_at: relaxed
                .lower_bound
                .map(|bound| 1.0 - bound / relaxed.value)
                .filter(|gap| *gap > STOPPED * campaign.tolerance),
        })
    }

    /// Fills in similarities to the targets and shares of the risk.
    fn explain(&self, tasks: &mut [PlannedTask]) -> Result<()> {
        let rows: Vec<usize> = tasks.iter().filter_map(|task| task.atom.row).collect();
        let counts: Vec<f64> = tasks.iter().map(|task| task.n as f64).collect();
        let Some(framed) = self.framed(&rows, &counts)? else {
            return Ok(());
        };
        let solved = match wide::well_conditioned(framed.information.as_ref()) {
            Some(factor) => factor.solve(framed.need.l.as_ref()),
            None => {
                let inverse = linalg::pseudo_inverse(framed.information.as_ref(), 1e-12)?;
                linalg::product(inverse.as_ref(), framed.need.l.as_ref())
            }
        };
        let images: Vec<f64> = if solved.nrows() >= wide::WIDE {
            let all = Mat::from_fn(solved.nrows(), counts.len(), |i, j| framed.columns[j][i]);
            wide::squared_images(solved.transpose(), all.as_ref())
        } else {
            let image = |column: &Vec<f64>| squared_image(solved.transpose(), column);
            framed.columns.iter().map(image).collect()
        };
        let parts: Vec<f64> = images
            .iter()
            .zip(&counts)
            .map(|(image, n)| n * image)
            .collect();
        let total = parts.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        for (task, part) in tasks.iter_mut().zip(parts) {
            task.atom.risk_share = part / total;
            if let Need::Targets { rows, .. } = self.campaign.need
                && rows.len() < MANY
            {
                let cosines = rows
                    .chunks_exact(self.candidates.dim())
                    .map(|row| linalg::cosine(row, &task.atom.embedding));
                task.atom.similarity = cosines.max_by(f64::total_cmp);
            }
        }
        Ok(())
    }
}

/// Samples that a row has before any is weighed.
fn base_of(shares: &Shares, row: usize) -> usize {
    let found = shares.base.iter().find(|(other, _)| *other == row);
    found.map_or(0, |&(_, n)| n)
}
