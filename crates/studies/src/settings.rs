//! What a new study is: a file, or the options of a command, turned into the library's study and its columns.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use taskscout::features::{FeatureMap, Features as _, apply_row};
use taskscout::registry::Registry;
use taskscout::space::{Space, TaskSpace as _};
use taskscout::strategy::{Serve, StrategyConfig, StrategyKind};
use taskscout::study::{Collection, Oracle, Study, StudyConfig};
use taskscout::target::Target;
use taskscout::task::TaskId;
use taskscout::train::{JointRidge, PaperTrainer, PartialPooling};
use taskscout_lab::parts;

use crate::candidates::Candidates;
use crate::definition::{Column, Definition, ScalingRule};
use crate::error::{Error, Result};

/// Most inputs for which squares and products are features unless one says otherwise.
const QUADRATIC_INPUTS: usize = 12;

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
}

/// `[tasks]`: a table of candidates, ranges of parameters, or a space.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TaskSettings {
    /// A table with a row for each task.
    pub candidates: Option<PathBuf>,
    /// Its columns that are parameters; all columns of numbers that serve nothing else if not given.
    pub columns: Option<Vec<String>>,
    /// Its column of names; `name`, `task` or `id` if there is one.
    pub name: Option<String>,
    /// Its column of what a sample costs.
    pub cost: Option<String>,
    /// Its column of how many rows a task can give.
    pub left: Option<String>,
    /// Units of its parameters, by column.
    pub units: std::collections::BTreeMap<String, String>,
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
    expecting = "features are `identity`, `affine`, `quadratic`, `cubic`, or a table with a `kind`"
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
    #[serde(default)]
    pub members: Vec<Vec<f64>>,
    /// How likely each member is; all alike if not given.
    #[serde(default)]
    pub probabilities: Option<Vec<f64>>,
    /// How much it matters beside others.
    #[serde(default)]
    pub weight: Option<f64>,
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
}

impl Settings {
    /// The study, without data, and what its columns are.
    ///
    /// # Errors
    /// The first setting that does not fit.
    pub fn build(&self, registry: &Registry) -> Result<(Definition, Study)> {
        let tasks = self.source_tasks(registry)?;
        let inputs: Vec<Column> = self
            .rows
            .inputs
            .iter()
            .map(ColumnSettings::column)
            .collect();
        let outputs: Vec<Column> = self
            .rows
            .outputs
            .iter()
            .map(ColumnSettings::column)
            .collect();
        let collection = self.collection.over(tasks.costs.clone());
        let unit = self
            .collection
            .unit
            .clone()
            .or_else(|| self.tasks.cost.clone());
        let definition = Definition {
            parameters: tasks.parameters,
            inputs,
            outputs,
            scaling: self.rows.scaling,
            cost_unit: unit,
            capacities: tasks.capacities,
        };
        definition.validate()?;
        let input_features = self.input_features(definition.inputs.len(), registry)?;
        let target = |target: &TargetSettings| target.build(&tasks.space, &tasks.features);
        let targets = self.targets.iter().map(target).collect::<Result<_>>()?;
        let config = StudyConfig {
            task_features: tasks.features.clone(),
            outputs: definition.outputs.len(),
            k: self.k,
            oracle: self.oracle(registry)?,
            collection,
            seed: self.seed.unwrap_or(0),
            ..StudyConfig::new(
                tasks.space.clone(),
                input_features,
                targets,
                StrategyConfig {
                    serve: self.serve.unwrap_or_default(),
                    ..StrategyConfig::new(self.strategy_kind()?)
                },
            )?
        };
        Ok((definition, Study::new(config)?))
    }

