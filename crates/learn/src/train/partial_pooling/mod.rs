//! Partial pooling: tasks whose known features are alike have functions that are alike.
//!
//! Where tasks come with known parameters (the wind a drone flew in, which drone, which axis), a
//! task's function is what its features say plus something of its own. Tasks that share features are
//! a family; how much they share, for each group of input features, is learnt from all of them. A
//! target with known features then starts from what its family has in common, and its own rows decide
//! how far it departs from there.

mod allocation;
mod group_ridge;
mod on_network;
mod target_candidates;

use faer::Mat;
use serde::{Deserialize, Serialize};

pub use crate::hierarchy::{
    HierarchicalModel, SourceFunctionPosterior, TargetPrior, TaskCoefficientPosterior,
};
pub use allocation::{
    SourceTaskWithRowLimit, allocate_row_budget, expected_target_prediction_variance,
};
pub use on_network::PartialPoolingOnNetwork;

use super::guard::{self, Candidate};
use super::{TrainContext, TrainOutput, Trainer};
use crate::data::{FoldSelection, TaskData};
use crate::error::{Error, Result};
use crate::hierarchy::{Families, FunctionBasis, TaskClusters};
use crate::linalg;
use crate::model::{
    AnyRepresentation, FitReport, Linear, Model, ModelStructure, Representation as _,
    TaskEmbeddingMap,
};

/// A named choice among the groups of input features.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureGroupSubset {
    /// Its name.
    pub name: String,
    /// The groups in use.
    pub groups: Vec<usize>,
}

/// The trainer of partial pooling, for targets whose features are known.
///
/// ```
/// use taskscout::data::{Samples, Stage, TaskData};
/// use taskscout::train::{PartialPooling, TrainContext, Trainer as _};
///
/// // Two winds of one drone, and a third that is the target: drag grows with the wind.
/// let mut data = TaskData::new(2, 1, 2);
/// data.add_target("middle", vec![1.0, 0.5])?;
/// let rows = |wind: f64, n: usize| {
///     let x: Vec<f64> = (0..n).flat_map(|i| [1.0, (i as f64).sin()]).collect();
///     let y = x.chunks(2).map(|x| -wind - 0.3 * x[1]).collect();
///     Samples::new(x, 2, y, 1)
/// };
/// data.add_source_rows(&[0.0], &[1.0, 0.0], Stage::WarmUp, 0, &rows(0.0, 50)?)?;
/// data.add_source_rows(&[1.0], &[1.0, 1.0], Stage::WarmUp, 0, &rows(1.0, 50)?)?;
/// data.add_target_rows(0, &rows(0.5, 8)?)?;
/// let trainer = PartialPooling { groups: vec![1, 1], ..PartialPooling::default() };
/// let model = trainer.model(&data, &TrainContext::default())?;
/// let force = trainer.shared_candidate(&data, &model, 0)?;
/// assert!(force.is_some_and(|force| (force.predictor.coefficients[0][0] + 0.5).abs() < 0.05));
/// # Ok::<(), taskscout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PartialPooling {
    /// Sizes of the groups of features, each with penalties of its own; one group if empty. A first
    /// group of a single feature is taken for a constant, which a target's own fit hardly holds.
    pub groups: Vec<usize>,
    /// Sets of groups, each with a hierarchical model of its own; all groups if empty. Predictions are the mean over the
    /// sets, weighted by the densities that they give held-out rows of the targets.
    pub sets: Vec<FeatureGroupSubset>,
    /// Effective rows: those that any number of rows of one task count for at most, `n` rows as
    /// `n / (1 + n / effective_rows)`.
    /// Logs never follow a model exactly, and many rows of a task sharpen what is peculiar to it.
    #[serde(rename = "worth", alias = "effective_rows")]
    pub effective_rows: f64,
    /// Rows of the target that the noise of source tasks counts for where sets are weighed: on sets that leave less noise in source
    /// tasks, less is expected in the target. If 0, all sets are as probable beforehand.
    #[serde(skip_serializing_if = "is_zero")]
    pub noise_rows: f64,
}

/// Whether a setting is as it always was, so that files do not have it.
fn is_zero(value: &f64) -> bool {
    value.abs() <= 0.0
}

impl Default for PartialPooling {
    fn default() -> Self {
        Self {
            groups: Vec::new(),
            sets: Vec::new(),
            effective_rows: 150.0,
            noise_rows: 0.0,
        }
    }
}

