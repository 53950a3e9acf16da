//! Plans that respect how many samples tasks have left.
//!
//! A plan without limits that happens to keep them is the best there is. Otherwise the strategy plans
//! again over the tasks that have something left, and again for what these could not give, until
//! the budget is spent.

use std::collections::{BTreeMap, HashMap};

use super::ask::Round;
use crate::data::Stage;
use crate::design::rounding::apportion_within;
use crate::error::{Error, Result};
use crate::space::{List, Space};
use crate::strategy::{Decision, PlanItem, StrategyConfig, StrategyKind, TaskDesign};
use crate::task::{Task, TaskId};

/// The tasks of a finite space and what each has left.
pub(super) struct Remaining {
    tasks: Vec<Task>,
    rows: HashMap<TaskId, usize>,
    left: Vec<usize>,
    /// Where the plan has a task in a stage.
    planned: HashMap<(usize, Stage), usize>,
}

impl Remaining {
    /// Nothing where tasks cannot be listed or none has a limit.
    ///
    /// # Errors
    /// No task with anything left.
    pub(super) fn of(
        space: &Space,
        available: &dyn Fn(&Task) -> Option<usize>,
    ) -> Result<Option<Self>> {
        let Some(count) = space.count() else {
            return Ok(None);
        };
        let tasks: Vec<Task> = (0..count).filter_map(|row| space.task_at(row)).collect();
        let left: Vec<Option<usize>> = tasks.iter().map(available).collect();
        if left.iter().all(Option::is_none) {
            return Ok(None);
        }
        let left: Vec<usize> = left.iter().map(|left| left.unwrap_or(usize::MAX)).collect();
        if left.iter().all(|&left| left == 0) {
            return Err(nothing_left(&format!("{} tasks", left.len())));
        }
        let ids = tasks.iter().map(|task| task.id.clone());
        Ok(Some(Self {
            rows: ids.zip(0..).collect(),
            tasks,
            left,
            planned: HashMap::new(),
        }))
    }

    /// What all tasks have left together.
    pub(super) fn total(&self) -> usize {
        self.left
            .iter()
            .fold(0, |sum: usize, &left| sum.saturating_add(left))
    }

    fn row(&self, task: &Task) -> Option<usize> {
        self.rows.get(&task.id).copied()
    }

    /// The tasks that have something left, and how much.
    fn open(&self) -> Result<(Space, Vec<usize>)> {
        let open = || {
            self.tasks
                .iter()
                .zip(&self.left)
                .filter(|(_, left)| **left > 0)
        };
        let tasks: Vec<Vec<f64>> = open().map(|(task, _)| task.to_vec()).collect();
        let ids = open().map(|(task, _)| task.id.to_string()).collect();
        Ok((
            Space::List(List::named(ids, &tasks)?),
            open().map(|(_, &left)| left).collect(),
        ))
    }

    /// Whether the tasks have enough left for all items.
    fn holds(&self, items: &[PlanItem]) -> bool {
        let mut left = self.left.clone();
        items.iter().all(|item| {
            let row = self.row(&item.task);
            let rest = row.and_then(|row| Some((row, left[row].checked_sub(item.n)?)));
            rest.map(|(row, rest)| left[row] = rest).is_some()
        })
    }

    /// The design, if all its tasks have something left.
    fn kept<'a>(&self, design: Option<&'a TaskDesign>) -> Option<&'a TaskDesign> {
        let has = |task: &Task| self.row(task).is_some_and(|row| self.left[row] > 0);
        design.filter(|design| design.tasks.iter().all(has))
    }

    /// Moves as much as tasks have left into a plan, and says how much that is.
    fn take(&mut self, items: Vec<PlanItem>, plan: &mut Vec<PlanItem>) -> usize {
        let mut taken = 0;
        for item in items {
            let Some(row) = self.row(&item.task) else {
                continue;
            };
            let n = item.n.min(self.left[row]);
            if n == 0 {
                continue;
            }
            self.left[row] -= n;
            taken += n;
            match self.planned.get(&(row, item.stage)) {
                Some(&index) => plan[index].n += n,
                None => {
                    self.planned.insert((row, item.stage), plan.len());
                    plan.push(PlanItem { n, ..item });
                }
            }
        }
        taken
    }

    /// Gives tasks of a plan more, in proportion to what they have, and says how much.
    fn top_up(&mut self, plan: &mut [PlanItem], samples: usize) -> Result<usize> {
        let mut planned: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for (index, item) in plan.iter().enumerate() {
            if let Some(row) = self.row(&item.task) {
                let (last, n) = planned.entry(row).or_default();
                (*last, *n) = (index, *n + item.n);
            }
        }
        let weights: Vec<f64> = planned.values().map(|(_, n)| *n as f64).collect();
        let most: Vec<usize> = planned.keys().map(|&row| self.left[row]).collect();
        let counts = apportion_within(&weights, samples, &most)?;
        for ((row, (last, _)), count) in planned.iter().zip(&counts) {
            self.left[*row] -= count;
            plan[*last].n += count;
        }
        Ok(counts.iter().sum())
    }
}

