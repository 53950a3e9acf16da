//! `taskscout simulate flights`.

use taskscout_lab::simulate::{AskedFlights, simulate_flight_logs};
use taskscout_worlds::flights::Programme;

use super::options::{FlightsOptions, VehicleName};
use crate::error::Result;
use taskscout_terminal::Alive;
use taskscout_terminal::{print, tell};

/// Flies all flights and writes a log of each.
pub(crate) fn execute(options: &FlightsOptions) -> Result<()> {
    let programme = |vehicle: &VehicleName| match vehicle {
        VehicleName::Hawk => Programme::hawk(),
        VehicleName::Wren => Programme::wren(),
    };
    let asked = AskedFlights {
        programmes: options.vehicles.iter().map(programme).collect(),
        winds: options.winds.clone(),
        rows: options.rows,
        seed: options.seed,
        noise: options.noise,
        out: options.out.clone(),
        force: options.force,
    };
    let alive = Alive::start("simulating");
    let said = simulate_flight_logs(&asked, &tell)?;
    drop(alive);
    print(&(said + "\n"))
}
