//! `taskscout export` and `taskscout predict`: models to robots, and to tables.

mod export;
pub(crate) mod options;
mod predict;

use std::path::Path;

pub(crate) use export::execute as export;
pub(crate) use predict::execute as predict;

use crate::error::{CliError, Result};

/// Refuses to replace a file that is there unless it may be.
fn check_free(path: &Path, force: bool) -> Result<()> {
    if path.exists() && !force {
        return Err(CliError::Input(format!(
            "{} is there already: give --force to replace it, or another --out",
            path.display()
        )));
    }
    Ok(())
}
