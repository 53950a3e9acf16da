//! `taskscout study new`: from a file, from options, or by questions on a terminal.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::PathBuf;

use clap::Args;
use taskscout::strategy::Serve;
use taskscout_studies::{
    CollectionSettings, ColumnSettings, FeatureSettings, FeatureWord, ParameterSettings, Settings,
    TargetSettings, read_settings,
};

use super::options::LimitArgs;
use crate::error::{CliError, Result};

/// `taskscout study new`.
#[derive(Debug, Default, Args)]
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
    #[arg(long = "parameter", value_name = "NAME=LOW:HIGH[:UNIT]", value_parser = parameter, help_heading = "Tasks")]
    parameters: Vec<ParameterSettings>,
    /// How tasks are related by their parameters: identity, affine, quadratic, cubic
    #[arg(long, value_name = "WORD", value_parser = word, help_heading = "Tasks")]
    task_features: Option<FeatureWord>,
    /// The columns of your rows that are inputs; a scale may follow: pwm/1000
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Rows")]
    inputs: Vec<String>,
    /// The columns of your rows that are outputs
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Rows")]
    outputs: Vec<String>,
    /// Features of the inputs: identity, affine, quadratic, cubic
    #[arg(long, value_name = "WORD", value_parser = word, help_heading = "Rows")]
    input_features: Option<FeatureWord>,
    /// A target, with its parameters if they are known: tomorrow or tomorrow=6.2,3.1
    #[arg(long = "target", value_name = "NAME[=V,V]", value_parser = target)]
    targets: Vec<TargetSettings>,
    /// Serve the target that fares worst, not their mean
    #[arg(long)]
    worst_target: bool,
    /// How tasks are chosen
    #[arg(long, value_name = "NAME")]
    strategy: Option<String>,
    /// The trainer: exact, pooled, mllam
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
        let mut settings = match &self.file {
            Some(file) => read_settings(file)?,
            None if self.says_nothing() => return guided(),
            None => Settings::default(),
        };
        let tasks = &mut settings.tasks;
        // A path of the command line begins where the command runs.
        if let Some(path) = &self.candidates {
            tasks.candidates = Some(std::path::absolute(path).unwrap_or_else(|_| path.clone()));
        }
        replace(&mut tasks.columns, &self.columns);
        replace(&mut tasks.name, &self.task_name);
        replace(&mut tasks.cost, &self.cost);
        replace(&mut tasks.left, &self.left);
        if !self.parameters.is_empty() {
            tasks.parameters.clone_from(&self.parameters);
        }
        replace(
            &mut tasks.features,
            &self.task_features.map(FeatureSettings::Word),
        );
        let rows = &mut settings.rows;
        for (columns, given) in [
            (&mut rows.inputs, &self.inputs),
            (&mut rows.outputs, &self.outputs),
        ] {
            if !given.is_empty() {
                *columns = given
                    .iter()
                    .map(|text| column(text))
                    .collect::<Result<_>>()?;
            }
        }
        replace(
            &mut rows.features,
            &self.input_features.map(FeatureSettings::Word),
        );
        settings.targets.extend(self.targets.iter().cloned());
        replace(&mut settings.name, &self.name);
        replace(&mut settings.strategy, &self.strategy);
        replace(&mut settings.trainer, &self.trainer);
        replace(&mut settings.k, &self.k);
        if self.worst_target {
            settings.serve = Serve::Worst;
        }
        settings.seed = self.seed.unwrap_or(settings.seed);
        let (own, given) = (&mut settings.collection, self.limits.settings());
        replace(&mut own.sample_cost, &given.sample_cost);
        replace(&mut own.switch_cost, &given.switch_cost);
        replace(&mut own.smallest_batch, &given.smallest_batch);
        replace(&mut own.max_tasks, &given.max_tasks);
        replace(&mut own.episode, &given.episode);
        own.forbidden.extend(given.forbidden);
        Ok(settings)
    }

    fn says_nothing(&self) -> bool {
        self.candidates.is_none() && self.parameters.is_empty() && self.inputs.is_empty()
    }
}

fn replace<T: Clone>(setting: &mut Option<T>, given: &Option<T>) {
    if given.is_some() {
        setting.clone_from(given);
    }
}

