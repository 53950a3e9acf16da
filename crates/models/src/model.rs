//! A model that can be used: checked once, then relied upon.

use faer::MatRef;
use rayon::prelude::*;
use serde::Serialize;
use taskscout::features::{Features as _, apply_row};
use taskscout::model::Representation as _;

use crate::error::{Error, Result};
use crate::parts::{Parts, Provenance};

/// Rows taken through a model at a time.
const CHUNK_ROWS: usize = 1024;
/// Most values of their features, and the fewest rows for all that.
const CHUNK_VALUES: usize = 1 << 24;
const FEWEST_ROWS: usize = 16;

/// A trained model of one target, complete in itself: what a file holds and a robot needs.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedModel {
    parts: Parts,
}

/// One output of one row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Prediction {
    /// What is expected.
    pub mean: f64,
    /// Standard deviation of a new, noisy observation around it.
    pub std: f64,
    /// Standard deviation of the expectation itself: what more target samples would reduce.
    pub model_std: f64,
}

impl SavedModel {
    /// Takes parts that fit each other.
    ///
    /// # Errors
    /// Parts that do not fit, numbers that are not finite, or code of the user's own, which a file
    /// cannot hold.
    pub fn new(parts: Parts) -> Result<Self> {
        parts.check_plain()?;
        Self::in_memory(parts)
    }

    /// The same for parts that may be code of the user's own: such a model predicts, but cannot be saved.
    ///
    /// # Errors
    /// Parts that do not fit, or numbers that are not finite.
    pub fn in_memory(parts: Parts) -> Result<Self> {
        parts.check()?;
        Ok(Self { parts })
    }

    /// What the model consists of.
    #[must_use]
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The parts, to be changed and made a model again.
    #[must_use]
    pub fn into_parts(self) -> Parts {
        self.parts
    }

    /// Where the model comes from.
    #[must_use]
    pub fn provenance(&self) -> &Provenance {
        &self.parts.provenance
    }

    /// Inputs of a row.
    #[must_use]
    pub fn input_dim(&self) -> usize {
        self.parts.input_features.input_dim()
    }

    /// Outputs of a row.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.parts.outputs()
    }

    /// Predictions for raw rows (row-major, [`SavedModel::input_dim`] values each): for every row
    /// one prediction an output, row after row. Works on all cores.
    ///
    /// # Errors
    /// Values that are no whole rows or not finite, and inputs so large that a prediction is not.
    pub fn predict(&self, inputs: &[f64]) -> Result<Vec<Prediction>> {
        let width = self.input_dim();
        if !inputs.len().is_multiple_of(width) {
            return Err(Error::Rows {
                expected: width,
                found: inputs.len(),
            });
        }
        if let Some(at) = inputs.iter().position(|value| !value.is_finite()) {
            return Err(Error::Row {
                what: format!("input {}", at % width),
                row: at / width,
                value: inputs[at],
                remedy: "every value must be finite, so repair or remove the row",
            });
        }
        let features = self.parts.input_features.dim();
        let rows_each = CHUNK_ROWS.min((CHUNK_VALUES / features).max(FEWEST_ROWS));
        let chunks: Vec<Vec<Prediction>> = inputs
            .par_chunks(rows_each * width)
            .enumerate()
            .map(|(chunk, rows)| self.predict_chunk(rows, chunk * rows_each))
            .collect::<Result<_>>()?;
        Ok(chunks.concat())
    }

    /// Predictions for a few rows, the first of which is row `first` of the caller's.
    fn predict_chunk(&self, rows: &[f64], first: usize) -> Result<Vec<Prediction>> {
        let Parts {
            input_features: map,
            predictor,
            uncertainty,
            ..
        } = &self.parts;
        let (n, outputs) = (rows.len() / self.input_dim(), self.outputs());
        let mut rows = rows.to_vec();
        if let Some(scaling) = &self.parts.input_scaling {
            scaling.forward(&mut rows);
        }
        let mut features = vec![0.0; n * map.dim()];
        map.apply(&rows, &mut features);
        let features = MatRef::from_row_major_slice(&features, n, map.dim());
        let means = predictor.predict(features)?;
        let represented = self
            .parts
            .basis()
            .map(|phi| phi.apply(features))
            .transpose()?;
        let basis = represented
            .as_ref()
            .map_or(features, |values| values.as_ref());
        let mut out = vec![
            Prediction {
                mean: 0.0,
                std: 0.0,
                model_std: 0.0
            };
            n * outputs
        ];
        for (output, (noise, root)) in uncertainty.noise.iter().zip(&uncertainty.roots).enumerate()
        {
            let spread = basis * root;
            let (shift, scale) = match &self.parts.output_scaling {
                Some(scaling) => (scaling.mean[output], scaling.scale[output]),
                None => (0.0, 1.0),
            };
            for row in 0..n {
                let variance = spread.row(row).squared_norm_l2();
                let at = row * outputs + output;
                out[at] = Prediction {
                    mean: means[at] * scale + shift,
                    std: (variance + noise).sqrt() * scale,
                    model_std: variance.sqrt() * scale,
                };
            }
        }
        let bad = |one: &Prediction| !(one.mean.is_finite() && one.std.is_finite());
        match out.iter().position(bad) {
            None => Ok(out),
            Some(at) => Err(Error::Row {
                what: format!("the prediction of output {}", at % outputs),
                row: first + at / outputs,
                value: out[at].mean,
                remedy: "the inputs are too far from anything seen in training, so check their units",
            }),
        }
    }

    /// A source task's embedding `c_w = B ψ_W(w)`, for an output counted from 0.
    ///
    /// # Errors
    /// A model without a task map, a task of the wrong length, or no such output.
    pub fn embedding(&self, task: &[f64], output: usize) -> Result<Vec<f64>> {
        let tasks = self.tasks()?;
        let expected = tasks.features.input_dim();
        if task.len() != expected {
            return Err(taskscout::Error::WrongLength {
                place: "the task".into(),
                expected,
                found: task.len(),
            }
            .into());
        }
        let mut features = apply_row(&tasks.features, task);
        features.resize(tasks.map.task_dim(), 0.0);
        Ok(tasks.map.embedding(&features, output)?)
    }

    /// The target's embedding, for an output counted from 0.
    ///
    /// # Errors
    /// A model without a task map, or no such output.
    pub fn target_embedding(&self, output: usize) -> Result<Vec<f64>> {
        let tasks = self.tasks()?;
        Ok(tasks.map.embedding(&tasks.target, output)?)
    }

    fn tasks(&self) -> Result<&crate::parts::Tasks> {
        self.parts.tasks.as_ref().ok_or_else(|| {
            Error::Absent(
                "the model knows its target only: embeddings need one that was learnt from source tasks"
                    .into(),
            )
        })
    }
}
