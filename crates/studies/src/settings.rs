//! What a new study is, as a file or the options of a command have it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use taskscout::features::FeatureMap;
use taskscout::space::Space;
use taskscout::strategy::Serve;
use taskscout::study::{Collection, TargetRows};
use taskscout::task::TaskId;
use taskscout_lab::{Places, parts};

use crate::definition::{Column, ScalingRule};
use crate::error::{Error, Result};

/// The settings of a new study.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// What it is called; the file's own name if not given.
    pub name: Option<String>,
    /// How tasks are chosen: `aware` if not given.
    pub strategy: Option<String>,
    /// The trainer: `exact` if not given.
    pub trainer: Option<String>,
    /// The settings of a trainer that is registered; its own defaults if not given.
    pub trainer_settings: Option<serde_json::Map<String, serde_json::Value>>,
    /// Dimension of the representation; from the data if not given.
    pub k: Option<usize>,
    /// Which of several targets plans serve: their mean if not given, or the one that fares worst.
    pub serve: Option<Serve>,
    /// The seed of all draws; 0 if not given.
    pub seed: Option<u64>,
    /// Which tasks there are.
    pub tasks: TaskSettings,
    /// What a row is.
    pub rows: RowSettings,
    /// The tasks we care about.
    pub targets: Vec<TargetSettings>,
    /// What collecting costs, and what cannot be asked for.
    pub collection: CollectionSettings,
    /// Where relative paths begin.
    #[serde(skip)]
    pub folder: PathBuf,
    /// Where they stand, if they come from a file.
    #[serde(skip)]
    pub places: Places,
    /// Those that something else than the file says.
    #[serde(skip)]
    pub changed: Vec<&'static str>,
}

/// `[tasks]`: a table of candidates, ranges of parameters, or a space.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TaskSettings {
    /// A table with a row for each task.
    pub candidates: Option<PathBuf>,
    /// Its columns that are parameters; all columns of numbers that serve nothing else if not given. With a space, what
    /// its parameters are called.
    pub columns: Option<Vec<String>>,
    /// Its column of names; `name`, `task` or `id` if there is one.
    pub name: Option<String>,
    /// Its column of what a sample costs.
    pub cost: Option<String>,
    /// Its column of how many rows a task can give.
    pub left: Option<String>,
    /// Units of its parameters, by column.
    pub units: BTreeMap<String, String>,
    /// Ranges of parameters.
    pub parameters: Vec<ParameterSettings>,
    /// A space, as in experiment files.
    #[serde(deserialize_with = "parts::optional_space")]
    pub space: Option<Space>,
    /// How tasks are related by their parameters: `affine` if not given.
    pub features: Option<FeatureSettings>,
}

/// A parameter with its range.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterSettings {
    /// What it is called.
    pub name: String,
    /// The smallest value.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// What it is measured in.
    #[serde(default)]
    pub unit: Option<String>,
}

/// `[rows]`: inputs and outputs.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RowSettings {
    /// The columns that are inputs.
    pub inputs: Vec<ColumnSettings>,
    /// The columns that are outputs.
    pub outputs: Vec<ColumnSettings>,
    /// The features of an input: `quadratic` up to 12 inputs if not given, and `affine` for more.
    pub features: Option<FeatureSettings>,
    /// How columns are scaled that say nothing of it.
    pub scaling: ScalingRule,
}

/// A column: its name, or a table with more.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "a column is its name, or a table with `name`, `unit`, `offset` and `scale`"
)]
pub enum ColumnSettings {
    /// Its name.
    Name(String),
    /// More than that.
    Full(Column),
}

/// Features: a word, or a table as in experiment files.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "features are `auto`, `identity`, `affine`, `quadratic`, `cubic`, or a table with a `kind`"
)]
pub enum FeatureSettings {
    /// A word.
    Word(FeatureWord),
    /// A map.
    Map(#[serde(deserialize_with = "parts::features")] FeatureMap),
}

/// Features by a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureWord {
    /// Those that predict best, by what was measured.
    Auto,
    /// The values themselves.
    Identity,
    /// A constant and the values.
    Affine,
    /// These, their squares and products.
    Quadratic,
    /// These, and products of three.
    Cubic,
}

/// A target.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetSettings {
    /// What it is called.
    pub name: String,
    /// Its parameters, if they are known.
    #[serde(default)]
    pub parameters: Option<Vec<f64>>,
    /// The parameters of its members, if it is a distribution over tasks.
    #[serde(default, deserialize_with = "at_least_one")]
    pub members: Vec<Vec<f64>>,
    /// How likely each member is; all alike if not given.
    #[serde(default)]
    pub probabilities: Option<Vec<f64>>,
    /// How much it matters beside others.
    #[serde(default)]
    pub weight: Option<f64>,
}

