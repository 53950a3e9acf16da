//! Plans with costs: fewer tasks with more samples each.
//!
//! A strategy decides as if switches were free. Each stage's part of that plan is then a campaign over the
//! tasks that it named ([`Campaign`]): tasks go while that pays, and those that stay get whole episodes.

use faer::Mat;

use super::ask::{Available, Round};
use crate::data::Stage;
use crate::design::rounding::apportion_within;
use crate::design::{Campaign, Candidates, Criterion, Need};
use crate::error::{Error, Result};
use crate::features::apply_row;
use crate::linalg;
use crate::strategy::outputs::outputs;
use crate::strategy::{Decision, PlanItem};

/// A stage's part of a plan.
struct ItemPart {
    stage: Stage,
    items: Vec<PlanItem>,
}

impl ItemPart {
    fn samples(&self) -> usize {
        self.items.iter().map(|item| item.n).sum()
    }
}

impl Round<'_> {
    /// A decision cut to what a budget can pay and a rig can do. `left` says how many samples a task has.
    pub(super) fn affordable(
        &self,
        mut decision: Decision,
        budget: usize,
        left: Available<'_>,
    ) -> Result<Decision> {
        let collection = &self.study.config.collection;
        if collection.is_free() {
            return Ok(decision);
        }
        let least = collection.switch_cost + collection.unit() * collection.smallest_units() as f64;
        let parts = worth_a_task(
            by_stage(decision.items),
            budget as f64,
            least,
            collection.max_tasks,
        );
        let total = parts.iter().map(ItemPart::samples).sum::<usize>().max(1) as f64;
        let mut tasks = collection.max_tasks.unwrap_or(usize::MAX);
        let mut items = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let share = part.samples() as f64 / total;
            // The others get a task each at least.
            let others = parts.len() - 1 - index;
            let cap = match collection.max_tasks {
                Some(most) => ((most as f64 * share).round() as usize).clamp(1, tasks - others),
                None => usize::MAX,
            };
            let cost = budget as f64 * share;
            let mut chosen = self.part_within(part, cost, cap, left)?;
            tasks = tasks.saturating_sub(chosen.len());
            items.append(&mut chosen);
        }
        if items.is_empty() {
            return Err(Error::State(format!(
                "no task of the plan has the {} samples left that a batch takes: allow smaller ones, or record more",
                collection.smallest_batch
            )));
        }
        decision.items = items;
        Ok(decision)
    }

    /// A stage's part within a cost and a number of tasks.
    fn part_within(
        &self,
        part: &ItemPart,
        cost: f64,
        cap: usize,
        left: Available<'_>,
    ) -> Result<Vec<PlanItem>> {
        let collection = &self.study.config.collection;
        let episode = collection.episode;
        let capacities: Vec<Option<usize>> = part
            .items
            .iter()
            .map(|item| left(&item.task).map(|left| left / episode))
            .collect();
        // A campaign weighs tasks of one output; of several, those that the strategy gave most stay.
        let one_output = self
            .knowledge
            .as_ref()
            .is_none_or(|known| outputs(known.model) == 1);
        let budget = cost / collection.unit();
        let campaign = one_output.then(|| self.campaign(part, budget, cap, &capacities));
        let units = match campaign {
            Some(Ok(units)) => units,
            // Too few tasks for all directions: those that the strategy gave most.
            _ => self.heaviest(part, budget, cap, &capacities)?,
        };
        let items = part.items.iter().zip(units).filter(|(_, units)| *units > 0);
        Ok(items
            .map(|(item, units)| PlanItem {
                n: units * episode,
                ..item.clone()
            })
            .collect())
    }

    /// Episodes of each task that serve the stage best.
    fn campaign(
        &self,
        part: &ItemPart,
        budget: f64,
        cap: usize,
        capacities: &[Option<usize>],
    ) -> Result<Vec<usize>> {
        let collection = &self.study.config.collection;
        let (rows, dim) = self.embeddings(part);
        let need = self.need(part.stage, &rows, dim)?;
        let candidates = Candidates::new(dim, rows)?;
        let given = self.given.as_ref().filter(|_| self.knowledge.is_some());
        let given = given.map(|given| given * faer::Scale(1.0 / collection.episode as f64));
        let campaign = Campaign {
            given: given.as_ref().map(Mat::as_ref),
            switch_cost: collection.switch_cost / collection.unit(),
            max_tasks: (cap < usize::MAX).then_some(cap),
            min_samples: collection.smallest_units(),
            capacities: Some(capacities),
            ..Campaign::new(Criterion::Trace, Need::Moment(need.as_ref()), budget)
        };
        let mut units = vec![0; part.items.len()];
        for task in campaign.plan(&candidates)?.tasks {
            if let Some(row) = task.atom.row {
                units[row] += task.n;
            }
        }
        Ok(units)
    }

    /// What tasks teach, row-major: embeddings of the model, or task features before there is one.
    fn embeddings(&self, part: &ItemPart) -> (Vec<f64>, usize) {
        let features = &self.study.config.task_features;
        let rows = part
            .items
            .iter()
            .map(|item| apply_row(features, &item.task));
        match &self.knowledge {
            None => {
                let rows: Vec<f64> = rows.flatten().collect();
                let dim = rows.len() / part.items.len().max(1);
                (rows, dim)
            }
            Some(known) => {
                let map = known
                    .model
                    .map
                    .source_part(0, self.study.config.source_features());
                let rows = rows.flat_map(|row| linalg::apply(map, &row));
                (rows.collect(), map.nrows())
            }
        }
    }

    /// What a stage needs: the targets, or all that its tasks can teach.
    fn need(&self, stage: Stage, rows: &[f64], dim: usize) -> Result<Mat<f64>> {
        if let (Stage::Exploit, Some(known)) = (stage, &self.knowledge)
            && known.has_target()
        {
            return Ok(known.need.clone());
        }
        let rows = faer::MatRef::from_column_major_slice(rows, dim, rows.len() / dim);
        let svd = linalg::svd(rows, "the tasks of a plan")?;
        let rank = svd.s.iter().filter(|&&s| s > 1e-9 * svd.s[0]).count();
        let basis = svd.u.as_ref().subcols(0, rank);
        Ok(linalg::product(basis, basis.transpose()))
    }

    /// As many of the heaviest tasks as the budget pays, with shares as the strategy gave them.
    fn heaviest(
        &self,
        part: &ItemPart,
        budget: f64,
        cap: usize,
        capacities: &[Option<usize>],
    ) -> Result<Vec<usize>> {
        let collection = &self.study.config.collection;
        let (smallest, switch) = (
            collection.smallest_units(),
            collection.switch_cost / collection.unit(),
        );
        let most = |row: usize| capacities[row].unwrap_or(usize::MAX);
        let mut order: Vec<usize> = (0..part.items.len())
            .filter(|&row| most(row) >= smallest)
            .collect();
        order.sort_by_key(|&row| (std::cmp::Reverse(part.items[row].n), row));
        let affordable = (budget / (switch + smallest as f64)) as usize;
        order.truncate(affordable.min(cap));
        let mut units = vec![0; part.items.len()];
        if order.is_empty() {
            return Ok(units);
        }
        order.iter().for_each(|&row| units[row] = smallest);
        let spent = order.len() as f64 * (switch + smallest as f64);
        let rest = (budget - spent).max(0.0) as usize;
        let weights: Vec<f64> = order.iter().map(|&row| part.items[row].n as f64).collect();
        let limits: Vec<usize> = order.iter().map(|&row| most(row) - smallest).collect();
        let more = apportion_within(&weights, rest, &limits)?;
        order.iter().zip(more).for_each(|(&row, n)| units[row] += n);
        Ok(units)
    }
}

/// The items of each stage, in the order of the stages.
fn by_stage(items: Vec<PlanItem>) -> Vec<ItemPart> {
    let mut parts: Vec<ItemPart> = Vec::new();
    for item in items {
        match parts.iter_mut().find(|part| part.stage == item.stage) {
            Some(part) => part.items.push(item),
            None => parts.push(ItemPart {
                stage: item.stage,
                items: vec![item],
            }),
        }
    }
    parts
}

/// The parts that can pay a task, once the lightest others have given way.
fn worth_a_task(
    mut parts: Vec<ItemPart>,
    budget: f64,
    least: f64,
    most: Option<usize>,
) -> Vec<ItemPart> {
    loop {
        let total = parts.iter().map(ItemPart::samples).sum::<usize>().max(1) as f64;
        let lightest = (0..parts.len()).min_by_key(|&index| parts[index].samples());
        let Some(lightest) = lightest.filter(|_| parts.len() > 1) else {
            return parts;
        };
        let share = parts[lightest].samples() as f64 / total;
        if budget * share >= least && most.is_none_or(|most| parts.len() <= most) {
            return parts;
        }
        parts.remove(lightest);
    }
}
