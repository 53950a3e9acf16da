//! Plans with costs: fewer tasks with more samples each.
//!
//! A strategy decides as if switches were free and all samples cost the same. Each stage's part of that plan is then
//! a campaign ([`Campaign`]): tasks go while that pays, and those that stay get whole episodes. It is a campaign over
//! the tasks that the strategy named, or over all tasks of a finite space whose samples have different costs: a cheap
//! task may teach more for its cost than one that teaches more.

use std::collections::HashSet;

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
use crate::task::{Task, TaskId};

/// Tasks of a finite space that are weighed by their costs at most; of more, only those that the strategy named.
const MOST_WEIGHED: usize = 20_000;

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
        let mut parts = worth_a_task(
            by_stage(decision.items),
            budget as f64,
            least,
            collection.max_tasks,
        );
        // Passive collection stays with what it drew.
        if !collection.task_costs.is_empty() && self.strategy.needs_model() {
            parts.iter_mut().for_each(|part| self.widen(part));
        }
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
        decision.items = one_item_a_task(items);
        Ok(decision)
    }

    /// Adds the tasks of a finite space that a stage's part has not: none is planned of them yet.
    fn widen(&self, part: &mut ItemPart) {
        let space = &self.study.config.space;
        let Some(count) = space.count().filter(|&count| count <= MOST_WEIGHED) else {
            return;
        };
        let named: HashSet<TaskId> = part.items.iter().map(|item| item.task.id.clone()).collect();
        let tasks = (0..count).filter_map(|row| space.task_at(row));
        let others = tasks.filter(|task| !named.contains(&task.id));
        let stage = part.stage;
        part.items.extend(others.map(|task| {
            let (similarity, reason) = self.why_for_its_cost(&task, stage);
            PlanItem {
                similarity,
                ..PlanItem::new(task, 0, stage, &reason)
            }
        }));
    }

    /// Why a task is in a plan that the strategy alone would not have named.
    fn why_for_its_cost(&self, task: &Task, stage: Stage) -> (Option<f64>, String) {
        let config = &self.study.config;
        let cost = format!("at {} a sample", config.collection.cost_of(&task.id));
        let known = self.knowledge.as_ref().filter(|known| known.has_target());
        let (Stage::Exploit, Some(known)) = (stage, known) else {
            return (None, format!("teaches most for its cost, {cost}"));
        };
        let map = known.model.map.source_part(0, config.source_features());
        let embedding = linalg::apply(map, &apply_row(&config.task_features, task));
        let cosines = known.targets.iter();
        let cosines = cosines.map(|target| crate::metric::cosine(&embedding, target));
        let cosine = cosines.max_by(|a, b| a.abs().total_cmp(&b.abs()));
        let reason = match cosine {
            Some(cosine) => format!("serves the target (cosine {cosine:.2}), {cost}"),
            None => format!("serves the target, {cost}"),
        };
        (cosine, reason)
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
        let reachable = within(&span(&rows, dim)?, &need);
        let mut candidates = Candidates::new(dim, rows)?;
        if !collection.task_costs.is_empty() {
            candidates = candidates.with_costs(self.relative_costs(part))?;
        }
        let given = self.given.as_ref().filter(|_| self.knowledge.is_some());
        let given = given.map(|given| given * faer::Scale(1.0 / collection.episode as f64));
        let plan = |need: &Mat<f64>| {
            let campaign = Campaign {
                given: given.as_ref().map(Mat::as_ref),
                switch_cost: collection.switch_cost / collection.unit(),
                max_tasks: (cap < usize::MAX).then_some(cap),
                min_samples: collection.smallest_units(),
                capacities: Some(capacities),
                ..Campaign::new(Criterion::Trace, Need::Moment(need.as_ref()), budget)
            };
            campaign.plan(&candidates)
        };
        // Of a need that is partly out of reach, what the tasks can teach.
        let planned = plan(&need).or_else(|_| plan(&reachable))?;
        let mut units = vec![0; part.items.len()];
        for task in planned.tasks {
            if let Some(row) = task.atom.row {
                units[row] += task.n;
            }
        }
        Ok(units)
    }

    /// What a sample of each task of a part costs, over that of a sample in general.
    fn relative_costs(&self, part: &ItemPart) -> Vec<f64> {
        let collection = &self.study.config.collection;
        let items = part.items.iter();
        items
            .map(|item| collection.relative_cost(&item.task.id))
            .collect()
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
        span(rows, dim)
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
        let costs = self.relative_costs(part);
        let most = |row: usize| capacities[row].unwrap_or(usize::MAX);
        let mut order: Vec<usize> = (0..part.items.len())
            .filter(|&row| part.items[row].n > 0 && most(row) >= smallest)
            .collect();
        order.sort_by_key(|&row| (std::cmp::Reverse(part.items[row].n), row));
        let mut spent = 0.0;
        order.retain(|&row| {
            let least = switch + smallest as f64 * costs[row];
            let pays = spent + least <= budget;
            spent += if pays { least } else { 0.0 };
            pays
        });
        for row in order.split_off(order.len().min(cap)) {
            spent -= switch + smallest as f64 * costs[row];
        }
        let mut units = vec![0; part.items.len()];
        if order.is_empty() {
            return Ok(units);
        }
        order.iter().for_each(|&row| units[row] = smallest);
        let weights: Vec<f64> = order.iter().map(|&row| part.items[row].n as f64).collect();
        let limits: Vec<usize> = order.iter().map(|&row| most(row) - smallest).collect();
        let cost: f64 = order
            .iter()
            .zip(&weights)
            .map(|(&row, w)| costs[row] * w)
            .sum();
        let mean = cost / weights.iter().sum::<f64>();
        let rest = ((budget - spent).max(0.0) / mean) as usize;
        let more = apportion_within(&weights, rest, &limits)?;
        order.iter().zip(more).for_each(|(&row, n)| units[row] += n);
        Ok(units)
    }
}

/// The projection onto what tasks can teach, whose embeddings follow each other.
fn span(embeddings: &[f64], dim: usize) -> Result<Mat<f64>> {
    let rows = faer::MatRef::from_column_major_slice(embeddings, dim, embeddings.len() / dim);
    let svd = linalg::svd(rows, "the tasks of a plan")?;
    let rank = svd.s.iter().filter(|&&s| s > 1e-9 * svd.s[0]).count();
    let basis = svd.u.as_ref().subcols(0, rank);
    Ok(linalg::product(basis, basis.transpose()))
}

/// The part of a need that lies within a projection.
fn within(projection: &Mat<f64>, need: &Mat<f64>) -> Mat<f64> {
    projection * need * projection
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

/// Items of different stages for the same task as one: its switch is paid once.
fn one_item_a_task(items: Vec<PlanItem>) -> Vec<PlanItem> {
    let mut merged: Vec<PlanItem> = Vec::with_capacity(items.len());
    for item in items {
        let Some(known) = merged
            .iter_mut()
            .find(|known| known.task.id == item.task.id)
        else {
            merged.push(item);
            continue;
        };
        let n = known.n + item.n;
        let reason = format!("{}; {}", known.reason, item.reason);
        let similarity = known.similarity.or(item.similarity);
        if item.n > known.n {
            *known = item;
        }
        *known = PlanItem {
            n,
            reason,
            similarity,
            ..known.clone()
        };
    }
    merged
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