/// Members of a distribution: without any there is nothing to serve.
fn at_least_one<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Vec<Vec<f64>>, D::Error> {
    let members = Vec::<Vec<f64>>::deserialize(deserializer)?;
    match members.is_empty() {
        true => Err(serde::de::Error::custom(
            "`members` is empty: a distribution needs the parameters of at least one task; leave it out if nothing is known of the target",
        )),
        false => Ok(members),
    }
}

/// `[collection]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CollectionSettings {
    /// What budgets are counted in.
    pub unit: Option<String>,
    /// What a sample costs.
    pub sample_cost: Option<f64>,
    /// What every task of a plan costs beside its samples.
    pub switch_cost: Option<f64>,
    /// Samples that a task of a plan gets at least.
    pub smallest_batch: Option<usize>,
    /// Tasks of a plan at most.
    pub max_tasks: Option<usize>,
    /// Samples of one task in the whole study at most.
    pub most_of_a_task: Option<usize>,
    /// Tasks that must not be asked for.
    pub forbidden: Vec<String>,
    /// Samples of an episode.
    pub episode: Option<usize>,
    /// Whether more rows of the targets can be had.
    pub target_rows: Option<bool>,
    /// What a row of the targets costs; as much as a sample if not given.
    pub target_sample_cost: Option<f64>,
}

impl Settings {
    /// Says of a setting that makes no sense where it stands.
    pub(crate) fn located(&self, error: Error) -> Error {
        let Error::Setting(wrong) = &error else {
            return error;
        };
        let within = |path: &&'static str| {
            let rest = wrong.path.strip_prefix(*path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        // Targets of the command line come behind those of the file.
        let item = wrong.path.split_inclusive(']').next().unwrap_or_default();
        let missing = item.starts_with("targets[") && !self.places.has(item);
        match missing || self.changed.iter().any(within) {
            true => Error::Input(wrong.to_string()),
            false => self.places.found(error),
        }
    }
}

impl ColumnSettings {
    pub(crate) fn column(&self) -> Column {
        match self {
            Self::Name(name) => Column::named(name),
            Self::Full(column) => column.clone(),
        }
    }
}

impl CollectionSettings {
    /// What was said of rows of the targets.
    pub(crate) fn priced_target_rows(&self) -> Result<Option<TargetRows>> {
        match (self.target_rows, self.target_sample_cost) {
            (Some(false), Some(_)) => Err(Error::Input(
                "rows of the targets have a cost and cannot be had: leave out `target_sample_cost`, or `target_rows = false`".into(),
            )),
            (Some(false), None) => Ok(Some(TargetRows::NotAvailable)),
            (_, Some(cost)) if cost.is_finite() && cost > 0.0 => Ok(Some(TargetRows::Each(cost))),
            (_, Some(cost)) => Err(Error::Input(format!(
                "`target_sample_cost` is {cost}: give a number above 0"
            ))),
            (_, None) => Ok(None),
        }
    }

    /// The library's settings, with what samples of single tasks cost.
    #[must_use]
    pub fn over(&self, task_costs: BTreeMap<TaskId, f64>) -> Collection {
        let base = Collection {
            task_costs,
            ..Collection::default()
        };
        self.changing(&base)
    }

    /// Other settings, changed where these say something.
    #[must_use]
    pub fn changing(&self, base: &Collection) -> Collection {
        let mut forbidden = base.forbidden.clone();
        forbidden.extend(
            self.forbidden
                .iter()
                .map(|task| TaskId::from(task.as_str())),
        );
        Collection {
            sample_cost: self.sample_cost.unwrap_or(base.sample_cost),
            task_costs: base.task_costs.clone(),
            switch_cost: self.switch_cost.unwrap_or(base.switch_cost),
            smallest_batch: self.smallest_batch.unwrap_or(base.smallest_batch),
            max_tasks: self.max_tasks.or(base.max_tasks),
            most_of_a_task: self.most_of_a_task.or(base.most_of_a_task),
            forbidden,
            episode: self.episode.unwrap_or(base.episode),
        }
    }
}

/// Reads the settings of a new study from a file.
///
/// # Errors
/// A file that cannot be read, or is no settings; the line is shown.
pub fn read_settings(path: &Path) -> Result<Settings> {
    let text = taskscout_io::files::read_text(path, 16 << 20).map_err(|error| {
        Error::Input(format!(
            "cannot read {}: {error}; give the file of a study's settings",
            path.display()
        ))
    })?;
    let name = path.display().to_string();
    let mut settings: Settings = toml::from_str(&text).map_err(|error| {
        let message = error.message().trim().replace('\n', " ");
        let problem = format!("{message} (docs/reference/study-file.md lists all keys)");
        taskscout_lab::in_file(&text, &name, error.span(), &problem)
    })?;
    settings.places = Places::of(&text, &name);
    settings.folder = path.parent().map(Path::to_owned).unwrap_or_default();
    if settings.name.is_none() {
        let stem = path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        settings.name = stem;
    }
    Ok(settings)
}
