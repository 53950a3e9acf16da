//! A strategy at work: plan, collect, train and measure, round by round.

use std::collections::HashMap;
use std::time::Instant;

use taskscout::data::Stage;
use taskscout::metric;
use taskscout::space::Space;
use taskscout::strategy::{Plan, PlanItem};
use taskscout::task::{Task, TaskId};
use taskscout::train::{Choice, PredictorKind};
use taskscout_report::ResultRow;

use super::Scene;
use super::course::Course;
use super::details::{Identified, RoundDetails};
use crate::config::StrategyRun;
use crate::error::Result;
use crate::world::Draw;

pub(super) fn run<'a>(
    scene: Scene<'a>,
    run: &StrategyRun,
    on_round: &dyn Fn(),
) -> Result<Course<'a>> {
    let Scene {
        prepared,
        world,
        trial,
    } = scene;
    let mut course = Course::open(scene, run)?;
    for &budget in &prepared.rounds.budgets {
        let clock = Instant::now();
        let Some(plan) = course.ask(budget)? else {
            // The world has given all it has.
            break;
        };
        let design_s = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        course.collect(&plan)?;
        let collect_s = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        course.choices = course.study.predictors()?;
        let train_s = clock.elapsed().as_secs_f64();
        for row in course.measure(&plan)? {
            course.rows.push(ResultRow {
                collect_s,
                train_s,
                design_s,
                ..row
            });
        }
        on_round();
    }
    if world.judges_task_features() && trial.seed == prepared.config.seed {
        // Only a remark: a study that cannot be judged is no failure of the trial.
        let misfit = course.study.misfit().unwrap_or_default();
        let serious = misfit.filter(|misfit| misfit.is_serious());
        course.details.misfit = serious.map(|misfit| misfit.to_string());
    }
    course.keep_relevant()?;
    Ok(course)
}

impl Course<'_> {
    /// Plans a round, or nothing if no task has rows left after an earlier one.
    fn ask(&mut self, budget: usize) -> Result<Option<Plan>> {
        let world = self.world;
        let data = self.study.data();
        let told: HashMap<TaskId, usize> = data
            .rows_by_task()
            .into_iter()
            .map(|(task, rows)| (task.id.clone(), rows))
            .collect();
        let left = |task: &Task| {
            let told = || told.get(&task.id).copied().unwrap_or(0);
            world
                .available(task)
                .map(|rows| rows.saturating_sub(told()))
        };
        if data.source_rows() > 0 && is_used_up(&self.study.config().space, &left) {
            return Ok(None);
        }
        Ok(Some(self.study.ask_within(budget, &left)?))
    }

    fn collect(&mut self, plan: &Plan) -> Result<()> {
        let (world, study) = (self.world, &mut self.study);
        for item in &plan.items {
            let draw = Draw {
                seed: self.trial.seed,
                round: plan.round,
                before: study.data().rows_of(&item.task.id),
            };
            world.collect(item, draw, &mut |rows| {
                study.tell(item.id, rows).map(|_| ())
            })?;
        }
        // A trial takes nothing back, and memory should grow with tasks, not with batches.
        study.settle()?;
        Ok(())
    }

    /// Keeps which source tasks turned out to be like the targets. All pairs of tasks are compared
    /// once in a run.
    fn keep_relevant(&mut self) -> Result<()> {
        if !self.world.wants_details() {
            return Ok(());
        }
        let (first, trial) = (self.prepared.config.seed, self.trial);
        for ((slot, target), choice) in trial.targets().enumerate().zip(self.choices.iter()) {
            let all_pairs = trial.seed == first && target == 0;
            let relevant = self
                .world
                .relevant(&self.study, target, choice, all_pairs)?;
            self.details.targets[slot].relevant = relevant;
        }
        Ok(())
    }

    /// A row of results for each target: how good is what is known after this round?
    fn measure(&mut self, plan: &Plan) -> Result<Vec<ResultRow>> {
        let similarity = match self.study.model() {
            // The study goes on without a model, and so does the trial.
            Err(taskscout::Error::Diverged { .. }) => None,
            model => self.world.similarity(&model?.representation)?,
        };
        let exploited = main_exploit(plan);
        let mut rows = Vec::with_capacity(self.choices.len());
        for ((slot, target), choice) in self.trial.targets().enumerate().zip(self.choices.iter()) {
            rows.push(ResultRow {
                subspace_similarity: similarity,
                ..self.row(plan, exploited, target, choice)?
            });
            self.details.targets[slot].rounds.push(RoundDetails {
                round: plan.round,
                // Targets of one study share a plan, which does not say whose task is whose.
                exploited: exploited
                    .filter(|_| self.trial.targets().len() == 1)
                    .map(|item| item.task.to_vec()),
                identified: choice.identified.as_ref().map(Identified::of),
            });
        }
        Ok(rows)
    }

    fn row(
        &self,
        plan: &Plan,
        exploited: Option<&PlanItem>,
        target: usize,
        choice: &Choice,
    ) -> Result<ResultRow> {
        let world = self.world;
        let shared = choice.candidate(PredictorKind::Shared);
        let count = metric::task_count(self.study.data());
        Ok(ResultRow {
            round: plan.round,
            budget: self.study.data().source_rows(),
            test_loss: shared
                .map(|predictor| world.target_loss(target, predictor))
                .transpose()?,
            returned_loss: self.returned_loss(target, choice)?,
            predictor: Some(choice.kind.to_string()),
            relevance: exploited.and_then(|item| world.relevance(target, &item.task)),
            tasks: count.tasks,
            long_term_tasks: count.long_term,
            ..self.blank_row(target)
        })
    }
}

/// Whether no task of a finite space has rows left.
fn is_used_up(space: &Space, left: &dyn Fn(&Task) -> Option<usize>) -> bool {
    let used_up = |task: Task| left(&task) == Some(0);
    space
        .count()
        .is_some_and(|count| (0..count).filter_map(|row| space.task_at(row)).all(used_up))
}

/// The exploit item of largest count, the first where several are: plans name the nearest task
/// before others that the target may be, and rounding may favour any of them by a sample.
fn main_exploit(plan: &Plan) -> Option<&PlanItem> {
    let exploits = |item: &&PlanItem| item.stage == Stage::Exploit;
    let most = plan
        .items
        .iter()
        .filter(exploits)
        .map(|item| item.n)
        .max()?;
    let main = |item: &&PlanItem| item.n + 1 >= most;
    plan.items.iter().filter(exploits).find(main)
}
