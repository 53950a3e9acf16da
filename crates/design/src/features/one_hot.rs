//! Categories with parameters: `ψ(e, u) = e ⊗ p(u)`.
//!
//! A row is a one-hot vector `e` of `categories` values followed by `parameters` real values `u`,
//! and `p` is a [`Polynomial`]. Feature `c·m + j` is `e_c · p_j(u)`, where `m` is the number of
//! monomials: each category (a drone, a robot) has its own polynomial of the shared parameters.
//!
//! ```
//! use taskscout::features::{OneHotPolynomial, apply_row};
//! let map = OneHotPolynomial::new(2, 1, 1, true)?;
//! // The second of two drones in a wind of 3: its own (1, wind), zeros for the other.
//! assert_eq!(apply_row(&map, &[0.0, 1.0, 3.0]), [0.0, 0.0, 1.0, 3.0]);
//! # Ok::<(), taskscout::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use super::{Features, MAX_FEATURES, Polynomial, check_dim};
use crate::error::{Error, Result};

/// A one-hot part ⊗ a polynomial of the other parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct OneHotPolynomial {
    categories: usize,
    polynomial: Polynomial,
}

impl OneHotPolynomial {
    /// `categories` one-hot values, then `parameters` values under a polynomial of `degree`. The
    /// constant, almost always wanted here, lets a category differ at zero parameters.
    pub fn new(categories: usize, parameters: usize, degree: u32, constant: bool) -> Result<Self> {
        check_dim("categories", categories, MAX_FEATURES)?;
        check_dim("parameters", parameters, MAX_FEATURES)?;
        let polynomial = Polynomial::new(parameters, degree, constant)?;
        let dim = categories.saturating_mul(polynomial.dim());
        if dim > MAX_FEATURES {
            let problem = format!(
                "is {categories}: times {} monomials that makes {dim} features where at most {MAX_FEATURES} are allowed",
                polynomial.dim()
            );
            return Err(Error::setting("categories", problem));
        }
        Ok(Self {
            categories,
            polynomial,
        })
    }

    /// Number of categories.
    #[must_use]
    pub fn categories(&self) -> usize {
        self.categories
    }

    /// The polynomial that every category has its own copy of.
    #[must_use]
    pub fn polynomial(&self) -> &Polynomial {
        &self.polynomial
    }

    /// Names such as `c2*w1^2` (category 2, first parameter squared), in the order of the
    /// features.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let name = |category: usize, monomial: &String| match monomial.as_str() {
            "1" => format!("c{category}"),
            _ => format!("c{category}*{monomial}"),
        };
        (1..=self.categories)
            .flat_map(|category| {
                let monomials = self.polynomial.names().iter();
                monomials.map(move |monomial| name(category, monomial))
            })
            .collect()
    }
}

impl Features for OneHotPolynomial {
    fn input_dim(&self) -> usize {
        self.categories + self.polynomial.input_dim()
    }

    fn dim(&self) -> usize {
        self.categories * self.polynomial.dim()
    }

    fn apply(&self, rows: &[f64], out: &mut [f64]) {
        debug_assert_eq!(rows.len() / self.input_dim(), out.len() / self.dim());
        let width = self.polynomial.dim();
        let mut monomials = vec![0.0; width];
        let rows = rows.chunks_exact(self.input_dim());
        for (row, out) in rows.zip(out.chunks_exact_mut(self.dim())) {
            let (one_hot, parameters) = row.split_at(self.categories);
            self.polynomial.evaluate(parameters, &mut monomials);
            for (weight, out) in one_hot.iter().zip(out.chunks_exact_mut(width)) {
                for (out, monomial) in out.iter_mut().zip(&monomials) {
                    *out = weight * monomial;
                }
            }
        }
    }
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    categories: usize,
    parameters: usize,
    degree: u32,
    #[serde(default)]
    constant: bool,
}

impl TryFrom<Raw> for OneHotPolynomial {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        Self::new(raw.categories, raw.parameters, raw.degree, raw.constant)
    }
}

impl From<OneHotPolynomial> for Raw {
    fn from(map: OneHotPolynomial) -> Self {
        Self {
            categories: map.categories,
            parameters: map.polynomial.input_dim(),
            degree: map.polynomial.degree(),
            constant: map.polynomial.constant(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_features() {
        let map = OneHotPolynomial::new(2, 1, 2, true).unwrap();
        let expected = ["c1", "c1*w1", "c1*w1^2", "c2", "c2*w1", "c2*w1^2"];
        assert_eq!(map.names(), expected);
        assert_eq!(map.names().len(), map.dim());
    }

    #[test]
    fn bad_settings_are_named() {
        for (map, expected) in [
            (OneHotPolynomial::new(0, 1, 1, true), "`categories` is 0"),
            (OneHotPolynomial::new(2, 0, 1, true), "`parameters` is 0"),
            (OneHotPolynomial::new(2, 1, 0, true), "`degree` is 0"),
            (
                OneHotPolynomial::new(50_000, 3, 1, true),
                "makes 200000 features",
            ),
        ] {
            let message = map.unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
