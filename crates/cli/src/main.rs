//! The `taskscout` command: which tasks should I collect data from next?

use taskscout::registry::Registry;

fn main() -> std::process::ExitCode {
    taskscout_cli::main_with(&Registry::new())
}
