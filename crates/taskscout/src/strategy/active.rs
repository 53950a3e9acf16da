//! The three stages of active collection.
//!
//! 1. **Warm-up** (coarse): `q_0 = g(ψ_W, I)`, every direction of the space alike, to find the
//!    `k`-dimensional subspace that matters.
//! 2. **Explore** (agnostic): `q_1 = g(B ψ_W, I_k)` on the current estimate of `B`, to sharpen it.
//! 3. **Exploit** (aware): `q_2 = g(B ψ_W, A)`, the tasks that the target needs.

use faer::MatRef;

use super::outputs::{side_by_side, source_embedding, source_maps};
use super::passive::spread;
use super::saving::{overlap, saved};
use super::{
    Decision, Exploit, Explore, Knowledge, PlanContext, Serve, Strategy, StrategyConfig,
    StrategyKind, TaskDesign, published,
};
use crate::data::Stage;
use crate::design::{
    Criterion, Design, DesignAtom, Need, Problem, ball, solve_listed, solve_listed_blocks,
    solve_space, solve_space_blocks, worst_case,
};
use crate::error::{Error, Result};
use crate::features::{Features as _, apply_row};
use crate::linalg;
use crate::rng::{Purpose, Rng, derive};
use crate::space::{Ball, Space};

/// Strength, relative to the strongest, below which no source task reaches a direction.
const UNREACHED: f64 = 1e-6;

/// The active strategies, target-agnostic and target-aware.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) config: StrategyConfig,
}

impl Strategy for Active {
    fn plan(&self, context: &PlanContext<'_>) -> Result<Decision> {
        let mut decision = Decision::default();
        let Some(knowledge) = context.knowledge.as_ref().filter(|_| !context.warming_up) else {
            // The same tasks in every round of the warm-up: more directions would tell no more.
            let design = match self.config.explore {
                Explore::Spread => spread(context, context.round, context.budget)?,
                Explore::Optimal | Explore::Equal => coarse(context)?,
            };
            decision.add(&design, context.budget, Stage::WarmUp, |_| {
                "coarse look at every direction".into()
            })?;
            return Ok(decision);
        };
        if let (Space::List(tasks), Some(left)) = (context.space, context.left) {
            return self.plan_within(context, knowledge, tasks, left);
        }
        let split = self.split(context, knowledge);
        let exploration = self.exploration(context, knowledge, split)?;
        let exploitation = if self.exploits(knowledge) {
            Some(self.exploitation(context, knowledge, context.budget - split)?)
        } else {
            None
        };
        let explore =
            self.explore_samples(context, knowledge, &exploration, exploitation.as_ref())?;
        decision.add(&exploration, explore, Stage::Explore, |index| {
            explore_reason(&exploration.design, index)
        })?;
        if let Some(exploitation) = exploitation {
            let n = context.budget - explore;
            decision.add(&exploitation, n, Stage::Exploit, |index| {
                exploit_reason(&exploitation.design, knowledge, index)
            })?;
        }
        decision.exploration = Some(exploration);
        Ok(decision)
    }

    fn needs_model(&self) -> bool {
        true
    }
}

impl Active {
    /// Whether part of a round is for the target.
    pub(super) fn exploits(&self, knowledge: &Knowledge<'_>) -> bool {
        self.config.kind != StrategyKind::Agnostic && knowledge.has_target()
    }

    /// Samples that exploration would get if every task could have a part of one.
    fn split(&self, context: &PlanContext<'_>, knowledge: &Knowledge<'_>) -> usize {
        if !self.exploits(knowledge) {
            return context.budget;
        }
        let rounds = context.active_rounds + 1;
        let k = knowledge.model.dim();
        self.config.split.explore(context.budget, k, rounds)
    }

