//! A strategy at work: plan, collect, train and measure, round by round.

use std::collections::HashMap;
use std::time::Instant;

use taskscout::data::Stage;
use taskscout::driver::{self, Observer};
use taskscout::metric;
use taskscout::strategy::{Plan, PlanItem};
use taskscout::study::{Event, Study};
use taskscout::task::{Task, TaskId};
use taskscout::train::{AveragedPredictor, PredictorKind};
use taskscout_report::{PlanRow, ResultRow};

use super::course::Course;
use crate::error::Result;
use crate::record::{Identified, RoundDetails};

pub(super) fn run(course: &mut Course<'_>, on_round: &dyn Fn()) -> Result<()> {
    for &budget in &course.prepared.rounds.budgets {
        if course.is_used_up() {
            break;
        }
        let round = course.collect(budget)?;
        course.keep_plan(&round.plan);
        let clock = Instant::now();
        course.choices = course.study.predictors()?;
        let train_s = clock.elapsed().as_secs_f64();
        for row in course.measure(&round.plan)? {
            course.rows.push(ResultRow {
                collect_s: round.collect_s,
                train_s,
                design_s: round.design_s,
                ..row
            });
        }
        on_round();
    }
    course.judge_task_features();
    course.keep_relevant()
}

/// A round that has been collected.
struct Round {
    plan: Plan,
    design_s: f64,
    collect_s: f64,
}

/// Keeps a round's plan and the time that it took.
struct RoundWatch {
    began: Instant,
    planned: Option<(Plan, Instant)>,
}

impl Observer for RoundWatch {
    fn on_event(&mut self, _study: &Study, event: &Event) {
        if let Event::Planned { plan } = event {
            self.planned = Some((plan.plan.clone(), Instant::now()));
        }
    }

    /// A trial with a hole in it would not compare with the others.
    fn gives_up(&mut self, _item: &PlanItem, _error: &taskscout::Error) -> bool {
        false
    }
}

impl Course<'_> {
    /// Whether no task of a finite space has rows left.
    fn is_used_up(&self) -> bool {
        let (data, space) = (self.study.data(), &self.study.config().space);
        let told = data.rows_by_task();
        let told: HashMap<&TaskId, usize> = told
            .into_iter()
            .map(|(task, rows)| (&task.id, rows))
            .collect();
        let used_up = |task: Task| {
            let rows = self.world.source.available(&task);
            rows.is_some_and(|rows| rows <= told.get(&task.id).copied().unwrap_or(0))
        };
        let tasks = |count: usize| (0..count).filter_map(|row| space.task_at(row));
        data.source_rows() > 0 && space.count().is_some_and(|count| tasks(count).all(used_up))
    }

    /// Plans a round and collects it.
    fn collect(&mut self, budget: usize) -> Result<Round> {
        let mut watch = RoundWatch {
            began: Instant::now(),
            planned: None,
        };
        driver::run(
            &mut self.study,
            self.world.source.as_mut(),
            &[budget],
            &mut watch,
        )?;
        let RoundWatch { began, planned } = watch;
        let (plan, at) = planned.ok_or_else(|| {
            taskscout::Error::State(format!("no plan was made for a budget of {budget}"))
        })?;
        // A trial takes nothing back, and memory should grow with tasks, not with batches.
        self.study.settle()?;
        Ok(Round {
            plan,
            design_s: at.duration_since(began).as_secs_f64(),
            collect_s: at.elapsed().as_secs_f64(),
        })
    }

    /// Keeps which tasks a round asked for and why.
    fn keep_plan(&mut self, plan: &Plan) {
        let row = |item: &PlanItem| PlanRow {
            strategy: self.trial.contender.to_string(),
            target: self.trial.target_name().map(str::to_owned),
            seed: self.trial.seed,
            round: plan.round,
            item: item.id,
            task: item.task.id.as_str().to_owned(),
            parameters: item.task.to_vec(),
            n: item.n,
            stage: item.stage.to_string(),
            reason: item.reason.clone(),
        };
        self.plans.extend(plan.items.iter().map(row));
    }

    /// Keeps what the task features cannot express, with the first seed only.
    fn judge_task_features(&mut self) {
        let wanted = self.prepared.presentation.judges_task_features();
        if wanted && self.trial.seed == self.prepared.config.seed {
            // Only a remark: a study that cannot be judged is no failure of the trial.
            let misfit = self.study.misfit().unwrap_or_default();
            let serious = misfit.filter(|misfit| misfit.is_serious());
            self.details.misfit = serious.map(|misfit| misfit.to_string());
        }
    }

    /// Keeps which source tasks turned out to be like the targets. All pairs of tasks are compared
    /// once in a run.
    fn keep_relevant(&mut self) -> Result<()> {
        if !self.prepared.presentation.wants_details() {
            return Ok(());
        }
        let (first, trial) = (self.prepared.config.seed, self.trial);
        for ((slot, target), choice) in trial.targets().enumerate().zip(self.choices.iter()) {
            let all_pairs = trial.seed == first && target == 0;
            let relevant =
                self.prepared
                    .presentation
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
            model => self.world.judge.similarity(&model?.representation)?,
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
        self.judged_rows(rows)
    }

    fn row(
        &self,
        plan: &Plan,
        exploited: Option<&PlanItem>,
        target: usize,
        choice: &AveragedPredictor,
    ) -> Result<ResultRow> {
        let judge = self.world.judge.as_ref();
        let shared = choice.candidate(PredictorKind::Shared);
        let count = metric::count_sampled_tasks(self.study.data());
        Ok(ResultRow {
            round: plan.round,
            budget: self.study.data().source_rows(),
            test_loss: shared
                .map(|predictor| judge.loss(target, predictor))
                .transpose()?,
            returned_loss: self.returned_loss(target, choice)?,
            predictor: Some(choice.kind.to_string()),
            relevance: exploited.and_then(|item| judge.relevance(target, &item.task)),
            tasks: count.tasks,
            long_term_tasks: count.above_one_percent,
            ..self.blank_row(target)
        })
    }
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
