//! What a network must be able to do to be trained as a representation.

use std::fmt::Debug;

use faer::{Mat, MatRef};
use taskscout::model::AnyRepresentation;
use taskscout::rng::Rng;
use taskscout::{Error, Result};

/// A function of rows whose parameters lie in one vector, with its derivative.
///
/// [`Perceptron`](crate::Perceptron) is one; with the feature `burn`, so is every Burn module that
/// has a forward pass. Parameters are handed to each pass, so that optimisers move the one vector
/// that the passes read, and all threads read the same.
pub trait Differentiable: Debug + Clone + Send + Sync + 'static {
    /// What a forward pass leaves for the backward pass. The next rows are passed with the same
    /// tape, so that nothing is allocated twice.
    type Tape: Default + Send;

    /// All parameters, one after the other.
    fn parameters(&self) -> Vec<f32>;

    /// The same network with other parameters.
    #[must_use]
    fn with_parameters(&self, parameters: &[f32]) -> Self;

    /// Writes `φ` of every row, one after the other; rows lie row by row in memory.
    fn forward(
        &self,
        parameters: &[f32],
        rows: MatRef<'_, f32>,
        tape: &mut Self::Tape,
        phi: &mut Vec<f32>,
    );

    /// Adds the derivative of `Σ upstream · φ` by the parameters to a gradient, for the rows of the
    /// last forward pass on the tape.
    fn backward(
        &self,
        parameters: &[f32],
        rows: MatRef<'_, f32>,
        upstream: &[f32],
        tape: &mut Self::Tape,
        gradient: &mut [f32],
    );
}

/// How networks of a kind are made, and what becomes of them once trained.
pub trait Architecture: Debug + Send + Sync + 'static {
    /// The kind of network.
    type Network: Differentiable;

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
    fn representation(&self, network: &Self::Network) -> Result<AnyRepresentation>;

    /// A network to go on from, if the representation came from this architecture.
    fn restore(&self, phi: &AnyRepresentation) -> Option<Self::Network>;
}

/// Whether a network gives as many numbers as it should.
pub(crate) fn check_width<N: Differentiable>(network: &N, inputs: usize, k: usize) -> Result<()> {
    let row = Mat::<f32>::zeros(1, inputs);
    let (mut tape, mut phi) = (N::Tape::default(), Vec::new());
    network.forward(&network.parameters(), row.as_ref(), &mut tape, &mut phi);
    let found = phi.len();
    if found == k {
        return Ok(());
    }
    Err(Error::WrongLength {
        place: "what the network makes of a row".into(),
        expected: k,
        found,
    })
}
