//! Multilayer perceptrons that learn: forward and backward passes in single precision.
//!
//! All parameters lie in one vector, the weights of every layer (`inputs × outputs`, row by row),
//! then the biases. With `H₀ = X` and `Hₗ = a(Hₗ₋₁ Wₗ + bₗ)`, no activation after the last layer, the
//! derivative `D` of what is above a layer gives `∂Wₗ = Hₗ₋₁ᵀ D` and `∂bₗ = Dᵀ1`, and
//! `(D Wₗᵀ) ∘ a′` is that of the layer below; `a′` is read off `Hₗ₋₁`.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use taskscout::model::{Activation, Layer};

use crate::network::Differentiable;

/// The network of [`MlpShape`](crate::MlpShape).
#[derive(Debug, Clone)]
pub struct Perceptron {
    places: Vec<Place>,
    activation: Activation,
    parameters: Vec<f32>,
}

/// Where the parameters of a layer are.
#[derive(Debug, Clone, Copy)]
struct Place {
    inputs: usize,
    outputs: usize,
    weights: usize,
    bias: Option<usize>,
}

impl Place {
    fn weights<'p>(&self, parameters: &'p [f32]) -> MatRef<'p, f32> {
        let values = &parameters[self.weights..self.weights + self.inputs * self.outputs];
        MatRef::from_row_major_slice(values, self.inputs, self.outputs)
    }

    fn weights_mut<'p>(&self, parameters: &'p mut [f32]) -> MatMut<'p, f32> {
        let values = &mut parameters[self.weights..self.weights + self.inputs * self.outputs];
        MatMut::from_row_major_slice_mut(values, self.inputs, self.outputs)
    }
}

/// What the layers made of some rows.
#[derive(Debug, Default)]
pub struct PerceptronTape {
    /// The values of each hidden layer.
    hidden: Vec<Vec<f32>>,
    /// Derivatives by what went into a hidden layer's activation, and into that of the one below.
    pulls: [Vec<f32>; 2],
}

impl Perceptron {
    /// Layers in double precision, as they are made and kept.
    pub(crate) fn from_layers(layers: &[Layer], activation: Activation) -> Self {
        let mut parameters = Vec::new();
        let mut places = Vec::with_capacity(layers.len());
        for layer in layers {
            let (inputs, outputs) = layer.weights.shape();
            places.push(Place {
                inputs,
                outputs,
                weights: parameters.len(),
                bias: None,
            });
            let entry = |i: usize| layer.weights[(i / outputs, i % outputs)] as f32;
            parameters.extend((0..inputs * outputs).map(entry));
        }
        for (place, layer) in places.iter_mut().zip(layers) {
            if let Some(bias) = &layer.bias {
                place.bias = Some(parameters.len());
                parameters.extend(bias.iter().map(|&value| value as f32));
            }
        }
        Self {
            places,
            activation,
            parameters,
        }
    }

    /// The layers in double precision.
    pub(crate) fn layers(&self) -> Vec<Layer> {
        let layer = |place: &Place| {
            let weights = place.weights(&self.parameters);
            let bias = place.bias.map(|at| {
                let values = &self.parameters[at..at + place.outputs];
                values.iter().map(|&value| f64::from(value)).collect()
            });
            Layer {
                weights: Mat::from_fn(place.inputs, place.outputs, |i, j| {
                    f64::from(weights[(i, j)])
                }),
                bias,
            }
        };
        self.places.iter().map(layer).collect()
    }
}

impl Differentiable for Perceptron {
    type Tape = PerceptronTape;

    fn parameters(&self) -> Vec<f32> {
        self.parameters.clone()
    }

    fn with_parameters(&self, parameters: &[f32]) -> Self {
        Self {
            parameters: parameters.to_vec(),
            ..self.clone()
        }
    }

