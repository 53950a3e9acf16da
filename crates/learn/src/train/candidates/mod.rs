//! Ways to predict a target, as trainers and studies propose them to the guard.
//!
//! | candidate | learnt from the target |
//! |---|---|
//! | target-only | ridge regression on its rows: `d` numbers |
//! | shared | a head on the shared representation: `k` numbers |
//! | shared + residual | the same, plus a shrunken ridge fit of what it leaves over |
//! | identified | which member of the source family it is: `dim w` numbers ([`crate::identify`]) |
//!
//! Each comes with how it does on folds of the target's rows that it has not seen. The folds are left out one at a
//! time, *of the joint fit too*, or the comparison would leak.

mod identified;
mod on_features;
mod on_rows;

pub use self::identified::IdentifiedFamilyMember;
pub use self::identified::candidate as identified_candidate;
use super::guard::{self, Candidate};
use super::{RepresentationWithoutFold, TrainContext};
use crate::data::{FoldSelection, TARGET_FOLD_COUNT, TaskData};
use crate::error::{Error, Result};
use crate::model::{AnyRepresentation, Model};

/// Learns a representation from rows of the target alone, if there is any use for one.
pub type TargetOnlyRepresentationFitter<'a> =
    &'a dyn Fn(usize, &TrainContext) -> Result<Option<AnyRepresentation>>;

/// A matrix is all that a target's own rows are described by.
fn no_network(_: usize, _: &TrainContext) -> Result<Option<AnyRepresentation>> {
    Ok(None)
}

/// What a target gets with a representation and without one: shared, shared with a residual, and target-only.
pub(super) fn on_representation(
    data: &TaskData,
    context: &TrainContext,
    target: usize,
    (model, folds): (&Model, &[RepresentationWithoutFold]),
    alone: TargetOnlyRepresentationFitter<'_>,
) -> Result<Vec<Candidate>> {
    match &model.representation {
        AnyRepresentation::Linear(linear) => on_features::candidates(
            data,
            target,
            (linear, model.noise),
            folds,
            &context.target_only_cache,
        ),
        other => {
            let folds: Vec<on_rows::Fold<'_>> = folds
                .iter()
                .map(|fit| on_rows::Fold {
                    fold: fit.fold,
                    shared: Some(&fit.representation),
                })
                .collect();
            let alone = |rows| remembered(context, data, target, rows, alone);
            on_rows::candidates(data, target, Some(other), &folds, &alone)
        }
    }
}

/// What a target gets from its own rows: ridge regression on its features.
///
/// # Errors
/// A target without rows, or a breakdown of the numerics.
pub fn target_only_candidates(
    data: &TaskData,
    context: &TrainContext,
    target: usize,
) -> Result<Vec<Candidate>> {
    target_only_candidates_with_network(data, context, target, &no_network)
}

/// The same, or a head on a representation learnt from the same rows, whichever does better on rows left out.
///
/// # Errors
/// A target without rows, or a failing fit.
pub fn target_only_candidates_with_network(
    data: &TaskData,
    context: &TrainContext,
    target: usize,
    alone: TargetOnlyRepresentationFitter<'_>,
) -> Result<Vec<Candidate>> {
    guard::check_rows(data, target)?;
    let folds: Vec<on_rows::Fold<'_>> = (0..TARGET_FOLD_COUNT)
        .map(|fold| on_rows::Fold { fold, shared: None })
        .collect();
    let alone = |rows| remembered(context, data, target, rows, alone);
    on_rows::candidates(data, target, None, &folds, &alone)
}

/// What was learnt from a target's rows alone; nothing where that diverges.
fn remembered(
    context: &TrainContext,
    data: &TaskData,
    target: usize,
    rows: FoldSelection,
    alone: TargetOnlyRepresentationFitter<'_>,
) -> Result<Option<AnyRepresentation>> {
    let key = (target, rows, data.target_rows(target));
    context.target_only_cache.representation(key, || {
        let own = TrainContext {
            target_rows: rows,
            warm_start: None,
            ..context.clone()
        };
        match alone(target, &own) {
            Err(Error::Diverged { .. }) => Ok(None),
            other => other,
        }
    })
}

impl super::TrainOutput {
    /// A model with the usual candidates: a head on its representation for each target that the context asks for, with and
    /// without a residual, beside the target's own rows.
    ///
    /// `folds` are representations learnt without a fold of the targets' rows.
    ///
    /// # Errors
    /// A target without rows, or a breakdown of the numerics.
    pub fn with_heads(
        data: &TaskData,
        context: &TrainContext,
        model: Model,
        folds: Vec<RepresentationWithoutFold>,
    ) -> Result<Self> {
        Self::with_heads_and_target_networks(data, context, (model, folds), &no_network)
    }

    /// The same for trainers of networks, which may learn one from a target's rows alone: it is what the target would
    /// have without any sources.
    ///
    /// # Errors
    /// A target without rows, or a failing fit.
    pub fn with_heads_and_target_networks(
        data: &TaskData,
        context: &TrainContext,
        (model, folds): (Model, Vec<RepresentationWithoutFold>),
        alone: TargetOnlyRepresentationFitter<'_>,
    ) -> Result<Self> {
        let propose = |&target: &usize| {
            guard::check_rows(data, target)?;
            on_representation(data, context, target, (&model, &folds), alone)
        };
        let candidates = context
            .candidate_targets
            .iter()
            .map(propose)
            .collect::<Result<_>>()?;
        Ok(Self {
            candidates,
            folds,
            model,
        })
    }

    /// Fits a model and, where the context asks for candidates, the same once more without each fold of the targets' rows:
    /// all that a trainer with no better way has to do.
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
    ///         let ridge = JointRidge { lambda: Some(10.0), ..JointRidge::default() };
    ///         TrainOutput::cross_fitted(data, context, |context| ridge.model(data, context))
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// Those of `fit`.
    pub fn cross_fitted(
        data: &TaskData,
        context: &TrainContext,
        fit: impl Fn(&TrainContext) -> Result<Model>,
    ) -> Result<Self> {
        let model = fit(context)?;
        let mut folds = Vec::new();
        for fold in (0..TARGET_FOLD_COUNT).filter(|_| context.wants_candidates()) {
            let without = TrainContext {
                k: Some(model.dim()),
                // What was learnt before may have seen the fold.
                warm_start: None,
                ..context.without_fold(fold)
            };
            folds.push(RepresentationWithoutFold {
                fold,
                representation: fit(&without)?.representation,
            });
        }
        Self::with_heads(data, context, model, folds)
    }
}
