//! Numbers and text for human readers.

/// What stands where a value is not defined.
pub const MISSING: &str = "–";

/// Escapes text for HTML and SVG, in content and in quoted attributes.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for next in text.chars() {
        match next {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Not allowed in XML even when escaped.
            '\t' | '\n' | '\r' => out.push(next),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            control if control.is_control() => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

/// The power of ten of a number's leading digit, as it stands after rounding to three digits.
fn magnitude(value: f64) -> i32 {
    if value.abs() < f64::MIN_POSITIVE || !value.is_finite() {
        return 0;
    }
    let text = format!("{:.2e}", value.abs());
    let exponent = text.split('e').nth(1).and_then(|part| part.parse().ok());
    exponent.unwrap_or(0)
}

/// A mean with its standard error, to the error's second digit: `0.00182 ± 0.00004`.
#[must_use]
pub fn mean_sem(mean: f64, sem: Option<f64>) -> String {
    if !mean.is_finite() {
        return MISSING.to_owned();
    }
    let sem = sem.filter(|sem| sem.is_finite());
    let power = magnitude(mean);
    let scientific = !(-4..6).contains(&power);
    let scale = if scientific { 10f64.powi(power) } else { 1.0 };
    let lead = if scientific { 0 } else { power };
    // An error too small to show at five digits asks for no more than the usual three.
    let shown = sem.filter(|sem| *sem >= 0.5 * 10f64.powi(power - 4));
    let wanted = shown.map_or(2 - lead, |sem| 1 - magnitude(sem / scale));
    let decimals = wanted.clamp(2 - lead, 4 - lead).max(0) as usize;
    let number = match sem {
        Some(sem) => format!("{:.decimals$} ± {:.decimals$}", mean / scale, sem / scale),
        None => format!("{:.decimals$}", mean / scale),
    };
    match (scientific, sem) {
        (false, _) => number,
        (true, Some(_)) => format!("({number})×10{}", superscript(power)),
        (true, None) => format!("{number}×10{}", superscript(power)),
    }
}

/// A number to three digits, without its standard error.
#[must_use]
pub fn short(value: f64) -> String {
    mean_sem(value, None)
}

/// The same with a true minus sign.
#[must_use]
pub fn signed(value: f64) -> String {
    short(value).replace('-', "−")
}

/// A whole number with commas between thousands.
#[must_use]
pub fn grouped(value: f64) -> String {
    if !value.is_finite() {
        return MISSING.to_owned();
    }
    let digits = format!("{:.0}", value.abs());
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if value <= -0.5 {
        format!("−{out}")
    } else {
        out
    }
}

/// A share as a percentage: `28 %`, or `28.4 %` with one decimal; a dash where it is not defined,
/// for instance as a part of nothing.
///
/// ```
/// use taskscout_plot::format::percent;
/// assert_eq!(percent(0.284, 1), "28.4 %");
/// assert_eq!(percent(1.0 - 0.5 / 0.0, 1), "–");
/// ```
#[must_use]
pub fn percent(share: f64, decimals: usize) -> String {
    match share.is_finite() {
        true => format!("{} %", percent_number(share, decimals)),
        false => MISSING.to_owned(),
    }
}

/// The number of [`percent`] without its sign: for the first of two between which a range runs.
#[must_use]
pub fn percent_number(share: f64, decimals: usize) -> String {
    let decimals = if share < 0.0995 && share > 0.0 {
        decimals.max(1)
    } else {
        decimals
    };
    format!("{:.decimals$}", 100.0 * share)
}

/// Digits raised, for powers of ten.
#[must_use]
pub fn superscript(number: i32) -> String {
    let raise = |digit| match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁰',
    };
    number.to_string().chars().map(raise).collect()
}

/// Joins phrases as a sentence does: `a, b and c`.
#[must_use]
pub fn list(phrases: &[String]) -> String {
    match phrases {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(mean: f64, sem: f64) -> String {
        mean_sem(mean, Some(sem))
    }

    #[test]
    fn means_follow_their_errors() {
        assert_eq!(text(0.001_823_4, 0.000_041), "0.001823 ± 0.000041");
        assert_eq!(text(0.1234, 0.05), "0.123 ± 0.050");
        assert_eq!(text(12.345_6, 0.000_01), "12.3 ± 0.0");
        assert_eq!(text(1234.5, 20.0), "1234 ± 20");
        assert_eq!(text(1.5e-7, 2e-8), "(1.50 ± 0.20)×10⁻⁷");
        assert_eq!(short(0.3), "0.300");
        assert_eq!(short(2.5e9), "2.50×10⁹");
        assert_eq!(short(0.0), "0.00");
        assert_eq!(short(0.099_99), "0.100");
    }

    #[test]
    fn numbers_are_grouped_and_what_is_none_is_a_dash() {
        assert_eq!(grouped(72_402.4), "72,402");
        assert_eq!(grouped(-1_000.0), "−1,000");
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for text in [
                short(wrong),
                signed(wrong),
                grouped(wrong),
                percent(wrong, 1),
            ] {
                assert_eq!(text, MISSING);
            }
            assert_eq!(text(0.5, wrong), "0.500");
        }
    }

    #[test]
    fn escapes_everything_that_markup_reads() {
        assert_eq!(
            escape("<a href=\"x\">&'\u{1}\u{b}\u{c}\u{ffff}\t"),
            "&lt;a href=&quot;x&quot;&gt;&amp;&#39;\u{fffd}\u{fffd}\u{fffd}\u{fffd}\t"
        );
    }

    #[test]
    fn lists_read_like_sentences() {
        let words = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(list(&words), "a, b and c");
        assert_eq!(list(&words[..1]), "a");
    }
}
