//! What a model consists of.

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};
use taskscout::features::{FeatureMap, Features as _};
use taskscout::model::{AnyRepresentation, Representation as _, TaskEmbeddingMap};
use taskscout::space::{Space, TaskSpace as _};
use taskscout::train::Predictor;

use crate::error::{Error, Result, check_finite, check_fit};

/// Everything that predicting for one target needs, not checked yet; [`crate::SavedModel::new`]
/// checks it.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// `ψ_X`, the features of an input.
    pub input_features: FeatureMap,
    /// The shared representation `φ`, where one was learnt.
    pub representation: Option<AnyRepresentation>,
    /// The predictor that the guard chose for the target.
    pub predictor: Predictor,
    /// How far its predictions can be trusted.
    pub uncertainty: Uncertainty,
    /// How raw inputs become the inputs that the model was trained on; as they are if not given.
    pub input_scaling: Option<Affine>,
    /// How the labels that the model was trained on came from raw outputs; as they are if not given.
    pub output_scaling: Option<Affine>,
    /// How tasks relate to each other, where that was learnt.
    pub tasks: Option<Tasks>,
    /// Where the model comes from.
    pub provenance: Provenance,
    /// What its inputs and outputs are called.
    pub names: Names,
}

/// What inputs and outputs are called, in the order of the model: the columns that it was learnt from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Names {
    /// One name an input; empty if they are not known.
    pub inputs: Vec<String>,
    /// One name an output; empty if they are not known.
    pub outputs: Vec<String>,
    /// What they are measured in, where the model is of a study that knows its columns: predictions then have the names
    /// of the outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<Units>,
    /// How the inputs are computed from the columns of a log, where they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expressions: Option<InputExpressions>,
}

/// How inputs are computed from the columns of a log of a robot.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InputExpressions {
    /// The expressions, with numbers in place of named constants; one may give several inputs.
    pub inputs: Vec<String>,
    /// The series whose times the rows have; if not given, that of the first input.
    pub times: Option<String>,
    /// Whether other series are interpolated at these times, or their nearest row is taken.
    pub interpolate: bool,
    /// Seconds that a row of another series may be away; if not given, two of its steps.
    pub tolerance_s: Option<f64>,
}

/// What inputs and outputs are measured in, in the order of the model; nothing where nobody said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Units {
    /// One for each input.
    pub inputs: Vec<Option<String>>,
    /// One for each output.
    pub outputs: Vec<Option<String>>,
}

/// A shift and a scale for each value: `(raw − mean) / scale`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Affine {
    /// What is subtracted.
    pub mean: Vec<f64>,
    /// What the rest is divided by, above 0.
    pub scale: Vec<f64>,
}

/// The numbers that the errors of a prediction are linear in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Basis {
    /// The features `ψ_X(x)`.
    Features,
    /// The representation of the predictor's head, or the shared one if it has no head.
    Representation,
}

/// Noise and the covariance of what was fitted, in the units of the labels that were trained on.
///
/// A prediction from `z` (features or representation) has the variance `‖Rᵀz‖²`, that of a new
/// observation is larger by `σ²`. The root `R` of the covariance `V = R Rᵀ = σ²(G + λI)⁻¹` is kept
/// rather than `V`: no rounding can make a variance negative.
#[derive(Debug, Clone, PartialEq)]
pub struct Uncertainty {
    /// What `z` is.
    pub basis: Basis,
    /// `σ²`, one number an output.
    pub noise: Vec<f64>,
    /// `R`, one matrix an output, with as many rows as `z` has values.
    pub roots: Vec<Mat<f64>>,
}

/// How tasks relate: `c_w = B ψ_W(w)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Tasks {
    /// `ψ_W`.
    pub features: FeatureMap,
    /// `B`, in the coordinates of the shared representation.
    pub map: TaskEmbeddingMap,
    /// The target's own task features, targets' own task features included.
    pub target: Vec<f64>,
    /// Where source tasks lie.
    pub space: Option<Space>,
}

