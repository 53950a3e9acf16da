//! The description inside a file: everything about a model that is no block of numbers.

use faer::Mat;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use taskscout::model::{Activation, AnyRepresentation, Layer, Linear, Mlp, TaskEmbeddingMap};
use taskscout::space::Space;
use taskscout::train::{Predictor, PredictorKind, TargetHead};

use super::maps::{read_map, write_map};
use super::tensors::{Reader, Writer, wrong};
use crate::error::{Error, Result};
use crate::parts::{Affine, Basis, Names, Parts, Provenance, Tasks, Uncertainty};

const COEFFICIENTS: &str = "coefficients";
const HEAD: &str = "head.coefficients";
const HEAD_PHI: &str = "head.representation";
const PHI: &str = "representation";
const NOISE: &str = "noise";
const FEATURES: &str = "features";
const TASK_FEATURES: &str = "tasks.features";
const TASK_MAP: &str = "tasks.map";
const TASK_TARGET: &str = "tasks.target";

/// The description as JSON has it. Feature maps stay as they are until the tensors they belong to
/// have confirmed their size: a damaged number must not ask for a gigabyte.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    input_features: Value,
    outputs: usize,
    predictor: PredictorText,
    representation: Option<PhiText>,
    uncertainty: Basis,
    scaled_inputs: bool,
    scaled_outputs: bool,
    tasks: Option<TasksText>,
    provenance: Provenance,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PredictorText {
    kind: PredictorKind,
    held_out: Option<f64>,
    head: Option<HeadText>,
}

/// Which representation a head stands on.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum HeadText {
    /// The shared one.
    Shared,
    /// One of its own.
    Own(PhiText),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
