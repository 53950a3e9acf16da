//! Hand-picked monomials: `ψ(x)_j = Π_i x_i^{e_ji}`.
//!
//! ```
//! use taskscout::features::{Monomials, apply_row};
//! // The wind terms of a pendulum: w1, w2, w1*w2^2.
//! let map = Monomials::new(2, vec![vec![1, 0], vec![0, 1], vec![1, 2]])?;
//! assert_eq!(map.names(), ["w1", "w2", "w1*w2^2"]);
//! assert_eq!(apply_row(&map, &[2.0, 3.0]), [2.0, 3.0, 18.0]);
//! # Ok::<(), taskscout::Error>(())
//! ```

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{Features, MAX_FEATURES, MAX_INPUTS, check_dim};
use crate::error::{Error, Result};

/// Highest total degree of a monomial: beyond it values overflow for any input above 1.
pub(super) const MAX_DEGREE: u32 = 64;

/// A monomial as its variables with their powers: indices rise, powers are at least 1.
pub(super) type Powers = Vec<(usize, u32)>;

/// How the value of one monomial is found.
#[derive(Debug, Clone, PartialEq)]
enum MonomialStep {
    /// An earlier monomial times one variable: a single product.
    Times { earlier: usize, variable: usize },
    /// From its powers, where no earlier monomial is one variable short of it.
    Product(Powers),
}

/// A list of monomials, ready to be evaluated.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MonomialTable {
    steps: Vec<MonomialStep>,
    names: Vec<String>,
}

impl MonomialTable {
    /// Prepares the evaluation of distinct monomials in the order given.
    pub(super) fn new(monomials: Vec<Powers>) -> Self {
        let names = monomials.iter().map(name).collect();
        let mut seen = HashMap::with_capacity(monomials.len());
        let mut steps = Vec::with_capacity(monomials.len());
        for (index, powers) in monomials.into_iter().enumerate() {
            let step = (0..powers.len()).find_map(|which| {
                let earlier = *seen.get(&divided(&powers, which))?;
                let variable = powers[which].0;
                Some(MonomialStep::Times { earlier, variable })
            });
            steps.push(step.unwrap_or_else(|| MonomialStep::Product(powers.clone())));
            seen.insert(powers, index);
        }
        Self { steps, names }
    }

    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Writes the monomials of one row.
    pub(super) fn evaluate(&self, row: &[f64], out: &mut [f64]) {
        for (index, step) in self.steps.iter().enumerate() {
            out[index] = match step {
                MonomialStep::Times { earlier, variable } => out[*earlier] * row[*variable],
                MonomialStep::Product(powers) => powers
                    .iter()
                    .map(|&(variable, power)| row[variable].powi(power as i32))
                    .product(),
            };
        }
    }
}

/// The monomial divided by its `which`-th variable.
fn divided(powers: &Powers, which: usize) -> Powers {
    let mut powers = powers.clone();
    if powers[which].1 > 1 {
        powers[which].1 -= 1;
    } else {
        powers.remove(which);
    }
    powers
}

/// A name such as `w1*w2^2`; the constant is `1`.
fn name(powers: &Powers) -> String {
    if powers.is_empty() {
        return "1".to_owned();
    }
    let factor = |&(variable, power): &(usize, u32)| match power {
        1 => format!("w{}", variable + 1),
        _ => format!("w{}^{power}", variable + 1),
    };
    powers.iter().map(factor).collect::<Vec<_>>().join("*")
}

/// A hand-picked list of monomials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct Monomials {
    input_dim: usize,
    exponents: Vec<Vec<u32>>,
    table: MonomialTable,
}

impl Monomials {
    /// One feature for each exponent vector, in the order given; all zeros is the constant 1.
    /// Vectors have `input_dim` entries, are distinct and sum to at most 64.
    pub fn new(input_dim: usize, exponents: Vec<Vec<u32>>) -> Result<Self> {
        check_dim("input_dim", input_dim, MAX_INPUTS)?;
        check_dim("exponents", exponents.len(), MAX_FEATURES)?;
        let mut first = HashMap::with_capacity(exponents.len());
        for (index, vector) in exponents.iter().enumerate() {
            Error::check_length(&format!("`exponents` row {index}"), input_dim, vector.len())?;
            let degree: u64 = vector.iter().map(|&power| u64::from(power)).sum();
            if degree > u64::from(MAX_DEGREE) {
                let problem =
                    format!("row {index} has degree {degree}: at most {MAX_DEGREE} is allowed");
                return Err(Error::setting("exponents", problem));
            }
            if let Some(earlier) = first.insert(vector, index) {
                let problem = format!("row {index} repeats row {earlier}: remove one of them");
                return Err(Error::setting("exponents", problem));
            }
        }
        let table = MonomialTable::new(exponents.iter().map(|vector| sparse(vector)).collect());
        Ok(Self {
            input_dim,
            exponents,
            table,
        })
    }

    /// The exponent vectors.
    #[must_use]
    pub fn exponents(&self) -> &[Vec<u32>] {
        &self.exponents
    }

    /// Names such as `w1*w2^2`, in the order of the features.
    #[must_use]
    pub fn names(&self) -> &[String] {
        self.table.names()
    }
}

fn sparse(exponents: &[u32]) -> Powers {
    let powers = exponents.iter().copied().enumerate();
    powers.filter(|&(_, power)| power > 0).collect()
}

impl Features for Monomials {
    fn input_dim(&self) -> usize {
        self.input_dim
    }

    fn dim(&self) -> usize {
        self.table.len()
    }

    fn apply(&self, rows: &[f64], out: &mut [f64]) {
        debug_assert_eq!(rows.len() / self.input_dim, out.len() / self.dim());
        let rows = rows.chunks_exact(self.input_dim);
        for (row, out) in rows.zip(out.chunks_exact_mut(self.dim())) {
            self.table.evaluate(row, out);
        }
    }
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    input_dim: usize,
    exponents: Vec<Vec<u32>>,
}

impl TryFrom<Raw> for Monomials {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        Self::new(raw.input_dim, raw.exponents)
    }
}

impl From<Monomials> for Raw {
    fn from(map: Monomials) -> Self {
        Self {
            input_dim: map.input_dim,
            exponents: map.exponents,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::apply_row;

    #[test]
    fn any_order_gives_the_same_values() {
        // The cubic comes before anything it could be built from, the square after.
        let map = Monomials::new(2, vec![vec![2, 1], vec![0, 0], vec![1, 0], vec![2, 0]]).unwrap();
        assert_eq!(map.names(), ["w1^2*w2", "1", "w1", "w1^2"]);
        assert_eq!(apply_row(&map, &[3.0, 5.0]), [45.0, 1.0, 3.0, 9.0]);
        assert!(matches!(map.table.steps[0], MonomialStep::Product(_)));
        assert!(matches!(map.table.steps[3], MonomialStep::Times { .. }));
    }

    #[test]
    fn bad_exponents_are_named() {
        for (exponents, expected) in [
            (vec![], "`exponents` is 0"),
            (
                vec![vec![1, 0], vec![1]],
                "`exponents` row 1 has 1 values where 2",
            ),
            (vec![vec![1, 0], vec![1, 0]], "row 1 repeats row 0"),
            (vec![vec![60, 5]], "row 0 has degree 65"),
            (vec![vec![u32::MAX, u32::MAX]], "row 0 has degree"),
        ] {
            let message = Monomials::new(2, exponents).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
