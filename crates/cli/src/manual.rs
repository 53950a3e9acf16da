//! What shells and `man` know of the command.

use std::path::Path;

use crate::args::command;
use crate::error::{CliError, Result};
use taskscout_terminal::print;

/// Writes completions for a shell to standard output.
pub(crate) fn completions(shell: clap_complete::Shell) -> Result<()> {
    let mut command = command(None);
    let (name, mut words) = (command.get_name().to_owned(), Vec::new());
    clap_complete::generate(shell, &mut command, name, &mut words);
    print(&String::from_utf8_lossy(&words))
}

/// Writes a page of the manual for every command.
pub(crate) fn pages(folder: &Path) -> Result<()> {
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command(None), folder));
    match written {
        Ok(()) => print(&format!(
            "The manual is in {0}: man -l {0}/taskscout.1\n",
            folder.display()
        )),
        Err(error) => Err(CliError::Failure(format!(
            "{} cannot be written: {error}",
            folder.display()
        ))),
    }
}
