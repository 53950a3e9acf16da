//! From shares of a budget to whole samples, with the reasons.

use super::ledger::{Ledger, Shares};
use super::{CampaignPlan, PlannedTask};
use crate::design::rounding::{Purse, spend};
use crate::design::scan::squared_image;
use crate::design::{DesignAtom, Need};
use crate::error::{Error, Result};
use crate::linalg;

/// Samples below which a task may be left out, tried one after the other.
const LIGHTEST: [f64; 7] = [0.0, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0];
/// What fewer tasks may cost.
const TRIFLE: f64 = 5e-4;

impl Ledger<'_> {
    /// Whole samples, and what they are worth.
    pub(super) fn finish(&self, shares: &Shares, relaxed: &Shares) -> Result<CampaignPlan> {
        let campaign = self.campaign;
        let rows = shares.rows();
        let share = |row: usize| shares.atoms.iter().find(|atom| atom.row == Some(row));
        let base = |row: usize| {
            shares
                .base
                .iter()
                .find(|(other, _)| *other == row)
                .map_or(0, |&(_, n)| n)
        };
        let wanted: Vec<f64> = rows
            .iter()
            .map(|&row| {
                let extra = share(row).map_or(0.0, |atom| atom.weight * shares.money);
                base(row) as f64 + extra / self.candidates.cost(row)
            })
            .collect();
        let purse = Purse {
            money: campaign.budget - campaign.switch_cost * rows.len() as f64,
            costs: rows.iter().map(|&row| self.candidates.cost(row)).collect(),
            least: rows.iter().map(|&row| base(row)).collect(),
            most: rows.iter().map(|&row| self.capacity(row)).collect(),
        };
        let (mut best, mut lowest): (Option<(Vec<usize>, f64)>, f64) = (None, f64::INFINITY);
        // Tasks that would get next to nothing are left out where that costs next to nothing.
        for least in LIGHTEST {
            let wanted: Vec<f64> = wanted
                .iter()
                .map(|&n| if n < least { 0.0 } else { n })
                .collect();
            let Ok(counts) = spend(&wanted, &purse) else {
                continue;
            };
            let used: Vec<usize> = (0..rows.len()).filter(|&i| counts[i] > 0).collect();
            // Of a small budget every task gets so little.
            if used.is_empty() {
                continue;
            }
            let numbers: Vec<f64> = used.iter().map(|&i| counts[i] as f64).collect();
            let value = self.value(&used.iter().map(|&i| rows[i]).collect::<Vec<_>>(), &numbers)?;
            if best.is_none() || value <= lowest * (1.0 + TRIFLE) {
                best = Some((counts, value));
            }
            lowest = lowest.min(value);
        }
        let Some((counts, value)) = best.filter(|(_, value)| value.is_finite()) else {
            return Err(Error::BudgetTooSmall {
                budget: campaign.budget as usize,
                tasks: rows.len(),
            });
        };
        let total: f64 = wanted
            .iter()
            .zip(&purse.costs)
            .map(|(n, cost)| n * cost)
            .sum();
        // Tasks that get no sample leave their share to the others, weighed anew.
        let kept: Vec<usize> = (0..rows.len())
            .filter(|&i| counts[i] > 0)
            .map(|i| rows[i])
            .collect();
        if kept.len() < rows.len() {
            let base: Vec<usize> = shares.base.iter().map(|&(row, _)| row).collect();
            if let Some(fewer) = self.shares(Some(&kept), &base, shares.money)? {
                return self.finish(&fewer, relaxed);
            }
        }
        let mut tasks: Vec<PlannedTask> = Vec::new();
        let mut spent = 0.0;
        for (index, &row) in rows
            .iter()
            .enumerate()
            .filter(|(index, _)| counts[*index] > 0)
        {
            let cost = counts[index] as f64 * purse.costs[index] + campaign.switch_cost;
            spent += cost;
            let embedding = self.candidates.row(row).to_vec();
            tasks.push(PlannedTask {
                atom: DesignAtom {
                    task: embedding.clone(),
                    row: Some(row),
                    weight: wanted[index] * purse.costs[index] / total,
                    embedding,
                    similarity: None,
                    risk_share: 0.0,
                },
                n: counts[index],
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
            plan_objective: value * campaign.budget,
            iterations: relaxed.iterations,
            spent,
        })
    }

    /// Fills in similarities to the targets and shares of the risk.
    fn explain(&self, tasks: &mut [PlannedTask]) -> Result<()> {
        let rows: Vec<usize> = tasks.iter().filter_map(|task| task.atom.row).collect();
        let counts: Vec<f64> = tasks.iter().map(|task| task.n as f64).collect();
        let Some(scene) = self.scene(&rows, &counts)? else {
            return Ok(());
        };
        let inverse = linalg::pseudo_inverse(scene.information.as_ref(), 1e-12)?;
        let solved = linalg::product(inverse.as_ref(), scene.need.l.as_ref());
        let part = |(column, n): (&Vec<f64>, &f64)| n * squared_image(solved.transpose(), column);
        let parts: Vec<f64> = scene.columns.iter().zip(&counts).map(part).collect();
        let total = parts.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        for (task, part) in tasks.iter_mut().zip(parts) {
            task.atom.risk_share = part / total;
            if let Need::Targets { rows, .. } = self.campaign.need {
                let cosines = rows
                    .chunks_exact(self.candidates.dim())
                    .map(|row| linalg::cosine(row, &task.atom.embedding));
                task.atom.similarity = cosines.max_by(f64::total_cmp);
            }
        }
        Ok(())
    }
}