/// Where a model comes from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Provenance {
    /// The version of taskscout that made it.
    pub version: String,
    /// The study or experiment.
    pub study: String,
    /// The strategy that chose the tasks.
    pub strategy: String,
    /// The training oracle.
    pub oracle: String,
    /// The seed.
    pub seed: u64,
    /// The target's name.
    pub target: String,
    /// Why the guard chose this predictor.
    pub reason: String,
    /// Rounds of collection before it was trained.
    pub rounds: usize,
    /// Rows of source tasks.
    pub source_rows: usize,
    /// Rows of the target.
    pub target_rows: usize,
}

impl Parts {
    /// Outputs of a prediction.
    pub(crate) fn outputs(&self) -> usize {
        self.predictor.coefficients.len()
    }

    /// The representation that errors are linear in; none if those are the features.
    pub(crate) fn basis(&self) -> Option<&AnyRepresentation> {
        match self.uncertainty.basis {
            Basis::Features => None,
            Basis::Representation => {
                let head = self.predictor.head.as_ref();
                head.map(|head| &head.representation)
                    .or(self.representation.as_ref())
            }
        }
    }

    /// Refuses code of the user's own, which a file cannot hold.
    pub(crate) fn check_plain(&self) -> Result<()> {
        check_map(&self.input_features)?;
        if let Some(phi) = &self.representation {
            check_code(phi, "the shared representation")?;
        }
        if let Some(head) = &self.predictor.head {
            check_code(&head.representation, "the representation of the head")?;
        }
        match &self.tasks {
            Some(tasks) => check_map(&tasks.features),
            None => Ok(()),
        }
    }

    /// Checks that all parts fit each other.
    pub(crate) fn check(&self) -> Result<()> {
        let d = self.input_features.dim();
        if let Some(phi) = &self.representation {
            check_phi(phi, "the shared representation", d)?;
        }
        self.check_predictor(d)?;
        self.check_uncertainty(d)?;
        check_names(
            "input",
            &self.names.inputs,
            "the feature map takes",
            self.input_features.input_dim(),
        )?;
        check_names(
            "output",
            &self.names.outputs,
            "the predictor gives",
            self.outputs(),
        )?;
        if let Some(scaling) = &self.input_scaling {
            scaling.check(
                "input",
                "the feature map takes",
                self.input_features.input_dim(),
            )?;
        }
        if let Some(scaling) = &self.output_scaling {
            scaling.check("output", "the predictor gives", self.outputs())?;
        }
        match (&self.tasks, &self.representation) {
            (None, _) => Ok(()),
            (Some(tasks), Some(phi)) => tasks.check(phi.dim(), self.outputs()),
            (Some(_), None) => Err(Error::Absent(
                "there is a task map but no representation that its embeddings belong to: give both or neither".into(),
            )),
        }
    }

    fn check_predictor(&self, d: usize) -> Result<()> {
        let Predictor {
            coefficients, head, ..
        } = &self.predictor;
        if coefficients.is_empty() {
            return Err(Error::Absent(
                "the predictor has no output: give it coefficients".into(),
            ));
        }
        let finite = |rows: &[Vec<f64>], what: &str| {
            rows.iter().enumerate().try_for_each(|(output, row)| {
                check_finite(row.iter().copied(), |i| {
                    format!("{what} {i} of output {output}")
                })
            })
        };
        for row in coefficients {
            check_fit("the predictor", row.len(), "the feature map gives", d)?;
        }
        finite(coefficients, "coefficient")?;
        if let Some(head) = head {
            check_phi(&head.representation, "the representation of the head", d)?;
            let outputs = self.outputs();
            check_fit(
                "the head",
                head.coefficients.len(),
                "outputs number",
                outputs,
            )?;
            for row in &head.coefficients {
                let k = head.representation.dim();
                check_fit("the head", row.len(), "its representation gives", k)?;
            }
            finite(&head.coefficients, "head coefficient")?;
        }
        Ok(())
    }

    fn check_uncertainty(&self, d: usize) -> Result<()> {
        let Uncertainty {
            basis,
            noise,
            roots,
        } = &self.uncertainty;
        let wants = "outputs number";
        check_fit("the noise", noise.len(), wants, self.outputs())?;
        check_fit("the covariances", roots.len(), wants, self.outputs())?;
        for (output, &value) in noise.iter().enumerate() {
            if !(value.is_finite() && value >= 0.0) {
                return Err(Error::NotFinite {
                    place: format!("the noise variance of output {output}"),
                    value,
                });
            }
        }
        let dim = match (basis, self.basis()) {
            (Basis::Features, _) => d,
            (_, Some(phi)) => phi.dim(),
            (_, None) => {
                return Err(Error::Absent(
                    "the covariance belongs to a representation that is not there: give it".into(),
                ));
            }
        };
        for (output, root) in roots.iter().enumerate() {
            check_fit(
                "the covariance",
                root.nrows(),
                "what it belongs to gives",
                dim,
            )?;
            check_matrix(root.as_ref(), &format!("the covariance of output {output}"))?;
        }
        Ok(())
    }
}

