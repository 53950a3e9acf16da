//! What a trainer is given and what it hands back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::guard::Candidate;
use crate::data::{Stage, TargetRows};
use crate::error::Result;
use crate::model::{AnyRepresentation, Model, WarmStart};

/// What a trainer may see and must honour.
#[derive(Debug, Clone)]
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
    pub start: Option<Arc<WarmStart>>,
    /// The targets to propose predictors for; a model alone is enough where there are none.
    pub propose: Vec<usize>,
    /// What earlier fits learnt from targets' rows alone.
    pub memo: Memo,
}

impl Default for TrainContext {
    fn default() -> Self {
        Self {
            k: None,
            stages: None,
            targets: TargetRows::All,
            seed: 0,
            start: None,
            propose: Vec::new(),
            memo: Memo::default(),
        }
    }
}

impl TrainContext {
    /// Whether predictors of targets are wanted beside the model.
    #[must_use]
    pub fn wants_proposals(&self) -> bool {
        !self.propose.is_empty()
    }

    /// The same without a fold of the targets' rows, for a model alone.
    #[must_use]
    pub fn without(&self, fold: usize) -> Self {
        Self {
            targets: TargetRows::Without(fold),
            propose: Vec::new(),
            ..self.clone()
        }
    }
}

/// The key of a cached fit: a target, the rows that were used, and how many it had in all.
pub type MemoKey = (usize, TargetRows, usize);

/// A cache of what was learnt from targets' rows alone. These rows change less often than the rest, so a study keeps it from one fit
/// to the next; clones share what they know.
#[derive(Debug, Clone, Default)]
pub struct Memo {
    representations: Arc<Mutex<HashMap<MemoKey, Option<AnyRepresentation>>>>,
    candidates: Arc<Mutex<HashMap<MemoKey, Candidate>>>,
}

impl Memo {
    /// The representation known for some rows, or a new one.
    ///
    /// # Errors
    /// Those of `learn`.
    pub fn representation(
        &self,
        key: MemoKey,
        learn: impl FnOnce() -> Result<Option<AnyRepresentation>>,
    ) -> Result<Option<AnyRepresentation>> {
        known(&self.representations, key, learn)
    }

    /// The candidate known for some rows, or a new one.
    ///
    /// # Errors
    /// Those of `learn`.
    pub fn candidate(
        &self,
        key: MemoKey,
        learn: impl FnOnce() -> Result<Candidate>,
    ) -> Result<Candidate> {
        known(&self.candidates, key, learn)
    }
}

fn known<T: Clone>(
    all: &Mutex<HashMap<MemoKey, T>>,
    key: MemoKey,
    learn: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let lock = || all.lock().unwrap_or_else(PoisonError::into_inner);
    let known = lock().get(&key).cloned();
    if let Some(known) = known {
        return Ok(known);
    }
    // Not under the lock: it may take a while.
    let learnt = learn()?;
    lock().insert(key, learnt.clone());
    Ok(learnt)
}

/// What a trainer asks of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TrainerNeeds {
    /// Rows, which statistics alone do not have.
    pub rows: bool,
    /// An earlier fit to start from; such a trainer fills [`Model::warm_start`].
    pub start: bool,
    /// Whether there may be more directions than features: a matrix has no more, a network may.
    pub wide: bool,
}

impl TrainerNeeds {
    /// What a network needs.
    pub const NETWORK: Self = Self {
        rows: true,
        start: true,
        wide: true,
    };
}

/// What a trainer hands back.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The model.
    pub model: Model,
    /// Its representation learnt anew without each fold of the targets' rows; empty where proposals do not need it.
    pub folds: Vec<FoldFit>,
    /// Ways to predict each target of [`TrainContext::propose`], in that order.
    pub candidates: Vec<Vec<Candidate>>,
}

impl From<Model> for Fitted {
    /// A model without proposals.
    fn from(model: Model) -> Self {
        Self {
            model,
            folds: Vec::new(),
            candidates: Vec::new(),
        }
    }
}

/// A representation fitted without one fold of the targets' rows.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldFit {
    /// The fold that it has not seen.
    pub fold: usize,
    /// The representation.
    pub representation: AnyRepresentation,
}
