//! Asking for a plan.

use std::collections::HashMap;
use std::sync::Arc;

use faer::Mat;

use super::event::Planned;
use super::limits::Remaining;
use super::{Progress, Study, TrackedItem};
use crate::data::Stage;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::space::Space;
use crate::strategy::{
    Decision, Knowledge, Plan, PlanContext, PlanItem, Strategy, StrategyKind, TaskDesign, WarmUp,
};
use crate::target::Target;
use crate::task::{Task, TaskId};
use crate::train::TrainContext;

/// What a task has left; none if there is no limit.
pub type Available<'a> = &'a dyn Fn(&Task) -> Option<usize>;

/// What was asked for and has not come back yet, by task.
type UnderWay<'a> = HashMap<&'a TaskId, (&'a Task, usize)>;

/// The model that a round is planned with.
struct PlanningModel {
    model: Option<Arc<Model>>,
    warming_up: bool,
    /// Why the warm-up goes on although it should have ended.
    trouble: Option<Error>,
}

/// A round to be planned: all but its budget and the tasks to choose from.
pub(super) struct Round<'a> {
    pub(super) study: &'a Study,
    pub(super) strategy: &'a dyn Strategy,
    pub(super) warming_up: bool,
    pub(super) knowledge: Option<Knowledge<'a>>,
    /// The information that counts as there already, where there is any.
    pub(super) given: Option<Mat<f64>>,
    /// The task features of the targets, if all of them are known.
    pub(super) targets: Vec<Vec<f64>>,
    /// The tasks for the target that were last asked for, and how many samples of each.
    pub(super) exploited: Vec<(&'a Task, usize)>,
    /// Rows of source tasks so far.
    pub(super) rows: Vec<(&'a Task, usize)>,
}

impl Round<'_> {
    /// What the strategy decides for some tasks; see [`PlanContext`].
    pub(super) fn decide(
        &self,
        space: &Space,
        budget: usize,
        left: Option<&[usize]>,
        exploration: Option<&TaskDesign>,
    ) -> Result<Decision> {
        // Only this strategy samples the nearest tasks, and they take a search.
        let config = &self.study.config;
        let aware = config.own_strategy.is_none() && config.strategy.kind == StrategyKind::Aware;
        let knowledge = match &self.knowledge {
            Some(knowledge) if aware => Some(Knowledge {
                nearest: self.study.nearest(knowledge.model, budget, space)?,
                ..knowledge.clone()
            }),
            other => other.clone(),
        };
        self.strategy
            .plan(&self.context(space, budget, left, knowledge, exploration))
    }

    /// What the strategy decides where no list of tasks has limits.
    fn decide_unlisted(&self, budget: usize, available: Option<Available<'_>>) -> Result<Decision> {
        let space = &self.study.config.space;
        match available {
            Some(available) if space.count().is_none() => self.decide_capped(budget, available),
            _ => self.decide(space, budget, None, self.study.exploration.as_ref()),
        }
    }

    pub(super) fn context<'b>(
        &'b self,
        space: &'b Space,
        budget: usize,
        left: Option<&'b [usize]>,
        knowledge: Option<Knowledge<'b>>,
        exploration: Option<&'b TaskDesign>,
    ) -> PlanContext<'b> {
        let config = &self.study.config;
        PlanContext {
            space,
            features: &config.task_features,
            round: self.study.rounds,
            budget,
            seed: config.seed,
            warming_up: self.warming_up,
            active_rounds: self.study.active_rounds(),
            knowledge,
            given: self.given.as_ref().map(Mat::as_ref),
            exploration,
            targets: &self.targets,
            exploited: &self.exploited,
            rows: &self.rows,
            left,
        }
    }
}

impl Study {
    /// Makes a plan; nothing changes yet.
    pub(super) fn plan(&self, budget: usize, available: Option<Available<'_>>) -> Result<Planned> {
        let built = self.config.strategy.build();
        let strategy: &dyn Strategy = match &self.config.own_strategy {
            Some(own) => own.get()?,
            None => built.as_ref(),
        };
        self.plan_by(strategy, budget, available)
    }

