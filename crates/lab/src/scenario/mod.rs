//! Scenarios: what an experiment is about, where its rows come from, how it is judged and presented.
//!
//! A kind of world is one file with its keys ([`WorldSettings`]) that makes a [`Setup`] of four parts, and a
//! line in each list of `kinds`:
//!
//! | part | what it says |
//! |---|---|
//! | [`Scenario`] | the space of tasks, features, targets |
//! | [`Data`] | where rows come from: a [`TrialSource`] for every trial |
//! | [`Judge`] | what only somebody who knows the truth, or has rows kept back, can say |
//! | [`Presentation`] | what a report says of this world and of no other |

mod judge;
mod kinds;
mod logs;
mod pendulum;
mod points;
mod presentation;
mod program;
mod source;
mod synthetic;
#[cfg(test)]
pub(crate) mod toy;

use std::ops::Range;

use faer::Mat;
use taskscout::features::{FeatureMap, Features as _};
use taskscout::space::{List, Space};
use taskscout::task::TaskId;
use taskscout::train::PartialPooling;
use taskscout_models::Names;

pub(crate) use judge::{Judge, judging};
pub(crate) use kinds::{WorldConfig, WorldKind, WorldSettings};
pub(crate) use points::points;
pub(crate) use presentation::Presentation;
pub(crate) use source::{Data, Open, TrialSource};

/// All that a kind of world makes of its keys.
pub(crate) struct Setup {
    pub(crate) scenario: Scenario,
    pub(crate) data: Box<dyn Data>,
    pub(crate) presentation: Box<dyn Presentation>,
}

/// What an experiment is about.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    /// Where tasks may be chosen.
    pub(crate) space: Space,
    /// `ψ_W`.
    pub(crate) task_features: FeatureMap,
    /// `ψ_X`.
    pub(crate) input_features: FeatureMap,
    /// Numbers that a row gives at once; losses are means over them.
    pub(crate) outputs: usize,
    /// The targets, at least one: all with names of their own, or one without.
    pub(crate) targets: Vec<ScenarioTarget>,
    /// What `schedule.first_round_factor` counts in.
    pub(crate) budget_unit: f64,
    /// The least budget of a round that spreads over the whole space: a sample for each direction.
    pub(crate) least_budget: usize,
    /// How the oracle of partial pooling is to learn here.
    pub(crate) pooled: PartialPooling,
    /// Whether that oracle stands a network beside the features.
    pub(crate) wants_network: bool,
    /// What the theory asks of the truth, where there is one that it speaks of.
    pub(crate) truth: Option<KnownTruth>,
}

/// The truth of a world that follows the model exactly, with source tasks in a ball of task features.
#[derive(Debug, Clone)]
pub(crate) struct KnownTruth {
    /// The source part of `B`, times the radius of the ball.
    pub(crate) map: Mat<f64>,
    /// The embeddings of the targets.
    pub(crate) targets: Vec<Vec<f64>>,
    /// Variance of the noise of a label.
    pub(crate) noise: f64,
    /// Features of an input, where the risk law applies to them.
    pub(crate) inputs: Option<usize>,
}

/// A target of a scenario.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ScenarioTarget {
    /// Its name; none for the only target of a world, which needs none.
    pub(crate) name: Option<String>,
    /// The task that it is, hidden from the learner, where it is one that could be sampled.
    pub(crate) truth: Option<Vec<f64>>,
    /// Its parameters, where the learner may know them.
    pub(crate) known: Option<Vec<f64>>,
    /// The task of the space that its studies must not sample, where there is one.
    pub(crate) left_out: Option<TaskId>,
    /// How many rows it has to learn from; none if there is no limit.
    pub(crate) rows: Option<usize>,
    /// How its inputs were standardised, for models that take them as they are.
    pub(crate) input_scaling: Option<InputScaling>,
    /// What its inputs and outputs are called, for models; empty where they have no names.
    pub(crate) names: Names,
}

/// How the inputs of a target are standardised before its features are taken.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InputScaling {
    pub(crate) mean: Vec<f64>,
    pub(crate) scale: Vec<f64>,
}

impl Scenario {
    /// One output, features in their own groups, budgets counted in samples.
    pub(crate) fn new(
        space: Space,
        task_features: FeatureMap,
        input_features: FeatureMap,
        targets: Vec<ScenarioTarget>,
    ) -> Self {
        let groups = input_features.groups();
        let pooled = PartialPooling {
            groups: groups.iter().map(ExactSizeIterator::len).collect(),
            ..PartialPooling::default()
        };
        Self {
            least_budget: task_features.dim(),
            space,
            task_features,
            input_features,
            outputs: 1,
            targets,
            budget_unit: 1.0,
            pooled,
            wants_network: false,
            truth: None,
        }
    }

    /// Where tasks may be chosen for some of the targets: not among these themselves.
    pub(crate) fn space_for(&self, targets: Range<usize>) -> taskscout::Result<Space> {
        let left_out: Vec<&TaskId> = self.targets[targets]
            .iter()
            .filter_map(|target| target.left_out.as_ref())
            .collect();
        let count = self.space.count().filter(|_| !left_out.is_empty());
        let Some(count) = count else {
            return Ok(self.space.clone());
        };
        let tasks = (0..count).filter_map(|row| self.space.task_at(row));
        let (names, vectors): (Vec<_>, Vec<_>) = tasks
            .filter(|task| !left_out.contains(&&task.id))
            .map(|task| (task.id.as_str().to_owned(), task.to_vec()))
            .unzip();
        List::named(names, &vectors).map(Space::List)
    }

    /// Whether the budget could be spent on the hidden targets themselves, for comparison.
    pub(crate) fn can_sample_targets(&self) -> bool {
        self.targets.iter().all(|target| target.truth.is_some())
    }
}
