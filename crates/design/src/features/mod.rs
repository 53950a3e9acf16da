//! Known feature maps: `ψ_X` for inputs, `ψ_W` for task parameters.
//!
//! A map takes rows of length [`Features::input_dim`] to rows of length [`Features::dim`]. The
//! same maps serve inputs and tasks. [`FeatureMap`] lists those that come with the crate and can
//! be written to a file; anything else implements [`Features`].
//!
//! | map | features of a row `x` |
//! |---|---|
//! | [`Identity`] | `x` |
//! | [`Fourier`] | `cos(A x + b)`, `A` and `b` random |
//! | [`Polynomial`] | all monomials up to a degree |
//! | [`Monomials`] | a hand-picked list of monomials |
//! | [`OneHotPolynomial`] | one-hot part ⊗ polynomial of the rest |
//! | [`Standardised`] | those of another map at `(x − mean) / scale` |
//! | [`Stacked`] | those of several maps, side by side |
//! | [`Trees`] | the sum of oblivious trees |
//! | [`NetworkFeatures`] | what a network with known weights gives |
//! | [`Custom`] | whatever a user's own map gives |
//!
//! A map that exists is valid: constructors and deserialisation check the same things.
//!
//! ```
//! use taskscout::features::{FeatureMap, apply_row};
//! let map = FeatureMap::polynomial(2, 2, true)?;
//! assert_eq!(apply_row(&map, &[2.0, 3.0]), [1.0, 2.0, 3.0, 4.0, 6.0, 9.0]);
//! # Ok::<(), taskscout::Error>(())
//! ```

mod cosine;
mod custom;
mod fourier;
mod identity;
mod monomial;
mod network;
mod one_hot;
mod polynomial;
mod stacked;
mod standardised;
mod trees;

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use custom::Custom;
pub use fourier::Fourier;
pub use identity::Identity;
pub use monomial::Monomials;
pub use network::{NetworkFeatures, NetworkLayer};
pub use one_hot::OneHotPolynomial;
pub use polynomial::Polynomial;
pub use stacked::Stacked;
pub use standardised::Standardised;
pub use trees::{Split, Tree, Trees};

use crate::error::{Error, Result};

/// A known map from raw rows to feature rows.
pub trait Features: std::fmt::Debug + Send + Sync {
    /// Length of a raw row.
    fn input_dim(&self) -> usize;

    /// Length of a feature row.
    fn dim(&self) -> usize;

    /// Writes the features of `rows` (row-major, `n × input_dim`) into `out` (row-major,
    /// `n × dim`); `out` has exactly that length and every entry is overwritten.
    fn apply(&self, rows: &[f64], out: &mut [f64]);

    /// Whether the features are the row itself, which opens closed forms.
    fn is_identity(&self) -> bool {
        false
    }

    /// Groups of features that are alike in size and kind, so that a learner may give each its
    /// own penalty: ranges that are not empty and follow each other from 0 to [`Features::dim`].
    fn groups(&self) -> Vec<Range<usize>> {
        one_group(self.dim())
    }
}

/// The features of one row.
#[must_use]
pub fn apply_row(features: &dyn Features, row: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; features.dim()];
    features.apply(row, &mut out);
    out
}

/// The feature maps that can be written to a file and read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FeatureMap {
    /// The row itself.
    Identity(Identity),
    /// Random cosines, `cos(A x + b)`.
    Fourier(Fourier),
    /// All monomials up to a degree.
    Polynomial(Polynomial),
    /// A hand-picked list of monomials.
    Monomials(Monomials),
    /// A one-hot part ⊗ a polynomial of the other parameters.
    OneHotPolynomial(OneHotPolynomial),
    /// Another map of rows that are centred and scaled first.
    Standardised(Standardised),
    /// Several maps side by side.
    Stacked(Stacked),
    /// The sum of oblivious trees.
    Trees(Trees),
    /// A network with known weights.
    Network(NetworkFeatures),
    /// A user's own map, known to a file by its name only.
    Custom(Custom),
}

impl FeatureMap {
    /// The row itself, of `dim` values.
    pub fn identity(dim: usize) -> Result<Self> {
        Identity::new(dim).map(Self::Identity)
    }

    /// Random cosines; see [`Fourier::new`].
    pub fn fourier(input_dim: usize, dim: usize, scale: f64, seed: u64) -> Result<Self> {
        Fourier::new(input_dim, dim, scale, seed).map(Self::Fourier)
    }

