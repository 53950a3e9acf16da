//! Axes: from values to pixels, and the ticks between.

use crate::format::{grouped, superscript};

/// How values are spaced along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spacing {
    Linear,
    Log,
}

/// A labelled place on an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// The values that an axis spans.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub(crate) spacing: Spacing,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Range {
    /// A linear range with some air around the values; zero joins when it is near.
    pub(crate) fn linear(values: &[f64]) -> Self {
        let (mut low, mut high) = bounds(values);
        if low > 0.0 && low < 0.5 * high {
            low = 0.0;
        }
        let width = high - low;
        let pad = if width > 1e-12 * high.abs().max(low.abs()) {
            0.06 * width
        } else {
            high.abs().max(1.0) / 2.0
        };
        high += pad;
        if low.abs() > 0.0 {
            low -= pad;
        }
        Self {
            spacing: Spacing::Linear,
            low,
            high,
        }
    }

    /// From 0 to 1, wider only where values lie outside.
    pub(crate) fn unit(values: &[f64]) -> Self {
        let (low, high) = bounds(values);
        let stretch = |value: f64| if value < 0.0 { 1.06 * value } else { 0.0 };
        Self {
            spacing: Spacing::Linear,
            low: stretch(low),
            high: if high > 1.0 { 1.03 * high } else { 1.0 },
        }
    }

    /// A logarithmic range with some air around positive values.
    pub(crate) fn log(values: &[f64]) -> Self {
        let (low, high) = bounds(values);
        let (low, high) = (low.max(1e-300), high.max(1e-300));
        let decades = high.log10() - low.log10();
        let pad = if decades < 0.02 {
            0.3
        } else {
            (0.06 * decades).clamp(0.012, 1.0)
        };
        Self {
            spacing: Spacing::Log,
            low: low * 10f64.powf(-pad),
            high: high * 10f64.powf(pad),
        }
    }

    /// Where a value lies, 0 at the low end and 1 at the high end; what lies outside is moved in.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let share = match self.spacing {
            Spacing::Linear => (value - self.low) / (self.high - self.low),
            Spacing::Log if value <= self.low => 0.0,
            Spacing::Log => (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln()),
        };
        share.clamp(0.0, 1.0)
    }

    /// Between about four and ten ticks.
    pub(crate) fn ticks(&self) -> Vec<Tick> {
        let values = match self.spacing {
            Spacing::Linear => linear_ticks(self.low, self.high),
            Spacing::Log => log_ticks(self.low, self.high),
        };
        let label = |value| Tick {
            value,
            label: label(value),
        };
        values.into_iter().map(label).collect()
    }
}

fn bounds(values: &[f64]) -> (f64, f64) {
    // Differences and margins of the largest numbers must stay finite.
    let values = values.iter().map(|value| value.clamp(-1e290, 1e290));
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    if low <= high { (low, high) } else { (0.0, 1.0) }
}

/// Multiples of 1, 2 or 5 times a power of ten, about five of them.
fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    let raw = (high - low) / 5.0;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|multiple| multiple * power)
        .find(|step| *step >= 0.999 * raw)
        .unwrap_or(10.0 * power);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|index| index as f64 * step).collect()
}

/// Powers of ten over many decades, 1-2-5 over a few, finer within one.
fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = high.log10() - low.log10();
    let within = |multiples: &[f64], stride: usize| -> Vec<f64> {
        let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        (first..=last)
            .step_by(stride)
            .flat_map(|power| multiples.iter().map(move |m| m * 10f64.powi(power)))
            .filter(|value| (0.999_999 * low..=1.000_001 * high).contains(value))
            .collect()
    };
    if decades > 3.5 {
        return within(&[1.0], (decades / 9.0).ceil() as usize);
    }
    let coarse = within(&[1.0, 2.0, 5.0], 1);
    if coarse.len() >= 4 {
        return coarse;
    }
    let fine = within(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0], 1);
    if fine.len() >= 4 {
        return fine;
    }
    linear_ticks(low, high)
}

/// A short label: `0.002`, `20,000`, `2M`, `5×10⁻⁶`.
fn label(value: f64) -> String {
    let text = format!("{:.3e}", value.abs());
    let (digits, power) = text.split_once('e').unwrap_or(("0", "0"));
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    let power: i32 = power.parse().unwrap_or(0);
    let sign = if value < 0.0 { "−" } else { "" };
    if digits == "0" {
        return "0".to_owned();
    }
    let decimals = digits.len().saturating_sub(2) as i32;
    match power {
        6..=8 => {
            let places = (decimals + 6 - power).max(0) as usize;
            format!("{sign}{:.places$}M", value.abs() / 1e6)
        }
        3..=5 => format!("{sign}{}", grouped(value.abs())),
        -4..=2 => {
            let places = (decimals - power).max(0) as usize;
            format!("{sign}{:.places$}", value.abs())
        }
        _ if digits == "1" => format!("{sign}10{}", superscript(power)),
        _ => format!("{sign}{digits}×10{}", superscript(power)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(range: Range) -> Vec<String> {
        range.ticks().into_iter().map(|tick| tick.label).collect()
    }

    fn log(low: f64, high: f64) -> Range {
        Range {
            spacing: Spacing::Log,
            low,
            high,
        }
    }

    #[test]
    fn log_ticks_are_one_two_five() {
        assert_eq!(
            labels(log(0.0015, 0.09)),
            ["0.002", "0.005", "0.01", "0.02", "0.05"]
        );
        assert_eq!(
            labels(log(1e-6, 1e-1)),
            ["10⁻⁶", "10⁻⁵", "0.0001", "0.001", "0.01", "0.1"]
        );
        assert_eq!(labels(log(2.5, 7.0)), ["3", "4", "5", "6"]);
        assert_eq!(
            labels(log(1.0, 1.05)),
            ["1", "1.01", "1.02", "1.03", "1.04", "1.05"]
        );
    }

    #[test]
    fn many_decades_do_not_crowd() {
        assert!(log_ticks(1e-30, 1e3).len() <= 10);
    }

    #[test]
    fn linear_ticks_are_round() {
        let range = Range {
            spacing: Spacing::Linear,
            low: 0.0,
            high: 31_000.0,
        };
        assert_eq!(labels(range), ["0", "10,000", "20,000", "30,000"]);
        assert_eq!(
            labels(Range::unit(&[0.3])),
            ["0", "0.2", "0.4", "0.6", "0.8", "1"]
        );
        assert_eq!(label(2_500_000.0), "2.5M");
        assert_eq!(label(-0.25), "−0.25");
        assert_eq!(label(12.5), "12.5");
    }

    #[test]
    fn values_land_where_they_should() {
        let range = log(0.01, 1.0);
        assert!((range.share(0.1) - 0.5).abs() < 1e-12);
        assert!(range.share(-3.0) < 1e-12 && range.share(5.0) > 1.0 - 1e-12);
    }

    #[test]
    fn degenerate_ranges_have_a_width() {
        for range in [
            Range::log(&[0.5]),
            Range::linear(&[0.0]),
            Range::linear(&[-2.0, -2.0]),
            Range::linear(&[]),
            Range::unit(&[-0.5, 1.5]),
        ] {
            assert!(range.high > range.low, "{range:?}");
            assert!(range.ticks().len() >= 2, "{range:?}");
        }
    }
}
