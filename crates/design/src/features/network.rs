//! A network of layers as features, with its weights known.
//!
//! `ψ(x) = Wₗ tanh(… tanh(W₁ x + b₁) …) + bₗ`. Networks that are learnt together with a task map are
//! representations; this one was learnt before, and stands among the features like any other map.
//!
//! ```
//! use taskscout::features::{NetworkFeatures, NetworkLayer, apply_row};
//! let layer = |weights, bias| NetworkLayer { weights, bias };
//! let map = NetworkFeatures::new(vec![
//!     layer(vec![vec![1.0, 0.0]], vec![0.0]), // one row an output
//!     layer(vec![vec![2.0]], vec![0.5]),
//! ])?;
//! assert_eq!(apply_row(&map, &[0.0, 9.0]), [0.5]);
//! # Ok::<(), taskscout::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use super::{Features, MAX_FEATURES, MAX_INPUTS, check_dim};
use crate::error::{Error, Result};

/// A linear layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkLayer {
    /// One row of weights an output.
    pub weights: Vec<Vec<f64>>,
    /// One number an output.
    pub bias: Vec<f64>,
}

/// Layers with `tanh` between them, none after the last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct NetworkFeatures {
    layers: Vec<NetworkLayer>,
}

impl NetworkFeatures {
    /// Takes layers that fit each other.
    ///
    /// # Errors
    /// No layer, layers that do not fit, or numbers that are not finite.
    pub fn new(layers: Vec<NetworkLayer>) -> Result<Self> {
        let Some(first) = layers.first() else {
            return Err(Error::setting("layers", "is empty: give at least one"));
        };
        let mut width = first.weights.first().map_or(0, Vec::len);
        check_dim("inputs", width, MAX_INPUTS)?;
        for (at, layer) in layers.iter().enumerate() {
            check_dim(&format!("layer {at}"), layer.bias.len(), MAX_FEATURES)?;
            Error::check_length(
                &format!("`weights` of layer {at}"),
                layer.bias.len(),
                layer.weights.len(),
            )?;
            Error::check_finite(&layer.bias, |i| format!("bias {i} of layer {at}"))?;
            for row in &layer.weights {
                Error::check_length(&format!("a row of layer {at}"), width, row.len())?;
                Error::check_finite(row, |i| format!("weight {i} of layer {at}"))?;
            }
            width = layer.bias.len();
        }
        Ok(Self { layers })
    }

    /// The layers, first to last.
    #[must_use]
    pub fn layers(&self) -> &[NetworkLayer] {
        &self.layers
    }

    /// The same function with the last inputs fixed: they move into the bias of the first layer.
    ///
    /// # Errors
    /// As many values as inputs, or more.
    pub fn with_last_inputs(&self, values: &[f64]) -> Result<Self> {
        let inputs = self.input_dim().saturating_sub(values.len());
        let mut layers = self.layers.clone();
        if let Some(first) = layers.first_mut() {
            for (row, bias) in first.weights.iter_mut().zip(&mut first.bias) {
                let fixed = row.split_off(inputs);
                *bias += fixed.iter().zip(values).map(|(w, x)| w * x).sum::<f64>();
            }
        }
        Self::new(layers)
    }
}

impl Features for NetworkFeatures {
    fn input_dim(&self) -> usize {
        self.layers[0].weights[0].len()
    }

    fn dim(&self) -> usize {
        self.layers[self.layers.len() - 1].bias.len()
    }

    fn apply(&self, rows: &[f64], out: &mut [f64]) {
        let (p, d, last) = (self.input_dim(), self.dim(), self.layers.len() - 1);
        let (mut values, mut next) = (Vec::new(), Vec::new());
        for (row, out) in rows.chunks_exact(p).zip(out.chunks_exact_mut(d)) {
            values.clear();
            values.extend_from_slice(row);
            for (at, layer) in self.layers.iter().enumerate() {
                next.clear();
                next.extend(layer.weights.iter().zip(&layer.bias).map(|(row, bias)| {
                    let sum = row.iter().zip(&values).map(|(w, x)| w * x).sum::<f64>() + bias;
                    if at < last { sum.tanh() } else { sum }
                }));
                std::mem::swap(&mut values, &mut next);
            }
            out.copy_from_slice(&values);
        }
    }
}

/// Layers as a file has them, not checked yet.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    layers: Vec<NetworkLayer>,
}

impl TryFrom<Raw> for NetworkFeatures {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        Self::new(raw.layers)
    }
}

impl From<NetworkFeatures> for Raw {
    fn from(map: NetworkFeatures) -> Self {
        Self { layers: map.layers }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::features::apply_row;

    fn network() -> NetworkFeatures {
        let hidden = NetworkLayer {
            weights: vec![vec![0.5, -1.0, 0.25], vec![0.1, 0.2, -0.7]],
            bias: vec![0.1, -0.2],
        };
        let last = NetworkLayer {
            weights: vec![vec![2.0, -3.0]],
            bias: vec![0.75],
        };
        NetworkFeatures::new(vec![hidden, last]).unwrap()
    }

    #[test]
    fn values_are_those_of_the_formula() {
        let h = [
            (0.5_f64 * 1.0 - 2.0 + 0.25 * 3.0 + 0.1).tanh(),
            (0.1_f64 * 1.0 + 0.2 * 2.0 - 0.7 * 3.0 - 0.2).tanh(),
        ];
        let found = apply_row(&network(), &[1.0, 2.0, 3.0])[0];
        assert!((found - (2.0 * h[0] - 3.0 * h[1] + 0.75)).abs() < 1e-12);
    }

    #[test]
    fn fixed_inputs_change_nothing() {
        let fixed = network().with_last_inputs(&[2.0, 3.0]).unwrap();
        let all = apply_row(&network(), &[-1.0, 2.0, 3.0])[0];
        assert!((apply_row(&fixed, &[-1.0])[0] - all).abs() < 1e-12);
        assert!(network().with_last_inputs(&[0.0; 3]).is_err());
    }

    #[test]
    fn layers_that_do_not_fit_are_refused() {
        let text = serde_json::to_string(&network()).unwrap();
        assert_eq!(
            serde_json::from_str::<NetworkFeatures>(&text).unwrap(),
            network()
        );
        for (from, to) in [("[2.0,-3.0]", "[2.0]"), ("[0.1,-0.2]", "[0.1]")] {
            let wrong = text.replace(from, to);
            assert_ne!(wrong, text);
            assert!(serde_json::from_str::<NetworkFeatures>(&wrong).is_err());
        }
    }
}
