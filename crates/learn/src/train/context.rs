//! What a trainer is given and what it hands back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::guard::{Candidate, HeldOutScore};
use super::row_cache::KnownRows;
use crate::data::{FoldSelection, Stage, Statistics};
use crate::error::Result;
use crate::model::{AnyRepresentation, Model, WarmStart};
use crate::regression::{GramRoot, RidgeSolver};

/// What a trainer may see and must honour.
#[derive(Debug, Clone)]
pub struct TrainContext {
    /// Dimension of the representation; from the data if not given.
    pub k: Option<usize>,
    /// Stages whose data may be used; all if not given.
    pub stages: Option<Vec<Stage>>,
    /// Rows of the targets that may be used.
    pub target_rows: FoldSelection,
    /// What all random draws of the fit derive from.
    pub seed: u64,
    /// What was learnt earlier, to start from.
    pub warm_start: Option<Arc<WarmStart>>,
    /// The targets to make candidate predictors for; a model alone is enough where there are none.
    pub candidate_targets: Vec<usize>,
    /// What earlier fits learnt from targets' rows alone.
    pub target_only_cache: TargetOnlyCache,
}

impl Default for TrainContext {
    fn default() -> Self {
        Self {
            k: None,
            stages: None,
            target_rows: FoldSelection::All,
            seed: 0,
            warm_start: None,
            candidate_targets: Vec::new(),
            target_only_cache: TargetOnlyCache::default(),
        }
    }
}

impl TrainContext {
    /// Whether predictors of targets are wanted beside the model.
    #[must_use]
    pub fn wants_candidates(&self) -> bool {
        !self.candidate_targets.is_empty()
    }

    /// The same without a fold of the targets' rows, for a model alone.
    #[must_use]
    pub fn without_fold(&self, fold: usize) -> Self {
        Self {
            target_rows: FoldSelection::Without(fold),
            candidate_targets: Vec::new(),
            ..self.clone()
        }
    }
}

/// The key of a cached fit: a target, the rows that were used, and how many it had in all.
pub type TargetOnlyCacheKey = (usize, FoldSelection, usize);

/// A cache of what was learnt from targets' rows alone. These rows change less often than the rest, so a study keeps it from one fit
/// to the next; clones share what they know.
#[derive(Debug, Clone, Default)]
pub struct TargetOnlyCache {
    representations: Arc<Mutex<HashMap<TargetOnlyCacheKey, Option<AnyRepresentation>>>>,
    candidates: Arc<Mutex<HashMap<TargetOnlyCacheKey, Candidate>>>,
    solvers: KnownRows<(usize, FoldSelection), RidgeSolver>,
    roots: KnownRows<(usize, usize), Vec<GramRoot>>,
    own_scores: Arc<Mutex<HashMap<(usize, usize), OwnScore>>>,
}

/// How a target does on a fold with what its other folds say, and what that was made from.
#[derive(Debug)]
struct OwnScore {
    solver: Weak<RidgeSolver>,
    roots: Weak<Vec<GramRoot>>,
    score: HeldOutScore,
}

impl OwnScore {
    fn is_of(&self, solver: &Arc<RidgeSolver>, roots: &Arc<Vec<GramRoot>>) -> bool {
        std::ptr::eq(self.solver.as_ptr(), Arc::as_ptr(solver))
            && std::ptr::eq(self.roots.as_ptr(), Arc::as_ptr(roots))
    }
}

impl TargetOnlyCache {
    /// The representation known for some rows, or a new one.
    ///
    /// # Errors
    /// Those of `learn`.
    pub fn representation(
        &self,
        key: TargetOnlyCacheKey,
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
        key: TargetOnlyCacheKey,
        learn: impl FnOnce() -> Result<Candidate>,
    ) -> Result<Candidate> {
        known(&self.candidates, key, learn)
    }

    /// The Gram matrix of a target's rows, diagonalised.
    pub(crate) fn ridge_solver(
        &self,
        target: usize,
        which: FoldSelection,
        rows: &Statistics,
    ) -> Result<Arc<RidgeSolver>> {
        self.solvers
            .get((target, which), rows, || RidgeSolver::new(rows))
    }

    /// The roots of the Gram matrix of a fold of a target's rows, one an output.
    pub(crate) fn gram_roots(
        &self,
        target: usize,
        fold: usize,
        rows: &Statistics,
    ) -> Result<Arc<Vec<GramRoot>>> {
        let roots = || (0..rows.outputs()).map(|output| GramRoot::of(rows, output));
        self.roots
            .get((target, fold), rows, || Ok(roots().collect()))
    }

    /// How a target does on a fold with what its other folds alone say, from their Gram matrix and the roots of the fold's.
    pub(crate) fn own_score(
        &self,
        key: (usize, usize),
        (solver, roots): (&Arc<RidgeSolver>, &Arc<Vec<GramRoot>>),
        judge: impl FnOnce() -> Result<HeldOutScore>,
    ) -> Result<HeldOutScore> {
        let lock = || {
            self.own_scores
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let known = lock()
            .get(&key)
            .filter(|known| known.is_of(solver, roots))
            .map(|known| known.score.clone());
        if let Some(known) = known {
            return Ok(known);
        }
        // Not under the lock: it may take a while.
        let score = judge()?;
        let own = OwnScore {
            solver: Arc::downgrade(solver),
            roots: Arc::downgrade(roots),
            score: score.clone(),
        };
        lock().insert(key, own);
        Ok(score)
    }
}

fn known<T: Clone>(
    all: &Mutex<HashMap<TargetOnlyCacheKey, T>>,
    key: TargetOnlyCacheKey,
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
    pub warm_start: bool,
    /// Whether there may be more directions than features: a matrix has no more, a network may.
    pub allows_k_above_features: bool,
}

impl TrainerNeeds {
    /// What a network needs.
    pub const NETWORK: Self = Self {
        rows: true,
        warm_start: true,
        allows_k_above_features: true,
    };
}

/// What a trainer hands back.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainOutput {
    /// The model.
    pub model: Model,
    /// Its representation learnt anew without each fold of the targets' rows; empty where candidates do not need it.
    pub folds: Vec<RepresentationWithoutFold>,
    /// Ways to predict each target of [`TrainContext::candidate_targets`], in that order.
    pub candidates: Vec<Vec<Candidate>>,
}

impl From<Model> for TrainOutput {
    /// A model without candidates.
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
pub struct RepresentationWithoutFold {
    /// The fold that it has not seen.
    pub fold: usize,
    /// The representation.
    pub representation: AnyRepresentation,
}