    fn source_tasks(&self, registry: &Registry) -> Result<SourceTasks> {
        let TaskSettings {
            candidates,
            parameters,
            space,
            features,
            ..
        } = &self.tasks;
        let given = [
            candidates.is_some(),
            !parameters.is_empty(),
            space.is_some(),
        ];
        if given.iter().filter(|given| **given).count() != 1 {
            return Err(Error::Input(
                "[tasks] needs one of `candidates`, `parameters` and `space`: say which tasks can be measured".into(),
            ));
        }
        let mut tasks = if let Some(path) = candidates {
            Candidates::read(&self.folder.join(path), &self.tasks)?.into_tasks()?
        } else if let Some(space) = space {
            let mut space = space.clone();
            parts::attach_space("tasks.space", &mut space, registry)?;
            let names = (0..space.dim()).map(|i| Column::named(&format!("w{i}")));
            SourceTasks::plain(names.collect(), space)?
        } else {
            ranges(parameters)?
        };
        if let Some(features) = features {
            tasks.features = match features {
                FeatureSettings::Word(word) => word.of_tasks(&tasks)?,
                FeatureSettings::Map(map) => {
                    let mut map = map.clone();
                    parts::attach_features("tasks.features", &mut map, registry)?;
                    map
                }
            };
        }
        Ok(tasks)
    }

    fn input_features(&self, inputs: usize, registry: &Registry) -> Result<FeatureMap> {
        let fallback = match inputs {
            0..=QUADRATIC_INPUTS => FeatureWord::Quadratic,
            _ => FeatureWord::Affine,
        };
        let map = match &self.rows.features {
            None => fallback.map(inputs)?,
            Some(FeatureSettings::Word(word)) => word.map(inputs)?,
            Some(FeatureSettings::Map(map)) => {
                let mut map = map.clone();
                parts::attach_features("rows.features", &mut map, registry)?;
                map
            }
        };
        if map.input_dim() != inputs {
            return Err(Error::Input(format!(
                "`rows.features` take {} inputs, but {inputs} are named: make them agree",
                map.input_dim()
            )));
        }
        Ok(map)
    }

    fn strategy_kind(&self) -> Result<StrategyKind> {
        let Some(name) = &self.strategy else {
            return Ok(StrategyKind::Aware);
        };
        let found = StrategyKind::ALL.iter().find(|kind| kind.name() == name);
        found.copied().ok_or_else(|| {
            let known: Vec<&str> = StrategyKind::ALL.iter().map(|kind| kind.name()).collect();
            Error::Input(format!(
                "there is no strategy `{name}`: use one of {}",
                known.join(", ")
            ))
        })
    }

    fn oracle(&self, registry: &Registry) -> Result<Oracle> {
        Ok(match self.trainer.as_deref() {
            None | Some("exact") => Oracle::Exact(JointRidge::default()),
            Some("mllam") => Oracle::Mllam(PaperTrainer::default()),
            Some("pooled") => Oracle::Pooled(PartialPooling::default()),
            Some(own) if registry.trainer_names().any(|name| name == own) => {
                let none = serde_json::Map::new();
                Oracle::External(registry.make_trainer(own, &none)?)
            }
            Some(other) => {
                return Err(Error::Input(format!(
                    "there is no trainer `{other}`: use exact, pooled, mllam, or one that you registered"
                )));
            }
        })
    }
}

/// Tasks, how they are related, and what they cost.
#[derive(Debug)]
pub(crate) struct SourceTasks {
    pub(crate) parameters: Vec<Column>,
    pub(crate) space: Space,
    pub(crate) features: FeatureMap,
    pub(crate) costs: std::collections::BTreeMap<TaskId, f64>,
    pub(crate) capacities: std::collections::BTreeMap<TaskId, usize>,
    /// Centre and width of each parameter.
    pub(crate) spread: Vec<(f64, f64)>,
}

impl SourceTasks {
    /// Tasks whose features are their parameters.
    fn plain(parameters: Vec<Column>, space: Space) -> Result<Self> {
        Ok(Self {
            features: FeatureMap::identity(space.dim())?,
            spread: vec![(0.0, 1.0); space.dim()],
            parameters,
            space,
            costs: std::collections::BTreeMap::new(),
            capacities: std::collections::BTreeMap::new(),
        })
    }

    /// The same with affine features of centred and scaled parameters.
    pub(crate) fn affine(mut self) -> Result<Self> {
        self.features = FeatureWord::Affine.of_tasks(&self)?;
        Ok(self)
    }

