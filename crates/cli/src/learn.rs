//! `taskscout learn`.

use std::path::PathBuf;

use clap::Args;
use taskscout_lab::LogFeatures;
use taskscout_lab::learn::{LearnFiles, LearnOptions, learn, save};
use taskscout_logs::{FactOptions, NamePattern};

use crate::data::options::LogArgs;
use crate::error::Result;
use crate::named::named;
use taskscout_terminal::terminal;
use taskscout_terminal::{print_json, show_concluding, tell};

/// Options of `taskscout learn`.
#[derive(Debug, Clone, Args)]
pub(crate) struct LearnArgs {
    /// The folder of logs, with its subfolders, or a single file
    data: PathBuf,
    /// The recording to learn a model for, or one output of it
    #[arg(long, value_name = "NAME")]
    target: String,
    #[command(flatten)]
    logs: LogArgs,
    /// What the parts of recordings' names are, such as '{vehicle}_{wind:number m/s}_{day}'
    #[arg(long, value_name = "PATTERN", value_parser = NamePattern::parse)]
    name_pattern: Option<NamePattern>,
    /// A table of labels and parameters, recordings' names first [default: tasks.csv in the folder]
    #[arg(long, value_name = "FILE")]
    tasks: Option<PathBuf>,
    /// The labels to pool over, also columns; `none` for none [default: those of names and tasks.csv]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    labels: Vec<String>,
    /// The parameters to pool over, also columns; `none` for none [default: those of names and tasks.csv]
    #[arg(long, value_name = "P,Q", value_delimiter = ',')]
    parameters: Vec<String>,
    /// Rows of the target to learn from [default: all]
    #[arg(long, value_name = "N")]
    n_target: Option<usize>,
    /// The last part of the target's recording, only to judge [default: parts are left out in turn]
    #[arg(
        long,
        value_name = "PART",
        default_value_t = 0.0,
        hide_default_value = true
    )]
    test_share: f64,
    /// What outputs are linear in
    #[arg(long, value_parser = named(LogFeatures::ALL, LogFeatures::name, LogFeatures::about), default_value = "auto")]
    phi: LogFeatures,
    /// The number that rows of one recording count for at most
    #[arg(long, value_name = "N", default_value_t = 150.0)]
    effective_rows: f64,
    /// Standardise inputs for each level of this label [default: vehicle]
    #[arg(long, value_name = "LABEL")]
    scale_by: Option<String>,
    /// What a column is measured in; repeat for several
    #[arg(long, value_name = "COLUMN=UNIT", value_parser = unit)]
    unit: Vec<(String, String)>,
    /// How many recordings to plan
    #[arg(long, value_name = "N", default_value_t = 3)]
    plan: usize,
    /// Draws the rows of --n-target
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The folder for model, summary, plan and report [default: nothing is written]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace files of an earlier run in the folder
    #[arg(long)]
    force: bool,
    /// Print one JSON object on standard output, and nothing else there
    #[arg(long)]
    json: bool,
}

/// A column and its unit.
fn unit(text: &str) -> std::result::Result<(String, String), String> {
    let (name, unit) = text
        .split_once('=')
        .ok_or("give COLUMN=UNIT, such as speed=m/s")?;
    Ok((name.trim().into(), unit.trim().into()))
}

/// Learns, writes, and says what was found.
pub(crate) fn execute(args: &LearnArgs) -> Result<()> {
    let files = args
        .out
        .as_deref()
        .map(|out| LearnFiles::open(out, args.force))
        .transpose()?;
    let asked = args.clone();
    let options = LearnOptions {
        read: args.logs.options().read_options_for(&args.data)?,
        facts: FactOptions {
            name_pattern: asked.name_pattern,
            tasks: asked.tasks,
            labels: asked.labels,
            parameters: asked.parameters,
        },
        n_target: args.n_target,
        test_share: args.test_share,
        phi: args.phi,
        effective_rows: args.effective_rows,
        scale_by: asked.scale_by,
        units: asked.unit,
        plan: args.plan,
        seed: args.seed,
        ..LearnOptions::new(&args.data, &args.target)
    };
    let learnt = learn(&options, &terminal())?;
    if let Some(files) = &files {
        save(&learnt, files)?;
    }
    if args.json {
        print_json(&learnt.json()?)?;
    } else {
        show_concluding(&learnt.text())?;
    }
    if let Some(files) = files {
        tell(&format!(
            "note: written to {} and beside it",
            files.model.display()
        ));
    }
    Ok(())
}
