//! Trainers of Python: they learn a representation; heads, task map and all that follows are ours.

use std::sync::{Arc, Mutex, PoisonError};

use faer::{Mat, MatRef};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use serde::Deserialize;
use taskscout::data::{FoldSelection, TARGET_FOLD_COUNT, TaskData};
use taskscout::model::{Activation, AnyRepresentation, Layer, Linear, Mlp, Model, Representation};
use taskscout::registry::Registry;
use taskscout::train::{
    Candidate, JointRidge, RepresentationWithoutFold, TrainContext, TrainOutput, Trainer,
    TrainerNeeds, candidates,
};
use taskscout::{Error, Result as TaskResult};

use super::training_data::TrainingData;
use super::{Function, of_array, to_array};
use crate::errors::{Result, of_json};

/// What the facade says of it.
#[derive(Debug, Clone, Copy, Deserialize)]
struct About {
    /// Whether it learns from rows, and not from statistics.
    needs_rows: bool,
    /// Whether it can learn from the rows of a target alone.
    alone: bool,
}

/// `function(k, seed, arrays, start)` gives what was learnt, as itself and in a form that is used from here.
#[derive(Debug, Clone)]
struct PythonTrainer {
    about: About,
    function: Arc<Function>,
    /// What was learnt last from sources alone: many fits begin there.
    sources: Arc<Mutex<Option<(SourceKey, Learnt)>>>,
}

/// What a fit of sources depends on: `k`, the seed and the data.
type SourceKey = (Option<usize>, u64, Vec<u64>);

/// What was learnt, as Python has it and as Rust uses it.
#[derive(Debug, Clone)]
struct Learnt {
    itself: Arc<Py<PyAny>>,
    phi: AnyRepresentation,
}

pub(super) fn register(registry: &mut Registry, about: &str, function: Function) -> Result<()> {
    let name = function.name.clone();
    let trainer = PythonTrainer {
        about: of_json(about)?,
        function: Arc::new(function),
        sources: Arc::default(),
    };
    registry.trainer_with(&name, move |_| Ok(Arc::new(trainer.clone())))?;
    Ok(())
}

/// A function of Python as `φ`.
#[derive(Debug)]
struct PythonRepresentation {
    function: Function,
    input_dim: usize,
    dim: usize,
}

impl Representation for PythonRepresentation {
    fn input_dim(&self) -> usize {
        self.input_dim
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn apply(&self, features: MatRef<'_, f64>) -> TaskResult<Mat<f64>> {
        let n = features.nrows();
        let rows: Vec<f64> = (0..n)
            .flat_map(|i| (0..features.ncols()).map(move |j| features[(i, j)]))
            .collect();
        let made = self.function.call(|function| {
            let rows = to_array(function.py(), &rows, self.input_dim);
            of_array(&function.call1((rows,))?, [n, self.dim])
        })?;
        Ok(MatRef::from_row_major_slice(&made, n, self.dim).to_owned())
    }
}

/// A layer of a perceptron: weights, inputs × outputs, and a bias.
type LayerArrays<'py> = (
    PyReadonlyArray2<'py, f64>,
    Option<PyReadonlyArray1<'py, f64>>,
);

fn matrix(array: &PyReadonlyArray2<'_, f64>) -> PyResult<Mat<f64>> {
    let (rows, columns) = (array.shape()[0], array.shape()[1]);
    let values = array.as_slice()?;
    Ok(MatRef::from_row_major_slice(values, rows, columns).to_owned())
}

fn layer((weights, bias): &LayerArrays<'_>) -> PyResult<Layer> {
    let bias = bias.as_ref().map(|bias| bias.as_slice()).transpose()?;
    Ok(Layer {
        weights: matrix(weights)?,
        bias: bias.map(<[f64]>::to_vec),
    })
}