    /// The split of the round, moved as little as needed to give every task a sample.
    fn explore_samples(
        &self,
        context: &PlanContext<'_>,
        knowledge: &Knowledge<'_>,
        exploration: &TaskDesign,
        exploitation: Option<&TaskDesign>,
    ) -> Result<usize> {
        let Some(exploitation) = exploitation else {
            return Ok(context.budget);
        };
        let (least, reserved) = (exploration.tasks.len(), exploitation.tasks.len());
        if context.budget < least + reserved {
            return Err(Error::BudgetTooSmall {
                budget: context.budget,
                tasks: least + reserved,
            });
        }
        let wanted = self.config.split.explore(
            context.budget,
            knowledge.model.dim(),
            context.active_rounds + 1,
        );
        Ok(wanted.clamp(least, context.budget - reserved))
    }

    /// `q_1` for some samples: the design for all directions of the representation alike, or the one in
    /// use while save-task finds that it still fits.
    pub(super) fn exploration(
        &self,
        context: &PlanContext<'_>,
        knowledge: &Knowledge<'_>,
        samples: usize,
    ) -> Result<TaskDesign> {
        if self.config.explore == Explore::Spread {
            // Tasks of the target want samples of the same round.
            let shared_by = if self.exploits(knowledge) { 2 } else { 1 };
            return spread(context, context.round, context.budget / shared_by);
        }
        let maps = source_maps(knowledge.model, context.features.dim());
        if looks_everywhere(context, knowledge) {
            return coarse(context);
        }
        let saving = self.config.saving;
        if let Some(used) = context.exploration.filter(|_| self.config.save_task)
            && overlap(&used.tasks, context.features, &maps, saving.measure)? >= saving.overlap
        {
            return Ok(used.clone());
        }
        if let Some((ball, map)) = plain_ball(context, &maps).filter(|_| self.explores_equally()) {
            return published::exploration(context, knowledge, map, ball.radius());
        }
        // Directions that no source task reaches cannot be explored, only learnt from the target.
        let reached = match maps[..] {
            [map] => linalg::svd(map, "the task map")?,
            _ => linalg::svd(side_by_side(&maps).as_ref(), "the task map")?,
        };
        let rank = reached
            .s
            .iter()
            .filter(|&&value| value > UNREACHED * reached.s[0])
            .count();
        let basis = reached.u.as_ref().subcols(0, rank);
        let everything = linalg::product(basis, basis.transpose());
        let need = (everything.as_ref(), self.config.explore_criterion);
        solve(context, knowledge, need, samples)
    }

    /// `q_2` for some samples: the design for what the targets need, or the tasks nearest to them.
    pub(super) fn exploitation(
        &self,
        context: &PlanContext<'_>,
        knowledge: &Knowledge<'_>,
        samples: usize,
    ) -> Result<TaskDesign> {
        if !knowledge.nearest.is_empty() {
            return Ok(nearest(context, knowledge));
        }
        if self.config.serve == Serve::Worst && knowledge.needs.len() > 1 {
            return serving_the_worst(context, knowledge, samples);
        }
        let need = (knowledge.need.as_ref(), self.config.exploit_criterion);
        let maps = source_maps(knowledge.model, context.features.dim());
        let design = match plain_ball(context, &maps) {
            Some((ball, map)) if self.config.exploit == Exploit::Paper => {
                let explored = context.budget.saturating_sub(samples);
                published::exploitation(context, knowledge, map, (ball.radius(), explored))?
            }
            _ => solve(context, knowledge, need, samples)?,
        };
        let saving = self.config.saving;
        match self.config.save_task && saving.exploit {
            true => saved(context, knowledge, design, saving),
            false => Ok(design),
        }
    }

    fn explores_equally(&self) -> bool {
        self.config.explore == Explore::Equal
    }
}

/// The design for the target that fares worst.
fn serving_the_worst(
    context: &PlanContext<'_>,
    knowledge: &Knowledge<'_>,
    samples: usize,
) -> Result<TaskDesign> {
    let given = context
        .given
        .map(|given| given * faer::Scale(1.0 / samples.max(1) as f64));
    let worst = worst_case(
        &knowledge.needs,
        given.as_ref().map(faer::Mat::as_ref),
        |need| Ok(solve(context, knowledge, (need, Criterion::Trace), samples)?.design),
    )?;
    Ok(TaskDesign::of(worst.design, context.space))
}

