//! What a study derives from its data: models, predictors, and where later fits start.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::forecast::ForecastKey;
use super::identify::KnownFamily;
use super::{Forecast, Needs, Study};
use crate::data::{FoldSelection, Stage};
use crate::error::{Error, Result};
use crate::identify::{IdentifiedParameters, Misfit, TargetIdentification};
use crate::model::{self, AnyRepresentation, Model};
use crate::train::{
    AveragedPredictor, Candidate, RepresentationWithoutFold, TargetOnlyCache, TrainContext,
    TrainOutput, Trainer, candidates, guard,
};

/// A representation that fits of newer data start from. Part of the state, because the models that
/// follow depend on it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KeptStart {
    /// The version of the data that it was learnt from.
    pub(super) version: u64,
    pub(super) start: Arc<model::WarmStart>,
}

/// Starts kept: the newest serves the next data, the one before serves those it was learnt from.
pub(super) const STARTS_KEPT: usize = 2;

/// A value derived from the data, with the version that it was derived from.
#[derive(Debug)]
pub(super) struct Derived<T>(Mutex<Option<(u64, T)>>);

impl<T> Default for Derived<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Clone> Derived<T> {
    /// The value known for a version, where it is the one wanted, or a new one.
    pub(super) fn get_if(
        &self,
        version: u64,
        wanted: impl FnOnce(&T) -> bool,
        derive: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lock().as_ref().is_some_and(|known| !wanted(&known.1)) {
            *lock() = None;
        }
        self.get(version, derive)
    }

    /// The value known for a version, or a new one.
    pub(super) fn get(&self, version: u64, derive: impl FnOnce() -> Result<T>) -> Result<T> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock()
            .as_ref()
            .filter(|known| known.0 == version)
            .map(|known| known.1.clone());
        if let Some(known) = known {
            return Ok(known);
        }
        // Not under the lock: it may take a while, and work in parallel.
        let value = derive()?;
        *lock() = Some((version, value.clone()));
        Ok(value)
    }
}

impl<T: Clone> Derived<T> {
    fn copied(&self) -> Self {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Self(Mutex::new(known.clone()))
    }
}

/// All that was derived from the data, under its version; empty in a clone, after loading and after rows were retracted.
#[derive(Debug, Default)]
pub(super) struct Cache {
    choices: Derived<Arc<Vec<AveragedPredictor>>>,
    target_only: Derived<Arc<Vec<AveragedPredictor>>>,
    pub(super) identified: Derived<Vec<Option<IdentifiedParameters>>>,
    pub(super) misfit: Derived<Option<Arc<Misfit>>>,
    pub(super) needs: Derived<Arc<Needs>>,
    pub(super) forecast: Derived<(ForecastKey, Arc<Forecast>)>,
    /// Models of half of the rows each, for forecasts of networks; none where a half has too little to learn from.
    pub(super) halves: Derived<Option<Arc<[Model; 2]>>>,
    models: Mutex<Vec<(u64, bool, Arc<Model>)>>,
    /// A model of earlier data that plans are made with.
    pub(super) earlier: Option<Arc<Model>>,
    /// What was learnt from targets' rows alone.
    own_rows_fits: TargetOnlyCache,
    pub(super) family: Mutex<Vec<KnownFamily>>,
    /// Targets as members of the family, by target and whether exploitation was left out, with
    /// the version of the data.
    pub(super) members: Mutex<HashMap<(usize, bool), (u64, TargetIdentification)>>,
}

impl Cache {
    /// Forgets what depends on which targets there are; what was learnt from each one's rows stays.
    pub(super) fn forget_targets(&mut self) {
        *self = Self {
            earlier: self.earlier.take(),
            own_rows_fits: self.own_rows_fits.clone(),
            ..Self::default()
        };
    }