    fn forward(
        &self,
        parameters: &[f32],
        rows: MatRef<'_, f32>,
        tape: &mut PerceptronTape,
        phi: &mut Vec<f32>,
    ) {
        let n = rows.nrows();
        let hidden = self.places.len().saturating_sub(1);
        tape.hidden.resize_with(hidden, Vec::new);
        for (index, place) in self.places.iter().enumerate() {
            let (below, above) = tape.hidden.split_at_mut(index);
            let input = match below.last() {
                None => rows,
                Some(values) => MatRef::from_row_major_slice(values, n, place.inputs),
            };
            let output = above.first_mut().unwrap_or(phi);
            output.resize(n * place.outputs, 0.0);
            let to = MatMut::from_row_major_slice_mut(output, n, place.outputs);
            let weights = place.weights(parameters);
            matmul(to, Accum::Replace, input, weights, 1.0, Par::Seq);
            if let Some(at) = place.bias {
                let bias = &parameters[at..at + place.outputs];
                for row in output.chunks_exact_mut(place.outputs) {
                    row.iter_mut().zip(bias).for_each(|(to, b)| *to += b);
                }
            }
            if index < hidden {
                activate(self.activation, output);
            }
        }
    }

    fn backward(
        &self,
        parameters: &[f32],
        rows: MatRef<'_, f32>,
        upstream: &[f32],
        tape: &mut PerceptronTape,
        gradient: &mut [f32],
    ) {
        let n = rows.nrows();
        let PerceptronTape { hidden, pulls } = tape;
        let [above, below] = pulls;
        for (index, place) in self.places.iter().enumerate().rev() {
            let from = if index + 1 == self.places.len() {
                upstream
            } else {
                above.as_slice()
            };
            let pull = MatRef::from_row_major_slice(from, n, place.outputs);
            let input = match index.checked_sub(1) {
                None => rows,
                Some(before) => MatRef::from_row_major_slice(&hidden[before], n, place.inputs),
            };
            let to = place.weights_mut(gradient);
            matmul(to, Accum::Add, input.transpose(), pull, 1.0, Par::Seq);
            if let Some(at) = place.bias {
                let sums = &mut gradient[at..at + place.outputs];
                for row in from.chunks_exact(place.outputs) {
                    sums.iter_mut().zip(row).for_each(|(sum, d)| *sum += d);
                }
            }
            let Some(before) = index.checked_sub(1) else {
                return;
            };
            below.resize(n * place.inputs, 0.0);
            let to = MatMut::from_row_major_slice_mut(below, n, place.inputs);
            let weights = place.weights(parameters).transpose();
            matmul(to, Accum::Replace, pull, weights, 1.0, Par::Seq);
            pull_back(self.activation, &hidden[before], below);
            std::mem::swap(above, below);
        }
    }
}

/// The activation of every value. What is not a number stays so, and training notices.
fn activate(activation: Activation, values: &mut [f32]) {
    match activation {
        Activation::Tanh => values.iter_mut().for_each(|value| *value = value.tanh()),
        _ => values
            .iter_mut()
            .for_each(|value| *value = if *value < 0.0 { 0.0 } else { *value }),
    }
}

