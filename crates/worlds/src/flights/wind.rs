//! Winds by the names that conditions have in file names.

use serde::{Deserialize, Serialize};
use taskscout::{Error, Result};

/// A wind along x: `mean + gust · sin t`, in metres a second, `t` in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wind {
    /// Its mean.
    pub mean_m_s: f64,
    /// The amplitude of its gusts.
    pub gust_m_s: f64,
}

/// Names with mean and gust, as the fans of the published flights blew.
const NAMED: [(&str, f64, f64); 10] = [
    ("nowind", 0.0, 0.0),
    ("10wind", 1.3, 0.0),
    ("20wind", 2.5, 0.0),
    ("30wind", 3.7, 0.0),
    ("35wind", 4.2, 0.0),
    ("40wind", 4.9, 0.0),
    ("50wind", 6.1, 0.0),
    ("70wind", 8.5, 0.0),
    ("100wind", 12.1, 0.0),
    ("70p20sint", 8.5, 2.4),
];

impl Wind {
    /// The wind of a condition.
    ///
    /// ```
    /// use taskscout_worlds::flights::Wind;
    /// let wind = Wind::of_condition("70p20sint")?;
    /// assert_eq!(wind.at(0.0), 8.5);
    /// assert!(wind.at(1.0) > 10.0);
    /// # Ok::<(), taskscout::Error>(())
    /// ```
    ///
    /// # Errors
    /// A name that is none.
    pub fn of_condition(name: &str) -> Result<Self> {
        let known = NAMED.iter().find(|(known, ..)| *known == name);
        known
            .map(|&(_, mean_m_s, gust_m_s)| Self { mean_m_s, gust_m_s })
            .ok_or_else(|| {
                let names: Vec<&str> = NAMED.iter().map(|(name, ..)| *name).collect();
                Error::setting(
                    "winds",
                    format!("has `{name}`: choose from {}", names.join(", ")),
                )
            })
    }

    /// Its speed along x.
    #[must_use]
    pub fn at(&self, time_s: f64) -> f64 {
        self.mean_m_s + self.gust_m_s * time_s.sin()
    }
}
