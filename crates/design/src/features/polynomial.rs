//! Polynomials: all monomials `Π_i x_i^{e_i}` of total degree 1 to `degree`, with the constant 1
//! before them if asked for.
//!
//! The order is graded, then lexicographic: lower degrees first, and within a degree the monomial
//! with the higher power of `w1` first, then of `w2`, and so on. There are `C(n + degree, degree)`
//! features with the constant, one fewer without.
//!
//! ```
//! use taskscout::features::Polynomial;
//! let map = Polynomial::new(2, 2, true)?;
//! assert_eq!(map.names(), ["1", "w1", "w2", "w1^2", "w1*w2", "w2^2"]);
//! # Ok::<(), taskscout::Error>(())
//! ```

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::monomial::{MAX_DEGREE, MonomialTable, Powers};
use super::{Features, MAX_FEATURES, MAX_INPUTS, check_dim, one_group};
use crate::error::{Error, Result};

/// All monomials up to a degree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct Polynomial {
    input_dim: usize,
    degree: u32,
    constant: bool,
    table: MonomialTable,
}

impl Polynomial {
    /// The monomials of degree 1 to `degree` (at most 64) of rows of `input_dim` values; with
    /// `constant`, the features are affine rather than linear in the monomials. More than 100,000
    /// features are refused.
    pub fn new(input_dim: usize, degree: u32, constant: bool) -> Result<Self> {
        check_dim("input_dim", input_dim, MAX_INPUTS)?;
        if !(1..=MAX_DEGREE).contains(&degree) {
            let problem = format!("is {degree}: it must be from 1 to {MAX_DEGREE}");
            return Err(Error::setting("degree", problem));
        }
        if count_exceeds(input_dim, degree, MAX_FEATURES) {
            let problem = format!(
                "is {degree}: with {input_dim} inputs that makes more than {MAX_FEATURES} features, so lower it or pick monomials by hand"
            );
            return Err(Error::setting("degree", problem));
        }
        let table = MonomialTable::new(graded(input_dim, degree, constant));
        Ok(Self {
            input_dim,
            degree,
            constant,
            table,
        })
    }

    /// The highest total degree.
    #[must_use]
    pub fn degree(&self) -> u32 {
        self.degree
    }

    /// Whether the first feature is the constant 1.
    #[must_use]
    pub fn constant(&self) -> bool {
        self.constant
    }

    /// Names such as `w1*w2^2`, in the order of the features.
    #[must_use]
    pub fn names(&self) -> &[String] {
        self.table.names()
    }

    /// Each monomial as its variables (from 0, rising) with their powers; none for the constant.
    ///
    /// ```
    /// use taskscout::features::Polynomial;
    /// let map = Polynomial::new(2, 2, true)?;
    /// assert_eq!(map.powers()[0], []); // 1
    /// assert_eq!(map.powers()[4], [(0, 1), (1, 1)]); // w1*w2
    /// # Ok::<(), taskscout::Error>(())
    /// ```
    #[must_use]
    pub fn powers(&self) -> Vec<Vec<(usize, u32)>> {
        graded(self.input_dim, self.degree, self.constant)
    }

    /// Writes the features of one row.
    pub(super) fn evaluate(&self, row: &[f64], out: &mut [f64]) {
        self.table.evaluate(row, out);
    }
}

/// Whether `C(n + degree, degree)` exceeds a limit, found without overflow.
fn count_exceeds(input_dim: usize, degree: u32, limit: usize) -> bool {
    let mut count = 1_u128;
    for step in 1..=u128::from(degree) {
        // C(n + s, s) = C(n + s − 1, s − 1)·(n + s)/s, an integer at every step.
        count = count * (input_dim as u128 + step) / step;
        if count > limit as u128 {
            return true;
        }
    }
    false
}

/// All monomials of degree up to `degree`, in graded lexicographic order.
fn graded(input_dim: usize, degree: u32, constant: bool) -> Vec<Powers> {
    let mut all = vec![Powers::new()];
    let mut last = 0..1;
    for _ in 0..degree {
        // A monomial of the next degree is one of this degree times a variable no earlier than
        // its last: each arises once, and in lexicographic order.
        let start = all.len();
        for parent in last {
            let smallest = all[parent].last().map_or(0, |&(variable, _)| variable);
            for variable in smallest..input_dim {
                all.push(times(&all[parent], variable));
            }
        }
        last = start..all.len();
    }
    if !constant {
        all.remove(0);
    }
    all
}

