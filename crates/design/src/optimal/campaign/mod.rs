//! From a budget to a plan of whole samples, with what campaigns add to a design problem: costs,
//! switches, logs that run out, tasks that are wanted or not, and data that is there already.
//!
//! 1. Tasks that must be used get their samples; what they teach counts as given.
//! 2. The rest of the budget is a design problem (`solve`), with the share of a task limited by what
//!    it has left. Its bound holds for every plan that respects the limits.
//! 3. Where switching costs, tasks are capped or each needs a minimum, tasks are dropped one by one
//!    while that pays, or has to be done, and then exchanged against others while that pays.
//! 4. A budget or a cap that leaves few tasks goes to the cheapest that reach what is needed; one that
//!    leaves too few is refused with the smallest that would do.
//! 5. Shares become whole samples. The plan says what that costs, as a factor on the value.

mod axes;
mod branch;
mod evaluator;
mod orthogonal;
mod reach;
mod select;
mod swap;
mod whole;

use std::cell::Cell;
use std::collections::HashSet;

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use super::searched::embeddings;
use super::{Candidates, Criterion, DesignAtom, Need, Problem, solve_space};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::rng::Rng;
use crate::space::{Space, TaskSpace as _};
use evaluator::Evaluator;

/// The largest budget, in samples of the cheapest task: beyond it whole numbers are not exact.
const MOST_SAMPLES: f64 = 1e15;
/// Multiplications that may go into choosing tasks, enough for some seconds.
const EFFORT: f64 = 1e9;

/// What a campaign asks for.
#[derive(Debug, Clone)]
pub struct Campaign<'a> {
    /// What is minimised.
    pub criterion: Criterion,
    /// What the targets need.
    pub need: Need<'a>,
    /// Samples to plan, or units of cost where samples and switches cost.
    pub budget: f64,
    /// Information that is there already, `Σ n_w c_w c_wᵀ`.
    pub given: Option<MatRef<'a, f64>>,
    /// What is paid, in units of the budget, for every task of the plan.
    pub switch_cost: f64,
    /// Tasks at most.
    pub max_tasks: Option<usize>,
    /// Samples that a task gets at least, if it is used.
    pub min_samples: usize,
    /// Samples that each candidate has left; `None` for no limit.
    pub capacities: Option<&'a [Option<usize>]>,
    /// Candidates that must be used.
    pub required: &'a [usize],
    /// Candidates that must not be used.
    pub forbidden: &'a [usize],
    /// The relative gap to solve to.
    pub tolerance: f64,
}

/// One task of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedTask {
    /// The task, its share of the budget before rounding, and the reasons for it.
    #[serde(flatten)]
    pub atom: DesignAtom,
    /// Whole samples.
    pub n: usize,
    /// What they cost, switch included.
    pub cost: f64,
}

/// A plan of whole samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CampaignPlan {
    /// The tasks, by falling share.
    pub tasks: Vec<PlannedTask>,
    /// The criterion's value times the budget, before rounding: with nothing given and nothing
    /// spent on switches, that of the design.
    pub objective: f64,
    /// What no plan within the limits can be below, where the candidates are a table.
    pub lower_bound: Option<f64>,
    /// The same value after rounding.
    pub plan_objective: f64,
    /// Iterations of the solver.
    pub iterations: usize,
    /// What the plan costs, switches included.
    pub spent: f64,
    /// The gap that the solver reached before tasks were chosen and samples made whole, if it ended
    /// above the one asked for, because its effort was used up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_at: Option<f64>,
}

impl CampaignPlan {
    /// How far the value before rounding may be above the optimum, relatively.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        Some((self.objective - self.lower_bound?) / self.objective)
    }

    /// What whole samples cost: the value after rounding over that before.
    #[must_use]
    pub fn rounding_factor(&self) -> f64 {
        self.plan_objective / self.objective
    }
}

impl<'a> Campaign<'a> {
    /// A campaign with nothing but a budget.
    #[must_use]
    pub fn new(criterion: Criterion, need: Need<'a>, budget: f64) -> Self {
        Self {
            criterion,
            need,
            budget,
            given: None,
            switch_cost: 0.0,
            max_tasks: None,
            min_samples: 1,
            capacities: None,
            required: &[],
            forbidden: &[],
            tolerance: 1e-4,
        }
    }

