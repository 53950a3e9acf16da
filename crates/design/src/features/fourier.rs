//! Random Fourier features: `ψ(x) = cos(A x + b)`.
//!
//! The entries of `A` are `scale · N(0, 1)` and those of `b` are `N(0, 1)`, all independent. A
//! file holds the dimensions, the scale and the seed; `A` and `b` are drawn again on loading, to
//! the same bits.
//!
//! ```
//! use taskscout::features::{Fourier, apply_row};
//! let map = Fourier::new(2, 3, 1.0, 7)?;
//! let x = [0.5, -1.0];
//! let first = map.matrix()[0] * x[0] + map.matrix()[1] * x[1] + map.offset()[0];
//! assert!((apply_row(&map, &x)[0] - first.cos()).abs() < 1e-12);
//! # Ok::<(), taskscout::Error>(())
//! ```

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rand_distr::{Distribution as _, StandardNormal};
use serde::{Deserialize, Serialize};

use super::cosine::cosines;
use super::{Features, MAX_FEATURES, MAX_INPUTS, check_dim};
use crate::error::{Error, Result};
use crate::rng::{Purpose, derive};

/// Most entries of `A`: a gigabyte.
const MAX_ENTRIES: usize = 1 << 27;

/// Random cosines of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct Fourier {
    input_dim: usize,
    scale: f64,
    seed: u64,
    matrix: Vec<f64>,
    offset: Vec<f64>,
}

impl Fourier {
    /// Draws `dim` features of rows of `input_dim` values. `scale` is the frequency of the
    /// cosines: 1 suits standardised inputs, less gives smoother features.
    pub fn new(input_dim: usize, dim: usize, scale: f64, seed: u64) -> Result<Self> {
        check_dim("input_dim", input_dim, MAX_INPUTS)?;
        check_dim("dim", dim, MAX_FEATURES)?;
        if !(scale.is_finite() && scale > 0.0) {
            let problem = format!("is {scale}: it must be a finite number above 0");
            return Err(Error::setting("scale", problem));
        }
        if input_dim.saturating_mul(dim) > MAX_ENTRIES {
            let problem = format!(
                "is {dim}: times {input_dim} inputs that makes more than {MAX_ENTRIES} random numbers, so use fewer features"
            );
            return Err(Error::setting("dim", problem));
        }
        let mut rng = derive(seed, Purpose::Features, &[]);
        let mut draw = |count: usize, scale: f64| -> Vec<f64> {
            let normal = |_| -> f64 { StandardNormal.sample(&mut rng) };
            (0..count).map(normal).map(|z| scale * z).collect()
        };
        let matrix = draw(dim * input_dim, scale);
        let offset = draw(dim, 1.0);
        Ok(Self {
            input_dim,
            scale,
            seed,
            matrix,
            offset,
        })
    }

    /// `A`, row-major, `dim × input_dim`, with the scale applied.
    #[must_use]
    pub fn matrix(&self) -> &[f64] {
        &self.matrix
    }

    /// `b`, of length `dim`.
    #[must_use]
    pub fn offset(&self) -> &[f64] {
        &self.offset
    }

    /// The scale of the entries of `A`.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The seed that `A` and `b` were drawn from.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }
}

impl Features for Fourier {
    fn input_dim(&self) -> usize {
        self.input_dim
    }

    fn dim(&self) -> usize {
        self.offset.len()
    }

    fn apply(&self, rows: &[f64], out: &mut [f64]) {
        let (p, d) = (self.input_dim, self.dim());
        debug_assert_eq!(rows.len() / p, out.len() / d);
        let n = (rows.len() / p).min(out.len() / d);
        let (rows, out) = (&rows[..n * p], &mut out[..n * d]);
        let a = MatRef::from_row_major_slice(&self.matrix, d, p);
        let x = MatRef::from_row_major_slice(rows, n, p);
        let phases = MatMut::from_row_major_slice_mut(out, n, d);
        // Sequential, because callers work on many batches in parallel.
        matmul(phases, Accum::Replace, x, a.transpose(), 1.0, Par::Seq);
        for row in out.chunks_exact_mut(d) {
            row.iter_mut()
                .zip(&self.offset)
                .for_each(|(value, offset)| *value += offset);
            cosines(row);
        }
    }
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    input_dim: usize,
    dim: usize,
    #[serde(default = "unit")]
    scale: f64,
    seed: u64,
}

fn unit() -> f64 {
    1.0
}

impl TryFrom<Raw> for Fourier {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        Self::new(raw.input_dim, raw.dim, raw.scale, raw.seed)
    }
}

impl From<Fourier> for Raw {
    fn from(map: Fourier) -> Self {
        Self {
            input_dim: map.input_dim,
            dim: map.dim(),
            scale: map.scale,
            seed: map.seed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_follow_the_seed_and_the_scale() {
        let one = Fourier::new(3, 400, 1.0, 5).unwrap();
        let two = Fourier::new(3, 400, 2.0, 5).unwrap();
        let other = Fourier::new(3, 400, 1.0, 6).unwrap();
        assert_eq!(one.offset(), two.offset());
        assert!(
            one.matrix()
                .iter()
                .zip(two.matrix())
                .all(|(a, b)| (2.0 * a).to_bits() == b.to_bits())
        );
        assert_ne!(one.matrix(), other.matrix());
        // 1200 standard normals: the standard error of their mean square is √(2/1200) = 0.041.
        let mean_square = one.matrix().iter().map(|a| a * a).sum::<f64>() / 1200.0;
        assert!((mean_square - 1.0).abs() < 0.2, "{mean_square}");
    }

    #[test]
    fn bad_settings_are_named() {
        for (map, expected) in [
            (Fourier::new(0, 4, 1.0, 0), "`input_dim` is 0"),
            (Fourier::new(4, 0, 1.0, 0), "`dim` is 0"),
            (Fourier::new(4, 4, f64::NAN, 0), "`scale` is NaN"),
            (Fourier::new(4, 4, 0.0, 0), "`scale` is 0"),
            (Fourier::new(1_000_000, 90_000, 1.0, 0), "fewer features"),
        ] {
            let message = map.unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
