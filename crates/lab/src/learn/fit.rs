//! One output: the hierarchical model of the recordings, and what the guard hands back for the target.

use std::borrow::Cow;

use taskscout::data::{Samples, TaskData};
use taskscout::model::{Model, ModelStructure};
use taskscout::train::guard::average_candidates;
use taskscout::train::partial_pooling::HierarchicalModel;
use taskscout::train::{AveragedPredictor, Candidate, PredictorKind, TrainContext, Trainer as _};

use super::prepare::Prepared;
use crate::error::Result;

/// What was learnt of an output.
#[derive(Debug, Clone)]
pub(super) struct OutputFit {
    /// Its place.
    pub(super) output: usize,
    pub(super) data: TaskData,
    model: Model,
    pub(super) choice: AveragedPredictor,
}

impl OutputFit {
    /// Learns an output from all source recordings and some rows of the target.
    pub(super) fn new(prepared: &Prepared, output: usize, rows: &[usize]) -> Result<Self> {
        let data = prepared.data(output, rows)?;
        let context = TrainContext {
            candidate_targets: vec![0],
            ..TrainContext::default()
        };
        let mut fitted = prepared.pooling(output).fit(&data, &context)?;
        let mut candidates = fitted.candidates.pop().unwrap_or_default();
        candidates.retain(|one| one.predictor.kind != PredictorKind::TargetOnly);
        candidates.push(prepared.alone().target_only_candidate(&data, 0)?);
        let choice = average_candidates(&data, 0, candidates, None)?;
        Ok(Self {
            output,
            data,
            model: fitted.model,
            choice,
        })
    }

    /// The model alone, for what is not about the target.
    pub(super) fn hierarchy_of(
        prepared: &Prepared,
        output: usize,
    ) -> Result<(TaskData, HierarchicalModel)> {
        let data = prepared.data(output, prepared.learning_rows())?;
        let model = prepared
            .pooling(output)
            .model(&data, &TrainContext::default())?;
        match model.structure.hierarchical_models().first() {
            Some(hierarchy) => Ok((data, hierarchy.clone())),
            None => Err(crate::error::LabError::Failure(
                "partial pooling gave no hierarchical model: try --phi linear".into(),
            )),
        }
    }

    /// The hierarchical model on the best set of features.
    pub(super) fn hierarchy(&self) -> Option<&HierarchicalModel> {
        self.model.structure.hierarchical_models().first()
    }

    /// The set of features that held-out rows speak for, in words.
    pub(super) fn features(&self) -> &str {
        let note = self.model.report.notes.first().map_or("", String::as_str);
        note.strip_prefix("learnt on ").unwrap_or(note)
    }

    /// The model with such task features of the target. It holds what is known of every recording, so it is copied only where
    /// something changes.
    fn model_at(&self, features: &[f64]) -> Cow<'_, Model> {
        if features == self.data.targets()[0].features {
            return Cow::Borrowed(&self.model);
        }
        let hierarchies = self.model.structure.hierarchical_models().iter();
        let changed = hierarchies.map(|one| one.with_target_features(0, features));
        Cow::Owned(Model {
            structure: ModelStructure::Hierarchical(changed.collect()),
            representation: self.model.representation.clone(),
            map: self.model.map.clone(),
            spectrum: self.model.spectrum.clone(),
            noise: self.model.noise,
            report: self.model.report.clone(),
            warm_start: self.model.warm_start.clone(),
        })
    }

    /// What the guard hands back for other rows of the target, whose task features may be others too. No row of the target
    /// enters what source recordings say, so nothing else is learnt anew.
    pub(super) fn refit(
        &self,
        prepared: &Prepared,
        rows: &Samples,
        features: Option<&[f64]>,
    ) -> Result<AveragedPredictor> {
        let own = &self.data.targets()[0];
        let features = features.unwrap_or(&own.features);
        let mut data = TaskData::new(self.data.feature_dim(), 1, self.data.task_dim());
        data.add_target(&own.name, features.to_vec())?;
        data.add_target_rows(0, rows)?;
        let model = self.model_at(features);
        let pooling = prepared.pooling(self.output);
        let shared = pooling.shared_candidate(&data, &model, 0)?;
        let own = prepared.alone().target_only_candidate(&data, 0)?;
        let candidates: Vec<Candidate> = shared.into_iter().chain([own]).collect();
        Ok(average_candidates(&data, 0, candidates, None)?)
    }
}