    /// What follows from the data alone, for a copy of the study that has the same.
    pub(super) fn of_data(&self) -> Self {
        let members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        Self {
            choices: self.choices.copied(),
            target_only: self.target_only.copied(),
            identified: self.identified.copied(),
            misfit: self.misfit.copied(),
            halves: self.halves.copied(),
            models: Mutex::new(self.lock().clone()),
            earlier: self.earlier.clone(),
            own_rows_fits: self.own_rows_fits.clone(),
            members: Mutex::new(members.clone()),
            ..Self::default()
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(u64, bool, Arc<Model>)>> {
        self.models.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Cache {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Study {
    /// What fits of newer data may start from, for oracles that can use it.
    pub(super) fn next_start(&self) -> Result<Option<model::WarmStart>> {
        let version = self.data.version();
        let known = self.starts.iter().any(|start| start.version == version);
        if known
            || self.cache.earlier.is_some()
            || self.data.source_rows() == 0
            || !self.config.oracle.trainer()?.needs().warm_start
        {
            return Ok(None);
        }
        let model = match self.model() {
            Err(Error::Diverged { .. }) => return Ok(None),
            other => other?,
        };
        // A representation of the user's own cannot be written to a file, which a study must be.
        let lasting = |start: &model::WarmStart| {
            !matches!(start.representation, AnyRepresentation::Custom(_))
        };
        Ok(model.warm_start.clone().filter(lasting))
    }

    /// The model of everything told so far.
    ///
    /// # Errors
    /// Too little data, or a breakdown of the numerics.
    pub fn model(&self) -> Result<Arc<Model>> {
        self.cached(false, || {
            let trainer = self.config.oracle.trainer()?;
            trainer.model(&self.data, &self.train_context(false))
        })
    }

    /// The model that picks tasks: that of everything told so far, unless the study's trainer or
    /// [`stable_model`](super::StudyConfig::stable_model) says otherwise.
    ///
    /// # Errors
    /// As [`Study::model`].
    pub fn planning_model(&self) -> Result<Arc<Model>> {
        if let Some(earlier) = &self.cache.earlier {
            return Ok(Arc::clone(earlier));
        }
        let stable = self.config.stable_model;
        if !stable && self.config.oracle.planner().is_none() {
            return self.model();
        }
        self.cached(true, || {
            self.planner()?
                .model(&self.data, &self.train_context(stable))
        })
    }

    /// The model that picks tasks, if it has been trained already; this trains none.
    #[must_use]
    pub fn trained(&self) -> Option<Arc<Model>> {
        let planning = self.config.stable_model || self.config.oracle.planner().is_some();
        let known = (self.data.version(), planning);
        let cache = self.cache.lock();
        let mut models = cache.iter();
        let found = models.find(|(version, kind, _)| (*version, *kind) == known);
        found.map(|(_, _, model)| Arc::clone(model))
    }

    /// The oracle of the model that picks tasks.
    pub(super) fn planner(&self) -> Result<&dyn Trainer> {
        match self.config.oracle.planner() {
            Some(planner) => Ok(planner),
            None => self.config.oracle.trainer(),
        }
    }

    pub(super) fn train_context(&self, stable: bool) -> TrainContext {
        let stages = stable.then(|| vec![Stage::WarmUp, Stage::Explore]);
        TrainContext {
            k: self.config.k,
            stages,
            target_rows: FoldSelection::All,
            seed: self.config.seed,
            // What was learnt from all stages is no start for a model of some.
            warm_start: self.start_of(self.data.version()).filter(|_| !stable),
            candidate_targets: Vec::new(),
            target_only_cache: self.cache.own_rows_fits.clone(),
        }
    }

    /// What a fit of a version of the data starts from: the newest of what was learnt before it.
    fn start_of(&self, version: u64) -> Option<Arc<model::WarmStart>> {
        let earlier = self
            .starts
            .iter()
            .rev()
            .find(|start| start.version < version);
        earlier.map(|known| Arc::clone(&known.start))
    }

    /// The model kept for this version of the data, or a new one.
    fn cached(&self, planning: bool, fit: impl FnOnce() -> Result<Model>) -> Result<Arc<Model>> {
        let version = self.data.version();
        let known = {
            let cache = self.cache.lock();
            cache
                .iter()
                .find(|(at, kind, _)| (*at, *kind) == (version, planning))
                .map(|(_, _, model)| Arc::clone(model))
        };
        if let Some(model) = known {
            return Ok(model);
        }
        // Not under the lock: a fit works in parallel, and may take a while.
        let model = Arc::new(fit()?);
        let mut cache = self.cache.lock();
        cache.retain(|(at, kind, _)| *at == version && *kind != planning);
        cache.push((version, planning, Arc::clone(&model)));
        Ok(model)
    }

    /// The predictor of every target that has samples, chosen by the guard, with the reason. A second
    /// call costs nothing while nothing new is told.
    ///
    /// # Errors
    /// A target without samples, or a failing fit.
    pub fn predictors(&self) -> Result<Arc<Vec<AveragedPredictor>>> {
        let choices = &self.cache.choices;
        choices.get(self.data.version(), || self.choose().map(Arc::new))
    }

    fn choose(&self) -> Result<Vec<AveragedPredictor>> {
        let trainer = self.config.oracle.trainer()?;
        let context = TrainContext {
            candidate_targets: self.with_samples(),
            ..self.train_context(false)
        };
        let TrainOutput {
            model,
            folds,
            candidates,
        } = match trainer.fit(&self.data, &context) {
            Err(error @ Error::Diverged { .. }) => {
                let why = format!("nothing but the target's own rows can be used: {error}");
                return self.choose_target_only(&why);
            }
            other => other?,
        };
        if candidates.len() != context.candidate_targets.len() {
            return Err(Error::State(format!(
                "the trainer `{}` proposed predictors for {} of {} targets: let it make its `TrainOutput` by `TrainOutput::cross_fitted` or `TrainOutput::with_heads`, which propose the usual ones",
                self.config.oracle.name(),
                candidates.len(),
                context.candidate_targets.len()
            )));
        }
        let model = self.cached(false, || Ok(model))?;
        let identify = |target: usize, candidates: Vec<Candidate>| {
            self.beside_member(target, candidates, (&model, &folds))
        };
        let proposed = context.candidate_targets.iter().zip(candidates);
        proposed
            .map(|(&target, candidates)| {
                let (candidates, found) = identify(target, candidates)?;
                guard::average_candidates(&self.data, target, candidates, found)
            })
            .collect()
    }

    /// Proposes the member of the source family that a target may be, beside what the trainer proposes.
    fn beside_member(
        &self,
        target: usize,
        mut candidates: Vec<Candidate>,
        (model, folds): (&Model, &[RepresentationWithoutFold]),
    ) -> Result<(Vec<Candidate>, Option<IdentifiedParameters>)> {
        // Families of tasks say more of a target whose features are known.
        if model.structure.is_hierarchical() {
            return Ok((candidates, None));
        }
        let member = |rows, phi: &AnyRepresentation| self.member(target, rows, phi, false);
        let found = candidates::identified_candidate(
            &self.data,
            target,
            &model.representation,
            folds,
            &member,
        )?;
        let (member, found) = found.unzip();
        candidates.extend(member.flatten());
        Ok((candidates, found))
    }

    /// The predictor of every target that has samples, from those samples alone: what the user
    /// would have without any source task.
    ///
    /// # Errors
    /// A target without samples, or a failing fit.
    pub fn target_only(&self) -> Result<Arc<Vec<AveragedPredictor>>> {
        let choices = &self.cache.target_only;
        choices.get(self.data.version(), || {
            self.choose_target_only("learnt from the target's own rows")
                .map(Arc::new)
        })
    }

    fn choose_target_only(&self, why: &str) -> Result<Vec<AveragedPredictor>> {
        let (trainer, context) = (self.config.oracle.trainer()?, self.train_context(false));
        let choose = |target| {
            let candidates = trainer.target_only(&self.data, &context, target)?;
            Ok(AveragedPredictor {
                reason: why.to_owned(),
                ..guard::average_candidates(&self.data, target, candidates, None)?
            })
        };
        self.with_samples().into_iter().map(choose).collect()
    }

    fn with_samples(&self) -> Vec<usize> {
        (0..self.config.targets.len())
            .filter(|&target| self.config.targets[target].can_have_samples())
            .collect()
    }
}