impl Round<'_> {
    /// What the strategy decides for a finite space, of whose tasks no more is asked than they have
    /// left. They have the budget together, which may be less than was asked for.
    pub(super) fn decide_within(
        &self,
        budget: usize,
        asked: usize,
        mut remaining: Remaining,
    ) -> Result<Decision> {
        let mut unlimited = self.unlimited(budget, asked, &remaining)?;
        if let Some(decision) = unlimited.take_if(|decision| remaining.holds(&decision.items)) {
            return Ok(decision);
        }
        let mut plan = Decision {
            items: Vec::new(),
            exploration: unlimited.as_ref().and_then(|all| all.exploration.clone()),
        };
        let mut rest = budget;
        while rest > 0 {
            rest -= if rest == remaining.total() {
                remaining.take(self.everything(&remaining), &mut plan.items)
            } else {
                self.pass(rest, &mut remaining, unlimited.take(), &mut plan)?
            };
        }
        plan.items.sort_by_key(|item| item.stage);
        for item in &mut plan.items {
            let row = remaining.row(&item.task);
            if row.is_some_and(|row| remaining.left[row] == 0) {
                item.reason.push_str("; all that it has left");
            }
        }
        Ok(plan)
    }

    /// What would be decided without limits; nothing where the budget is too small for it only
    /// because that is all there is.
    fn unlimited(
        &self,
        budget: usize,
        asked: usize,
        remaining: &Remaining,
    ) -> Result<Option<Decision>> {
        let (own, used) = (&self.study.config.space, self.study.exploration.as_ref());
        match self.decide(own, budget, None, used) {
            Err(Error::BudgetTooSmall { .. }) if budget < asked => Ok(None),
            // Fewer tasks may need fewer samples.
            Err(Error::BudgetTooSmall { .. }) => {
                match self.decide(&remaining.open()?.0, budget, None, remaining.kept(used)) {
                    Err(error @ Error::BudgetTooSmall { .. }) => Err(error),
                    other => Ok(other.ok()),
                }
            }
            other => other.map(Some),
        }
    }

    /// Plans some samples more, at least one, and says how many. The tasks have all of them left.
    fn pass(
        &self,
        samples: usize,
        remaining: &mut Remaining,
        unlimited: Option<Decision>,
        plan: &mut Decision,
    ) -> Result<usize> {
        let (space, left) = remaining.open()?;
        let used = remaining.kept(self.study.exploration.as_ref());
        // What is left may be too little for a design, or reach nothing that one could be for.
        let found = self.decide(&space, samples, Some(&left), used).ok();
        if let Some(decision) = found.or(unlimited) {
            if plan.exploration.is_none() {
                plan.exploration = decision.exploration;
            }
            let taken = remaining.take(decision.items, &mut plan.items);
            if taken > 0 {
                return Ok(taken);
            }
        }
        let taken = remaining.top_up(&mut plan.items, samples)?;
        if taken > 0 {
            return Ok(taken);
        }
        let spread = StrategyConfig::new(StrategyKind::Passive).build();
        let context = self.context(&space, samples, Some(&left), None, None);
        let mut items = spread.plan(&context)?.items;
        items.iter_mut().for_each(|item| item.stage = self.stage());
        Ok(remaining.take(items, &mut plan.items))
    }

    /// All that is left, task by task.
    fn everything(&self, remaining: &Remaining) -> Vec<PlanItem> {
        let rows = remaining.tasks.iter().zip(&remaining.left);
        rows.filter(|(_, left)| **left > 0)
            .map(|(task, &n)| PlanItem {
                id: 0,
                task: task.clone(),
                n,
                stage: self.stage(),
                similarity: None,
                reason: "the budget takes every task".into(),
            })
            .collect()
    }

    /// The stage of samples that no design asked for.
    fn stage(&self) -> Stage {
        if self.knowledge.is_none() {
            Stage::WarmUp
        } else {
            Stage::Explore
        }
    }

    /// What the strategy decides for a space that cannot be listed or has no limits, cut to what
    /// its tasks have left; the others take what one cannot give, in proportion.
    pub(super) fn decide_capped(
        &self,
        budget: usize,
        available: &dyn Fn(&Task) -> Option<usize>,
    ) -> Result<Decision> {
        let (space, used) = (&self.study.config.space, self.study.exploration.as_ref());
        let mut decision = self.decide(space, budget, None, used)?;
        // Items by task: several stages may ask for the same.
        let mut tasks: Vec<(&Task, Vec<usize>)> = Vec::new();
        for (index, item) in decision.items.iter().enumerate() {
            match tasks.iter_mut().find(|(task, _)| task.id == item.task.id) {
                Some((_, items)) => items.push(index),
                None => tasks.push((&item.task, vec![index])),
            }
        }
        let wanted = |items: &[usize]| items.iter().map(|&i| decision.items[i].n).sum::<usize>();
        let most: Vec<usize> = tasks
            .iter()
            .map(|(task, _)| available(task).unwrap_or(usize::MAX))
            .collect();
        if tasks
            .iter()
            .zip(&most)
            .all(|((_, items), most)| wanted(items) <= *most)
        {
            return Ok(decision);
        }
        let weights: Vec<f64> = tasks
            .iter()
            .map(|(_, items)| wanted(items) as f64)
            .collect();
        let totals = apportion_within(&weights, budget, &most)?;
        if totals.iter().all(|&n| n == 0) {
            return Err(nothing_left(&format!("{} tasks of the plan", tasks.len())));
        }
        let groups: Vec<Vec<usize>> = tasks.into_iter().map(|(_, items)| items).collect();
        for (items, total) in groups.iter().zip(totals) {
            let weights: Vec<f64> = items.iter().map(|&i| decision.items[i].n as f64).collect();
            let counts = apportion_within(&weights, total, &vec![usize::MAX; items.len()])?;
            for (&index, n) in items.iter().zip(counts) {
                decision.items[index].n = n;
            }
        }
        decision.items.retain(|item| item.n > 0);
        Ok(decision)
    }
}

fn nothing_left(tasks: &str) -> Error {
    Error::State(format!(
        "no task has rows left: none of the {tasks} can give another sample, so record more or end the study"
    ))
}