    /// Plans over a table of candidates.
    ///
    /// ```
    /// use taskscout::design::{Campaign, Candidates, Criterion, Need};
    /// // Two strong winds and a weak one; the target is the sum of the strong ones.
    /// let winds = Candidates::new(2, vec![1.0, 0.0, 0.0, 1.0, 0.5, 0.5])?;
    /// let need = Need::Targets { rows: &[1.0, 1.0], weights: None };
    /// let mut campaign = Campaign::new(Criterion::Trace, need, 100.0);
    /// assert_eq!(campaign.plan(&winds)?.tasks.iter().map(|task| task.n).sum::<usize>(), 100);
    /// // A switch that costs 60 samples leaves no money for two winds: the weak one does it alone.
    /// campaign.switch_cost = 60.0;
    /// let plan = campaign.plan(&winds)?;
    /// assert_eq!((plan.tasks.len(), plan.tasks[0].atom.row, plan.tasks[0].n), (1, Some(2), 40));
    /// # Ok::<(), taskscout::Error>(())
    /// ```
    ///
    /// # Errors
    /// Settings that contradict each other or cannot be met, and everything that
    /// [`solve`](super::solve) refuses.
    pub fn plan(&self, candidates: &Candidates<'_>) -> Result<CampaignPlan> {
        self.check(candidates)?;
        if let Some(plan) = axes::plan(self, candidates)? {
            return Ok(plan);
        }
        let effort = Cell::new(EFFORT);
        let mut best = self.plan_once(candidates, &effort)?;
        // Where switches cost, a search under a tighter cap may find what one without did not.
        while self.switch_cost > 0.0 && best.tasks.len() > self.required.len().max(1) {
            let tighter = Self {
                max_tasks: Some(best.tasks.len() - 1),
                ..self.clone()
            };
            match tighter.plan_once(candidates, &effort) {
                Ok(plan) if plan.objective < best.objective => best = plan,
                _ => break,
            }
        }
        Ok(best)
    }

    /// Plans with the caps as they are.
    fn plan_once(&self, candidates: &Candidates<'_>, effort: &Cell<f64>) -> Result<CampaignPlan> {
        let evaluator = Evaluator::new(self, candidates, effort)?;
        evaluator.refuse_early()?;
        let relaxed = evaluator.relaxed()?;
        let rows = relaxed.rows();
        if !evaluator.is_selective(&relaxed) {
            return evaluator.finish(&relaxed, &relaxed);
        }
        let affordable = evaluator.affordable(&rows)?;
        let slow = evaluator.is_slow(&rows);
        let start = match &affordable {
            Some(reach) if slow => evaluator.trim(&relaxed, &reach.rows),
            None if slow => evaluator.trim(&relaxed, &evaluator.spanning(&relaxed)?),
            _ => rows,
        };
        // One look at so many tasks may be all that there is time for.
        let chosen = if slow && !evaluator.may_look(start.len()) {
            start
        } else {
            evaluator.select(start)?
        };
        if let Some(shares) = evaluator.value_of(&chosen)? {
            return evaluator.finish(&shares, &relaxed);
        }
        let reach = affordable.map_or(chosen, |reach| reach.rows);
        let chosen = evaluator.exchange(reach)?;
        match evaluator.value_of(&chosen)? {
            Some(shares) => evaluator.finish(&shares, &relaxed),
            None => Err(Error::numerical(
                "choosing tasks that reach all that the target needs",
                "some are nearly alike; leave those out, or raise the budget",
            )),
        }
    }