impl Affine {
    fn check(&self, what: &str, wants: &str, expected: usize) -> Result<()> {
        let part = format!("the {what} scaling");
        check_fit(&part, self.mean.len(), wants, expected)?;
        check_fit(&part, self.scale.len(), wants, expected)?;
        check_finite(self.mean.iter().copied(), |i| {
            format!("the mean of {what} {i}")
        })?;
        match self
            .scale
            .iter()
            .position(|&scale| !(scale.is_finite() && scale > 0.0))
        {
            None => Ok(()),
            Some(index) => Err(Error::Absent(format!(
                "the scale of {what} {index} is {}: it must be finite and above 0",
                self.scale[index]
            ))),
        }
    }

    /// Raw values to those that were trained on, row by row in place.
    pub(crate) fn forward(&self, rows: &mut [f64]) {
        for row in rows.chunks_mut(self.mean.len().max(1)) {
            for ((value, mean), scale) in row.iter_mut().zip(&self.mean).zip(&self.scale) {
                *value = (*value - mean) / scale;
            }
        }
    }
}

impl Tasks {
    fn check(&self, k: usize, outputs: usize) -> Result<()> {
        let (matrix, task_dim) = (self.map.matrix(), self.map.task_dim());
        let columns = outputs.saturating_mul(task_dim);
        check_fit(
            "the task map",
            matrix.nrows(),
            "the representation gives",
            k,
        )?;
        check_fit(
            "the task map",
            matrix.ncols(),
            "tasks have features for all outputs, in all",
            columns,
        )?;
        check_fit("the target", self.target.len(), "tasks have", task_dim)?;
        if self.features.dim() > task_dim {
            check_fit(
                "the task features",
                self.features.dim(),
                "the task map takes at most",
                task_dim,
            )?;
        }
        if let Some(space) = &self.space {
            let found = self.features.input_dim();
            check_fit(
                "a task under its features",
                found,
                "tasks of the space have",
                space.dim(),
            )?;
        }
        check_matrix(matrix, "the task map")?;
        check_finite(self.target.iter().copied(), |i| {
            format!("task feature {i} of the target")
        })
    }
}

/// Names are one for each, all different, or none at all.
fn check_names(what: &str, names: &[String], wants: &str, expected: usize) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    check_fit(
        &format!("the list of {what} names"),
        names.len(),
        wants,
        expected,
    )?;
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(Error::Absent(format!(
            "two {what}s are called `{}`: give each a name of its own, or name none",
            pair[0].escape_debug()
        ))),
    }
}

fn check_map(map: &FeatureMap) -> Result<()> {
    match map {
        FeatureMap::Custom(custom) => Err(Error::CustomFeatures {
            name: custom.name().to_owned(),
        }),
        _ => Ok(()),
    }
}

fn check_code(phi: &AnyRepresentation, place: &'static str) -> Result<()> {
    match phi {
        AnyRepresentation::Linear(_) | AnyRepresentation::Mlp(_) => Ok(()),
        _ => Err(Error::CustomRepresentation { place }),
    }
}

fn check_phi(phi: &AnyRepresentation, place: &'static str, d: usize) -> Result<()> {
    check_fit(place, phi.input_dim(), "the feature map gives", d)?;
    if let AnyRepresentation::Linear(linear) = phi {
        check_matrix(linear.matrix(), place)?;
    }
    Ok(())
}

fn check_matrix(matrix: MatRef<'_, f64>, place: &str) -> Result<()> {
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    let entries = (0..rows).flat_map(|i| (0..columns).map(move |j| matrix[(i, j)]));
    check_finite(entries, |at| {
        format!("entry ({}, {}) of {place}", at / columns, at % columns)
    })
}
