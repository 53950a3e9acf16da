//! Strategies: from what is known to the next plan of collection.
//!
//! | strategy | what it samples |
//! |---|---|
//! | `passive` | a fresh random orthonormal basis of the space every round, equal counts |
//! | `passive-fixed` | the same basis every round |
//! | `agnostic` | warm-up, then `q_1 = g(B ψ_W, I)` on the current estimate |
//! | `aware` | warm-up, then part `q_1`, part `q_2` for the target: `g(B ψ_W, A)`, or the task nearest to it |
//! | `discrete-l1`, `discrete-l2` | warm-up, then tasks of a finite space by their relevance to the target |

mod active;
mod discrete;
pub(crate) mod outputs;
mod passive;
mod related;
pub mod schedule;
mod stored;
mod within;

use std::collections::HashMap;

use discrete::not_finite;
use faer::{Mat, MatRef};
pub use schedule::{Split, WarmUp};
use serde::{Deserialize, Serialize};

use crate::data::Stage;
use crate::design::discrete::Relevance;
use crate::design::{Criterion, Design, DesignAtom, rounding};
use crate::error::Result;
use crate::features::FeatureMap;
use crate::model::Model;
use crate::space::{List, Space};
use crate::target::Target;
use crate::task::{Task, TaskId};

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

    fn weights(&self) -> Vec<f64> {
        self.design.atoms.iter().map(|atom| atom.weight).collect()
    }
}

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

/// What the current model says, in the terms that designs need.
#[derive(Debug, Clone)]
pub struct Knowledge<'a> {
    /// The model.
    pub model: &'a Model,
    /// `A = E[c_0 c_0ᵀ]`, summed over outputs, its insignificant eigenvalues clipped; zero while nothing is known of any
    /// target.
    pub need: Mat<f64>,
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
    /// what is under way, and what was collected where [`Given`] says so.
    pub given: Option<MatRef<'a, f64>>,
    /// The exploration design last used.
    pub exploration: Option<&'a TaskDesign>,
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
    fn part<'b>(&'b self, budget: usize, left: &'b [usize]) -> PlanContext<'b> {
        PlanContext {
            budget,
            left: Some(left),
            ..self.clone()
        }
    }
}

/// A rule for choosing tasks.
///
/// ```
/// use taskscout::data::Stage;
/// use taskscout::strategy::{Decision, PlanContext, PlanItem, Strategy};
/// use taskscout::task::Task;
///
/// /// Everything from one task that the engineer likes.
/// #[derive(Debug)]
/// struct Favourite(Task);
///
/// impl Strategy for Favourite {
///     fn plan(&self, context: &PlanContext<'_>) -> taskscout::Result<Decision> {
///         let (task, n) = (self.0.clone(), context.budget);
///         let item = PlanItem::new(task, n, Stage::Explore, "the favourite");
///         Ok(Decision::of(vec![item]))
///     }
/// }
/// ```
pub trait Strategy: std::fmt::Debug + Send + Sync {
    /// Decides what to collect with the context's budget.
    ///
    /// # Errors
    /// A budget too small for the tasks, or a space that the strategy cannot plan in.
    fn plan(&self, context: &PlanContext<'_>) -> Result<Decision>;

    /// Whether planning needs a trained model after the warm-up.
    fn needs_model(&self) -> bool {
        false
    }
}

/// The strategies that come with the crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StrategyKind {
    /// A fresh random basis every round.
    Passive,
    /// The same random basis every round.
    PassiveFixed,
    /// Directions that matter to the representation, whatever the target.
    Agnostic,
    /// Directions that matter to the target.
    Aware,
    /// Tasks of a finite space by the combination with the smallest sum of magnitudes that gives
    /// the target.
    DiscreteL1,
    /// The same with the smallest sum of squares.
    DiscreteL2,
    /// Tasks of a finite space that share features with targets whose own are known, by how much of
    /// the doubt about the targets their rows take away; from the first round on.
    Related,
}