    /// The plan that a strategy would make.
    pub(super) fn plan_by(
        &self,
        strategy: &dyn Strategy,
        budget: usize,
        available: Option<Available<'_>>,
    ) -> Result<Planned> {
        self.check_askable(budget)?;
        let collection = &self.config.collection;
        let (asked, to_spend) = (collection.samples(budget)?, budget);
        let under_way = self.under_way();
        let left = |task: &Task| self.left(task, available, &under_way);
        let limited = available.is_some() || collection.is_limited();
        let available: Option<Available<'_>> = limited.then_some(&left);
        let remaining = match available {
            Some(available) => Remaining::of(&self.config.space, available)?,
            None => None,
        };
        let total = remaining.as_ref().map_or(asked, Remaining::total);
        let budget = asked.min(total);
        let waits = !under_way.is_empty();
        let PlanningModel {
            model,
            mut warming_up,
            mut trouble,
        } = self.model_for(strategy, waits)?;
        let start = match self.next_start() {
            // A plan that needs no model does not wait for one.
            Err(_) if model.is_none() => None,
            other => other?,
        };
        let (knowledge, found_nothing) = self.known(model.as_deref(), waits)?;
        if found_nothing.is_some() {
            (warming_up, trouble) = (true, found_nothing);
        }
        let given = match &knowledge {
            Some(knowledge) => self.given(knowledge.model, &under_way)?,
            None => None,
        };
        let round = Round {
            study: self,
            strategy,
            warming_up,
            knowledge,
            given,
            targets: self.known_targets(),
            exploited: self.last_exploited(),
            rows: self.rows_to_come(&under_way),
        };
        let decision = match remaining {
            Some(remaining) => round.decide_within(budget, asked, remaining),
            None => round.decide_unlisted(budget, available),
        };
        let decision = round.affordable(decision?, to_spend, &left)?;
        let items = self.numbered(decision.items, trouble.as_ref());
        Ok(Planned {
            plan: self.next_plan(items, asked),
            exploration: decision.exploration,
            start,
        })
    }

    /// The tasks for the target of the last round that had any, with their samples.
    fn last_exploited(&self) -> Vec<(&Task, usize)> {
        let exploits = |one: &&TrackedItem| one.item.stage == Stage::Exploit;
        let last = self.items.iter().rfind(exploits).map(|one| one.round);
        let of_last = |one: &&TrackedItem| exploits(one) && Some(one.round) == last;
        let items = self.items.iter().filter(of_last);
        items.map(|one| (&one.item.task, one.item.n)).collect()
    }

    /// The items as the plan of the next round, of which so many samples were asked.
    fn next_plan(&self, items: Vec<PlanItem>, asked: usize) -> Plan {
        let planned: usize = items.iter().map(|item| item.n).sum();
        Plan {
            round: self.rounds,
            items,
            short: if self.config.collection.is_free() {
                asked.saturating_sub(planned)
            } else {
                0
            },
        }
    }

    /// What a task has left, by its source and by the limits of the collection.
    fn left(
        &self,
        task: &Task,
        available: Option<Available<'_>>,
        under_way: &UnderWay<'_>,
    ) -> Option<usize> {
        let outstanding = under_way.get(&task.id).map_or(0, |(_, n)| *n);
        let left = available.and_then(|available| available(task));
        let left = left.map(|left| left.saturating_sub(outstanding));
        let collection = &self.config.collection;
        if !collection.is_limited() {
            return left;
        }
        let so_far = self.data.rows_of(&task.id) + outstanding;
        let allowed = collection.left(&task.id, so_far);
        left.into_iter().chain(allowed).min()
    }

    /// The model that a strategy plans with, where it needs one and there is one.
    fn model_for(&self, strategy: &dyn Strategy, waits: bool) -> Result<PlanningModel> {
        let warming_up = strategy.needs_model() && self.warming_up()?;
        let without = |warming_up, trouble| PlanningModel {
            model: None,
            warming_up,
            trouble,
        };
        if !strategy.needs_model() || warming_up {
            return Ok(without(warming_up, None));
        }
        match self.planning_model() {
            // The study goes on: a round without a model looks at every direction.
            Err(error @ Error::Diverged { .. }) => Ok(without(true, Some(error))),
            // Not enough has come back yet.
            Err(error) if waits => Ok(without(true, Some(error))),
            other => Ok(PlanningModel {
                model: Some(other?),
                warming_up,
                trouble: None,
            }),
        }
    }

