//! Multilayer perceptrons, as they are used once trained.

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use super::{Representation, same};
use crate::error::{Error, Result};
use crate::linalg;

/// The function between two layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Activation {
    /// `max(0, x)`.
    #[default]
    Relu,
    /// `tanh x`.
    Tanh,
}

impl Activation {
    /// Applies it to one number.
    #[must_use]
    pub fn apply(self, value: f64) -> f64 {
        match self {
            Self::Relu => value.max(0.0),
            Self::Tanh => value.tanh(),
        }
    }

    /// Its derivative where its value is `value`.
    pub(crate) fn slope_at(self, value: f64) -> f64 {
        match self {
            Self::Relu if value > 0.0 => 1.0,
            Self::Relu => 0.0,
            Self::Tanh => 1.0 - value * value,
        }
    }
}

/// One linear layer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layer {
    /// `inputs × outputs`.
    #[serde(with = "linalg::serde_mat")]
    pub weights: Mat<f64>,
    /// One number an output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<Vec<f64>>,
}

impl Layer {
    /// What it makes of the layer before, a row for each input.
    fn apply(&self, before: MatRef<'_, f64>) -> Mat<f64> {
        let mut values = linalg::product(before, self.weights.as_ref());
        if let Some(bias) = &self.bias {
            for (column, bias) in values.col_iter_mut().zip(bias) {
                column.iter_mut().for_each(|value| *value += bias);
            }
        }
        values
    }
}

impl PartialEq for Layer {
    fn eq(&self, other: &Self) -> bool {
        same(self.weights.as_ref(), other.weights.as_ref()) && self.bias == other.bias
    }
}

/// A multilayer perceptron: linear layers with an activation between them, none after the last.
///
/// ```
/// use faer::mat;
/// use taskscout::model::{Activation, Layer, Mlp, Representation};
/// let layers = vec![
///     Layer { weights: mat![[1.0, -1.0]], bias: None },
///     Layer { weights: mat![[1.0], [1.0]], bias: Some(vec![0.5]) },
/// ];
/// let mlp = Mlp::new(layers, Activation::Relu)?; // |x| + 0.5
/// let out = mlp.apply(mat![[-2.0], [3.0]].as_ref())?;
/// assert_eq!((out[(0, 0)], out[(1, 0)]), (2.5, 3.5));
/// # Ok::<(), taskscout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw")]
pub struct Mlp {
    layers: Vec<Layer>,
    activation: Activation,
}

/// A perceptron as a file has it, not checked yet.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    layers: Vec<Layer>,
    activation: Activation,
}

impl TryFrom<Raw> for Mlp {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        Self::new(raw.layers, raw.activation)
    }
}

impl Mlp {
    /// What stands before the last layer, and the last layer's weights; none where there is only one layer.
    pub(crate) fn before_last(&self) -> Result<Option<(Self, MatRef<'_, f64>)>> {
        let Some((last, before)) = self
            .layers
            .split_last()
            .filter(|(_, rest)| !rest.is_empty())
        else {
            return Ok(None);
        };
        let width = last.weights.nrows();
        // A layer that changes nothing, so that the activation stands before it.
        let same = Layer {
            weights: Mat::identity(width, width),
            bias: None,
        };
        let layers = before.iter().cloned().chain([same]).collect();
        Ok(Some((
            Self::new(layers, self.activation)?,
            last.weights.as_ref(),
        )))
    }

    /// The same network with other weights of the last layer and without its bias; none where there is only one layer.
    pub(crate) fn with_last(&self, weights: MatRef<'_, f64>) -> Result<Option<Self>> {
        let mut layers = self.layers.clone();
        match layers.last_mut() {
            Some(last) if self.layers.len() > 1 => {
                last.weights = weights.to_owned();
                last.bias = None;
            }
            _ => return Ok(None),
        }
        Self::new(layers, self.activation).map(Some)
    }

    /// What each layer gets: the features, then what the activation makes of the layer before.
    pub(crate) fn layer_inputs(&self, features: MatRef<'_, f64>) -> Result<Vec<Mat<f64>>> {
        Error::check_length("a feature row", self.input_dim(), features.ncols())?;
        let mut all = vec![features.to_owned()];
        for layer in self.layers.iter().take(self.layers.len().saturating_sub(1)) {
            let before = all.last().map_or(features, |values| values.as_ref());
            let mut values = layer.apply(before);
            for column in values.col_iter_mut() {
                column
                    .iter_mut()
                    .for_each(|value| *value = self.activation.apply(*value));
            }
            all.push(values);
        }
        Ok(all)
    }

    /// Takes layers that fit each other.
    ///
    /// # Errors
    /// No layer, layers that do not fit, or weights that are not finite.
    pub fn new(layers: Vec<Layer>, activation: Activation) -> Result<Self> {
        if layers.is_empty() {
            return Err(Error::setting(
                "layers",
                "is empty: a network needs at least one",
            ));
        }
        for (index, layer) in layers.iter().enumerate() {
            let place = format!("layer {index}");
            if layer.weights.nrows() == 0 || layer.weights.ncols() == 0 {
                return Err(Error::setting(&place, "has a size of 0: give at least 1"));
            }
            if !linalg::is_finite(layer.weights.as_ref()) {
                return Err(Error::NotFinite {
                    place: format!("a weight of {place}"),
                    value: f64::NAN,
                });
            }
            if let Some(bias) = &layer.bias {
                Error::check_length(
                    &format!("the bias of {place}"),
                    layer.weights.ncols(),
                    bias.len(),
                )?;
                Error::check_finite(bias, |i| format!("bias {i} of {place}"))?;
            }
            if index > 0 {
                let before = layers[index - 1].weights.ncols();
                Error::check_length(
                    &format!("the inputs of {place}"),
                    before,
                    layer.weights.nrows(),
                )?;
            }
        }
        Ok(Self { layers, activation })
    }

    /// The layers, first to last.
    #[must_use]
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The function between layers.
    #[must_use]
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// The same network followed by the linear map `matrixᵀ`.
    pub(super) fn then(&self, matrix: MatRef<'_, f64>) -> Self {
        let mut layers = self.layers.clone();
        if let Some(last) = layers.last_mut() {
            last.weights = linalg::product(last.weights.as_ref(), matrix);
            last.bias = last
                .bias
                .take()
                .map(|bias| linalg::apply(matrix.transpose(), &bias));
        }
        Self {
            layers,
            activation: self.activation,
        }
    }
}

impl Representation for Mlp {
    fn input_dim(&self) -> usize {
        self.layers.first().map_or(0, |layer| layer.weights.nrows())
    }

    fn dim(&self) -> usize {
        self.layers.last().map_or(0, |layer| layer.weights.ncols())
    }

    fn apply(&self, features: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let mut values = self.layer_inputs(features)?;
        let before = values.pop().zip(self.layers.last());
        Ok(before.map_or_else(Mat::new, |(values, last)| last.apply(values.as_ref())))
    }
}
