//! `taskscout simulate`: worlds on their own.

mod flights;
pub(crate) mod options;
mod pendulum;

use crate::error::Result;
use options::World;

/// Simulates a world and writes what it did to tables.
pub(crate) fn execute(world: &World) -> Result<()> {
    match world {
        World::Pendulum(options) => pendulum::execute(options),
        World::Flights(options) => flights::execute(options),
    }
}
