//! The `taskscout` command with parts of one's own: winds on a circle, features of drag, a strategy that turns
//! around and a trainer with the penalty of the house. `tunnel.toml` names all of them.

mod parts;

use std::process::ExitCode;
use std::sync::Arc;

use taskscout::prelude::*;

use crate::parts::{Circle, Compass, Drag, House};

fn main() -> Result<ExitCode> {
    let mut registry = Registry::new();
    registry.space::<Circle>("circle")?;
    registry.features("drag", Arc::new(Drag))?;
    registry.strategy::<Compass>("compass")?;
    registry.trainer::<House>("house")?;
    Ok(taskscout_cli::main_with(&registry))
}