impl StrategyKind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Passive,
        Self::PassiveFixed,
        Self::Agnostic,
        Self::Aware,
        Self::DiscreteL1,
        Self::DiscreteL2,
        Self::Related,
    ];

    /// Its name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Passive => "passive",
            Self::PassiveFixed => "passive-fixed",
            Self::Agnostic => "agnostic",
            Self::Aware => "aware",
            Self::DiscreteL1 => "discrete-l1",
            Self::DiscreteL2 => "discrete-l2",
            Self::Related => "related",
        }
    }

    /// Whether it learns where to sample.
    #[must_use]
    pub fn is_active(self) -> bool {
        !matches!(self, Self::Passive | Self::PassiveFixed)
    }

    /// Whether it has exploration tasks of its own, which save-task can keep.
    #[must_use]
    pub fn explores(self) -> bool {
        matches!(self, Self::Agnostic | Self::Aware)
    }

    /// Whether it chooses tasks for a target, and so needs one.
    #[must_use]
    pub fn needs_target(self) -> bool {
        matches!(
            self,
            Self::Aware | Self::DiscreteL1 | Self::DiscreteL2 | Self::Related
        )
    }

    /// Whether it starts from what is known of the targets' parameters.
    #[must_use]
    pub fn needs_known_targets(self) -> bool {
        self == Self::Related
    }

    /// Whether it plans in finite task spaces only.
    #[must_use]
    pub fn needs_finite_space(self) -> bool {
        matches!(self, Self::DiscreteL1 | Self::DiscreteL2 | Self::Related)
    }
}

impl std::fmt::Display for StrategyKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Which strategy a study uses, with its settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "stored::StoredConfig")]
pub struct StrategyConfig {
    /// Which one.
    pub kind: StrategyKind,
    /// Keep the exploration tasks while they still fit the estimate, to save task switches.
    pub save_task: bool,
    /// What exploration designs minimise.
    pub explore_criterion: Criterion,
    /// What target-aware designs minimise.
    pub exploit_criterion: Criterion,
    /// How a round's budget is split between exploration and exploitation.
    pub split: Split,
    /// Which tasks serve the target.
    pub exploit: Exploit,
    /// What designs count as there already.
    pub given: Given,
}

/// What designs count as there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Given {
    /// What was asked for and has not come back yet: each round is the best for its own budget.
    #[default]
    UnderWay,
    /// What is under way, and all that was collected: a round is the best addition to it.
    Collected,
}

/// Which tasks serve the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Exploit {
    /// The nearest task where the targets are found to be members of the source family, in a
    /// continuous space with nonlinear task features and a representation of at least half as many
    /// directions; else the optimal design.
    #[default]
    Auto,
    /// The optimal design `q_2 = g(B ψ_W, A)`.
    Design,
    /// The source task nearest to each target in function space.
    Nearest,
}

impl StrategyConfig {
    /// A strategy with default settings.
    #[must_use]
    pub fn new(kind: StrategyKind) -> Self {
        Self {
            kind,
            save_task: false,
            explore_criterion: Criterion::Trace,
            exploit_criterion: Criterion::Trace,
            split: Split::default(),
            exploit: Exploit::default(),
            given: Given::default(),
        }
    }

    /// Whether the strategy can plan for such targets.
    pub(crate) fn check_targets(&self, space: &Space, targets: &[Target]) -> Result<()> {
        match self.kind {
            StrategyKind::Related => related::check(space, targets),
            kind if kind.needs_finite_space() && space.count().is_none() => Err(not_finite()),
            _ => Ok(()),
        }
    }

    /// The strategy itself.
    #[must_use]
    pub fn build(&self) -> Box<dyn Strategy> {
        match self.kind {
            StrategyKind::Related => Box::new(related::Related),
            StrategyKind::Passive => Box::new(passive::Passive { fixed: false }),
            StrategyKind::PassiveFixed => Box::new(passive::Passive { fixed: true }),
            StrategyKind::Agnostic | StrategyKind::Aware => {
                Box::new(active::Active { config: *self })
            }
            StrategyKind::DiscreteL1 => Box::new(discrete::ByRelevance {
                relevance: Relevance::L1,
            }),
            StrategyKind::DiscreteL2 => Box::new(discrete::ByRelevance {
                relevance: Relevance::L2,
            }),
        }
    }
}
