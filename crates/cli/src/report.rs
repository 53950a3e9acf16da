//! `taskscout report`: one HTML file on a run, on several runs, or on a study.

use std::path::PathBuf;

use clap::Args;
use taskscout::registry::Registry;
use taskscout_lab::parts::with_networks;
use taskscout_studies::report_on;
use taskscout_terminal::{Alive, conclude, show};

use crate::error::{CliError, Result};

/// What stands below the options.
pub(crate) const EXAMPLES: &str = "Examples:
  taskscout report runs/bilinear               a run, also one that is not finished
  taskscout report runs                        all runs in a folder on one page
  taskscout report studies.db --study drag     a study of a file
  taskscout report postgresql://ada@lab/work   the only study of a database
  taskscout report drag --figures pictures     a study of studies.db; its figures as SVG and CSV too";

/// `taskscout report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// A run folder, a folder of runs, a store of studies (a file or an address), or a study of the usual store
    #[arg(value_name = "DIR|STUDY")]
    what: String,
    /// The study of a store; the only one if not given
    #[arg(long, env = "TASKSCOUT_STUDY", value_name = "NAME")]
    study: Option<String>,
    /// The store of a study that is given by its name alone
    #[arg(
        long,
        env = "TASKSCOUT_STORE",
        hide_env_values = true,
        default_value = "studies.db",
        value_name = "ADDRESS"
    )]
    store: String,
    /// The page [default: the name of run or study, with -report.html]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write every figure as SVG, and its numbers as CSV, into this folder
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
}

/// Writes the page and says what it says.
pub(crate) fn execute(args: &ReportArgs, registry: &Registry) -> Result<()> {
    let alive = Alive::start("writing the report");
    let registry = with_networks(registry)?;
    let report = report_on(&args.what, args.study.as_deref(), &args.store, &registry)?;
    let out = args.out.clone().unwrap_or_else(|| report.usual_file());
    taskscout_io::files::write_atomically(&out, report.html.as_bytes())
        .map_err(|error| CliError::Failure(error.to_string()))?;
    let mut figures = String::new();
    if let Some(folder) = &args.figures {
        report.write_figures(folder)?;
        figures = format!(
            "Figures: {}, in {}\n",
            report.figures.len(),
            folder.display()
        );
    }
    drop(alive);
    report.verdicts.iter().try_for_each(|said| conclude(said))?;
    show(&format!("{figures}Report: {}\n", out.display()))
}