    pub(crate) fn new(
        parameters: Vec<Column>,
        space: Space,
        spread: Vec<(f64, f64)>,
    ) -> Result<Self> {
        let plain = Self::plain(parameters, space)?;
        Self { spread, ..plain }.affine()
    }
}

/// A box of parameters.
fn ranges(parameters: &[ParameterSettings]) -> Result<SourceTasks> {
    for ParameterSettings {
        name, low, high, ..
    } in parameters
    {
        if !(low.is_finite() && high.is_finite() && low < high) {
            return Err(Error::Input(format!(
                "the parameter `{name}` is from {low} to {high}: give finite numbers, the smaller one first"
            )));
        }
    }
    let column = |parameter: &ParameterSettings| Column {
        unit: parameter.unit.clone(),
        ..Column::named(&parameter.name)
    };
    let low = parameters.iter().map(|parameter| parameter.low).collect();
    let high = parameters.iter().map(|parameter| parameter.high).collect();
    let spread = parameters
        .iter()
        .map(|p| (f64::midpoint(p.low, p.high), (p.high - p.low) / 2.0));
    SourceTasks::new(
        parameters.iter().map(column).collect(),
        Space::boxed(low, high)?,
        spread.collect(),
    )
}

impl FeatureWord {
    fn degree(self) -> u32 {
        match self {
            Self::Identity | Self::Affine => 1,
            Self::Quadratic => 2,
            Self::Cubic => 3,
        }
    }

    /// The map of so many values.
    fn map(self, dim: usize) -> Result<FeatureMap> {
        let map = match self {
            Self::Identity => FeatureMap::identity(dim),
            _ => FeatureMap::polynomial(dim, self.degree(), true),
        };
        map.map_err(Into::into)
    }

    /// The map of tasks, centred and scaled first unless it is the identity.
    fn of_tasks(self, tasks: &SourceTasks) -> Result<FeatureMap> {
        let map = self.map(tasks.space.dim())?;
        if self == Self::Identity {
            return Ok(map);
        }
        let (mean, scale) = tasks.spread.iter().copied().unzip();
        FeatureMap::standardised(mean, scale, map).map_err(Into::into)
    }
}

impl ColumnSettings {
    fn column(&self) -> Column {
        match self {
            Self::Name(name) => Column::named(name),
            Self::Full(column) => column.clone(),
        }
    }
}

impl TargetSettings {
    /// The library's target.
    ///
    /// # Errors
    /// Parameters that are not those of the space, or probabilities that are none.
    pub fn build(&self, space: &Space, features: &FeatureMap) -> Result<Target> {
        for parameters in self.parameters.iter().chain(&self.members) {
            if parameters.len() != space.dim() {
                return Err(Error::Input(format!(
                    "target `{}` has {} parameters, but tasks have {}: give one number for each, or none if they are unknown",
                    self.name,
                    parameters.len(),
                    space.dim()
                )));
            }
        }
        let mut target = match (&self.parameters, self.members.is_empty()) {
            (None, true) => Target::unknown(&self.name),
            (Some(parameters), true) => Target::known(&self.name, parameters.clone()),
            (None, false) => Target::distribution(&self.name, self.second_moment(features)?),
            (Some(_), false) => {
                return Err(Error::Input(format!(
                    "target `{}` has parameters and members: it is one task or a distribution, so leave one out",
                    self.name
                )));
            }
        };
        if let Some(weight) = self.weight {
            target.weight = weight;
        }
        Ok(target)
    }