impl PartialPooling {
    /// Checks the settings against a number of features.
    ///
    /// # Errors
    /// The first setting that does not fit, by its key.
    pub fn validate(&self, features: usize) -> Result<()> {
        if !self.groups.is_empty() && self.groups.iter().sum::<usize>() != features {
            return Err(Error::setting(
                "groups",
                format!(
                    "have {} features in all, but rows have {features}: name the size of every group",
                    self.groups.iter().sum::<usize>()
                ),
            ));
        }
        if !(self.effective_rows > 0.0 && self.effective_rows.is_finite()) {
            return Err(Error::setting(
                "worth",
                format!(
                    "is {}: give a finite number of rows above 0",
                    self.effective_rows
                ),
            ));
        }
        if !(self.noise_rows >= 0.0 && self.noise_rows.is_finite()) {
            return Err(Error::setting(
                "noise_rows",
                format!("is {}: give a finite number from 0", self.noise_rows),
            ));
        }
        let count = self.groups.len().max(1);
        for set in &self.sets {
            let rising = set.groups.is_sorted_by(|a, b| a < b);
            if set.groups.is_empty() || !rising || set.groups.iter().any(|&at| at >= count) {
                return Err(Error::setting(
                    "sets",
                    format!(
                        "has `{}` with groups {:?}: name some of the {count} groups, rising",
                        set.name, set.groups
                    ),
                ));
            }
        }
        Ok(())
    }

    /// All bases to choose from, with their names.
    fn bases(&self, features: usize) -> Vec<(String, FunctionBasis)> {
        let sizes = if self.groups.is_empty() {
            vec![features]
        } else {
            self.groups.clone()
        };
        let whole = FeatureGroupSubset {
            name: "all features".into(),
            groups: (0..sizes.len()).collect(),
        };
        let sets = if self.sets.is_empty() {
            std::slice::from_ref(&whole)
        } else {
            &self.sets
        };
        let basis = |set: &FeatureGroupSubset| {
            let (mut columns, mut groups, mut start) = (Vec::new(), Vec::new(), 0);
            for (group, size) in sizes.iter().enumerate() {
                if let Some(place) = set.groups.iter().position(|&at| at == group) {
                    columns.extend(start..start + size);
                    groups.extend(std::iter::repeat_n(place, *size));
                }
                start += size;
            }
            let network = None;
            (
                set.name.clone(),
                FunctionBasis {
                    network,
                    columns,
                    groups,
                },
            )
        };
        sets.iter().map(basis).collect()
    }

    /// One hierarchical model an output, all on the basis that held-out rows of the targets speak for.
    fn best(
        &self,
        data: &TaskData,
        context: &TrainContext,
        bases: Vec<(String, FunctionBasis)>,
    ) -> Result<(String, Vec<HierarchicalModel>)> {
        let tasks = TaskClusters::of(data, context.stages.as_deref());
        let several = bases.len() > 1;
        let mut hierarchies: Vec<(f64, String, Vec<HierarchicalModel>)> = Vec::new();
        let mut top = 0;
        for (name, basis) in bases {
            let fit = |output| {
                let of_output = (basis.clone(), output);
                HierarchicalModel::fit(
                    data,
                    &tasks,
                    of_output,
                    self.effective_rows,
                    Families::OfTargets,
                )
            };
            let mut by_output: Vec<HierarchicalModel> =
                (0..data.outputs()).map(fit).collect::<Result<_>>()?;
            let mut density = 0.0;
            for hierarchy in by_output.iter().filter(|_| several) {
                density += self.held_out_density(data, hierarchy, context.target_rows)?;
            }
            let density = if density.is_nan() {
                f64::NEG_INFINITY
            } else {
                density
            };
            // Only of the best one is it asked what it knows of every task, which is most of what it takes.
            match hierarchies.get_mut(top) {
                Some((best, _, others)) if density.total_cmp(best).is_gt() => {
                    others.iter_mut().for_each(HierarchicalModel::forget_tasks);
                    top = hierarchies.len();
                }
                Some(_) => by_output
                    .iter_mut()
                    .for_each(HierarchicalModel::forget_tasks),
                None => {}
            }
            hierarchies.push((density, name, by_output));
        }
        // A stable order: of hierarchical models that do as well the first one is taken.
        hierarchies.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
        let mut hierarchies = hierarchies.into_iter();
        let Some((_, name, mut best)) = hierarchies.next() else {
            return Err(Error::setting("sets", "is empty: name at least one"));
        };
        for (.., others) in hierarchies {
            for (hierarchy, other) in best.iter_mut().zip(others) {
                hierarchy.others.push(other);
            }
        }
        Ok((name, best))
    }

