//! Features of standardised rows: `ψ(x) = inner((x − mean) / scale)`, value by value.
//!
//! Logs come in units of all sizes, and random cosines or high powers of a motor speed in the
//! thousands carry no information. With mean and scale inside the map, a file and an exported model hold
//! them too, and nobody has to scale inputs by hand.
//!
//! ```
//! use taskscout::features::{FeatureMap, Standardised, apply_row};
//! let rows = [1000.0, 0.1, 3000.0, 0.1]; // two rows; the second column is constant
//! let map = Standardised::of_rows(&rows, FeatureMap::identity(2)?)?;
//! assert_eq!((map.mean(), map.scale()), (&[2000.0, 0.1][..], &[1000.0, 1.0][..]));
//! assert_eq!(apply_row(&map, &[4000.0, 0.1]), [2.0, 0.0]);
//! # Ok::<(), taskscout::Error>(())
//! ```

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{FeatureMap, Features, block, refuse_custom};
use crate::columns::ColumnMoments;
use crate::error::{Error, Result};

/// A map of rows that are centred and scaled first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct Standardised {
    mean: Vec<f64>,
    scale: Vec<f64>,
    inner: Box<FeatureMap>,
}

impl Standardised {
    /// Subtracts `mean` from a row, divides by `scale` and takes the features of the result. Both
    /// have one finite value for each input of `inner`, scales above 0; `inner` is no custom map.
    pub fn new(mean: Vec<f64>, scale: Vec<f64>, inner: FeatureMap) -> Result<Self> {
        refuse_custom("inner", "a standardised", &inner)?;
        Error::check_length("`mean`", inner.input_dim(), mean.len())?;
        Error::check_length("`scale`", inner.input_dim(), scale.len())?;
        Error::check_finite(&mean, |index| format!("`mean` value {index}"))?;
        let bad = |scale: &f64| !(scale.is_finite() && *scale > 0.0);
        if let Some(index) = scale.iter().position(bad) {
            let value = scale[index];
            let problem = format!("value {index} is {value}: it must be a finite number above 0");
            return Err(Error::setting("scale", problem));
        }
        Ok(Self {
            mean,
            scale,
            inner: Box::new(inner),
        })
    }

    /// Takes mean and standard deviation of `rows` (row-major, at least one); a constant column
    /// is only centred, its scale is 1.
    pub fn of_rows(rows: &[f64], inner: FeatureMap) -> Result<Self> {
        let p = inner.input_dim();
        if rows.is_empty() || !rows.len().is_multiple_of(p) {
            let problem = format!(
                "have {} values: give one row or more, each of {p} values",
                rows.len()
            );
            return Err(Error::setting("rows", problem));
        }
        Error::check_finite(rows, |at| format!("row {}, value {}", at / p, at % p))?;
        let columns = ColumnMoments::of(p, || rows.chunks_exact(p));
        let scale = (0..p).map(|column| columns.scale(column)).collect();
        Self::new(columns.mean().to_vec(), scale, inner)
    }

    /// What is subtracted from a row.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// What a row is then divided by.
    #[must_use]
    pub fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// The map of the standardised rows.
    #[must_use]
    pub fn inner(&self) -> &FeatureMap {
        &self.inner
    }
}

impl Features for Standardised {
    fn input_dim(&self) -> usize {
        self.mean.len()
    }

    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn apply(&self, rows: &[f64], out: &mut [f64]) {
        let (p, d) = (self.input_dim(), self.dim());
        debug_assert_eq!(rows.len() / p, out.len() / d);
        // Block by block, so that standardised rows stay in the cache.
        let block = block(p, rows.len() / p);
        let mut standardised = vec![0.0; block * p];
        for (rows, out) in rows.chunks(block * p).zip(out.chunks_mut(block * d)) {
            let standardised = &mut standardised[..rows.len()];
            for (row, z) in rows.chunks_exact(p).zip(standardised.chunks_exact_mut(p)) {
                for (((z, x), mean), scale) in
                    z.iter_mut().zip(row).zip(&self.mean).zip(&self.scale)
                {
                    *z = (x - mean) / scale;
                }
            }
            self.inner.apply(standardised, out);
        }
    }

    fn groups(&self) -> Vec<Range<usize>> {
        self.inner.groups()
    }
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    mean: Vec<f64>,
    scale: Vec<f64>,
    inner: Box<FeatureMap>,
}

