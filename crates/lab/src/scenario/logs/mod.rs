//! Recorded logs: every recording and output is a task, and the target is one of them.

mod relevance;
mod report;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use taskscout::features::Features as _;
use taskscout::task::TaskId;
use taskscout::train::PartialPooling;
use taskscout_logs::join::Method;
use taskscout_logs::{Logs, files, read};
use taskscout_logs::{Recorded, RecordedConfig, TaskKnowledge};
use taskscout_models::Names;

use super::{InputScaling, Scenario, ScenarioTarget, Setup, WorldKind, WorldSettings};
use crate::error::{LabError, Result};
use crate::log_features::Features;
use crate::memory::{NUMBER, Need};
use crate::names::{LogFeatures, TaskFeaturesName};
use crate::options::{LogOptions, LogWorldOptions, comment};
use crate::watch::Watcher;
use source::{LogData, LogPresentation};

/// `[world]` of `kind = "logs"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    kind: WorldKind,
    /// The folder of recordings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<PathBuf>,
    /// The targets by name.
    #[serde(default)]
    targets: Vec<String>,
    /// What functions are linear in.
    #[serde(default)]
    phi: LogFeatures,
    /// What is known of tasks: vehicle, axis and wind, or only which one it is.
    #[serde(default)]
    task_features: TaskKnowledge,
    /// The part of a recording, from its start, to learn from.
    #[serde(default = "train_share")]
    train_share: f64,
    /// Rows past which more of the same task tell little new.
    #[serde(rename = "worth", default = "effective_rows")]
    effective_rows: f64,
    /// Leave bad rows out.
    #[serde(default)]
    skip_bad_rows: bool,
    /// Tables: the columns of inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<String>,
    /// Tables: the columns of outputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    outputs: Vec<String>,
    /// Tables: the column that tells the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task: Option<String>,
    /// Tables: the column of times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    /// CSV tables: what a line begins with that is to be skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comment: Option<char>,
    /// Logs of robots: the series whose times the rows have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    times: Option<String>,
    /// Logs of robots: how other series are joined to it.
    #[serde(default, skip_serializing_if = "is_default")]
    join: Method,
    /// Logs of robots: seconds that a row of another series may be away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tolerance_s: Option<f64>,
    /// Logs of robots: names that stand for numbers in inputs and outputs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    constants: BTreeMap<String, f64>,
}

fn is_default(method: &Method) -> bool {
    *method == Method::default()
}

fn train_share() -> f64 {
    0.6
}

fn effective_rows() -> f64 {
    PartialPooling::default().effective_rows
}

impl Settings {
    /// Takes over the options of the command line.
    pub(super) fn apply(&mut self, options: &LogWorldOptions) -> Result<()> {
        if let Some(data) = &options.data {
            self.data = Some(data.clone());
        }
        if !options.target.is_empty() {
            self.targets.clone_from(&options.target);
        }
        self.phi = options.phi.unwrap_or(self.phi);
        self.task_features = match options.task_features {
            Some(TaskFeaturesName::Wind) => TaskKnowledge::Wind,
            Some(TaskFeaturesName::OneHot) => TaskKnowledge::OneHot,
            None => self.task_features,
            Some(other) => {
                return Err(LabError::Input(format!(
                    "--task-features {} is the pendulum's: logs have `wind` and `one-hot`",
                    other.name()
                )));
            }
        };
        let logs = &options.logs;
        self.skip_bad_rows |= logs.skip_bad_rows;
        if !logs.inputs.is_empty() {
            self.inputs.clone_from(&logs.inputs);
            self.outputs.clone_from(&logs.outputs);
            self.task.clone_from(&logs.task);
            self.time.clone_from(&logs.time);
            self.comment = logs.comment;
            self.times.clone_from(&logs.times);
            self.join = logs.join;
            self.tolerance_s = logs.tolerance_s;
            self.constants.clone_from(&logs.constants);
        }
        Ok(())
    }
}

impl WorldSettings for Settings {
    /// A folder that the file names starts from where the file lies.
    fn locate(&mut self, folder: &Path) {
        if folder != Path::new(".") {
            self.data = self.data.take().map(|data| folder.join(data));
        }
    }

    fn missing(&self) -> Option<&'static str> {
        (self.data.is_none() || self.targets.is_empty()).then_some(
            "the file leaves logs or targets to the command line: give --data DIR and --target NAME to check them too",
        )
    }

    fn wants_network(&self) -> bool {
        self.phi == LogFeatures::Mlp
    }

    fn build(&self, watch: &Watcher) -> Result<Setup> {
        let logs = self.read(watch)?;
        logs.check_sizes()?;
        let targets = self.find_targets(&logs)?;
        let bad = |error| LabError::in_table("world", "", error);
        let features = Features::new(self.phi, logs.inputs.len()).map_err(bad)?;
        self.need_of(&logs, &features)
            .check("use fewer tasks or inputs, or simpler features with --phi linear")?;
        let config = RecordedConfig {
            input_features: features.map.clone(),
            knowledge: self.task_features,
            train_share: self.train_share,
        };
        let recorded = Recorded::new(logs, &targets, config).map_err(bad)?;
        for warning in recorded.warnings() {
            watch.note(&format!("warning: {warning}"));
        }
        let scenario = self.scenario(&recorded, features).map_err(bad)?;
        let recorded = Arc::new(recorded);
        Ok(Setup {
            scenario,
            data: Box::new(LogData {
                files: self.files()?,
                recorded: Arc::clone(&recorded),
            }),
            presentation: Box::new(LogPresentation(recorded)),
        })
    }
}

