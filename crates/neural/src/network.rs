//! Networks that can be trained as a representation.

use std::fmt::Debug;

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor, TensorData, activation};
use faer::{Mat, MatRef};
use rand_distr::{Distribution as _, StandardNormal};
use serde::{Deserialize, Serialize};
use taskscout::model::{Activation, Layer, Mlp, Phi, Representation as _};
use taskscout::rng::Rng;
use taskscout::{Error, Result};

/// Widest layer that can be asked for: beyond it a setting is a mistake, not a network.
const MAX_WIDTH: usize = 65_536;

/// Most weights between hidden layers.
const MAX_WEIGHTS: usize = 100_000_000;

/// A Burn module that takes rows of features to rows of `k` numbers.
pub trait Network: Module + 'static {
    /// `φ` of every row.
    fn forward(&self, features: Tensor<2>) -> Tensor<2>;
}

/// How networks of a kind are made, and what becomes of them once trained.
pub trait Architecture: Debug + Send + Sync + 'static {
    /// The kind of network.
    type Network: Network;

    /// A new network from `inputs` features to `k` numbers; `scales` holds the root mean square of
    /// each feature, which first layers should divide by.
    ///
    /// # Errors
    /// Sizes that cannot be.
    fn init(&self, scales: &[f64], k: usize, rng: &mut Rng) -> Result<Self::Network>;

    /// The trained network as a representation.
    ///
    /// # Errors
    /// Weights that are not finite.
    fn representation(&self, network: &Self::Network) -> Result<Phi>;

    /// A network to go on from, if the representation came from this architecture.
    fn restore(&self, phi: &Phi) -> Option<Self::Network>;
}

/// Whether a network gives as many numbers as it should.
pub(crate) fn check_width<N: Network>(network: &N, inputs: usize, k: usize) -> Result<()> {
    let row = crate::dataset::matrix(vec![0.0; inputs], inputs, &device());
    let [_, found] = network.forward(row).dims();
    if found == k {
        return Ok(());
    }
    Err(Error::WrongLength {
        place: "what the network makes of a row".into(),
        expected: k,
        found,
    })
}

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

/// The network of [`MlpShape`].
#[derive(Module, Debug)]
pub struct Perceptron {
    weights: Vec<Param<Tensor<2>>>,
    biases: Vec<Param<Tensor<1>>>,
    #[module(skip)]
    activation: PerceptronActivation,
}

#[derive(Debug, Clone, Copy)]
struct PerceptronActivation(Activation);

/// Where networks of this crate live: modules of one's own must be made on it to be trained.
#[must_use]
pub fn device() -> Device {
    Device::flex().autodiff()
}

impl Network for Perceptron {
    fn forward(&self, features: Tensor<2>) -> Tensor<2> {
        let mut values = features;
        for (index, weight) in self.weights.iter().enumerate() {
            if index > 0 {
                values = match self.activation.0 {
                    Activation::Tanh => values.tanh(),
                    _ => activation::relu(values),
                };
            }
            values = values.matmul(weight.val());
            if let Some(bias) = self.biases.get(index) {
                values = values + bias.val().unsqueeze();
            }
        }
        values
    }
}

impl Perceptron {
    fn from_layers(layers: &[(Mat<f64>, Option<Vec<f64>>)], activation: Activation) -> Self {
        let device = device();
        let weight = |matrix: &Mat<f64>| {
            let (rows, columns) = matrix.shape();
            let values: Vec<f32> = (0..rows * columns)
                .map(|i| matrix[(i / columns, i % columns)] as f32)
                .collect();
            let tensor = Tensor::<2>::from_data(TensorData::new(values, [rows, columns]), &device);
            Param::from_tensor(tensor.require_grad())
        };
        let bias = |values: &Vec<f64>| {
            let values: Vec<f32> = values.iter().map(|&value| value as f32).collect();
            let length = values.len();
            let tensor = Tensor::<1>::from_data(TensorData::new(values, [length]), &device);
            Param::from_tensor(tensor.require_grad())
        };
        Self {
            weights: layers.iter().map(|(matrix, _)| weight(matrix)).collect(),
            biases: layers
                .iter()
                .filter_map(|(_, b)| b.as_ref())
                .map(bias)
                .collect(),
            activation: PerceptronActivation(activation),
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
        let layers: Vec<(Mat<f64>, Option<Vec<f64>>)> = widths
            .windows(2)
            .enumerate()
            .map(|(index, pair)| {
                let deviation = (gain / pair[0] as f64).sqrt();
                let mut weight = |i: usize, _: usize| -> f64 {
                    let value: f64 = StandardNormal.sample(rng);
                    let scale = if index == 0 { scales[i] } else { 1.0 };
                    deviation * value / scale
                };
                (
                    Mat::from_fn(pair[0], pair[1], &mut weight),
                    self.bias.then(|| vec![0.0; pair[1]]),
                )
            })
            .collect();
        Ok(Perceptron::from_layers(&layers, self.activation))
    }

    fn representation(&self, network: &Perceptron) -> Result<Phi> {
        let mut values = crate::flat::parameters(network)
            .into_iter()
            .map(f64::from)
            .collect::<Vec<_>>();
        let shapes: Vec<[usize; 2]> = network.weights.iter().map(|w| w.val().dims()).collect();
        let mut layers = Vec::new();
        for [rows, columns] in &shapes {
            let rest = values.split_off(rows * columns);
            let weights = MatRef::from_row_major_slice(&values, *rows, *columns).to_owned();
            values = rest;
            layers.push(Layer {
                weights,
                bias: None,
            });
        }
        if self.bias {
            for layer in &mut layers {
                let rest = values.split_off(layer.weights.ncols());
                layer.bias = Some(std::mem::replace(&mut values, rest));
            }
        }
        Ok(Mlp::new(layers, self.activation)?.into())
    }

    fn restore(&self, phi: &Phi) -> Option<Perceptron> {
        let Phi::Mlp(mlp) = phi else {
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
        let layers: Vec<(Mat<f64>, Option<Vec<f64>>)> = mlp
            .layers()
            .iter()
            .map(|layer| (layer.weights.clone(), layer.bias.clone()))
            .collect();
        debug_assert_eq!(mlp.input_dim(), layers[0].0.nrows());
        Some(Perceptron::from_layers(&layers, self.activation))
    }
}
