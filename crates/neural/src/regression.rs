//! Plain regression by a network: rows to outputs, no tasks.

use faer::Mat;
use taskscout::features::{NetworkFeatures, NetworkLayer};
use taskscout::model::{Activation, Layer};
use taskscout::rng::{Purpose, derive};
use taskscout::{Error, Result};

use crate::dataset::Dataset;
use crate::descent::{Descender, JointParameters};
use crate::network::{Architecture as _, Differentiable as _};
use crate::optimiser::{Decay, Optimiser};
use crate::settings::DescentSettings;
use crate::shape::MlpShape;

/// Steps of descent that few rows get, too: so many epochs over few of them would end far from the optimum.
const LEAST_STEPS: usize = 600;

/// A network that is fitted to rows by mini-batch descent.
///
/// ```
/// use taskscout::features::apply_row;
/// use taskscout_neural::NetworkRegression;
/// let x: Vec<f64> = (0..300).map(|i| (f64::from(i) * 0.7).sin() * 2.0).collect();
/// let y: Vec<f64> = x.iter().map(|x| x * x - 1.0).collect();
/// let bowl = NetworkRegression::default().fit((&x, 1), (&y, 1), 7)?;
/// assert!((apply_row(&bowl, &[0.0])[0] + 1.0).abs() < 0.3);
/// # Ok::<(), taskscout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkRegression {
    /// Widths of the hidden layers, with `tanh` behind each.
    pub hidden: Vec<usize>,
    /// How it descends; over few rows for as many epochs more as 600 steps take.
    pub descent: DescentSettings,
}

impl Default for NetworkRegression {
    fn default() -> Self {
        Self {
            hidden: vec![32, 32],
            descent: DescentSettings {
                optimiser: Optimiser::AdamW,
                learning_rate: 0.005,
                weight_decay: 0.05,
                batch: 128,
                epochs: 40,
                decay: Decay::Cosine,
                clip: Some(1.0),
                ..DescentSettings::default()
            },
        }
    }
}

impl NetworkRegression {
    /// Fits rows of inputs, row-major with their width, to rows of outputs; both should be standardised.
    ///
    /// # Errors
    /// Settings out of range, no rows, rows that do not fit each other, values that are not finite, or a descent that diverges.
    pub fn fit(
        &self,
        (x, inputs): (&[f64], usize),
        (y, outputs): (&[f64], usize),
        seed: u64,
    ) -> Result<NetworkFeatures> {
        self.descent.validate()?;
        if y.is_empty() || inputs == 0 || outputs == 0 {
            return Err(Error::State("a network needs rows to learn from".into()));
        }
        let rows = y.len() / outputs;
        Error::check_length("the inputs", rows * inputs, x.len())?;
        Error::check_finite(x, |at| {
            format!("row {}, input {}", at / inputs, at % inputs)
        })?;
        Error::check_finite(y, |at| format!("the label of row {}", at / outputs))?;
        let single = |values: &[f64]| values.iter().map(|&value| value as f32).collect();
        let data = Dataset {
            inputs,
            outputs,
            x: single(x),
            y: single(y),
            task: vec![0; rows],
            features: Mat::from_fn(1, 1, |_, _| 1.0),
        };
        let shape = MlpShape {
            hidden: self.hidden.clone(),
            activation: Activation::Tanh,
            bias: true,
        };
        let mut rng = derive(seed, Purpose::Weights, &[0]);
        let network = shape.init(&vec![1.0; inputs], outputs, &mut rng)?;
        // One task, whose map starts as the identity: what the network gives is what is predicted.
        let identity = |at: usize| f32::from(u8::from(at / outputs == at % outputs));
        let start = JointParameters {
            network: network.parameters(),
            map: (0..outputs * outputs).map(identity).collect(),
        };
        let per_epoch = rows.div_ceil(self.descent.batch.max(1));
        let descent = DescentSettings {
            epochs: self.descent.epochs.max(LEAST_STEPS.div_ceil(per_epoch)),
            ..self.descent.clone()
        };
        let run = Descender::new(&data, &network, outputs).run(start, &descent, (seed, 0))?;
        let trained = network.with_parameters(&run.joint.network).layers();
        NetworkFeatures::new(plain(&trained, &run.joint.map))
    }
}

/// Layers as features have them, the last one followed by the map of the task.
fn plain(trained: &[Layer], map: &[f32]) -> Vec<NetworkLayer> {
    let count = trained.len();
    let layers = trained.iter().enumerate().map(|(at, layer)| {
        let bias = layer.bias.clone();
        let bias = bias.unwrap_or_else(|| vec![0.0; layer.weights.ncols()]);
        let column = |j: usize| {
            (0..layer.weights.nrows())
                .map(|i| layer.weights[(i, j)])
                .collect()
        };
        let plain = NetworkLayer {
            weights: (0..bias.len()).map(column).collect(),
            bias,
        };
        match at + 1 == count {
            true => mapped(&plain, map),
            false => plain,
        }
    });
    layers.collect()
}

/// A layer followed by a square map, one row an output.
fn mapped(layer: &NetworkLayer, map: &[f32]) -> NetworkLayer {
    let outputs = layer.bias.len();
    let inputs = layer.weights.first().map_or(0, Vec::len);
    let mixed = |output: usize, value: &dyn Fn(usize) -> f64| -> f64 {
        let row = &map[output * outputs..(output + 1) * outputs];
        row.iter()
            .enumerate()
            .map(|(at, &m)| f64::from(m) * value(at))
            .sum()
    };
    NetworkLayer {
        weights: (0..outputs)
            .map(|output| {
                let weight = |i: usize| mixed(output, &|at| layer.weights[at][i]);
                (0..inputs).map(weight).collect()
            })
            .collect(),
        bias: (0..outputs)
            .map(|output| mixed(output, &|at| layer.bias[at]))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use taskscout::features::Features as _;
    use taskscout::rng::normal;

    use super::*;

    /// Two inputs, two outputs of which the second is a product.
    fn rows(n: usize) -> (Vec<f64>, Vec<f64>) {
        let mut rng = derive(3, Purpose::Test, &[n as u64]);
        let x: Vec<f64> = (0..2 * n).map(|_| normal(&mut rng)).collect();
        let y = x.chunks(2).flat_map(|x| [x[0] - 0.5 * x[1], x[0] * x[1]]);
        let y = y.collect();
        (x, y)
    }

    #[test]
    fn outputs_and_their_products_are_learnt() {
        let (x, y) = rows(2000);
        let network = NetworkRegression::default()
            .fit((&x, 2), (&y, 2), 1)
            .unwrap();
        assert_eq!((network.input_dim(), network.dim()), (2, 2));
        let (x, y) = rows(500);
        let mut found = vec![0.0; 1000];
        network.apply(&x, &mut found);
        let error = found
            .iter()
            .zip(&y)
            .map(|(a, b)| (a - b).powi(2))
            .sum::<f64>()
            / 1000.0;
        assert!(error < 0.05, "{error}");
    }

    #[test]
    fn rows_that_do_not_fit_are_refused() {
        let fit = |x: &[f64], y: &[f64]| NetworkRegression::default().fit((x, 2), (y, 1), 0);
        assert!(fit(&[1.0; 4], &[1.0; 2]).is_ok());
        assert!(fit(&[1.0; 3], &[1.0; 2]).is_err());
        assert!(fit(&[], &[]).is_err());
        assert!(fit(&[1.0, f64::NAN], &[1.0]).is_err());
    }
}
