//! Times of the log as people write them.

pub use taskscout_io::time::{iso, minute};

/// A time as people write it: 90s, 30m, 2h or 1d; seconds without a letter.
///
/// # Errors
/// Anything else, with what would be understood.
pub fn duration(text: &str) -> Result<std::time::Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err("give a number with s, m, h or d".into()),
    };
    match digits.parse::<f64>() {
        Ok(number) if number > 0.0 && number * seconds < 1e9 => {
            Ok(std::time::Duration::from_secs_f64(number * seconds))
        }
        _ => Err("give a positive number with s, m, h or d, for instance 30m".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_letters() {
        for (text, seconds) in [("90", 90), ("1.5m", 90), ("2h", 7200), ("1d", 86_400)] {
            assert_eq!(duration(text).unwrap().as_secs(), seconds);
        }
        for text in ["", "m", "0s", "-3m", "3 weeks", "1e40h", "nan"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
