//! `taskscout serve`: the live page.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;
use taskscout::registry::Registry;
use taskscout_lab::parts::with_networks;
use taskscout_server::ServeOptions;

use crate::error::{CliError, Result};
use taskscout_terminal::tell;

/// Bytes of a file with a token.
const LARGEST_TOKEN: u64 = 4096;

/// What stands below the options.
pub(crate) const EXAMPLES: &str = "Examples:
  taskscout serve                              the studies of studies.db, on this machine
  taskscout serve tunnel.db --study drag       one study of another file
  taskscout serve runs                         run folders of experiments, while they run
  taskscout serve --host 0.0.0.0 --token-file secret   for others too; docs/how-to/watch-a-study.md says more";

/// `taskscout serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// A store of studies (a file, sqlite:///PATH, postgresql://USER@HOST/DATABASE), or a folder of runs
    #[arg(
        env = "TASKSCOUT_STORE",
        hide_env_values = true,
        default_value = "studies.db",
        value_name = "STORE|DIR"
    )]
    what: String,
    /// Show this study only
    #[arg(long, env = "TASKSCOUT_STUDY", value_name = "NAME")]
    study: Option<String>,
    /// The address to listen on; beyond this machine a token is needed
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,
    /// The port; 0 takes any that is free
    #[arg(long, value_name = "N", default_value_t = 8421)]
    port: u16,
    /// A file with the token that a browser has to give once; or set TASKSCOUT_TOKEN
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// A name that a proxy serves the page under
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
}

/// Serves until Ctrl-C.
pub(crate) fn execute(args: &ServeArgs, registry: &Registry) -> Result<()> {
    taskscout_terminal::survive_full_files();
    let from_file = |path: &PathBuf| {
        taskscout_io::files::read_text(path, LARGEST_TOKEN).map_err(|error| {
            CliError::Input(format!(
                "the token cannot be read from {}: {error}",
                path.display()
            ))
        })
    };
    let file = args.token_file.as_ref().map(from_file).transpose()?;
    let options = ServeOptions {
        what: args.what.clone(),
        study: args.study.clone(),
        host: args.host,
        port: args.port,
        allowed_hosts: args.allow_host.clone(),
        token: file.or_else(|| std::env::var("TASKSCOUT_TOKEN").ok()),
    };
    taskscout_server::serve(&options, &with_networks(registry)?, &tell)
}