impl TryFrom<Raw> for Standardised {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        Self::new(raw.mean, raw.scale, *raw.inner)
    }
}

impl From<Standardised> for Raw {
    fn from(map: Standardised) -> Self {
        Self {
            mean: map.mean,
            scale: map.scale,
            inner: map.inner,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::features::{Identity, apply_row};

    fn identity(dim: usize) -> FeatureMap {
        FeatureMap::identity(dim).unwrap()
    }

    #[test]
    fn bad_settings_are_named() {
        let custom = FeatureMap::custom("mine", Arc::new(Identity::new(1).unwrap())).unwrap();
        for (map, expected) in [
            (
                Standardised::new(vec![0.0], vec![1.0; 2], identity(2)),
                "`mean` has 1 values where 2",
            ),
            (
                Standardised::new(vec![0.0; 2], vec![1.0; 3], identity(2)),
                "`scale` has 3 values where 2",
            ),
            (
                Standardised::new(vec![0.0, f64::NAN], vec![1.0; 2], identity(2)),
                "`mean` value 1 is NaN",
            ),
            (
                Standardised::new(vec![0.0; 2], vec![1.0, 0.0], identity(2)),
                "`scale` value 1 is 0",
            ),
            (
                Standardised::new(vec![0.0], vec![f64::INFINITY], identity(1)),
                "`scale` value 0 is inf",
            ),
            (
                Standardised::new(vec![0.0], vec![1.0], custom),
                "`mine`: a custom map cannot be part of a standardised one",
            ),
            (
                Standardised::of_rows(&[1.0; 3], identity(2)),
                "`rows` have 3 values",
            ),
            (
                Standardised::of_rows(&[], identity(2)),
                "`rows` have 0 values",
            ),
            (
                Standardised::of_rows(&[1.0, 2.0, 3.0, f64::NAN], identity(2)),
                "row 1, value 1 is NaN",
            ),
        ] {
            let message = map.unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn constant_columns_are_only_centred() {
        // A plain sum of a million times 0.1 is off by more than the tolerance.
        let rows = vec![0.1; 1_000_000];
        let map = Standardised::of_rows(&rows, identity(1)).unwrap();
        assert_eq!((map.mean(), map.scale()), (&[0.1][..], &[1.0][..]));
        let zeros = Standardised::of_rows(&[0.0; 4], identity(2)).unwrap();
        assert_eq!(zeros.scale(), [1.0, 1.0]);
        // Small beside its mean, but not rounding.
        let near = Standardised::of_rows(&[1.0, 1.0 + 1e-9], identity(1)).unwrap();
        assert!((near.scale()[0] - 5e-10).abs() < 1e-15);
    }

    proptest! {
        /// Standardised rows have mean 0 and standard deviation 1, over several blocks.
        #[test]
        fn rows_become_standard(
            shift in -1e3_f64..1e3,
            stretch in 1e-3_f64..1e3,
            values in prop::collection::vec(-1.0_f64..1.0, 400..700),
        ) {
            let rows: Vec<f64> = values.iter().flat_map(|v| [shift + stretch * v, v * v]).collect();
            let map = Standardised::of_rows(&rows, identity(2)).unwrap();
            let mut out = vec![f64::NAN; rows.len()];
            map.apply(&rows, &mut out);
            let n = values.len() as f64;
            for column in 0..2 {
                let z: Vec<f64> = out.iter().skip(column).step_by(2).copied().collect();
                let mean = z.iter().sum::<f64>() / n;
                let square = z.iter().map(|z| z * z).sum::<f64>() / n;
                prop_assert!(mean.abs() < 1e-6 && (square - 1.0).abs() < 1e-6, "{mean} {square}");
            }
        }

        /// The features are those of the inner map at rows standardised by hand, bit for bit.
        #[test]
        fn features_are_those_of_the_inner_map(
            row in prop::collection::vec(-5.0_f64..5.0, 3),
            mean in prop::collection::vec(-5.0_f64..5.0, 3),
            scale in prop::collection::vec(0.1_f64..5.0, 3),
        ) {
            let inner = FeatureMap::polynomial(3, 2, true).unwrap();
            let by_hand: Vec<f64> = (0..3).map(|i| (row[i] - mean[i]) / scale[i]).collect();
            let map = Standardised::new(mean, scale, inner.clone()).unwrap();
            prop_assert_eq!(apply_row(&map, &row), apply_row(&inner, &by_hand));
        }
    }
}
