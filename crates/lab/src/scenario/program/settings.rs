//! `[source]`: the settings of a program as a world.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use taskscout::Error;
use taskscout::features::{FeatureMap, Features as _};
use taskscout::registry::Registry;
use taskscout::space::{Space, TaskSpace as _};
use taskscout_models::Names;
use taskscout_worlds::program::Program;

use super::{Common, Details, Programs};
use crate::error::{LabError, Result};
use crate::memory::Need;
use crate::parts::{self, attach_features, attach_space};
use crate::scenario::{Scenario, ScenarioTarget, Setup, WorldSettings, judging};
use crate::watch::Watcher;

/// The longest time-out: a day.
const LONGEST_S: f64 = 86_400.0;
/// Most outputs of a row.
const MOST_OUTPUTS: usize = 1000;

/// `[source]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// The program and its arguments.
    command: Vec<String>,
    /// The time for the answer to a request.
    #[serde(default = "a_minute")]
    timeout_s: f64,
    /// `ψ_X`.
    #[serde(deserialize_with = "parts::features")]
    pub(super) input_features: FeatureMap,
    /// Where source tasks live.
    #[serde(deserialize_with = "parts::space")]
    space: Space,
    /// `ψ_W`; a task's parameters if not given.
    #[serde(
        default,
        deserialize_with = "parts::optional_features",
        skip_serializing_if = "Option::is_none"
    )]
    task_features: Option<FeatureMap>,
    /// Numbers that a row gives: how many, or what they are called.
    #[serde(default, skip_serializing_if = "Outputs::is_one")]
    pub(super) outputs: Outputs,
    /// Rows of each target that predictors are judged on.
    #[serde(default = "a_thousand")]
    pub(super) test_rows: usize,
    pub(super) targets: Vec<TargetSettings>,
    /// Where the experiment file lies, which is where the program runs.
    #[serde(skip)]
    folder: PathBuf,
}

/// `[[source.targets]]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TargetSettings {
    pub(super) name: String,
    /// The task that it is; if not given, the program knows by the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) task: Option<Vec<f64>>,
}

/// `outputs`: numbers that a row gives at once, which share one representation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "`outputs` is how many there are, or a list of their names"
)]
pub(super) enum Outputs {
    Count(usize),
    Names(Vec<String>),
}

impl Default for Outputs {
    fn default() -> Self {
        Self::Count(1)
    }
}

impl Outputs {
    fn is_one(&self) -> bool {
        *self == Self::default()
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Count(count) => *count,
            Self::Names(names) => names.len(),
        }
    }

    /// What they are called; empty if nobody says.
    pub(super) fn names(&self) -> &[String] {
        match self {
            Self::Count(_) => &[],
            Self::Names(names) => names,
        }
    }

    fn check(&self) -> taskscout::Result<()> {
        if !(1..=MOST_OUTPUTS).contains(&self.count()) {
            let problem = format!("number {}: give 1 to {MOST_OUTPUTS}", self.count());
            return Err(Error::setting("outputs", problem));
        }
        let names = self.names();
        for (index, name) in names.iter().enumerate() {
            if name.trim().is_empty() || names[..index].contains(name) {
                return Err(Error::setting(
                    "outputs",
                    format!("has the name `{name}`: give each output one of its own"),
                ));
            }
        }
        Ok(())
    }
}

fn a_minute() -> f64 {
    60.0
}

fn a_thousand() -> usize {
    1000
}