/// The ball of a context and the one map of its model, where the closed forms of [`ball`] apply.
fn plain_ball<'a>(
    context: &PlanContext<'a>,
    maps: &[MatRef<'a, f64>],
) -> Option<(&'a Ball, MatRef<'a, f64>)> {
    match (context.space, maps) {
        (Space::Ball(ball), [map]) if context.features.is_identity() => Some((ball, *map)),
        _ => None,
    }
}

/// Whether exploration looks at the whole space: with k near its dimension, all of its directions are
/// needed.
pub(super) fn looks_everywhere(context: &PlanContext<'_>, knowledge: &Knowledge<'_>) -> bool {
    2 * knowledge.model.dim() >= context.features.dim()
}

/// The tasks nearest to the targets, each with its target's share.
fn nearest(context: &PlanContext<'_>, knowledge: &Knowledge<'_>) -> TaskDesign {
    let model = knowledge.model;
    let atoms = knowledge.nearest.iter().map(|nearest| DesignAtom {
        task: nearest.task.to_vec(),
        row: None,
        weight: nearest.weight,
        embedding: source_embedding(model, &apply_row(context.features, &nearest.task)),
        similarity: None,
        risk_share: nearest.weight,
    });
    let mut design = Design::unscored(atoms.collect());
    design.outputs = super::outputs::outputs(model);
    design.orient(&knowledge.targets, false);
    let tasks = knowledge.nearest.iter().map(|nearest| nearest.task.clone());
    TaskDesign {
        design,
        tasks: tasks.collect(),
    }
}

/// `q_0`: every direction of the space alike.
///
/// On a ball any orthonormal basis is optimal; elsewhere it is the design for all task features.
pub(super) fn coarse(context: &PlanContext<'_>) -> Result<TaskDesign> {
    if is_plain_ball(context) {
        return spread(context, 0, context.budget);
    }
    let problem = Problem {
        tolerance: tolerance(context),
        ..Problem::new(Criterion::Trace, Need::Everything)
    };
    let mut rng = derive(context.seed, Purpose::Plan, &[0]);
    let mut design = optimum(context, &[], &problem, &mut rng)?;
    fit_budget(&mut design, context.budget)?;
    // The model that embeddings would belong to does not exist yet.
    design
        .atoms
        .iter_mut()
        .for_each(|atom| atom.embedding.clear());
    Ok(TaskDesign::of(design, context.space))
}

/// Whether the closed forms of [`ball`] apply.
fn is_plain_ball(context: &PlanContext<'_>) -> bool {
    matches!(context.space, Space::Ball(_)) && context.features.is_identity()
}

