//! Training oracles, the estimation methods: from statistics to a shared representation and a task map.
//!
//! | oracle | what it does |
//! |---|---|
//! | [`Exact`] | regularised joint least squares over both factors, on statistics alone |
//! | [`Mllam`] | alternating minimisation with a head for every task |
//! | [`Erm`] | joint least squares over the last two stages, then the target's head |
//! | [`Staged`] | the paper's: [`Mllam`] to choose tasks, [`Erm`] in the end |
//! | [`Pooled`] | partial pooling of tasks whose features are known |
//! | [`task_map`] | the task map for a given representation |
//! | [`ridge`] | one task on its own |
//! | [`propose`] | ways to predict a target, with how they do on rows left out |
//! | [`guard`] | weighs them so that transfer never costs more than it gives |

mod compose;
mod erm;
mod exact;
mod fitted;
pub mod guard;
mod initial;
mod mllam;
pub mod pooled;
pub mod propose;
mod rank;
mod staged;
mod task_map;

pub use erm::Erm;
pub use exact::Exact;
pub use fitted::{Fitted, FoldFit, Memo, MemoKey, TrainContext, TrainerNeeds};
pub use guard::{Candidate, Choice, Head, Predictor, PredictorKind};
pub use mllam::Mllam;
pub use pooled::{FeatureSet, Pooled, PooledOnNetwork};
pub use staged::Staged;
pub use task_map::task_map;

pub use crate::regression::{Belief, ProjectedStatistics, RidgeFit, ridge, ridge_map};

use crate::data::TaskData;
use crate::error::Result;
use crate::model::Model;

/// Learns a shared representation, and proposes predictors of targets.
///
/// ```
/// use taskscout::data::TaskData;
/// use taskscout::train::{Exact, Fitted, TrainContext, Trainer};
///
/// /// The exact trainer with a penalty fixed in advance.
/// #[derive(Debug)]
/// struct Stiff;
///
/// impl Trainer for Stiff {
///     fn fit(&self, data: &TaskData, context: &TrainContext) -> taskscout::Result<Fitted> {
///         Exact { lambda: Some(10.0), ..Exact::default() }.fit(data, context)
///     }
/// }
/// ```
///
/// A trainer that makes a [`Model`] in its own way hands it to [`Fitted::refitting`], which proposes the usual predictors.
pub trait Trainer: std::fmt::Debug + Send + Sync {
    /// Fits a model to the data that the context allows, with proposals for the targets that it names.
    ///
    /// # Errors
    /// Too little data, a `k` that the data do not support, or a breakdown of the numerics.
    fn fit(&self, data: &TaskData, context: &TrainContext) -> Result<Fitted>;

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
        propose::target_only(data, context, target)
    }

    /// The model alone.
    ///
    /// # Errors
    /// As [`Trainer::fit`].
    fn model(&self, data: &TaskData, context: &TrainContext) -> Result<Model> {
        let alone = TrainContext {
            propose: Vec::new(),
            ..context.clone()
        };
        Ok(self.fit(data, &alone)?.model)
    }
}
