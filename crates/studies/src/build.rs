//! From settings to the library's study and its columns.

mod targets;
#[cfg(test)]
mod tests;

use taskscout::Extension;
use taskscout::features::{FeatureMap, Features as _};
use taskscout::registry::Registry;
use taskscout::space::TaskSpace as _;
use taskscout::strategy::{Exploit, Explore, Strategy, StrategyConfig, StrategyKind};
use taskscout::study::{Oracle, Study, StudyConfig};
use taskscout::train::{AlternatingMinimizationThenErm, JointRidge, PartialPooling};
use taskscout_lab::memory::{NUMBER, Need};
use taskscout_lab::parts;

use crate::asking::check_forbidden;
use crate::candidates::Candidates;
use crate::definition::{Column, Definition};
use crate::error::{Error, Result, about};
use crate::feature_choice::FeatureChoices;
use crate::settings::{
    ColumnSettings, FeatureSettings, FeatureWord, Settings, TargetSettings, TaskSettings,
};
use crate::source_tasks::{SourceTasks, ranges};

/// Most inputs for which squares and products are features unless one says otherwise.
const QUADRATIC_INPUTS: usize = 12;
/// Most features of a task that are chosen unasked.
const MOST_TASK_FEATURES: usize = 60;

/// Square matrices of task features that a plan has at once, and of input features that training has.
const PLAN_MATRICES: f64 = 8.0;
const TRAINING_MATRICES: f64 = 16.0;

/// Refuses a study whose plans or models would not fit into memory, before it is begun.
fn check_memory(task_features: usize, input_features: usize) -> Result<()> {
    let mut need = Need::default();
    let square = |features: usize| NUMBER * (features as f64).powi(2);
    need.add(
        format!("plans over {task_features} task features"),
        PLAN_MATRICES * square(task_features),
    );
    need.add(
        format!("models of {input_features} input features"),
        TRAINING_MATRICES * square(input_features),
    );
    need.check("name fewer parameters or inputs, or features that are fewer")?;
    Ok(())
}

impl Settings {
    /// The study, without data, and what its columns are.
    ///
    /// # Errors
    /// The first setting that does not fit.
    pub fn build(&self, registry: &Registry) -> Result<(Definition, Study)> {
        self.made(registry).map_err(|error| self.located(error))
    }

