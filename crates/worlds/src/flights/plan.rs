//! Which flights are flown.

use std::path::Path;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use taskscout::{Error, Result};
use taskscout_io::files::WriteError;

use super::control::Method;
use super::course::Trajectory;
use super::log::{LogStyle, Row, SimulatedFlight};
use super::simulate::simulate;
use super::vehicle::Vehicle;
use taskscout_logs::Wind;

/// Most rows of a flight: more than five hours.
pub const MAX_ROWS: usize = 1_000_000;

/// The flights of a vehicle: each method in each condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Programme {
    /// Who flies.
    pub vehicle: Vehicle,
    /// Where.
    pub trajectory: Trajectory,
    /// Under which controllers.
    pub methods: Vec<Method>,
    /// In which winds, by name; see [`Wind::of_condition`].
    pub conditions: Vec<String>,
    /// How it is written down.
    pub style: LogStyle,
}

impl Programme {
    /// `hawk` flies eights under two controllers in five winds, and logs everything.
    #[must_use]
    pub fn hawk() -> Self {
        Self {
            vehicle: Vehicle::hawk(),
            trajectory: Trajectory::Figure8,
            methods: vec![Method::Pid, Method::Adaptive],
            conditions: names(&["nowind", "35wind", "70wind", "100wind", "70p20sint"]),
            style: LogStyle::Rich,
        }
    }

    /// `wren` flies at random under one controller in six winds, and logs the least.
    #[must_use]
    pub fn wren() -> Self {
        Self {
            vehicle: Vehicle::wren(),
            trajectory: Trajectory::Random,
            methods: vec![Method::Pid],
            conditions: names(&["nowind", "10wind", "20wind", "30wind", "40wind", "50wind"]),
            style: LogStyle::Compact,
        }
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Which flights, how long, and how noisy; sixteen flights of 50 seconds by default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FlightsConfig {
    /// The flights, vehicle by vehicle.
    pub programmes: Vec<Programme>,
    /// Rows of each flight.
    pub rows: usize,
    /// The seed of courses, jitter and noise.
    pub seed: u64,
    /// Times the noise of the vehicles' instruments; 0: none.
    pub noise: f64,
}

impl Default for FlightsConfig {
    fn default() -> Self {
        Self {
            programmes: vec![Programme::hawk(), Programme::wren()],
            rows: 2500,
            seed: 0,
            noise: 1.0,
        }
    }
}

/// A flight to be flown.
pub(super) struct Flight<'a> {
    pub(super) vehicle: &'a Vehicle,
    pub(super) trajectory: Trajectory,
    pub(super) method: Method,
    pub(super) condition: &'a str,
    pub(super) wind: Wind,
    pub(super) style: LogStyle,
}

impl Flight<'_> {
    /// `<VEHICLE>_<TRAJECTORY>_<METHOD>_<CONDITION>.csv`.
    pub(super) fn file_name(&self) -> String {
        format!(
            "{}_{}_{}_{}.csv",
            self.vehicle.name,
            self.trajectory.name(),
            self.method.name(),
            self.condition
        )
    }

    pub(super) fn logged(&self, rows: Vec<Row>) -> SimulatedFlight {
        SimulatedFlight {
            file_name: self.file_name(),
            vehicle: self.vehicle.clone(),
            trajectory: self.trajectory,
            method: self.method,
            condition: self.condition.to_owned(),
            wind: self.wind,
            style: self.style,
            rows,
        }
    }
}

impl FlightsConfig {
    /// All flights in order, checked.
    fn flights(&self) -> Result<Vec<Flight<'_>>> {
        if !(1..=MAX_ROWS).contains(&self.rows) {
            return Err(Error::setting(
                "rows",
                format!("is {}: give 1 to {MAX_ROWS}", self.rows),
            ));
        }
        if !(self.noise >= 0.0 && self.noise.is_finite()) {
            return Err(Error::setting(
                "noise",
                format!("is {}: it must be at least 0 and finite", self.noise),
            ));
        }
        let mut flights: Vec<Flight<'_>> = Vec::new();
        for programme in &self.programmes {
            programme.vehicle.check()?;
            for &method in &programme.methods {
                for condition in &programme.conditions {
                    flights.push(Flight {
                        vehicle: &programme.vehicle,
                        trajectory: programme.trajectory,
                        method,
                        condition,
                        wind: wind(condition)?,
                        style: programme.style,
                    });
                }
            }
        }
        for (index, flight) in flights.iter().enumerate() {
            let name = flight.file_name();
            if flights[..index]
                .iter()
                .any(|other| other.file_name() == name)
            {
                return Err(Error::setting(
                    "programmes",
                    format!("have {name} twice: fly each flight once"),
                ));
            }
        }
        if flights.is_empty() {
            return Err(Error::setting(
                "programmes",
                "have no flight: give a vehicle, a method and a wind",
            ));
        }
        Ok(flights)
    }

    /// The names of the files that the flights are written to.
    ///
    /// # Errors
    /// As [`simulate_flights`], before anything is simulated.
    pub fn file_names(&self) -> Result<Vec<String>> {
        let flights = self.flights()?;
        Ok(flights.iter().map(Flight::file_name).collect())
    }
}

/// Flies all flights, on all cores: the same bits on any number of them.
///
/// ```
/// use taskscout_worlds::flights::{FlightsConfig, simulate_flights};
/// let config = FlightsConfig { rows: 100, ..FlightsConfig::default() };
/// let flights = simulate_flights(&config)?;
/// assert_eq!(flights.len(), 16);
/// assert_eq!(flights[0].file_name, "hawk_figure8_pid_nowind.csv");
/// assert_eq!(flights[0].rows.len(), 100);
/// # Ok::<(), taskscout::Error>(())
/// ```
///
/// # Errors
/// Settings out of range; a wind whose name is none; a flight that the wind blows off its course:
/// the first of the list, with the time and the remedy.
pub fn simulate_flights(config: &FlightsConfig) -> Result<Vec<SimulatedFlight>> {
    let flights = config.flights()?;
    let fly = |flight: &Flight<'_>| simulate(flight, config.rows, config.noise, config.seed);
    let flown: Vec<Result<SimulatedFlight>> = flights.par_iter().map(fly).collect();
    // In order, so that of several errors it is always the first.
    flown.into_iter().collect()
}

/// Writes flights into a folder that is there, a file each, replacing files of the same names.
///
/// # Errors
/// A file that cannot be written, with its path and the remedy; every file is complete or as it
/// was before.
pub fn write(folder: &Path, flights: &[SimulatedFlight]) -> std::result::Result<(), WriteError> {
    let written: Vec<_> = flights
        .par_iter()
        .map(|flight| flight.write(folder))
        .collect();
    written.into_iter().collect()
}

/// The wind of a condition.
fn wind(condition: &str) -> Result<Wind> {
    Wind::of_condition(condition).ok_or_else(|| {
        Error::setting(
            "winds",
            format!(
                "has `{condition}`: give nowind, 70p20sint, or a fan speed up to 100 as 35wind"
            ),
        )
    })
}