    fn hierarchy(
        &self,
        data: &TaskData,
        (name, hierarchies): (String, Vec<HierarchicalModel>),
    ) -> Result<Model> {
        let Some(first) = hierarchies.first() else {
            return Err(Error::setting("outputs", "is 0: a task has at least one"));
        };
        let (d, task_dim) = (data.feature_dim(), data.task_dim());
        let maps: Vec<Mat<f64>> = hierarchies
            .iter()
            .map(|hierarchy| hierarchy.map(task_dim))
            .collect();
        let columns = task_dim * maps.len();
        let map = Mat::from_fn(first.basis.columns.len(), columns, |i, j| {
            maps[j / task_dim][(i, j % task_dim)]
        });
        let (representation, map) = match &first.basis.network {
            None => {
                let columns = &first.basis.columns;
                let selection = Mat::from_fn(d, columns.len(), |i, j| {
                    f64::from(u8::from(columns[j] == i))
                });
                (
                    AnyRepresentation::Linear(Linear::from_matrix(selection)?),
                    map,
                )
            }
            Some(phi) => {
                let own = map.as_ref().subrows(map.nrows() - phi.dim(), phi.dim());
                (phi.clone(), own.to_owned())
            }
        };
        let spectrum = linalg::svd(map.as_ref(), "what families have in common")?.s;
        let labels = data.source_rows();
        let noises = hierarchies.iter().map(HierarchicalModel::noise);
        let noise = noises.sum::<f64>() / hierarchies.len() as f64;
        Ok(Model {
            representation,
            map: TaskEmbeddingMap::new(map, task_dim),
            spectrum,
            noise,
            report: FitReport {
                iterations: 0,
                converged: true,
                objective: f64::NAN,
                residual_sum_of_squares: f64::NAN,
                lambda: f64::NAN,
                degrees_of_freedom: f64::NAN,
                log_evidence: f64::NAN,
                condition_numbers: [f64::NAN; 2],
                labels,
                objective_history: Vec::new(),
                notes: vec![format!("learnt on {name}")],
            },
            warm_start: None,
            structure: ModelStructure::Hierarchical(hierarchies),
        })
    }
}

impl Trainer for PartialPooling {
    fn fit(&self, data: &TaskData, context: &TrainContext) -> Result<TrainOutput> {
        self.validate(data.feature_dim())?;
        let best = self.best(data, context, self.bases(data.feature_dim()))?;
        self.fitted(data, context, self.hierarchy(data, best)?)
    }

    fn target_only(
        &self,
        data: &TaskData,
        context: &TrainContext,
        target: usize,
    ) -> Result<Vec<Candidate>> {
        guard::check_rows(data, target)?;
        let key = (target, FoldSelection::All, data.target_rows(target));
        let own = || self.target_only_candidate(data, target);
        Ok(vec![context.target_only_cache.candidate(key, own)?])
    }
}

impl PartialPooling {
    /// The model with what it proposes. No row of a target enters what families say, so there are no folds to leave out.
    fn fitted(&self, data: &TaskData, context: &TrainContext, model: Model) -> Result<TrainOutput> {
        let propose = |&target: &usize| {
            let shared = self.shared_candidate(data, &model, target)?;
            let own = self.target_only(data, context, target)?;
            Ok(shared.into_iter().chain(own).collect())
        };
        let candidates = context
            .candidate_targets
            .iter()
            .map(propose)
            .collect::<Result<_>>()?;
        Ok(TrainOutput {
            candidates,
            ..model.into()
        })
    }

    /// What source tasks say of a target, updated by its rows, with how that does on rows left out; nothing where no
    /// source task is related to it.
    ///
    /// # Errors
    /// A breakdown of the numerics.
    pub fn shared_candidate(
        &self,
        data: &TaskData,
        model: &Model,
        target: usize,
    ) -> Result<Option<Candidate>> {
        let hierarchies = model.structure.hierarchical_models().iter();
        let by_output: Option<Vec<Candidate>> = hierarchies
            .map(|hierarchy| self.shared(data, hierarchy, target))
            .collect::<Result<_>>()?;
        let all = by_output.and_then(target_candidates::together);
        Ok(all.map(|all| all.scored(data, target)))
    }

    /// What a target's rows say by themselves, with how that does on rows left out.
    ///
    /// # Errors
    /// A breakdown of the numerics.
    pub fn target_only_candidate(&self, data: &TaskData, target: usize) -> Result<Candidate> {
        let outputs = 0..data.outputs();
        let by_output = outputs.map(|output| self.own(data, target, output));
        let all = target_candidates::together(by_output.collect::<Result<_>>()?);
        let all = all.ok_or_else(|| Error::setting("outputs", "is 0: a task has at least one"))?;
        Ok(all.scored(data, target))
    }
}
