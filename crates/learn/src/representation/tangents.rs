//! Tangents of a perceptron: how its outputs move with its weights.

use faer::{Mat, MatRef};

use super::{Layer, Mlp};
use crate::error::Result;
use crate::linalg;

impl Mlp {
    /// How many numbers the layers have, all and without the last.
    pub(crate) fn weight_counts(&self) -> (usize, usize) {
        let of = |layer: &Layer| {
            layer.weights.nrows() * layer.weights.ncols() + layer.bias.as_ref().map_or(0, Vec::len)
        };
        let all: usize = self.layers().iter().map(of).sum();
        (all, all - self.layers().last().map_or(0, of))
    }

    /// `[∂φ_1/∂θ, …, ∂φ_k/∂θ, φ]`, a row for each input.
    pub(crate) fn tangents(&self, inputs: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let k = self.layers().last().map_or(0, |last| last.weights.ncols());
        let (weights, _) = self.weight_counts();
        let values = self.layer_inputs(inputs)?;
        let mut out = Mat::zeros(inputs.nrows(), k * (weights + 1));
        for row in 0..inputs.nrows() {
            for a in 0..k {
                let mut at = (a + 1) * weights;
                let mut slope: Vec<f64> = (0..k).map(|b| f64::from(u8::from(a == b))).collect();
                for (layer, value) in self.layers().iter().zip(&values).rev() {
                    at -= layer.weights.nrows() * slope.len()
                        + layer.bias.as_ref().map_or(0, Vec::len);
                    let mut place = at;
                    for i in 0..layer.weights.nrows() {
                        for one in &slope {
                            out[(row, place)] = value[(row, i)] * one;
                            place += 1;
                        }
                    }
                    if layer.bias.is_some() {
                        for one in &slope {
                            out[(row, place)] = *one;
                            place += 1;
                        }
                    }
                    let back = linalg::apply(layer.weights.as_ref(), &slope);
                    let values = back.iter().enumerate();
                    slope = values
                        .map(|(i, one)| one * self.activation().slope_at(value[(row, i)]))
                        .collect();
                }
            }
        }
        let last = self.layers().last().zip(values.last());
        if let Some((layer, value)) = last {
            let phi = linalg::product(value.as_ref(), layer.weights.as_ref());
            let mut place = out.as_mut().subcols_mut(k * weights, k);
            place.copy_from(&phi);
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::representation::{Activation, Representation as _};
    use crate::rng::{Purpose, derive, normal};

    fn network(activation: Activation) -> Mlp {
        let mut rng = derive(5, Purpose::World, &[]);
        let mut layer = |rows: usize, columns: usize, bias: bool| Layer {
            weights: Mat::from_fn(rows, columns, |_, _| normal(&mut rng)),
            bias: bias.then(|| vec![0.1; columns]),
        };
        let layers = vec![layer(3, 4, true), layer(4, 5, false), layer(5, 2, false)];
        Mlp::new(layers, activation).unwrap()
    }

    /// The same network with one weight moved.
    fn moved(network: &Mlp, mut index: usize, by: f64) -> Mlp {
        let mut layers = network.layers().to_vec();
        for layer in &mut layers {
            let (rows, columns) = (layer.weights.nrows(), layer.weights.ncols());
            if index < rows * columns {
                layer.weights[(index / columns, index % columns)] += by;
                break;
            }
            index -= rows * columns;
            if let Some(bias) = &mut layer.bias {
                if index < bias.len() {
                    bias[index] += by;
                    break;
                }
                index -= bias.len();
            }
        }
        Mlp::new(layers, network.activation()).unwrap()
    }

    /// Tangents are what differences of the network say.
    #[test]
    fn tangents_are_derivatives() {
        for activation in [Activation::Relu, Activation::Tanh] {
            let network = network(activation);
            let mut rng = derive(6, Purpose::World, &[]);
            let inputs = Mat::from_fn(7, 3, |_, _| normal(&mut rng));
            let tangents = network.tangents(inputs.as_ref()).unwrap();
            let (weights, before_last) = network.weight_counts();
            assert_eq!((weights, before_last), (12 + 4 + 20 + 10, 36));
            let value = network.apply(inputs.as_ref()).unwrap();
            for index in 0..weights {
                let step = 1e-6;
                let up = moved(&network, index, step).apply(inputs.as_ref()).unwrap();
                let down = moved(&network, index, -step)
                    .apply(inputs.as_ref())
                    .unwrap();
                for row in 0..7 {
                    for a in 0..2 {
                        let slope = (up[(row, a)] - down[(row, a)]) / (2.0 * step);
                        let ours = tangents[(row, a * weights + index)];
                        assert!((slope - ours).abs() < 1e-6, "{index} {row} {a}");
                        let last = tangents[(row, 2 * weights + a)];
                        assert!((last - value[(row, a)]).abs() < 1e-12);
                    }
                }
            }
        }
    }
}