    /// `E[ψψᵀ]` over the members.
    fn second_moment(&self, features: &FeatureMap) -> Result<Vec<Vec<f64>>> {
        let count = self.members.len();
        let shares = match &self.probabilities {
            None => vec![1.0 / count as f64; count],
            Some(given) => given.clone(),
        };
        let total: f64 = shares.iter().sum();
        let fits = shares.iter().all(|share| *share >= 0.0) && (total - 1.0).abs() < 1e-6;
        if shares.len() != count || !fits {
            return Err(Error::Input(format!(
                "target `{}` has {count} members and {} probabilities with a sum of {total}: give each one of 0 or more, together 1",
                self.name,
                shares.len()
            )));
        }
        let mut moment = vec![vec![0.0; features.dim()]; features.dim()];
        for (member, share) in self.members.iter().zip(shares) {
            let psi = apply_row(features, member);
            for (row, a) in moment.iter_mut().zip(&psi) {
                row.iter_mut()
                    .zip(&psi)
                    .for_each(|(cell, b)| *cell += share * a * b);
            }
        }
        Ok(moment)
    }
}

impl CollectionSettings {
    /// The library's settings, with what samples of single tasks cost.
    #[must_use]
    pub fn over(&self, task_costs: std::collections::BTreeMap<TaskId, f64>) -> Collection {
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
    settings.folder = path.parent().map(Path::to_owned).unwrap_or_default();
    if settings.name.is_none() {
        let stem = path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        settings.name = stem;
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(text: &str) -> Result<(Definition, Study)> {
        let settings: Settings = toml::from_str(text).unwrap();
        settings.build(&Registry::new())
    }

    const ROWS: &str =
        "[rows]\ninputs = [\"vx\", { name = \"pwm\", scale = 1000 }]\noutputs = [\"force\"]\n";
    const WIND: &str =
        "[tasks]\nparameters = [{ name = \"wind\", low = 0, high = 12, unit = \"m/s\" }]\n";

    #[test]
    fn a_short_file_is_enough() {
        let (definition, study) =
            built(&format!("{WIND}{ROWS}[[targets]]\nname = \"t\"\n")).unwrap();
        assert_eq!(definition.parameters[0].label(), "wind (m/s)");
        assert_eq!(definition.inputs[1].scale, Some(1000.0));
        let config = study.config();
        // Squares and products of two inputs, and a constant.
        assert_eq!(config.input_features.dim(), 6);
        assert_eq!(config.task_features.dim(), 2);
        assert_eq!(config.seed, 0);
    }

    #[test]
    fn every_setting_reaches_the_study() {
        let text = format!(
            "strategy = \"passive\"\ntrainer = \"pooled\"\nk = 2\nseed = 9\n{WIND}features = \"quadratic\"\n{ROWS}features = \"affine\"\n\
             [[targets]]\nname = \"t\"\nparameters = [3.0]\nweight = 2.0\n\
             [collection]\nunit = \"min\"\nsample_cost = 2\nswitch_cost = 5\nsmallest_batch = 4\nmax_tasks = 3\n"
        );
        let (definition, study) = built(&text).unwrap();
        let config = study.config();
        assert_eq!((config.k, config.seed), (Some(2), 9));
        assert_eq!(
            (config.input_features.dim(), config.task_features.dim()),
            (3, 3)
        );
        assert_eq!(config.collection.max_tasks, Some(3));
        assert!((config.collection.switch_cost - 5.0).abs() < 1e-12);
        assert_eq!(definition.budget_unit(), "min");
        assert!(config.targets[0].is_known());
    }

    #[test]
    fn settings_that_do_not_fit_are_refused() {
        let refusal = |text: &str| built(text).unwrap_err().to_string();
        assert!(refusal(ROWS).contains("needs one of"));
        assert!(refusal(WIND).contains("no input"));
        assert!(refusal(&format!("strategy = \"wild\"\n{WIND}{ROWS}")).contains("aware"));
        assert!(refusal(&format!("trainer = \"wild\"\n{WIND}{ROWS}")).contains("pooled"));
        let two = format!("{WIND}{ROWS}[[targets]]\nname = \"t\"\nparameters = [1.0, 2.0]\n");
        assert!(refusal(&two).contains("2 parameters, but tasks have 1"));
        let turned = WIND.replace("low = 0", "low = 13");
        assert!(refusal(&format!("{turned}{ROWS}")).contains("the smaller one first"));
        let unknown: std::result::Result<Settings, _> = toml::from_str("colour = 1");
        assert!(unknown.is_err());
    }
}
