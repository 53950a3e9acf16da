//! `taskscout study new`: from a file, from options, or by questions on a terminal.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::PathBuf;

use clap::Args;
use taskscout::strategy::Serve;
use taskscout_studies::{
    CollectionSettings, ColumnSettings, FeatureSettings, FeatureWord, ParameterSettings,
    RowSettings, Settings, TargetSettings, TaskSettings, guided, read_settings,
};

use super::options::LimitArgs;
use crate::error::{CliError, Result};

/// `taskscout study new`.
#[derive(Debug, Args)]
pub(crate) struct NewOptions {
    /// A file with the settings of the study; docs/reference/study-file.md lists its keys
    file: Option<PathBuf>,
    /// What the study is called
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// A table of the tasks that can be measured, one row each
    #[arg(long, value_name = "FILE", help_heading = "Tasks")]
    candidates: Option<PathBuf>,
    /// Its columns that are parameters of a task; all other columns of numbers if not given
    #[arg(
        long,
        value_name = "A,B",
        value_delimiter = ',',
        help_heading = "Tasks"
    )]
    columns: Option<Vec<String>>,
    /// Its column of names
    #[arg(long, value_name = "COLUMN", help_heading = "Tasks")]
    task_name: Option<String>,
    /// Its column of the cost of a sample; budgets are then in this unit
    #[arg(long, value_name = "COLUMN", help_heading = "Tasks")]
    cost: Option<String>,
    /// Its column of how many rows a task can give
    #[arg(long, value_name = "COLUMN", help_heading = "Tasks")]
    left: Option<String>,
    /// A parameter and its range instead of a table: wind=-5:5 or wind=-5:5:m/s
    #[arg(
        long = "parameter",
        value_name = "NAME=LOW:HIGH[:UNIT]",
        help_heading = "Tasks"
    )]
    parameters: Vec<ParameterSettings>,
    /// How tasks are related by their parameters: auto (the default), identity, affine, quadratic, cubic
    #[arg(long, value_name = "WORD", help_heading = "Tasks")]
    task_features: Option<FeatureWord>,
    /// The columns of your rows that are inputs; a scale may follow: pwm/1000
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Rows")]
    inputs: Vec<ColumnSettings>,
    /// The columns of your rows that are outputs
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Rows")]
    outputs: Vec<ColumnSettings>,
    /// Features of the inputs: auto (the default), identity, affine, quadratic, cubic
    #[arg(long, value_name = "WORD", help_heading = "Rows")]
    input_features: Option<FeatureWord>,
    /// A target, with its parameters if they are known: tomorrow or tomorrow=6.2,3.1
    #[arg(long = "target", value_name = "NAME[=V,V]")]
    targets: Vec<TargetSettings>,
    /// Serve the target that fares worst, not their mean
    #[arg(long)]
    worst_target: bool,
    /// How tasks are chosen
    #[arg(long, value_name = "NAME")]
    strategy: Option<String>,
    /// The trainer: exact, pooled, mllam, neural
    #[arg(long, value_name = "NAME")]
    trainer: Option<String>,
    /// Dimension of the representation; from the data if not given
    #[arg(long)]
    k: Option<usize>,
    /// The seed of all draws
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    limits: LimitArgs,
    /// No more rows of the targets can be had: never advise them
    #[arg(long)]
    no_target_rows: bool,
    /// Cost of a row of the targets; as much as a sample if not given
    #[arg(long, value_name = "COST", conflicts_with = "no_target_rows")]
    target_cost: Option<f64>,
}

impl LimitArgs {
    /// The settings that they are.
    pub(crate) fn settings(&self) -> CollectionSettings {
        CollectionSettings {
            sample_cost: self.sample_cost,
            switch_cost: self.switch_cost,
            smallest_batch: self.smallest_batch,
            max_tasks: self.max_tasks,
            episode: self.episode,
            forbidden: self.forbid.clone(),
            ..CollectionSettings::default()
        }
    }
}

impl NewOptions {
    /// The settings of the study: those of the file, with what the options say.
    pub(crate) fn settings(&self) -> Result<Settings> {
        let nothing =
            self.candidates.is_none() && self.parameters.is_empty() && self.inputs.is_empty();
        let base = match &self.file {
            Some(file) => read_settings(file)?,
            None if nothing => from_terminal()?,
            None => Settings::default(),
        };
        Ok(base.changed_by(self.given()))
    }

    fn given(&self) -> Settings {
        // A path of the command line begins where the command runs.
        let here = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        Settings {
            name: self.name.clone(),
            strategy: self.strategy.clone(),
            trainer: self.trainer.clone(),
            trainer_settings: None,
            k: self.k,
            serve: self.worst_target.then_some(Serve::Worst),
            seed: self.seed,
            tasks: TaskSettings {
                candidates: self.candidates.as_ref().map(here),
                columns: self.columns.clone(),
                name: self.task_name.clone(),
                cost: self.cost.clone(),
                left: self.left.clone(),
                parameters: self.parameters.clone(),
                features: self.task_features.map(FeatureSettings::Word),
                ..TaskSettings::default()
            },
            rows: RowSettings {
                inputs: self.inputs.clone(),
                outputs: self.outputs.clone(),
                features: self.input_features.map(FeatureSettings::Word),
                ..RowSettings::default()
            },
            targets: self.targets.clone(),
            collection: CollectionSettings {
                target_rows: self.no_target_rows.then_some(false),
                target_sample_cost: self.target_cost,
                ..self.limits.settings()
            },
            ..Settings::default()
        }
    }
}

/// Asks on the terminal, if there is one.
fn from_terminal() -> Result<Settings> {
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Err(CliError::Input(
            "nothing says what the study is about: give a file, or --candidates with --inputs and --outputs, or run this on a terminal to be asked".into(),
        ));
    }
    let failed = |error: std::io::Error| CliError::Failure(format!("cannot ask: {error}"));
    guided(&mut |question| {
        let mut terminal = std::io::stderr().lock();
        write!(terminal, "{question} ")
            .and_then(|()| terminal.flush())
            .map_err(failed)?;
        let mut answer = String::new();
        let read = std::io::stdin().lock().read_line(&mut answer);
        read.map_err(failed)?;
        let answer = answer.trim();
        Ok((!answer.is_empty()).then(|| answer.to_owned()))
    })
}
