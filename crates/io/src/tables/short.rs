//! Numbers as tables for people have them.

/// A number of four digits or so, as tables for people have it.
#[must_use]
pub fn short(value: f64) -> String {
    let size = value.abs();
    if size < f64::MIN_POSITIVE {
        return "0".into();
    }
    if !(1e-4..1e7).contains(&size) {
        return format!("{value:.3e}");
    }
    let digits = (3 - size.log10().floor() as i32).clamp(0, 8) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (1234.567, "1235"),
            (0.012_345_6, "0.01235"),
            (1e-9, "1.000e-9"),
            (12_345_678.0, "1.235e7"),
        ] {
            assert_eq!(short(value), text);
        }
    }
}
