//! All tasks of a study as families that share task features.

use std::collections::HashMap;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::component::{Component, Evidence, TaskCoefficientPosterior};
use super::prior::TargetPrior;
use crate::data::{Stage, Statistics, TaskData};
use crate::error::{Error, Result};
use crate::representation::Stack;
use crate::representation::{AnyRepresentation, Representation as _};
use crate::task::{Task, TaskId};
use serde::{Deserialize, Serialize};

/// What functions are linear in: some of the features, and what a network makes of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FunctionBasis {
    /// A network whose outputs stand behind the features.
    pub(crate) network: Option<AnyRepresentation>,
    /// The columns in use, rising.
    pub(crate) columns: Vec<usize>,
    /// The group of each of them.
    pub(crate) groups: Vec<usize>,
}

impl FunctionBasis {
    /// Statistics on the basis.
    pub(crate) fn statistics(
        &self,
        features: usize,
        statistics: &Statistics,
        rows: &crate::data::Rows,
    ) -> Result<Statistics> {
        match &self.network {
            None => statistics.pick(&self.columns),
            Some(phi) => Stack::of(features, Some(phi), None)
                .statistics(statistics, rows)?
                .pick(&self.columns),
        }
    }
}

/// Which families are fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Families {
    /// Those that targets belong to.
    OfTargets,
    /// All of them.
    All,
}

/// A source task of a hierarchical model, with the posterior of its function.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceFunctionPosterior {
    /// The task.
    pub task: Task,
    /// Its rows.
    pub rows: usize,
    /// What is known of its function, on the basis of the hierarchical model.
    pub posterior: TaskCoefficientPosterior,
}

/// Tasks with what they share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TaskFamily {
    /// The task features that they share.
    pub(crate) shared: Vec<usize>,
    pub(crate) component: Component,
    /// The source tasks, with their rows.
    pub(crate) members: Vec<(Task, usize)>,
}

/// A hierarchical model of one output: source tasks in families that share task features, and the
/// priors that they give the targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HierarchicalModel {
    /// The output whose functions these are.
    pub(crate) output: usize,
    pub(crate) basis: FunctionBasis,
    /// Rows that any number of rows of one task count for at most.
    #[serde(rename = "worth", alias = "effective_rows")]
    pub(crate) effective_rows: f64,
    pub(crate) families: Vec<TaskFamily>,
    /// For each target: the family that it belongs to, and what it is expected to be.
    pub(crate) targets: Vec<Option<(usize, TargetPrior)>>,
    /// The same on other bases, which held-out rows of the targets speak for less; without what is known of each source
    /// task.
    pub(crate) others: Vec<Self>,
}

/// A source task's rows over all stages.
pub(crate) struct TaskRows {
    task: Task,
    features: Vec<f64>,
    rows: usize,
    entries: Vec<usize>,
}

/// Source tasks, each once, with the sets of task features that tasks connect.
pub(crate) struct TaskClusters {
    tasks: Vec<TaskRows>,
    /// Sets of task features that some task has together.
    clusters: Vec<Vec<usize>>,
}

impl TaskClusters {
    pub(crate) fn of(data: &TaskData, stages: Option<&[Stage]>) -> Self {
        let (mut tasks, mut index): (Vec<TaskRows>, HashMap<&TaskId, usize>) = Default::default();
        for (at, entry) in data.sources().iter().enumerate() {
            let wanted = stages.is_none_or(|stages| stages.contains(&entry.stage));
            if !wanted || entry.statistics.count() == 0 {
                continue;
            }
            let slot = *index.entry(&entry.task.id).or_insert_with(|| {
                tasks.push(TaskRows {
                    task: entry.task.clone(),
                    features: entry.features.clone(),
                    rows: 0,
                    entries: Vec::new(),
                });
                tasks.len() - 1
            });
            tasks[slot].rows += entry.statistics.count();
            tasks[slot].entries.push(at);
        }
        let clusters = clusters(&tasks, data.task_dim());
        Self { tasks, clusters }
    }

    /// The cluster that a task has features of, most of them where there are several. A target may
    /// have one that no source task has: nothing is known of it, and the rest still counts.
    fn cluster_of(&self, features: &[f64]) -> Option<usize> {
        let support = support(features);
        let common = |cluster: &Vec<usize>| {
            support
                .iter()
                .filter(|index| cluster.contains(index))
                .count()
        };
        let shared = self.clusters.iter().map(common).enumerate();
        let most = shared.filter(|(_, count)| *count > 0);
        most.min_by_key(|(_, count)| std::cmp::Reverse(*count))
            .map(|(cluster, _)| cluster)
    }
}

/// The features that a task has.
fn support(features: &[f64]) -> Vec<usize> {
    (0..features.len())
        .filter(|&index| features[index].abs() > 0.0)
        .collect()
}

