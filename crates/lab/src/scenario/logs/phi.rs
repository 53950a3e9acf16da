//! What the forces of logs are linear in.

use serde::{Deserialize, Serialize};
use taskscout::features::{FeatureMap, Features as _};
use taskscout::train::{FeatureSet, Pooled};

/// Cosines of each of two wavelengths.
const COSINES: usize = 40;
/// Their frequencies, for standardised inputs.
const FREQUENCIES: [f64; 2] = [0.35, 0.12];

/// Representations by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phi {
    /// A constant and the inputs.
    Linear,
    /// These and all products of two inputs.
    Quadratic,
    /// A constant, the inputs and random cosines of them.
    Fourier,
    /// A constant, the inputs and a network, learnt from the source tasks.
    Mlp,
    /// Whichever of the linear, quadratic and Fourier ones has the smallest held-out error on the target.
    #[default]
    Auto,
}

impl Phi {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Linear,
        Self::Quadratic,
        Self::Fourier,
        Self::Mlp,
        Self::Auto,
    ];

    /// Its name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Quadratic => "quadratic",
            Self::Fourier => "fourier",
            Self::Mlp => "mlp",
            Self::Auto => "auto",
        }
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Linear => "A constant and the inputs",
            Self::Quadratic => "These and all products of two inputs",
            Self::Fourier => "A constant, the inputs and random cosines of them",
            Self::Mlp => "A constant, the inputs and a network, learnt from the source tasks",
            Self::Auto => {
                "Whichever of the linear, quadratic and Fourier ones has the smallest held-out error on the target"
            }
        }
    }
}

/// A representation as features in groups.
#[derive(Debug, Clone)]
pub(crate) struct Features {
    pub(crate) map: FeatureMap,
    pub(crate) pooled: Pooled,
    pub(crate) network: bool,
}

impl Features {
    pub(crate) fn new(phi: Phi, inputs: usize) -> taskscout::Result<Self> {
        let linear = || FeatureMap::polynomial(inputs, 1, true);
        let quadratic = || FeatureMap::polynomial(inputs, 2, true);
        let cosines = || {
            let of = |(index, &scale): (usize, &f64)| {
                FeatureMap::fourier(inputs, COSINES, scale, 1 + index as u64)
            };
            FREQUENCIES.iter().enumerate().map(of)
        };
        let stacked = |first: FeatureMap| -> taskscout::Result<FeatureMap> {
            let parts = std::iter::once(Ok(first)).chain(cosines());
            FeatureMap::stacked(parts.collect::<taskscout::Result<_>>()?)
        };
        let map = match phi {
            Phi::Linear | Phi::Mlp => linear()?,
            Phi::Quadratic => quadratic()?,
            Phi::Fourier => stacked(linear()?)?,
            Phi::Auto => stacked(quadratic()?)?,
        };
        let set = |name: &str, groups: &[usize]| FeatureSet {
            name: name.into(),
            groups: groups.to_vec(),
        };
        let sets = match phi {
            Phi::Auto => vec![
                set("linear features", &[0, 1]),
                set("quadratic features", &[0, 1, 2]),
                set("Fourier features", &[0, 1, 3, 4]),
            ],
            _ => Vec::new(),
        };
        Ok(Self {
            pooled: Pooled {
                groups: map.groups().iter().map(ExactSizeIterator::len).collect(),
                sets,
                ..Pooled::default()
            },
            map,
            network: phi == Phi::Mlp,
        })
    }
}
