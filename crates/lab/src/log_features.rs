//! What the forces of logs are linear in.

use taskscout::features::{FeatureMap, Features as _};
use taskscout::train::{FeatureGroupSubset, PartialPooling};

use crate::names::LogFeatures;

/// Cosines of each of two wavelengths.
const COSINES: usize = 40;
/// Their frequencies, for standardised inputs.
const FREQUENCIES: [f64; 2] = [0.35, 0.12];

/// A representation as features in groups.
#[derive(Debug, Clone)]
pub(crate) struct Features {
    pub(crate) map: FeatureMap,
    pub(crate) pooled: PartialPooling,
    pub(crate) network: bool,
}

impl Features {
    pub(crate) fn new(phi: LogFeatures, inputs: usize) -> taskscout::Result<Self> {
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
            LogFeatures::Linear | LogFeatures::Mlp => linear()?,
            LogFeatures::Quadratic => quadratic()?,
            LogFeatures::Fourier => stacked(linear()?)?,
            LogFeatures::Auto => stacked(quadratic()?)?,
        };
        let set = |name: &str, groups: &[usize]| FeatureGroupSubset {
            name: name.into(),
            groups: groups.to_vec(),
        };
        let sets = match phi {
            LogFeatures::Auto => vec![
                set("linear features", &[0, 1]),
                set("quadratic features", &[0, 1, 2]),
                set("Fourier features", &[0, 1, 3, 4]),
            ],
            _ => Vec::new(),
        };
        Ok(Self {
            pooled: PartialPooling {
                groups: map.groups().iter().map(ExactSizeIterator::len).collect(),
                sets,
                ..PartialPooling::default()
            },
            map,
            network: phi == LogFeatures::Mlp,
        })
    }
}
