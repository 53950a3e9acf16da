//! Many tasks that have one feature each, as kinds with nothing in common: a closed form.
//!
//! The information is then diagonal, `σ_j = Σ q_i x_i² / cost_i` over the tasks of feature `j`, and only
//! the best task of each feature is used, with `s_j = max x_i² / cost_i`. The trace criterion is
//! `Σ a_j / (q_j s_j)`, least at `q_j ∝ √(a_j / s_j)`; the largest eigenvalue, for a diagonal need,
//! `max a_j / (q_j s_j)`, least at `q_j ∝ a_j / s_j`. Both are exact, so that the value is its own bound.

use super::{Campaign, CampaignPlan, PlannedTask};
use crate::error::{Error, Result};
use crate::linalg::{self, wide};
use crate::optimal::rounding::{SampleBudget, spend};
use crate::optimal::{Candidates, Criterion, DesignAtom, Need};

/// The best task of a feature that is needed.
struct Axis {
    row: usize,
    /// `a_j`.
    need: f64,
    /// `x²`.
    strength: f64,
    cost: f64,
}

/// The plan of a campaign over such tasks; none where there are others, few features, or conditions
/// that need a search.
pub(super) fn plan(
    campaign: &Campaign<'_>,
    candidates: &Candidates<'_>,
) -> Result<Option<CampaignPlan>> {
    let simple = campaign.given.is_none()
        && campaign.switch_cost <= 0.0
        && campaign.max_tasks.is_none()
        && campaign.min_samples <= 1
        && campaign.capacities.is_none()
        && campaign.required.is_empty();
    let everything = matches!(campaign.need, Need::Everything);
    let solvable = everything || campaign.criterion == Criterion::Trace;
    if !simple || !solvable || candidates.dim() < wide::WIDE {
        return Ok(None);
    }
    let Some(axes) = axes(campaign, candidates)? else {
        return Ok(None);
    };
    let least: f64 = axes.iter().map(|axis| axis.cost).sum();
    let uniform = axes
        .iter()
        .all(|axis| axis.cost <= axes[0].cost * (1.0 + 1e-12));
    if least > campaign.budget * (1.0 + 1e-12) {
        if !uniform || candidates.costs().is_some() {
            return Ok(None);
        }
        let tasks = axes.len();
        return Err(Error::value(
            "budget",
            campaign.budget,
            format!(
                "does not pay for tasks that reach all that the target needs, each with its switch and 1 sample at least: that takes {tasks} tasks and at least {least}, so raise it to {least}"
            ),
        ));
    }
    whole(campaign, candidates, &axes).map(Some)
}

/// The best task of every feature that is needed; none if some task has several features, or a
/// feature that is needed has no task.
fn axes(campaign: &Campaign<'_>, candidates: &Candidates<'_>) -> Result<Option<Vec<Axis>>> {
    let k = candidates.dim();
    let forbidden: std::collections::HashSet<usize> = campaign.forbidden.iter().copied().collect();
    let mut best: Vec<Option<(usize, f64)>> = vec![None; k];
    for row in 0..candidates.len() {
        let mut features = candidates.row(row).iter().enumerate();
        let Some((j, x)) = features.find(|(_, x)| **x != 0.0) else {
            continue;
        };
        if features.any(|(_, x)| *x != 0.0) {
            return Ok(None);
        }
        let gain = x * x / candidates.cost(row);
        let usable = gain.is_normal() && !forbidden.contains(&row);
        if usable && best[j].is_none_or(|(_, most)| gain > most) {
            best[j] = Some((row, gain));
        }
    }
    let needs: Vec<f64> = match campaign.need {
        Need::Everything => best
            .iter()
            .map(|best| f64::from(u8::from(best.is_some())))
            .collect(),
        need => {
            let moment = need.moment(k)?;
            (0..k).map(|j| moment[(j, j)]).collect()
        }
    };
    let mut axes = Vec::new();
    for (j, &need) in needs.iter().enumerate().filter(|(_, need)| **need > 0.0) {
        let Some((row, gain)) = best[j] else {
            return Ok(None);
        };
        let cost = candidates.cost(row);
        axes.push(Axis {
            row,
            need,
            strength: gain * cost,
            cost,
        });
    }
    let finite = axes.iter().all(|axis| axis.need.is_finite());
    Ok(Some(axes).filter(|axes| finite && !axes.is_empty()))
}

