//! What the name of a flight log says: `VEHICLE_TRAJECTORY_METHOD_CONDITION`.

use serde::Serialize;

use crate::facts::{Facts, Parameter};
use crate::wind::Wind;

/// The parts of a flight log's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FlightName {
    /// What flew.
    pub vehicle: String,
    /// Along which path.
    pub trajectory: String,
    /// Under which controller.
    pub method: String,
    /// In which wind.
    pub condition: String,
}

impl FlightName {
    /// The parts of a name; nothing unless there are four of them.
    ///
    /// ```
    /// use taskscout_logs::FlightName;
    ///
    /// let name = FlightName::parse("custom_figure8_NF-C_70wind").unwrap();
    /// assert_eq!((&*name.vehicle, &*name.method), ("custom", "NF-C"));
    /// assert_eq!(name.wind().unwrap().mean_m_s, 8.5);
    /// assert_eq!(FlightName::parse("notes"), None);
    /// ```
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let parts: Vec<&str> = name.split('_').collect();
        let [vehicle, trajectory, method, condition] = parts[..] else {
            return None;
        };
        if parts.iter().any(|part| part.trim().is_empty()) {
            return None;
        }
        Some(Self {
            vehicle: vehicle.into(),
            trajectory: trajectory.into(),
            method: method.into(),
            condition: condition.into(),
        })
    }

    /// The wind that the condition stands for; nothing if it is not known.
    ///
    /// Fan speeds between those of the table are interpolated.
    #[must_use]
    pub fn wind(&self) -> Option<Wind> {
        Wind::of_condition(&self.condition)
    }

    /// The same as labels and parameters of a recording; wind and gusts of a condition that is not in the table are unknown.
    #[must_use]
    pub fn facts(&self) -> Facts {
        let label = |name: &str, value: &String| (name.to_owned(), value.clone());
        let metres = |value: Option<f64>| match value {
            Some(value) => Parameter::exactly(value, Some("m/s")),
            None => Parameter::unknown(Some("m/s")),
        };
        let wind = self.wind();
        Facts {
            labels: [
                label("vehicle", &self.vehicle),
                label("trajectory", &self.trajectory),
                label("controller", &self.method),
            ]
            .into(),
            parameters: [
                ("wind".to_owned(), metres(wind.map(|wind| wind.mean_m_s))),
                ("gust".to_owned(), metres(wind.map(|wind| wind.gust_m_s))),
            ]
            .into(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn wind(condition: &str) -> Option<(f64, f64)> {
        let name = FlightName::parse(&format!("a_b_c_{condition}")).unwrap();
        name.wind().map(|wind| (wind.mean_m_s, wind.gust_m_s))
    }

    #[test]
    fn names_have_four_parts() {
        let name = FlightName::parse("intel-aero_random3_NF-C_70p20sint").unwrap();
        assert_eq!(name.vehicle, "intel-aero");
        assert_eq!(name.trajectory, "random3");
        assert_eq!(name.method, "NF-C");
        assert_eq!(name.condition, "70p20sint");
        for wrong in ["", "a", "a_b_c", "a_b_c_d_e", "a__c_d", "_b_c_d", "a_b_c_ "] {
            assert_eq!(FlightName::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_table_is_exact_and_interpolated() {
        for (condition, mean, gust) in [
            ("nowind", 0.0, 0.0),
            ("0wind", 0.0, 0.0),
            ("10wind", 1.3, 0.0),
            ("20wind", 2.5, 0.0),
            ("30wind", 3.7, 0.0),
            ("35wind", 4.2, 0.0),
            ("40wind", 4.9, 0.0),
            ("50wind", 6.1, 0.0),
            ("70wind", 8.5, 0.0),
            ("100wind", 12.1, 0.0),
            ("70p20sint", 8.5, 2.4),
        ] {
            assert_eq!(wind(condition), Some((mean, gust)), "{condition}");
        }
        assert!((wind("60wind").unwrap().0 - 7.3).abs() < 1e-12);
        assert!((wind("2.5wind").unwrap().0 - 0.325).abs() < 1e-12);
    }

    #[test]
    fn other_conditions_are_unknown() {
        for condition in [
            "wind",
            "-5wind",
            "infwind",
            "1e1wind",
            "101wind",
            "35",
            "gale",
            "1.2.3wind",
        ] {
            assert_eq!(wind(condition), None, "{condition}");
        }
    }
}