    /// All monomials up to a degree; see [`Polynomial::new`].
    pub fn polynomial(input_dim: usize, degree: u32, constant: bool) -> Result<Self> {
        Polynomial::new(input_dim, degree, constant).map(Self::Polynomial)
    }

    /// A hand-picked list of monomials; see [`Monomials::new`].
    pub fn monomials(input_dim: usize, exponents: Vec<Vec<u32>>) -> Result<Self> {
        Monomials::new(input_dim, exponents).map(Self::Monomials)
    }

    /// A one-hot part ⊗ a polynomial; see [`OneHotPolynomial::new`].
    pub fn one_hot_polynomial(
        categories: usize,
        parameters: usize,
        degree: u32,
        constant: bool,
    ) -> Result<Self> {
        OneHotPolynomial::new(categories, parameters, degree, constant).map(Self::OneHotPolynomial)
    }

    /// A map of rows that are centred and scaled first; see [`Standardised::new`], and
    /// [`Standardised::of_rows`] for mean and scale from data.
    pub fn standardised(mean: Vec<f64>, scale: Vec<f64>, inner: Self) -> Result<Self> {
        Standardised::new(mean, scale, inner).map(Self::Standardised)
    }

    /// Several maps side by side; see [`Stacked::new`].
    pub fn stacked(parts: Vec<Self>) -> Result<Self> {
        Stacked::new(parts).map(Self::Stacked)
    }

    /// A user's own map under a name; see [`Custom::new`].
    pub fn custom(name: impl Into<String>, map: Arc<dyn Features>) -> Result<Self> {
        Custom::new(name, map).map(Self::Custom)
    }

    /// Says which user's map must be attached before this one can be used, or that none must.
    pub fn check_ready(&self) -> Result<()> {
        match self {
            Self::Custom(custom) => custom.check_ready(),
            _ => Ok(()),
        }
    }

    /// Attaches the user's map that a file knows by name only; its dimensions must be those that
    /// were saved.
    pub fn attach(&mut self, map: Arc<dyn Features>) -> Result<()> {
        match self {
            Self::Custom(custom) => custom.attach(map),
            _ => Err(Error::State(
                "only a custom feature map takes an attached one: this map is complete as it is"
                    .to_owned(),
            )),
        }
    }

    fn inner(&self) -> &dyn Features {
        match self {
            Self::Identity(map) => map,
            Self::Fourier(map) => map,
            Self::Polynomial(map) => map,
            Self::Monomials(map) => map,
            Self::OneHotPolynomial(map) => map,
            Self::Standardised(map) => map,
            Self::Stacked(map) => map,
            Self::Trees(map) => map,
            Self::Network(map) => map,
            Self::Custom(map) => map,
        }
    }
}

impl Features for FeatureMap {
    fn input_dim(&self) -> usize {
        self.inner().input_dim()
    }

    fn dim(&self) -> usize {
        self.inner().dim()
    }

    fn apply(&self, rows: &[f64], out: &mut [f64]) {
        self.inner().apply(rows, out);
    }

    fn is_identity(&self) -> bool {
        self.inner().is_identity()
    }

    fn groups(&self) -> Vec<Range<usize>> {
        self.inner().groups()
    }
}

/// Most features a map may have: beyond it a setting is a mistake, not a model.
const MAX_FEATURES: usize = 100_000;

/// Most values a raw row may have.
const MAX_INPUTS: usize = 1_000_000;

/// Checks a dimension that came from a user.
fn check_dim(key: &str, dim: usize, max: usize) -> Result<()> {
    if (1..=max).contains(&dim) {
        return Ok(());
    }
    Err(Error::setting(
        key,
        format!("is {dim}: it must be from 1 to {max}"),
    ))
}

/// All of `dim` features as a single group.
fn one_group(dim: usize) -> Vec<Range<usize>> {
    std::iter::once(0..dim).collect()
}

/// Rows to work on at a time where a map needs a second place for `width` values of each: few
/// enough for the cache, and no more than there are.
fn block(width: usize, rows: usize) -> usize {
    const VALUES: usize = 1 << 14;
    const FEWEST: usize = 16;
    (VALUES / width).max(FEWEST).min(rows).max(1)
}

/// Refuses a custom map inside another: a file could not say where to attach it again.
fn refuse_custom(key: &str, whole: &str, part: &FeatureMap) -> Result<()> {
    match part {
        FeatureMap::Custom(custom) => Err(Error::setting(
            key,
            format!(
                "holds `{}`: a custom map cannot be part of {whole} one, so do that inside your own map",
                custom.name()
            ),
        )),
        _ => Ok(()),
    }
}