enum PhiText {
    Linear,
    Mlp {
        layers: usize,
        activation: Activation,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TasksText {
    features: Value,
    task_dim: usize,
    space: Option<Space>,
}

impl Document {
    /// Describes a model and hands its numbers to the writer.
    pub(super) fn describe(parts: &Parts, writer: &mut Writer) -> Result<Self> {
        let Parts {
            input_features,
            representation,
            predictor,
            uncertainty,
            tasks,
            ..
        } = parts;
        writer.rows(COEFFICIENTS, &predictor.coefficients);
        let head = match &predictor.head {
            None => None,
            Some(head) => {
                writer.rows(HEAD, &head.coefficients);
                Some(if Some(&head.representation) == representation.as_ref() {
                    HeadText::Shared
                } else {
                    HeadText::Own(write_phi(&head.representation, HEAD_PHI, writer)?)
                })
            }
        };
        writer.vector(NOISE, &uncertainty.noise);
        for (output, root) in uncertainty.roots.iter().enumerate() {
            writer.matrix(covariance_root(output), root.as_ref());
        }
        for (name, scaling) in [
            ("input", &parts.input_scaling),
            ("output", &parts.output_scaling),
        ] {
            if let Some(scaling) = scaling {
                writer.vector(format!("{name}.mean"), &scaling.mean);
                writer.vector(format!("{name}.scale"), &scaling.scale);
            }
        }
        Ok(Self {
            input_features: write_map(input_features, FEATURES, writer)?,
            outputs: parts.outputs(),
            predictor: PredictorText {
                kind: predictor.kind,
                held_out: predictor.held_out_error,
                head,
            },
            representation: match representation {
                Some(phi) => Some(write_phi(phi, PHI, writer)?),
                None => None,
            },
            uncertainty: uncertainty.basis,
            scaled_inputs: parts.input_scaling.is_some(),
            scaled_outputs: parts.output_scaling.is_some(),
            tasks: match tasks {
                Some(tasks) => Some(write_tasks(tasks, writer)?),
                None => None,
            },
            provenance: parts.provenance.clone(),
        })
    }

    /// Puts a model together, without names; whether its parts fit each other is for the caller to
    /// check.
    pub(super) fn read(value: Value, reader: &Reader<'_>) -> Result<Parts> {
        let text: Self = serde_json::from_value(value).map_err(Error::description)?;
        let coefficients = reader.rows(COEFFICIENTS)?;
        if coefficients.len() != text.outputs {
            let shape = [coefficients.len(), coefficients.first().map_or(0, Vec::len)];
            let expected = format!("one row for each of {} outputs", text.outputs);
            return Err(wrong(COEFFICIENTS, &shape, &expected));
        }
        let representation = match &text.representation {
            Some(phi) => Some(read_phi(phi, PHI, reader)?),
            None => None,
        };
        let head = match &text.predictor.head {
            None => None,
            Some(head) => Some(read_head(head, representation.as_ref(), reader)?),
        };
        // As many roots as there are coefficients, not as the description claims.
        let roots = (0..coefficients.len())
            .map(|output| reader.matrix(&covariance_root(output)))
            .collect::<Result<_>>()?;
        Ok(Parts {
            input_features: read_map(text.input_features, FEATURES, reader)?,
            representation,
            predictor: Predictor {
                kind: text.predictor.kind,
                coefficients,
                head,
                held_out_error: text.predictor.held_out,
            },
            uncertainty: Uncertainty {
                basis: text.uncertainty,
                noise: reader.vector(NOISE)?,
                roots,
            },
            input_scaling: read_scaling(text.scaled_inputs, "input", reader)?,
            output_scaling: read_scaling(text.scaled_outputs, "output", reader)?,
            tasks: match text.tasks {
                Some(tasks) => Some(read_tasks(tasks, reader)?),
                None => None,
            },
            provenance: text.provenance,
            names: Names::default(),
        })
    }
}

fn covariance_root(output: usize) -> String {
    format!("covariance_root.{output}")
}

fn write_phi(phi: &AnyRepresentation, prefix: &str, writer: &mut Writer) -> Result<PhiText> {
    match phi {
        AnyRepresentation::Linear(linear) => {
            writer.matrix(format!("{prefix}.matrix"), linear.matrix());
            Ok(PhiText::Linear)
        }
        AnyRepresentation::Mlp(mlp) => {
            for (index, layer) in mlp.layers().iter().enumerate() {
                writer.matrix(format!("{prefix}.{index}.weights"), layer.weights.as_ref());
                if let Some(bias) = &layer.bias {
                    writer.vector(format!("{prefix}.{index}.bias"), bias);
                }
            }
            Ok(PhiText::Mlp {
                layers: mlp.layers().len(),
                activation: mlp.activation(),
            })
        }
        _ => Err(Error::CustomRepresentation {
            place: "the representation",
        }),
    }
}

fn read_phi(text: &PhiText, prefix: &str, reader: &Reader<'_>) -> Result<AnyRepresentation> {
    match text {
        PhiText::Linear => {
            let matrix: Mat<f64> = reader.matrix(&format!("{prefix}.matrix"))?;
            Ok(AnyRepresentation::Linear(Linear::from_matrix(matrix)?))
        }
        PhiText::Mlp { layers, activation } => {
            // No list of a claimed length: the first tensor that is missing ends it.
            let layers = (0..*layers).map(|index| {
                let bias = format!("{prefix}.{index}.bias");
                Ok(Layer {
                    weights: reader.matrix(&format!("{prefix}.{index}.weights"))?,
                    bias: match reader.has(&bias) {
                        true => Some(reader.vector(&bias)?),
                        false => None,
                    },
                })
            });
            let layers = layers.collect::<Result<_>>()?;
            Ok(AnyRepresentation::Mlp(Mlp::new(layers, *activation)?))
        }
    }
}

fn read_head(
    text: &HeadText,
    shared: Option<&AnyRepresentation>,
    reader: &Reader<'_>,
) -> Result<TargetHead> {
    Ok(TargetHead {
        representation: match text {
            HeadText::Own(phi) => read_phi(phi, HEAD_PHI, reader)?,
            HeadText::Shared => shared.cloned().ok_or_else(|| {
                Error::description("its head stands on a representation that is not there")
            })?,
        },
        coefficients: reader.rows(HEAD)?,
    })
}

fn read_scaling(wanted: bool, name: &str, reader: &Reader<'_>) -> Result<Option<Affine>> {
    if !wanted {
        return Ok(None);
    }
    Ok(Some(Affine {
        mean: reader.vector(&format!("{name}.mean"))?,
        scale: reader.vector(&format!("{name}.scale"))?,
    }))
}

fn write_tasks(tasks: &Tasks, writer: &mut Writer) -> Result<TasksText> {
    writer.matrix(TASK_MAP, tasks.map.matrix());
    writer.vector(TASK_TARGET, &tasks.target);
    Ok(TasksText {
        features: write_map(&tasks.features, TASK_FEATURES, writer)?,
        task_dim: tasks.map.task_dim(),
        space: tasks.space.clone(),
    })
}

fn read_tasks(text: TasksText, reader: &Reader<'_>) -> Result<Tasks> {
    Ok(Tasks {
        features: read_map(text.features, TASK_FEATURES, reader)?,
        map: TaskEmbeddingMap::new(reader.matrix(TASK_MAP)?, text.task_dim),
        target: reader.vector(TASK_TARGET)?,
        space: text.space,
    })
}