/// Whole samples of the best tasks.
fn whole(
    campaign: &Campaign<'_>,
    candidates: &Candidates<'_>,
    axes: &[Axis],
) -> Result<CampaignPlan> {
    let ratio = |axis: &Axis| axis.need * axis.cost / axis.strength;
    let part = |axis: &Axis| match campaign.criterion {
        Criterion::Trace => ratio(axis).sqrt(),
        Criterion::MaxEigenvalue => ratio(axis),
    };
    let total: f64 = axes.iter().map(part).sum();
    let objective = match campaign.criterion {
        Criterion::Trace => total * total,
        Criterion::MaxEigenvalue => total,
    };
    let wanted: Vec<f64> = axes
        .iter()
        .map(|axis| part(axis) / total * campaign.budget / axis.cost)
        .collect();
    let sample_budget = SampleBudget {
        money: campaign.budget,
        costs: axes.iter().map(|axis| axis.cost).collect(),
        least: vec![0; axes.len()],
        most: vec![usize::MAX; axes.len()],
    };
    let counts = spend(&wanted, &sample_budget)?;
    let left = |(axis, &n): (&Axis, &usize)| axis.need / (n as f64 * axis.strength);
    let values: Vec<f64> = axes.iter().zip(&counts).map(left).collect();
    let sum: f64 = values.iter().sum();
    let value = match campaign.criterion {
        Criterion::Trace => sum,
        Criterion::MaxEigenvalue => values.iter().copied().fold(0.0, f64::max),
    };
    let task = |(index, axis): (usize, &Axis)| {
        let (weight, risk_share) = (part(axis) / total, values[index] / sum);
        let embedding = candidates.row(axis.row);
        axis.planned(
            (campaign.need, embedding),
            (weight, risk_share),
            counts[index],
        )
    };
    let mut tasks: Vec<PlannedTask> = axes.iter().enumerate().map(task).collect();
    tasks.sort_by(|a, b| {
        let by_row = a.atom.row.cmp(&b.atom.row);
        b.atom.weight.total_cmp(&a.atom.weight).then(by_row)
    });
    Ok(CampaignPlan {
        spent: tasks.iter().map(|task| task.cost).sum(),
        tasks,
        objective,
        lower_bound: Some(objective),
        plan_objective: value * campaign.budget,
        iterations: 0,
        stopped_at: None,
    })
}

impl Axis {
    /// `n` samples of the axis' task, with its weight and its share of the risk.
    fn planned(
        &self,
        (need, embedding): (Need<'_>, &[f64]),
        (weight, risk_share): (f64, f64),
        n: usize,
    ) -> PlannedTask {
        PlannedTask {
            atom: DesignAtom {
                task: embedding.to_vec(),
                row: Some(self.row),
                weight,
                similarity: similarity(need, embedding),
                embedding: embedding.to_vec(),
                risk_share,
            },
            n,
            cost: n as f64 * self.cost,
        }
    }
}

/// The largest cosine to a target, where there are some.
fn similarity(need: Need<'_>, embedding: &[f64]) -> Option<f64> {
    let Need::Targets { rows, .. } = need else {
        return None;
    };
    let targets = rows.chunks_exact(embedding.len());
    targets
        .map(|target| linalg::cosine(target, embedding))
        .max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kinds of unlike strength and cost, some twice: against weights found by the solver.
    #[test]
    fn the_closed_form_is_what_the_solver_finds() {
        let k = 70;
        let (mut rows, mut costs) = (Vec::new(), Vec::new());
        for i in 0..2 * k {
            let mut row = vec![0.0; k];
            row[i % k] = 0.5 + 0.1 * ((i * 7) % 13) as f64;
            rows.extend(row);
            costs.push(1.0 + 0.25 * ((i * 5) % 4) as f64);
        }
        let candidates = Candidates::new(k, rows).unwrap().with_costs(costs).unwrap();
        let target: Vec<f64> = (0..k).map(|j| 1.0 + 0.02 * j as f64).collect();
        let target = Need::Targets {
            rows: &target,
            weights: None,
        };
        for (criterion, need) in [
            (Criterion::Trace, Need::Everything),
            (Criterion::Trace, target),
            (Criterion::MaxEigenvalue, Need::Everything),
        ] {
            let campaign = Campaign::new(criterion, need, 5000.0);
            let exact = plan(&campaign, &candidates).unwrap().unwrap();
            let problem = crate::optimal::Problem::new(criterion, need);
            let found = crate::optimal::solve(&candidates, &problem).unwrap();
            assert!(exact.objective <= found.objective * (1.0 + 1e-9));
            assert!(exact.objective >= found.lower_bound.unwrap() * (1.0 - 1e-9));
            assert!(exact.rounding_factor() < 1.05 && exact.spent <= 5000.0);
        }
        let few = Campaign::new(Criterion::Trace, Need::Everything, 20.0);
        assert!(few.plan(&candidates).is_err());
    }
}
