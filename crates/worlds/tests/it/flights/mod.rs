//! Flights of our own: physics, files and determinism.

#![allow(clippy::unwrap_used)] // a broken test set-up should be loud

mod files;
mod physics;

use taskscout_worlds::flights::{FlightsConfig, SimulatedFlight, simulate_flights};

/// The default flights, somewhat shorter.
fn flights() -> Vec<SimulatedFlight> {
    simulate_flights(&FlightsConfig {
        rows: 1500,
        ..FlightsConfig::default()
    })
    .unwrap()
}

fn named<'a>(flights: &'a [SimulatedFlight], name: &str) -> &'a SimulatedFlight {
    let wanted = format!("{name}.csv");
    flights
        .iter()
        .find(|flight| flight.file_name == wanted)
        .unwrap()
}
