//! The identity: `ψ(x) = x`.
//!
//! ```
//! use taskscout::features::{Features, Identity, apply_row};
//! let map = Identity::new(2)?;
//! assert!(map.is_identity());
//! assert_eq!(apply_row(&map, &[3.0, 4.0]), [3.0, 4.0]);
//! # Ok::<(), taskscout::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use super::{Features, MAX_INPUTS, check_dim};
use crate::error::{Error, Result};

/// The map that hands every row through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct Identity {
    dim: usize,
}

impl Identity {
    /// The identity on rows of `dim` values.
    pub fn new(dim: usize) -> Result<Self> {
        check_dim("dim", dim, MAX_INPUTS)?;
        Ok(Self { dim })
    }
}

impl Features for Identity {
    fn input_dim(&self) -> usize {
        self.dim
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn apply(&self, rows: &[f64], out: &mut [f64]) {
        debug_assert_eq!(rows.len(), out.len());
        for (out, value) in out.iter_mut().zip(rows) {
            *out = *value;
        }
    }

    fn is_identity(&self) -> bool {
        true
    }
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    dim: usize,
}

impl TryFrom<Raw> for Identity {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        Self::new(raw.dim)
    }
}

impl From<Identity> for Raw {
    fn from(map: Identity) -> Self {
        Self { dim: map.dim }
    }
}
