//! A user's own map, inside a configuration that can be saved.
//!
//! Code cannot be written to a file, so a file holds the map's name and dimensions. What is read
//! back is *unattached*: [`Custom::check_ready`] says so, and [`Custom::attach`] makes it whole.
//!
//! ```
//! use std::sync::Arc;
//! use taskscout::features::{Custom, Features, apply_row};
//!
//! #[derive(Debug)]
//! struct Square;
//! impl Features for Square {
//!     fn input_dim(&self) -> usize { 1 }
//!     fn dim(&self) -> usize { 1 }
//!     fn apply(&self, rows: &[f64], out: &mut [f64]) {
//!         for (out, x) in out.iter_mut().zip(rows) { *out = x * x; }
//!     }
//! }
//!
//! let map = Custom::new("square", Arc::new(Square))?;
//! assert_eq!(apply_row(&map, &[3.0]), [9.0]);
//!
//! let saved = serde_json::to_string(&map)?;
//! let mut loaded: Custom = serde_json::from_str(&saved)?;
//! assert!(loaded.check_ready().unwrap_err().to_string().contains("`square`"));
//! loaded.attach(Arc::new(Square))?;
//! assert_eq!(apply_row(&loaded, &[3.0]), [9.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Features, MAX_INPUTS, check_dim, one_group};
use crate::error::{Error, Result};

/// A user's own map under a name. Two are equal when their names and dimensions are.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct Custom {
    name: String,
    input_dim: usize,
    dim: usize,
    map: Option<Arc<dyn Features>>,
}

impl Custom {
    /// Gives a user's map a name.
    pub fn new(name: impl Into<String>, map: Arc<dyn Features>) -> Result<Self> {
        let mut custom = Self::unattached(name.into(), map.input_dim(), map.dim())?;
        custom.map = Some(map);
        Ok(custom)
    }

    fn unattached(name: String, input_dim: usize, dim: usize) -> Result<Self> {
        if name.trim().is_empty() {
            return Err(Error::setting("name", "is empty: name the feature map"));
        }
        check_dim("input_dim", input_dim, MAX_INPUTS)?;
        check_dim("dim", dim, MAX_INPUTS)?;
        Ok(Self {
            name,
            input_dim,
            dim,
            map: None,
        })
    }

    /// The map's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Says that the user's map must be attached again, or that it is there. Without it every
    /// feature is NaN.
    pub fn check_ready(&self) -> Result<()> {
        if self.map.is_some() {
            return Ok(());
        }
        Err(Error::State(format!(
            "the custom feature map `{}` ({} to {} values) was read from a file, which cannot hold its code: attach it again before use",
            self.name, self.input_dim, self.dim
        )))
    }

    /// Attaches the user's map; its dimensions must be those that were saved.
    pub fn attach(&mut self, map: Arc<dyn Features>) -> Result<()> {
        let place = |what| format!("the {what} of the map attached as `{}`", self.name);
        Error::check_length(&place("input"), self.input_dim, map.input_dim())?;
        Error::check_length(&place("output"), self.dim, map.dim())?;
        self.map = Some(map);
        Ok(())
    }
}

impl PartialEq for Custom {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, self.input_dim, self.dim) == (&other.name, other.input_dim, other.dim)
    }
}

impl Features for Custom {
    fn input_dim(&self) -> usize {
        self.input_dim
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn apply(&self, rows: &[f64], out: &mut [f64]) {
        match &self.map {
            Some(map) => map.apply(rows, out),
            // Loud rather than plausible: whatever uses these numbers refuses them.
            None => out.fill(f64::NAN),
        }
    }

    fn is_identity(&self) -> bool {
        self.map.as_ref().is_some_and(|map| map.is_identity())
    }

    fn groups(&self) -> Vec<Range<usize>> {
        match &self.map {
            Some(map) => map.groups(),
            None => one_group(self.dim),
        }
    }
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: String,
    input_dim: usize,
    dim: usize,
}

impl TryFrom<Raw> for Custom {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        Self::unattached(raw.name, raw.input_dim, raw.dim)
    }
}

impl From<Custom> for Raw {
    fn from(map: Custom) -> Self {
        Self {
            name: map.name,
            input_dim: map.input_dim,
            dim: map.dim,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::{FeatureMap, Identity, Polynomial, apply_row};

    #[test]
    fn an_unattached_map_is_loud_until_attached() {
        let map = FeatureMap::custom("mine", Arc::new(Polynomial::new(2, 2, false).unwrap()));
        let json = serde_json::to_string(&map.unwrap()).unwrap();
        assert_eq!(
            json,
            r#"{"kind":"custom","name":"mine","input_dim":2,"dim":5}"#
        );

        let mut map: FeatureMap = serde_json::from_str(&json).unwrap();
        let message = map.check_ready().unwrap_err().to_string();
        assert!(message.contains("`mine` (2 to 5 values)"), "{message}");
        assert!(apply_row(&map, &[1.0, 2.0]).iter().all(|v| v.is_nan()));

        let wrong = map.attach(Arc::new(Identity::new(2).unwrap()));
        let message = wrong.unwrap_err().to_string();
        assert!(
            message.contains("the output of the map attached as `mine` has 2 values where 5"),
            "{message}"
        );
        map.attach(Arc::new(Polynomial::new(2, 2, false).unwrap()))
            .unwrap();
        map.check_ready().unwrap();
        assert_eq!(apply_row(&map, &[1.0, 2.0]), [1.0, 2.0, 1.0, 2.0, 4.0]);
    }

    #[test]
    fn a_complete_map_takes_no_attachment() {
        let mut map = FeatureMap::identity(2).unwrap();
        map.check_ready().unwrap();
        let refused = map.attach(Arc::new(Identity::new(2).unwrap()));
        assert!(refused.unwrap_err().to_string().contains("complete"));
        let unnamed = FeatureMap::custom(" ", Arc::new(Identity::new(2).unwrap()));
        assert!(unnamed.unwrap_err().to_string().contains("`name` is empty"));
    }
}
