//! Any trained Burn module as a representation.

use std::sync::{Mutex, PoisonError};

use faer::{Mat, MatRef};
use taskscout::model::Representation;
use taskscout::{Error, Result};

use crate::module::{Network, device, matrix, values};

/// A trained module of the user's own, frozen.
///
/// Architectures other than perceptrons return it, wrapped by
/// [`AnyRepresentation::custom`](taskscout::model::AnyRepresentation::custom), from
/// [`Architecture::representation`](crate::Architecture::representation).
#[derive(Debug)]
pub struct Trained<N> {
    /// Modules may be moved between threads, but not shared.
    network: Mutex<N>,
    inputs: usize,
    k: usize,
}

impl<N: Network> Trained<N> {
    /// Freezes a module that takes `inputs` features to `k` numbers.
    pub fn new(network: &N, inputs: usize, k: usize) -> Self {
        Self {
            network: Mutex::new(network.clone().valid()),
            inputs,
            k,
        }
    }
}

impl<N: Network> Representation for Trained<N> {
    fn input_dim(&self) -> usize {
        self.inputs
    }

    fn dim(&self) -> usize {
        self.k
    }

    fn apply(&self, features: MatRef<'_, f64>) -> Result<Mat<f64>> {
        check("a feature row", self.inputs, features.ncols())?;
        let n = features.nrows();
        let rows = Mat::from_fn(n, self.inputs, |i, j| features[(i, j)] as f32);
        let network = self
            .network
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let device = device().inner();
        let made = Network::forward(&network, matrix(rows.as_ref(), &device));
        let values = values(made.inner());
        check("the network's values", n * self.k, values.len())?;
        Ok(Mat::from_fn(n, self.k, |i, j| {
            f64::from(values[i * self.k + j])
        }))
    }
}

fn check(place: &str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::WrongLength {
        place: place.into(),
        expected,
        found,
    })
}
