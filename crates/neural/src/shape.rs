//! Shapes of multilayer perceptrons, and how perceptrons are made from them.

use faer::Mat;
use rand_distr::{Distribution as _, StandardNormal};
use serde::{Deserialize, Serialize};
use taskscout::model::{Activation, AnyRepresentation, Layer, Mlp, Representation as _};
use taskscout::rng::Rng;
use taskscout::{Error, Result};

use crate::network::Architecture;
use crate::perceptron::Perceptron;

/// Widest layer that can be asked for: beyond it a setting is a mistake, not a network.
const MAX_WIDTH: usize = 65_536;

/// Most weights between hidden layers.
const MAX_WEIGHTS: usize = 100_000_000;

/// Multilayer perceptrons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MlpShape {
    /// Widths of the hidden layers, first to last; none makes a linear representation.
    pub hidden: Vec<usize>,
    /// The function between layers.
    pub activation: Activation,
    /// Whether layers have a bias.
    pub bias: bool,
}

impl Default for MlpShape {
    fn default() -> Self {
        Self {
            hidden: vec![32, 32],
            activation: Activation::Relu,
            bias: true,
        }
    }
}

impl MlpShape {
    /// Checks the widths.
    ///
    /// # Errors
    /// A width of 0 or beyond reason.
    pub fn validate(&self) -> Result<()> {
        let bad = |width: &&usize| **width == 0 || **width > MAX_WIDTH;
        match self.hidden.iter().find(bad) {
            Some(width) => Err(Error::setting(
                "hidden",
                format!("has a layer of size {width}: give 1 to {MAX_WIDTH}"),
            )),
            None if self
                .hidden
                .windows(2)
                .map(|pair| pair[0] * pair[1])
                .sum::<usize>()
                > MAX_WEIGHTS =>
            {
                Err(Error::setting(
                    "hidden",
                    format!("asks for more than {MAX_WEIGHTS} weights: give smaller layers"),
                ))
            }
            None => Ok(()),
        }
    }
}

impl Architecture for MlpShape {
    type Network = Perceptron;

    /// Weights of variance `2 / inputs` (ReLU) or `1 / inputs`, biases of zero.
    fn init(&self, scales: &[f64], k: usize, rng: &mut Rng) -> Result<Perceptron> {
        self.validate()?;
        let mut widths = vec![scales.len()];
        widths.extend(&self.hidden);
        widths.push(k);
        let gain = match self.activation {
            Activation::Tanh => 1.0,
            _ => 2.0,
        };
        let layers: Vec<Layer> = widths
            .windows(2)
            .enumerate()
            .map(|(index, pair)| {
                let deviation = (gain / pair[0] as f64).sqrt();
                let mut weight = |i: usize, _: usize| -> f64 {
                    let value: f64 = StandardNormal.sample(rng);
                    let scale = if index == 0 { scales[i] } else { 1.0 };
                    deviation * value / scale
                };
                Layer {
                    weights: Mat::from_fn(pair[0], pair[1], &mut weight),
                    bias: self.bias.then(|| vec![0.0; pair[1]]),
                }
            })
            .collect();
        Ok(Perceptron::from_layers(&layers, self.activation))
    }

    fn representation(&self, network: &Perceptron) -> Result<AnyRepresentation> {
        Ok(Mlp::new(network.layers(), self.activation)?.into())
    }

    fn restore(&self, phi: &AnyRepresentation) -> Option<Perceptron> {
        let AnyRepresentation::Mlp(mlp) = phi else {
            return None;
        };
        let widths: Vec<usize> = mlp.layers()[..mlp.layers().len() - 1]
            .iter()
            .map(|layer| layer.weights.ncols())
            .collect();
        let biased = mlp
            .layers()
            .iter()
            .all(|layer| layer.bias.is_some() == self.bias);
        if widths != self.hidden || mlp.activation() != self.activation || !biased {
            return None;
        }
        debug_assert_eq!(mlp.input_dim(), mlp.layers()[0].weights.nrows());
        Some(Perceptron::from_layers(mlp.layers(), self.activation))
    }
}