    fn made(&self, registry: &Registry) -> Result<(Definition, Study)> {
        let tasks = self.source_tasks(registry).map_err(about("tasks"))?;
        let columns = |all: &[ColumnSettings]| all.iter().map(ColumnSettings::column).collect();
        let (inputs, outputs) = (columns(&self.rows.inputs), columns(&self.rows.outputs));
        let collection = self.collection.over(tasks.costs.clone());
        check_forbidden(&tasks.space, &collection).map_err(about("collection.forbidden"))?;
        let unit = self
            .collection
            .unit
            .clone()
            .or_else(|| self.tasks.cost.clone());
        let mut definition = Definition {
            parameters: tasks.parameters.clone(),
            inputs,
            outputs,
            scaling: self.rows.scaling,
            cost_unit: unit,
            capacities: tasks.capacities.clone(),
            feature_choices: FeatureChoices::default(),
            target_rows: (self.collection.priced_target_rows())
                .map_err(about("collection.target_sample_cost"))?,
        };
        definition.validate().map_err(about("rows"))?;
        definition.feature_choices = FeatureChoices {
            tasks: self.task_choices(&tasks)?,
            inputs: self.input_choices()?,
        };
        let input_features = self.input_features(definition.inputs.len(), registry)?;
        check_memory(tasks.features.dim(), input_features.dim())?;
        let target = |(place, target): (usize, &TargetSettings)| {
            let built = target.build(&tasks.space, &tasks.features);
            built.map_err(about(&format!("targets[{place}].{}", target.known_by())))
        };
        let targets = self.targets.iter().enumerate();
        let targets = targets.map(target).collect::<Result<_>>()?;
        let (kind, own_strategy) = self.strategy(registry).map_err(about("strategy"))?;
        let config = StudyConfig {
            own_strategy,
            task_features: tasks.features.clone(),
            outputs: definition.outputs.len(),
            k: self.k,
            oracle: self.oracle(registry).map_err(about("trainer"))?,
            collection,
            seed: self.seed.unwrap_or(0),
            ..StudyConfig::new(
                tasks.space.clone(),
                input_features,
                targets,
                StrategyConfig {
                    serve: self.serve.unwrap_or_default(),
                    ..strategy_config(kind, &definition.feature_choices)
                },
            )?
        };
        let study = Study::new(config).map_err(of_library)?;
        Ok((definition, study))
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
            Candidates::read(&self.folder.join(path), &self.tasks)
                .and_then(Candidates::into_tasks)
                .map_err(about("tasks.candidates"))?
        } else if let Some(space) = space {
            let mut space = space.clone();
            parts::attach_space("tasks.space", &mut space, registry).map_err(of_library)?;
            let columns = self.tasks.space_columns(space.dim());
            SourceTasks::plain(columns.map_err(about("tasks.columns"))?, space)?
        } else {
            ranges(parameters).map_err(about("tasks.parameters"))?
        };
        if let Some(features) = features {
            tasks.features = match features {
                FeatureSettings::Word(word) => word.of_tasks(&tasks)?,
                FeatureSettings::Map(map) => {
                    let mut map = map.clone();
                    parts::attach_features("tasks.features", &mut map, registry)
                        .map_err(of_library)?;
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
            Some(FeatureSettings::Word(FeatureWord::Auto)) => fallback.map(inputs)?,
            Some(FeatureSettings::Word(word)) => word.map(inputs)?,
            Some(FeatureSettings::Map(map)) => {
                let mut map = map.clone();
                parts::attach_features("rows.features", &mut map, registry).map_err(of_library)?;
                map
            }
        };
        if map.input_dim() != inputs {
            let problem = format!(
                "take {} inputs, but {inputs} are named: make them agree",
                map.input_dim()
            );
            return Err(Error::setting("rows.features", problem));
        }
        Ok(map)
    }

    /// Whether features can be chosen by what was measured: with the trainer that learns from statistics.
    fn chooses_features(&self) -> bool {
        matches!(self.trainer.as_deref(), None | Some("exact"))
    }

    /// Maps of tasks to choose from: polynomials, unless somebody says which, or tasks have parameters without names.
    fn task_choices(&self, tasks: &SourceTasks) -> Result<Vec<FeatureMap>> {
        let auto = self.chooses_features()
            && match &self.tasks.features {
                None => self.tasks.space.is_none(),
                Some(features) => *features == FeatureSettings::Word(FeatureWord::Auto),
            };
        if !auto {
            return Ok(Vec::new());
        }
        let words = [
            FeatureWord::Affine,
            FeatureWord::Quadratic,
            FeatureWord::Cubic,
        ];
        // Counted first: of many parameters there is no cubic map at all.
        let dim = tasks.space.dim();
        let small = |word: &&FeatureWord| word.count(dim) <= MOST_TASK_FEATURES as f64;
        let maps = words
            .iter()
            .filter(small)
            .map(|word| word.of_tasks(tasks))
            .collect::<Result<Vec<_>>>()?;
        Ok(if maps.len() > 1 { maps } else { Vec::new() })
    }

    /// Maps of inputs to choose from.
    fn input_choices(&self) -> Result<Vec<FeatureMap>> {
        let inputs = self.rows.inputs.len();
        let auto = self.chooses_features()
            && match &self.rows.features {
                None => true,
                Some(features) => *features == FeatureSettings::Word(FeatureWord::Auto),
            };
        if !auto || inputs > QUADRATIC_INPUTS {
            return Ok(Vec::new());
        }
        Ok(vec![
            FeatureWord::Affine.map(inputs)?,
            FeatureWord::Quadratic.map(inputs)?,
        ])
    }

    /// One of the library's strategies, or one that is registered in its place.
    fn strategy(
        &self,
        registry: &Registry,
    ) -> Result<(StrategyKind, Option<Extension<dyn Strategy>>)> {
        let Some(name) = &self.strategy else {
            return Ok((StrategyKind::Aware, None));
        };
        if let Some(kind) = StrategyKind::ALL.iter().find(|kind| kind.name() == name) {
            return Ok((*kind, None));
        }
        if registry.strategy_names().any(|known| known == name) {
            let none = serde_json::Map::new();
            let own = registry.make_strategy(name, &none)?;
            return Ok((StrategyKind::Aware, Some(own)));
        }
        let known: Vec<&str> = StrategyKind::ALL.iter().map(|kind| kind.name()).collect();
        Err(Error::Input(format!(
            "there is no strategy `{name}`: use one of {}, or one that you registered",
            known.join(", ")
        )))
    }

    fn oracle(&self, registry: &Registry) -> Result<Oracle> {
        let ours = ["exact", "mllam", "pooled"];
        let name = self.trainer.as_deref().unwrap_or("exact");
        if self.trainer_settings.is_some() && ours.contains(&name) {
            return Err(Error::Input(format!(
                "`trainer_settings` is given with the trainer `{name}`, which takes none: leave it out"
            )));
        }
        Ok(match self.trainer.as_deref() {
            None | Some("exact") => Oracle::Exact(JointRidge::default()),
            Some("mllam") => Oracle::Mllam(AlternatingMinimizationThenErm::default()),
            Some("pooled") => Oracle::Pooled(PartialPooling::default()),
            Some(own) if registry.trainer_names().any(|name| name == own) => {
                let settings = self.trainer_settings.clone().unwrap_or_default();
                Oracle::External(registry.make_trainer(own, &settings)?)
            }
            Some(other) => {
                let registered = registry.trainer_names().filter(|name| !ours.contains(name));
                let known: Vec<&str> = ours.into_iter().chain(registered).collect();
                return Err(Error::Input(format!(
                    "there is no trainer `{other}`: use one of {}, or one that you registered",
                    known.join(", ")
                )));
            }
        })
    }
}

impl TaskSettings {
    /// What the parameters of a space are called: `w0`, `w1` and so on unless `columns` says otherwise.
    fn space_columns(&self, dim: usize) -> Result<Vec<Column>> {
        let Some(names) = &self.columns else {
            let names = (0..dim).map(|i| Column::named(&format!("w{i}")));
            return Ok(names.collect());
        };
        if names.len() != dim {
            return Err(Error::Input(format!(
                "`tasks.columns` has {} names, but tasks of the space have {dim} parameters: name each",
                names.len()
            )));
        }
        let column = |name: &String| Column {
            unit: self.units.get(name).cloned(),
            ..Column::named(name)
        };
        Ok(names.iter().map(column).collect())
    }
}

/// What the library says of a setting, by its place among those of a study.
fn of_library(error: taskscout::Error) -> Error {
    let taskscout::Error::Setting { key, problem } = error else {
        return error.into();
    };
    let path = match key.as_str() {
        "task_features" => "tasks.features",
        "input_features" => "rows.features",
        "outputs" => "rows.outputs",
        other => other,
    };
    Error::about(path, format!("`{key}` {problem}"))
}

/// The settings of a strategy. Where it is not known how tasks are related, the tasks that a design would pick (the
/// extreme ones) say little of the others: exploration is spread over the space then, and the target is served by the
/// tasks nearest to it.
fn strategy_config(kind: StrategyKind, choices: &FeatureChoices) -> StrategyConfig {
    let known = choices.tasks.is_empty() || kind != StrategyKind::Aware;
    match known {
        true => StrategyConfig::new(kind),
        false => StrategyConfig {
            explore: Explore::Spread,
            exploit: Exploit::Nearest,
            ..StrategyConfig::new(kind)
        },
    }
}