/// Asks the questions that a study needs the answers of.
fn guided() -> Result<Settings> {
    let nothing = || {
        CliError::Input(
            "nothing says what the study is about: give a file, or --candidates with --inputs and --outputs, or run this on a terminal to be asked".into(),
        )
    };
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Err(nothing());
    }
    let mut options = NewOptions::default();
    let required = |question: &str| ask(question)?.ok_or_else(nothing);
    options.name = ask("What is the study called? [study]")?;
    match ask(
        "A table of the tasks that you can measure (CSV or Parquet; nothing if any value of some parameters):",
    )? {
        Some(path) => {
            options.candidates = Some(path.into());
            options.cost =
                ask("Its column of the cost of a sample (nothing if all cost the same):")?;
        }
        None => {
            let text = required("The parameters and their ranges (wind=-5:5:m/s payload=0:2:kg):")?;
            let each = text.split_whitespace().map(parameter);
            options.parameters = each
                .collect::<std::result::Result<_, _>>()
                .map_err(CliError::Input)?;
        }
    }
    let list = |text: String| text.split(',').map(|name| name.trim().to_owned()).collect();
    options.inputs = list(required(
        "The columns of your rows that are inputs (vx,vy,pwm/1000):",
    )?);
    options.outputs = list(required("The columns that are outputs (force):")?);
    let targets =
        required("The target, the condition that you care about (tomorrow, or tomorrow=6.2,3.1):")?;
    options.targets = vec![target(&targets).map_err(CliError::Input)?];
    options.settings()
}

/// Asks a question; none for an empty answer.
fn ask(question: &str) -> Result<Option<String>> {
    let failed = |error: std::io::Error| CliError::Failure(format!("cannot ask: {error}"));
    let mut terminal = std::io::stderr().lock();
    write!(terminal, "{question} ")
        .and_then(|()| terminal.flush())
        .map_err(failed)?;
    let mut answer = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(failed)?;
    let answer = answer.trim();
    Ok((!answer.is_empty()).then(|| answer.to_owned()))
}

/// A column, with what it is divided by: `pwm/1000`.
fn column(text: &str) -> Result<ColumnSettings> {
    let Some((name, scale)) = text.rsplit_once('/') else {
        return Ok(ColumnSettings::Name(text.trim().to_owned()));
    };
    match scale.trim().parse::<f64>() {
        Ok(scale) => Ok(ColumnSettings::Full(taskscout_studies::Column {
            scale: Some(scale),
            ..taskscout_studies::Column::named(name.trim())
        })),
        // A slash may be part of a name.
        Err(_) => Ok(ColumnSettings::Name(text.trim().to_owned())),
    }
}

fn parameter(text: &str) -> std::result::Result<ParameterSettings, String> {
    let usage = || {
        format!("`{text}` is not NAME=LOW:HIGH or NAME=LOW:HIGH:UNIT, for instance wind=-5:5:m/s")
    };
    let (name, range) = text.split_once('=').ok_or_else(usage)?;
    let mut parts = range.splitn(3, ':');
    let mut number = || parts.next().and_then(|part| part.trim().parse().ok());
    let (low, high) = (number(), number());
    let unit = parts.next().map(str::to_owned);
    let (Some(low), Some(high)) = (low, high) else {
        return Err(usage());
    };
    let name = name.trim().to_owned();
    Ok(ParameterSettings {
        name,
        low,
        high,
        unit,
    })
}

fn target(text: &str) -> std::result::Result<TargetSettings, String> {
    let (name, values) = match text.split_once('=') {
        None => (text, None),
        Some((name, values)) => (name, Some(values)),
    };
    let numbers = |values: &str| -> std::result::Result<Vec<f64>, String> {
        let number = |part: &str| {
            part.trim()
                .parse()
                .map_err(|_| format!("`{part}` is no number: give NAME=V,V"))
        };
        values.split(',').map(number).collect()
    };
    Ok(TargetSettings {
        name: name.trim().to_owned(),
        parameters: values.map(numbers).transpose()?,
        ..TargetSettings::default()
    })
}

fn word(text: &str) -> std::result::Result<FeatureWord, String> {
    match text {
        "identity" => Ok(FeatureWord::Identity),
        "affine" => Ok(FeatureWord::Affine),
        "quadratic" => Ok(FeatureWord::Quadratic),
        "cubic" => Ok(FeatureWord::Cubic),
        _ => Err("use identity, affine, quadratic or cubic".into()),
    }
}
