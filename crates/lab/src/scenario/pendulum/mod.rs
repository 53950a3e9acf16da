//! The pendulum: tasks are winds, gravity and damping, targets are hidden among them.

mod control;
mod report;
#[cfg(test)]
mod tests;
mod words;

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use taskscout::data::Samples;
use taskscout::features::{FeatureMap, Features as _};
use taskscout::registry::Registry;
use taskscout::rng::{Purpose, Rng, derive};
use taskscout::source::{TaskSource, Tell, Visit, batches};
use taskscout::task::Task;
use taskscout::train::Predictor;
use taskscout_models::Names;
use taskscout_report::ExperimentReport;
use taskscout_worlds::pendulum::{Motion, Pendulum, PendulumConfig, TaskFeatures};

use super::{
    Data, Judge, Open, Presentation, Scenario, ScenarioTarget, Setup, TrialSource, WorldKind,
    WorldSettings, judging, points,
};
use crate::error::{LabError, Result};
use crate::memory::Need;
use crate::names::TaskFeaturesName;
use crate::options::PendulumOptions;
use crate::parts::{self, attach_features};
use crate::record::{Trial, TrialRecord};
use crate::watch::Watcher;

/// `[world]` of `kind = "pendulum"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    kind: WorldKind,
    /// `ψ_X`, of angle and angular velocity.
    #[serde(deserialize_with = "parts::features")]
    input_features: FeatureMap,
    /// `ψ_W`: as published, or with a constant among them.
    #[serde(default)]
    task_features: TaskFeatures,
    /// Standard deviation of the noise.
    noise: f64,
    /// The hidden targets, as tasks inside the box `[−1, 1]^5`.
    targets: Vec<Vec<f64>>,
    /// Steps after which the pendulum starts again from a new position; never if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    episode_steps: Option<usize>,
    /// How far from upright and from rest it may start, in radians and radians per second.
    #[serde(default)]
    start_range: [f64; 2],
}

impl Settings {
    /// Takes over the options of the command line.
    pub(super) fn apply(&mut self, options: &PendulumOptions) -> Result<()> {
        let points = points(&options.target)?;
        if !points.is_empty() {
            self.targets = points;
        }
        if let Some(name) = options.task_features {
            self.task_features = match name {
                TaskFeaturesName::Paper => TaskFeatures::Paper,
                TaskFeaturesName::Affine => TaskFeatures::Affine,
                other => {
                    return Err(LabError::Input(format!(
                        "--task-features {} is that of logs: the pendulum has `paper` and `affine`",
                        other.name()
                    )));
                }
            };
        }
        Ok(())
    }
}

impl WorldSettings for Settings {
    fn attach(&mut self, registry: &Registry) -> Result<()> {
        attach_features("input_features", &mut self.input_features, registry)
            .map_err(|error| LabError::in_table("world", "", error))
    }

    fn has_own(&self) -> bool {
        matches!(self.input_features, FeatureMap::Custom(_))
    }

    fn need(&self) -> Need {
        judging(Pendulum::TEST_ROWS, &self.input_features).times(self.targets.len() as f64)
    }

    fn build(&self, _watch: &Watcher) -> Result<Setup> {
        let bad = |error| LabError::in_table("world", "", error);
        if self.targets.is_empty() {
            let problem = "is empty: name at least one";
            return Err(bad(taskscout::Error::setting("targets", problem)));
        }
        let names: Vec<String> = self.targets.iter().map(|task| name(task)).collect();
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                let problem = format!("has {name} twice: name each once");
                return Err(bad(taskscout::Error::setting("targets", problem)));
            }
        }
        let world = Pendulum::new(PendulumConfig {
            input_features: self.input_features.clone(),
            task_features: self.task_features,
            noise: self.noise,
            targets: self.targets.clone(),
            episode_steps: self.episode_steps,
            start_range: self.start_range,
        })
        .map_err(bad)?;
        let world = Arc::new(world);
        Ok(Setup {
            scenario: self.scenario(&world),
            data: Box::new(Swings(Arc::clone(&world))),
            presentation: Box::new(Swings(world)),
        })
    }
}

impl Settings {
    fn scenario(&self, world: &Pendulum) -> Scenario {
        let target = |task: &Vec<f64>| ScenarioTarget {
            name: Some(name(task)),
            truth: Some(task.clone()),
            // As `taskscout simulate pendulum` calls them.
            names: Names {
                inputs: vec!["angle_rad".into(), "velocity_rad_s".into()],
                outputs: vec!["residual_nm".into()],
                ..Names::default()
            },
            ..ScenarioTarget::default()
        };
        Scenario {
            budget_unit: self.input_features.dim() as f64,
            ..Scenario::new(
                world.space().clone(),
                world.task_features().clone(),
                self.input_features.clone(),
                self.targets.iter().map(target).collect(),
            )
        }
    }
}

/// A target's name: its parameters, as `--target` takes them.
fn name(task: &[f64]) -> String {
    // Zero has one name, whatever its sign.
    let number = |value: &f64| (value + 0.0).to_string();
    task.iter().map(number).collect::<Vec<_>>().join(",")
}

/// A pendulum that all trials share.
struct Swings(Arc<Pendulum>);

impl Data for Swings {
    fn open<'a>(&'a self, _collected: &Path, _trial: &Trial) -> taskscout::Result<Open<'a>> {
        Ok(Open {
            source: Box::new(Swings(Arc::clone(&self.0))),
            judge: Box::new(Swings(Arc::clone(&self.0))),
        })
    }
}

impl TaskSource for Swings {
    fn sample(&mut self, task: &Task, n: usize, rng: &mut Rng) -> taskscout::Result<Samples> {
        self.0.sample_from(task, n, &mut Motion::default(), rng)
    }

    /// One trajectory, whatever the batches.
    fn collect(&mut self, visit: &Visit<'_>, tell: Tell<'_>) -> taskscout::Result<()> {
        let (item, mut motion) = (visit.item, Motion::default());
        let mut rng = derive(visit.seed, Purpose::Collect, &[visit.round as u64, item.id]);
        for n in batches(visit.missing()) {
            tell(&self.0.sample_from(&item.task, n, &mut motion, &mut rng)?)?;
        }
        Ok(())
    }
}

impl TrialSource for Swings {
    fn sample_target(
        &mut self,
        target: usize,
        n: usize,
        rng: &mut Rng,
    ) -> taskscout::Result<Samples> {
        self.0.sample_target(target, n, rng)
    }
}

impl Judge for Swings {
    fn loss(&self, target: usize, predictor: &Predictor) -> taskscout::Result<f64> {
        self.0.target_loss(target, predictor)
    }
}

impl Presentation for Swings {
    fn wants_details(&self) -> bool {
        true
    }

    fn parameters(&self) -> Vec<String> {
        taskscout_worlds::pendulum::TASK_NAMES
            .map(str::to_owned)
            .to_vec()
    }

    fn report(&self, trials: &[TrialRecord], report: &mut ExperimentReport) -> Result<Vec<String>> {
        report::add(&self.0, trials, report)
    }
}
