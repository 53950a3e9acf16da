//! Times as people write them.

/// Now, in microseconds since 1970; what `SOURCE_DATE_EPOCH` says, where somebody wants the same bytes again.
#[must_use]
pub fn now_us() -> i64 {
    let fixed = std::env::var("SOURCE_DATE_EPOCH").ok();
    if let Some(seconds) = fixed.and_then(|text| text.trim().parse::<i64>().ok()) {
        return seconds.saturating_mul(1_000_000);
    }
    let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// A time in microseconds since 1970 as `2026-11-17 15:04` in UTC.
#[must_use]
pub fn minute(time_us: i64) -> String {
    let (date, seconds) = split(time_us);
    format!("{date} {:02}:{:02}", seconds / 3600, seconds / 60 % 60)
}

/// The same with seconds and a mark of the zone, as ISO 8601 has it.
#[must_use]
pub fn iso(time_us: i64) -> String {
    let (date, seconds) = split(time_us);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{date}T{hours:02}:{minutes:02}:{:02}Z", seconds % 60)
}

/// The date, and the seconds since midnight.
fn split(time_us: i64) -> (String, i64) {
    let seconds = time_us.div_euclid(1_000_000);
    let (days, seconds) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    (format!("{year:04}-{month:02}-{day:02}"), seconds)
}

/// Year, month and day of a number of days since 1970, by the calendar of 400-year cycles that begin in March.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (cycle, day_of_cycle) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let leaps = day_of_cycle / 1460 - day_of_cycle / 36_524 + day_of_cycle / 146_096;
    let year_of_cycle = (day_of_cycle - leaps) / 365;
    let day_of_year =
        day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = year_of_cycle + 400 * cycle + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checked against `date -u -d @SECONDS`.
    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_763_391_903, "2025-11-17T15:05:03Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (-1, "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(iso(seconds * 1_000_000), text);
        }
        assert_eq!(minute(1_763_391_903_000_000), "2025-11-17 15:05");
    }
}
