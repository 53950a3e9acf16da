//! What ends the command: the lab's errors serve all of it.

pub(crate) use taskscout_lab::{LabError as CliError, Result};
