//! Numbers from text and back, and the mark of an empty cell.

use std::fmt::Write;

/// The NaN that stands for an empty cell, so that a message can tell it from a written `nan`.
///
/// The payload is arbitrary; copies keep it and no arithmetic happens before it is asked for.
pub(crate) const EMPTY: f64 = f64::from_bits(0x7ff8_0000_0000_e390);

/// Whether a value stands for an empty cell.
pub(crate) fn is_empty(value: f64) -> bool {
    value.to_bits() == EMPTY.to_bits()
}

/// The number that a cell holds, with blanks around it or without; nothing for other text.
///
/// Spellings of infinity and of no number are numbers too: whether they are welcome is for the
/// caller to say.
#[must_use]
pub fn parse(cell: &[u8]) -> Option<f64> {
    let value: f64 = fast_float2::parse(cell.trim_ascii()).ok()?;
    // Signed and unsigned `nan` are one value to a reader.
    Some(if value.is_nan() { f64::NAN } else { value })
}

/// Powers of ten up to the most digits that [`short_decimal`] takes; all of them are exact.
const POWERS: [f64; 16] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// The plain decimal of at most 15 digits that the bytes begin with, and its length.
///
/// Nearly all measurements are such. Their digits and the power of ten are exact in a double, so
/// that one division rounds correctly (Clinger 1990, How to read floating point numbers accurately).
/// Whatever follows is for the caller to judge: an exponent, for one.
#[inline]
pub(crate) fn short_decimal(bytes: &[u8]) -> Option<(f64, usize)> {
    let negative = bytes.first() == Some(&b'-');
    let start = usize::from(negative);
    let (whole, point) = digits(bytes, start, 0);
    let (mantissa, end, places) = if bytes.get(point) == Some(&b'.') {
        let (mantissa, end) = digits(bytes, point + 1, whole);
        (mantissa, end, end - point - 1)
    } else {
        (whole, point, 0)
    };
    let count = point - start + places;
    if count == 0 || count >= POWERS.len() || matches!(bytes.get(end), Some(b'e' | b'E')) {
        return None;
    }
    let value = mantissa as f64 / POWERS[places];
    Some((if negative { -value } else { value }, end))
}

/// Continues a number with the digits at `at`; too many digits wrap, which the caller refuses.
#[inline]
fn digits(bytes: &[u8], mut at: usize, mut number: u64) -> (u64, usize) {
    while let Some(byte) = bytes.get(at) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (number, at)
}

/// The number that the bytes begin with, and its length; whatever follows is for the caller to judge.
///
/// The value is the nearest double, as [`str::parse`] gives it.
#[inline]
#[must_use]
pub fn leading(bytes: &[u8]) -> Option<(f64, usize)> {
    short_decimal(bytes).or_else(|| fast_float2::parse_partial(bytes).ok())
}

/// What a value that is not finite is called in messages and files.
pub(crate) fn name(value: f64) -> &'static str {
    if is_empty(value) {
        "empty"
    } else if value.is_nan() {
        "nan"
    } else if value > 0.0 {
        "inf"
    } else {
        "-inf"
    }
}

/// The shortest text that reads back as the same value.
pub(crate) fn text(value: f64) -> String {
    let mut text = String::new();
    push(&mut text, value);
    text
}

/// Appends the shortest text that reads back as the same value.
pub(crate) fn push(text: &mut String, value: f64) {
    // Writing to a string cannot fail.
    let _ = if is_empty(value) {
        Ok(())
    } else if !value.is_finite() {
        text.write_str(name(value))
    } else if value == 0.0 || (1e-5..1e17).contains(&value.abs()) {
        write!(text, "{value}")
    } else {
        write!(text, "{value:e}")
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_usual_spellings() {
        for (text, value) in [
            ("1", 1.0),
            (" +1.5\t", 1.5),
            ("-0", -0.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("1e-3", 1e-3),
            ("1E+3", 1e3),
            ("Infinity", f64::INFINITY),
            ("1e400", f64::INFINITY),
            ("NaN", f64::NAN),
            ("-nan", f64::NAN),
        ] {
            let parsed = parse(text.as_bytes()).unwrap();
            assert_eq!(parsed.to_bits(), value.to_bits(), "{text}");
        }
        for text in [
            "", " ", "x", "1x", "1 2", "1,5", "0x10", "--1", "1_000", "e5",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn short_decimals_round_as_the_full_parser() {
        let mut state = 1u64;
        for _ in 0..200_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let digits = state >> 12;
            let places = (state % 16) as usize;
            let text = format!("-{:.places$}", digits as f64 * 10f64.powi(-9));
            match short_decimal(text.as_bytes()) {
                Some((value, used)) => {
                    assert_eq!(used, text.len());
                    assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits());
                }
                None => assert!(text.len() > 16, "{text}"),
            }
        }
        for (text, value, used) in [
            ("0", 0.0, 1),
            ("-0.0,", -0.0, 4),
            (".5\n", 0.5, 2),
            ("7.;", 7.0, 2),
            ("999999999999999", 999_999_999_999_999.0, 15),
            ("0.30000000000000", 0.3, 16),
        ] {
            let (found, end) = short_decimal(text.as_bytes()).unwrap();
            assert_eq!(
                (found.to_bits(), end),
                (f64::to_bits(value), used),
                "{text}"
            );
        }
        for text in [
            "",
            "-",
            ".",
            "-.",
            "x",
            "+1",
            "1e5",
            "1000000000000000",
            "inf",
        ] {
            assert_eq!(short_decimal(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn writes_the_shortest_text() {
        for (value, written) in [
            (7.0, "7"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (1e15, "1000000000000000"),
            (1e300, "1e300"),
            (5e-324, "5e-324"),
            (EMPTY, ""),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(text(value), written);
        }
    }

    #[test]
    fn an_empty_cell_is_not_any_other_nan() {
        assert!(EMPTY.is_nan() && is_empty(EMPTY));
        assert!(!is_empty(f64::NAN) && !is_empty(-EMPTY));
    }
}
