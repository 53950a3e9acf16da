//! Burn modules of one's own (feature `burn`): anything with a forward pass can be trained.
//!
//! Burn derives the backward pass. A module is made anew with the parameters of each pass, which
//! costs a copy; [`Perceptron`](crate::Perceptron) does without.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use faer::MatRef;

use crate::network::Differentiable;

/// A Burn module that takes rows of features to rows of `k` numbers.
pub trait Network: Module + Sync + 'static {
    /// `φ` of every row.
    fn forward(&self, features: Tensor<2>) -> Tensor<2>;
}

/// Where modules live: those of one's own must be made on it to be trained.
#[must_use]
pub fn device() -> Device {
    Device::flex().autodiff()
}

/// The module of the last forward pass, and what it made of the rows.
#[derive(Debug)]
pub struct ModuleTape<N> {
    last: Option<(N, Tensor<2>)>,
}

impl<N> Default for ModuleTape<N> {
    fn default() -> Self {
        Self { last: None }
    }
}

impl<N: Network> Differentiable for N {
    type Tape = ModuleTape<N>;

    fn parameters(&self) -> Vec<f32> {
        parameters(self)
    }

    fn with_parameters(&self, values: &[f32]) -> Self {
        self.clone().map(&mut ParameterWriter { values })
    }

    fn forward(
        &self,
        parameters: &[f32],
        rows: MatRef<'_, f32>,
        tape: &mut ModuleTape<N>,
        phi: &mut Vec<f32>,
    ) {
        let module = self.with_parameters(parameters);
        let made = Network::forward(&module, matrix(rows, &device()));
        *phi = values(made.clone().inner());
        tape.last = Some((module, made));
    }

    fn backward(
        &self,
        _parameters: &[f32],
        rows: MatRef<'_, f32>,
        upstream: &[f32],
        tape: &mut ModuleTape<N>,
        gradient: &mut [f32],
    ) {
        let Some((module, made)) = tape.last.take() else {
            return;
        };
        let n = rows.nrows();
        let upstream = MatRef::from_row_major_slice(upstream, n, upstream.len() / n.max(1));
        let total = (made * matrix(upstream, &device())).sum();
        let found = derivative(&module, &mut total.backward());
        gradient.iter_mut().zip(found).for_each(|(to, g)| *to += g);
    }
}

/// A tensor of rows.
pub(crate) fn matrix(rows: MatRef<'_, f32>, device: &Device) -> Tensor<2> {
    let (n, columns) = rows.shape();
    let values = (0..n * columns).map(|i| rows[(i / columns, i % columns)]);
    let data = TensorData::new(values.collect::<Vec<f32>>(), [n, columns]);
    Tensor::from_data(data, device)
}

/// A tensor's values.
pub(crate) fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    let mut out = Vec::new();
    extend(&mut out, tensor);
    out
}

fn parameters<M: Module>(network: &M) -> Vec<f32> {
    struct ParameterReader(Vec<f32>);
    impl ModuleVisitor for ParameterReader {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            extend(&mut self.0, param.val().inner());
        }
    }
    let mut reader = ParameterReader(Vec::new());
    network.visit(&mut reader);
    reader.0
}

/// Gives a module other parameters, ready for gradients.
struct ParameterWriter<'a> {
    values: &'a [f32],
}

impl ModuleMapper for ParameterWriter<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let shape = param.val().shape();
        let (mine, rest) = self
            .values
            .split_at(shape.num_elements().min(self.values.len()));
        self.values = rest;
        let device = param.val().device();
        let tensor = Tensor::from_data(TensorData::new(mine.to_vec(), shape), &device);
        Param::initialized(param.id, tensor.require_grad())
    }
}

/// The gradient of all parameters, in the order of [`parameters`]; zero where there is none.
fn derivative<M: Module>(network: &M, gradients: &mut Gradients) -> Vec<f32> {
    struct ParameterReader<'a> {
        gradients: &'a mut Gradients,
        out: Vec<f32>,
    }
    impl ModuleVisitor for ParameterReader<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            match param.val().grad_remove(self.gradients) {
                Some(gradient) => extend(&mut self.out, gradient),
                None => {
                    let length = self.out.len() + param.val().shape().num_elements();
                    self.out.resize(length, 0.0);
                }
            }
        }
    }
    let mut reader = ParameterReader {
        gradients,
        out: Vec::new(),
    };
    network.visit(&mut reader);
    reader.out
}

/// Appends a tensor's values; a tensor that cannot be read counts as not a number, which training
/// notices.
fn extend<const D: usize>(out: &mut Vec<f32>, tensor: Tensor<D>) {
    let count = tensor.shape().num_elements();
    match tensor.into_data().try_into_vec::<f32>() {
        Ok(values) => out.extend(values),
        Err(_) => out.resize(out.len() + count, f32::NAN),
    }
}
