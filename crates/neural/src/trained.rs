//! Any trained Burn module as a representation.

use std::sync::{Mutex, PoisonError};

use faer::{Mat, MatRef};
use taskscout::model::Representation;
use taskscout::{Error, Result};

use crate::dataset::matrix;
use crate::flat;
use crate::network::{Network, device};

/// A trained module of the user's own, frozen.
///
/// Architectures other than perceptrons return it, wrapped by
/// [`Phi::custom`](taskscout::model::Phi::custom), from
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
        let rows = (0..n * self.inputs)
            .map(|i| features[(i / self.inputs, i % self.inputs)] as f32)
            .collect();
        let network = self
            .network
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let device = device().inner();
        let values = flat::values(network.forward(matrix(rows, self.inputs, &device)).inner());
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
