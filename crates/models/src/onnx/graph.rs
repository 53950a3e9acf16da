//! A graph under construction: constants, and nodes in the order in which they are computed.

use super::protobuf::Message;
use crate::error::{Error, Result};

/// `TensorProto.DataType`.
const FLOAT: u64 = 1;
const INT64: u64 = 7;
const DOUBLE: u64 = 11;

/// How numbers are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Precision {
    Single,
    Double,
}

impl Precision {
    fn data_type(self) -> u64 {
        match self {
            Self::Single => FLOAT,
            Self::Double => DOUBLE,
        }
    }
}

/// What a node is told beside its inputs: a whole number under a name.
pub(super) type Attribute<'a> = (&'a str, u64);

/// Nodes and constants; both are known by the name of the value they give.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
    values: usize,
}

impl Graph {
    /// A constant in single precision, row-major.
    pub(super) fn floats(
        &mut self,
        name: &str,
        shape: &[usize],
        values: impl IntoIterator<Item = f64>,
    ) -> Result<String> {
        let mut bytes = Vec::new();
        for value in values {
            let single = value as f32;
            if !single.is_finite() {
                return Err(Error::TooLarge {
                    place: format!("a value of {name}"),
                    value,
                });
            }
            bytes.extend(single.to_le_bytes());
        }
        Ok(self.constant(name, shape, FLOAT, &bytes))
    }

    /// A constant vector in double precision.
    pub(super) fn doubles(&mut self, name: &str, values: &[f64]) -> String {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.constant(name, &[values.len()], DOUBLE, &bytes)
    }

    /// The same values in another precision.
    pub(super) fn cast(&mut self, values: &str, to: Precision) -> String {
        self.node("Cast", &[values], &[("to", to.data_type())])
    }

    /// The same values as whole numbers.
    pub(super) fn whole(&mut self, values: &str) -> String {
        self.node("Cast", &[values], &[("to", INT64)])
    }

    /// A constant vector of whole numbers.
    pub(super) fn integers(&mut self, name: &str, values: &[usize]) -> String {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|&value| (value as u64).to_le_bytes())
            .collect();
        self.constant(name, &[values.len()], INT64, &bytes)
    }

    fn constant(&mut self, name: &str, shape: &[usize], kind: u64, bytes: &[u8]) -> String {
        let name = self.fresh(name);
        let tensor = shape.iter().fold(Message::default(), |tensor, &size| {
            tensor.integer(1, size as u64)
        });
        self.constants
            .push(tensor.integer(2, kind).text(8, &name).bytes(9, bytes));
        name
    }

    /// A node with one output, whose name is returned.
    pub(super) fn node(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attributes: &[Attribute<'_>],
    ) -> String {
        let output = self.fresh(&operator.to_lowercase());
        self.named(&output, operator, inputs, attributes);
        output
    }

    /// A node whose output has a given name.
    pub(super) fn named(
        &mut self,
        output: &str,
        operator: &str,
        inputs: &[&str],
        attributes: &[Attribute<'_>],
    ) {
        /// `AttributeProto.AttributeType`.
        const INT: u64 = 2;
        let mut node = Message::default();
        for input in inputs {
            node = node.text(1, input);
        }
        node = node.text(2, output).text(3, output).text(4, operator);
        for &(name, value) in attributes {
            let attribute = Message::default()
                .text(1, name)
                .integer(3, value)
                .integer(20, INT);
            node = node.message(5, &attribute);
        }
        self.nodes.push(node);
    }

    /// The columns of a matrix that stand at some indices.
    pub(super) fn columns(&mut self, matrix: &str, indices: &[usize]) -> String {
        let indices = self.integers("columns", indices);
        self.node("Gather", &[matrix, &indices], &[("axis", 1)])
    }

    /// Matrices side by side; a single one as it is.
    pub(super) fn beside(&mut self, matrices: &[String]) -> String {
        match matrices {
            [one] => one.clone(),
            _ => {
                let inputs: Vec<&str> = matrices.iter().map(String::as_str).collect();
                self.node("Concat", &inputs, &[("axis", 1)])
            }
        }
    }

    fn fresh(&mut self, name: &str) -> String {
        self.values += 1;
        format!("{name}_{}", self.values)
    }

    /// The finished `GraphProto`, with matrices in and out: each a name and its columns; rows are
    /// as many as the caller has.
    pub(super) fn finish(
        self,
        inputs: &[(&str, usize)],
        outputs: &[(&str, usize)],
        precision: Precision,
    ) -> Message {
        let all = |list: &[(&str, usize)]| -> Vec<Message> {
            list.iter()
                .map(|(name, columns)| matrix(name, *columns, precision))
                .collect()
        };
        Message::default()
            .messages(1, &self.nodes)
            .text(2, "taskscout")
            .messages(5, &self.constants)
            .messages(11, &all(inputs))
            .messages(12, &all(outputs))
    }
}

/// A `ValueInfoProto` of a matrix of `N` rows.
fn matrix(name: &str, columns: usize, precision: Precision) -> Message {
    let rows = Message::default().text(2, "N");
    let columns = Message::default().integer(1, columns as u64);
    let shape = Message::default().message(1, &rows).message(1, &columns);
    let tensor = Message::default()
        .integer(1, precision.data_type())
        .message(2, &shape);
    let kind = Message::default().message(1, &tensor);
    Message::default().text(1, name).message(2, &kind)
}