    /// What a model says of the targets. One that has found nothing is no model to plan with: the
    /// round belongs to the warm-up then, if there is more to come, and the error says why.
    fn known<'a>(
        &self,
        model: Option<&'a Model>,
        waits: bool,
    ) -> Result<(Option<Knowledge<'a>>, Option<Error>)> {
        match model.map(|model| self.knowledge(model)) {
            Some(Err(error @ Error::State(_))) if self.has_target_rows() || waits => {
                Ok((None, Some(error)))
            }
            Some(knowledge) => Ok((Some(knowledge?), None)),
            None => Ok((None, None)),
        }
    }

    /// Items with the next numbers of the study, and with what kept the round from a model.
    fn numbered(&self, items: Vec<PlanItem>, trouble: Option<&Error>) -> Vec<PlanItem> {
        let first = self.items.len() as u64;
        items
            .into_iter()
            .zip(first..)
            .map(|(item, id)| PlanItem {
                id,
                reason: match trouble {
                    Some(error) => format!("{}, because {error}", item.reason),
                    None => item.reason,
                },
                ..item
            })
            .collect()
    }

    /// The task features of the targets, if all of them are known.
    fn known_targets(&self) -> Vec<Vec<f64>> {
        let targets = &self.config.targets;
        if !targets.iter().all(Target::is_known) {
            return Vec::new();
        }
        let sources = self.config.source_features();
        (0..targets.len())
            .map(|index| {
                let mut features = self.config.target_features(index);
                features.truncate(sources);
                features
            })
            .collect()
    }

    /// Whether a plan can be asked for now.
    fn check_askable(&self, budget: usize) -> Result<()> {
        self.config.check_ready()?;
        if budget == 0 {
            return Err(Error::setting(
                "budget",
                "is 0: ask for at least one sample",
            ));
        }
        Ok(())
    }

    /// Whether the next round still belongs to the warm-up. Once ended, it does not come back.
    fn warming_up(&self) -> Result<bool> {
        if self.data.source_rows() == 0 {
            return Ok(true);
        }
        let ended = self
            .items
            .iter()
            .any(|item| item.item.stage != Stage::WarmUp);
        match self.config.warm_up {
            WarmUp::Rounds { rounds } => Ok(self.rounds_come() < rounds),
            WarmUp::Evidence { max_rounds } => {
                Ok(!ended && self.rounds_come() < max_rounds && !self.last_direction_is_real()?)
            }
        }
    }

    /// Rounds of which at least half has come back, or nothing more will.
    fn rounds_come(&self) -> usize {
        let mut missing = vec![(0, 0); self.rounds];
        for TrackedItem {
            item,
            round,
            collected,
            progress,
        } in &self.items
        {
            if let Some((open, asked)) = missing.get_mut(*round) {
                *asked += item.n;
                if *progress == Progress::Open {
                    *open += item.n.saturating_sub(*collected);
                }
            }
        }
        let come = |&&(open, asked): &&(usize, usize)| open == 0 || 2 * open < asked;
        missing.iter().filter(come).count()
    }

    /// Rounds since the warm-up ended.
    fn active_rounds(&self) -> usize {
        let rounds: std::collections::BTreeSet<usize> = self
            .items
            .iter()
            .filter(|item| item.item.stage != Stage::WarmUp)
            .map(|item| item.round)
            .collect();
        rounds.len()
    }

    /// Whether the data prefer the model's `k` directions to one fewer.
    fn last_direction_is_real(&self) -> Result<bool> {
        // Finding out takes training, which a plan with a model of earlier data does not wait for.
        if self.cache.earlier.is_some() {
            return Ok(false);
        }
        let model = match self.planning_model() {
            Err(Error::Diverged { .. }) => return Ok(false),
            other => other?,
        };
        // Families of tasks are known before the first row.
        if model.dim() == 1 || model.structure.is_hierarchical() {
            return Ok(true);
        }
        let fewer = TrainContext {
            k: Some(model.dim() - 1),
            ..self.train_context(self.config.stable_model)
        };
        let smaller = match self.planner()?.model(&self.data, &fewer) {
            // With fewer nothing can be learnt, so the last one is needed.
            Err(Error::Diverged { .. }) => return Ok(true),
            other => other?,
        };
        Ok(model.report.log_evidence > smaller.report.log_evidence)
    }
}
