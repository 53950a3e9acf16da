//! `taskscout data inspect`.

use taskscout_logs::inspect::inspect;
use taskscout_logs::read;

use super::options::InspectOptions;
use crate::alive::Alive;
use crate::error::{CliError, Result};
use crate::output::{print, show};

/// Reads logs and says what they hold.
pub(crate) fn execute(options: &InspectOptions) -> Result<()> {
    let alive = Alive::start("reading");
    let found = inspect(&read(
        &options.path,
        &options.logs.options().read_options(),
    )?);
    drop(alive);
    if !options.json {
        return show(&found.text());
    }
    let json = serde_json::to_string_pretty(&found)
        .map_err(|error| CliError::Failure(format!("cannot write what was found: {error}")))?;
    print(&(json + "\n"))
}