    /// Plans over a task space. A finite one is a table; in others the tasks of the design without
    /// caps and switch costs are found first, and the plan chooses among those.
    ///
    /// # Errors
    /// As [`Campaign::plan`]; settings that name candidates do not apply to a space.
    pub fn plan_space(
        &self,
        space: &Space,
        features: &dyn Features,
        map: Option<MatRef<'_, f64>>,
        rng: &mut Rng,
    ) -> Result<CampaignPlan> {
        if self.capacities.is_some() || !self.required.is_empty() || !self.forbidden.is_empty() {
            return Err(Error::setting(
                "space",
                "has no rows: capacities and tasks to use or not to use need a table of candidates",
            ));
        }
        self.check_budget()?;
        if let Some(tasks) = space.task_matrix() {
            let rows = embeddings(&tasks, features, map);
            let k = map.map_or(features.dim(), |map| map.nrows());
            let mut plan = self.plan(&Candidates::new(k, rows)?)?;
            for task in &mut plan.tasks {
                if let Some(row) = task.atom.row {
                    task.atom.task = tasks[row * space.dim()..(row + 1) * space.dim()].to_vec();
                }
            }
            return Ok(plan);
        }
        let given = self
            .given
            .map(|given| faer::Scale(self.budget.recip()) * given);
        let problem = Problem {
            given: given.as_ref().map(Mat::as_ref),
            tolerance: self.tolerance,
            ..Problem::new(self.criterion, self.need)
        };
        let design = solve_space(space, features, map, &problem, rng)?;
        let k = design.atoms.first().map_or(1, |atom| atom.embedding.len());
        let rows: Vec<f64> = design
            .atoms
            .iter()
            .flat_map(|atom| atom.embedding.clone())
            .collect();
        let mut plan = self.plan(&Candidates::new(k, rows)?)?;
        for task in &mut plan.tasks {
            if let Some(row) = task.atom.row {
                task.atom.task.clone_from(&design.atoms[row].task);
                task.atom.row = design.atoms[row].row;
            }
        }
        plan.lower_bound = design.lower_bound;
        plan.iterations = design.iterations;
        Ok(plan)
    }

    fn check_budget(&self) -> Result<()> {
        if !(self.budget >= 1.0 && self.budget.is_finite()) {
            return Err(Error::setting(
                "budget",
                format!("is {}: it must be a number, and at least 1", self.budget),
            ));
        }
        if self.budget > MOST_SAMPLES {
            return Err(Error::setting(
                "budget",
                format!(
                    "is {:e}: it must be at most {MOST_SAMPLES:e}, beyond which samples cannot be counted one by one",
                    self.budget
                ),
            ));
        }
        if !(0.0..=Candidates::MOST_COST).contains(&self.switch_cost) {
            return Err(Error::setting(
                "switch_cost",
                format!(
                    "is {:e}: it must be at least 0 and at most {:e}",
                    self.switch_cost,
                    Candidates::MOST_COST
                ),
            ));
        }
        if self.min_samples as f64 > MOST_SAMPLES {
            return Err(Error::setting(
                "min_samples",
                format!(
                    "is {}: it must be at most {MOST_SAMPLES:e}",
                    self.min_samples
                ),
            ));
        }
        if self.max_tasks == Some(0) {
            return Err(Error::setting("max_tasks", "is 0: allow at least one task"));
        }
        Ok(())
    }

    fn check(&self, candidates: &Candidates<'_>) -> Result<()> {
        self.check_budget()?;
        if let Some(capacities) = self.capacities {
            Error::check_length("`capacities`", candidates.len(), capacities.len())?;
        }
        if candidates.is_limited() {
            return Err(Error::setting(
                "candidates",
                "have limits on their shares, which a campaign does not take: give capacities instead",
            ));
        }
        let cheapest = (0..candidates.len())
            .map(|row| candidates.cost(row))
            .fold(f64::INFINITY, f64::min);
        if self.budget / cheapest > MOST_SAMPLES {
            return Err(Error::value(
                "budget",
                format!("{:e}", self.budget),
                format!(
                    "pays for more than {MOST_SAMPLES:e} samples at the lowest cost, {cheapest:e}: rescale the costs, or lower it"
                ),
            ));
        }
        for (key, rows) in [("required", self.required), ("forbidden", self.forbidden)] {
            if let Some(row) = rows.iter().find(|&&row| row >= candidates.len()) {
                return Err(Error::setting(
                    key,
                    format!(
                        "names row {row}, but there are {} candidates, from 0",
                        candidates.len()
                    ),
                ));
            }
        }
        if let Some(row) = self
            .required
            .iter()
            .find(|row| self.forbidden.contains(row))
        {
            return Err(Error::setting(
                "required",
                format!("names row {row}, which is forbidden too: remove it from one of them"),
            ));
        }
        let required = self.required.iter().collect::<HashSet<_>>().len();
        if self.max_tasks.is_some_and(|most| most < required) {
            return Err(Error::setting(
                "max_tasks",
                format!("is below the {required} tasks that must be used: raise it"),
            ));
        }
        Ok(())
    }
}
