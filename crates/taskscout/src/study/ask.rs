//! Asking for a plan.

use faer::Mat;

use super::event::Planned;
use super::within::Room;
use super::{Progress, Study, TrackedItem};
use crate::data::Stage;
use crate::error::{Error, Result};
use crate::space::Space;
use crate::strategy::{
    Decision, Knowledge, Plan, PlanContext, PlanItem, Strategy, StrategyKind, TaskDesign, WarmUp,
};
use crate::target::Target;
use crate::task::Task;
use crate::train::TrainContext;

/// What a task has left; none if there is no limit.
pub type Available<'a> = &'a dyn Fn(&Task) -> Option<usize>;

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
            rows: &self.rows,
            left,
        }
    }
}

impl Study {
    /// Makes a plan; nothing changes yet.
    pub(super) fn plan(&self, budget: usize, available: Option<Available<'_>>) -> Result<Planned> {
        self.check_askable(budget)?;
        let collection = &self.config.collection;
        let (asked, to_spend) = (collection.samples(budget)?, budget);
        let under_way = self.under_way();
        let outstanding = |task: &Task| under_way.get(&task.id).map_or(0, |(_, n)| *n);
        let left = |task: &Task| {
            let outstanding = outstanding(task);
            let left = available.and_then(|available| available(task));
            let left = left.map(|left| left.saturating_sub(outstanding));
            if !collection.is_limited() {
                return left;
            }
            let so_far = self.data.rows_of(&task.id) + outstanding;
            let allowed = collection.left(&task.id, so_far);
            left.into_iter().chain(allowed).min()
        };
        let limited = available.is_some() || collection.is_limited();
        let available: Option<Available<'_>> = limited.then_some(&left);
        let room = match available {
            Some(available) => Room::of(&self.config.space, available)?,
            None => None,
        };
        let budget = room.as_ref().map_or(asked, |room| asked.min(room.total()));
        let built = self.config.strategy.build();
        let strategy: &dyn Strategy = match &self.config.own_strategy {
            Some(own) => own.get()?,
            None => built.as_ref(),
        };
        let mut warming_up = strategy.needs_model() && self.warming_up()?;
        let mut trouble = None;
        let model = if strategy.needs_model() && !warming_up {
            match self.planning_model() {
                // The study goes on: a round without a model looks at every direction.
                Err(error @ Error::Diverged { .. }) => {
                    (warming_up, trouble) = (true, Some(error));
                    None
                }
                // Not enough has come back yet.
                Err(error) if !under_way.is_empty() => {
                    (warming_up, trouble) = (true, Some(error));
                    None
                }
                other => Some(other?),
            }
        } else {
            None
        };
        let start = match self.next_start() {
            // A plan that needs no model does not wait for one.
            Err(_) if model.is_none() => None,
            other => other?,
        };
        let knowledge = match model.as_ref().map(|model| self.knowledge(model)) {
            // A model that has found nothing is no model to plan with.
            Some(Err(error @ Error::State(_)))
                if self.has_target_rows() || !under_way.is_empty() =>
            {
                (warming_up, trouble) = (true, Some(error));
                None
            }
            Some(knowledge) => Some(knowledge?),
            None => None,
        };
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
            rows: self.rows_to_come(&under_way),
        };
        let decision = match (room, available) {
            (Some(room), _) => round.decide_within(budget, asked, room)?,
            (None, Some(available)) if self.config.space.count().is_none() => {
                round.decide_capped(budget, available)?
            }
            _ => {
                let exploration = self.exploration.as_ref();
                round.decide(&self.config.space, budget, None, exploration)?
            }
        };
        let decision = round.affordable(decision, to_spend, &left)?;
        let first = self.items.len() as u64;
        let items: Vec<PlanItem> = decision
            .items
            .into_iter()
            .zip(first..)
            .map(|(item, id)| PlanItem {
                id,
                reason: match &trouble {
                    Some(error) => format!("{}, because {error}", item.reason),
                    None => item.reason,
                },
                ..item
            })
            .collect();
        let planned: usize = items.iter().map(|item| item.n).sum();
        let plan = Plan {
            round: self.rounds,
            items,
            short: if collection.is_free() {
                asked.saturating_sub(planned)
            } else {
                0
            },
        };
        Ok(Planned {
            plan,
            exploration: decision.exploration,
            start,
        })
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
        Ok(model.report.evidence > smaller.report.evidence)
    }
}
