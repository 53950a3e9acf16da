//! Collection for targets whose features are known: most rows from related tasks, which share features with them.
//!
//! Nothing has to be found out before it is known which tasks are alike, so there is no warm-up: the
//! first round goes by features alone, later ones by how much tasks turned out to share
//! ([`crate::train::partial_pooling`]).

use super::outputs::source_embedding;
use super::{Decision, Knowledge, PlanContext, PlanItem, Strategy};
use crate::data::Stage;
use crate::design::rounding;
use crate::error::{Error, Result};
use crate::features::apply_row;
use crate::linalg;
use crate::space::Space;
use crate::target::Target;
use crate::task::Task;
use crate::train::partial_pooling::{SourceTaskWithRowLimit, allocate_row_budget};

/// Share of a round that is spread over all tasks alike, so that none stays unseen.
const FLOOR: f64 = 0.1;

/// Whether tasks related to the targets can be looked for.
pub(super) fn check(space: &Space, targets: &[Target]) -> Result<()> {
    if space.count().is_none() {
        return Err(not_finite());
    }
    match targets.iter().find(|target| !target.is_known()) {
        Some(target) => Err(Error::setting(
            "strategy.kind",
            format!(
                "is `related`, but the parameters of target `{}` are not known: name them, or use `aware`",
                target.name
            ),
        )),
        None => Ok(()),
    }
}

fn not_finite() -> Error {
    Error::setting(
        "strategy.kind",
        "is `related`, which needs a finite task space: list the tasks, or use `aware`",
    )
}

/// Sampling tasks related to known targets.
#[derive(Debug)]
pub(super) struct Related;

impl Strategy for Related {
    fn plan(&self, context: &PlanContext<'_>) -> Result<Decision> {
        let count = context.space.count().ok_or_else(not_finite)?;
        let task = |row| context.space.task_at(row);
        let tasks: Vec<Task> = (0..count).filter_map(task).collect();
        if context.targets.is_empty() {
            return Err(Error::setting(
                "strategy.kind",
                "is `related`, which needs targets whose parameters are known: name them, or use `aware`",
            ));
        }
        let mut left: Vec<usize> = match context.left {
            Some(left) => left.to_vec(),
            None => vec![usize::MAX; tasks.len()],
        };
        let mut items = floor(context, &tasks, &mut left)?;
        let candidates: Vec<SourceTaskWithRowLimit> = tasks
            .iter()
            .zip(&left)
            .map(|(task, &left)| SourceTaskWithRowLimit {
                features: apply_row(context.features, task),
                rows: context.rows_of(&task.id),
                capacity: left,
            })
            .collect();
        let knowledge = context.knowledge.as_ref();
        let hierarchies =
            knowledge.map_or(&[][..], |known| known.model.structure.hierarchical_models());
        let budget = context.budget - items.iter().map(|item| item.n).sum::<usize>();
        let rows = allocate_row_budget(hierarchies, context.targets, &candidates, budget)?;
        // Where related tasks have nothing left, others may have.
        let rest = budget - rows.iter().sum::<usize>();
        if rest > 0 {
            for (left, taken) in left.iter_mut().zip(&rows) {
                *left -= taken;
            }
            let counts = rounding::apportion_within(&vec![1.0; tasks.len()], rest, &left)?;
            for (task, n) in tasks.iter().zip(counts).filter(|(_, n)| *n > 0) {
                let reason = "the target's related tasks have nothing left";
                items.push(PlanItem::new(task.clone(), n, Stage::Explore, reason));
            }
        }
        items.extend(related_items(knowledge, &tasks, &candidates, &rows, budget));
        Ok(Decision {
            items,
            exploration: None,
        })
    }

    fn needs_model(&self) -> bool {
        true
    }
}

/// The share of a round that is spread over all tasks; `left` loses what they take.
fn floor(context: &PlanContext<'_>, tasks: &[Task], left: &mut [usize]) -> Result<Vec<PlanItem>> {
    let rows = ((FLOOR * context.budget as f64) as usize).min(context.budget);
    let mut items = Vec::new();
    for (index, n) in spread_out(left, rows, context.round)? {
        left[index] -= n;
        let reason = "one of all tasks, so that none stays unseen";
        items.push(PlanItem::new(
            tasks[index].clone(),
            n,
            Stage::Explore,
            reason,
        ));
    }
    Ok(items)
}

/// The items of related tasks, most rows first.
fn related_items(
    knowledge: Option<&Knowledge<'_>>,
    tasks: &[Task],
    candidates: &[SourceTaskWithRowLimit],
    rows: &[usize],
    budget: usize,
) -> Vec<PlanItem> {
    let similarity = |features: &[f64]| {
        let known = knowledge?;
        let embedding = source_embedding(known.model, features);
        let cosines = known.targets.iter().map(|t| linalg::cosine(t, &embedding));
        cosines.max_by(f64::total_cmp)
    };
    let mut order: Vec<usize> = (0..tasks.len()).filter(|&index| rows[index] > 0).collect();
    order.sort_by_key(|&index| (std::cmp::Reverse(rows[index]), index));
    let item = |index: usize| PlanItem {
        id: 0,
        task: tasks[index].clone(),
        n: rows[index],
        stage: Stage::Exploit,
        similarity: similarity(&candidates[index].features),
        reason: format!(
            "related to the target: {:.0} % of the rows that lower its variance",
            100.0 * rows[index] as f64 / budget.max(1) as f64
        ),
    };
    order.into_iter().map(item).collect()
}

/// A few rows of every task that has some left; where there are fewer rows than tasks, of those
/// whose turn it is.
fn spread_out(left: &[usize], rows: usize, round: usize) -> Result<Vec<(usize, usize)>> {
    let open: Vec<usize> = (0..left.len()).filter(|&index| left[index] > 0).collect();
    if rows == 0 || open.is_empty() {
        return Ok(Vec::new());
    }
    let count = rows.min(open.len());
    let turns = (0..count).map(|turn| open[(round * count + turn) % open.len()]);
    let counts = rounding::apportion(&vec![1.0; count], rows)?;
    Ok(turns
        .zip(counts)
        .map(|(index, n)| (index, n.min(left[index])))
        .collect())
}
