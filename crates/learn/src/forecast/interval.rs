//! A number with its interval.

use serde::{Deserialize, Serialize};

/// A number that is not known exactly: its mean, and the interval that holds it in nine of ten cases.
///
/// ```
/// use taskscout::forecast::Interval;
/// let draws: Vec<f64> = (0..=100).map(f64::from).collect();
/// let interval = Interval::of(&draws);
/// assert_eq!(interval, Interval { mean: 50.0, low: 5.0, high: 95.0 });
/// assert!(interval.contains(7.0) && !interval.contains(99.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The mean over draws.
    pub mean: f64,
    /// The value that one of twenty draws is below.
    pub low: f64,
    /// The value that one of twenty draws is above.
    pub high: f64,
}

impl Interval {
    /// From draws; not a number without any.
    #[must_use]
    pub fn of(draws: &[f64]) -> Self {
        let mut sorted = draws.to_vec();
        sorted.sort_by(f64::total_cmp);
        let quantile = |share: f64| {
            let at = share * (sorted.len().max(1) - 1) as f64;
            let (below, rest) = (at.floor() as usize, at.fract());
            match (sorted.get(below), sorted.get(below + 1)) {
                (Some(a), Some(b)) => a + rest * (b - a),
                (Some(a), None) => *a,
                _ => f64::NAN,
            }
        };
        Self {
            mean: sorted.iter().sum::<f64>() / sorted.len() as f64,
            low: quantile(0.05),
            high: quantile(0.95),
        }
    }

    /// The same with no number above that of another interval.
    ///
    /// ```
    /// use taskscout::forecast::Interval;
    /// let (a, b) = (Interval { mean: 2.0, low: 1.0, high: 4.0 }, Interval { mean: 1.5, low: 1.2, high: 5.0 });
    /// assert_eq!(a.at_most(&b), Interval { mean: 1.5, low: 1.0, high: 4.0 });
    /// ```
    #[must_use]
    pub fn at_most(&self, other: &Self) -> Self {
        Self {
            mean: self.mean.min(other.mean),
            low: self.low.min(other.low),
            high: self.high.min(other.high),
        }
    }

    /// Whether a value lies inside.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}
