//! Asking for a plan.

use super::fits::STARTS_KEPT;
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
type Available<'a> = &'a dyn Fn(&Task) -> Option<usize>;

/// A round to be planned: all but its budget and the tasks to choose from.
pub(super) struct Round<'a> {
    pub(super) study: &'a Study,
    pub(super) strategy: &'a dyn Strategy,
    pub(super) warming_up: bool,
    pub(super) knowledge: Option<Knowledge<'a>>,
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
        let aware = self.study.config.strategy.kind == StrategyKind::Aware;
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
            exploration,
            targets: &self.targets,
            rows: &self.rows,
            left,
        }
    }
}

impl Study {
    /// Plans the collection of `budget` samples.
    ///
    /// # Errors
    /// Items of the last plan that are still open, a budget too small for the tasks, or too little
    /// data to plan with.
    pub fn ask(&mut self, budget: usize) -> Result<Plan> {
        self.plan(budget, None)
    }

    /// Plans the collection of `budget` samples where tasks have finitely many: `available` says how
    /// many a task has left now, none if there is no limit.
    ///
    /// In a finite space designs are solved again within the limits, over the tasks that have
    /// something left. If all tasks together have less than the budget, the plan holds all of it, and
    /// [`Plan::short`] says how much is missing. With room enough the plan is that of [`Study::ask`].
    ///
    /// In an infinite space limits come to bear on the tasks of the plan only: what one cannot give
    /// goes to the others in proportion, and what none of them can is missing.
    ///
    /// ```
    /// # use taskscout::features::FeatureMap;
    /// # use taskscout::space::Space;
    /// # use taskscout::strategy::{StrategyConfig, StrategyKind};
    /// # use taskscout::study::{Study, StudyConfig};
    /// # use taskscout::target::Target;
    /// let mut study = Study::new(StudyConfig::new(
    ///     Space::one_hot(3)?,
    ///     FeatureMap::identity(2)?,
    ///     vec![Target::unknown("tomorrow")],
    ///     StrategyConfig::new(StrategyKind::Passive),
    /// )?)?;
    /// // The first flight has 5 rows, the second none, the third as many as one likes.
    /// let left = [Some(5), Some(0), None];
    /// let plan = study.ask_within(90, &|task| {
    ///     task.iter().zip(left).find(|(here, _)| **here > 0.5)?.1
    /// })?;
    /// let counts: Vec<usize> = plan.items.iter().map(|item| item.n).collect();
    /// assert_eq!((counts, plan.short), (vec![5, 85], 0));
    /// # Ok::<(), taskscout::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Study::ask`], and no task with anything left.
    pub fn ask_within(
        &mut self,
        budget: usize,
        available: &dyn Fn(&Task) -> Option<usize>,
    ) -> Result<Plan> {
        self.plan(budget, Some(available))
    }

    fn plan(&mut self, asked: usize, available: Option<Available<'_>>) -> Result<Plan> {
        self.check_askable(asked)?;
        let room = match available {
            Some(available) => Room::of(&self.config.space, available)?,
            None => None,
        };
        let budget = room.as_ref().map_or(asked, |room| asked.min(room.total()));
        let strategy = self.config.strategy.build();
        let mut warming_up = strategy.needs_model() && self.warming_up()?;
        let mut trouble = None;
        let model = if strategy.needs_model() && !warming_up {
            match self.planning_model() {
                // The study goes on: a round without a model looks at every direction.
                Err(error @ Error::Diverged { .. }) => {
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
            Some(Err(error @ Error::State(_))) if self.has_target_rows() => {
                (warming_up, trouble) = (true, Some(error));
                None
            }
            Some(knowledge) => Some(knowledge?),
            None => None,
        };
        let round = Round {
            study: self,
            strategy: strategy.as_ref(),
            warming_up,
            knowledge,
            targets: self.known_targets(),
            rows: self.data.rows_by_task(),
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
            short: asked.saturating_sub(planned),
        };
        if decision.exploration.is_some() {
            self.exploration = decision.exploration;
        }
        let track = |item: &PlanItem| TrackedItem {
            item: item.clone(),
            round: plan.round,
            progress: Progress::Open { collected: 0 },
        };
        self.items.extend(plan.items.iter().map(track));
        self.starts.extend(start);
        let surplus = self.starts.len().saturating_sub(STARTS_KEPT);
        self.starts.drain(..surplus);
        self.rounds += 1;
        Ok(plan)
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
        if let Some(open) = self
            .items
            .iter()
            .find(|item| matches!(item.progress, Progress::Open { .. }))
        {
            return Err(Error::State(format!(
                "item {} of round {} is still open: tell its samples, or fail it, before asking again",
                open.item.id, open.round
            )));
        }
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
            WarmUp::Rounds { rounds } => Ok(self.rounds < rounds),
            WarmUp::Evidence { max_rounds } => {
                Ok(!ended && self.rounds < max_rounds && !self.last_direction_is_real()?)
            }
        }
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
        if model.dim() == 1 || model.pool.is_some() {
            return Ok(true);
        }
        let fewer = TrainContext {
            k: Some(model.dim() - 1),
            ..self.train_context(self.config.stable_model)
        };
        let smaller = match self.planner()?.fit(&self.data, &fewer) {
            // With fewer nothing can be learnt, so the last one is needed.
            Err(Error::Diverged { .. }) => return Ok(true),
            other => other?,
        };
        Ok(model.report.evidence > smaller.report.evidence)
    }
}
