//! Mean and spread of columns, and what is left of double precision where one is far from zero.
//!
//! A column of 10⁶ ± 1 loses twelve digits in `Σ y² − (Σ y)²/n`. So everything that centres or scales
//! takes its numbers from here: sums of differences from the first row, then a second pass around the
//! mean. What is constant is decided beside the column's own size, never by a fixed number.
//!
//! ```
//! use taskscout::data::ColumnMoments;
//! let rows = [1e9, 5e-14, 1e9 + 2.0, 7e-14];
//! let columns = ColumnMoments::of(2, || rows.chunks_exact(2));
//! assert_eq!(columns.mean()[0], 1e9 + 1.0);
//! assert_eq!(columns.scale(0), 1.0);
//! assert!((columns.scale(1) / 1e-14 - 1.0).abs() < 1e-9 && !columns.is_constant(1));
//! ```

/// A column that varies by less than this share of its mean is constant up to rounding.
const CONSTANT: f64 = 1e-14;

/// A column whose mean is this many times its spread has four digits left.
const IMPRECISE: f64 = 1e12;

/// Mean and standard deviation of each column of some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnMoments {
    mean: Vec<f64>,
    deviation: Vec<f64>,
    /// The largest difference from the first row.
    reach: Vec<f64>,
}

impl ColumnMoments {
    /// Of rows of `width` values, which are gone through twice; zeros where there are none.
    pub fn of<'a, I>(width: usize, rows: impl Fn() -> I) -> Self
    where
        I: Iterator<Item = &'a [f64]>,
    {
        let (mut sums, mut reach) = (vec![0.0; width], vec![0.0_f64; width]);
        let (mut first, mut count): (Option<&[f64]>, usize) = (None, 0);
        for row in rows() {
            count += 1;
            let values = row.iter().zip(*first.get_or_insert(row));
            for ((sum, reach), (value, first)) in sums.iter_mut().zip(&mut reach).zip(values) {
                let difference = value - first;
                *sum += difference;
                *reach = reach.max(difference.abs());
            }
        }
        let n = count.max(1) as f64;
        let zeros = vec![0.0; width];
        let first = first.unwrap_or(&zeros);
        let mean: Vec<f64> = sums.iter().zip(first).map(|(sum, x)| x + sum / n).collect();
        // In units of a power of two near the reach, squares of any size can be summed.
        let units: Vec<f64> = reach.iter().map(|&reach| power_of_two(reach)).collect();
        let mut squares = vec![0.0; width];
        for row in rows() {
            let columns = squares.iter_mut().zip(row).zip(mean.iter().zip(&units));
            for ((sum, value), (mean, unit)) in columns {
                *sum += ((value - mean) / unit).powi(2);
            }
        }
        let columns = squares.iter().zip(&units);
        let deviation = columns.map(|(sum, unit)| unit * (sum / n).sqrt()).collect();
        Self {
            mean,
            deviation,
            reach,
        }
    }

    /// The mean of each column.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The standard deviation of each column, around its mean and over the number of rows.
    #[must_use]
    pub fn deviation(&self) -> &[f64] {
        &self.deviation
    }

    /// Whether a column varies by no more than the rounding of its values.
    #[must_use]
    pub fn is_constant(&self, column: usize) -> bool {
        self.deviation[column] <= CONSTANT * self.mean[column].abs()
    }

    /// What centred values of a column are divided by: the standard deviation, or 1 if it is constant.
    #[must_use]
    pub fn scale(&self, column: usize) -> f64 {
        if self.is_constant(column) {
            1.0
        } else {
            self.deviation[column]
        }
    }

    /// What to take off a column so that no more than eight standard deviations are left of its mean:
    /// nothing where that is so already. The step is a power of two, so that taking it off rounds
    /// nothing, and says little of the values themselves.
    #[must_use]
    pub fn offset(&self, column: usize) -> f64 {
        let (mean, deviation) = (self.mean[column], self.deviation[column]);
        if self.is_constant(column) {
            return mean;
        }
        let step = (8.0 * deviation).log2().ceil().exp2();
        (mean / step).round() * step
    }

    /// What to tell a user of a column that varies, but hardly beside its mean: `name` is what it is
    /// called, and the rest of a sentence says how much of it double precision can still tell.
    #[must_use]
    pub fn warning(&self, column: usize, name: &str) -> Option<String> {
        let (mean, deviation) = (self.mean[column], self.deviation[column]);
        if self.reach[column] <= 0.0 || mean.abs() <= IMPRECISE * deviation {
            return None;
        }
        let effect = match self.is_constant(column) {
            true => "counts as constant, because that is the rounding of its values",
            false => "keeps fewer than five digits of it",
        };
        Some(format!(
            "{name} is {mean:e} and varies by {deviation:.1e} only: it {effect}; subtract the offset before it is written down"
        ))
    }
}

/// The power of two at or below a positive number; 1 for zero.
fn power_of_two(value: f64) -> f64 {
    if value > 0.0 {
        value.log2().floor().exp2()
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> ColumnMoments {
        ColumnMoments::of(1, || values.chunks_exact(1))
    }

    #[test]
    fn an_offset_costs_no_digits() {
        let wave: Vec<f64> = (0..1000).map(|i| f64::from(i).sin()).collect();
        let plain = of(&wave).deviation()[0];
        for (offset, tolerance) in [(1e6, 1e-9), (1e9, 1e-6), (-1e12, 1e-3)] {
            let moved: Vec<f64> = wave.iter().map(|x| x + offset).collect();
            let columns = of(&moved);
            let found = columns.deviation()[0];
            assert!((found / plain - 1.0).abs() < tolerance, "{offset}: {found}");
            // What is left is near zero, and nothing was rounded away.
            let taken = columns.offset(0);
            assert!((columns.mean()[0] - taken).abs() <= 8.0 * found);
            assert!(
                moved
                    .iter()
                    .all(|y| ((y - taken) + taken).to_bits() == y.to_bits())
            );
        }
        assert!(of(&wave).offset(0).abs() <= 0.0);
    }

    #[test]
    fn constant_is_a_matter_of_size() {
        for size in [1e-300, 1e-13, 1.0, 1e100] {
            let varies = of(&[size, 2.0 * size, 3.0 * size]);
            assert!(!varies.is_constant(0), "{size}");
            assert!(varies.warning(0, "x").is_none());
            let rounding = of(&[size, size * (1.0 + f64::EPSILON), size]);
            assert!(rounding.is_constant(0), "{size}");
            assert!((rounding.scale(0) - 1.0).abs() <= 0.0);
        }
        // Around zero everything varies.
        assert!(!of(&[-1e-200, 1e-200]).is_constant(0));
        assert!(of(&[0.0, 0.0]).is_constant(0));
        assert!((of(&[0.1; 1000]).offset(0) - 0.1).abs() <= 0.0);
    }

    #[test]
    fn what_precision_cannot_tell_is_said() {
        let few = of(&[1e13, 1e13 + 4.0]).warning(0, "input `p`").unwrap();
        assert!(few.contains("input `p` is 1.0000000000002e13"), "{few}");
        assert!(few.contains("varies by 2.0e0 only"), "{few}");
        assert!(few.contains("fewer than five digits"), "{few}");
        let none = of(&[1e15, 1e15 + 1.0]).warning(0, "p").unwrap();
        assert!(none.contains("counts as constant"), "{none}");
        assert!(of(&[7.0; 9]).warning(0, "p").is_none());
        assert!(of(&[1e11, 1e11 + 1.0]).warning(0, "p").is_none());
    }
}
