//! Trainers, the estimation methods: from statistics to a shared representation and a task map.
//!
//! | trainer | what it does |
//! |---|---|
//! | [`JointRidge`] | regularised joint least squares over both factors, on statistics alone |
//! | [`AlternatingMinimization`] | alternating minimisation with a head for every task |
//! | [`ErmOnLastStage`] | joint least squares over the last two stages, then the target's head |
//! | [`AlternatingMinimizationThenErm`] | the paper's: [`AlternatingMinimization`] to choose tasks, [`ErmOnLastStage`] in the end |
//! | [`PartialPooling`] | partial pooling of tasks whose features are known |
//! | [`fit_task_embedding_map`] | the task map for a given representation |
//! | [`ridge`] | one task on its own |
//! | [`candidates`] | ways to predict a target, with how they do on rows left out |
//! | [`guard`] | weighs them so that transfer never costs more than it gives |

mod alternating_minimization;
pub mod candidates;
mod compose;
mod context;
mod erm_on_last_stage;
pub mod guard;
mod initial;
mod joint_ridge;
mod joint_ridge_folds;
mod paper;
pub mod partial_pooling;
mod rank;
mod row_cache;
mod task_map;

pub use alternating_minimization::AlternatingMinimization;
pub use context::{
    RepresentationWithoutFold, TargetOnlyCache, TargetOnlyCacheKey, TrainContext, TrainOutput,
    TrainerNeeds,
};
pub use erm_on_last_stage::ErmOnLastStage;
pub use guard::{AveragedPredictor, Candidate, Predictor, PredictorKind, TargetHead};
pub use joint_ridge::JointRidge;
pub use paper::AlternatingMinimizationThenErm;
pub use partial_pooling::{FeatureGroupSubset, PartialPooling, PartialPoolingOnNetwork};
pub use task_map::fit_task_embedding_map;

pub use crate::regression::{
    BoostedTrees, LinearPosterior, ProjectedStatistics, RidgeFit, ridge, ridge_task_map,
};

use crate::data::TaskData;
use crate::error::Result;
use crate::model::Model;

/// Learns a shared representation, and proposes predictors of targets.
///
/// ```
/// use taskscout::data::TaskData;
/// use taskscout::train::{JointRidge, TrainOutput, TrainContext, Trainer};
///
/// /// The default trainer with a penalty fixed in advance.
/// #[derive(Debug)]
/// struct Stiff;
///
/// impl Trainer for Stiff {
///     fn fit(&self, data: &TaskData, context: &TrainContext) -> taskscout::Result<TrainOutput> {
///         JointRidge { lambda: Some(10.0), ..JointRidge::default() }.fit(data, context)
///     }
/// }
/// ```
///
/// A trainer that makes a [`Model`] in its own way hands it to [`TrainOutput::cross_fitted`], which proposes the usual predictors.
pub trait Trainer: std::fmt::Debug + Send + Sync {
    /// Fits a model to the data that the context allows, with candidates for the targets that it names.
    ///
    /// # Errors
    /// Too little data, a `k` that the data do not support, or a breakdown of the numerics.
    fn fit(&self, data: &TaskData, context: &TrainContext) -> Result<TrainOutput>;

    /// What it asks of a study.
    fn needs(&self) -> TrainerNeeds {
        TrainerNeeds::default()
    }

    /// What a target would have without any source task.
    ///
    /// # Errors
    /// A target without rows, or a failing fit.
    fn target_only(
        &self,
        data: &TaskData,
        context: &TrainContext,
        target: usize,
    ) -> Result<Vec<Candidate>> {
        candidates::target_only_candidates(data, context, target)
    }

    /// The model alone.
    ///
    /// # Errors
    /// As [`Trainer::fit`].
    fn model(&self, data: &TaskData, context: &TrainContext) -> Result<Model> {
        let alone = TrainContext {
            candidate_targets: Vec::new(),
            ..context.clone()
        };
        Ok(self.fit(data, &alone)?.model)
    }
}
