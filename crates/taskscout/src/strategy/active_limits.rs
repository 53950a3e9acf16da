//! Active collection where tasks have finitely many samples left.

use super::active::{Active, exploit_reason, explore_reason, looks_everywhere};
use super::{Decision, Knowledge, PlanContext};
use crate::data::Stage;
use crate::error::Result;
use crate::features::Features as _;
use crate::space::List;

impl Active {
    /// The plan after the warm-up, within what the tasks have left. The target's tasks are taken first, because
    /// exploration finds others more easily.
    pub(super) fn plan_within(
        &self,
        context: &PlanContext<'_>,
        knowledge: &Knowledge<'_>,
        tasks: &List,
        left: &[usize],
    ) -> Result<Decision> {
        let explore = self.explore_within(context, knowledge);
        let mut left = left.to_vec();
        let mut exploiting = Decision::default();
        if explore < context.budget {
            let n = context.budget - explore;
            let own = context.part(n, &left);
            let design = self.exploitation(&own, knowledge, n)?;
            let remaining = (tasks, left.as_mut_slice());
            exploiting.add_within(&design, n, Stage::Exploit, remaining, |index| {
                exploit_reason(&design.design, knowledge, index)
            })?;
        }
        let mut decision = Decision::default();
        if explore > 0 {
            let own = context.part(explore, &left);
            let design = self.exploration(&own, knowledge, explore)?;
            let remaining = (tasks, left.as_mut_slice());
            decision.add_within(&design, explore, Stage::Explore, remaining, |index| {
                explore_reason(&design.design, index)
            })?;
            decision.exploration = Some(design);
        }
        decision.items.append(&mut exploiting.items);
        Ok(decision)
    }

    /// The split of the round, moved as little as needed to give every direction a sample.
    fn explore_within(&self, context: &PlanContext<'_>, knowledge: &Knowledge<'_>) -> usize {
        let (budget, k) = (context.budget, knowledge.model.dim());
        if !self.exploits(knowledge) {
            return budget;
        }
        let all = if looks_everywhere(context, knowledge) {
            context.features.dim()
        } else {
            k
        };
        let reserved = k.min(budget / 2);
        let least = all.min(budget - reserved);
        let wanted = self
            .config
            .split
            .explore(budget, k, context.active_rounds + 1);
        wanted.clamp(least, budget - reserved)
    }
}
