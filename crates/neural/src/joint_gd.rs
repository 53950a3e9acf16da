//! The `joint-gd` oracle: network and task map descend together, as the paper trains.

use faer::Mat;
use rand::RngExt as _;
use serde::{Deserialize, Serialize};
use taskscout::data::{TARGET_FOLD_COUNT, TaskData};
use taskscout::model::{
    AnyRepresentation, FitReport, Model, Representation as _, TaskEmbeddingMap, WarmStart,
};
use taskscout::rng::{Purpose, derive};
use taskscout::train::{
    Candidate, PredictorKind, RepresentationWithoutFold, TrainContext, TrainOutput, Trainer,
    TrainerNeeds, candidates,
};
use taskscout::{Error, Result};

use crate::dataset::Dataset;
use crate::descent::{Descender, DescentRun, JointParameters, flat_map};
use crate::network::{Architecture, Differentiable as _};
use crate::settings::{DescentSettings, TargetHead};
use crate::shape::MlpShape;

/// Held-out rows of a target that are enough to compare predictors on: folds beyond them would
/// cost a training each and tell no more.
const ENOUGH_HELD_OUT: usize = 500;

/// Mini-batch descent over `φ` and `B` together.
///
/// It is here so that published figures can be reproduced like for like; the oracles `exact` and
/// `neural` reach a better optimum in less time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointGd {
    /// The network; without hidden layers and bias it is a matrix.
    pub network: MlpShape,
    /// How it descends.
    pub descent: DescentSettings,
}

impl JointGd {
    /// Checks the settings.
    ///
    /// # Errors
    /// The first that is out of range, by its key.
    pub fn validate(&self) -> Result<()> {
        self.network.validate()?;
        self.descent.validate()
    }

    fn is_linear(&self) -> bool {
        self.network.hidden.is_empty() && !self.network.bias
    }

    fn train(
        &self,
        rows: &Dataset,
        context: &TrainContext,
    ) -> Result<(DescentRun, AnyRepresentation, usize)> {
        self.validate()?;
        let Some(k) = context.k else {
            return Err(Error::setting(
                "k",
                "is not given: joint descent cannot choose it, so give it or use another oracle",
            ));
        };
        let known = context.warm_start.as_deref().and_then(|start| {
            let same =
                start.representation.dim() == k && start.representation.input_dim() == rows.inputs;
            let network = self
                .network
                .restore(&start.representation)
                .filter(|_| same)?;
            let map = start.map.as_ref()?.matrix();
            let fits = map.nrows() == k && map.ncols() == rows.outputs * rows.features.ncols();
            fits.then(|| (network, flat_map(map, rows.outputs)))
        });
        let (network, map) = match known {
            Some(known) => known,
            None => self.fresh(rows, k, context.seed)?,
        };
        let start = JointParameters {
            network: network.parameters(),
            map,
        };
        let seed = (context.seed, 0);
        let course = Descender::new(rows, &network, k).run(start, &self.descent, seed)?;
        let network = network.with_parameters(&course.joint.network);
        let phi = self.network.representation(&network)?;
        Ok((course, phi, k))
    }

    fn fresh(
        &self,
        rows: &Dataset,
        k: usize,
        seed: u64,
    ) -> Result<(<MlpShape as Architecture>::Network, Vec<f32>)> {
        let mut rng = derive(seed, Purpose::Weights, &[0]);
        let network = self.network.init(&vec![1.0; rows.inputs], k, &mut rng)?;
        let p = rows.features.ncols();
        let bound = 1.0 / (p as f32).sqrt();
        let map = (0..k * rows.outputs * p)
            .map(|_| rng.random_range(-bound..bound))
            .collect();
        Ok((network, map))
    }

    fn assemble(
        &self,
        data: &TaskData,
        context: &TrainContext,
        rows: &Dataset,
        (course, phi, k): &(DescentRun, AnyRepresentation, usize),
    ) -> Result<Model> {
        let (p, m) = (rows.features.ncols(), rows.outputs);
        // Rows of the flat map are outputs × k.
        let map = Mat::from_fn(*k, m * p, |i, column| {
            f64::from(course.joint.map[((column / p) * k + i) * p + column % p])
        });
        let labels = rows.len() * m;
        let residual = course.losses.last().copied().unwrap_or(f64::NAN) * labels as f64;
        let freedom = ((course.joint.network.len() + k * m * p) as f64).min(0.5 * labels as f64);
        let noise = residual / (labels as f64 - freedom);
        let mut notes = Vec::new();
        if course.stopped_early {
            notes.push(format!(
                "training stopped after {} of {} epochs, when held-out rows got no better",
                course.losses.len(),
                self.descent.epochs
            ));
        }
        let report = FitReport {
            iterations: course.steps,
            converged: course.stopped_early || course.has_settled(),
            objective: residual,
            residual_sum_of_squares: residual,
            lambda: self.descent.weight_decay * labels as f64,
            degrees_of_freedom: freedom,
            log_evidence: -0.5 * (labels as f64 * noise.ln() + freedom * (labels as f64).ln()),
            condition_numbers: [f64::NAN; 2],
            labels,
            objective_history: course.losses.clone(),
            notes,
        };
        let start = WarmStart {
            representation: phi.clone(),
            map: Some(TaskEmbeddingMap::new(map.clone(), p)),
        };
        let linear = match phi {
            AnyRepresentation::Mlp(mlp) if self.is_linear() => {
                Some(mlp.layers()[0].weights.clone())
            }
            _ => None,
        };
        let model = match linear {
            Some(weights) => Model::from_factors(weights.as_ref(), map.as_ref(), p, noise, report)?,
            None => {
                let unit = Mat::<f64>::identity(*k, *k);
                let inner = Model::from_factors(unit.as_ref(), map.as_ref(), p, noise, report)?;
                inner.composed_with(phi, &data.transformed_by(phi)?, context)?
            }
        };
        Ok(Model {
            warm_start: Some(start),
            ..model
        })
    }
}