impl Settings {
    /// Says what is wrong, or that nothing is.
    fn check(&self) -> taskscout::Result<()> {
        if !(self.timeout_s > 0.0 && self.timeout_s <= LONGEST_S) {
            return Err(Error::setting(
                "timeout_s",
                format!(
                    "is {}: give more than 0 and at most {LONGEST_S} seconds",
                    self.timeout_s
                ),
            ));
        }
        if self.test_rows == 0 {
            return Err(Error::setting(
                "test_rows",
                "is 0: losses are measured on test rows, so give at least 1",
            ));
        }
        self.outputs.check()?;
        if self.targets.is_empty() {
            return Err(Error::setting("targets", "is empty: name at least one"));
        }
        for (index, TargetSettings { name, task }) in self.targets.iter().enumerate() {
            let before = &self.targets[..index];
            if name.trim().is_empty() || before.iter().any(|other| other.name == *name) {
                return Err(Error::setting(
                    "targets",
                    format!("has the name `{name}`: give each target one of its own"),
                ));
            }
            let Some(task) = task else { continue };
            if task.len() != self.space.dim() || task.iter().any(|value| !value.is_finite()) {
                return Err(Error::setting(
                    "targets",
                    format!(
                        "has {name} with a task of {} numbers: give {}, all finite, as tasks of the space have",
                        task.len(),
                        self.space.dim()
                    ),
                ));
            }
        }
        let features = self.task_features.as_ref();
        if let Some(features) = features.filter(|map| map.input_dim() != self.space.dim()) {
            return Err(Error::setting(
                "task_features",
                format!(
                    "are of {} parameters, but tasks of the space have {}: make them agree",
                    features.input_dim(),
                    self.space.dim()
                ),
            ));
        }
        Ok(())
    }

    fn scenario(&self) -> taskscout::Result<Scenario> {
        self.check()?;
        self.input_features.check_ready()?;
        let task_features = match &self.task_features {
            Some(features) => features.clone(),
            None => FeatureMap::identity(self.space.dim())?,
        };
        task_features.check_ready()?;
        let target = |target: &TargetSettings| ScenarioTarget {
            name: Some(target.name.clone()),
            truth: target.task.clone(),
            names: Names {
                inputs: Vec::new(),
                outputs: self.outputs.names().to_vec(),
                ..Names::default()
            },
            ..ScenarioTarget::default()
        };
        Ok(Scenario {
            outputs: self.outputs.count(),
            budget_unit: self.input_features.dim() as f64,
            ..Scenario::new(
                self.space.clone(),
                task_features,
                self.input_features.clone(),
                self.targets.iter().map(target).collect(),
            )
        })
    }

    fn programs(&self, watch: &Watcher) -> taskscout::Result<Programs> {
        let program = Program::new(
            self.command.clone(),
            &self.folder,
            Duration::from_secs_f64(self.timeout_s),
            self.input_features.input_dim(),
        )?
        .with_outputs(self.outputs.count())?;
        Ok(Programs(Arc::new(Common {
            program,
            tests: self.targets.iter().map(|_| Mutex::default()).collect(),
            warned: OnceLock::new(),
            watch: watch.clone(),
            settings: self.clone(),
        })))
    }
}

impl WorldSettings for Settings {
    fn locate(&mut self, folder: &Path) {
        folder.clone_into(&mut self.folder);
    }

    fn attach(&mut self, registry: &Registry) -> Result<()> {
        let Self {
            input_features,
            space,
            task_features,
            ..
        } = self;
        attach_features("input_features", input_features, registry)
            .and_then(|()| attach_space("space", space, registry))
            .and_then(|()| {
                let map = task_features.as_mut();
                map.map_or(Ok(()), |map| {
                    attach_features("task_features", map, registry)
                })
            })
            .map_err(|error| LabError::in_table("source", "", error))
    }

    fn has_own(&self) -> bool {
        let mut maps = std::iter::once(&self.input_features).chain(&self.task_features);
        maps.any(|map| matches!(map, FeatureMap::Custom(_))) || matches!(self.space, Space::Own(_))
    }

    fn need(&self) -> Need {
        judging(self.test_rows, &self.input_features).times(self.targets.len() as f64)
    }

    fn build(&self, watch: &Watcher) -> Result<Setup> {
        let bad = |error| LabError::in_table("source", "", error);
        let scenario = self.scenario().map_err(bad)?;
        let programs = self.programs(watch).map_err(bad)?;
        Ok(Setup {
            scenario,
            data: Box::new(programs),
            presentation: Box::new(Details),
        })
    }
}
