//! Shared representations `φ`: a matrix, a network, or the user's own.

mod any;
mod linear;
mod mlp;
mod stack;
mod tangents;

pub use any::{AnyRepresentation, CustomRepresentation};
pub use linear::Linear;
pub use mlp::{Activation, Layer, Mlp};
pub(crate) use stack::Stack;

use faer::MatRef;

pub use crate::data::Representation;

/// Whether two matrices are the same; faer's own comparison panics where only the numbers of columns differ.
fn same(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> bool {
    a.ncols() == b.ncols() && a == b
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use faer::Mat;

    use super::*;

    #[test]
    fn representations_of_different_widths_are_different() {
        let linear = |k: usize| {
            AnyRepresentation::Linear(Linear::new(Mat::identity(3, k).as_ref()).unwrap())
        };
        let network = |width: usize| {
            let layer = |inputs, outputs| Layer {
                weights: Mat::from_fn(inputs, outputs, |i, j| (i + j) as f64),
                bias: None,
            };
            let layers = vec![layer(3, width), layer(width, 1)];
            AnyRepresentation::Mlp(Mlp::new(layers, Activation::Relu).unwrap())
        };
        assert!(linear(1) == linear(1) && linear(1) != linear(2));
        assert!(network(4) == network(4) && network(4) != network(8));
    }
}
