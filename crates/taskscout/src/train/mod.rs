//! Training oracles: from statistics to a shared representation and a task map.
//!
//! | oracle | what it does |
//! |---|---|
//! | [`Exact`] | regularised joint least squares over both factors, on statistics alone |
//! | [`task_map`] | the task map for a given representation |
//! | [`ridge`] | one task on its own |
//! | [`guard`] | picks the target's predictor so that transfer never costs more than it gives |

mod conjugate;
mod exact;
pub mod guard;
mod initial;
mod kronecker;
mod rank;
mod ridge;
mod task_map;

pub use exact::Exact;
pub use guard::{Choice, Predictor, PredictorKind};
pub use ridge::{RidgeFit, ridge};
pub use task_map::task_map;

use crate::data::{Stage, TARGET_FOLDS, TargetRows, TaskData};
use crate::error::Result;
use crate::model::{Linear, Model};

/// What a training oracle may see and must honour.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainContext {
    /// Dimension of the representation; from the data if not given.
    pub k: Option<usize>,
    /// Stages whose data may be used; all if not given.
    pub stages: Option<Vec<Stage>>,
    /// Rows of the targets that may be used.
    pub targets: TargetRows,
}

impl Default for TrainContext {
    fn default() -> Self {
        Self {
            k: None,
            stages: None,
            targets: TargetRows::All,
        }
    }
}

/// An offline training oracle.
///
/// ```
/// use taskscout::data::TaskData;
/// use taskscout::model::Model;
/// use taskscout::train::{Exact, TrainContext, Trainer};
///
/// /// The exact oracle with a penalty fixed in advance.
/// #[derive(Debug)]
/// struct Stiff;
///
/// impl Trainer for Stiff {
///     fn fit(&self, data: &TaskData, context: &TrainContext) -> taskscout::Result<Model> {
///         Exact { lambda: Some(10.0), ..Exact::default() }.fit(data, context)
///     }
/// }
/// ```
pub trait Trainer: std::fmt::Debug + Send + Sync {
    /// Fits a model to the data that the context allows.
    ///
    /// # Errors
    /// Too little data, a `k` that the data do not support, or a breakdown of the numerics.
    fn fit(&self, data: &TaskData, context: &TrainContext) -> Result<Model>;

    /// Fits a model, and one representation for each fold of the targets' rows without seeing that
    /// fold.
    ///
    /// # Errors
    /// As [`Trainer::fit`].
    fn fit_with_folds(
        &self,
        data: &TaskData,
        context: &TrainContext,
    ) -> Result<(Model, Vec<Linear>)> {
        let model = self.fit(data, context)?;
        let without = |fold| TrainContext {
            k: Some(model.dim()),
            targets: TargetRows::Without(fold),
            ..context.clone()
        };
        let fold = |fold| Ok(self.fit(data, &without(fold))?.representation);
        let folds = (0..TARGET_FOLDS).map(fold).collect::<Result<_>>()?;
        Ok((model, folds))
    }
}