/// The optimal design of the space for a need, or for what can be reached of it, with some samples beside
/// what is given.
fn solve(
    context: &PlanContext<'_>,
    knowledge: &Knowledge<'_>,
    (need, criterion): (MatRef<'_, f64>, Criterion),
    samples: usize,
) -> Result<TaskDesign> {
    let maps = source_maps(knowledge.model, context.features.dim());
    let given = context
        .given
        .map(|given| given * faer::Scale(1.0 / samples.max(1) as f64));
    if let (Space::Ball(space), None, true, [map]) = (
        context.space,
        &given,
        context.features.is_identity(),
        &maps[..],
    ) {
        let map = *map;
        let mut design = ball::optimal(map, need, criterion, space.radius())?;
        design.orient(&knowledge.targets, true);
        return Ok(TaskDesign::of(design, context.space));
    }
    let problem = Problem {
        partial: true,
        tolerance: tolerance(context),
        given: given.as_ref().map(faer::Mat::as_ref),
        ..Problem::new(criterion, Need::Moment(need))
    };
    let mut rng = derive(context.seed, Purpose::Plan, &[1 + context.round as u64]);
    let mut design = optimum(context, &maps, &problem, &mut rng)?;
    // Within limits a design has a budget of its own, else two designs share one.
    let shared_by = if context.left.is_some() { 1 } else { 2 };
    fit_budget(&mut design, context.budget / shared_by)?;
    design.orient(&knowledge.targets, maps.len() > 1 && is_plain_ball(context));
    Ok(TaskDesign::of(design, context.space))
}

/// The optimal design of the space for the maps of all outputs, or for all task features without, within what its tasks have left where that is limited.
fn optimum(
    context: &PlanContext<'_>,
    maps: &[MatRef<'_, f64>],
    problem: &Problem<'_>,
    rng: &mut Rng,
) -> Result<Design> {
    let features = context.features;
    let (Space::List(tasks), Some(left)) = (context.space, context.left) else {
        return match maps {
            [] | [_] => solve_space(context.space, features, maps.first().copied(), problem, rng),
            _ => solve_space_blocks(context.space, features, maps, problem, rng),
        };
    };
    let share = |&left: &usize| left as f64 / context.budget as f64;
    let limits = Some(left.iter().map(share).collect());
    match maps {
        [] | [_] => {
            let map = maps.first().copied();
            solve_listed(tasks.values(), features, map, problem, limits)
        }
        _ => solve_listed_blocks(tasks.values(), features, maps, problem, limits),
    }
}

/// The gap to solve to. In a continuous space every further step adds a task, and switching tasks
/// costs more than the last percent of a design gains.
fn tolerance(context: &PlanContext<'_>) -> f64 {
    if context.space.count().is_some() {
        1e-4
    } else {
        1e-2
    }
}

/// Leaves out tasks that would get next to nothing, and the lightest where there are more than
/// samples.
fn fit_budget(design: &mut Design, budget: usize) -> Result<()> {
    let least = 0.25 / budget.max(1) as f64;
    let before = design.atoms.len();
    let kept = design
        .atoms
        .iter()
        .filter(|atom| atom.weight >= least)
        .count();
    let directions = design.directions();
    if budget < kept.min(directions) {
        return Err(Error::BudgetTooSmall {
            budget,
            tasks: kept.min(directions),
        });
    }
    design.atoms.truncate(kept.clamp(1, budget.max(1)));
    if design.atoms.len() < before {
        let total: f64 = design.atoms.iter().map(|atom| atom.weight).sum();
        let risk: f64 = design.atoms.iter().map(|atom| atom.risk_share).sum();
        for atom in &mut design.atoms {
            atom.weight /= total;
            atom.risk_share /= risk.max(f64::MIN_POSITIVE);
        }
        // The value was that of all of them.
        design.objective = f64::NAN;
        design.lower_bound = None;
    }
    Ok(())
}

pub(super) fn explore_reason(design: &Design, index: usize) -> String {
    let atom = &design.atoms[index];
    if atom.embedding.is_empty() {
        return "one of a spread over the whole space".into();
    }
    let strength = linalg::norm(&atom.embedding);
    format!(
        "sharpens direction {} of {} (strength {strength:.3})",
        index + 1,
        design.atoms.len()
    )
}

pub(super) fn exploit_reason(design: &Design, knowledge: &Knowledge<'_>, index: usize) -> String {
    if let Some(nearest) = knowledge.nearest.get(index) {
        return nearest.reason.clone();
    }
    let atom = &design.atoms[index];
    let similarity = atom.similarity.map_or_else(
        || "no target".into(),
        |cosine| format!("cosine {cosine:.4}"),
    );
    let missed = if design.missed > 0.005 {
        format!(
            "; {:.0} % of the target is out of reach of all tasks",
            100.0 * design.missed
        )
    } else {
        String::new()
    };
    format!(
        "serves the target ({similarity}, {:.0} % of the predicted risk{missed})",
        100.0 * atom.risk_share
    )
}