/// From the derivative by activated values to that by what went into the activation.
fn pull_back(activation: Activation, values: &[f32], pulls: &mut [f32]) {
    let both = pulls.iter_mut().zip(values);
    match activation {
        Activation::Tanh => both.for_each(|(pull, value)| *pull *= 1.0 - value * value),
        _ => both.for_each(|(pull, value)| *pull = if *value > 0.0 { *pull } else { 0.0 }),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use rand_distr::{Distribution as _, StandardNormal};
    use taskscout::model::{Mlp, Representation as _};
    use taskscout::rng::{Purpose, derive};

    use super::*;

    const ROWS: usize = 33;

    fn normal(count: usize, stream: u64) -> Vec<f32> {
        let mut rng = derive(7, Purpose::Weights, &[stream]);
        let mut value = || -> f64 { StandardNormal.sample(&mut rng) };
        (0..count).map(|_| value() as f32).collect()
    }

    /// Networks of every kind, with parameters that are drawn.
    fn networks() -> Vec<Perceptron> {
        let mut out = Vec::new();
        for widths in [&[6, 3][..], &[6, 7, 3], &[6, 9, 5, 1]] {
            for activation in [Activation::Relu, Activation::Tanh] {
                for bias in [false, true] {
                    let layer = |pair: &[usize]| Layer {
                        weights: Mat::zeros(pair[0], pair[1]),
                        bias: bias.then(|| vec![0.0; pair[1]]),
                    };
                    let layers: Vec<Layer> = widths.windows(2).map(layer).collect();
                    let empty = Perceptron::from_layers(&layers, activation);
                    let drawn = normal(empty.parameters.len(), out.len() as u64);
                    out.push(empty.with_parameters(&drawn));
                }
            }
        }
        out
    }

    /// `φ` in double precision.
    fn exact(network: &Perceptron, parameters: &[f64], x: &[f32]) -> Vec<f64> {
        let places = network.places.iter();
        let layers = places.map(|place| Layer {
            weights: Mat::from_fn(place.inputs, place.outputs, |i, j| {
                parameters[place.weights + i * place.outputs + j]
            }),
            bias: place
                .bias
                .map(|at| parameters[at..at + place.outputs].to_vec()),
        });
        let mlp = Mlp::new(layers.collect(), network.activation).unwrap();
        let x = Mat::from_fn(ROWS, 6, |i, j| f64::from(x[i * 6 + j]));
        let phi = mlp.apply(x.as_ref()).unwrap();
        let k = phi.ncols();
        (0..ROWS * k).map(|at| phi[(at / k, at % k)]).collect()
    }

    fn wide(values: &[f32]) -> Vec<f64> {
        values.iter().map(|&value| f64::from(value)).collect()
    }

    #[test]
    fn values_are_those_of_the_network_once_trained() {
        for network in networks() {
            let x = normal(ROWS * 6, 100);
            let rows = MatRef::from_row_major_slice(&x, ROWS, 6);
            let (mut tape, mut phi) = (PerceptronTape::default(), Vec::new());
            network.forward(&network.parameters, rows, &mut tape, &mut phi);
            let truth = exact(&network, &wide(&network.parameters), &x);
            assert_eq!(phi.len(), truth.len());
            for (found, truth) in phi.iter().zip(&truth) {
                let error = (f64::from(*found) - truth).abs();
                assert!(error < 1e-5 * (1.0 + truth.abs()), "{found} {truth}");
            }
        }
    }

    #[test]
    fn gradients_are_those_of_finite_differences() {
        const STEP: f64 = 1e-6;
        for network in networks() {
            let x = normal(ROWS * 6, 101);
            let rows = MatRef::from_row_major_slice(&x, ROWS, 6);
            let (mut tape, mut phi) = (PerceptronTape::default(), Vec::new());
            network.forward(&network.parameters, rows, &mut tape, &mut phi);
            let upstream = normal(phi.len(), 102);
            let mut gradient = vec![0.5; network.parameters.len()];
            let parameters = &network.parameters;
            network.backward(parameters, rows, &upstream, &mut tape, &mut gradient);
            let sum = |theta: &[f64]| -> f64 {
                let phi = exact(&network, theta, &x);
                phi.iter().zip(wide(&upstream)).map(|(a, b)| a * b).sum()
            };
            for (index, &found) in gradient.iter().enumerate() {
                let mut theta = wide(&network.parameters);
                theta[index] += STEP;
                let above = sum(&theta);
                theta[index] -= 2.0 * STEP;
                let slope = (above - sum(&theta)) / (2.0 * STEP);
                // It is added to what was there.
                let error = (f64::from(found) - 0.5 - slope).abs();
                assert!(
                    error < 2e-5 * (1.0 + slope.abs()),
                    "{index}: {found} {slope}"
                );
            }
        }
    }

    #[test]
    fn a_tape_serves_other_rows_afterwards() {
        for network in networks() {
            let x = normal(ROWS * 6, 103);
            let pass = |tape: &mut PerceptronTape, n: usize| {
                let rows = MatRef::from_row_major_slice(&x[..n * 6], n, 6);
                let mut phi = Vec::new();
                network.forward(&network.parameters, rows, tape, &mut phi);
                let mut gradient = vec![0.0; network.parameters.len()];
                network.backward(&network.parameters, rows, &phi, tape, &mut gradient);
                (phi, gradient)
            };
            let mut tape = PerceptronTape::default();
            pass(&mut tape, ROWS);
            let fresh = pass(&mut PerceptronTape::default(), 5);
            assert_eq!(pass(&mut tape, 5), fresh);
        }
    }

    #[test]
    fn what_is_not_a_number_is_not_hidden() {
        for network in networks() {
            let mut x = normal(ROWS * 6, 104);
            x[0] = f32::NAN;
            let rows = MatRef::from_row_major_slice(&x, ROWS, 6);
            let (mut tape, mut phi) = (PerceptronTape::default(), Vec::new());
            network.forward(&network.parameters, rows, &mut tape, &mut phi);
            assert!(phi[0].is_nan(), "{:?}", network.activation);
        }
    }
}
