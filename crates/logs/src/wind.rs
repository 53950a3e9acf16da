//! Winds by the names that conditions have in file names.

use serde::{Deserialize, Serialize};

/// A wind that blows steadily, with or without gusts: `mean + gust · sin t`, `t` in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wind {
    /// Its mean in metres a second.
    pub mean_m_s: f64,
    /// The amplitude of the gusts in metres a second.
    pub gust_m_s: f64,
}

/// Fan speed in percent, and the wind that it makes in metres a second.
const FANS: [(f64, f64); 9] = [
    (0.0, 0.0),
    (10.0, 1.3),
    (20.0, 2.5),
    (30.0, 3.7),
    (35.0, 4.2),
    (40.0, 4.9),
    (50.0, 6.1),
    (70.0, 8.5),
    (100.0, 12.1),
];

impl Wind {
    /// The wind of a condition: `nowind`, `70p20sint`, or a fan speed as `35wind`; nothing if it is
    /// none of these. Fan speeds between those of the table are interpolated.
    ///
    /// ```
    /// use taskscout_logs::Wind;
    /// let gusts = Wind::of_condition("70p20sint").unwrap();
    /// assert_eq!(gusts.at(0.0), 8.5);
    /// assert!(gusts.at(1.0) > 10.0);
    /// assert_eq!(Wind::of_condition("storm"), None);
    /// ```
    #[must_use]
    pub fn of_condition(name: &str) -> Option<Self> {
        let steady = |mean_m_s| Self {
            mean_m_s,
            gust_m_s: 0.0,
        };
        match name.to_ascii_lowercase().as_str() {
            "nowind" => Some(steady(0.0)),
            "70p20sint" => Some(Self {
                mean_m_s: 8.5,
                gust_m_s: 2.4,
            }),
            other => between(fan_speed(other)?).map(steady),
        }
    }

    /// Its speed at a time.
    #[must_use]
    pub fn at(&self, time_s: f64) -> f64 {
        self.mean_m_s + self.gust_m_s * time_s.sin()
    }
}

/// The number in `35wind`.
fn fan_speed(condition: &str) -> Option<f64> {
    let digits = condition.strip_suffix("wind")?;
    let plain = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    digits.parse().ok().filter(|_| plain)
}

/// The wind at a fan speed inside the table.
fn between(speed: f64) -> Option<f64> {
    let after = FANS.iter().position(|&(fan, _)| fan >= speed)?;
    let (fan, wind) = FANS[after];
    let Some(&(slower, breeze)) = after.checked_sub(1).and_then(|before| FANS.get(before)) else {
        return Some(wind);
    };
    let part = (fan - speed) / (fan - slower);
    Some(wind - part * (wind - breeze))
}
