//! Models as ONNX graphs, for robots without taskscout.
//!
//! The graph is in single precision and holds everything: scaling, the features `ψ_X`, the
//! representation `φ` and the target's head. It takes `x` (`N × inputs`, any `N`) and gives `y`
//! (`N × outputs`), and if asked for `y_std`, the standard deviation of a new observation. Operator
//! set 17 and format 8 are understood by every runtime since 2022.
//!
//! Single precision costs about seven digits, so nothing is subtracted late: inputs are centred first,
//! by a mean in two pieces, and a variance is a sum of squares.

mod features;
mod graph;
mod protobuf;

use std::path::Path;

use taskscout::model::{Activation, Phi, Representation as _};

use self::features::features;
use self::graph::Graph;
use self::protobuf::Message;
use crate::error::{Error, Result};
use crate::model::SavedModel;
use crate::parts::{Parts, Provenance};

const FORMAT: u64 = 8;
const OPERATORS: u64 = 17;
const INPUT: &str = "x";
const OUTPUT: &str = "y";
const STD: &str = "y_std";

impl SavedModel {
    /// The bytes of an ONNX file; `with_std` adds the output `y_std`.
    ///
    /// # Errors
    /// Numbers that single precision cannot hold.
    pub fn to_onnx(&self, with_std: bool) -> Result<Vec<u8>> {
        let parts = self.parts();
        let mut graph = Graph::default();
        let x = scaled_inputs(&mut graph, parts)?;
        let psi = features(&mut graph, &parts.input_features, &x)?;
        let mut built = Built::default();
        let y = mean(&mut graph, parts, &psi, &mut built)?;
        graph.named(OUTPUT, "Identity", &[&y], &[]);
        let mut outputs = vec![(OUTPUT, self.outputs())];
        if with_std {
            let std = standard_deviation(&mut graph, parts, &psi, &mut built)?;
            graph.named(STD, "Identity", &[&std], &[]);
            outputs.push((STD, self.outputs()));
        }
        let graph = graph.finish(&[(INPUT, self.input_dim())], &outputs);
        let operators = Message::default().text(1, "").integer(2, OPERATORS);
        let model = Message::default()
            .integer(1, FORMAT)
            .text(2, "taskscout")
            .text(3, env!("CARGO_PKG_VERSION"))
            .message(7, &graph)
            .message(8, &operators)
            .messages(14, &properties(self.provenance(), parts));
        Ok(model.into_bytes())
    }

    /// Writes an ONNX file, which is replaced in one step.
    ///
    /// # Errors
    /// As [`SavedModel::to_onnx`], and a file that cannot be written.
    pub fn save_onnx(&self, path: impl AsRef<Path>, with_std: bool) -> Result<()> {
        Ok(taskscout_files::write_atomically(
            path,
            &self.to_onnx(with_std)?,
        )?)
    }
}

/// The representation that a graph has computed already, so that it is not computed twice.
#[derive(Debug, Default)]
struct Built<'a>(Option<(&'a Phi, String)>);

impl<'a> Built<'a> {
    fn representation(&mut self, graph: &mut Graph, phi: &'a Phi, psi: &str) -> Result<String> {
        match &self.0 {
            Some((known, name)) if std::ptr::eq(*known, phi) => Ok(name.clone()),
            _ => {
                let name = representation(graph, phi, psi)?;
                self.0 = Some((phi, name.clone()));
                Ok(name)
            }
        }
    }
}

fn scaled_inputs(graph: &mut Graph, parts: &Parts) -> Result<String> {
    let Some(scaling) = &parts.input_scaling else {
        return Ok(INPUT.to_owned());
    };
    standardised(graph, INPUT, "input", &scaling.mean, &scaling.scale)
}

/// `(x − mean) / scale`; `name` is what the constants are called.
fn standardised(
    graph: &mut Graph,
    x: &str,
    name: &str,
    mean: &[f64],
    scale: &[f64],
) -> Result<String> {
    let shape = [mean.len()];
    let mut x = x.to_owned();
    // A mean that is large beside the scale keeps its digits in two pieces: what is left after the
    // first is small, and exact.
    let first: Vec<f64> = mean.iter().map(|&mean| f64::from(mean as f32)).collect();
    let rest: Vec<f64> = mean
        .iter()
        .zip(&first)
        .map(|(mean, first)| mean - first)
        .collect();
    let pieces = if rest.iter().any(|rest| rest.abs() > 0.0) {
        vec![first, rest]
    } else {
        vec![first]
    };
    for piece in pieces {
        let mean = graph.floats(&format!("{name}_mean"), &shape, piece)?;
        x = graph.node("Sub", &[&x, &mean], &[]);
    }
    if let Some(&value) = scale
        .iter()
        .find(|&&scale| (scale as f32) < f32::MIN_POSITIVE)
    {
        return Err(Error::TooLarge {
            place: format!("a value of {name}_scale"),
            value,
        });
    }
    let scale = graph.floats(&format!("{name}_scale"), &shape, scale.iter().copied())?;
    Ok(graph.node("Div", &[&x, &scale], &[]))
}