impl Trainer for JointGd {
    fn fit(&self, data: &TaskData, context: &TrainContext) -> Result<TrainOutput> {
        let model = self.fit_once(data, context)?;
        if !context.wants_candidates() {
            return Ok(model.into());
        }
        let alone = |target, context: &TrainContext| self.alone(data, target, context);
        let folds = self.folds(data, context, model.dim())?;
        let mut fitted =
            TrainOutput::with_heads_and_target_networks(data, context, (model, folds), &alone)?;
        if self.descent.head == TargetHead::Descended {
            for (&target, candidates) in
                context.candidate_targets.iter().zip(&mut fitted.candidates)
            {
                take_descended(data, &fitted.model, target, candidates)?;
            }
        }
        Ok(fitted)
    }

    fn needs(&self) -> TrainerNeeds {
        TrainerNeeds {
            allows_k_above_features: !self.network.hidden.is_empty(),
            ..TrainerNeeds::NETWORK
        }
    }

    fn target_only(
        &self,
        data: &TaskData,
        context: &TrainContext,
        target: usize,
    ) -> Result<Vec<Candidate>> {
        let alone = |target, context: &TrainContext| self.alone(data, target, context);
        candidates::target_only_candidates_with_network(data, context, target, &alone)
    }
}

/// Gives the shared predictor of a target the coefficients that descended with the network.
fn take_descended(
    data: &TaskData,
    model: &Model,
    target: usize,
    candidates: &mut [Candidate],
) -> Result<()> {
    let features = &data.targets()[target].features;
    let embeddings: Vec<Vec<f64>> = (0..data.outputs())
        .map(|output| model.map.embedding(features, output))
        .collect::<Result<_>>()?;
    let shared = |candidate: &&mut Candidate| candidate.predictor.kind == PredictorKind::Shared;
    for candidate in candidates.iter_mut().filter(shared) {
        let predictor = &mut candidate.predictor;
        match (&mut predictor.head, model.representation.as_linear()) {
            (Some(head), _) => head.coefficients.clone_from(&embeddings),
            (None, Some(linear)) => {
                let on_features = embeddings.iter().map(|c| linear.coefficients(c));
                predictor.coefficients = on_features.collect();
            }
            (None, None) => {}
        }
    }
    Ok(())
}

impl JointGd {
    fn fit_once(&self, data: &TaskData, context: &TrainContext) -> Result<Model> {
        let rows = Dataset::new(data, context.stages.as_deref(), context.target_rows)?;
        let trained = self.train(&rows, context)?;
        self.assemble(data, context, &rows, &trained)
    }

    /// Representations without folds of the targets' rows, as many as give enough rows to compare on.
    fn folds(
        &self,
        data: &TaskData,
        context: &TrainContext,
        k: usize,
    ) -> Result<Vec<RepresentationWithoutFold>> {
        let smallest = |fold: usize| {
            data.targets()
                .iter()
                .map(|target| target.folds[fold].count())
                .filter(|&count| count > 0)
                .min()
        };
        let (mut folds, mut seen) = (Vec::new(), 0);
        for fold in 0..TARGET_FOLD_COUNT {
            // From scratch: the start has seen all rows of the targets.
            let without = TrainContext {
                k: Some(k),
                warm_start: None,
                ..context.without_fold(fold)
            };
            folds.push(RepresentationWithoutFold {
                fold,
                representation: self.fit_once(data, &without)?.representation,
            });
            seen += smallest(fold).unwrap_or(0);
            if seen >= ENOUGH_HELD_OUT {
                break;
            }
        }
        Ok(folds)
    }

    /// A representation learnt from the rows of one target alone.
    fn alone(
        &self,
        data: &TaskData,
        target: usize,
        context: &TrainContext,
    ) -> Result<Option<AnyRepresentation>> {
        if self.is_linear() {
            return Ok(None);
        }
        let rows = Dataset::alone(data, target, context.target_rows)?;
        let alone = TrainContext {
            k: Some(data.outputs()),
            warm_start: None,
            ..context.clone()
        };
        let (_, phi, _) = self.train(&rows, &alone)?;
        Ok(Some(phi))
    }
}
