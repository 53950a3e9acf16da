//! Models as ONNX graphs, for robots without taskscout.
//!
//! The graph is in single precision and holds everything: scaling, the features `ψ_X`, the
//! representation `φ` and the target's head. It takes `x` (`N × inputs`, any `N`) and gives `y`
//! (`N × outputs`), and if asked for `y_std`, the standard deviation of a new observation. Operator
//! set 17 and format 8 are understood by every runtime since 2022.
//!
//! Single precision costs about seven digits, so nothing is subtracted late: inputs are centred first,
//! by a mean in two pieces, an output's offset is added last in the same way, and a variance is a sum of
//! squares. An input or output that is far from zero beside its spread has no digits left in single
//! precision, whatever the graph does: [`SavedModel::single_precision_warnings`] names such columns, and
//! [`OnnxOptions::double`] makes a graph that takes and gives doubles and centres in them.

mod features;
mod graph;
mod learnt;
mod precision;
mod protobuf;
mod scaling;

use std::path::Path;

use taskscout::model::{Activation, AnyRepresentation, Representation as _};

use self::features::features;
use self::graph::{Graph, Precision};
use self::protobuf::Message;
use self::scaling::{centred_inputs, raw_outputs};
use crate::error::{Error, Result};
use crate::model::SavedModel;
use crate::parts::{Parts, Provenance};

const FORMAT: u64 = 8;
const OPERATORS: u64 = 17;
const INPUT: &str = "x";
const OUTPUT: &str = "y";
const STD: &str = "y_std";

/// What a graph is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OnnxOptions {
    /// The output `y_std`.
    pub with_std: bool,
    /// `x`, `y` and `y_std` in double precision, and the scaling too; what lies between stays single.
    pub double: bool,
}

impl SavedModel {
    /// The bytes of an ONNX file; `with_std` adds the output `y_std`.
    ///
    /// # Errors
    /// Numbers that single precision cannot hold.
    pub fn to_onnx(&self, with_std: bool) -> Result<Vec<u8>> {
        self.to_onnx_with(OnnxOptions {
            with_std,
            double: false,
        })
    }

    /// The bytes of an ONNX file.
    ///
    /// # Errors
    /// Numbers that single precision cannot hold.
    pub fn to_onnx_with(&self, options: OnnxOptions) -> Result<Vec<u8>> {
        let parts = self.parts();
        let precision = match options.double {
            true => Precision::Double,
            false => Precision::Single,
        };
        let mut graph = Graph::default();
        let (x, map) = centred_inputs(&mut graph, parts, INPUT, precision)?;
        let psi = features(&mut graph, map, &x)?;
        let mut built = Built::default();
        let y = mean(&mut graph, parts, &psi, &mut built)?;
        let y = raw_outputs(&mut graph, parts, &y, true, precision)?;
        graph.named(OUTPUT, "Identity", &[&y], &[]);
        let mut outputs = vec![(OUTPUT, self.outputs())];
        if options.with_std {
            let std = standard_deviation(&mut graph, parts, &psi, &mut built)?;
            let std = raw_outputs(&mut graph, parts, &std, false, precision)?;
            graph.named(STD, "Identity", &[&std], &[]);
            outputs.push((STD, self.outputs()));
        }
        let graph = graph.finish(&[(INPUT, self.input_dim())], &outputs, precision);
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

    /// Writes an ONNX file, which is replaced in one step; `with_std` adds the output `y_std`.
    ///
    /// # Errors
    /// As [`SavedModel::to_onnx`], and a file that cannot be written.
    pub fn save_onnx(&self, path: impl AsRef<Path>, with_std: bool) -> Result<()> {
        let options = OnnxOptions {
            with_std,
            double: false,
        };
        self.save_onnx_with(path, options)
    }

    /// Writes an ONNX file, which is replaced in one step.
    ///
    /// # Errors
    /// As [`SavedModel::to_onnx_with`], and a file that cannot be written.
    pub fn save_onnx_with(&self, path: impl AsRef<Path>, options: OnnxOptions) -> Result<()> {
        let bytes = self.to_onnx_with(options)?;
        Ok(taskscout_io::files::write_atomically(path, &bytes)?)
    }
}

/// The representation that a graph has computed already, so that it is not computed twice.
#[derive(Debug, Default)]
struct Built<'a>(Option<(&'a AnyRepresentation, String)>);

impl<'a> Built<'a> {
    fn representation(
        &mut self,
        graph: &mut Graph,
        phi: &'a AnyRepresentation,
        psi: &str,
    ) -> Result<String> {
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

/// `φ` of the features.
fn representation(graph: &mut Graph, phi: &AnyRepresentation, psi: &str) -> Result<String> {
    match phi {
        AnyRepresentation::Linear(linear) => matmul(
            graph,
            psi,
            "representation",
            linear.dim(),
            |i, j| linear.matrix()[(i, j)],
            linear.input_dim(),
        ),
        AnyRepresentation::Mlp(mlp) => {
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

/// What is expected, in the units that were trained on.
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
    match &predictor.head {
        Some(head) => {
            let phi = built.representation(graph, &head.representation, psi)?;
            let transfer = linear(graph, &phi, &head.coefficients)?;
            if silent {
                return Ok(transfer);
            }
            let own = linear(graph, psi, &predictor.coefficients)?;
            Ok(graph.node("Add", &[&transfer, &own], &[]))
        }
        None => linear(graph, psi, &predictor.coefficients),
    }
}

/// `√(‖Rᵀz‖² + σ²)`, in the units that were trained on.
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
    Ok(graph.node("Sqrt", &[&variance], &[]))
}

/// Where the model comes from and what its columns are called, as texts that every runtime can show.
fn properties(provenance: &Provenance, parts: &Parts) -> Vec<Message> {
    let list = |names: &[String]| serde_json::to_string(names).unwrap_or_default();
    let expressions = parts.names.expressions.as_ref();
    let expressions = expressions.map_or(&[][..], |found| &found.inputs);
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
        ("expressions", list(expressions)),
    ];
    entries
        .iter()
        .filter(|(key, names)| {
            !matches!(*key, "inputs" | "outputs" | "expressions") || names != "[]"
        })
        .map(|(key, value)| Message::default().text(1, key).text(2, value))
        .collect()
}
