//! One column of one recording.

/// Values so many robust deviations from the median are far outside.
const FAR: f64 = 10.0;
/// A median absolute deviation is so much smaller than a standard deviation, for normal values.
const MAD_TO_STD: f64 = 1.4826;
/// A column of no more values than this is a choice, not a measurement: it has no limits.
const CHOICES: usize = 10;
/// Values up to this are summed and squared as they are.
const MODERATE: f64 = 1e150;

/// What is to be known about a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Column {
    pub(super) count: usize,
    pub(super) mean: f64,
    /// The standard deviation, with one degree of freedom less than values.
    pub(super) std: f64,
    pub(super) min: f64,
    pub(super) max: f64,
    /// How many values are far outside.
    pub(super) far: usize,
    /// How many are exactly the least and the greatest; none where there are few different ones.
    pub(super) at_min: usize,
    pub(super) at_max: usize,
}

impl Column {
    pub(super) fn new(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.collect();
        let count = values.len();
        let unit = unit(values.iter().copied());
        let mean = mean(values.iter().copied());
        let squares: f64 = values
            .iter()
            .map(|value| (value / unit - mean / unit).powi(2))
            .sum();
        let mut sorted = values;
        sorted.sort_by(f64::total_cmp);
        let min = sorted.first().copied().unwrap_or(f64::NAN);
        let max = sorted.last().copied().unwrap_or(f64::NAN);
        let (at_min, at_max) = if is_choice(&sorted) {
            (0, 0)
        } else {
            (
                sorted.partition_point(|&value| value <= min),
                count - sorted.partition_point(|&value| value < max),
            )
        };
        Self {
            count,
            mean,
            std: unit * (squares / count.saturating_sub(1).max(1) as f64).sqrt(),
            min,
            max,
            far: far(&sorted),
            at_min,
            at_max,
        }
    }

    /// Whether all values are the same.
    pub(super) fn is_constant(&self) -> bool {
        self.max <= self.min
    }
}

/// What values are divided by so that their sums and squares do not overflow: a power of two, which rounds nothing.
pub(super) fn unit(values: impl Iterator<Item = f64>) -> f64 {
    let largest = values.fold(0.0, |most: f64, value| most.max(value.abs()));
    if largest > MODERATE {
        largest.log2().floor().exp2()
    } else {
        1.0
    }
}

/// The mean of values of any size; 0 if there are none.
pub(super) fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let unit = unit(values.clone());
    let (mut sum, mut count) = (0.0, 0_usize);
    for value in values {
        sum += value / unit;
        count += 1;
    }
    unit * (sum / count.max(1) as f64)
}

/// The value in the middle of sorted values; no number if there are none.
pub(super) fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match (sorted.len() % 2, sorted.get(middle)) {
        (_, None) => f64::NAN,
        (0, Some(&upper)) => 0.5 * sorted[middle - 1] + 0.5 * upper,
        (_, Some(&value)) => value,
    }
}

fn is_choice(sorted: &[f64]) -> bool {
    let changes = sorted.windows(2).filter(|pair| pair[0] < pair[1]);
    changes.take(CHOICES).count() < CHOICES
}

/// How many of the sorted values are far from their median.
fn far(sorted: &[f64]) -> usize {
    let centre = median(sorted);
    let mut distances: Vec<f64> = sorted.iter().map(|value| (value - centre).abs()).collect();
    distances.sort_by(f64::total_cmp);
    let limit = FAR * MAD_TO_STD * median(&distances);
    // Where most values are the same, nothing can be said of the others.
    if limit > 0.0 {
        distances.len() - distances.partition_point(|&distance| distance <= limit)
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[f64]) -> Column {
        Column::new(values.iter().copied())
    }

    #[test]
    fn moments_and_ends() {
        let found = column(&[3.0, 1.0, 2.0, 6.0]);
        assert_eq!((found.count, found.mean.to_bits()), (4, 3f64.to_bits()));
        assert!((found.std - (14f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(
            (found.min.to_bits(), found.max.to_bits()),
            (1f64.to_bits(), 6f64.to_bits())
        );
        assert!(column(&[2.0; 5]).is_constant() && column(&[2.0]).is_constant());
        assert!(!found.is_constant());
    }

    #[test]
    fn values_of_any_size_have_moments() {
        for size in [1e-200, 1e154, 1e300] {
            let found = column(&[3.0 * size, size, 2.0 * size, 6.0 * size]);
            assert!((found.mean / (3.0 * size) - 1.0).abs() < 1e-15, "{size}");
            let std = (14f64 / 3.0).sqrt() * size;
            assert!(
                (found.std / std - 1.0).abs() < 1e-14 || size < 1e-150,
                "{size}"
            );
        }
        let found = column(&[1.7e308, 1.7e308, -1.7e308, 1.7e308]);
        assert!((found.mean / 0.85e308 - 1.0).abs() < 1e-15);
    }

    #[test]
    fn far_values_are_counted() {
        let mut values: Vec<f64> = (0..101).map(f64::from).collect();
        assert_eq!(column(&values).far, 0);
        // The median deviation is 25, so that the limit lies at 50 + 371.
        values.extend([400.0, 500.0, -400.0]);
        assert_eq!(column(&values).far, 2);
        assert_eq!(column(&[1.0, 1.0, 1.0, 5.0]).far, 0);
    }

    #[test]
    fn limits_are_seen_only_in_measurements() {
        let mut values: Vec<f64> = (0..50).map(f64::from).collect();
        values.extend([49.0; 5]);
        let found = column(&values);
        assert_eq!((found.at_min, found.at_max), (1, 6));
        let found = column(&[0.0, 1.0, 1.0, 0.0]);
        assert_eq!((found.at_min, found.at_max), (0, 0));
    }
}
