//! `taskscout data inspect`.

use serde::Serialize;
use taskscout_logs::inspect::{inspect, inspect_raw};
use taskscout_logs::read;

use super::options::InspectOptions;
use crate::error::{CliError, Result};
use taskscout_terminal::Alive;
use taskscout_terminal::{print_json, show};

/// Reads logs and says what they hold.
pub(crate) fn execute(options: &InspectOptions) -> Result<()> {
    let alive = Alive::start("reading");
    let logs = options.logs.options();
    if logs.inputs.is_empty()
        && let Some(found) = inspect_raw(&options.path)?
    {
        drop(alive);
        return shown(options.json, &found, || found.text());
    }
    let found = inspect(&read(
        &options.path,
        &logs.read_options_for(&options.path)?,
    )?);
    drop(alive);
    shown(options.json, &found, || found.text())
}

fn shown(json: bool, found: &impl Serialize, text: impl Fn() -> String) -> Result<()> {
    if !json {
        return show(&text());
    }
    let json = serde_json::to_string_pretty(found)
        .map_err(|error| CliError::Failure(format!("cannot write what was found: {error}")))?;
    print_json(&(json + "\n"))
}
