//! From settings to the library's study and its columns.

use taskscout::Extension;
use taskscout::features::{FeatureMap, Features as _, apply_row};
use taskscout::registry::Registry;
use taskscout::space::{Space, TaskSpace as _};
use taskscout::strategy::{Exploit, Explore, Strategy, StrategyConfig, StrategyKind};
use taskscout::study::{Oracle, Study, StudyConfig};
use taskscout::target::Target;
use taskscout::train::{JointRidge, PaperTrainer, PartialPooling};
use taskscout_lab::memory::{NUMBER, Need};
use taskscout_lab::parts;

use crate::asking::check_forbidden;
use crate::candidates::Candidates;
use crate::definition::{Column, Definition};
use crate::error::{Error, Result};
use crate::feature_choice::FeatureChoices;
use crate::settings::{
    ColumnSettings, FeatureSettings, FeatureWord, Settings, TargetSettings, TaskSettings,
};
use crate::source_tasks::{SourceTasks, ranges};
use crate::stored::StoredStudy;

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
        let tasks = self.source_tasks(registry)?;
        let columns = |all: &[ColumnSettings]| all.iter().map(ColumnSettings::column).collect();
        let (inputs, outputs) = (columns(&self.rows.inputs), columns(&self.rows.outputs));
        let collection = self.collection.over(tasks.costs.clone());
        check_forbidden(&tasks.space, &collection)?;
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
            target_rows: self.collection.priced_target_rows()?,
        };
        definition.validate()?;
        definition.feature_choices = FeatureChoices {
            tasks: self.task_choices(&tasks)?,
            inputs: self.input_choices()?,
        };
        let input_features = self.input_features(definition.inputs.len(), registry)?;
        check_memory(tasks.features.dim(), input_features.dim())?;
        let target = |target: &TargetSettings| target.build(&tasks.space, &tasks.features);
        let targets = self.targets.iter().map(target).collect::<Result<_>>()?;
        let (kind, own_strategy) = self.strategy(registry)?;
        let config = StudyConfig {
            own_strategy,
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
                    ..strategy_config(kind, &definition.feature_choices)
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
            SourceTasks::plain(self.tasks.space_columns(space.dim())?, space)?
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
            Some(FeatureSettings::Word(FeatureWord::Auto)) => fallback.map(inputs)?,
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
            Some("mllam") => Oracle::Mllam(PaperTrainer::default()),
            Some("pooled") => Oracle::Pooled(PartialPooling::default()),
            Some(own) if registry.trainer_names().any(|name| name == own) => {
                let settings = self.trainer_settings.clone().unwrap_or_default();
                Oracle::External(registry.make_trainer(own, &settings)?)
            }
            Some(other) => {
                return Err(Error::Input(format!(
                    "there is no trainer `{other}`: use exact, pooled, mllam, or one that you registered"
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
        if self.members.is_empty() && self.probabilities.is_some() {
            return Err(Error::Input(format!(
                "target `{}` has probabilities, but no members: give the parameters of its members, or leave them out",
                self.name
            )));
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

impl StoredStudy {
    /// Names a target by its settings.
    ///
    /// # Errors
    /// As [`TargetSettings::build`] and [`StoredStudy::add_target`].
    pub fn name_target(&mut self, target: &TargetSettings) -> Result<()> {
        let config = self.study().config();
        let target = target.build(&config.space, &config.task_features)?;
        self.add_target(&target)
    }
}

#[cfg(test)]
mod tests {
    use taskscout::study::TargetRows;

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
             [collection]\nunit = \"min\"\nsample_cost = 2\nswitch_cost = 5\nsmallest_batch = 4\nmax_tasks = 3\ntarget_sample_cost = 7\n"
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
        assert_eq!(definition.target_rows, Some(TargetRows::Each(7.0)));
        assert!(config.targets[0].is_known());
    }

    /// Takes nothing from anywhere.
    #[derive(Debug)]
    struct Idle;

    impl Strategy for Idle {
        fn plan(
            &self,
            _context: &taskscout::strategy::PlanContext<'_>,
        ) -> taskscout::Result<taskscout::strategy::Decision> {
            Ok(taskscout::strategy::Decision::default())
        }
    }

    #[test]
    fn registered_parts_are_found_by_their_names() {
        let mut registry = Registry::new();
        registry
            .strategy_with("idle", |_| Ok(std::sync::Arc::new(Idle)))
            .unwrap();
        let registry = parts::with_networks(&registry).unwrap();
        let text = format!(
            "strategy = \"idle\"\ntrainer = \"neural\"\ntrainer_settings = {{ network = {{ hidden = [5] }} }}\n\
             [tasks]\nspace = {{ kind = \"ball\", dim = 2, radius = 1.0 }}\ncolumns = [\"east\", \"north\"]\n{ROWS}"
        );
        let settings: Settings = toml::from_str(&text).unwrap();
        let (definition, study) = settings.build(&registry).unwrap();
        assert_eq!(study.config().own_strategy.as_ref().unwrap().name, "idle");
        let Oracle::External(neural) = &study.config().oracle else {
            panic!("{:?}", study.config().oracle);
        };
        assert_eq!(neural.settings["network"]["hidden"][0], 5);
        assert_eq!(definition.parameters[1].label(), "north");
        let refused = |text: &str| {
            let settings: Settings = toml::from_str(text).unwrap();
            settings.build(&registry).unwrap_err().to_string()
        };
        assert!(refused(&text.replace(", \"north\"", "")).contains("has 1 names"));
        assert!(refused(&text.replace("\"neural\"", "\"exact\"")).contains("takes none"));
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
        for (rows, part) in [
            ("target_rows = false\ntarget_sample_cost = 7", "leave out"),
            ("target_sample_cost = -1", "above 0"),
        ] {
            let text = format!("{WIND}{ROWS}[collection]\n{rows}\n");
            assert!(refusal(&text).contains(part), "{rows}");
        }
        let unknown: std::result::Result<Settings, _> = toml::from_str("colour = 1");
        assert!(unknown.is_err());
    }

    #[test]
    fn a_forbidden_task_has_to_be_one_of_the_table() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("winds.csv");
        std::fs::write(&path, "name,wind\ncalm,1\nstorm,20\n").unwrap();
        let forbidding = |task: &str| {
            let table = toml::Value::from(path.display().to_string());
            built(&format!(
                "strategy = \"passive\"\n{ROWS}[tasks]\ncandidates = {table}\n[collection]\nforbidden = [\"{task}\"]\n"
            ))
        };
        assert_eq!(
            forbidding("storm")
                .unwrap()
                .1
                .config()
                .collection
                .forbidden
                .len(),
            1
        );
        let refused = forbidding("strom").unwrap_err().to_string();
        assert!(refused.contains("did you mean `storm`?"), "{refused}");
        // Any point of a range may be forbidden: it has no list of names.
        let range =
            format!("strategy = \"passive\"\n{WIND}{ROWS}[collection]\nforbidden = [\"x\"]\n");
        assert!(built(&range).is_ok());
    }

    #[test]
    fn a_distribution_is_its_members() {
        let season = "[[targets]]\nname = \"season\"\nmembers = [[2.0], [10.0]]\nprobabilities = [0.25, 0.75]\n";
        let (_, study) = built(&format!("serve = \"worst\"\n{WIND}{ROWS}{season}")).unwrap();
        let config = study.config();
        assert_eq!(config.strategy.serve, taskscout::strategy::Serve::Worst);
        // Centred and scaled, the members are (2 − 6)/6 and (10 − 6)/6, so their mean is 1/3.
        let taskscout::target::TargetKind::Distribution { second_moment } = &config.targets[0].kind
        else {
            panic!("{:?}", config.targets);
        };
        assert!(
            (second_moment[0][1] - 1.0 / 3.0).abs() < 1e-12
                && (second_moment[1][1] - 4.0 / 9.0).abs() < 1e-12
        );
        let none = season.replace("[[2.0], [10.0]]", "[]");
        let refused = toml::from_str::<Settings>(&format!("{WIND}{ROWS}{none}")).unwrap_err();
        assert!(
            refused.to_string().contains("`members` is empty"),
            "{refused}"
        );
        let none = season.replace("members = [[2.0], [10.0]]\n", "");
        let refused = built(&format!("{WIND}{ROWS}{none}")).unwrap_err();
        assert!(refused.to_string().contains("but no members"), "{refused}");
        let odd = season.replace("0.75", "0.5");
        let refused = built(&format!("{WIND}{ROWS}{odd}"))
            .unwrap_err()
            .to_string();
        assert!(refused.contains("a sum of 0.75"), "{refused}");
    }
}
