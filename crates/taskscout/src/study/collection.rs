//! What collecting costs, and which plans can be carried out.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::task::TaskId;

/// How data is collected: what samples and switches cost, and what a rig cannot or should not do.
///
/// Where a switch is dear, plans have few tasks with many samples each:
///
/// ```
/// # use taskscout::features::FeatureMap;
/// # use taskscout::space::Space;
/// # use taskscout::strategy::{StrategyConfig, StrategyKind};
/// # use taskscout::target::Target;
/// use taskscout::study::{Collection, Study, StudyConfig};
/// let mut study = Study::new(StudyConfig {
///     // A change of the wind costs as much as 60 samples, and fewer than 25 are not worth a flight.
///     collection: Collection { switch_cost: 60.0, smallest_batch: 25, ..Collection::default() },
///     ..StudyConfig::new(
///         Space::boxed(vec![0.0, -1.0], vec![12.0, 1.0])?,
///         FeatureMap::identity(3)?,
///         vec![Target::unknown("tomorrow")],
///         StrategyConfig::new(StrategyKind::Aware),
///     )?
/// })?;
/// let plan = study.ask(1000)?;
/// assert!(plan.items.iter().all(|item| item.n >= 25));
/// assert!(plan.budget() + 60 * plan.items.len() <= 1000);
/// # Ok::<(), taskscout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Collection {
    /// What a sample costs; budgets are in this unit.
    pub sample_cost: f64,
    /// What a sample of a task costs, where it is not `sample_cost`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub task_costs: BTreeMap<TaskId, f64>,
    /// What every task of a plan costs beside its samples.
    pub switch_cost: f64,
    /// Samples that a task of a plan gets at least.
    pub smallest_batch: usize,
    /// Tasks of a plan at most.
    pub max_tasks: Option<usize>,
    /// Samples of one task in the whole study at most.
    pub most_of_a_task: Option<usize>,
    /// Tasks that must not be asked for.
    pub forbidden: BTreeSet<TaskId>,
    /// Samples of an episode: a task gets whole ones.
    pub episode: usize,
}

impl Default for Collection {
    fn default() -> Self {
        Self {
            sample_cost: 1.0,
            task_costs: BTreeMap::new(),
            switch_cost: 0.0,
            smallest_batch: 1,
            max_tasks: None,
            most_of_a_task: None,
            forbidden: BTreeSet::new(),
            episode: 1,
        }
    }
}

impl Collection {
    pub(super) fn validate(&self) -> Result<()> {
        let cost = |key: &str, cost: f64, least: &str, fits: bool| {
            if fits && cost.is_finite() {
                return Ok(());
            }
            let problem = format!("is {cost}: it must be finite and {least}");
            Err(Error::setting(format!("collection.{key}"), problem))
        };
        cost(
            "sample_cost",
            self.sample_cost,
            "above 0",
            self.sample_cost > 0.0,
        )?;
        for (task, &dear) in &self.task_costs {
            cost(&format!("task_costs.{task}"), dear, "above 0", dear > 0.0)?;
        }
        cost(
            "switch_cost",
            self.switch_cost,
            "at least 0",
            self.switch_cost >= 0.0,
        )?;
        for (key, value) in [
            ("smallest_batch", Some(self.smallest_batch)),
            ("episode", Some(self.episode)),
            ("max_tasks", self.max_tasks),
            ("most_of_a_task", self.most_of_a_task),
        ] {
            if value == Some(0) {
                let key = format!("collection.{key}");
                return Err(Error::setting(key, "is 0: it must be at least 1"));
            }
        }
        Ok(())
    }

    /// Whether nothing but the number of samples counts.
    pub(super) fn is_free(&self) -> bool {
        let plain = Self {
            most_of_a_task: self.most_of_a_task,
            forbidden: self.forbidden.clone(),
            ..Self::default()
        };
        *self == plain
    }

    /// How many samples a task may still be asked for, if that is limited.
    pub(super) fn left(&self, task: &TaskId, asked: usize) -> Option<usize> {
        if self.forbidden.contains(task) {
            return Some(0);
        }
        self.most_of_a_task.map(|most| most.saturating_sub(asked))
    }

    /// Whether some tasks may not be asked for without end.
    pub(super) fn is_limited(&self) -> bool {
        self.most_of_a_task.is_some() || !self.forbidden.is_empty()
    }

    /// Samples that a budget buys of one task.
    pub(super) fn samples(&self, budget: usize) -> Result<usize> {
        if self.is_free() {
            return Ok(budget);
        }
        let batch = self.smallest_units() * self.episode;
        let cheapest = self.cheapest_sample();
        let least = self.switch_cost + cheapest * batch as f64;
        if (budget as f64) < least {
            return Err(Error::setting(
                "budget",
                format!(
                    "is {budget}, but one task costs at least {least} (a switch at {}, {batch} samples at {}): ask for more",
                    self.switch_cost, cheapest
                ),
            ));
        }
        Ok(((budget as f64 - self.switch_cost) / self.typical_sample()).max(1.0) as usize)
    }

    /// What a sample of a task costs.
    #[must_use]
    pub fn cost_of(&self, task: &TaskId) -> f64 {
        self.task_costs
            .get(task)
            .copied()
            .unwrap_or(self.sample_cost)
    }

    /// What a sample of the cheapest task costs that a cost is known of.
    fn cheapest_sample(&self) -> f64 {
        let costs = self.task_costs.values().copied();
        costs.reduce(f64::min).unwrap_or(self.sample_cost)
    }

    /// What a sample costs in the mean over the tasks that a cost is known of.
    fn typical_sample(&self) -> f64 {
        if self.task_costs.is_empty() {
            return self.sample_cost;
        }
        self.task_costs.values().sum::<f64>() / self.task_costs.len() as f64
    }

    /// What a sample of a task costs, over `sample_cost`.
    pub(super) fn relative_cost(&self, task: &TaskId) -> f64 {
        self.cost_of(task) / self.sample_cost
    }

    /// What an episode costs.
    pub(super) fn unit(&self) -> f64 {
        self.sample_cost * self.episode as f64
    }

    /// Episodes that a task gets at least.
    pub(super) fn smallest_units(&self) -> usize {
        self.smallest_batch.div_ceil(self.episode)
    }
}