/// `φ` of the features.
fn representation(graph: &mut Graph, phi: &Phi, psi: &str) -> Result<String> {
    match phi {
        Phi::Linear(linear) => matmul(
            graph,
            psi,
            "representation",
            linear.dim(),
            |i, j| linear.matrix()[(i, j)],
            linear.input_dim(),
        ),
        Phi::Mlp(mlp) => {
            let mut values = psi.to_owned();
            for (index, layer) in mlp.layers().iter().enumerate() {
                if index > 0 {
                    let operator = match mlp.activation() {
                        Activation::Relu => "Relu",
                        Activation::Tanh => "Tanh",
                        _ => return Err(Error::Absent(
                            "this activation cannot be written to ONNX yet: predict with taskscout"
                                .into(),
                        )),
                    };
                    values = graph.node(operator, &[&values], &[]);
                }
                let weights = &layer.weights;
                values = matmul(
                    graph,
                    &values,
                    "weights",
                    weights.ncols(),
                    |i, j| weights[(i, j)],
                    weights.nrows(),
                )?;
                if let Some(bias) = &layer.bias {
                    let bias = graph.floats("bias", &[bias.len()], bias.iter().copied())?;
                    values = graph.node("Add", &[&values, &bias], &[]);
                }
            }
            Ok(values)
        }
        _ => Err(Error::CustomRepresentation {
            place: "the representation",
        }),
    }
}

/// A product with a constant matrix.
fn matmul(
    graph: &mut Graph,
    values: &str,
    name: &str,
    columns: usize,
    entry: impl Fn(usize, usize) -> f64,
    rows: usize,
) -> Result<String> {
    let entry = &entry;
    let entries = (0..rows).flat_map(|i| (0..columns).map(move |j| entry(i, j)));
    let matrix = graph.floats(name, &[rows, columns], entries)?;
    Ok(graph.node("MatMul", &[values, &matrix], &[]))
}

/// What is expected, in raw units.
fn mean<'a>(
    graph: &mut Graph,
    parts: &'a Parts,
    psi: &str,
    built: &mut Built<'a>,
) -> Result<String> {
    let predictor = &parts.predictor;
    let outputs = parts.outputs();
    let linear = |graph: &mut Graph, values: &str, rows: &[Vec<f64>]| {
        let inputs = rows.first().map_or(0, Vec::len);
        matmul(
            graph,
            values,
            "coefficients",
            outputs,
            |i, j| rows[j][i],
            inputs,
        )
    };
    let silent = predictor
        .coefficients
        .iter()
        .flatten()
        .all(|value| value.abs() <= 0.0);
    let mut y = match &predictor.head {
        Some(head) => {
            let phi = built.representation(graph, &head.representation, psi)?;
            let transfer = linear(graph, &phi, &head.coefficients)?;
            if silent {
                transfer
            } else {
                let own = linear(graph, psi, &predictor.coefficients)?;
                graph.node("Add", &[&transfer, &own], &[])
            }
        }
        None => linear(graph, psi, &predictor.coefficients)?,
    };
    if let Some(scaling) = &parts.output_scaling {
        let scale = graph.floats("output_scale", &[outputs], scaling.scale.iter().copied())?;
        let mean = graph.floats("output_mean", &[outputs], scaling.mean.iter().copied())?;
        y = graph.node("Mul", &[&y, &scale], &[]);
        y = graph.node("Add", &[&y, &mean], &[]);
    }
    Ok(y)
}

/// `√(‖Rᵀz‖² + σ²)`, in raw units.
fn standard_deviation<'a>(
    graph: &mut Graph,
    parts: &'a Parts,
    psi: &str,
    built: &mut Built<'a>,
) -> Result<String> {
    let z = match parts.basis() {
        Some(phi) => built.representation(graph, phi, psi)?,
        None => psi.to_owned(),
    };
    let axis = graph.integers("axis", &[1]);
    let mut variances = Vec::with_capacity(parts.outputs());
    for root in &parts.uncertainty.roots {
        let spread = matmul(
            graph,
            &z,
            "covariance_root",
            root.ncols(),
            |i, j| root[(i, j)],
            root.nrows(),
        )?;
        let squares = graph.node("Mul", &[&spread, &spread], &[]);
        variances.push(graph.node("ReduceSum", &[&squares, &axis], &[("keepdims", 1)]));
    }
    let variance = graph.beside(&variances);
    let noise = &parts.uncertainty.noise;
    let noise = graph.floats("noise", &[noise.len()], noise.iter().copied())?;
    let variance = graph.node("Add", &[&variance, &noise], &[]);
    let std = graph.node("Sqrt", &[&variance], &[]);
    let Some(scaling) = &parts.output_scaling else {
        return Ok(std);
    };
    let scale = graph.floats(
        "output_scale",
        &[parts.outputs()],
        scaling.scale.iter().copied(),
    )?;
    Ok(graph.node("Mul", &[&std, &scale], &[]))
}

/// Where the model comes from and what its columns are called, as texts that every runtime can show.
fn properties(provenance: &Provenance, parts: &Parts) -> Vec<Message> {
    let list = |names: &[String]| serde_json::to_string(names).unwrap_or_default();
    let entries = [
        ("taskscout_version", provenance.version.clone()),
        ("study", provenance.study.clone()),
        ("strategy", provenance.strategy.clone()),
        ("oracle", provenance.oracle.clone()),
        ("seed", provenance.seed.to_string()),
        ("target", provenance.target.clone()),
        ("predictor", parts.predictor.kind.to_string()),
        ("reason", provenance.reason.clone()),
        ("rounds", provenance.rounds.to_string()),
        ("source_rows", provenance.source_rows.to_string()),
        ("target_rows", provenance.target_rows.to_string()),
        ("inputs", list(&parts.names.inputs)),
        ("outputs", list(&parts.names.outputs)),
    ];
    entries
        .iter()
        .filter(|(key, names)| !matches!(*key, "inputs" | "outputs") || names != "[]")
        .map(|(key, value)| Message::default().text(1, key).text(2, value))
        .collect()
}
