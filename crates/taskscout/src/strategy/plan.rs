//! What a strategy hands to whoever collects: plans, and designs over tasks.

use serde::{Deserialize, Serialize};

use crate::data::Stage;
use crate::design::{Design, DesignAtom};
use crate::space::Space;
use crate::task::Task;

/// One line of a plan: collect `n` samples from a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanItem {
    /// Its number, unique in the study.
    pub id: u64,
    /// The task.
    pub task: Task,
    /// Samples to collect.
    pub n: usize,
    /// The stage that asks.
    pub stage: Stage,
    /// Cosine between the task's embedding and the nearest target's, where known.
    pub similarity: Option<f64>,
    /// Why this task.
    pub reason: String,
}

impl PlanItem {
    /// An item of a strategy of one's own; the study gives it its number.
    #[must_use]
    pub fn new(task: Task, n: usize, stage: Stage, reason: &str) -> Self {
        Self {
            id: 0,
            task,
            n,
            stage,
            similarity: None,
            reason: reason.to_owned(),
        }
    }
}

/// What to collect next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The round it belongs to, from 0.
    pub round: usize,
    /// What to collect, in order.
    pub items: Vec<PlanItem>,
    /// Samples that were asked for and that no task has left; see
    /// [`Study::ask_within`](crate::study::Study::ask_within).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub short: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

impl Plan {
    /// Samples in all.
    #[must_use]
    pub fn budget(&self) -> usize {
        self.items.iter().map(|item| item.n).sum()
    }
}

/// A design whose atoms are tasks with ids.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskDesign {
    /// The design.
    pub design: Design,
    /// The tasks of its atoms, in their order.
    pub tasks: Vec<Task>,
}

impl TaskDesign {
    /// Finds the tasks of a design that was solved over a space.
    pub(crate) fn of(design: Design, space: &Space) -> Self {
        let listed = space.count().is_some();
        let task = |atom: &DesignAtom| {
            let row = atom.row.filter(|_| listed);
            row.and_then(|row| space.task_at(row))
                .unwrap_or_else(|| space.task_of(&atom.task))
        };
        let tasks = design.atoms.iter().map(task).collect();
        Self { design, tasks }
    }

    /// The weights of its atoms.
    pub(super) fn weights(&self) -> Vec<f64> {
        self.design.atoms.iter().map(|atom| atom.weight).collect()
    }
}
