//! `taskscout simulate flights`.

use std::path::Path;

use taskscout_worlds::flights::{FlightsConfig, Programme, simulate_flights, write};

use super::options::{FlightsOptions, VehicleName};
use crate::error::{CliError, Result};
use crate::output::{print, tell_if_large};
use taskscout_lab::memory::Need;

/// Bytes of a row of a flight, and of its line in a file while that grows.
const ROW: f64 = 256.0;
const ROW_TEXT: f64 = 2000.0;

/// Flies all flights and writes a log of each.
pub(crate) fn execute(options: &FlightsOptions) -> Result<()> {
    let config = config(options)?;
    check_memory(&config)?;
    check_folder(&options.out, options.force)?;
    let flights = simulate_flights(&config)?;
    std::fs::create_dir_all(&options.out).map_err(|error| {
        CliError::Input(format!(
            "cannot create {}: {error}; give another --out",
            options.out.display()
        ))
    })?;
    write(&options.out, &flights).map_err(|error| CliError::Failure(error.to_string()))?;
    let plural = if flights.len() == 1 { "" } else { "s" };
    print(&format!(
        "{} flight{plural} of {} rows written to {}\n",
        flights.len(),
        config.rows,
        options.out.display()
    ))
}

/// Refuses flights that do not fit into memory: all of them are flown before the first is written.
fn check_memory(config: &FlightsConfig) -> Result<()> {
    let flights = config.file_names()?.len() as f64;
    let written = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    let rows = config.rows as f64;
    let mut need = Need::default();
    let what = format!("{flights:.0} flights of {} rows", config.rows);
    need.add(what, flights * rows * ROW);
    need.add("their text", written.min(flights) * rows * ROW_TEXT);
    need.check("give fewer --rows, or fewer --vehicles and --winds at a time")?;
    tell_if_large(&need);
    Ok(())
}

/// What the options ask for, checked.
fn config(options: &FlightsOptions) -> Result<FlightsConfig> {
    let programme = |vehicle: &VehicleName| {
        let programme = match vehicle {
            VehicleName::Hawk => Programme::hawk(),
            VehicleName::Wren => Programme::wren(),
        };
        let conditions = options.winds.clone().unwrap_or(programme.conditions);
        Programme {
            conditions,
            ..programme
        }
    };
    let config = FlightsConfig {
        programmes: options.vehicles.iter().map(programme).collect(),
        rows: options.rows,
        seed: options.seed,
        noise: options.noise,
    };
    config.file_names().map_err(|error| match error {
        taskscout::Error::Setting { key, problem } => {
            let option = match key.as_str() {
                "programmes" => "--vehicles and --winds".into(),
                key => format!("--{key}"),
            };
            CliError::Input(format!("{option} {problem}"))
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
            return Err(CliError::Input(format!(
                "cannot look into {}: {error}; give a folder as --out",
                path.display()
            )));
        }
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    match names.min().filter(|_| !force) {
        None => Ok(()),
        Some(first) => Err(CliError::Input(format!(
            "{} holds {} already: give an empty folder as --out, or --force to write into this one",
            path.display(),
            first.to_string_lossy()
        ))),
    }
}
