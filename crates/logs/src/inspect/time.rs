//! The times of one recording.

use super::column::median;

/// A step so many times the usual one is a gap.
const GAP: f64 = 10.0;

/// What the times of a recording tell.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Clock {
    /// From the first to the last.
    pub(super) span: f64,
    /// The median step, or the mean where most times repeat.
    pub(super) step: f64,
    /// How many times are those of the row before.
    pub(super) repeats: usize,
    /// How many steps are gaps.
    pub(super) gaps: usize,
    /// The longest step.
    pub(super) longest: f64,
}

impl Clock {
    /// Nothing for a recording of fewer than two rows.
    pub(super) fn new(times: &[f64]) -> Option<Self> {
        let span = times.last()? - times.first()?;
        let mut steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        steps.sort_by(f64::total_cmp);
        let longest = *steps.last()?;
        let count = steps.len();
        let ahead = steps.partition_point(|&step| step <= 0.0);
        let repeats = ahead - steps.partition_point(|&step| step < 0.0);
        let usual = median(&steps);
        let forward = &steps[ahead..];
        // Rounded times stand still and jump: only the jumps tell how far they are rounded.
        let limit = GAP * median(forward);
        Some(Self {
            span,
            step: if usual > 0.0 {
                usual
            } else {
                span / count as f64
            },
            repeats,
            // A limit met up to rounding is no gap.
            gaps: forward
                .iter()
                .filter(|&&step| step > limit * (1.0 + 1e-9))
                .count(),
            longest,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn steps_and_gaps() {
        let clock = Clock::new(&[0.0, 0.5, 1.0, 1.5, 7.5, 8.0]).unwrap();
        assert_eq!((clock.gaps, clock.repeats), (1, 0));
        let near = |value: f64, wanted: f64| (value - wanted).abs() < 1e-12;
        assert!(near(clock.span, 8.0) && near(clock.step, 0.5) && near(clock.longest, 6.0));
        assert_eq!(Clock::new(&[1.0]), None);
    }

    #[test]
    fn rounded_times_have_no_gaps() {
        let times: Vec<f64> = (0..500)
            .map(|row| (f64::from(row) * 0.2).floor() / 10.0)
            .collect();
        let clock = Clock::new(&times).unwrap();
        assert_eq!(clock.gaps, 0);
        assert_eq!(clock.repeats, 400);
        assert!((clock.step - 9.9 / 499.0).abs() < 1e-12);
    }
}
