//! `taskscout simulate`: worlds on their own.

pub(crate) mod options;
mod pendulum;

use crate::error::Result;
use options::World;

/// Simulates a world and writes what it did to a table.
pub(crate) fn execute(world: &World) -> Result<()> {
    match world {
        World::Pendulum(options) => pendulum::execute(options),
    }
}