impl PythonTrainer {
    /// What the facade handed back, as a representation.
    fn representation(
        &self,
        (kind, payload): &(String, Bound<'_, PyAny>),
        input_dim: usize,
    ) -> PyResult<TaskResult<AnyRepresentation>> {
        Ok(match kind.as_str() {
            "matrix" => Linear::new(matrix(&payload.extract()?)?.as_ref()).map(Into::into),
            "relu" | "tanh" => {
                let layers: Vec<LayerArrays<'_>> = payload.extract()?;
                let layers = layers.iter().map(layer).collect::<PyResult<_>>()?;
                let activation = if kind == "relu" {
                    Activation::Relu
                } else {
                    Activation::Tanh
                };
                Mlp::new(layers, activation).map(Into::into)
            }
            _ => {
                let (dim, apply): (usize, Py<PyAny>) = payload.extract()?;
                Ok(AnyRepresentation::custom(Arc::new(PythonRepresentation {
                    function: Function::new(&self.function.name, apply, &self.function.raised),
                    input_dim,
                    dim,
                })))
            }
        })
    }

    /// Has Python learn.
    fn learn(
        &self,
        data: &TrainingData<'_>,
        feature_dim: usize,
        context: &TrainContext,
        start: Option<&Learnt>,
    ) -> TaskResult<Learnt> {
        let (itself, phi) = self.function.call(|function| {
            let py = function.py();
            let arrays = data.arrays(py, self.about.needs_rows)?;
            let start = start.map(|start| start.itself.clone_ref(py));
            let answer = function.call1((context.k, context.seed, arrays, start))?;
            let (itself, kind, payload) = answer.extract::<(Py<PyAny>, String, _)>()?;
            let phi = self.representation(&(kind, payload), feature_dim)?;
            Ok((Arc::new(itself), phi))
        })?;
        let phi = phi?;
        if phi.input_dim() != feature_dim {
            return Err(Error::WrongLength {
                place: format!(
                    "a row that the representation of `{}` takes",
                    self.function.name
                ),
                expected: feature_dim,
                found: phi.input_dim(),
            });
        }
        Ok(Learnt { itself, phi })
    }

    /// What the sources alone teach; nothing where there are none.
    fn of_sources(&self, data: &TaskData, context: &TrainContext) -> TaskResult<Option<Learnt>> {
        if data.source_rows() == 0 {
            return Ok(None);
        }
        let rows = TrainingData::of(data, context, FoldSelection::None)?;
        let key = (context.k, context.seed, rows.fingerprint());
        let lock = || self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().as_ref().filter(|known| known.0 == key).cloned();
        if let Some((_, known)) = known {
            return Ok(Some(known));
        }
        let learnt = self.learn(&rows, data.feature_dim(), context, None)?;
        *lock() = Some((key, learnt.clone()));
        Ok(Some(learnt))
    }

    /// The model on what is learnt with the targets' rows too, from the sources on.
    fn model_from(
        &self,
        data: &TaskData,
        context: &TrainContext,
        sources: Option<&Learnt>,
    ) -> TaskResult<Model> {
        let rows = TrainingData::of(data, context, context.target_rows)?;
        let learnt = self.learn(&rows, data.feature_dim(), context, sources)?;
        let transformed = data.transformed_by(&learnt.phi)?;
        let model = JointRidge::default().model(&transformed, context)?;
        model.composed_with(&learnt.phi, &transformed, context)
    }

    /// What a target's rows alone teach.
    fn alone(
        &self,
        data: &TaskData,
        target: usize,
        context: &TrainContext,
    ) -> TaskResult<Option<AnyRepresentation>> {
        if !self.about.alone {
            return Ok(None);
        }
        let rows = TrainingData::alone(data, target, context.target_rows)?;
        let learnt = self.learn(&rows, data.feature_dim(), context, None)?;
        Ok(Some(learnt.phi))
    }
}

impl Trainer for PythonTrainer {
    fn fit(&self, data: &TaskData, context: &TrainContext) -> TaskResult<TrainOutput> {
        let sources = self.of_sources(data, context)?;
        let model = self.model_from(data, context, sources.as_ref())?;
        if !context.wants_candidates() {
            return Ok(model.into());
        }
        let mut folds = Vec::new();
        for fold in 0..TARGET_FOLD_COUNT {
            let without = TrainContext {
                k: Some(model.dim()),
                ..context.without_fold(fold)
            };
            let representation = self
                .model_from(data, &without, sources.as_ref())?
                .representation;
            folds.push(RepresentationWithoutFold {
                fold,
                representation,
            });
        }
        let alone = |target, context: &TrainContext| self.alone(data, target, context);
        TrainOutput::with_heads_and_target_networks(data, context, (model, folds), &alone)
    }

    fn needs(&self) -> TrainerNeeds {
        TrainerNeeds {
            rows: self.about.needs_rows,
            warm_start: false,
            allows_k_above_features: true,
        }
    }

    fn target_only(
        &self,
        data: &TaskData,
        context: &TrainContext,
        target: usize,
    ) -> TaskResult<Vec<Candidate>> {
        let alone = |target, context: &TrainContext| self.alone(data, target, context);
        candidates::target_only_candidates_with_network(data, context, target, &alone)
    }
}
