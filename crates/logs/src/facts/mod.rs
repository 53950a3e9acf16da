//! What is known of a recording beside its rows: labels, which are texts, and parameters, which are numbers.
//!
//! A label is a vehicle, a controller, an operator, a surface. A parameter is a wind, a mass, a temperature: known exactly,
//! within a range, or not at all. They come from the names of recordings by a [`NamePattern`], from columns or metadata that
//! do not change in a recording, and from a table beside the logs ([`FactOptions`](crate::FactOptions)).
//!
//! ```
//! use taskscout_logs::{Known, NamePattern, Parameter};
//!
//! let pattern = NamePattern::parse("{vehicle}_{trajectory}_{wind:number m/s}")?;
//! let facts = pattern.facts("hawk_figure8_4.2").unwrap();
//! assert_eq!(facts.labels["vehicle"], "hawk");
//! assert_eq!(facts.parameters["wind"], Parameter { value: Known::Exactly(4.2), unit: Some("m/s".into()) });
//! assert_eq!(Known::parse("3..5"), Some(Known::Within(3.0, 5.0)));
//! assert_eq!(Known::parse("unknown"), Some(Known::Unknown));
//! # Ok::<(), taskscout_logs::Error>(())
//! ```

mod pattern;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use self::pattern::NamePattern;

/// What is known of a recording beside its rows.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Facts {
    /// Texts by name: `vehicle`, `controller`, `operator`.
    pub labels: BTreeMap<String, String>,
    /// Numbers by name: `wind`, `mass`, `temperature`.
    pub parameters: BTreeMap<String, Parameter>,
}

/// A number that is known of a recording, more or less.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Parameter {
    /// What is known of it.
    pub value: Known,
    /// What it is measured in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// How well a number is known.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Known {
    /// It is this.
    Exactly(f64),
    /// It lies between these two.
    Within(f64, f64),
    /// Nothing is known of it.
    #[default]
    Unknown,
}

/// Words for a number that nobody knows.
const UNKNOWN: [&str; 8] = ["", "?", "-", "unknown", "none", "nan", "na", "n/a"];

impl Known {
    /// Reads `4.2`, `3..5`, or a word for what is unknown; nothing if it is none of these.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if UNKNOWN.contains(&text.to_ascii_lowercase().as_str()) {
            return Some(Self::Unknown);
        }
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
        match text.split_once("..") {
            Some((low, high)) => Self::between(number(low)?, number(high)?),
            None => number(text).map(Self::Exactly),
        }
    }

    /// The range between two numbers; nothing if the second is smaller.
    #[must_use]
    pub fn between(low: f64, high: f64) -> Option<Self> {
        match low.total_cmp(&high) {
            std::cmp::Ordering::Less => Some(Self::Within(low, high)),
            std::cmp::Ordering::Equal => Some(Self::Exactly(low)),
            std::cmp::Ordering::Greater => None,
        }
    }

    /// The number, if it is known exactly.
    #[must_use]
    pub fn exactly(self) -> Option<f64> {
        match self {
            Self::Exactly(value) => Some(value),
            Self::Within(..) | Self::Unknown => None,
        }
    }

    /// The smallest and the largest number that it may be.
    #[must_use]
    pub fn range(self) -> Option<(f64, f64)> {
        match self {
            Self::Exactly(value) => Some((value, value)),
            Self::Within(low, high) => Some((low, high)),
            Self::Unknown => None,
        }
    }
}

impl std::fmt::Display for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exactly(value) => write!(f, "{value}"),
            Self::Within(low, high) => write!(f, "{low}..{high}"),
            Self::Unknown => f.write_str("unknown"),
        }
    }
}

impl Parameter {
    /// A number that is known exactly.
    #[must_use]
    pub fn exactly(value: f64, unit: Option<&str>) -> Self {
        Self {
            value: Known::Exactly(value),
            unit: unit.map(str::to_owned),
        }
    }

    /// A number of which only the unit is known.
    #[must_use]
    pub fn unknown(unit: Option<&str>) -> Self {
        Self {
            value: Known::Unknown,
            unit: unit.map(str::to_owned),
        }
    }
}

impl std::fmt::Display for Parameter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.unit, self.value) {
            (_, Known::Unknown) | (None, _) => write!(f, "{}", self.value),
            (Some(unit), value) => write!(f, "{value} {unit}"),
        }
    }
}

impl Facts {
    /// Takes what `others` say too; where both say something, the others count.
    pub fn replace_by(&mut self, others: Self) {
        self.labels.extend(others.labels);
        self.parameters.extend(others.parameters);
    }

    /// The number of a parameter, if it is known exactly.
    #[must_use]
    pub fn value(&self, parameter: &str) -> Option<f64> {
        self.parameters.get(parameter)?.value.exactly()
    }
}

/// The names of all labels, and of all parameters, of some recordings.
pub(crate) fn names<'a>(
    facts: impl Iterator<Item = &'a Facts>,
) -> (BTreeSet<&'a str>, BTreeSet<&'a str>) {
    let (mut labels, mut parameters) = (BTreeSet::new(), BTreeSet::new());
    for one in facts {
        labels.extend(one.labels.keys().map(String::as_str));
        parameters.extend(one.parameters.keys().map(String::as_str));
    }
    (labels, parameters)
}

/// A name with its unit, as in `wind [m/s]`.
pub(crate) fn name_and_unit(header: &str) -> (String, Option<String>) {
    let header = header.trim();
    let cut = header
        .strip_suffix(']')
        .and_then(|rest| rest.rsplit_once('['));
    match cut {
        Some((name, unit)) if !name.trim().is_empty() && !unit.trim().is_empty() => {
            (name.trim().to_owned(), Some(unit.trim().to_owned()))
        }
        _ => (header.to_owned(), None),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn numbers_ranges_and_what_nobody_knows_are_told_apart() {
        assert_eq!(Known::parse(" 1e-3 "), Some(Known::Exactly(1e-3)));
        assert_eq!(Known::parse("-1..2.5"), Some(Known::Within(-1.0, 2.5)));
        assert_eq!(Known::parse("2..2"), Some(Known::Exactly(2.0)));
        for text in ["", "?", "NaN", "n/a", "Unknown"] {
            assert_eq!(Known::parse(text), Some(Known::Unknown), "{text}");
        }
        for text in ["hawk", "3..1", "1..x", "inf", "4 m/s"] {
            assert_eq!(Known::parse(text), None, "{text}");
        }
    }

    #[test]
    fn units_stand_in_brackets() {
        let unit = |text: &str| name_and_unit(text);
        assert_eq!(unit("wind [m/s]"), ("wind".into(), Some("m/s".into())));
        assert_eq!(unit(" mass[kg] "), ("mass".into(), Some("kg".into())));
        assert_eq!(unit("q[]"), ("q[]".into(), None));
        assert_eq!(unit("surface"), ("surface".into(), None));
    }
}
