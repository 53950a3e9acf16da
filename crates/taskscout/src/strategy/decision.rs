//! What a strategy decides, before the study numbers it.

use std::collections::HashMap;

use super::plan::{PlanItem, TaskDesign};
use crate::data::Stage;
use crate::design::rounding;
use crate::error::Result;
use crate::space::List;
use crate::task::TaskId;

/// What a strategy decides: items without numbers, and the exploration design it used.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Decision {
    /// Tasks with counts, stages and reasons; their numbers are given by the study.
    pub items: Vec<PlanItem>,
    /// The exploration design in use from now on, for save-task.
    pub exploration: Option<TaskDesign>,
}

impl Decision {
    /// A decision for some items.
    #[must_use]
    pub fn of(items: Vec<PlanItem>) -> Self {
        Self {
            items,
            exploration: None,
        }
    }

    /// Adds a design's tasks with `n` samples in all.
    pub(crate) fn add(
        &mut self,
        design: &TaskDesign,
        n: usize,
        stage: Stage,
        why: impl Fn(usize) -> String,
    ) -> Result<()> {
        if n == 0 {
            return Ok(());
        }
        self.push(
            design,
            &rounding::apportion(&design.weights(), n)?,
            stage,
            why,
        );
        Ok(())
    }

    /// Adds a design's tasks with `n` samples in all, or as many as they have left; `left` loses
    /// what they take.
    pub(crate) fn add_within(
        &mut self,
        design: &TaskDesign,
        n: usize,
        stage: Stage,
        (tasks, left): (&List, &mut [usize]),
        why: impl Fn(usize) -> String,
    ) -> Result<()> {
        let ids: HashMap<TaskId, usize> =
            (0..tasks.len()).map(|row| (tasks.id(row), row)).collect();
        let rows: Vec<Option<usize>> = design
            .tasks
            .iter()
            .map(|task| ids.get(&task.id).copied())
            .collect();
        let most: Vec<usize> = rows
            .iter()
            .map(|row| row.map_or(0, |row| left[row]))
            .collect();
        let counts = rounding::apportion_within(&design.weights(), n, &most)?;
        for (row, count) in rows.iter().zip(&counts) {
            if let Some(row) = row {
                left[*row] -= count;
            }
        }
        self.push(design, &counts, stage, why);
        self.items.retain(|item| item.n > 0);
        Ok(())
    }

    fn push(
        &mut self,
        design: &TaskDesign,
        counts: &[usize],
        stage: Stage,
        why: impl Fn(usize) -> String,
    ) {
        let atoms = design.design.atoms.iter().zip(&design.tasks);
        for (index, ((atom, task), &n)) in atoms.zip(counts).enumerate() {
            self.items.push(PlanItem {
                id: 0,
                task: task.clone(),
                n,
                stage,
                similarity: atom.similarity,
                reason: why(index),
            });
        }
    }
}
