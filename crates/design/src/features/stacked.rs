//! Several maps of the same row, side by side: `ψ(x) = (ψ_1(x), ψ_2(x), …)`.
//!
//! ```
//! use taskscout::features::{FeatureMap, Features, Stacked, apply_row};
//! let squares = FeatureMap::monomials(2, vec![vec![2, 0], vec![0, 2]])?;
//! let map = Stacked::new(vec![FeatureMap::identity(2)?, squares])?;
//! assert_eq!(apply_row(&map, &[2.0, 3.0]), [2.0, 3.0, 4.0, 9.0]);
//! assert_eq!(map.groups(), [0..2, 2..4]); // a learner may penalise each on its own
//! # Ok::<(), taskscout::Error>(())
//! ```

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{FeatureMap, Features, MAX_FEATURES, block, refuse_custom};
use crate::error::{Error, Result};

/// The features of several maps, one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct Stacked {
    parts: Vec<FeatureMap>,
    input_dim: usize,
    dim: usize,
}

impl Stacked {
    /// The features of the `parts` in their order. There is at least one, all take rows of the
    /// same length, none is a custom map, and together they have at most 100,000 features.
    pub fn new(parts: Vec<FeatureMap>) -> Result<Self> {
        let Some(first) = parts.first() else {
            let problem = "is empty: give the feature maps to stack";
            return Err(Error::setting("parts", problem));
        };
        let input_dim = first.input_dim();
        for (index, part) in parts.iter().enumerate() {
            refuse_custom("parts", "a stacked", part)?;
            if part.input_dim() != input_dim {
                let problem = format!(
                    "{index} takes rows of {} values and the first part rows of {input_dim}: all parts must take the same rows",
                    part.input_dim()
                );
                return Err(Error::setting("parts", problem));
            }
        }
        let dim = parts
            .iter()
            .map(Features::dim)
            .fold(0, usize::saturating_add);
        if dim > MAX_FEATURES {
            let problem =
                format!("make {dim} features where at most {MAX_FEATURES} are allowed: use fewer");
            return Err(Error::setting("parts", problem));
        }
        Ok(Self {
            parts,
            input_dim,
            dim,
        })
    }

    /// The maps whose features stand side by side.
    #[must_use]
    pub fn parts(&self) -> &[FeatureMap] {
        &self.parts
    }

    /// Each part with its features' place.
    fn placed(&self) -> impl Iterator<Item = (&FeatureMap, Range<usize>)> {
        self.parts.iter().scan(0, |end, part| {
            let start = *end;
            *end += part.dim();
            Some((part, start..*end))
        })
    }
}

impl Features for Stacked {
    fn input_dim(&self) -> usize {
        self.input_dim
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn apply(&self, rows: &[f64], out: &mut [f64]) {
        let (p, d) = (self.input_dim, self.dim);
        debug_assert_eq!(rows.len() / p, out.len() / d);
        if rows.len() == p {
            // A single row needs no second place: searches ask for them one by one.
            for (part, place) in self.placed() {
                part.apply(rows, &mut out[place]);
            }
            return;
        }
        let widest = self.parts.iter().map(Features::dim).max().unwrap_or(1);
        let block = block(widest, rows.len() / p);
        let mut features = vec![0.0; block * widest];
        for (rows, out) in rows.chunks(block * p).zip(out.chunks_mut(block * d)) {
            for (part, place) in self.placed() {
                let features = &mut features[..rows.len() / p * place.len()];
                part.apply(rows, features);
                let features = features.chunks_exact(place.len());
                for (out, features) in out.chunks_exact_mut(d).zip(features) {
                    out[place.clone()].copy_from_slice(features);
                }
            }
        }
    }

    fn groups(&self) -> Vec<Range<usize>> {
        let shifted = |(part, place): (&FeatureMap, Range<usize>)| {
            let groups = part.groups().into_iter();
            groups.map(move |group| place.start + group.start..place.start + group.end)
        };
        self.placed().flat_map(shifted).collect()
    }
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    parts: Vec<FeatureMap>,
}

impl TryFrom<Raw> for Stacked {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        Self::new(raw.parts)
    }
}

impl From<Stacked> for Raw {
    fn from(map: Stacked) -> Self {
        Self { parts: map.parts }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::features::{Identity, apply_row};

    #[test]
    fn features_stand_side_by_side_in_batches_too() {
        let parts = [
            FeatureMap::fourier(2, 40, 1.0, 1),
            FeatureMap::polynomial(2, 2, true),
            FeatureMap::identity(2),
        ]
        .map(|part| part.unwrap());
        let map = Stacked::new(parts.to_vec()).unwrap();
        // More than a block, and a last one that is not full.
        let n = 2 * block(40, usize::MAX) + 3;
        let rows: Vec<f64> = (0..2 * n).map(|i| (0.7 * i as f64).sin()).collect();
        let mut out = vec![f64::NAN; n * map.dim()];
        map.apply(&rows, &mut out);
        for (row, found) in rows.chunks(2).zip(out.chunks(map.dim())) {
            let expected: Vec<f64> = parts.iter().flat_map(|part| apply_row(part, row)).collect();
            let same = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-13;
            assert!(found.iter().zip(&expected).all(same), "{row:?}");
        }
    }

    #[test]
    fn groups_are_those_of_the_parts() {
        let polynomial = FeatureMap::polynomial(2, 2, true).unwrap();
        let pair = [FeatureMap::identity(2).unwrap(), polynomial];
        let inner = FeatureMap::stacked(pair.to_vec()).unwrap();
        let standardised =
            FeatureMap::standardised(vec![0.0; 2], vec![2.0; 2], inner.clone()).unwrap();
        let map = Stacked::new(vec![inner, standardised]).unwrap();
        let once = [0..2, 2..3, 3..5, 5..8];
        let twice = once.iter().map(|group| group.start + 8..group.end + 8);
        let expected: Vec<_> = once.iter().cloned().chain(twice).collect();
        assert_eq!(map.groups(), expected);
    }

    #[test]
    fn bad_parts_are_named() {
        let identity = |dim| FeatureMap::identity(dim).unwrap();
        let custom = FeatureMap::custom("mine", Arc::new(Identity::new(2).unwrap())).unwrap();
        for (parts, expected) in [
            (vec![], "`parts` is empty"),
            (
                vec![identity(2), identity(3)],
                "`parts` 1 takes rows of 3 values and the first part rows of 2",
            ),
            (
                vec![identity(2), custom],
                "`mine`: a custom map cannot be part of a stacked one",
            ),
            (
                vec![identity(60_000), identity(60_000)],
                "`parts` make 120000 features where at most 100000",
            ),
        ] {
            let message = Stacked::new(parts).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
