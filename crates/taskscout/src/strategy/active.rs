//! The three stages of active collection.
//!
//! 1. **Warm-up** (coarse): `q_0 = g(ψ_W, I)`, every direction of the space alike, to find the
//!    `k`-dimensional subspace that matters.
//! 2. **Explore** (agnostic): `q_1 = g(B ψ_W, I_k)` on the current estimate of `B`, to sharpen it.
//! 3. **Exploit** (aware): `q_2 = g(B ψ_W, A)`, the tasks that the target needs.

use faer::MatRef;

use super::passive::spread;
use super::{Decision, Knowledge, PlanContext, Strategy, StrategyConfig, StrategyKind};
use crate::data::Stage;
use crate::design::{Criterion, Design, ball};
use crate::error::{Error, Result};
use crate::features::Features as _;
use crate::linalg;
use crate::space::Space;

/// Mean squared overlap above which save-task keeps the exploration tasks in use.
const SAVE_TASK_OVERLAP: f64 = 0.8;

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
            let design = spread(context, 0)?;
            decision.add(&design, context.budget, Stage::WarmUp, |_| {
                "coarse look at every direction".into()
            })?;
            return Ok(decision);
        };
        let exploration = self.exploration(context, knowledge)?;
        let exploitation = match self.config.kind {
            StrategyKind::Agnostic => None,
            _ => Some(self.exploitation(context, knowledge)?),
        };
        let explore =
            self.explore_samples(context, knowledge, &exploration, exploitation.as_ref())?;
        decision.add(&exploration, explore, Stage::Explore, |index| {
            explore_reason(&exploration, index)
        })?;
        if let Some(exploitation) = exploitation {
            let n = context.budget - explore;
            decision.add(&exploitation, n, Stage::Exploit, |index| {
                exploit_reason(&exploitation, index)
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
    /// The split of the round, moved as little as needed to give every task a sample.
    fn explore_samples(
        &self,
        context: &PlanContext<'_>,
        knowledge: &Knowledge<'_>,
        exploration: &Design,
        exploitation: Option<&Design>,
    ) -> Result<usize> {
        let Some(exploitation) = exploitation else {
            return Ok(context.budget);
        };
        let (least, reserved) = (exploration.atoms.len(), exploitation.atoms.len());
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

    /// `q_1`: the design for all directions of the representation alike, or the one in use while
    /// save-task finds that it still fits.
    fn exploration(&self, context: &PlanContext<'_>, knowledge: &Knowledge<'_>) -> Result<Design> {
        let map = knowledge.model.map.source(0, context.features.dim());
        if 2 * knowledge.model.dim() >= context.features.dim() {
            // With k near the dimension of the space, its directions are all worth the same look.
            return spread(context, 0);
        }
        if let Some(used) = context.exploration.filter(|_| self.config.save_task)
            && overlap(used, map)? >= SAVE_TASK_OVERLAP
        {
            return Ok(used.clone());
        }
        // Directions that no source task reaches cannot be explored, only learnt from the target.
        let reached = linalg::svd(map, "the task map")?;
        let rank = reached
            .s
            .iter()
            .filter(|&&value| value > UNREACHED * reached.s[0])
            .count();
        let basis = reached.u.as_ref().subcols(0, rank);
        let everything = linalg::product(basis, basis.transpose());
        solve(
            context,
            knowledge,
            everything.as_ref(),
            self.config.explore_criterion,
        )
    }

    /// `q_2`: the design for what the targets need.
    fn exploitation(&self, context: &PlanContext<'_>, knowledge: &Knowledge<'_>) -> Result<Design> {
        solve(
            context,
            knowledge,
            knowledge.need.as_ref(),
            self.config.exploit_criterion,
        )
    }
}

/// The optimal design of the space for a need.
fn solve(
    context: &PlanContext<'_>,
    knowledge: &Knowledge<'_>,
    need: MatRef<'_, f64>,
    criterion: Criterion,
) -> Result<Design> {
    let map = knowledge.model.map.source(0, context.features.dim());
    match context.space {
        Space::Ball(space) if context.features.is_identity() => {
            let mut design = ball::optimal(map, need, criterion, space.radius())?;
            design.orient(&knowledge.targets, true);
            Ok(design)
        }
        _ => Err(Error::setting(
            "strategy",
            "is active, which needs a ball as task space and identity task features: use `passive` for this space",
        )),
    }
}

/// Mean squared overlap between the tasks of a design and the row space of `B`.
fn overlap(design: &Design, map: MatRef<'_, f64>) -> Result<f64> {
    let rows = linalg::svd(map, "the task map")?;
    let inside = |task: &[f64]| {
        let projected = linalg::apply(rows.v.transpose(), task);
        linalg::dot(&projected, &projected) / linalg::dot(task, task).max(f64::MIN_POSITIVE)
    };
    Ok(design
        .atoms
        .iter()
        .map(|atom| inside(&atom.task))
        .sum::<f64>()
        / design.atoms.len().max(1) as f64)
}

fn explore_reason(design: &Design, index: usize) -> String {
    let atom = &design.atoms[index];
    if atom.embedding.is_empty() {
        return "one of a spread over the whole space, as k is near its dimension".into();
    }
    let strength = linalg::norm(&atom.embedding);
    format!(
        "sharpens direction {} of {} (strength {strength:.3})",
        index + 1,
        design.atoms.len()
    )
}

fn exploit_reason(design: &Design, index: usize) -> String {
    let atom = &design.atoms[index];
    let similarity = atom.similarity.map_or_else(
        || "no target".into(),
        |cosine| format!("cosine {cosine:.4}"),
    );
    format!(
        "serves the target ({similarity}, {:.0} % of the predicted risk)",
        100.0 * atom.risk_share
    )
}
