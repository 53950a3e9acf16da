//! A network's parameters as one vector, and back.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Gradients, Tensor, TensorData};

/// All parameters, one after the other.
pub(crate) fn parameters<M: Module>(network: &M) -> Vec<f32> {
    struct Reader(Vec<f32>);
    impl ModuleVisitor for Reader {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            extend(&mut self.0, param.val().inner());
        }
    }
    let mut reader = Reader(Vec::new());
    network.visit(&mut reader);
    reader.0
}

/// The same network with other parameters, ready for gradients.
pub(crate) fn with_parameters<M: Module>(network: M, values: &[f32]) -> M {
    struct Writer<'a> {
        values: &'a [f32],
    }
    impl ModuleMapper for Writer<'_> {
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
    network.map(&mut Writer { values })
}

/// The gradient of all parameters, in the order of [`parameters`]; zero where there is none.
pub(crate) fn gradient<M: Module>(network: &M, gradients: &mut Gradients) -> Vec<f32> {
    struct Reader<'a> {
        gradients: &'a mut Gradients,
        out: Vec<f32>,
    }
    impl ModuleVisitor for Reader<'_> {
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
    let mut reader = Reader {
        gradients,
        out: Vec::new(),
    };
    network.visit(&mut reader);
    reader.out
}

/// A tensor's values.
pub(crate) fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    let count = tensor.shape().num_elements();
    tensor
        .into_data()
        .try_into_vec::<f32>()
        .unwrap_or_else(|_| vec![f32::NAN; count])
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
