//! What a strategy may look at.

use faer::{Mat, MatRef};

use super::plan::TaskDesign;
use crate::features::FeatureMap;
use crate::model::Model;
use crate::space::Space;
use crate::task::{Task, TaskId};

/// What the current model says, in the terms that designs need.
#[derive(Debug, Clone)]
pub struct Knowledge<'a> {
    /// The model.
    pub model: &'a Model,
    /// `A = E[c_0 c_0ᵀ]`, summed over outputs, its insignificant eigenvalues clipped; zero while nothing is known of any
    /// target.
    pub need: Mat<f64>,
    /// `A` of each target that something is known of, times its weight among them; not clipped.
    pub needs: Vec<Mat<f64>>,
    /// The embeddings of the single targets, of several outputs one column after the other; empty while
    /// nothing is known of any.
    pub targets: Vec<Vec<f64>>,
    /// The source task nearest to each target in function space, where that is what is to be
    /// sampled; empty where the design for `A` is.
    pub nearest: Vec<Nearest>,
}

impl Knowledge<'_> {
    /// Whether anything is known of a target.
    #[must_use]
    pub fn has_target(&self) -> bool {
        self.need.squared_norm_l2() > 0.0
    }
}

/// The source task nearest to a target.
#[derive(Debug, Clone, PartialEq)]
pub struct Nearest {
    /// The task.
    pub task: Task,
    /// The target's share of the budget.
    pub weight: f64,
    /// The target's name, and what is known of its parameters.
    pub reason: String,
}

/// Everything a strategy may look at.
#[derive(Debug, Clone)]
pub struct PlanContext<'a> {
    /// Where tasks may be chosen.
    pub space: &'a Space,
    /// The features of a source task.
    pub features: &'a FeatureMap,
    /// The round to plan, from 0.
    pub round: usize,
    /// Samples to plan.
    pub budget: usize,
    /// The seed that all draws derive from.
    pub seed: u64,
    /// Whether the warm-up goes on.
    pub warming_up: bool,
    /// Rounds since the warm-up ended.
    pub active_rounds: usize,
    /// What is known; none before the first data.
    pub knowledge: Option<Knowledge<'a>>,
    /// The information `Σ n_w c_w c_wᵀ` that counts as there already, in the coordinates of the model:
    /// what is under way, and what was collected where [`Given`](super::Given) says so.
    pub given: Option<MatRef<'a, f64>>,
    /// The exploration design last used.
    pub exploration: Option<&'a TaskDesign>,
    /// The tasks for the target that the last round with any asked for, and how many samples of each.
    pub exploited: &'a [(&'a Task, usize)],
    /// The task features of the targets, where all of them are known; else empty.
    pub targets: &'a [Vec<f64>],
    /// Rows that source tasks have given so far.
    pub rows: &'a [(&'a Task, usize)],
    /// What each task of a [list](Space::List) has left, at least one sample each and together the
    /// budget; none without limits. What a strategy asks beyond it is cut by the study.
    pub left: Option<&'a [usize]>,
}

impl PlanContext<'_> {
    /// Rows that a source task has given so far.
    #[must_use]
    pub fn rows_of(&self, id: &TaskId) -> usize {
        let known = self.rows.iter().find(|(known, _)| known.id == *id);
        known.map_or(0, |(_, rows)| *rows)
    }

    /// The same for a part of the budget, with what is left for it.
    pub(super) fn part<'b>(&'b self, budget: usize, left: &'b [usize]) -> PlanContext<'b> {
        PlanContext {
            budget,
            left: Some(left),
            ..self.clone()
        }
    }
}