/// Sets of task features that tasks connect, in order of their first feature.
fn clusters(tasks: &[TaskRows], count: usize) -> Vec<Vec<usize>> {
    let mut parent: Vec<usize> = (0..count).collect();
    fn root(parent: &[usize], mut index: usize) -> usize {
        while parent[index] != index {
            index = parent[index];
        }
        index
    }
    let mut used = vec![false; count];
    for member in tasks {
        let support = support(&member.features);
        for &index in &support {
            used[index] = true;
            let (a, b) = (root(&parent, support[0]), root(&parent, index));
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut sets: Vec<Vec<usize>> = vec![Vec::new(); count];
    for index in (0..count).filter(|&index| used[index]) {
        sets[root(&parent, index)].push(index);
    }
    sets.retain(|set| !set.is_empty());
    sets
}

impl HierarchicalModel {
    /// Fits families.
    pub(crate) fn fit(
        data: &TaskData,
        tasks: &TaskClusters,
        (basis, output): (FunctionBasis, usize),
        effective_rows: f64,
        wanted: Families,
    ) -> Result<Self> {
        let homes: Vec<Option<usize>> = data
            .targets()
            .iter()
            .map(|target| tasks.cluster_of(&target.features))
            .collect();
        let mut families = Vec::new();
        let mut place = vec![None; tasks.clusters.len()];
        for (cluster, shared) in tasks.clusters.iter().enumerate() {
            if wanted == Families::OfTargets && !homes.contains(&Some(cluster)) {
                continue;
            }
            place[cluster] = Some(families.len());
            let of_output = (&basis, output);
            families.push(family(
                data,
                tasks,
                of_output,
                effective_rows,
                (cluster, shared),
            )?);
        }
        let expected = |(target, home): (usize, &Option<usize>)| {
            let at = home.and_then(|cluster| place[cluster])?;
            let family: &TaskFamily = &families[at];
            let features = &data.targets()[target].features;
            let shared: Vec<f64> = family.shared.iter().map(|&index| features[index]).collect();
            let unshared = (0..features.len()).filter(|index| !family.shared.contains(index));
            let unshared: Vec<f64> = unshared.map(|index| features[index]).collect();
            Some((at, TargetPrior::of(&family.component, &shared, &unshared)))
        };
        let targets = homes.iter().enumerate().map(expected).collect();
        Ok(Self {
            output,
            basis,
            effective_rows,
            families,
            targets,
            others: Vec::new(),
        })
    }

    /// The same hierarchical model with all families, also those that no target belongs to.
    ///
    /// # Errors
    /// A breakdown of the numerics.
    pub fn refit_all_families(&self, data: &TaskData) -> Result<Self> {
        let tasks = TaskClusters::of(data, None);
        let basis = (self.basis.clone(), self.output);
        Self::fit(data, &tasks, basis, self.effective_rows, Families::All)
    }

    /// What a target is expected to be; none where no source task is related to it.
    #[must_use]
    pub fn prior(&self, target: usize) -> Option<&TargetPrior> {
        self.targets.get(target)?.as_ref().map(|(_, prior)| prior)
    }

    /// What is expected of a task with such features, by the family of a target; none where that has no family.
    #[must_use]
    pub fn prior_at(&self, target: usize, features: &[f64]) -> Option<TargetPrior> {
        let (family, _) = self.targets.get(target)?.as_ref()?;
        let family = &self.families[*family];
        let (mut shared, mut unshared) = (Vec::new(), Vec::new());
        for (index, &value) in features.iter().enumerate() {
            let own = family.shared.contains(&index);
            if own { &mut shared } else { &mut unshared }.push(value);
        }
        Some(TargetPrior::of(&family.component, &shared, &unshared))
    }

    /// The same model with other features of a target, on all bases: what it is expected to be changes, nothing else.
    #[must_use]
    pub fn with_target_features(&self, target: usize, features: &[f64]) -> Self {
        let mut changed = self.clone();
        let prior = self.prior_at(target, features);
        if let (Some(Some((_, own))), Some(prior)) = (changed.targets.get_mut(target), prior) {
            *own = prior;
        }
        let others = self.others.iter();
        changed.others = others
            .map(|one| one.with_target_features(target, features))
            .collect();
        changed
    }

    /// How probable a task's rows are if its features were each of several, as shares that add up to one; `rows` are
    /// statistics on all features `ψ_X`. Nothing where the target has no family, or a network stands between.
    ///
    /// # Errors
    /// A breakdown of the numerics.
    pub fn task_feature_posterior(
        &self,
        target: usize,
        rows: &Statistics,
        features: &[Vec<f64>],
    ) -> Result<Option<Vec<f64>>> {
        if self.basis.network.is_some() {
            return Ok(None);
        }
        let seen = rows.pick(&self.basis.columns)?.of_output(self.output);
        let weight = super::row_weight(rows.count(), self.effective_rows);
        let mut scores = Vec::with_capacity(features.len());
        for one in features {
            let Some(prior) = self.prior_at(target, one) else {
                return Ok(None);
            };
            scores.push(prior.log_evidence(&seen, 0, weight)?);
        }
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shares: Vec<f64> = scores.iter().map(|score| (score - top).exp()).collect();
        let total: f64 = shares.iter().sum();
        Ok(Some(shares.iter().map(|share| share / total).collect()))
    }

    /// The source tasks, family by family.
    pub fn task_posteriors(&self) -> impl Iterator<Item = SourceFunctionPosterior> + '_ {
        self.families.iter().flat_map(|family| {
            let known = family.members.iter().zip(&family.component.tasks);
            known.map(|((task, rows), posterior)| SourceFunctionPosterior {
                task: task.clone(),
                rows: *rows,
                posterior: posterior.clone(),
            })
        })
    }

    /// Drops what is known of each source task; what they have in common stays.
    pub(crate) fn forget_tasks(&mut self) {
        for family in &mut self.families {
            family.members = Vec::new();
            family.component.tasks = Vec::new();
        }
    }

    /// The noise variance of the targets' families, or of the first one.
    pub(crate) fn noise(&self) -> f64 {
        let homes = self.targets.iter().flatten();
        let noise = homes.map(|(_, prior)| prior.noise).next();
        let first = || self.families.first().map(|family| family.component.noise);
        noise.or_else(first).unwrap_or(f64::NAN)
    }

    /// What functions are linear in, for rows of features `ψ_X`.
    ///
    /// # Errors
    /// Rows of the wrong length.
    pub fn basis_values(&self, features: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let all = match &self.basis.network {
            None => features.to_owned(),
            Some(phi) => Stack::of(features.ncols(), Some(phi), None).apply(features)?,
        };
        let columns = &self.basis.columns;
        if columns.iter().any(|&column| column >= all.ncols()) {
            return Err(Error::State(
                "the rows have fewer features than the pool was learnt on".into(),
            ));
        }
        Ok(Mat::from_fn(all.nrows(), columns.len(), |i, j| {
            all[(i, columns[j])]
        }))
    }

    /// The features that functions are linear in, as columns of `ψ_X`, where no network stands
    /// between.
    #[must_use]
    pub fn feature_columns(&self) -> Option<&[usize]> {
        self.basis
            .network
            .is_none()
            .then_some(self.basis.columns.as_slice())
    }

    /// `M` with a column for every task feature; zeros where no family has it.
    pub(crate) fn map(&self, task_dim: usize) -> Mat<f64> {
        let mut map = Mat::zeros(self.basis.columns.len(), task_dim);
        for family in &self.families {
            for (column, &index) in family.shared.iter().enumerate() {
                for a in 0..map.nrows() {
                    map[(a, index)] = family.component.means()[(a, column)];
                }
            }
        }
        map
    }

    /// A target's rows on the basis of the hierarchical model, with its output alone and without those of some folds.
    pub(crate) fn target_statistics(
        &self,
        data: &TaskData,
        target: usize,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<Statistics> {
        let entry = &data.targets()[target];
        let mut total = Statistics::new(self.basis.columns.len(), data.outputs());
        for (fold, (statistics, rows)) in entry.folds.iter().zip(&entry.rows).enumerate() {
            if wanted(fold) {
                let part = self
                    .basis
                    .statistics(data.feature_dim(), statistics, rows)?;
                total.merge(&part)?;
            }
        }
        Ok(total.of_output(self.output))
    }
}

fn family(
    data: &TaskData,
    tasks: &TaskClusters,
    (basis, output): (&FunctionBasis, usize),
    effective_rows: f64,
    (cluster, shared): (usize, &Vec<usize>),
) -> Result<TaskFamily> {
    let members: Vec<&TaskRows> = tasks
        .tasks
        .iter()
        .filter(|member| tasks.cluster_of(&member.features) == Some(cluster))
        .collect();
    let evidence: Vec<Evidence> = members
        .par_iter()
        .map(|member| {
            let mut total = Statistics::new(basis.columns.len(), data.outputs());
            for &at in &member.entries {
                let entry = &data.sources()[at];
                let part = basis.statistics(data.feature_dim(), &entry.statistics, &entry.rows)?;
                total.merge(&part)?;
            }
            let own = shared.iter().map(|&index| member.features[index]).collect();
            Ok(Evidence::new(own, &total, output, effective_rows))
        })
        .collect::<Result<_>>()?;
    Ok(TaskFamily {
        shared: shared.clone(),
        component: Component::fit(&evidence, &basis.groups)?,
        members: members
            .iter()
            .map(|member| (member.task.clone(), member.rows))
            .collect(),
    })
}
