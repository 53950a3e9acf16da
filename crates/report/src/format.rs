//! Figures of results for human readers, on top of the numbers and text of
//! [`taskscout_plot::format`].

pub use taskscout_plot::format::percent;
pub(crate) use taskscout_plot::format::{MISSING, grouped, short};

use taskscout_plot::format::percent_number;

use crate::curve::MeanSem;
use crate::ratio::BudgetRatio;

/// A mean with its standard error, to the error's second digit: `0.00182 ± 0.00004`.
pub(crate) fn mean_sem(value: MeanSem) -> String {
    taskscout_plot::format::mean_sem(value.mean, value.sem)
}

/// A mean count: whole where it is whole, else one decimal.
pub(crate) fn count(value: f64) -> String {
    if (value - value.round()).abs() < 0.05 || value.abs() >= 1_000.0 || value.is_nan() {
        grouped(value)
    } else {
        format!("{value:.1}")
    }
}

/// Seconds to about three digits.
pub(crate) fn seconds(value: f64) -> String {
    match value {
        v if !v.is_finite() => MISSING.to_owned(),
        v if v >= 100.0 => grouped(v),
        v if v >= 10.0 => format!("{v:.1}"),
        v if v >= 0.01 || v <= 0.0 => format!("{v:.2}"),
        _ => "< 0.01".to_owned(),
    }
}

/// A budget ratio with its interval: `28 % [26–30 %]`, `not reached [80 %–never]`; a mark stands
/// between the two.
pub(crate) fn marked_ratio(ratio: &BudgetRatio, decimals: usize, mark: &str) -> String {
    let text = self::ratio(ratio, decimals);
    match text.split_once(" [") {
        Some((mean, interval)) => format!("{mean}{mark} [{interval}"),
        None => text + mark,
    }
}

/// A budget ratio with its interval: `28 % [26–30 %]`, `not reached [80 %–never]`.
pub(crate) fn ratio(ratio: &BudgetRatio, decimals: usize) -> String {
    let mean = match ratio.mean {
        None => "not reached".to_owned(),
        Some(mean) if ratio.at_first_round => format!("≤ {}", percent(mean, decimals)),
        Some(mean) => percent(mean, decimals),
    };
    match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => format!(
            "{mean} [{}–{}]",
            percent_number(low, decimals),
            percent(high, decimals)
        ),
        (Some(low), None) => format!("{mean} [{}–never]", percent(low, decimals)),
        _ => mean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_times() {
        assert_eq!((count(79.0).as_str(), count(79.3).as_str()), ("79", "79.3"));
        assert_eq!(seconds(0.001), "< 0.01");
        assert_eq!(seconds(0.0), "0.00");
        assert_eq!(seconds(1234.5), "1,234");
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(count(wrong), MISSING);
            assert_eq!(seconds(wrong), MISSING);
        }
    }

    #[test]
    fn ratios_say_what_is_known() {
        let whole = BudgetRatio {
            mean: Some(0.284),
            low: Some(0.26),
            high: Some(0.301),
            at_first_round: false,
        };
        assert_eq!(ratio(&whole, 0), "28 % [26–30 %]");
        assert_eq!(marked_ratio(&whole, 0, "*"), "28 %* [26–30 %]");
        assert_eq!(ratio(&whole, 1), "28.4 % [26.0–30.1 %]");
        let open = BudgetRatio {
            high: None,
            ..whole
        };
        assert_eq!(ratio(&open, 0), "28 % [26 %–never]");
        let never = BudgetRatio { mean: None, ..open };
        assert_eq!(ratio(&never, 0), "not reached [26 %–never]");
        let first = BudgetRatio {
            mean: Some(0.051),
            at_first_round: true,
            ..BudgetRatio::default()
        };
        assert_eq!(ratio(&first, 0), "≤ 5.1 %");
    }
}
