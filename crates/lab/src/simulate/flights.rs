//! Flights, simulated into a folder of logs.

use std::path::{Path, PathBuf};

use taskscout_worlds::flights::{FlightsConfig, Programme, simulate_flights, write};

use super::Tell;
use crate::error::{LabError, Result};
use crate::memory::Need;

/// Bytes of a row of a flight, and of its line in a file while that grows.
const ROW: f64 = 256.0;
const ROW_TEXT: f64 = 2000.0;

/// Flights to simulate, as a command line gives them.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedFlights {
    /// The vehicles, with what they fly.
    pub programmes: Vec<Programme>,
    /// Winds of every vehicle by name, in the place of its own.
    pub winds: Option<Vec<String>>,
    /// Rows of every flight.
    pub rows: usize,
    /// The seed of trajectories, jitter and noise.
    pub seed: u64,
    /// Factor of the noise of the sensors.
    pub noise: f64,
    /// The folder for the logs.
    pub out: PathBuf,
    /// Whether the folder may hold files already.
    pub force: bool,
}

/// Flies all flights and writes a log of each; gives a sentence on what was done.
///
/// # Errors
/// Options that cannot be, a folder that holds something, or files that cannot be written.
pub fn simulate_flight_logs(asked: &AskedFlights, tell: Tell<'_>) -> Result<String> {
    let config = config(asked)?;
    check_memory(&config, tell)?;
    check_folder(&asked.out, asked.force)?;
    let flights = simulate_flights(&config)?;
    std::fs::create_dir_all(&asked.out).map_err(|error| {
        LabError::Input(format!(
            "cannot create {}: {error}; give another --out",
            asked.out.display()
        ))
    })?;
    write(&asked.out, &flights).map_err(|error| LabError::Failure(error.to_string()))?;
    let plural = if flights.len() == 1 { "" } else { "s" };
    Ok(format!(
        "{} flight{plural} of {} rows written to {}",
        flights.len(),
        config.rows,
        asked.out.display()
    ))
}

/// Refuses flights that do not fit into memory: all of them are flown before the first is written.
fn check_memory(config: &FlightsConfig, tell: Tell<'_>) -> Result<()> {
    let flights = config.file_names()?.len() as f64;
    let written = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    let rows = config.rows as f64;
    let mut need = Need::default();
    let what = format!("{flights:.0} flights of {} rows", config.rows);
    need.add(what, flights * rows * ROW);
    need.add("their text", written.min(flights) * rows * ROW_TEXT);
    need.check("give fewer --rows, or fewer --vehicles and --winds at a time")?;
    need.note().iter().for_each(|note| tell(note));
    Ok(())
}

/// What is asked for, checked.
fn config(asked: &AskedFlights) -> Result<FlightsConfig> {
    let programme = |programme: &Programme| {
        let conditions = asked.winds.as_ref().unwrap_or(&programme.conditions);
        Programme {
            conditions: conditions.clone(),
            ..programme.clone()
        }
    };
    let config = FlightsConfig {
        programmes: asked.programmes.iter().map(programme).collect(),
        rows: asked.rows,
        seed: asked.seed,
        noise: asked.noise,
    };
    config.file_names().map_err(|error| match error {
        taskscout::Error::Setting { key, problem } => {
            let option = match key.as_str() {
                "programmes" => "--vehicles and --winds".into(),
                key => format!("--{key}"),
            };
            LabError::Input(format!("{option} {problem}"))
        }
        other => other.into(),
    })?;
    Ok(config)
}

/// Refuses a folder that holds something, unless it may.
fn check_folder(path: &Path, force: bool) -> Result<()> {
    let entries = match std::fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            return Err(LabError::Input(format!(
                "cannot look into {}: {error}; give a folder as --out",
                path.display()
            )));
        }
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    match names.min().filter(|_| !force) {
        None => Ok(()),
        Some(first) => Err(LabError::Input(format!(
            "{} holds {} already: give an empty folder as --out, or --force to write into this one",
            path.display(),
            first.to_string_lossy()
        ))),
    }
}