impl Settings {
    /// The recordings and outputs that are targets.
    fn find_targets(&self, logs: &Logs) -> Result<Vec<(usize, usize)>> {
        if self.targets.is_empty() {
            let names: Vec<String> = logs
                .tasks()
                .take(3)
                .map(|(recording, output)| logs.recordings[recording].task_name(output))
                .collect();
            return Err(LabError::Input(format!(
                "no target is named: give one or more with --target, for instance {}",
                names.join(", ")
            )));
        }
        let mut targets = Vec::new();
        for name in &self.targets {
            let found = logs
                .find(name)
                .map_err(|error| LabError::about("world.targets", error.to_string()))?;
            if targets.contains(&found) {
                return Err(LabError::setting(
                    "world.targets",
                    format!("names {name} twice: name each once"),
                ));
            }
            targets.push(found);
        }
        Ok(targets)
    }

    /// What is learnt of the recordings.
    fn scenario(&self, recorded: &Recorded, features: Features) -> taskscout::Result<Scenario> {
        let pooled = PartialPooling {
            effective_rows: self.effective_rows,
            ..features.pooled.clone()
        };
        pooled.validate(features.map.dim())?;
        Ok(Scenario {
            least_budget: 1,
            pooled,
            wants_network: features.network,
            ..Scenario::new(
                recorded.space_without(&[])?,
                recorded.task_features().clone(),
                features.map,
                recorded
                    .targets()
                    .iter()
                    .map(|&task| target(recorded, task))
                    .collect(),
            )
        })
    }

    fn options(&self) -> LogOptions {
        LogOptions {
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            task: self.task.clone(),
            time: self.time.clone(),
            skip_bad_rows: self.skip_bad_rows,
            comment: self.comment,
            times: self.times.clone(),
            join: self.join,
            tolerance_s: self.tolerance_s,
            constants: self.constants.clone(),
        }
    }

    fn files(&self) -> Result<Vec<PathBuf>> {
        let list = |data: &PathBuf| files(data, &self.options().read_options_for(data)?);
        let files = self.data.as_ref().map(list);
        Ok(files.transpose()?.unwrap_or_default())
    }

    /// The memory of the last parts as features, and of what is known of tasks.
    fn need_of(&self, logs: &Logs, features: &Features) -> Need {
        let tasks = logs.tasks().count() as f64;
        let outputs: BTreeSet<&str> = logs
            .recordings
            .iter()
            .flat_map(|recording| recording.outputs.iter().map(String::as_str))
            .collect();
        let parameters = match self.task_features {
            TaskKnowledge::OneHot => tasks,
            TaskKnowledge::Wind => outputs.len() as f64 + 2.0,
        };
        let d = features.map.dim();
        let rows: f64 = self
            .targets
            .iter()
            .filter_map(|name| logs.find(name).ok())
            .map(|(recording, _)| logs.recordings[recording].rows() as f64)
            .sum();
        let mut need = Need::default();
        let judged = (1.0 - self.train_share) * rows;
        need.add(
            format!("{judged:.0} test rows of {d} features"),
            NUMBER * judged * d as f64,
        );
        // With the list that strategies choose from, and one for each study.
        need.add(
            format!("{tasks:.0} tasks of {parameters:.0} parameters"),
            NUMBER * 4.0 * tasks * parameters,
        );
        need
    }

    fn read(&self, watch: &Watcher) -> Result<Logs> {
        let Some(data) = &self.data else {
            return Err(LabError::Input(
                "no logs are named: give their folder with --data DIR; `taskscout simulate flights --out DIR` makes some to try"
                    .into(),
            ));
        };
        if self.inputs.is_empty() != self.outputs.is_empty() {
            return Err(LabError::about(
                "world.inputs",
                "in [world], `inputs` and `outputs` belong together: name both, or neither for flight logs",
            ));
        }
        if self.inputs.is_empty() && (self.task.is_some() || self.time.is_some()) {
            return Err(LabError::about(
                if self.task.is_some() {
                    "world.task"
                } else {
                    "world.time"
                },
                "in [world], `task` and `time` are columns of tables: name `inputs` and `outputs` too, or leave them out",
            ));
        }
        if let Some(letter) = self.comment {
            comment(&letter.to_string()).map_err(|problem| {
                LabError::about("world.comment", format!("in [world], `comment`: {problem}"))
            })?;
        }
        let options = self.options().read_options_for(data);
        let logs = options.and_then(|options| read(data, &options));
        let logs = logs.map_err(|error| match data.exists() {
            // What is wrong inside says where on its own.
            true => error.into(),
            false => LabError::about("world.data", error.to_string()),
        })?;
        for warning in &logs.warnings {
            watch.note(&format!("warning: {warning}"));
        }
        let skipped: usize = logs.recordings.iter().map(|r| r.skipped.len()).sum();
        if let Some(first) = logs.recordings.iter().flat_map(|r| &r.skipped).next() {
            watch.note(&format!(
                "{skipped} bad rows were left out, the first because {}",
                first.reason
            ));
        }
        Ok(logs)
    }
}

/// What is known of a task that is a target.
fn target(recorded: &Recorded, task: usize) -> ScenarioTarget {
    let (own, scaling) = (&recorded.tasks()[task], recorded.scaling(task));
    let known = recorded.config().knowledge == TaskKnowledge::Wind;
    ScenarioTarget {
        name: Some(own.name.clone()),
        truth: None,
        known: known.then(|| own.vector().to_vec()),
        left_out: Some(TaskId::from(own.name.as_str())),
        rows: Some(own.rows),
        input_scaling: Some(InputScaling {
            mean: scaling.mean.clone(),
            scale: scaling.scale.clone(),
        }),
        names: Names {
            inputs: recorded.logs().inputs.clone(),
            outputs: vec![own.axis.clone()],
            ..Names::default()
        },
    }
}