/// The monomial times a variable no earlier than its last.
fn times(powers: &Powers, variable: usize) -> Powers {
    let mut powers = powers.clone();
    match powers.last_mut() {
        Some((last, power)) if *last == variable => *power += 1,
        _ => powers.push((variable, 1)),
    }
    powers
}

impl Features for Polynomial {
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

    /// With a constant, one group for each degree from 0; without, a single one.
    fn groups(&self) -> Vec<Range<usize>> {
        if !self.constant {
            return one_group(self.dim());
        }
        // C(n + s, s) monomials have degree s or less; s = 0 has the constant alone.
        let mut count = 1_u64;
        let mut groups = one_group(1);
        for degree in 1..=u64::from(self.degree) {
            let start = count as usize;
            count = count * (self.input_dim as u64 + degree) / degree;
            groups.push(start..count as usize);
        }
        groups
    }
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    input_dim: usize,
    degree: u32,
    #[serde(default)]
    constant: bool,
}

impl TryFrom<Raw> for Polynomial {
    type Error = Error;

    fn try_from(raw: Raw) -> Result<Self> {
        Self::new(raw.input_dim, raw.degree, raw.constant)
    }
}

impl From<Polynomial> for Raw {
    fn from(map: Polynomial) -> Self {
        Self {
            input_dim: map.input_dim,
            degree: map.degree,
            constant: map.constant,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::features::apply_row;

    #[test]
    fn order_is_graded_then_lexicographic() {
        let names = Polynomial::new(3, 2, false).unwrap().names().to_vec();
        let expected = [
            "w1", "w2", "w3", "w1^2", "w1*w2", "w1*w3", "w2^2", "w2*w3", "w3^2",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn explosion_is_refused_before_memory_is_taken() {
        let message = Polynomial::new(100, 5, true).unwrap_err().to_string();
        assert!(
            message.contains("`degree` is 5: with 100 inputs"),
            "{message}"
        );
        let message = Polynomial::new(1_000_000, 64, true).unwrap_err();
        assert!(message.to_string().contains("more than 100000 features"));
        let message = Polynomial::new(2, 0, true).unwrap_err().to_string();
        assert!(message.contains("`degree` is 0"), "{message}");
        assert_eq!(Polynomial::new(1, 64, true).unwrap().dim(), 65);
    }

    #[test]
    fn groups_are_the_degrees() {
        let map = Polynomial::new(3, 4, true).unwrap();
        let degree = |powers: &Powers| powers.iter().map(|p| p.1).sum::<u32>();
        let powers = map.powers();
        assert_eq!(map.groups().len(), 5);
        for (expected, group) in (0..).zip(map.groups()) {
            assert!(
                powers[group]
                    .iter()
                    .all(|powers| degree(powers) == expected)
            );
        }
        let longest = Polynomial::new(1, 64, true).unwrap();
        assert_eq!(longest.groups().last(), Some(&(64..65)));
        assert_eq!(Polynomial::new(3, 2, false).unwrap().groups(), one_group(9));
    }

    proptest! {
        /// `(1 + Σ x)^degree` is a known combination of the features (multinomial theorem), so a
        /// missing or doubled monomial shows.
        #[test]
        fn features_span_the_power_of_a_sum(row in prop::collection::vec(-1.5_f64..1.5, 1..5), degree in 1_u32..5) {
            let map = Polynomial::new(row.len(), degree, true).unwrap();
            let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
            let features = apply_row(&map, &row);
            let sum: f64 = graded(row.len(), degree, true)
                .iter()
                .zip(&features)
                .map(|(powers, value)| {
                    let total: u32 = powers.iter().map(|p| p.1).sum();
                    let inner: f64 = powers.iter().map(|p| factorial(p.1)).product();
                    value * factorial(degree) / (factorial(degree - total) * inner)
                })
                .sum();
            let expected = (1.0 + row.iter().sum::<f64>()).powi(degree as i32);
            let size = (1.0 + row.iter().map(|x| x.abs()).sum::<f64>()).powi(degree as i32);
            prop_assert!((sum - expected).abs() < 1e-12 * size);
        }
    }
}
