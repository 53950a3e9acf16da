//! Training oracles: from statistics to a shared representation and a task map.
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
//! | [`guard`] | picks the target's predictor so that transfer never costs more than it gives |

mod belief;
mod conjugate;
mod erm;
mod exact;
mod gram_root;
pub mod guard;
mod initial;
mod kronecker;
mod mllam;
pub mod pooled;
mod rank;
mod ridge;
mod stack;
mod staged;
mod task_map;

pub use belief::Belief;
pub use erm::Erm;
pub use exact::Exact;
pub use guard::{Candidate, Choice, Head, Predictor, PredictorKind};
pub(crate) use kronecker::Problem;
pub use kronecker::{Projected, ridge_map};
pub use mllam::Mllam;
pub use pooled::{FeatureSet, Pooled, PooledOver};
pub use ridge::{RidgeFit, ridge};
pub(crate) use ridge::{RidgeSolver, Spectrum};
pub use staged::Staged;
pub use task_map::task_map;

use crate::data::{Stage, TARGET_FOLDS, TargetRows, TaskData};
use crate::error::Result;
use crate::model::{Model, Phi, Start};
use std::sync::Arc;

/// What a training oracle may see and must honour.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainContext {
    /// Dimension of the representation; from the data if not given.
    pub k: Option<usize>,
    /// Stages whose data may be used; all if not given.
    pub stages: Option<Vec<Stage>>,
    /// Rows of the targets that may be used.
    pub targets: TargetRows,
    /// What all random draws of the fit derive from.
    pub seed: u64,
    /// What was learnt earlier, to start from.
    pub start: Option<Arc<Start>>,
}

impl Default for TrainContext {
    fn default() -> Self {
        Self {
            k: None,
            stages: None,
            targets: TargetRows::All,
            seed: 0,
            start: None,
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
    ) -> Result<(Model, Vec<FoldFit>)> {
        let model = self.fit(data, context)?;
        let folds = (0..TARGET_FOLDS)
            .map(|fold| {
                let without = TrainContext {
                    k: Some(model.dim()),
                    targets: TargetRows::Without(fold),
                    // What was learnt before may have seen the fold.
                    start: None,
                    ..context.clone()
                };
                Ok(FoldFit {
                    fold,
                    representation: self.fit(data, &without)?.representation,
                })
            })
            .collect::<Result<_>>()?;
        Ok((model, folds))
    }

    /// Most directions that a representation of so many features can have: a matrix has no more
    /// than there are features, a network may.
    fn most_directions(&self, features: usize) -> usize {
        features
    }

    /// Whether it needs rows, which statistics alone do not have.
    fn needs_rows(&self) -> bool {
        false
    }

    /// Whether a fit gains from starting at an earlier one; such an oracle fills
    /// [`Model::start`].
    fn warm_starts(&self) -> bool {
        false
    }

    /// A representation learnt from the rows of one target alone, for oracles that learn more than
    /// a matrix: it is what the target would have without any sources.
    ///
    /// # Errors
    /// As [`Trainer::fit`].
    fn alone(
        &self,
        _data: &TaskData,
        _target: usize,
        _context: &TrainContext,
    ) -> Result<Option<Phi>> {
        Ok(None)
    }

    /// The predictor of a target by what was learnt from all tasks, with how it does on rows left out, for
    /// oracles that have their own way to one; none leaves it to the [`guard`].
    ///
    /// # Errors
    /// As [`Trainer::fit`].
    fn shared_candidate(
        &self,
        _data: &TaskData,
        _model: &Model,
        _target: usize,
    ) -> Result<Option<Candidate>> {
        Ok(None)
    }

    /// What a target's rows give by themselves, for oracles that have their own way to it; none
    /// leaves it to the [`guard`].
    ///
    /// # Errors
    /// As [`Trainer::fit`].
    fn own_candidate(&self, _data: &TaskData, _target: usize) -> Result<Option<Candidate>> {
        Ok(None)
    }
}

/// A representation fitted without one fold of the targets' rows.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldFit {
    /// The fold that it has not seen.
    pub fold: usize,
    /// The representation.
    pub representation: Phi,
}
