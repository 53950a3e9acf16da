//! Polynomials of centred parameters.
//!
//! The products of up to `d` parameters and the constant 1 span the same functions whichever way the
//! parameters are shifted and scaled, so a plan does not depend on it. Numbers do: at `x = 10⁸ + u`
//! the square of `x` has no digit left for that of `u`. So features are taken of `(x − m) / s`, with
//! the middle `m` and about half the range `s` of the candidates.

use std::collections::HashMap;

use faer::Mat;
use taskscout::features::{FeatureMap, Polynomial};

use crate::error::Result;

/// Where parameters are measured from, and in which units.
#[derive(Debug, Clone)]
pub(super) struct Centre {
    middle: Vec<f64>,
    scale: Vec<f64>,
    inner: Polynomial,
}

impl Centre {
    /// That of row-major tasks, for features which may be shifted; none for others.
    pub(super) fn of(features: &FeatureMap, rows: &[f64]) -> Option<Self> {
        let FeatureMap::Polynomial(inner) = features else {
            return None;
        };
        let d = taskscout::features::Features::input_dim(features);
        if !inner.constant() || rows.is_empty() {
            return None;
        }
        let mut low = vec![f64::INFINITY; d];
        let mut high = vec![f64::NEG_INFINITY; d];
        for row in rows.chunks_exact(d) {
            for ((low, high), &value) in low.iter_mut().zip(&mut high).zip(row) {
                (*low, *high) = (low.min(value), high.max(value));
            }
        }
        let middle: Vec<f64> = low
            .iter()
            .zip(&high)
            .map(|(a, b)| 0.5 * a + 0.5 * b)
            .collect();
        let half = low.iter().zip(&high).map(|(a, b)| 0.5 * b - 0.5 * a);
        let scale = half.zip(&middle).map(|(half, middle)| {
            // A constant column has no range: targets may still differ from it.
            power_of_two(if half > 0.0 { half } else { middle.abs() })
        });
        Some(Self {
            scale: scale.collect(),
            middle,
            inner: inner.clone(),
        })
    }

    /// The features of centred and scaled parameters.
    pub(super) fn features(&self) -> Result<FeatureMap> {
        let inner = FeatureMap::Polynomial(self.inner.clone());
        let (middle, scale) = (self.middle.clone(), self.scale.clone());
        Ok(FeatureMap::standardised(middle, scale, inner)?)
    }

    /// `T` of `ψ((w − m) / s) = T ψ(w)`.
    pub(super) fn matrix(&self) -> Mat<f64> {
        let powers = self.inner.powers();
        let place: HashMap<&[(usize, u32)], usize> = powers
            .iter()
            .enumerate()
            .map(|(i, powers)| (&powers[..], i))
            .collect();
        let mut matrix = Mat::zeros(powers.len(), powers.len());
        for (i, factors) in powers.iter().enumerate() {
            // Π (x − m)^p / s^p, multiplied out factor by factor.
            let mut terms: Vec<(Vec<(usize, u32)>, f64)> = vec![(Vec::new(), 1.0)];
            for &(variable, power) in factors {
                let (m, s) = (self.middle[variable], self.scale[variable]);
                let expand = |(monomial, value): &(Vec<(usize, u32)>, f64)| {
                    let (monomial, value) = (monomial.clone(), *value);
                    (0..=power).map(move |kept| {
                        let mut monomial = monomial.clone();
                        if kept > 0 {
                            monomial.push((variable, kept));
                        }
                        let shift = (-m / s).powi((power - kept) as i32);
                        let unit = s.powi(kept as i32).recip();
                        (monomial, value * binomial(power, kept) * shift * unit)
                    })
                };
                terms = terms.iter().flat_map(expand).collect();
            }
            for (monomial, value) in terms {
                if let Some(&j) = place.get(&monomial[..]) {
                    matrix[(i, j)] += value;
                }
            }
        }
        matrix
    }
}

fn binomial(n: u32, k: u32) -> f64 {
    (0..k)
        .map(|i| f64::from(n - i) / f64::from(i + 1))
        .product()
}

/// The power of two at or below a positive number, one for zero: scaling by it is exact.
fn power_of_two(value: f64) -> f64 {
    if value < f64::MIN_POSITIVE {
        return 1.0;
    }
    value.log2().floor().exp2().max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use taskscout::features::apply_row;

    use super::*;

    #[test]
    fn centred_features_are_a_linear_map_of_the_plain_ones() {
        let plain = FeatureMap::polynomial(2, 3, true).unwrap();
        let rows = [3.0, -5.0, 7.0, 40.0, 4.5, 0.25];
        let centre = Centre::of(&plain, &rows).unwrap();
        let (centred, matrix) = (centre.features().unwrap(), centre.matrix());
        for row in rows.chunks_exact(2).chain([&[11.0, -3.0][..]]) {
            let (left, plain) = (apply_row(&centred, row), apply_row(&plain, row));
            for (i, left) in left.iter().enumerate() {
                let right: f64 = (0..plain.len()).map(|j| matrix[(i, j)] * plain[j]).sum();
                assert!(
                    (left - right).abs() < 1e-9 * (1.0 + left.abs()),
                    "{i}: {left} {right}"
                );
            }
        }
        assert!(Centre::of(&FeatureMap::identity(2).unwrap(), &rows).is_none());
        let linear = FeatureMap::polynomial(2, 2, false).unwrap();
        assert!(
            Centre::of(&linear, &rows).is_none(),
            "without the constant a shift changes it"
        );
    }
}
